//! Several pinned threads with one filter: mixes of reads and writes, and timed lookups beside
//! writers.

mod beside;
mod population;
mod shared;
mod throughput;
mod writes;

pub use beside::{Reading, beside};
pub use population::Population;
pub use shared::Shared;
pub use throughput::{Work, next_block, pace, throughput};
pub use writes::{Ring, Steps};

/// Returns a closure that calls `work` with a number.
fn move_into<T>(work: &(impl Fn(usize) -> T + Sync), number: usize) -> impl FnOnce() -> T {
    move || work(number)
}
