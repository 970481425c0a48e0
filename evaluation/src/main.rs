//! Reproduces every table and figure of the cuckoo filter papers, with guira beside them.

mod common;
mod experiments;
mod filters;
#[allow(dead_code, reason = "it also counts what is taken")]
#[path = "../../report/src/memory.rs"]
mod memory;
mod parallel;
mod placement;
mod report;

use std::time::Instant;

use anyhow::Result;
use clap::Parser;

/// What to measure, and how much of it.
#[derive(Clone, Debug, Parser)]
#[command(about = "Reproduces the cuckoo filter papers' evaluation, and writes evaluation/report/")]
struct Options {
    /// The sizes and numbers of runs of the papers: hours.
    #[arg(long)]
    full: bool,
    /// Size of the tables of the throughput experiments in MiB; 192 with `--full`, as in the papers.
    #[arg(long)]
    megabytes: Option<usize>,
    /// Runs behind each load factor; 10 with `--full`, as in the papers.
    #[arg(long)]
    runs: Option<usize>,
    /// Load factors also with 2^N buckets: 25 and 30 are in the papers.
    #[arg(long, value_name = "N")]
    buckets: Vec<u32>,
    /// Keeps the figures of a run with 2^25 buckets for reports to come.
    #[arg(long)]
    keep: bool,
    /// Only the experiments with this in their names.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

impl Options {
    /// Logarithms of the numbers of buckets that load factors are measured with, beside the small ones.
    fn log_buckets(&self) -> &[u32] {
        if self.full && self.buckets.is_empty() { &[25] } else { &self.buckets }
    }

    /// Bytes of a table of the throughput experiments.
    fn bytes(&self) -> usize {
        self.megabytes.unwrap_or(if self.full { 192 } else { 24 }) << 20
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    let start = Instant::now();
    let done = experiments::all(&options);
    let path = report::write(&done, start.elapsed().as_secs_f64())?;
    println!("The report is {}", path.display());
    Ok(())
}
