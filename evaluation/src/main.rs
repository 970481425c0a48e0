//! Reproduces every table and figure of the cuckoo filter papers, with guira beside them.
//!
//! The papers are "Cuckoo Filter: Practically Better Than Bloom" (Fan, Andersen, Kaminsky and
//! Mitzenmacher, `CoNEXT` 2014) and "Cuckoo Filter: Better Than Bloom" (`;login:`, August 2013).
//! One command measures everything and writes `evaluation/report/index.html`: a page with every
//! plot in it, a table "paper, here, difference" with a verdict in each row at its top, and a CSV
//! file beside it for each table and plot:
//!
//! ```text
//! cargo run --release -p guira-evaluation
//! ```
//!
//! It takes about five minutes on two idle cores, and a quarter of an hour on busy ones. Counts (loads,
//! rates, bits, cache lines) are made on all cores at once; times (Table 3 and Figures 5 to 8) on one
//! pinned thread, so leave the machine
//! alone meanwhile.
//!
//! - `--only NAME` makes the parts with NAME in their names: `table-1` to `table-3`, `figure-2` to
//!   `figure-8`, `login-loads`, `copies`, `theory`, `literature`. It can be repeated. Every run replaces
//!   all of `evaluation/report/`: copy a report that you want to keep.
//! - `--megabytes N` sizes the tables of the throughput experiments, `--runs N` is how often each
//!   load factor is measured, `--buckets 25` adds tables of 2^25 buckets to `figure-2` and
//!   `login-loads` (and `--buckets 30` of 2^30, which take 8 to 32 GiB).
//! - `--full` is as in the papers, but for 2^30 buckets: 192 MiB, 10 runs, 2^25 buckets. That takes hours.
//! - `--only login-loads --buckets 25 --keep` makes the figures in `kept/` anew, by which Table 2 of
//!   `;login:` is judged where it is not measured again; its loads depend on the size of the table.
//!
//! Each experiment is one file of `experiments`, returns its rows, tables and plots, and says in its
//! notes how it was made. The filters are in `filters`, and placements of any fingerprint and bucket
//! size in `placement`.

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
