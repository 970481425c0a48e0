//! The trait of the compared filters and sets, and how shared and single-threaded ones implement
//! it.
//!
//! Each is used in the fastest documented way for `u64` keys: by hash if it takes hashes, else with
//! a cheap hasher if it takes a hasher, else with its own. Keys are random, so the hash of a key is
//! the key itself. A method returns `None` if the crate has no such operation.

use std::sync::RwLock;

use crate::threads::Shared;

/// The operations of a filter that one thread uses.
pub trait Peer {
    /// Looks up single keys. Returns how many seem present.
    fn lookups(&self, keys: &[u64]) -> usize;

    /// The same in batches, where there are any.
    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> Option<usize> {
        let _ = (keys, found);
        None
    }

    /// Inserts single keys. Returns how many fit.
    fn inserts(&mut self, keys: &[u64]) -> Option<usize> {
        let _ = keys;
        None
    }

    /// The same in batches, where there are any.
    fn insert_batch(&mut self, keys: &[u64]) -> Option<usize> {
        let _ = keys;
        None
    }

    /// Removes single keys. Returns how many were present.
    fn removes(&mut self, keys: &[u64]) -> Option<usize> {
        let _ = keys;
        None
    }

    /// The same in batches, where there are any.
    fn remove_batch(&mut self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        let _ = (keys, removed);
        None
    }

    /// Builds the filter from all its keys, if it is built at once.
    fn make(&mut self, keys: &[u64]) -> Option<()> {
        let _ = keys;
        None
    }

    /// Returns the filter as threads share it.
    fn shared(&self) -> Option<&dyn Shared> {
        None
    }
}

/// The size of a filter.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Number of items to hold.
    pub items: usize,
    /// Memory in bytes, for the crates that take it.
    pub bytes: usize,
}

/// A shared filter that one thread uses.
pub struct Alone<S>(pub S);

impl<S: Shared> Peer for Alone<S> {
    fn lookups(&self, keys: &[u64]) -> usize {
        self.0.lookups(keys)
    }

    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> Option<usize> {
        self.0.has_batches().then(|| self.0.lookup_batch(keys, found))
    }

    fn inserts(&mut self, keys: &[u64]) -> Option<usize> {
        Some(self.0.inserts(keys))
    }

    fn insert_batch(&mut self, keys: &[u64]) -> Option<usize> {
        self.0.has_batches().then(|| self.0.insert_batch(keys))
    }

    fn removes(&mut self, keys: &[u64]) -> Option<usize> {
        if self.0.can_remove() { self.0.removes(keys) } else { None }
    }

    fn remove_batch(&mut self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        if self.0.has_batches() { self.0.remove_batch(keys, removed) } else { None }
    }

    fn shared(&self) -> Option<&dyn Shared> {
        Some(&self.0)
    }
}

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
