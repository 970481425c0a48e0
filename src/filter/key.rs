//! Keys: whatever can be hashed, and hashes themselves; and how a filter hashes them.

use core::hash::{BuildHasher, Hash};

use super::{
    Filter,
    batch::Batch,
    engine::Engine,
    kind::{Contents, Growth},
};
use crate::table::Hashes;

/// What filters take as keys: all types that implement [`Hash`], and [`Hashed`].
///
/// A type of yours that already knows its hash can implement it in place of `Hash`:
///
/// ```
/// use std::hash::BuildHasher;
///
/// use guira::{CuckooMap, Hashed, Key};
///
/// /// A packet with the hash that the network card computed.
/// struct Packet {
///     rss: u64,
/// }
///
/// impl Key for Packet {
///     fn hash_with<S: BuildHasher>(&self, _hasher: &S) -> Hashed {
///         Hashed(self.rss)
///     }
/// }
///
/// let workers = CuckooMap::with_capacity(100);
/// workers.insert(&Packet { rss: 7 }, 3).unwrap();
/// assert_eq!(workers.get(&Hashed(7)), Some(3));
/// ```
pub trait Key {
    /// Returns the hash of the key.
    fn hash_with<S: BuildHasher>(&self, hasher: &S) -> Hashed;

    /// Returns the hashes of a slice of keys if the keys are nothing else.
    #[doc(hidden)]
    #[inline]
    fn as_hashes(_keys: &[Self]) -> Option<&[u64]>
    where
        Self: Sized,
    {
        None
    }
}

impl<T: Hash + ?Sized> Key for T {
    #[inline]
    fn hash_with<S: BuildHasher>(&self, hasher: &S) -> Hashed {
        Hashed(hasher.hash_one(self))
    }
}

/// A key that is its own hash.
///
/// All 64-bit values are equally good, even plain integers: the filter mixes each of them with its
/// own seed. A key and its [`hash_key`](crate::Filter::hash_key) are the same to the filter. (This
/// type does not implement [`Hash`].)
///
/// ```
/// use guira::{CuckooFilter, Hashed};
///
/// let flows = CuckooFilter::with_capacity(100);
/// flows.insert(&Hashed(17)).unwrap();
/// assert_eq!(flows.contains_mask(&[Hashed(16), Hashed(17)]), 0b10);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Hashed(pub u64);

impl Hashed {
    /// Views a slice of hashes as keys.
    ///
    /// ```
    /// let flows = guira::CuckooFilter::with_capacity(200);
    /// flows.insert_batch(guira::Hashed::slice(&[16, 17, 18])).unwrap();
    /// assert_eq!(flows.contains_mask(guira::Hashed::slice(&[17])), 1);
    /// ```
    #[inline]
    #[must_use]
    pub const fn slice(hashes: &[u64]) -> &[Self] {
        // SAFETY: `Hashed` is `repr(transparent)`, so both slices have the same layout.
        unsafe { core::slice::from_raw_parts(hashes.as_ptr().cast(), hashes.len()) }
    }
}

impl Key for Hashed {
    #[inline]
    fn hash_with<S: BuildHasher>(&self, _hasher: &S) -> Hashed {
        *self
    }

    #[inline]
    fn as_hashes(keys: &[Self]) -> Option<&[u64]> {
        // SAFETY: `Hashed` is `repr(transparent)`, so both slices have the same layout.
        Some(unsafe { core::slice::from_raw_parts(keys.as_ptr().cast(), keys.len()) })
    }
}

/// For iterators over slices of hashes.
impl Key for &Hashed {
    #[inline]
    fn hash_with<S: BuildHasher>(&self, _hasher: &S) -> Hashed {
        **self
    }
}

impl<C: Contents, G: Growth, S: BuildHasher> Filter<C, G, S> {
    /// Hashes a key once, for several calls: to this filter, the hash is the same key as the key
    /// itself.
    ///
    /// **It is not the same key to another filter**, unless that has an equal hasher: a clone, or a
    /// filter that was given the same [`hasher`](Self::hasher) or the same
    /// [`seed`](crate::FilterBuilder::seed). By default, each filter draws a seed of its own.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert(&filter.hash_key("tyto alba")).unwrap();
    /// assert!(filter.contains("tyto alba"));
    /// ```
    #[inline]
    #[must_use]
    pub fn hash_key<K: Key + ?Sized>(&self, key: &K) -> Hashed {
        key.hash_with(&self.hasher)
    }

    /// The hash of a key, as engines take it.
    #[inline]
    pub(super) fn mixed<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.mix(key.hash_with(&self.hasher).0)
    }

    /// The keys of a batch.
    #[inline]
    pub(super) fn keys<'a, K: Key>(
        &'a self,
        keys: &'a [K],
    ) -> Batch<'a, impl Iterator<Item = u64>> {
        let each = keys.iter().map(|key| key.hash_with(&self.hasher).0);
        // Others can implement `Key` and this function, too.
        let slice = K::as_hashes(keys).filter(|hashes| hashes.len() == keys.len());
        Batch { slice, each }
    }
}

impl<C: Contents, G: Growth, S> Filter<C, G, S> {
    #[inline]
    pub(super) fn mix(&self, hash: u64) -> u64 {
        self.mixer.mix(hash)
    }

    /// Returns whether the writes of a batch of at most so many items, if that is known, are made
    /// one by one.
    #[inline]
    pub(super) fn are_few(&self, most: Option<usize>) -> bool {
        most.is_some_and(|most| self.engine.table().are_few_writes(most))
    }

    /// Calls an operation of the engine with the hashes of a batch.
    #[inline]
    pub(super) fn with<R>(
        &self,
        batch: Batch<'_, impl Iterator<Item = u64>>,
        operation: impl FnOnce(&mut Hashes<'_>) -> R,
    ) -> R {
        batch.with(|source| operation(&mut Hashes::new(source, self.mixer)))
    }
}
