//! The filters that grow, and those that are compared with them.

use guira::{CuckooFilter, GrowingFilter, GrowingMap, Hashed};
use guira_harness::{BATCH, Keys};

use crate::{
    memory,
    peers::{Peer, scalable},
    span::Span,
};

/// The keys that are inserted.
pub const KEYS: Keys = Keys::new(1);

/// Builds the filter that grows.
pub fn growing(span: Span, target: f64) -> GrowingFilter {
    let builder = GrowingFilter::builder().capacity(span.from as usize).seed(1);
    builder.false_positive_rate(target).build().expect("memory")
}

/// Builds the filter that does not grow.
pub fn built(items: u64, target: f64) -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(items as usize).seed(1).fastest();
    builder.false_positive_rate(target).build().expect("memory")
}

/// A filter that one thread fills and measures at many numbers of items.
pub trait Subject {
    /// Inserts at most [`BATCH`] keys.
    fn add(&mut self, keys: &[u64]);

    /// Looks up single keys. Returns how many seem present.
    fn lookups(&self, keys: &[u64]) -> usize;

    /// Looks up at most [`BATCH`] keys, in the fastest way.
    fn found(&self, keys: &[u64]) -> usize {
        self.lookups(keys)
    }

    /// Returns its memory in bytes.
    fn bytes(&self) -> usize;
}

macro_rules! subject {
    ($filter:ty, $insert:expr) => {
        impl Subject for $filter {
            fn add(&mut self, keys: &[u64]) {
                $insert(self, Hashed::slice(keys));
            }

            fn lookups(&self, keys: &[u64]) -> usize {
                keys.iter().filter(|&&key| self.contains(&Hashed(key))).count()
            }

            fn found(&self, keys: &[u64]) -> usize {
                self.contains_batch(Hashed::slice(keys), &mut [false; BATCH][..keys.len()])
            }

            fn bytes(&self) -> usize {
                self.size_in_bytes()
            }
        }
    };
}

subject!(CuckooFilter, |filter: &Self, keys| filter.insert_batch(keys).expect("room"));
subject!(GrowingFilter, |filter: &Self, keys| filter.insert_batch(keys).expect("room"));
subject!(GrowingMap, |filter: &Self, keys: &[Hashed]| {
    filter.insert_batch(keys, &[0; BATCH][..keys.len()]).expect("room");
});

/// Builds a map whose values take 4 bits.
pub fn map(capacity: u64, target: f64) -> GrowingMap {
    let builder = GrowingMap::builder().capacity(capacity as usize).value_bits(4).seed(1);
    builder.false_positive_rate(target).build().expect("memory")
}

/// `scalable_cuckoo_filter`.
pub struct Scalable {
    filter: Box<dyn Peer>,
    /// What this thread has allocated for it.
    bytes: isize,
}

impl Scalable {
    pub fn new(capacity: u64, target: f64) -> Self {
        let before = memory::held();
        let filter = scalable(capacity as usize, target);
        Self { filter, bytes: memory::held() - before }
    }
}

impl Subject for Scalable {
    fn add(&mut self, keys: &[u64]) {
        let before = memory::held();
        self.filter.inserts(keys);
        self.bytes += memory::held() - before;
    }

    fn lookups(&self, keys: &[u64]) -> usize {
        self.filter.lookups(keys)
    }

    fn bytes(&self) -> usize {
        self.bytes as usize
    }
}
