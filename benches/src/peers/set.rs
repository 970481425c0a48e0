//! An exact concurrent hash set with foldhash.

use foldhash::fast::FixedState;

use super::peer::{Alone, Peer, Size};
use crate::threads::{Ring, Shared, Steps};

/// `papaya`, pinned once per block of operations.
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
