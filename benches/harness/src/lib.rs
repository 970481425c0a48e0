//! What the measuring program and the reproduction of the papers share: keys, pinned cores, and the
//! report with its tables and plots.

mod axis;
mod cores;
mod keys;
mod look;
pub mod machine;
pub mod plot;
pub mod report;
pub mod table;

use guira::{CuckooFilter, Layout};

pub use cores::Cores;
pub use keys::{Keys, Pick};

/// Number of keys in one call of a batch method.
pub const BATCH: usize = 1024;

/// Returns the capacity of a filter with about `bytes` bytes of buckets.
#[must_use]
pub fn capacity_for(bytes: usize, layout: Layout) -> usize {
    // Bits per item hardly depend on the size, so one guess is enough. It touches no page.
    let slots = bytes / 8 * layout.slots_per_bucket() as usize;
    (slots as f64 * slots as f64 / filter(slots, layout).slots() as f64) as usize
}

/// Builds an empty filter with a capacity of `capacity` items.
///
/// # Panics
/// If there is not enough memory.
#[must_use]
pub fn filter(capacity: usize, layout: Layout) -> CuckooFilter {
    CuckooFilter::builder().capacity(capacity).layout(layout).seed(1).build().expect("memory")
}

/// Builds an empty filter with about `bytes` bytes of buckets.
#[must_use]
pub fn filter_of(layout: Layout, bytes: usize) -> CuckooFilter {
    filter(capacity_for(bytes, layout), layout)
}
