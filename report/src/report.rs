//! Writes `target/bench-report/`: the report, the plots, and a CSV file for each table and plot.

use std::{fmt::Write, fs, path::PathBuf};

use anyhow::Result;

use crate::{Options, machine, measure::Results, table::Table};

/// What the figures are, for who reads the report alone.
const TERMS: &str = "\
F is two random cache lines per key, prefetched in windows of 32, from a memory of the same size on the \
same kind of pages, measured right before and after each figure. R is one locked instruction on one \
random line per key, nothing prefetched. Figures are medians of several rounds; threads are pinned. \
All filters get the same random 64-bit keys and memory on huge pages; a set gets a sixteenth of the keys. \
A write takes out the oldest of the thread's own keys or puts in a new one, in turn. Latencies have the clock's own \
share on top; where there are more threads than cores, they have the wait for a core in them.";

/// What a table shows, by its name.
fn heading(name: &str) -> &str {
    match name {
        "bars" => "The bars",
        "one-thread" => "One thread, in memory",
        "semi-sorted" => "Semi-sorted layouts beside plain ones",
        "space" => "Bits per item and rate at capacity, measured",
        "in-l2" => "In the L2 cache",
        "against-atomic-cuckoo-filter" => "Against atomic-cuckoo-filter",
        "peers" => "Peers, one thread",
        "peers-throughput" => "Peers, by threads",
        "peers-latency" => "Peers, one reader beside writers",
        "scaling" => "By threads, over mixes and loads",
        other => other,
    }
}

/// `bench-report` in cargo's target folder, by its variable or in the current folder.
fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    target.join("bench-report")
}

/// Writes everything.
pub fn write(options: &Options, results: &Results) -> Result<()> {
    let folder = folder();
    fs::create_dir_all(&folder)?;
    let mut bars = Table::new("bars", &["bar", "target", "measured", "verdict", "how"]);
    results.bars.iter().for_each(|bar| bars.push(bar.row()));

    let mut text = String::from("# guira, measured\n\n");
    for (name, fact) in machine::facts(env!("CARGO_PKG_NAME")) {
        writeln!(text, "- {name}: {fact}")?;
    }
    write!(
        text,
        "- tables: {} MiB; measured in {:.0} s\n\n{TERMS}\n",
        options.megabytes, results.seconds
    )?;
    for table in std::iter::once(&bars).chain(&results.tables) {
        if !table.rows.is_empty() {
            write!(text, "\n## {}\n\n{}", heading(table.name), table.markdown())?;
            table.write_csv(&folder)?;
        }
    }
    text += "\n## Plots\n";
    for chart in results.charts.iter().filter(|chart| !chart.is_empty()) {
        chart.write_svg(&folder)?;
        chart.write_csv(&folder)?;
        write!(text, "\n![{}]({}.svg)\n", chart.title, chart.name)?;
    }
    fs::write(folder.join("report.md"), &text)?;
    if !bars.rows.is_empty() {
        print!("{}", bars.markdown());
    }
    println!("\nThe report is {}", folder.join("report.md").display());
    Ok(())
}
