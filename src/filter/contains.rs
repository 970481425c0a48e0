//! The trait of everything that can be asked for a key.

use alloc::{boxed::Box, sync::Arc};
use core::hash::BuildHasher;

use super::{
    Filter, Key,
    batch::check_lengths,
    kind::{Contents, Growth},
};

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

/// Whatever leads to something that contains keys contains them, too.
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
    )*};
}

by_reference!(&F, Box<F>, Arc<F>);
