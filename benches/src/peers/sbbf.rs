//! `sbbf-rs`: split-block Bloom filters by hash, in a buffer that this program owns.

use std::alloc::{self, Layout};

use sbbf_rs::{ALIGNMENT, BUCKET_SIZE, FilterFn};

use super::peer::Peer;

/// The crate's kernels and the memory that they work on.
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
