//! Several pinned threads with one filter: mixes of reads and writes, and timed lookups beside
//! writers.

mod beside;
mod population;
mod shared;
mod throughput;
mod writes;

use std::{sync::Barrier, thread};

use guira_harness::Cores;

pub use beside::{Reading, beside};
pub use population::Population;
pub use shared::Shared;
pub use throughput::{Work, next_block, pace, throughput};
pub use writes::{Ring, Steps};

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
