//! `scalable_cuckoo_filter`: a cuckoo filter that grows, at the rate of 16-bit fingerprints, with a
//! cheap hasher.

use scalable_cuckoo_filter::{ScalableCuckooFilter, ScalableCuckooFilterBuilder};

use super::{Peer, Size, hasher::Folded};

struct Scalable(ScalableCuckooFilter<u64, Folded>);

pub fn build(size: Size) -> Box<dyn Peer> {
    with_rate(size.items, 0.00012)
}

/// Builds a filter of this first capacity and target false-positive rate.
pub fn with_rate(capacity: usize, rate: f64) -> Box<dyn Peer> {
    let builder = ScalableCuckooFilterBuilder::new().initial_capacity(capacity);
    let builder = builder.false_positive_probability(rate).hasher(Folded::default());
    Box::new(Scalable(builder.finish()))
}

impl Peer for Scalable {
    fn lookups(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&key| self.0.contains(key)).count()
    }

    fn inserts(&mut self, keys: &[u64]) -> Option<usize> {
        for key in keys {
            self.0.insert(key);
        }
        Some(keys.len())
    }

    fn removes(&mut self, keys: &[u64]) -> Option<usize> {
        Some(keys.iter().filter(|&key| self.0.remove(key)).count())
    }
}
