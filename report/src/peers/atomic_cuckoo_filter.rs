//! `atomic-cuckoo-filter`: the one comparable filter; 16 bits, four to a bucket, with a cheap hasher.

use atomic_cuckoo_filter::{CuckooFilter, CuckooFilterBuilder};

use super::{Alone, Peer, Size, hasher::Folded};
use crate::common::threads::Shared;

struct Atomic(CuckooFilter<Folded>);

pub fn build(size: Size) -> Box<dyn Peer> {
    // It rounds up to a power of two, so by items it could take twice the bytes: it gets the bytes.
    let slots = size.items.max(size.bytes / 2);
    let builder = CuckooFilterBuilder::<Folded>::default();
    let builder = builder.capacity(slots).fingerprint_size(16).bucket_size(4);
    Box::new(Alone(Atomic(builder.build().expect("a valid size"))))
}

impl Shared for Atomic {
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }

    fn insert(&self, key: u64) -> bool {
        self.0.insert(&key).is_ok()
    }

    fn remove(&self, key: u64) -> Option<bool> {
        Some(self.0.remove(&key))
    }
}
