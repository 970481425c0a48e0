//! Filters that never remove: Bloom filters, and a binary fuse filter.

use std::alloc::{self, Layout};

use fastbloom::AtomicBloomFilter;
use sbbf_rs::{ALIGNMENT, BUCKET_SIZE, FilterFn};
use xorf::{BinaryFuse16, Filter};

use super::peer::{Alone, Peer, Size};
use crate::threads::Shared;

/// `fastbloom`: an atomic Bloom filter by hash, with all the memory and the best number of hashes
/// for the items.
pub fn atomic(size: Size) -> Box<dyn Peer> {
    let filter = AtomicBloomFilter::with_num_bits(size.bytes * 8).expected_items(size.items);
    Box::new(Alone(filter))
}

impl Shared for AtomicBloomFilter {
    fn contains(&self, key: u64) -> bool {
        self.contains_hash(key)
    }

    fn insert(&self, key: u64) -> bool {
        self.insert_hash(key);
        true
    }

    fn remove(&self, _: u64) -> Option<bool> {
        None
    }

    fn can_remove(&self) -> bool {
        false
    }
}

/// `xorf`: a binary fuse filter, which is built from all its keys at once and never changes.
pub struct Fuse(pub Option<BinaryFuse16>);

impl Peer for Fuse {
    fn lookups(&self, keys: &[u64]) -> usize {
        let filter = self.0.as_ref().expect("built before it is used");
        keys.iter().filter(|&key| filter.contains(key)).count()
    }

    fn make(&mut self, keys: &[u64]) -> Option<()> {
        self.0 = Some(BinaryFuse16::try_from(keys).expect("distinct keys"));
        Some(())
    }
}

/// `sbbf-rs`: a split-block Bloom filter by hash, in a buffer that this program owns.
pub struct Sbbf {
    kernels: FilterFn,
    buffer: *mut u8,
    layout: Layout,
    buckets: usize,
}

impl Sbbf {
    /// Allocates an empty filter of `bytes` bytes.
    pub fn new(bytes: usize) -> Self {
        let buckets = (bytes / BUCKET_SIZE).max(2).next_multiple_of(ALIGNMENT / BUCKET_SIZE);
        let layout = Layout::from_size_align(buckets * BUCKET_SIZE, ALIGNMENT).expect("a size");
        // SAFETY: the size is not zero.
        let buffer = unsafe { alloc::alloc_zeroed(layout) };
        if buffer.is_null() {
            alloc::handle_alloc_error(layout);
        }
        Self { kernels: FilterFn::new(), buffer, layout, buckets }
    }

    /// Looks up one hash.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        // SAFETY: the buffer is aligned and has `self.buckets` buckets.
        unsafe { self.kernels.contains(self.buffer, self.buckets, hash) }
    }

    /// Inserts one hash.
    #[inline]
    pub fn insert(&mut self, hash: u64) {
        // SAFETY: as in `contains`, and `self` is borrowed exclusively.
        unsafe { self.kernels.insert(self.buffer, self.buckets, hash) };
    }
}

impl Drop for Sbbf {
    fn drop(&mut self) {
        // SAFETY: the buffer came from the allocator with this layout.
        unsafe { alloc::dealloc(self.buffer, self.layout) };
    }
}

impl Peer for Sbbf {
    fn lookups(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.contains(key)).count()
    }

    fn inserts(&mut self, keys: &[u64]) -> Option<usize> {
        for &key in keys {
            self.insert(key);
        }
        Some(keys.len())
    }
}
