//! One reader beside writers: its speed, and how long its look-ups take.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;

use super::{Population, Shared, Steps, move_into};
use crate::common::{BATCH, Cores};

/// How a reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As fast as it can, one key after another.
    Single,
    /// As fast as it can, in batches.
    Batch,
    /// One key at a time, each look-up timed.
    SingleTimed,
    /// Bursts of 32 keys in one call, each timed.
    BurstTimed,
}

/// Nanoseconds of the longest call that is told from longer ones: ten seconds.
const LONGEST: u64 = 10_000_000_000;

/// Keys of a timed burst.
pub const BURST: usize = 32;

/// What a reader beside writers came to.
pub struct Beside {
    /// Millions of look-ups a second, of the one reader.
    pub reads: f64,
    /// Millions of removals and inserts a second, of all writers together.
    pub writes: f64,
    /// Look-ups that did not find a key that was there all the time.
    pub misses: u64,
    /// Nanoseconds of each timed look-up or burst, the clock's own share included.
    pub latency: Histogram<u64>,
}

/// One pinned reader of keys that are always there, beside writers on the cores after its own. The
/// writers change `written`, which is the same filter or, to see what the machine alone takes, another.
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
                Reading::SingleTimed => timed(filter, keys, 1, &mut latency),
                Reading::BurstTimed => timed(filter, keys, BURST, &mut latency),
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
        let writers: Vec<_> =
            (0..writers).map(|writer| scope.spawn(move_into(&write, writer))).collect();
        let reader = scope.spawn(read);
        let (reads, misses, latency) = reader.join().expect("the reader");
        let writes =
            writers.into_iter().fold(0.0, |sum, writer| sum + writer.join().expect("a writer"));
        Beside { reads, writes, misses, latency }
    })
}

/// Looks keys up so many at a time, and notes how long each call takes.
fn timed(
    filter: &dyn Shared,
    keys: &[u64],
    at_a_time: usize,
    latency: &mut Histogram<u64>,
) -> usize {
    let (mut hits, mut found) = (0, [false; BURST]);
    for keys in keys.chunks(at_a_time) {
        let start = Instant::now();
        hits += match keys {
            &[key] => usize::from(filter.contains(key)),
            keys => filter.lookup_batch(keys, &mut found),
        };
        latency.saturating_record(start.elapsed().as_nanos() as u64);
    }
    hits
}
