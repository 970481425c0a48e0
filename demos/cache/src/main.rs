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
//! the store also changes the mirror, in the order that `replay.rs` explains.
//!
//! Every answer is checked against the exact state of its key. Only an answer that overlaps a
//! change of its key cannot be checked; the report counts those. A false negative, a stale row in
//! the cache or a failed removal makes the program fail.
//!
//! False positives are counted twice: per lookup, and per absent key at the end. The rate of the
//! filter bounds the second count. The first can exceed it, because a popular key that is a false
//! positive counts each time.
//!
//! The library of this package is separate from the replay: a filter of the cache's own contents.

mod mirror;
mod replay;
mod store;
mod trace;

use std::{num::NonZero, thread};

use anyhow::Result;
use mirror::Mirror;
use replay::Outcome;
use trace::Trace;

/// Share of accesses that write or delete their key.
const CHANGES: f64 = 0.002;
/// Number of keys for each entry that the cache has room for.
const KEYS_PER_ENTRY: u64 = 20;
/// Target false-positive rate of the filter.
const RATE: f64 = 0.01;

/// Replays a trace with each mirror in turn, and prints the report.
fn main() -> Result<()> {
    let trace = Trace::draw(CHANGES);
    let (accesses, keys) = (trace.accesses.len(), trace.keys.len());
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let entries = keys as u64 / KEYS_PER_ENTRY;
    let mut columns = Vec::new();
    // The filter has room for all keys, in case all of them are present at once.
    for mirror in [Mirror::Nothing, Mirror::filter(keys, RATE)?, Mirror::set()] {
        eprintln!("replaying with {mirror} ...");
        let outcome = replay::replay(&trace, &mirror, entries, threads)?;
        columns.push(column(&mirror, accesses, &outcome));
    }
    let present = trace.present.iter().filter(|&&present| present).count();
    println!("trace     drawn, Zipf exponent {}", trace::EXPONENT);
    println!("accesses  {accesses}");
    println!("keys      {keys}, of which {present} are in the store at the start");
    println!("cache     {entries} entries");
    println!("threads   {threads}\n");
    for (row, (label, _)) in columns[0].iter().enumerate() {
        print!("{label:<30}");
        for column in &columns {
            print!("{:>15}", column[row].1);
        }
        println!();
    }
    println!(
        "\nEvery checked answer was right: no false negatives, no stale rows, no failed removals."
    );
    Ok(())
}

/// Returns the labels and cells of one mirror, from top to bottom; `-` where it has no figure.
fn column(mirror: &Mirror, accesses: usize, outcome: &Outcome) -> Vec<(&'static str, String)> {
    let Outcome { tally, elapsed, mirror_bytes, present, absent, false_positives } = outcome;
    let of_mirror = |cell: String| match mirror {
        Mirror::Nothing => "-".into(),
        _ => cell,
    };
    let percent = |share: f64| format!("{:.3} %", 100.0 * share);
    let ratio = |part: u64, whole: u64| percent(part as f64 / whole.max(1) as f64);
    let seconds = elapsed.as_secs_f64();
    vec![
        ("", mirror.to_string()),
        ("cache hits", tally.hits.to_string()),
        ("  of all reads", ratio(tally.hits, tally.hits + tally.misses)),
        ("store lookups", tally.store_lookups.to_string()),
        ("  that found no row", tally.fruitless_lookups.to_string()),
        ("store lookups avoided", of_mirror(tally.avoided_lookups.to_string())),
        ("false positives", of_mirror(tally.false_positives.to_string())),
        (
            "  of lookups of absent keys",
            of_mirror(ratio(tally.false_positives, tally.absent_lookups)),
        ),
        ("  of absent keys, at the end", of_mirror(ratio(*false_positives, *absent))),
        ("  of absent keys, at most", of_mirror(percent(mirror.false_positive_rate()))),
        ("memory", of_mirror(format!("{:.0} kB", *mirror_bytes as f64 / 1e3))),
        ("time", format!("{seconds:.2} s")),
        ("million accesses per second", format!("{:.2}", accesses as f64 / seconds / 1e6)),
        ("keys created", tally.created.to_string()),
        ("keys overwritten", tally.overwritten.to_string()),
        ("keys deleted", tally.deleted.to_string()),
        ("keys in the store at the end", present.to_string()),
        ("answers not checked", tally.unchecked.to_string()),
    ]
}
