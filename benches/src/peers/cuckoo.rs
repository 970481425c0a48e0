//! Cuckoo filters, and a quotient filter. Those that hash themselves get a cheap hasher.

use atomic_cuckoo_filter::{CuckooFilter as Atomic, CuckooFilterBuilder};
use cuckoofilter::CuckooFilter;
use qfilter::Filter;
use scalable_cuckoo_filter::{ScalableCuckooFilter, ScalableCuckooFilterBuilder};

use super::{
    hasher::Folded,
    peer::{Alone, Peer, Size},
    single::Single,
};
use crate::threads::Shared;

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
