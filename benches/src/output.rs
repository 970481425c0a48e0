//! Writes the report: `report.md`, a CSV file for each table and plot, and the plots as SVG.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use guira_harness::{machine, report::Report, table::Table};

use crate::{bench::Results, figure::Figure, options::Options, publish::publish};

/// Meaning of the figures, for readers who have only the report.
const TERMS: &str = "\
R reads two random cache lines per key, prefetched in a window of 32 keys that rolls. P is a \
lookup without protocol, one key at a time: a mixer, a fingerprint, both buckets, two loads, one \
comparison. The section one-thread measures them beside each figure, in memory of the same size on \
the same kind of pages. Figures are medians of several rounds. Threads are pinned. All filters get \
the same random 64-bit keys, and memory on huge pages; in the large tables an exact set gets a \
sixteenth of the keys. A write removes the oldest of the thread's own keys or inserts a new one, alternately. \
Latencies include the cost of reading the clock and, with more threads than cores, the wait for a \
core.";

/// Where the report goes, and what every copy of it says.
pub struct Output {
    folder: PathBuf,
    facts: Vec<(&'static str, String)>,
}

impl Output {
    /// Creates the folder, and prints machine, compiler, commit and command.
    pub fn new(options: &Options) -> Result<Self> {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
        let folder = options.output.clone().unwrap_or_else(|| target.join("bench"));
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
        let facts = machine::facts(env!("CARGO_PKG_NAME"));
        for (name, fact) in &facts {
            println!("{name}: {fact}");
        }
        Ok(Self { folder, facts })
    }

    /// Writes everything measured so far. Files of an earlier run stay where this run has none.
    pub fn write(&self, results: &Results) -> Result<()> {
        let mut report = Report::new(&self.folder, "guira, measured");
        report.facts(&self.facts, results.seconds);
        report.paragraph(TERMS);
        if !results.missing.is_empty() {
            report.paragraph("**This report is incomplete.**");
            report.list(results.missing.iter().map(ToString::to_string));
        }
        for (heading, table) in std::iter::once(&figures(results)).chain(&results.tables) {
            if !table.rows.is_empty() {
                report.heading(heading);
                report.table(table)?;
            }
        }
        if results.charts.iter().any(|chart| !chart.is_empty()) {
            report.heading("Plots");
        }
        results.charts.iter().try_for_each(|chart| report.chart(chart))?;
        report.save()?;
        Ok(())
    }

    /// Writes the figures into `BENCHMARKS.md` and `README.md`.
    pub fn publish(&self, results: &Results) -> Result<()> {
        publish(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &self.facts, results)
    }

    /// Prints the tables that a reader wants first, what is missing, and where the report is.
    pub fn finish(&self, results: &Results) {
        let first = results.tables.iter().filter(|(_, table)| table.name == "comparison");
        for (heading, table) in std::iter::once(&figures(results)).chain(first) {
            if !table.rows.is_empty() {
                print!("\n{heading}:\n\n{}", table.markdown());
            }
        }
        if !results.missing.is_empty() {
            println!("\nThe run was stopped or a section crashed. The report has everything else:");
            results.missing.iter().for_each(|what| println!("- {what}"));
        }
        let path = self.folder.join("report.md");
        println!("\n{:.0} s; the report is {}", results.seconds, path.display());
    }
}

fn figures(results: &Results) -> (&'static str, Table) {
    ("Figures", Figure::table(&results.figures))
}
