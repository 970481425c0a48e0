//! What all benchmarks share: keys, the memory floor, pinned threads, and what threads do together.
//!
//! The workspace member `report` uses this folder as well.

// Each benchmark is a program of its own that takes its part of this.
#![allow(dead_code, unused_imports)]

mod cores;
mod floor;
mod keys;
pub mod threads;

use std::time::Instant;

use guira::{CuckooFilter, Layout};

pub use cores::Cores;
pub use floor::{Floor, advise_huge_pages};
pub use keys::{Keys, Pick};

/// Keys of one call of a batch method.
pub const BATCH: usize = 1024;

/// How many items a filter is built for that takes about as many bytes.
pub fn capacity_for(bytes: usize, layout: Layout) -> usize {
    // Bits per item hardly depend on the size, so a first guess tells the rest. No page is touched.
    let guess = bytes / 8 * layout.lanes() as usize;
    (guess as f64 * bytes as f64 / filter(guess, layout).size_in_bytes() as f64) as usize
}

/// An empty filter for so many items.
pub fn filter(capacity: usize, layout: Layout) -> CuckooFilter {
    CuckooFilter::builder().capacity(capacity).layout(layout).seed(1).build().expect("memory")
}

/// Inserts the keys of a range of indices.
pub fn fill(filter: &CuckooFilter, keys: Keys, indices: std::ops::Range<u64>) {
    keys.blocks(indices, |block| filter.insert_hash_batch(block).expect("room"));
}

/// Nanoseconds that some work takes.
pub fn nanoseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9
}

/// A number from the environment, for the benchmarks whose command line is criterion's.
pub fn from_environment(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}
