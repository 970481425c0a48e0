//! `papaya`: a concurrent hash set with foldhash, pinned once per block of operations.

use foldhash::fast::FixedState;
use papaya::HashSet;

use super::{Alone, Peer, Size};
use crate::threads::{Ring, Shared, Steps};

struct Papaya(HashSet<u64, FixedState>);

pub fn build(size: Size) -> Box<dyn Peer> {
    let builder = HashSet::builder().capacity(size.items).hasher(FixedState::default());
    Box::new(Alone(Papaya(builder.build())))
}

impl Shared for Papaya {
    fn contains(&self, key: u64) -> bool {
        self.0.pin().contains(&key)
    }

    fn insert(&self, key: u64) -> bool {
        self.0.pin().insert(key)
    }

    fn remove(&self, key: u64) -> Option<bool> {
        Some(self.0.pin().remove(&key))
    }

    fn lookups(&self, keys: &[u64]) -> usize {
        let set = self.0.pin();
        keys.iter().filter(|&key| set.contains(key)).count()
    }

    fn inserts(&self, keys: &[u64]) -> usize {
        let set = self.0.pin();
        keys.iter().filter(|&&key| set.insert(key)).count()
    }

    fn removes(&self, keys: &[u64]) -> Option<usize> {
        let set = self.0.pin();
        Some(keys.iter().filter(|&key| set.remove(key)).count())
    }

    fn mix(&self, reads: &[u64], ring: &mut Ring, steps: &Steps) -> usize {
        let set = self.0.pin();
        let contains = |key| set.contains(&key);
        steps.run(reads, ring, contains, |key| set.insert(key), |key| Some(set.remove(&key)))
    }
}
