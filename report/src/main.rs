//! One command that measures guira beside its floor, against the bars that were set for it, and beside
//! its peers, and writes `target/bench-report/`: the report, tables as CSV, and plots.
//!
//! `cargo run --release -p guira-report` takes some minutes, `-- --full` much longer.

#[path = "../../benches/common/mod.rs"]
mod common;

mod bar;
mod measure;
mod memory;
mod peers;
mod report;

use anyhow::Result;
use clap::Parser;
use guira_report::{machine, plot, table};

/// What to measure, and how much of it.
#[derive(Clone, Debug, Parser)]
#[command(about = "Measures guira beside its floor and its peers, and writes target/bench-report/")]
pub struct Options {
    /// Everything: more rounds, thread counts, loads and mixes.
    #[arg(long)]
    full: bool,
    /// Size of the large tables in MiB, a power of two.
    #[arg(long, default_value_t = 128)]
    megabytes: usize,
    /// How long one figure of threads is measured in one round.
    #[arg(long)]
    milliseconds: Option<u64>,
    /// Only the parts or peers with this in their names (one-thread, semi-sorted, in-l2, two-threads, beside,
    /// atomic, peers, scaling; or a crate's name).
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    anyhow::ensure!(options.megabytes.is_power_of_two(), "--megabytes takes a power of two");
    let results = measure::all(&options);
    report::write(&options, &results)
}
