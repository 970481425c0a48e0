//! Operations per second of several threads.

use std::{
    hint::black_box,
    sync::{Barrier, OnceLock},
    thread,
    time::{Duration, Instant},
};

use guira_harness::{BATCH, Cores};

use super::{population::Population, shared::Shared, writes::Steps};

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

/// Figures of one run of several threads.
#[derive(Clone, Debug)]
pub struct Throughput {
    /// Million operations per second of each thread.
    pub per_thread: Vec<f64>,
    /// Writes that failed.
    pub failures: u64,
}

impl Throughput {
    /// Returns million operations per second of all threads together.
    pub fn total(&self) -> f64 {
        self.per_thread.iter().sum()
    }
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

/// Runs pinned threads over the same span of time.
pub fn throughput(
    filter: &dyn Shared,
    cores: &Cores,
    population: &Population,
    threads: usize,
    work: Work,
    time: Duration,
) -> Throughput {
    let steps = &Steps::new(work.reads);
    let failures = || (0..threads).map(|thread| population.ring(thread).failures).sum::<u64>();
    let before = failures();
    let per_thread = pace(cores, threads, time, |thread| {
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
    });
    Throughput { per_thread, failures: failures() - before }
}

/// Returns the next keys of a sequence that repeats; its length is a multiple of `size`.
pub fn next_block<'a>(keys: &'a [u64], at: &mut usize, size: usize) -> &'a [u64] {
    let block = &keys[*at..*at + size];
    *at = (*at + size) % keys.len();
    block
}

/// Repeats the work of pinned threads over the same span of time. `prepare` runs on each thread and
/// returns its work, which returns a number of operations. Returns million operations per second of
/// each thread.
pub fn pace<W: FnMut() -> usize>(
    cores: &Cores,
    threads: usize,
    time: Duration,
    prepare: impl Fn(usize) -> W + Sync,
) -> Vec<f64> {
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
    results.iter().map(|&(operations, _)| operations as f64 / span / 1e6).collect()
}
