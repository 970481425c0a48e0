//! Filters that never remove: Bloom filters, and a binary fuse filter.

use fastbloom::{AtomicBloomFilter, BloomFilter};
use xorf::{BinaryFuse16, Filter};

use super::peer::{Alone, Peer, Size};
use crate::threads::Shared;

/// `fastbloom`: a Bloom filter by hash, with all the memory and the best number of hashes for the
/// items.
pub fn plain(size: Size) -> Box<dyn Peer> {
    Box::new(BloomFilter::with_num_bits(size.bytes * 8).expected_items(size.items))
}

impl Peer for BloomFilter {
    fn lookups(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.contains_hash(key)).count()
    }

    fn inserts(&mut self, keys: &[u64]) -> Option<usize> {
        for &key in keys {
            self.insert_hash(key);
        }
        Some(keys.len())
    }
}

/// The same, atomic.
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
