//! Writes the report: `report.md`, a CSV file for each table and plot, and the plots as SVG.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};
use guira_harness::{machine, report::Report, table::Table};

use crate::{bench::Results, options::Options};

/// Meaning of the figures, for readers who have only the report.
const TERMS: &str = "\
F is two random cache lines per key, prefetched in windows of 32, from memory of the same size on \
the same kind of pages, measured right before and after each figure. R is one locked instruction \
on one random line per key, without prefetching. Figures are medians of several rounds. Threads \
are pinned. All filters get the same random 64-bit keys, and memory on huge pages; in the large \
tables an exact set gets a sixteenth of the keys. A write removes the oldest of the thread's own \
keys or inserts a new one, alternately. Latencies include the cost of reading the clock and, with \
more threads than cores, the wait for a core.";

/// Returns the heading of a table.
fn heading(name: &str) -> &str {
    match name {
        "bars" => "Bars",
        "comparison" => "Comparison with other crates",
        "one-thread" => "One thread, in memory",
        "semi-sorted" => "Semi-sorted layouts against plain ones",
        "space" => "Bits per item and false-positive rate at capacity",
        "in-l2" => "In the L2 cache",
        "bursts" => "Bursts against single calls",
        "shared-stage" => "A stage of a pipeline, by two threads",
        "in-l3" => "In the L3 cache",
        "against-atomic-cuckoo-filter" => "Against atomic-cuckoo-filter",
        "peers" => "Other crates, one thread, in memory",
        "peers-small" => "Other crates, one thread, a million items",
        "peers-throughput" => "Other crates, by threads",
        "peers-latency" => "Other crates, one reader beside writers",
        "growing" => "Growth: a filter that has grown, against one built for its items",
        "growing-space" => "Growth: memory and false-positive rate",
        "growing-threads" => "Growth: two threads that insert into one filter",
        "growing-latency" => "Growth: the time of each insert",
        "expiring" => "Items that expire: operations at 90 % load",
        "expiring-advance" => "Items that expire: the time that beginning a generation takes",
        "expiring-space" => "Items that expire: bits per remembered item",
        "snapshot" => "Snapshots",
        "first-refusal" => "Load at the first refused insert",
        "capacity" => "Filters that refuse an item below their capacity",
        "quantile" => "Items that fit into small tables",
        other => other,
    }
}

/// Returns what a table shows, where its heading and the terms do not say enough.
fn about(name: &str) -> &'static str {
    match name {
        "growing" => {
            "A `GrowingFilter` was built with the first number of items as its capacity, and grew \
             to the second one. A `CuckooFilter` was built for the second one with the same target \
             rate and `fastest`. Lookups and removals: both filters hold all items, and look up the \
             same random keys in the same order, in turns; a figure is the median of several passes \
             in each round. Inserts: into the growing filter from its first size to the last \
             number, growth included; into the other one until 90 % of its slots are occupied. Both \
             include the first use of their memory. *Times* is the median of the rounds' quotients."
        }
        "growing-space" => {
            "Bits per item count everything that the filter has allocated. They are watched every \
             256 inserts; beyond 100 times the first capacity, the table has the largest, an upper \
             bound for each number of items in between. The false-positive rate is measured with \
             two million absent keys at eight numbers of items per doubling; the table has the \
             highest. *Built* is the filter that was built for all items."
        }
        "growing-threads" => {
            "Two pinned threads insert half of the keys each, from the first size to the last \
             number of items. Their time is that of the slower one."
        }
        "growing-latency" => {
            "One thread inserts one item after another, and times each insert. The time of reading \
             the clock is subtracted. Percentiles are medians of the rounds. The slowest insert is \
             that of all rounds, with the number of items at that moment, and with what the thread \
             used during the 64 inserts around it: memory that the filter committed, page faults \
             (the system clears a page at its first use), and how many times the system took the \
             core away. The last column is the longest of as many readings of the clock with \
             nothing in between: what the machine alone costs."
        }
        _ => "",
    }
}

/// Where the report goes, and what every copy of it says.
pub struct Output {
    folder: PathBuf,
    facts: Vec<(&'static str, String)>,
}

impl Output {
    /// Creates the folder.
    pub fn new(options: &Options) -> Result<Self> {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
        let folder = options.output.clone().unwrap_or_else(|| target.join("bench"));
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
        Ok(Self { folder, facts: machine::facts(env!("CARGO_PKG_NAME")) })
    }

    /// Prints machine, compiler, commit and command.
    pub fn print_facts(&self) {
        for (name, fact) in &self.facts {
            println!("{name}: {fact}");
        }
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
        let bars = bars(results);
        for table in std::iter::once(&bars).chain(&results.tables) {
            if !table.rows.is_empty() {
                report.heading(heading(table.name));
                if !about(table.name).is_empty() {
                    report.paragraph(about(table.name));
                }
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

    /// Prints the tables that a reader wants first, what is missing, and where the report is.
    pub fn finish(&self, results: &Results) {
        let first = results.tables.iter().filter(|table| table.name == "comparison");
        for table in std::iter::once(&bars(results)).chain(first) {
            if !table.rows.is_empty() {
                print!("\n{}:\n\n{}", heading(table.name), table.markdown());
            }
        }
        if !results.missing.is_empty() {
            println!("\nThe run was stopped or a section crashed. The report has everything else:");
            results.missing.iter().for_each(|what| println!("- {what}"));
        }
        println!("\n{:.0} s; the report is {}", results.seconds, self.path().display());
    }

    fn path(&self) -> PathBuf {
        self.folder.join("report.md")
    }
}

fn bars(results: &Results) -> Table {
    let mut bars = Table::new("bars", &["operation", "bar", "measured", "verdict", "how"]);
    results.bars.iter().for_each(|bar| bars.push(bar.row()));
    bars
}
