//! A single-threaded filter behind std's `RwLock`: what anybody can have without a concurrent one.

use std::sync::RwLock;

use super::Peer;
use crate::common::threads::Shared;

/// A single-threaded filter with the calls for one key.
pub trait Single: Send + Sync {
    /// Whether the key seems to be there.
    fn contains(&self, key: u64) -> bool;
    /// Adds a key; `false` if it did not fit.
    fn insert(&mut self, key: u64) -> bool;
    /// Takes a key out, if it is there.
    fn remove(&mut self, key: u64) -> Option<bool>;
}

/// Such a filter as one thread uses it, without a lock.
pub struct Owned<F>(pub F);

impl<F: Single> Peer for Owned<F> {
    fn lookups(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.0.contains(key)).count()
    }

    fn inserts(&mut self, keys: &[u64]) -> Option<usize> {
        Some(keys.iter().filter(|&&key| self.0.insert(key)).count())
    }

    fn removes(&mut self, keys: &[u64]) -> Option<usize> {
        keys.iter().try_fold(0, |sum, &key| Some(sum + usize::from(self.0.remove(key)?)))
    }
}

/// Such a filter as threads share it: every call takes the lock.
pub struct Locked<F>(pub RwLock<F>);

impl<F: Single> Shared for Locked<F> {
    fn contains(&self, key: u64) -> bool {
        self.0.read().expect("not poisoned").contains(key)
    }

    fn insert(&self, key: u64) -> bool {
        self.0.write().expect("not poisoned").insert(key)
    }

    fn remove(&self, key: u64) -> Option<bool> {
        self.0.write().expect("not poisoned").remove(key)
    }
}
