//! What the measuring program and the reproduction of the papers share: keys, pinned cores, and the
//! tables and plots of a report.

mod axis;
mod cores;
mod keys;
mod look;
pub mod machine;
pub mod plot;
pub mod table;

use std::ops::Range;

use guira::{CuckooFilter, Hashed, Layout, raw::Kernel};

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

/// Builds an empty filter of `Plain4x16` that looks up batches by this kernel.
///
/// # Panics
/// If the kernel is not available, or there is not enough memory.
#[must_use]
pub fn filter_by(kernel: Kernel, capacity: usize) -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(capacity).layout(Layout::Plain4x16).seed(1);
    builder.kernel(kernel).build().expect("memory and the kernel")
}

/// Returns the kernels that this machine has, the slowest first.
pub fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.iter().copied().filter(|kernel| kernel.is_available())
}

/// Builds an empty filter with about `bytes` bytes of buckets.
#[must_use]
pub fn filter_of(layout: Layout, bytes: usize) -> CuckooFilter {
    filter(capacity_for(bytes, layout), layout)
}

/// Inserts the keys at a range of indices, in batches.
///
/// # Panics
/// If the filter has no room for them.
pub fn fill(filter: &CuckooFilter, keys: Keys, indices: Range<u64>) {
    keys.blocks(indices, |block| filter.insert_batch(Hashed::slice(block)).expect("room"));
}
