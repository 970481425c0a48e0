//! Exact concurrent hash sets with foldhash.

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

/// `scc`.
pub fn scc(size: Size) -> Box<dyn Peer> {
    let hasher = FixedState::default();
    Box::new(Alone(scc::HashSet::<u64, _>::with_capacity_and_hasher(size.items, hasher)))
}

impl Shared for scc::HashSet<u64, FixedState> {
    fn contains(&self, key: u64) -> bool {
        self.contains_sync(&key)
    }

    fn insert(&self, key: u64) -> bool {
        self.insert_sync(key).is_ok()
    }

    fn remove(&self, key: u64) -> Option<bool> {
        Some(self.remove_sync(&key).is_some())
    }
}

/// `dashmap`: shards, each behind a read-write lock.
pub fn dashmap(size: Size) -> Box<dyn Peer> {
    let hasher = FixedState::default();
    Box::new(Alone(dashmap::DashSet::<u64, _>::with_capacity_and_hasher(size.items, hasher)))
}

impl Shared for dashmap::DashSet<u64, FixedState> {
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }

    fn insert(&self, key: u64) -> bool {
        self.insert(key)
    }

    fn remove(&self, key: u64) -> Option<bool> {
        Some(self.remove(&key).is_some())
    }
}
