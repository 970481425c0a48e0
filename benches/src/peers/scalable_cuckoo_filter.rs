//! `scalable_cuckoo_filter`: a cuckoo filter that grows, at the rate of 16-bit fingerprints, with a
//! cheap hasher.

use scalable_cuckoo_filter::{ScalableCuckooFilter, ScalableCuckooFilterBuilder};

use super::{Peer, Size, hasher::Folded};

struct Scalable(ScalableCuckooFilter<u64, Folded>);

pub fn build(size: Size) -> Box<dyn Peer> {
    let builder = ScalableCuckooFilterBuilder::new().initial_capacity(size.items);
    let builder = builder.false_positive_probability(0.00012).hasher(Folded::default());
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
