//! Single-threaded filters, owned by one thread, or behind the standard library's `RwLock`.

use std::sync::RwLock;

use super::peer::{Alone, Peer};
use crate::threads::Shared;

/// The operations of a single-threaded filter.
pub trait Single: Send + Sync {
    /// Returns whether the key seems present.
    fn contains(&self, key: u64) -> bool;
    /// Inserts a key. Returns `false` if it does not fit.
    fn insert(&mut self, key: u64) -> bool;
    /// Removes a key, if it is present.
    fn remove(&mut self, key: u64) -> Option<bool>;
}

/// A filter that one thread owns, without a lock.
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

/// A filter that threads share: every call takes the lock.
struct Locked<F>(RwLock<F>);

/// Puts a filter behind a lock.
pub fn locked<F: Single + 'static>(filter: F) -> Box<dyn Peer> {
    Box::new(Alone(Locked(filter.into())))
}

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
