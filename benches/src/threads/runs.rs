//! Runs of several pinned threads: operations per second, and one reader beside writers.

use std::{
    hint::black_box,
    sync::{
        Barrier, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use guira_harness::{BATCH, Cores};
use hdrhistogram::Histogram;

use super::shared::{Population, Shared, Steps};

/// Runs `work` on pinned threads with a barrier for all of them. Returns their results.
pub fn together<T: Send>(
    cores: &Cores,
    threads: usize,
    work: impl Fn(usize, &Barrier) -> T + Sync,
) -> Vec<T> {
    let barrier = Barrier::new(threads);
    let run = &|thread| {
        cores.pin(thread);
        work(thread, &barrier)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|at| scope.spawn(move || run(at))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread of a run")).collect()
    })
}

/// The work of the threads of a run.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Per cent of operations that are lookups; the others are writes.
    pub reads: u32,
    /// Per cent of lookups whose key is present.
    pub present: u32,
    /// Lookups in batches; needs 100 % reads.
    pub batches: bool,
}

impl Work {
    /// Returns a mix with single reads, half of them of present keys.
    pub const fn mix(reads: u32) -> Self {
        Self { reads, present: 50, batches: false }
    }
}

/// Runs pinned threads over the same span of time. Returns million operations per second of all
/// threads together.
pub fn throughput(
    filter: &dyn Shared,
    cores: &Cores,
    population: &Population,
    threads: usize,
    work: Work,
    time: Duration,
) -> f64 {
    let steps = &Steps::new(work.reads);
    pace(cores, threads, time, |thread| {
        let reads = population.reads(thread, work.present);
        let mut ring = population.ring(thread);
        let (mut found, mut at) = ([false; BATCH], 0);
        move || {
            let reads = next_block(&reads, &mut at, BATCH);
            black_box(match (work.reads, work.batches) {
                (100, true) => filter.lookup_batch(reads, &mut found),
                (100, false) => filter.lookups(reads),
                _ => filter.mix(reads, &mut ring, steps),
            });
            BATCH
        }
    })
}

/// Returns the next keys of a sequence that repeats; its length is a multiple of `size`.
pub fn next_block<'a>(keys: &'a [u64], at: &mut usize, size: usize) -> &'a [u64] {
    let block = &keys[*at..*at + size];
    *at = (*at + size) % keys.len();
    block
}

/// Repeats the work of pinned threads over the same span of time. `prepare` runs on each thread and
/// returns its work, which returns a number of operations. Returns million operations per second of
/// all threads together.
pub fn pace<W: FnMut() -> usize>(
    cores: &Cores,
    threads: usize,
    time: Duration,
    prepare: impl Fn(usize) -> W + Sync,
) -> f64 {
    let start = OnceLock::new();
    let results: Vec<(usize, Duration)> = together(cores, threads, |thread, barrier| {
        let mut work = prepare(thread);
        barrier.wait();
        let started = *start.get_or_init(Instant::now);
        let mut operations = 0;
        loop {
            operations += work();
            if started.elapsed() >= time {
                return (operations, started.elapsed());
            }
        }
    });
    // Threads that share a core take turns, so the speed follows from the span of all of them.
    let span = results.iter().map(|(_, span)| *span).max().unwrap_or_default().as_secs_f64();
    results.iter().map(|&(operations, _)| operations as f64 / span / 1e6).sum()
}

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
