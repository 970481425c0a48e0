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
//! the filters take turns, with the minimum and the maximum beside it. If the ranges of two
//! compared speeds overlap, the verdict says so. `--smoke` has as many rounds, but tiny tables; it
//! shows only that everything works.
//!
//! `--help` lists the options. Each run replaces `evaluation/report/`, so copy a report that you
//! want to keep.
//!
//! Each file of `experiments` that is named after a table, figure or section is one experiment, and
//! `speeds` has Figures 5 to 8. An experiment returns rows, tables and plots, and a note on the
//! method. `filters` holds the filters that the papers compare, and `simulation` fills cuckoo
//! tables with any fingerprint and bucket size.

mod experiments;
mod filters;
mod pages;
mod report;
mod simulation;

use std::time::Instant;

use anyhow::Result;
use clap::Parser;

/// What to measure, and at which size.
#[derive(Clone, Debug, Parser)]
#[command(about = "Reproduces the cuckoo filter papers' evaluation, and writes evaluation/report/")]
struct Options {
    /// Uses the papers' table sizes, 2^25 buckets and 192 MiB, and numbers of runs; takes hours.
    #[arg(long)]
    full: bool,
    /// Runs everything with tiny tables, to see that it works; the figures mean nothing.
    #[arg(long, conflicts_with = "full")]
    smoke: bool,
    /// Also measures load factors of tables with 2^N buckets; the papers have 25, and 30, which
    /// takes 4 to 32 GiB.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=30))]
    log_buckets: Vec<u32>,
    /// Runs only the experiments whose names contain NAME, such as figure-7 or section-3.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
}

impl Options {
    /// Binary logarithms of the additional table sizes in buckets.
    fn log_buckets(&self) -> &[u32] {
        if self.full && self.log_buckets.is_empty() { &[25] } else { &self.log_buckets }
    }

    /// Table size of Figures 6 to 8 in bytes.
    fn bytes(&self) -> usize {
        if self.full { self.large_bytes() } else { self.large_bytes() / 8 }
    }

    /// Table size of Table 3 and Figure 5 in bytes, as in the paper.
    fn large_bytes(&self) -> usize {
        if self.smoke { 1 << 20 } else { 192 << 20 }
    }

    /// Returns a number of runs; the papers have 10.
    fn runs_or(&self, default: usize) -> usize {
        match self {
            _ if self.smoke => 1,
            _ if self.full => 10,
            _ => default,
        }
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
