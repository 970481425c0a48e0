//! Several pinned threads with one filter: mixes of reads and writes, and timed lookups beside
//! writers.

mod runs;
mod shared;

pub use runs::{Reading, Work, beside, next_block, pace, throughput, together};
pub use shared::{Population, Ring, Shared, Steps};
