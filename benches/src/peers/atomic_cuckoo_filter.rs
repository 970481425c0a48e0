//! `atomic-cuckoo-filter`: a concurrent cuckoo filter with four slots of 16 bits and a cheap
//! hasher.

use atomic_cuckoo_filter::{CuckooFilter, CuckooFilterBuilder};

use super::{Alone, Peer, Size, hasher::Folded};
use crate::threads::Shared;

struct Atomic(CuckooFilter<Folded>);

pub fn build(size: Size) -> Box<dyn Peer> {
    // It rounds up to a power of two, so it gets its size in bytes: by items it could take twice
    // the bytes.
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
