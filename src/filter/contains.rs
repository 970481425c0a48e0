//! The traits of everything that can be asked for a key, and that takes each key once.

use alloc::{boxed::Box, sync::Arc};
use core::hash::BuildHasher;

use super::{
    Filter, Key,
    batch::check_lengths,
    kind::{Contents, Expiring, Growth, Set},
};
use crate::InsertError;

/// Anything that tells whether it contains a key: all filters, and whatever else implements it.
///
/// For functions that take any filter (`&impl Contains<str>`), and for trait objects
/// (`Box<dyn Contains<str>>`). Implement it for your own types, for example for an exact set in
/// tests.
///
/// ```
/// use guira::{Contains, CuckooFilter, CuckooMap};
///
/// struct Exact(std::collections::HashSet<String>);
///
/// impl Contains<str> for Exact {
///     fn contains(&self, key: &str) -> bool {
///         self.0.contains(key)
///     }
/// }
///
/// let (set, map) = (CuckooFilter::with_capacity(10), CuckooMap::with_capacity(10));
/// set.insert("ani").unwrap();
/// map.insert("ani", 7).unwrap();
/// let exact = Exact(["ani".to_string()].into());
/// let levels: [Box<dyn Contains<str>>; 3] = [Box::new(set), Box::new(map), Box::new(exact)];
/// assert!(levels.iter().all(|level| level.contains("ani")));
/// ```
pub trait Contains<K: ?Sized> {
    /// Returns whether the key is there. A filter never returns `false` for a key that is.
    fn contains(&self, key: &K) -> bool;

    /// Looks up many keys: `found[i]` tells whether `keys[i]` is there. Returns the number of keys
    /// found.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    fn contains_batch(&self, keys: &[K], found: &mut [bool]) -> usize
    where
        K: Sized,
    {
        check_lengths(keys.len(), "answers", found.len());
        for (found, key) in found.iter_mut().zip(keys) {
            *found = self.contains(key);
        }
        found.iter().filter(|&&found| found).count()
    }
}

impl<C: Contents, G: Growth, S: BuildHasher, K: Key + ?Sized> Contains<K> for Filter<C, G, S> {
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

/// Anything that inserts a key unless it is there: sets and expiring sets, of a fixed size or
/// growing, and whatever else implements it.
///
/// For code that drops what it has seen, whatever the filter is. Maps take a value with a key, so
/// they are not among them.
///
/// ```
/// use guira::{CuckooFilter, Dedup, GrowingFilter, InsertError};
///
/// fn distinct(seen: &impl Dedup<str>, keys: &[&str]) -> Result<usize, InsertError> {
///     keys.iter().try_fold(0, |sum, key| Ok(sum + usize::from(seen.insert_new(key)?)))
/// }
///
/// let keys = ["ani", "guira", "ani"];
/// assert_eq!(distinct(&GrowingFilter::new(), &keys), Ok(2));
/// assert_eq!(distinct(&CuckooFilter::with_capacity(10), &keys), Ok(2));
/// ```
pub trait Dedup<K: ?Sized>: Contains<K> {
    /// Inserts a key unless it is there. Returns whether it was inserted: `insert_unique` of the
    /// filter, without what else that returns. Of several threads that insert an absent key at
    /// once, one gets `true`.
    ///
    /// # Errors
    /// As `insert_unique`.
    fn insert_new(&self, key: &K) -> Result<bool, InsertError>;
}

impl<G: Growth, S: BuildHasher, K: Key + ?Sized> Dedup<K> for Filter<Set, G, S> {
    #[inline]
    fn insert_new(&self, key: &K) -> Result<bool, InsertError> {
        Ok(self.insert_unique(key)?.is_new())
    }
}

impl<G: Growth, S: BuildHasher, K: Key + ?Sized> Dedup<K> for Filter<Expiring, G, S> {
    #[inline]
    fn insert_new(&self, key: &K) -> Result<bool, InsertError> {
        Ok(self.insert_unique(key)?.is_new())
    }
}

/// Whatever leads to one of these is one, too.
macro_rules! by_reference {
    ($($pointer:ty),*) => {$(
        impl<K: ?Sized, F: Contains<K> + ?Sized> Contains<K> for $pointer {
            #[inline]
            fn contains(&self, key: &K) -> bool {
                (**self).contains(key)
            }

            fn contains_batch(&self, keys: &[K], found: &mut [bool]) -> usize
            where
                K: Sized,
            {
                (**self).contains_batch(keys, found)
            }
        }

        impl<K: ?Sized, F: Dedup<K> + ?Sized> Dedup<K> for $pointer {
            #[inline]
            fn insert_new(&self, key: &K) -> Result<bool, InsertError> {
                (**self).insert_new(key)
            }
        }
    )*};
}

by_reference!(&F, Box<F>, Arc<F>);
