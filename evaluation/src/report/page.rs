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
                (counts(completed))
                (gallery(completed)?)
                (contents(completed))
                (differences(completed))
                @for section in sections { (section) }
                h2 id="environment" { "Environment" }
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
            " is measured alongside the papers' filters. "
            a href="#environment" { "Machine, caches, command" }
            "."
        }
    }
}

fn rows(completed: &[Completed]) -> impl Iterator<Item = &Row> {
    completed.iter().flat_map(|(_, outcome)| &outcome.rows)
}

/// The numbers of verdicts, of the papers' filters and of guira apart.
fn counts(completed: &[Completed]) -> Markup {
    const VERDICTS: [Verdict; 5] =
        [Verdict::Reproduced, Verdict::Better, Verdict::Differs, Verdict::Overlap, Verdict::None];
    let of = |is_guira: bool| rows(completed).filter(move |row| row.is_guira() == is_guira);
    html! {
        table.counts {
            thead {
                tr {
                    th { "rows about" }
                    @for verdict in VERDICTS { th { (badge(verdict)) } }
                    th { "all" }
                }
            }
            tbody {
                @for (name, is_guira) in [("the papers' filters", false), ("guira", true)] {
                    tr {
                        th { (name) }
                        @for verdict in VERDICTS {
                            td.number {
                                @if !is_guira && verdict == Verdict::Better {
                                    "–"
                                } @else {
                                    (of(is_guira).filter(|row| row.verdict() == verdict).count())
                                }
                            }
                        }
                        td.number { (of(is_guira).count()) }
                    }
                }
            }
        }
        p {
            "A row compares a value of the papers, or a claim of their text, with the value \
             measured here; its note states the tolerance. Only rows about guira can be “better”: \
             a filter of the papers that deviates from them differs, in whichever direction. Rows \
             without a verdict are given by construction, or are absolute speeds of another \
             machine. The column “paper” says where its value comes from: printed in the paper, \
             computed by its formula, or measured here with the paper's filter. A dash means that \
             the papers give no number, only a plot or a claim."
        }
        p {
            "No filter has huge pages. Every timed figure is the median of at least five rounds in \
             which the filters take turns. The minimum and the maximum are beside it; those of the \
             plotted points are in the CSV files. If the ranges of two speeds overlap, the row \
             that compares them says so, and counts neither as a win nor as a difference. Only \
             where the papers claim that one filter is equally fast in two cases do ranges that \
             overlap agree with them."
        }
    }
}

/// Whether a chart shows one of the papers' figures, not only guira's layouts.
fn is_papers(chart: &Chart) -> bool {
    chart.name.starts_with("figure-")
}

/// The plots of the papers' figures.
fn gallery(completed: &[Completed]) -> Result<Markup> {
    let charts = completed.iter().flat_map(|(experiment, outcome)| {
        outcome.charts.iter().map(move |chart| (experiment.name, chart))
    });
    let charts: Vec<_> =
        charts.filter(|(_, chart)| is_papers(chart) && !chart.is_empty()).collect();
    let figures = charts
        .into_iter()
        .map(|(name, chart)| Ok((name, figure(chart)?)))
        .collect::<Result<Vec<_>>>()?;
    Ok(html! {
        h2 { "Plots" }
        div.gallery {
            @for (name, figure) in figures {
                div { (figure) a.csv href={ "#" (name) } { "method, rows and tables" } }
            }
        }
    })
}

fn contents(completed: &[Completed]) -> Markup {
    html! {
        h2 { "Contents" }
        nav {
            ul {
                li { a href="#differences" { "What differs" } }
                @for (experiment, _) in completed {
                    li { a href={ "#" (experiment.name) } { (experiment.title) } }
                }
            }
        }
    }
}

/// All rows that differ, with their reasons.
fn differences(completed: &[Completed]) -> Markup {
    html! {
        h2 id="differences" { "What differs" }
        @for (title, is_guira) in [("The papers' filters", false), ("guira", true)] {
            h3 { (title) }
            (row_table(rows(completed).filter(|row| {
                row.is_guira() == is_guira && row.verdict() == Verdict::Differs
            })))
        }
        "All rows: " (csv_link("summary"))
    }
}

fn facts(seconds: f64) -> Markup {
    html! {
        table.facts {
            @for (name, fact) in machine::facts(env!("CARGO_PKG_NAME")) {
                tr { th { (name) } td { (fact) } }
            }
            tr {
                th { "hash" }
                td {
                    "one folded multiplication of a random 64-bit key, for all filters of the \
                     papers; guira mixes the key itself. The paper used CityHash."
                }
            }
            tr { th { "duration" } td { (format!("{seconds:.0} s")) } }
        }
    }
}

fn badge(verdict: Verdict) -> Markup {
    let class = match verdict {
        Verdict::None => "none",
        Verdict::Overlap => "overlap",
        verdict => verdict.name(),
    };
    html! { span class=(class) { (verdict.name()) } }
}

fn row_table<'a>(rows: impl Iterator<Item = &'a Row>) -> Markup {
    let rows: Vec<Markup> = rows.map(summary_row).collect();
    html! {
        @if rows.is_empty() {
            p { "None." }
        } @else {
            div.wide {
                table.summary {
                    thead { tr { @for name in SUMMARY_HEAD { th { (name) } } } }
                    tbody { @for row in rows { (row) } }
                }
            }
        }
    }
}

fn summary_row(row: &Row) -> Markup {
    html! {
        tr {
            td.location { (row.location) }
            td.quantity { (row.quantity) }
            td.number {
                @if let Some((value, source)) = row.paper {
                    (number(value)) br; span.source { (source.name()) }
                } @else {
                    "–"
                }
            }
            td.number {
                (number(row.measured))
                @if let Some(timed) = row.timed {
                    br; span.source { (number(timed.min)) "–" (number(timed.max)) }
                }
            }
            td.number { (difference(row)) }
            td { (row.unit) }
            td { (badge(row.verdict())) }
            td.note { (row.text()) }
        }
    }
}

fn section((experiment, outcome): &Completed) -> Result<Markup> {
    let charts = outcome.charts.iter().filter(|chart| !chart.is_empty() && !is_papers(chart));
    let charts = charts.map(figure).collect::<Result<Vec<_>>>()?;
    let tables = outcome.tables.iter().filter(|table| !table.rows.is_empty());
    Ok(html! {
        section id=(experiment.name) {
            h2 { (experiment.title) }
            @for note in &outcome.notes { p { (note) } }
            @if !charts.is_empty() {
                div.gallery { @for chart in charts { (chart) } }
            }
            @if !outcome.rows.is_empty() { (row_table(outcome.rows.iter())) }
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
const MAX_EXPANDED_ROWS: usize = 12;

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
        @if is_number && cell.len() < 24 { td.number { (cell) } } @else { td { (cell) } }
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, summary_row};
    use crate::experiments::Timed;

    #[test]
    fn a_timed_row_has_its_range_and_says_if_it_overlaps() {
        let html = |min| {
            let ratio = Timed { median: 3.0, min, max: 4.5 };
            summary_row(&Row::timed("", "", ratio, "×").holds(2.0..=4.0)).into_string()
        };
        assert!(html(1.5).contains("1.5–4.5") && html(1.5).contains("reproduced"));
        assert!(html(0.5).contains("0.5–4.5") && html(0.5).contains("ranges overlap"));
    }
}
