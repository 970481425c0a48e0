//! Writes `evaluation/report/`: the page, and a CSV file for each table and plot.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use guira_harness::{machine, report::Report, table::Table};

use crate::experiments::{Outcome, Row, Verdict, row};

/// The heading of an experiment, and its outcome.
type Completed = (&'static str, Outcome);

const INTRODUCTION: &str = "Every table and figure of [Cuckoo Filter: Practically Better Than \
    Bloom](https://doi.org/10.1145/2674005.2674994) (Fan, Andersen, Kaminsky, Mitzenmacher, CoNEXT \
    2014; “the paper”) and of *Cuckoo Filter: Better Than Bloom* (Fan, Andersen, Kaminsky, ;login: \
    August 2013; “;login:”), measured again. The concurrent cuckoo filter **guira** is measured \
    alongside the papers' filters.\n\n\
    A row compares a value of the papers, or a claim of their text, with the value measured here; \
    its note states the tolerance. Only rows about guira can be “better”: a filter of the papers \
    that deviates from them differs, in whichever direction. Rows without a verdict are given by \
    construction, or are absolute speeds of another machine. The source says where the paper's \
    value comes from: printed in the paper, computed by its formula, or measured here with the \
    paper's filter. Rows without one compare with a plot or a claim.\n\n\
    No filter has huge pages. All filters of the papers hash a random 64-bit key by one folded \
    multiplication, and guira mixes the key itself; the paper used CityHash. Every timed figure is \
    the median of several rounds in which the filters take turns. The minimum and the \
    maximum are beside it; those of the plotted points are in the CSV files. If the ranges of two \
    speeds overlap, the row that compares them says so, and counts neither as a win nor as a \
    difference. Only where the papers claim that one filter is equally fast in two cases do ranges \
    that overlap agree with them.";

/// Writes the report, and returns the path of its page.
///
/// # Errors
/// If a file cannot be written, or if two tables or plots share a name.
pub fn write(completed: &[Completed], seconds: f64) -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("report");
    if folder.exists() {
        // Files of an earlier run must not look like results of this one.
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut report = Report::new(&folder, "The cuckoo filter papers, reproduced");
    report.paragraph(INTRODUCTION);
    report.table(&verdicts(completed))?;
    report.heading("What differs");
    let rows = || completed.iter().flat_map(|(_, outcome)| &outcome.rows);
    let differ = rows().filter(|row| row.verdict() == Verdict::Differs);
    report.table(&row::table("differences", differ))?;
    for (title, outcome) in completed {
        report.heading(title);
        report.paragraph(&outcome.note);
        outcome.charts.iter().try_for_each(|chart| report.chart(chart))?;
        report.paragraph(&row::table("", &outcome.rows).markdown());
        outcome.tables.iter().try_for_each(|table| report.table(table))?;
    }
    report.heading("Machine");
    report.facts(&machine::facts(env!("CARGO_PKG_NAME")), seconds);
    row::table("summary", rows()).write_csv(&folder)?;
    report.save()
}

/// Returns the numbers of verdicts, of the papers' filters and of guira apart.
fn verdicts(completed: &[Completed]) -> Table {
    let head: Vec<&str> = Verdict::ALL.into_iter().map(Verdict::name).collect();
    let head = [&["rows about"], &*head, &["all"]].concat();
    let mut table = Table::new("verdicts", &head);
    for (name, is_guira) in [("the papers' filters", false), ("guira", true)] {
        let rows = completed.iter().flat_map(|(_, outcome)| &outcome.rows);
        let rows: Vec<&Row> = rows.filter(|row| row.is_guira() == is_guira).collect();
        let of = |verdict| rows.iter().filter(|row| row.verdict() == verdict).count();
        let counts = Verdict::ALL.into_iter().map(of).chain([rows.len()]);
        table.push(std::iter::once(name.into()).chain(counts.map(|n| n.to_string())).collect());
    }
    table
}
