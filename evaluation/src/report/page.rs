//! The page of the report: self-contained HTML.

use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Chart, Completed, SUMMARY_HEAD, Table, difference, machine, number};
use crate::experiments::{Row, Verdict};

const STYLE: &str = include_str!("style.css");

/// Renders the page.
///
/// # Errors
/// If a chart cannot be drawn.
pub fn page(completed: &[Completed], seconds: f64) -> Result<Markup> {
    let sections = completed.iter().map(section).collect::<Result<Vec<_>>>()?;
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
                (contents(completed))
                h2 id="summary" { "Summary" }
                (counts(completed))
                (summary(completed))
                @for section in sections { (section) }
                h2 { "Environment" }
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
            " (Fan, Andersen, Kaminsky, ;login: August 2013; “;login:”), measured again. The \
             concurrent cuckoo filter "
            b { "guira" }
            " is measured alongside the papers' filters."
        }
        p {
            "Values in the column “paper” are printed in the papers, with three exceptions that \
             were written down without the text at hand and may contain errors: what the paper's \
             text says about its plots (Figures 5 to 8), the parameters of the filters that it \
             compares with, and the ranges of its Table 1. The last section has values from other \
             papers, and some measured on another machine, each with its source."
        }
    }
}

fn contents(completed: &[Completed]) -> Markup {
    html! {
        nav {
            ul {
                li { a href="#summary" { "Summary" } }
                @for (experiment, _) in completed {
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
            tr { th { "duration" } td { (format!("{seconds:.0} s")) } }
        }
    }
}

fn badge(verdict: Verdict) -> Markup {
    html! { span class=(verdict.name()) { (verdict.name()) } }
}

fn counts(completed: &[Completed]) -> Markup {
    let rows = || completed.iter().flat_map(|(_, outcome)| &outcome.rows);
    let verdicts = [Verdict::Reproduced, Verdict::Better, Verdict::Differs];
    html! {
        p {
            (rows().count()) " values: "
            @for (index, verdict) in verdicts.into_iter().enumerate() {
                @if index > 0 { ", " }
                (rows().filter(|row| row.verdict == verdict).count()) " " (badge(verdict))
            }
            ". A value is “better” if it deviates from the paper's in the desirable direction. The \
             column “note” explains the verdict. A dash means that the papers give no number, only \
             a plot or a claim."
        }
    }
}

fn summary(completed: &[Completed]) -> Markup {
    html! {
        div.wide {
            table.summary {
                thead { tr { @for name in SUMMARY_HEAD { th { (name) } } } }
                @for (experiment, outcome) in completed {
                    @if !outcome.rows.is_empty() {
                        tbody {
                            tr.group {
                                th colspan=(SUMMARY_HEAD.len()) {
                                    a href={ "#" (experiment.name) } { (experiment.title) }
                                }
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
            td.location { (row.location) }
            td.quantity { (row.quantity) }
            td.number { (row.paper.map_or("–".into(), number)) }
            td.number { (number(row.measured)) }
            td.number { (difference(row)) }
            td { (row.unit) }
            td { (badge(row.verdict)) }
            td.note { (row.note) }
        }
    }
}

fn section((experiment, outcome): &Completed) -> Result<Markup> {
    let charts = outcome.charts.iter().filter(|chart| !chart.is_empty());
    let charts = charts.map(figure).collect::<Result<Vec<_>>>()?;
    let tables = outcome.tables.iter().filter(|table| !table.rows.is_empty());
    Ok(html! {
        section id=(experiment.name) {
            h2 { (experiment.title) }
            @for note in &outcome.notes { p { (note) } }
            @for chart in charts { (chart) }
            @for table in tables { (cells(table)) }
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

/// Rows above which a table starts out collapsed.
const MAX_EXPANDED_ROWS: usize = 24;

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
        @if table.rows.len() > MAX_EXPANDED_ROWS {
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
