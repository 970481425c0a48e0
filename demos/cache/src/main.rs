//! A cuckoo filter between a cache and a store spares the store most lookups of absent keys.
//!
//! The store is an embedded database (`redb`), and the cache in front of it is `moka`. Several
//! threads replay the accesses of a trace. A read tries the cache first. On a miss it consults the
//! mirror of the store's keys, and it reads the store only if the key may be present. Half of the
//! keys are in the store at the start. Some accesses write or delete their key, so the set of
//! present keys changes all the time.
//!
//! The demo replays the same trace three times: with no mirror, with a
//! [`CuckooFilter`](guira::CuckooFilter) and with an exact set (`dashmap`). The thread that changes
//! the store also changes the mirror, in the order that `replay.rs` explains. Lookups in the mirror
//! take no lock of the demo's.
//!
//! Every answer is checked against the ledger, which knows the exact state of each key. Only an
//! answer that overlaps a change of its key cannot be checked; the report counts those. A false
//! negative, a stale row in the cache or a failed removal ends the run with exit status 1.
//!
//! False positives are counted twice: per lookup, and per absent key at the end. The rate of the
//! filter bounds the second count. The first can exceed it, because a popular key that is a false
//! positive counts each time.
//!
//! The library of this package is separate from the replay: a filter of the cache's own contents.

mod ledger;
mod mirror;
mod replay;
mod report;
mod store;
mod trace;

use std::{
    io::{self, Write},
    num::NonZero,
    path::PathBuf,
    process::ExitCode,
    thread,
};

use anyhow::Result;
use clap::{Parser, value_parser};
use mirror::Mirror;
use thiserror::Error;
use trace::Trace;

/// Replays a trace through a cache and a store: without a filter between them, with a cuckoo
/// filter, and with an exact set. Checks every answer, and prints how the three compare.
#[derive(Parser)]
struct Options {
    /// Replay the keys in this file, little-endian u32, and not keys from a Zipf distribution
    #[arg(long)]
    trace: Option<PathBuf>,
    /// Number of threads [default: one per core]
    #[arg(long, value_parser = value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Capacity of the cache [default: one twentieth of the keys]
    #[arg(long)]
    entries: Option<u64>,
    /// Target false-positive rate of the filter
    #[arg(long, default_value_t = 0.01)]
    rate: f64,
    /// Share of accesses that write or delete their key
    #[arg(long, default_value_t = 0.002, value_parser = share)]
    changes: f64,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "not a number from 0 to 1".into())
}

/// A mirror, the cache or the store gave a wrong answer.
#[derive(Debug, Error)]
#[error("{0}")]
struct WrongAnswer(String);

/// Replays a trace with each mirror in turn, and prints the report.
fn run(options: &Options) -> Result<()> {
    let trace = match &options.trace {
        Some(path) => Trace::read(path, options.changes)?,
        None => Trace::draw(options.changes),
    };
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let threads = options.threads.map_or_else(cores, usize::from);
    let entries = options.entries.unwrap_or(trace.keys.len() as u64 / 20);
    // The filter has room for all keys, in case all of them are present at once.
    let mirrors = [Mirror::Nothing, Mirror::filter(trace.keys.len(), options.rate)?, Mirror::set()];
    let mut outcomes = Vec::new();
    for mirror in &mirrors {
        eprintln!("replaying with {mirror} ...");
        outcomes.push(replay::replay(&trace, mirror, entries, threads)?);
    }
    let text = report::report(&trace, entries, threads, mirrors.iter().zip(&outcomes));
    Ok(io::stdout().write_all(text.as_bytes())?)
}

fn main() -> ExitCode {
    let Err(error) = run(&Options::parse()) else { return ExitCode::SUCCESS };
    eprintln!("cache: {error:#}");
    ExitCode::from(if error.is::<WrongAnswer>() { 1 } else { 2 })
}
