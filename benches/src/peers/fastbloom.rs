//! `fastbloom`: Bloom filters, plain and atomic, by hash, with all the memory and the best number
//! of hashes for the items.

use fastbloom::{AtomicBloomFilter, BloomFilter};

use super::{Alone, Peer, Size};
use crate::threads::Shared;

struct Plain(BloomFilter);

pub fn plain(size: Size) -> Box<dyn Peer> {
    Box::new(Plain(BloomFilter::with_num_bits(size.bytes * 8).expected_items(size.items)))
}

impl Peer for Plain {
    fn lookups(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.0.contains_hash(key)).count()
    }

    fn inserts(&mut self, keys: &[u64]) -> Option<usize> {
        for &key in keys {
            self.0.insert_hash(key);
        }
        Some(keys.len())
    }

    fn removes(&mut self, _: &[u64]) -> Option<usize> {
        None
    }
}

struct Atomic(AtomicBloomFilter);

pub fn atomic(size: Size) -> Box<dyn Peer> {
    let filter = AtomicBloomFilter::with_num_bits(size.bytes * 8).expected_items(size.items);
    Box::new(Alone(Atomic(filter)))
}

impl Shared for Atomic {
    fn contains(&self, key: u64) -> bool {
        self.0.contains_hash(key)
    }

    fn insert(&self, key: u64) -> bool {
        self.0.insert_hash(key);
        true
    }

    fn remove(&self, _: u64) -> Option<bool> {
        None
    }

    fn can_remove(&self) -> bool {
        false
    }
}
