//! Code shared with the benchmarks: keys, cores, and the allocator that uses huge pages.

#![allow(dead_code, reason = "the benchmarks use more of these files than this program does")]

#[path = "../../benches/common/cores.rs"]
mod cores;
#[path = "../../benches/common/floor.rs"]
mod floor;
#[path = "../../benches/common/keys.rs"]
mod keys;
#[path = "../../report/src/memory.rs"]
mod memory;

pub use cores::Cores;
pub use floor::advise_huge_pages;
pub use keys::{Keys, Pick};

/// Keys per call of a batch method.
pub const BATCH: usize = 1024;
