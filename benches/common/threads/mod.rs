//! What several pinned threads do with one filter: mixes of reads and writes, and look-ups timed one
//! by one beside writers.

mod beside;
mod population;
mod shared;
mod throughput;
mod writes;

pub use beside::{BURST, Beside, Reading, beside};
pub use population::Population;
pub use shared::Shared;
pub use throughput::{Throughput, Work, throughput};
pub use writes::{Ring, Steps};

/// A closure that calls another one with a number.
fn move_into<T>(work: &(impl Fn(usize) -> T + Sync), number: usize) -> impl FnOnce() -> T {
    move || work(number)
}
