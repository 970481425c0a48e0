//! The page itself: no file beside it is needed to read it.

use anyhow::Result;
use guira_report::{machine, plot::Chart, table::Table};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Done, difference, number};
use crate::experiments::{Row, Verdict};

const STYLE: &str = include_str!("style.css");

/// The whole page.
pub fn page(done: &[Done], seconds: f64) -> Result<Markup> {
    let sections = done.iter().map(section).collect::<Result<Vec<_>>>()?;
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "The cuckoo filter papers, reproduced" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "The cuckoo filter papers, reproduced" }
                (introduction())
                (contents(done))
                h2 id="summary" { "Paper, here, difference" }
                (counts(done))
                (summary(done))
                @for section in sections { (section) }
                h2 { "Where and how" }
                (facts(seconds))
            }
        }
    })
}

fn introduction() -> Markup {
    html! {
        p {
            "Every table and figure of "
            a href="https://doi.org/10.1145/2674005.2674994" {
                "Cuckoo Filter: Practically Better Than Bloom"
            }
            " (Fan, Andersen, Kaminsky, Mitzenmacher, CoNEXT 2014; “the paper”) and of "
            i { "Cuckoo Filter: Better Than Bloom" }
            " (the same without Mitzenmacher, ;login: August 2013; “;login:”), measured again, with the \
             concurrent cuckoo filter "
            b { "guira" }
            " beside the filters of the papers."
        }
        p {
            "Figures in the column “paper” are printed in the papers, with these exceptions. What the paper says in \
             words of its plots (Figures 5 to 8), the parameters of the filters that it compares with, and the \
             ranges of its Table 1 were set down without its text at hand: if it says otherwise, this page is \
             wrong. The last section has figures of other papers, and some measured on another machine, each \
             with its source."
        }
    }
}

fn contents(done: &[Done]) -> Markup {
    html! {
        nav {
            ul {
                li { a href="#summary" { "Paper, here, difference" } }
                @for (experiment, _) in done {
                    li { a href={ "#" (experiment.name) } { (experiment.title) } }
                }
            }
        }
    }
}

fn facts(seconds: f64) -> Markup {
    html! {
        table.facts {
            @for (name, fact) in machine::facts(env!("CARGO_PKG_NAME")) {
                tr { th { (name) } td { (fact) } }
            }
            tr { th { "took" } td { (format!("{seconds:.0} s")) } }
        }
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "reproduced",
        Verdict::Better => "better",
        Verdict::Differs => "differs",
    }
}

fn counts(done: &[Done]) -> Markup {
    let rows = || done.iter().flat_map(|(_, outcome)| &outcome.rows);
    let verdicts = [Verdict::Reproduced, Verdict::Better, Verdict::Differs];
    html! {
        p {
            (rows().count()) " figures: "
            @for (nth, verdict) in verdicts.into_iter().enumerate() {
                @if nth > 0 { ", " }
                (rows().filter(|row| row.verdict == verdict).count()) " "
                span class=(word(verdict)) { (word(verdict)) }
            }
            ". A figure is “better” where it lies on the side that one wants of the paper's; why one differs \
             stands beside it. A dash stands where the papers give no number, only a plot or a claim."
        }
    }
}

fn summary(done: &[Done]) -> Markup {
    html! {
        div.wide {
            table.summary {
                thead {
                    tr {
                        th { "place" } th { "what" } th { "paper" } th { "here" } th { "difference" }
                        th { "unit" } th { "verdict" } th { "why" }
                    }
                }
                @for (experiment, outcome) in done {
                    @if !outcome.rows.is_empty() {
                        tbody {
                            tr.group {
                                th colspan="8" { a href={ "#" (experiment.name) } { (experiment.title) } }
                            }
                            @for row in &outcome.rows { (summary_row(row)) }
                        }
                    }
                }
            }
        }
        (csv_link("summary"))
    }
}

fn summary_row(row: &Row) -> Markup {
    html! {
        tr {
            td.place { (row.place) }
            td.what { (row.what) }
            td.number { (row.paper.map_or("–".into(), number)) }
            td.number { (number(row.here)) }
            td.number { (difference(row)) }
            td { (row.unit) }
            td { span class=(word(row.verdict)) { (word(row.verdict)) } }
            td.why { (row.why.replace(" 000", "\u{a0}000")) }
        }
    }
}

fn section((experiment, outcome): &Done) -> Result<Markup> {
    let drawn = outcome.charts.iter().filter(|chart| !chart.is_empty());
    let charts = drawn.map(figure).collect::<Result<Vec<_>>>()?;
    Ok(html! {
        section id=(experiment.name) {
            h2 { (experiment.title) }
            @for note in &outcome.notes { p { (note.replace(" 000", "\u{a0}000")) } }
            @for chart in charts { (chart) }
            @for table in outcome.tables.iter().filter(|table| !table.rows.is_empty()) { (cells(table)) }
        }
    })
}

fn figure(chart: &Chart) -> Result<Markup> {
    Ok(html! {
        figure {
            (PreEscaped(chart.svg()?))
            figcaption { (csv_link(chart.name)) }
        }
    })
}

fn csv_link(name: &str) -> Markup {
    html! { a.csv href={ (name) ".csv" } { (name) ".csv" } }
}

/// The rows of a table that are shown without being asked for, at most.
const SHOWN: usize = 24;

fn cells(table: &Table) -> Markup {
    let rows = html! {
        div.wide {
            table {
                thead { tr { @for name in &table.head { th { (name) } } } }
                tbody { @for row in &table.rows { tr { @for cell in row { (cell_of(cell)) } } } }
            }
        }
    };
    html! {
        @if table.rows.len() > SHOWN {
            details { summary { (table.name) ": " (table.rows.len()) " rows" } (rows) }
        } @else {
            (rows)
        }
        (csv_link(table.name))
    }
}

fn cell_of(cell: &str) -> Markup {
    let is_number = cell.starts_with(|c: char| c.is_ascii_digit() || "+-−–".contains(c));
    html! {
        @if is_number && cell.len() < 12 { td.number { (cell) } } @else { td { (cell) } }
    }
}
