//! The operations of a filter or set that threads share.

use guira::{CuckooFilter, Hashed};

use super::writes::{Ring, Steps};

/// A filter or set that threads share.
pub trait Shared: Sync {
    /// Returns whether the key seems present.
    fn contains(&self, key: u64) -> bool;

    /// Inserts a key. Returns `false` if it does not fit.
    fn insert(&self, key: u64) -> bool;

    /// Removes a key. Returns `None` if the type cannot remove.
    fn remove(&self, key: u64) -> Option<bool>;

    /// Looks up single keys. Returns how many seem present.
    fn lookups(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.contains(key)).count()
    }

    /// Looks up keys in batches, or single keys if the type has no batches.
    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> usize {
        let _ = found;
        self.lookups(keys)
    }

    /// Inserts single keys. Returns how many fit.
    fn inserts(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.insert(key)).count()
    }

    /// Inserts keys in batches, or single keys. Returns how many fit.
    fn insert_batch(&self, keys: &[u64]) -> usize {
        self.inserts(keys)
    }

    /// Removes single keys. Returns how many were present.
    fn removes(&self, keys: &[u64]) -> Option<usize> {
        keys.iter().try_fold(0, |sum, &key| Some(sum + usize::from(self.remove(key)?)))
    }

    /// Removes keys in batches, or single keys.
    fn remove_batch(&self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        let _ = removed;
        self.removes(keys)
    }

    /// Executes one operation per step: reads of these keys, and writes of this ring.
    fn mix(&self, reads: &[u64], ring: &mut Ring, steps: &Steps) -> usize {
        let contains = |key| self.contains(key);
        steps.run(reads, ring, contains, |key| self.insert(key), |key| self.remove(key))
    }

    /// Returns whether the type can remove.
    fn can_remove(&self) -> bool {
        true
    }

    /// Returns whether the type has batches.
    fn has_batches(&self) -> bool {
        false
    }
}

impl Shared for CuckooFilter {
    fn contains(&self, key: u64) -> bool {
        self.contains(&Hashed(key))
    }

    fn insert(&self, key: u64) -> bool {
        self.insert(&Hashed(key)).is_ok()
    }

    fn remove(&self, key: u64) -> Option<bool> {
        Some(self.remove(&Hashed(key)))
    }

    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> usize {
        self.contains_batch(Hashed::slice(keys), &mut found[..keys.len()])
    }

    fn insert_batch(&self, keys: &[u64]) -> usize {
        keys.len()
            - self.insert_batch(Hashed::slice(keys)).err().map_or(0, |error| error.failures().len())
    }

    fn remove_batch(&self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        Some(self.remove_batch(Hashed::slice(keys), &mut removed[..keys.len()]))
    }

    fn has_batches(&self) -> bool {
        true
    }
}
