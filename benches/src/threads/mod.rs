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
pub use throughput::{Work, next_block, pace, throughput, together};
pub use writes::{Ring, Steps};
