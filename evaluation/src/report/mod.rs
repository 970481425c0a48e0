//! Writes `evaluation/report/`: one page with everything in it, and a CSV file for each table and plot.

mod page;

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use guira_report::table::Table;

use crate::experiments::{Experiment, Outcome, Row};

/// What an experiment brought.
pub type Done = (&'static Experiment, Outcome);

/// Where the report goes: beside the sources.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("report")
}

/// Every row of every experiment as a table.
fn summary(done: &[Done]) -> Table {
    let head =
        ["section", "place", "what", "paper", "here", "difference", "unit", "verdict", "why"];
    let mut table = Table::new("summary", &head);
    for (experiment, outcome) in done {
        for row in &outcome.rows {
            table.push(vec![
                experiment.title.into(),
                row.place.clone(),
                row.what.clone(),
                row.paper.map_or(String::new(), number),
                number(row.here),
                difference(row),
                row.unit.into(),
                format!("{:?}", row.verdict).to_lowercase(),
                row.why.clone(),
            ]);
        }
    }
    table
}

/// Writes everything; returns the page's path.
pub fn write(done: &[Done], seconds: f64) -> Result<PathBuf> {
    let folder = folder();
    if folder.exists() {
        // What an earlier run wrote and this one does not would be taken for this one's.
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    summary(done).write_csv(&folder)?;
    for (_, outcome) in done {
        for table in &outcome.tables {
            table.write_csv(&folder)?;
        }
        for chart in outcome.charts.iter().filter(|chart| !chart.is_empty()) {
            chart.write_csv(&folder)?;
            chart.write_svg(&folder)?;
        }
    }
    let path = folder.join("index.html");
    fs::write(&path, page::page(done, seconds)?.into_string())?;
    let written = path.display();
    let twice = name_given_twice(done);
    ensure!(twice.is_none(), "{written} is written, but two tables or plots are {twice:?}");
    Ok(path)
}

/// A name of two tables or plots, one of which has overwritten the other's CSV file.
fn name_given_twice(done: &[Done]) -> Option<&'static str> {
    let tables = done.iter().flat_map(|(_, outcome)| outcome.tables.iter().map(|table| table.name));
    let charts = done.iter().flat_map(|(_, outcome)| outcome.charts.iter().map(|chart| chart.name));
    let mut names: Vec<&str> = tables.chain(charts).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// A figure for people: about four digits.
pub fn number(value: f64) -> String {
    rounded(value, value)
}

/// A figure with the digits that another of this size would have.
fn rounded(value: f64, size: f64) -> String {
    let digits = match size.abs() {
        0.0 => 0,
        ..0.001 => return format!("{value:.2e}"),
        ..0.1 => 4,
        ..1.0 => 3,
        ..100.0 => 2,
        ..1000.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.into()
}

/// By how much the figure here is more than the paper's, in its digits.
fn difference(row: &Row) -> String {
    let Some(paper) = row.paper else { return String::new() };
    let difference = row.here - paper;
    let text = rounded(difference.abs(), if row.here == 0.0 { paper } else { row.here });
    if text == "0" {
        return text;
    }
    let sign = |negative| if negative { "−" } else { "+" };
    let mut text = format!("{}{text}", sign(difference < 0.0));
    let share = (100.0 * difference / paper).round();
    // Per cent differ by points.
    if row.unit != "%" && share != 0.0 && share.is_finite() {
        write!(text, " ({}{:.0} %)", sign(share < 0.0), share.abs()).expect("a string takes all");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{difference, number};
    use crate::experiments::{Row, Verdict};

    #[test]
    fn numbers_have_the_digits_that_matter() {
        let written = [0.0, 95.5, 12.6, 0.19, 0.000_24, 5.0, 123_456.7].map(number);
        assert_eq!(written, ["0", "95.5", "12.6", "0.19", "2.40e-4", "5", "123457"]);
    }

    #[test]
    fn differences_are_the_figure_here_less_the_papers() {
        let row = Row {
            place: String::new(),
            what: String::new(),
            paper: Some(4.0),
            here: 3.0,
            unit: "bits",
            verdict: Verdict::Differs,
            why: String::new(),
        };
        assert_eq!(difference(&row), "−1 (−25 %)");
        assert_eq!(difference(&Row { unit: "%", here: 4.5, ..row.clone() }), "+0.5");
        assert_eq!(difference(&Row { here: 4.001, ..row.clone() }), "0");
        assert_eq!(difference(&Row { paper: None, ..row }), "");
    }
}
