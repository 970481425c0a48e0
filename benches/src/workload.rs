//! What sections time on filters, by blocks of keys.

use std::ops::Range;

use guira::{
    CuckooFilter, Filter, Hashed, Layout,
    kind::{Contents, Growth, Set},
    raw::Kernel,
};
use guira_harness::{BATCH, Keys};

use crate::timing::{Clock, over_keys, over_range};

/// Returns the kernels that this machine has, the slowest first.
pub fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.iter().copied().filter(|kernel| kernel.is_available())
}

/// Builds an empty filter of `Plain4x16` that looks up batches by this kernel.
pub fn filter_by(kernel: Kernel, capacity: usize) -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(capacity).layout(Layout::Plain4x16).seed(1);
    builder.kernel(kernel).build().expect("memory and the kernel")
}

/// Inserts the keys at a range of indices, in batches.
pub fn insert_batch<G: Growth>(filter: &Filter<Set, G>, keys: Keys, indices: Range<u64>) -> Clock {
    over_range(keys, indices, |block| filter.insert_batch(Hashed::slice(block)).expect("room"))
}

/// Inserts the keys at a range of indices, one by one.
pub fn insert_single<G: Growth>(filter: &Filter<Set, G>, keys: Keys, indices: Range<u64>) -> Clock {
    over_range(keys, indices, |block| {
        for &key in block {
            filter.insert(&Hashed(key)).expect("room");
        }
    })
}

/// Looks keys up in batches. Returns also how many of them are found.
pub fn lookup_batch<C: Contents, G: Growth>(filter: &Filter<C, G>, keys: &[u64]) -> (Clock, usize) {
    let (mut found, mut count) = ([false; BATCH], 0);
    let clock = over_keys(keys, |block| {
        count += filter.contains_batch(Hashed::slice(block), &mut found[..block.len()]);
    });
    (clock, count)
}

/// Looks keys up one by one. Returns also how many of them are found.
pub fn lookup_single<C: Contents, G: Growth>(
    filter: &Filter<C, G>,
    keys: &[u64],
) -> (Clock, usize) {
    let mut count = 0;
    let clock = over_keys(keys, |block| {
        count += block.iter().filter(|&&key| filter.contains(&Hashed(key))).count();
    });
    (clock, count)
}

/// Removes the keys at a range of indices, which are present, in batches.
pub fn remove_batch<G: Growth>(filter: &Filter<Set, G>, keys: Keys, indices: Range<u64>) -> Clock {
    let mut removed = [false; BATCH];
    over_range(keys, indices, |block| {
        let count = filter.remove_batch(Hashed::slice(block), &mut removed[..block.len()]);
        assert_eq!(count, block.len(), "every inserted key can be removed");
    })
}

/// Removes the keys at a range of indices, which are present, one by one.
pub fn remove_single<G: Growth>(filter: &Filter<Set, G>, keys: Keys, indices: Range<u64>) -> Clock {
    over_range(keys, indices, |block| {
        assert!(block.iter().all(|&key| filter.remove(&Hashed(key))), "every key is present");
    })
}
