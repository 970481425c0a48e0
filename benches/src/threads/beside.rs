//! One reader beside writers: its speed and the latency of its lookups.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;

use guira_harness::{BATCH, Cores};

use super::{population::Population, shared::Shared, writes::Steps};

/// How a reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As fast as it can, one key after another.
    Single,
    /// As fast as it can, in batches.
    Batch,
    /// One key at a time; each lookup is timed.
    Timed,
}

/// Longest latency that the histogram resolves, in nanoseconds: ten seconds.
const LONGEST: u64 = 10_000_000_000;

/// Figures of one reader beside writers.
pub struct Beside {
    /// Million lookups per second of the reader.
    pub reads: f64,
    /// Million removals and inserts per second of all writers.
    pub writes: f64,
    /// Lookups that missed a key that was always present.
    pub misses: u64,
    /// Nanoseconds of each timed lookup, with the cost of reading the clock.
    pub latency: Histogram<u64>,
}

/// Runs one pinned reader of keys that are always present, beside writers on the next cores. The
/// writers change `written`: the same filter or, to measure what the machine alone costs, another
/// one.
pub fn beside(
    (filter, population): (&dyn Shared, &Population),
    (written, changing): (&dyn Shared, &Population),
    cores: &Cores,
    writers: usize,
    reading: Reading,
    time: Duration,
) -> Beside {
    let (start, stop) = (Barrier::new(writers + 1), AtomicBool::new(false));
    let steps = Steps::new(0);
    let write = |writer: usize| {
        cores.pin(writer + 1);
        let mut ring = changing.ring(writer);
        let unread = [0; BATCH];
        start.wait();
        let (started, mut writes) = (Instant::now(), 0_u64);
        while !stop.load(Relaxed) {
            written.mix(&unread, &mut ring, &steps);
            writes += BATCH as u64;
        }
        writes as f64 / started.elapsed().as_secs_f64() / 1e6
    };
    let read = || {
        cores.pin(0);
        let keys = population.reads(0, 100);
        let mut latency = Histogram::new_with_bounds(1, LONGEST, 3).expect("bounds in order");
        let mut found = [false; BATCH];
        start.wait();
        let (started, mut reads, mut hits) = (Instant::now(), 0, 0);
        for keys in keys.chunks_exact(BATCH).cycle() {
            hits += match reading {
                Reading::Single => filter.lookups(keys),
                Reading::Batch => filter.lookup_batch(keys, &mut found),
                Reading::Timed => timed(filter, keys, &mut latency),
            };
            reads += BATCH;
            if started.elapsed() >= time {
                break;
            }
        }
        let speed = reads as f64 / started.elapsed().as_secs_f64() / 1e6;
        stop.store(true, Relaxed);
        (speed, (reads - hits) as u64, latency)
    };
    thread::scope(|scope| {
        let write = &write;
        let writers: Vec<_> = (0..writers).map(|at| scope.spawn(move || write(at))).collect();
        let reader = scope.spawn(read);
        let (reads, misses, latency) = reader.join().expect("the reader");
        let writes =
            writers.into_iter().fold(0.0, |sum, writer| sum + writer.join().expect("a writer"));
        Beside { reads, writes, misses, latency }
    })
}

/// Looks up keys, and records the latency of each lookup.
fn timed(filter: &dyn Shared, keys: &[u64], latency: &mut Histogram<u64>) -> usize {
    let mut hits = 0;
    for &key in keys {
        let start = Instant::now();
        hits += usize::from(filter.contains(key));
        latency.saturating_record(start.elapsed().as_nanos() as u64);
    }
    hits
}
