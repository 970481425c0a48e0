//! A cache before a store that is slow to miss, and a filter that spares the store the misses.
//!
//! ```text
//! cargo run --release --example cache -- [--trace FILE]
//! ```
//!
//! The store is an embedded database (`redb`), the cache `moka`. Accesses of a trace are replayed by
//! several threads: an access looks in the cache, on a miss asks what mirrors the store's keys, and reads
//! the store unless it is told that the key is absent. Half of the keys are in the store at the start,
//! and some accesses create, overwrite or delete their key, so that presence changes all
//! the time. The same trace is replayed three times: with nothing between cache and store, with a
//! [`CuckooFilter`](guira::CuckooFilter), and with an exact set.
//!
//! Who changes the store changes the mirror, in the order that [`replay`] gives; all others ask the mirror
//! without a lock. Every answer is checked, against [`ledger`], which knows exactly what is true of
//! each key:
//!
//! - a mirror that does not know a key of the store (a *false negative*), a cache that has an old row, or a
//!   mirror that is not empty when all keys are removed ends the run with exit status 1;
//! - what the filter lets through though it is absent (a *false positive*) is counted, by access and by key.
//!   The promised rate is one of keys: a key in demand that is taken for present counts at every access.
//!
//! The trace is a file (xz of little-endian `u32` keys, one for each access), or drawn by Zipf's law. A
//! file that cannot be read is reported in one line, with exit status 2.
//!
//! The store's file is in the system's page cache, and one commit in 32 waits for the disk. Where reads go to
//! a disk, a look-up that is spared is worth more.

mod ledger;
mod mirror;
mod replay;
mod store;
mod trace;

use std::{
    io::{self, Write},
    num::NonZero,
    path::PathBuf,
    process::ExitCode,
    thread,
};

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use mirror::Mirror;
use replay::{Outcome, replay};
use trace::Trace;

/// Replay a trace through a cache and a store, without a filter between, with one, and with an exact set
#[derive(Parser)]
#[command(name = "cache")]
struct Args {
    /// Trace to replay: xz of little-endian u32 keys, one for each access [default: drawn by Zipf's law]
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Threads that replay it [default: as many as there are cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Entries of the cache [default: a twentieth of the keys]
    #[arg(long)]
    entries: Option<u64>,
    /// False-positive rate to ask for
    #[arg(long, default_value_t = 0.01)]
    rate: f64,
    /// Share of the accesses that create, overwrite or delete their key
    #[arg(long, default_value_t = 0.002)]
    changes: f64,
}

/// Why the run ended early: an exit status and one line for standard error.
#[derive(Debug)]
struct Failure(u8, String);

/// The failure of a mirror, a cache or a store that broke a promise.
fn broken(line: impl Into<String>) -> Failure {
    Failure(1, line.into())
}

/// The failure of a run whose input, or whose options, cannot be used.
fn unusable(line: impl Into<String>) -> Failure {
    Failure(2, line.into())
}

/// A quotient, 0 where nothing is divided by nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// A share in percent.
fn percent(part: u64, whole: u64) -> String {
    format!("{:.3} %", 100.0 * ratio(part as f64, whole as f64))
}

/// What one variant has to say, line by line; `-` where it has nothing.
fn column(mirror: &Mirror, accesses: usize, outcome: &Outcome) -> Vec<String> {
    let tally = &outcome.tally;
    let with_mirror = |line: String| match mirror {
        Mirror::Nothing => "-".into(),
        _ => line,
    };
    let bound = match mirror {
        Mirror::Nothing => "-".into(),
        Mirror::Filter(filter) => format!("{:.3} %", 100.0 * filter.false_positive_rate()),
        Mirror::Set(_) => "0.000 %".into(),
    };
    let seconds = outcome.elapsed.as_secs_f64();
    vec![
        tally.hits.to_string(),
        percent(tally.hits, tally.hits + tally.misses),
        tally.lookups.to_string(),
        tally.in_vain.to_string(),
        with_mirror(tally.spared.to_string()),
        with_mirror(tally.false_positives.to_string()),
        with_mirror(percent(tally.false_positives, tally.asked_absent)),
        with_mirror(percent(outcome.mistaken as u64, outcome.absent as u64)),
        bound,
        with_mirror("0".into()),
        with_mirror(outcome.bytes.to_string()),
        with_mirror(format!("{} ns", outcome.answer.as_nanos())),
        format!("{:.3} M/s", ratio(accesses as f64, seconds * 1e6)),
        format!("{seconds:.3} s"),
        format!("{}, {}, {}", tally.created, tally.overwritten, tally.deleted),
        outcome.left.to_string(),
        tally.unchecked.to_string(),
    ]
}

/// What the lines of [`column`] are.
const LINES: [&str; 17] = [
    "cache hits",
    "of reads",
    "store look-ups",
    "that found nothing",
    "look-ups spared",
    "false positives",
    "of asks, absent",
    "of keys, absent",
    "bound of the rate",
    "false negatives",
    "bytes",
    "for one answer",
    "accesses",
    "time",
    "+, overwritten, -",
    "keys at the end",
    "not checked",
];

/// A bar for the accesses of all variants; where standard error is no terminal, it stays hidden.
fn progress_bar(accesses: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} accesses, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(accesses as u64).with_style(style)
}

/// Does everything and prints the report.
fn run(args: &Args) -> Result<(), Failure> {
    if !(0.0..=1.0).contains(&args.changes) {
        return Err(unusable(format!("--changes {}: not a share from 0 to 1", args.changes)));
    }
    let trace = match &args.trace {
        Some(path) => Trace::read(path, args.changes)?,
        None => Trace::draw(args.changes),
    };
    let threads = args
        .threads
        .map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from);
    let (keys, accesses) = (trace.keys.len(), trace.accesses.len());
    let entries = args.entries.unwrap_or(keys as u64 / 20);
    // Room for all keys, should all of them be present at once.
    let mirrors = [Mirror::nothing(), Mirror::filter(keys, args.rate)?, Mirror::set()];

    let bar = progress_bar(accesses * mirrors.len());
    let columns: Result<Vec<_>, _> = mirrors
        .iter()
        .map(|mirror| {
            let outcome = replay(&trace, mirror, entries, threads, &bar)?;
            Ok(column(mirror, accesses, &outcome))
        })
        .collect();
    bar.finish_and_clear();

    let report = report(&trace, entries, threads, &columns?);
    let written = io::stdout().write_all(report.as_bytes());
    written.map_err(|error| unusable(format!("standard output: {error}")))
}

/// Puts together what a run has to say.
fn report(trace: &Trace, entries: u64, threads: usize, columns: &[Vec<String>]) -> String {
    let present = trace.present.iter().filter(|&&present| present).count();
    let mut lines = vec![
        format!("trace              {}", trace.name),
        format!(
            "accesses           {} of {} keys, {present} of them in the store at the start",
            trace.accesses.len(),
            trace.keys.len()
        ),
        format!("cache              {entries} entries"),
        format!("threads            {threads}"),
        format!("{:18}{:>21}{:>21}{:>21}", "", "no filter", "CuckooFilter", "exact set"),
    ];
    for (index, name) in LINES.iter().enumerate() {
        let figures = columns.iter().map(|column| format!("{:>21}", column[index]));
        lines.push(format!("{name:18}{}", figures.collect::<String>()));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(status, line)) => {
            eprintln!("cache: {line}");
            ExitCode::from(status)
        }
    }
}
