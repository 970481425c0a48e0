//! What the benchmarks have and this program uses: keys, cores, and advice about huge pages.

// The files are the benchmarks', and have more than is used here.
#![allow(dead_code)]

#[path = "../../benches/common/cores.rs"]
mod cores;
#[path = "../../benches/common/floor.rs"]
mod floor;
#[path = "../../benches/common/keys.rs"]
mod keys;

pub use cores::Cores;
pub use floor::advise_huge_pages;
pub use keys::{Keys, Pick};

/// Keys of one call of a batch method.
pub const BATCH: usize = 1024;
