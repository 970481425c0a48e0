//! Writes `evaluation/report/`: the page, and a CSV file for each table and plot.

mod page;

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
pub use guira_harness::{
    machine,
    plot::{Chart, Look, Marker, Series},
    table::{Table, cell},
};

use crate::experiments::{Experiment, Outcome, Row};

/// An experiment and its outcome.
pub type Completed = (&'static Experiment, Outcome);

/// The folder of the report.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("report")
}

/// Headings of the summary's columns; the CSV file has the experiment before them.
const SUMMARY_HEAD: [&str; 8] =
    ["location", "quantity", "paper", "measured", "difference", "unit", "verdict", "note"];
/// Headings of the columns that only the CSV file has, after the others.
const CSV_HEAD: [&str; 4] = ["minimum", "maximum", "source of the paper's value", "about"];

/// All rows of all experiments as one table.
fn summary(completed: &[Completed]) -> Table {
    let head: Vec<&str> =
        std::iter::once("experiment").chain(SUMMARY_HEAD).chain(CSV_HEAD).collect();
    let mut table = Table::new("summary", &head);
    for (experiment, outcome) in completed {
        for row in &outcome.rows {
            table.push(vec![
                experiment.title.into(),
                row.location.clone(),
                row.quantity.clone(),
                row.paper.map_or(String::new(), |(value, _)| number(value)),
                number(row.measured),
                difference(row),
                row.unit.into(),
                row.verdict().name().into(),
                row.text(),
                row.timed.map_or(String::new(), |timed| number(timed.min)),
                row.timed.map_or(String::new(), |timed| number(timed.max)),
                row.paper.map_or("", |(_, source)| source.name()).into(),
                if row.is_guira() { "guira" } else { "papers" }.into(),
            ]);
        }
    }
    table
}

/// Writes the report, and returns the path of its page.
///
/// # Errors
/// If a file cannot be written, if two tables or plots share a name, or if a verdict cannot fail.
pub fn write(completed: &[Completed], seconds: f64) -> Result<PathBuf> {
    let folder = folder();
    if folder.exists() {
        // Files of an earlier run must not look like results of this one.
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    summary(completed).write_csv(&folder)?;
    for (_, outcome) in completed {
        for chart in outcome.charts.iter().filter(|chart| !chart.is_empty()) {
            chart.write_csv(&folder)?;
            chart.write_svg(&folder)?;
        }
        for table in outcome.tables.iter().chain(&outcome.points) {
            table.write_csv(&folder)?;
        }
    }
    let path = folder.join("index.html");
    fs::write(&path, page::page(completed, seconds)?.into_string())?;
    // Last, so that an error in the program does not lose the results.
    let (duplicate, written) = (duplicate_name(completed), path.display());
    ensure!(duplicate.is_none(), "{written}: two tables or plots share the name {duplicate:?}");
    let rows = || completed.iter().flat_map(|(_, outcome)| &outcome.rows);
    let certain = rows().find(|row| !row.can_fail());
    ensure!(certain.is_none(), "{written}: no value of a row's quantity differs: {certain:?}");
    Ok(path)
}

/// Returns a name that two tables or plots share: one CSV file would overwrite the other.
fn duplicate_name(completed: &[Completed]) -> Option<&'static str> {
    let outcomes = || completed.iter().map(|(_, outcome)| outcome);
    let tables = outcomes().flat_map(|outcome| outcome.tables.iter().map(|table| table.name));
    let charts = outcomes().flat_map(|outcome| outcome.charts.iter().map(|chart| chart.name));
    let mut names: Vec<&str> = tables.chain(charts).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Formats a value with three to four significant digits.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "none".into();
    }
    rounded(value, value)
}

/// Formats a value with the decimal places that `magnitude` needs.
fn rounded(value: f64, magnitude: f64) -> String {
    let digits = match magnitude.abs() {
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

/// Formats the measured value minus the paper's.
fn difference(row: &Row) -> String {
    let Some((paper, _)) = row.paper else { return String::new() };
    let difference = row.measured - paper;
    if !difference.is_finite() {
        return String::new();
    }
    let text = rounded(difference.abs(), if row.measured == 0.0 { paper } else { row.measured });
    if text == "0" {
        return text;
    }
    let sign = |negative| if negative { "−" } else { "+" };
    let mut text = format!("{}{text}", sign(difference < 0.0));
    let share = (100.0 * difference / paper).round();
    // A difference of percentages is in points; a percentage of it would confuse.
    if row.unit != "%" && share != 0.0 && share.is_finite() {
        let written = write!(text, " ({}{:.0} %)", sign(share < 0.0), share.abs());
        written.expect("writing to a String succeeds");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{difference, number};
    use crate::experiments::Row;

    #[test]
    fn numbers_have_three_to_four_significant_digits() {
        let written = [0.0, 95.5, 12.6, 0.19, 0.000_24, 5.0, 123_456.7].map(number);
        assert_eq!(written, ["0", "95.5", "12.6", "0.19", "2.40e-4", "5", "123457"]);
    }

    #[test]
    fn a_difference_is_the_measured_value_minus_the_papers() {
        let of = |unit, measured| difference(&Row::papers("", "", measured, unit).printed(4.0));
        assert_eq!(of("bits", 3.0), "−1 (−25 %)");
        assert_eq!(of("%", 4.5), "+0.5");
        assert_eq!(of("bits", 4.001), "0");
        assert_eq!(of("bits", f64::NAN), "");
        assert_eq!(difference(&Row::papers("", "", 3.0, "bits")), "");
    }
}
