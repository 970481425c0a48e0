//! The mirror of the store's keys: nothing, a cuckoo filter or an exact set.

use std::fmt;

use anyhow::{Context, Result};
use dashmap::DashSet;
use guira::{CuckooFilter, StableHashBuilder};

/// Knows the keys of the store, as long as each change of the store changes it as well.
pub enum Mirror {
    /// Knows no keys, so every lookup goes to the store.
    Nothing,
    /// Knows all keys of the store and takes some absent keys for present.
    Filter(Box<CuckooFilter>),
    /// Knows exactly the keys of the store.
    Set(DashSet<u32, StableHashBuilder>),
}

impl Mirror {
    /// Creates an empty filter with room for `capacity` keys.
    pub fn filter(capacity: usize, rate: f64) -> Result<Self> {
        let filter = CuckooFilter::builder().capacity(capacity).false_positive_rate(rate).build();
        Ok(Self::Filter(Box::new(filter.context("the filter")?)))
    }

    /// Creates an empty set, with the hasher of the filter.
    pub fn set() -> Self {
        Self::Set(DashSet::default())
    }

    /// Returns `false` if the store surely does not have `key`.
    pub fn may_hold(&self, key: u32) -> bool {
        match self {
            Self::Nothing => true,
            Self::Filter(filter) => filter.contains(&key),
            Self::Set(set) => set.contains(&key),
        }
    }

    /// Inserts a key that the store is about to create.
    pub fn insert(&self, key: u32) -> Result<()> {
        match self {
            Self::Nothing => {}
            Self::Filter(filter) => filter.insert(&key).context("the filter")?,
            Self::Set(set) => drop(set.insert(key)),
        }
        Ok(())
    }

    /// Removes a key that the store has deleted. Returns `false` if there was nothing to remove.
    pub fn remove(&self, key: u32) -> bool {
        match self {
            Self::Nothing => true,
            Self::Filter(filter) => filter.remove(&key),
            Self::Set(set) => set.remove(&key).is_some(),
        }
    }

    /// Returns the number of keys, or `None` for [`Mirror::Nothing`].
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Nothing => None,
            Self::Filter(filter) => Some(filter.len()),
            Self::Set(set) => Some(set.len()),
        }
    }

    /// Returns the memory in bytes.
    ///
    /// The set's is a lower estimate: a key and a control byte for each bucket of its tables, of
    /// which they fill at most seven eighths. Its locks and shards are left out.
    pub fn size_in_bytes(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Filter(filter) => filter.size_in_bytes(),
            Self::Set(set) => set.capacity() / 7 * 8 * (size_of::<u32>() + 1),
        }
    }

    /// Returns the largest expected share of absent keys that it takes for present.
    pub fn false_positive_rate(&self) -> f64 {
        match self {
            Self::Nothing => 1.0,
            Self::Filter(filter) => filter.false_positive_rate(),
            Self::Set(_) => 0.0,
        }
    }
}

impl fmt::Display for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Nothing => "no filter",
            Self::Filter(_) => "CuckooFilter",
            Self::Set(_) => "exact set",
        })
    }
}
