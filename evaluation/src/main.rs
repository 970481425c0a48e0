//! Reproduces every table and figure of the cuckoo filter papers, with guira beside them.
//!
//! The papers are "Cuckoo Filter: Practically Better Than Bloom" (Fan, Andersen, Kaminsky and
//! Mitzenmacher, `CoNEXT` 2014) and "Cuckoo Filter: Better Than Bloom" (`;login:`, August 2013).
//! One command measures everything and writes the page `evaluation/report/report.md`. Its rows
//! compare each figure of the papers with the one measured here. A CSV file accompanies each table
//! and plot.
//!
//! ```text
//! cargo run --release -p guira-evaluation
//! ```
//!
//! Counts (loads, rates, bits, cache lines) use all cores. What is timed (Table 3, Figures 5 to 8)
//! runs on one pinned thread, so leave the machine idle during a run. All filters have the same
//! pages of memory: none has huge ones. Each timed figure is the median of several rounds in which
//! the filters take turns, with the minimum and the maximum beside it. If the ranges of two compared
//! speeds overlap, the verdict says so. `--smoke` has as many rounds, but tiny tables; it shows only
//! that everything works.
//!
//! `--help` lists the options. Each run replaces `evaluation/report/`, so copy a report that you
//! want to keep.
//!
//! Each file of `experiments` that is named after a table, figure or section is one experiment, and
//! `speeds` has Figures 5 to 8. An experiment returns rows, tables and plots, and a note on the
//! method. `filters` holds the filters that the papers compare, and `simulation` fills cuckoo tables
//! with any fingerprint and bucket size.

mod experiments;
mod filters;
mod pages;
mod report;
mod simulation;

use std::time::Instant;

use anyhow::Result;
use clap::{Parser, builder::RangedU64ValueParser};

/// What to measure, and at which size.
#[derive(Clone, Debug, Parser)]
#[command(about = "Reproduces the cuckoo filter papers' evaluation, and writes evaluation/report/")]
struct Options {
    /// Uses the papers' table sizes and numbers of runs; takes hours.
    #[arg(long)]
    full: bool,
    /// Table size of Figures 6 to 8 in MiB [default: 24, or 192 with --full].
    #[arg(long, value_name = "N", value_parser = at_most(1 << 20))]
    megabytes: Option<usize>,
    /// Table size of Table 3 and Figure 5 in MiB [default: 192, as in the paper].
    #[arg(long, value_name = "N", value_parser = at_most(1 << 20))]
    large_megabytes: Option<usize>,
    /// Runs everything with tiny tables, to see that it works; the figures mean nothing.
    #[arg(long, conflicts_with = "full")]
    smoke: bool,
    /// Runs behind each load factor [default: depends on the experiment, 10 with --full].
    #[arg(long, value_name = "N", value_parser = at_most(1 << 20))]
    runs: Option<usize>,
    /// Also measures load factors of tables with 2^N buckets; the papers have 25, and 30, which
    /// takes 4 to 32 GiB.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=30))]
    log_buckets: Vec<u32>,
    /// Runs only the experiments whose names contain NAME, such as figure-7 or section-3.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

/// Parses an integer from 1 to `max`.
fn at_most(max: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=max)
}

impl Options {
    /// Binary logarithms of the additional table sizes in buckets.
    fn log_buckets(&self) -> &[u32] {
        if self.full && self.log_buckets.is_empty() { &[25] } else { &self.log_buckets }
    }

    /// Table size of Figures 6 to 8 in bytes.
    fn bytes(&self) -> usize {
        let default = if self.full { 192 } else { 24 };
        self.size(self.megabytes, default)
    }

    /// Table size of Table 3 and Figure 5 in bytes.
    fn large_bytes(&self) -> usize {
        self.size(self.large_megabytes, 192)
    }

    /// Returns a table size in bytes: the one that was asked for, a tiny one with `--smoke`, or the
    /// default; the first and the last are in MiB.
    fn size(&self, megabytes: Option<usize>, default: usize) -> usize {
        match megabytes {
            None if self.smoke => 1 << 17,
            megabytes => megabytes.unwrap_or(default) << 20,
        }
    }

    /// Returns a number of runs: the one that was asked for, or the papers' with `--full`.
    fn runs_or(&self, default: usize) -> usize {
        let default = if self.full { 10 } else { default };
        self.runs.unwrap_or(if self.smoke { 1 } else { default })
    }

    /// Returns a number of buckets or items as a binary logarithm, or a small one with `--smoke`.
    fn log(&self, log_buckets: u32) -> u32 {
        if self.smoke { log_buckets.min(12) } else { log_buckets }
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    pages::use_small_pages()?;
    let start = Instant::now();
    let results = experiments::run_selected(&options)?;
    let path = report::write(&results, start.elapsed().as_secs_f64())?;
    println!("Report written to {}", path.display());
    Ok(())
}
