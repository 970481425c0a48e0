//! The lookups of a view: those of its filter.

use core::hash::BuildHasher;

use super::View;
use crate::{
    Contains, Hashed, Key, Values,
    kind::{Contents, Expiring, Growth, Map},
};

impl<C: Contents, G: Growth, S: BuildHasher> View<'_, C, G, S> {
    /// Returns whether a key is in the snapshot: see [`Filter::contains`](crate::Filter::contains).
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    /// Looks up many keys: see [`Filter::contains_batch`](crate::Filter::contains_batch).
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_batch<K: Key>(&self, keys: &[K], found: &mut [bool]) -> usize {
        self.filter.contains_batch(keys, found)
    }

    /// Looks up a burst of up to 64 keys: see
    /// [`Filter::contains_mask`](crate::Filter::contains_mask).
    ///
    /// # Panics
    /// If there are more than 64 keys.
    #[must_use]
    #[track_caller]
    pub fn contains_mask<K: Key>(&self, keys: &[K]) -> u64 {
        self.filter.contains_mask(keys)
    }

    /// Counts the copies of a key: see [`Filter::count`](crate::Filter::count). Acquires one of the
    /// view's few locks.
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> usize {
        self.filter.count(key)
    }

    /// Hashes a key: see [`Filter::hash_key`](crate::Filter::hash_key).
    #[inline]
    #[must_use]
    pub fn hash_key<K: Key + ?Sized>(&self, key: &K) -> Hashed {
        self.filter.hash_key(key)
    }
}

impl<G: Growth, S: BuildHasher> View<'_, Map, G, S> {
    /// Returns a value of a key: see [`CuckooMap::get`](crate::CuckooMap#method.get).
    #[inline]
    #[must_use]
    pub fn get<K: Key + ?Sized>(&self, key: &K) -> Option<u16> {
        self.filter.get(key)
    }

    /// Returns all values that a key may have: see
    /// [`CuckooMap::values`](crate::CuckooMap#method.values).
    #[must_use]
    pub fn values<K: Key + ?Sized>(&self, key: &K) -> Values {
        self.filter.values(key)
    }

    /// Returns whether a key may have a value: see
    /// [`CuckooMap::contains_value`](crate::CuckooMap#method.contains_value).
    #[must_use]
    pub fn contains_value<K: Key + ?Sized>(&self, key: &K, value: u16) -> bool {
        self.filter.contains_value(key, value)
    }

    /// Looks up the values of many keys: see
    /// [`CuckooMap::get_batch`](crate::CuckooMap#method.get_batch).
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn get_batch<K: Key>(&self, keys: &[K], values: &mut [Option<u16>]) -> usize {
        self.filter.get_batch(keys, values)
    }

    /// Looks up the values of a burst: see
    /// [`CuckooMap::get_mask`](crate::CuckooMap#method.get_mask).
    ///
    /// # Panics
    /// If there are more than 64 keys, or if the slices differ in length.
    #[must_use]
    #[track_caller]
    pub fn get_mask<K: Key>(&self, keys: &[K], values: &mut [u16]) -> u64 {
        self.filter.get_mask(keys, values)
    }
}

impl<G: Growth, S> View<'_, Expiring, G, S> {
    /// Returns the generation in which items are looked up: see
    /// [`ExpiringFilter::generation`](crate::ExpiringFilter#method.generation). It is that of the
    /// save, unless [`in_generation`](Self::in_generation) has made the view.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

impl<C: Contents, G: Growth, S: BuildHasher, K: Key + ?Sized> Contains<K> for View<'_, C, G, S> {
    #[inline]
    fn contains(&self, key: &K) -> bool {
        self.contains(key)
    }

    fn contains_batch(&self, keys: &[K], found: &mut [bool]) -> usize
    where
        K: Sized,
    {
        self.contains_batch(keys, found)
    }
}
