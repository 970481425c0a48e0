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
//! negative, a stale row in the cache or a failed removal ends the run.
//!
//! False positives are counted twice: per lookup, and per absent key at the end. The rate of the
//! filter bounds the second count. The first can exceed it, because a popular key that is a false
//! positive counts each time.
//!
//! The module [`cached`] is separate from the replay: a filter of the cache's own contents.

pub mod cached;
mod ledger;
mod mirror;
mod replay;
mod report;
mod store;
mod tally;
mod trace;

use std::{fmt, num::NonZero, path::PathBuf, thread};

use mirror::Mirror;
use trace::Trace;

/// The largest accepted number of threads; a typing error should not start a million.
pub const MAX_THREADS: usize = 1024;

/// What to replay, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The trace to replay, or `None` to draw one from a Zipf distribution.
    pub trace: Option<PathBuf>,
    /// Number of threads, at most [`MAX_THREADS`].
    pub threads: usize,
    /// Capacity of the cache, or `None` for one twentieth of the keys.
    pub entries: Option<u64>,
    /// Target false-positive rate of the filter.
    pub rate: f64,
    /// Share of the accesses that write or delete their key, from 0 to 1.
    pub changes: f64,
}

impl Default for Options {
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            trace: None,
            threads: cores.min(MAX_THREADS),
            entries: None,
            rate: 0.01,
            changes: 0.002,
        }
    }
}

/// Why a run ended early.
#[derive(Debug)]
pub enum Failure {
    /// A mirror, the cache or the store gave a wrong answer.
    WrongAnswer(String),
    /// An option or a file cannot be used.
    Unusable(String),
}

impl Failure {
    /// Returns the exit status that the program reports for this failure.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::WrongAnswer(_) => 1,
            Self::Unusable(_) => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::WrongAnswer(message) | Self::Unusable(message)) = self;
        f.write_str(message)
    }
}

impl std::error::Error for Failure {}

/// Replays a trace with each mirror in turn and returns the report.
///
/// # Errors
/// - [`Failure::WrongAnswer`] if an answer contradicts the ledger.
/// - [`Failure::Unusable`] if the trace, the store or an option cannot be used.
///
/// # Panics
/// If `changes` is not a number from 0 to 1.
pub fn run(options: &Options) -> Result<String, Failure> {
    let trace = match &options.trace {
        Some(path) => Trace::read(path, options.changes)?,
        None => Trace::draw(options.changes),
    };
    let entries = options.entries.unwrap_or(trace.keys.len() as u64 / 20);
    // The filter has room for all keys, in case all of them are present at once.
    let mirrors = [Mirror::Nothing, Mirror::filter(trace.keys.len(), options.rate)?, Mirror::set()];
    let mut outcomes = Vec::new();
    for mirror in &mirrors {
        eprintln!("replaying with {mirror} ...");
        outcomes.push(replay::replay(&trace, mirror, entries, options.threads)?);
    }
    Ok(report::report(&trace, entries, options.threads, mirrors.iter().zip(&outcomes)))
}
