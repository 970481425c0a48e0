//! What stands between the cache and the store, and knows the store's keys: nothing, a filter, or a set.

use dashmap::DashSet;
use foldhash::fast::RandomState;
use guira::CuckooFilter;

use crate::{Failure, unusable};

/// What knows the keys of the store. The thread that changes the store changes it as well.
#[allow(clippy::large_enum_variant, reason = "there is one")]
pub enum Mirror {
    Nothing,
    Filter(CuckooFilter),
    Set(DashSet<u32, RandomState>),
}

impl Mirror {
    /// One that knows nothing: every look-up goes to the store.
    pub fn nothing() -> Self {
        Self::Nothing
    }

    /// A filter for so many keys.
    pub fn filter(capacity: usize, rate: f64) -> Result<Self, Failure> {
        let filter = CuckooFilter::builder().capacity(capacity).false_positive_rate(rate).build();
        filter.map(Self::Filter).map_err(|error| unusable(format!("no such filter: {error}")))
    }

    /// An exact set, which grows as it needs to.
    pub fn set() -> Self {
        Self::Set(DashSet::with_hasher(RandomState::default()))
    }

    /// Whether the store may have the key.
    #[inline]
    pub fn may_hold(&self, key: u32) -> bool {
        match self {
            Self::Nothing => true,
            Self::Filter(filter) => filter.contains(&key),
            Self::Set(set) => set.contains(&key),
        }
    }

    /// Takes in a key that the store is about to have, and does not have yet.
    pub fn insert(&self, key: u32) -> Result<(), Failure> {
        match self {
            Self::Nothing => {}
            Self::Filter(filter) => filter.insert(&key).map_err(|error| {
                unusable(format!("{error}, with {} of {}", filter.len(), filter.capacity()))
            })?,
            Self::Set(set) => drop(set.insert(key)),
        }
        Ok(())
    }

    /// Takes out a key that the store had, and has no more; false if there was nothing to take out.
    pub fn remove(&self, key: u32) -> bool {
        match self {
            Self::Nothing => true,
            Self::Filter(filter) => filter.remove(&key),
            Self::Set(set) => set.remove(&key).is_some(),
        }
    }

    /// How many keys it knows, if it knows any.
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Nothing => None,
            Self::Filter(filter) => Some(filter.len()),
            Self::Set(set) => Some(set.len()),
        }
    }

    /// Bytes of memory. Those of the set are estimated, and too low: a key and a byte of control for each of
    /// the buckets, of which an eighth stays free; its shards are left out.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Filter(filter) => filter.size_in_bytes(),
            Self::Set(set) => set.capacity() / 7 * 8 * (size_of::<u32>() + 1),
        }
    }
}
