//! Operations per second of several threads.

use std::{
    hint::black_box,
    sync::{Barrier, OnceLock},
    thread,
    time::{Duration, Instant},
};

use guira_bench::{BATCH, Cores};

use super::{Population, Shared, Steps, move_into};

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
    let steps = Steps::new(work.reads);
    let (barrier, start) = (Barrier::new(threads), OnceLock::new());
    let run = |thread: usize| {
        cores.pin(thread);
        let reads = population.reads(thread, work.present);
        let mut ring = population.ring(thread);
        let failures = ring.failures;
        let mut found = [false; BATCH];
        barrier.wait();
        let started = *start.get_or_init(Instant::now);
        let mut operations = 0;
        for reads in reads.chunks_exact(BATCH).cycle() {
            black_box(match (work.reads, work.batches) {
                (100, true) => filter.lookup_batch(reads, &mut found),
                (100, false) => filter.lookups(reads),
                _ => filter.mix(reads, &mut ring, &steps),
            });
            operations += BATCH;
            if started.elapsed() >= time {
                break;
            }
        }
        (operations, started.elapsed(), ring.failures - failures)
    };
    let results: Vec<(usize, Duration, u64)> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move_into(&run, thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread of a run")).collect()
    });
    // Threads that share a core take turns, so the speed follows from the span of all of them.
    let span = results.iter().map(|(_, span, _)| *span).max().unwrap_or_default().as_secs_f64();
    let speed = |&(operations, ..): &(usize, _, _)| operations as f64 / span / 1e6;
    Throughput {
        per_thread: results.iter().map(speed).collect(),
        failures: results.iter().map(|&(.., failures)| failures).sum(),
    }
}
