//! The compared filters, and an exact concurrent hash set. The filters that hash themselves get a
//! cheap hasher.

use std::{
    alloc::{self, Layout},
    hash::Hasher,
};

use atomic_cuckoo_filter::{CuckooFilter as Atomic, CuckooFilterBuilder};
use cuckoofilter::CuckooFilter;
use fastbloom::AtomicBloomFilter;
use foldhash::fast::FixedState;
use qfilter::Filter;
use sbbf_rs::{ALIGNMENT, BUCKET_SIZE, FilterFn};
use scalable_cuckoo_filter::{ScalableCuckooFilter, ScalableCuckooFilterBuilder};
use xorf::{BinaryFuse16, Filter as _};

use super::peer::{Alone, Peer, Single, Size};
use crate::threads::{Ring, Shared, Steps};

/// `atomic-cuckoo-filter`: a concurrent cuckoo filter with four slots of 16 bits.
pub fn atomic(size: Size) -> Box<dyn Peer> {
    // It rounds up to a power of two, so it gets its size in bytes: by items it could take twice
    // the bytes.
    let slots = size.items.max(size.bytes / 2);
    let builder = CuckooFilterBuilder::<Folded>::default();
    let builder = builder.capacity(slots).fingerprint_size(16).bucket_size(4);
    Box::new(Alone(builder.build().expect("a valid size")))
}

impl Shared for Atomic<Folded> {
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }

    fn insert(&self, key: u64) -> bool {
        self.insert(&key).is_ok()
    }

    fn remove(&self, key: u64) -> Option<bool> {
        Some(self.remove(&key))
    }
}

/// `cuckoofilter`: four slots of 8 bits, and a power of two of buckets.
pub fn cuckoofilter(size: Size) -> CuckooFilter<Folded> {
    CuckooFilter::with_capacity(size.items)
}

impl Single for CuckooFilter<Folded> {
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }

    fn insert(&mut self, key: u64) -> bool {
        self.add(&key).is_ok()
    }

    fn remove(&mut self, key: u64) -> Option<bool> {
        Some(self.delete(&key))
    }
}

/// `qfilter`: a quotient filter by hash. Its target false-positive rate is 2^-14, which takes
/// remainders of 14 bits and 16.1 bits per slot: about what 16-bit cuckoo fingerprints take.
pub fn qfilter(size: Size) -> Filter {
    Filter::new(size.items as u64, 1.0 / 16384.0).expect("a valid size")
}

impl Single for Filter {
    fn contains(&self, key: u64) -> bool {
        self.contains_fingerprint(key)
    }

    fn insert(&mut self, key: u64) -> bool {
        // It counts duplicates, as a cuckoo filter does, so that a removal removes one of them.
        self.insert_fingerprint(true, key).is_ok()
    }

    fn remove(&mut self, key: u64) -> Option<bool> {
        Some(self.remove_fingerprint(key))
    }
}

/// `scalable_cuckoo_filter`: a cuckoo filter that grows from this first capacity, with this target
/// false-positive rate.
pub fn scalable(capacity: usize, rate: f64) -> Box<dyn Peer> {
    let builder = ScalableCuckooFilterBuilder::new().initial_capacity(capacity);
    let builder = builder.false_positive_probability(rate).hasher(Folded::default());
    Box::new(builder.finish::<u64>())
}

impl Peer for ScalableCuckooFilter<u64, Folded> {
    fn lookups(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&key| self.contains(key)).count()
    }

    fn inserts(&mut self, keys: &[u64]) -> Option<usize> {
        for key in keys {
            self.insert(key);
        }
        Some(keys.len())
    }

    fn removes(&mut self, keys: &[u64]) -> Option<usize> {
        Some(keys.iter().filter(|&key| self.remove(key)).count())
    }
}

/// `papaya`: an exact hash set with foldhash, pinned once per block of operations.
pub fn papaya(size: Size) -> Box<dyn Peer> {
    let builder = papaya::HashSet::<u64>::builder().capacity(size.items);
    Box::new(Alone(builder.hasher(FixedState::default()).build()))
}

impl Shared for papaya::HashSet<u64, FixedState> {
    fn contains(&self, key: u64) -> bool {
        self.pin().contains(&key)
    }

    fn insert(&self, key: u64) -> bool {
        self.pin().insert(key)
    }

    fn remove(&self, key: u64) -> Option<bool> {
        Some(self.pin().remove(&key))
    }

    fn lookups(&self, keys: &[u64]) -> usize {
        let set = self.pin();
        keys.iter().filter(|&key| set.contains(key)).count()
    }

    fn inserts(&self, keys: &[u64]) -> usize {
        let set = self.pin();
        keys.iter().filter(|&&key| set.insert(key)).count()
    }

    fn removes(&self, keys: &[u64]) -> Option<usize> {
        let set = self.pin();
        Some(keys.iter().filter(|&key| set.remove(key)).count())
    }

    fn mix(&self, reads: &[u64], ring: &mut Ring, steps: &Steps) -> usize {
        let set = self.pin();
        let contains = |key| set.contains(&key);
        steps.run(reads, ring, contains, |key| set.insert(key), |key| Some(set.remove(&key)))
    }
}

/// `fastbloom`: an atomic Bloom filter by hash, with all the memory and the best number of hashes
/// for the items.
pub fn bloom(size: Size) -> Box<dyn Peer> {
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

/// A cheap hasher: one folded multiplication per word. It hashes random keys and fingerprints well
/// enough in all bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Folded(u64);

impl Hasher for Folded {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for bytes in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.write_u64(u64::from(byte));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        let word = self.0 ^ word ^ 0x243f_6a88_85a3_08d3;
        let product = u128::from(word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
