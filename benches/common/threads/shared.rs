//! What is asked of a filter or set that threads share.

use guira::CuckooFilter;

use super::{Ring, Steps};

/// A filter or set that threads share.
pub trait Shared: Sync {
    /// Whether the key seems to be there.
    fn contains(&self, key: u64) -> bool;

    /// Adds a key; `false` if it did not fit.
    fn insert(&self, key: u64) -> bool;

    /// Takes a key out; `None` where that cannot be done.
    fn remove(&self, key: u64) -> Option<bool>;

    /// Looks up one key after another; returns how many seem to be there.
    fn lookups(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.contains(key)).count()
    }

    /// Looks up keys in the fastest way there is for many, one by one where there is no other.
    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> usize {
        let _ = found;
        self.lookups(keys)
    }

    /// Adds one key after another; returns how many fitted.
    fn inserts(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.insert(key)).count()
    }

    /// Adds keys in the fastest way there is for many; returns how many fitted.
    fn insert_batch(&self, keys: &[u64]) -> usize {
        self.inserts(keys)
    }

    /// Takes out one key after another; returns how many were there.
    fn removes(&self, keys: &[u64]) -> Option<usize> {
        keys.iter().try_fold(0, |sum, &key| Some(sum + usize::from(self.remove(key)?)))
    }

    /// Takes keys out in the fastest way there is for many.
    fn remove_batch(&self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        let _ = removed;
        self.removes(keys)
    }

    /// One operation per step, reads of these keys and writes of this ring.
    fn mix(&self, reads: &[u64], ring: &mut Ring, steps: &Steps) -> usize {
        let contains = |key| self.contains(key);
        steps.run(reads, ring, contains, |key| self.insert(key), |key| self.remove(key))
    }

    /// Whether keys can be taken out.
    fn can_remove(&self) -> bool {
        true
    }
}

impl Shared for CuckooFilter {
    fn contains(&self, key: u64) -> bool {
        self.contains_hash(key)
    }

    fn insert(&self, key: u64) -> bool {
        self.insert_hash(key).is_ok()
    }

    fn remove(&self, key: u64) -> Option<bool> {
        Some(self.remove_hash(key))
    }

    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> usize {
        self.contains_hash_batch(keys, &mut found[..keys.len()])
    }

    fn insert_batch(&self, keys: &[u64]) -> usize {
        keys.len() - self.insert_hash_batch(keys).err().map_or(0, |error| error.rejected().len())
    }

    fn remove_batch(&self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        Some(self.remove_hash_batch(keys, &mut removed[..keys.len()]))
    }
}
