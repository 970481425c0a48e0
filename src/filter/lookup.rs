//! Lookups, which all filters have.

use core::hash::BuildHasher;

use super::{
    Filter, Key,
    batch::{check_burst, check_lengths},
    engine::Engine,
    kind::{Contents, Growth},
};
use crate::table::Answers;

impl<C: Contents, G: Growth, S: BuildHasher> Filter<C, G, S> {
    /// Returns whether a key is in the filter: never `false` for one that is in it, rarely `true`
    /// for another one. In an [`ExpiringFilter`](crate::ExpiringFilter), this means that the key
    /// was inserted within the window.
    ///
    /// Acquires no lock and writes nothing. Reads three cache lines: two buckets, whose loads
    /// overlap, and the stripe. (There are few stripes, so they tend to stay in a cache.) It
    /// retries if it found no match and another thread cleared a slot of the same stripe, or began
    /// a generation of an expiring filter, meanwhile. (In a filter that grows, a
    /// lookup of a bucket that was split a moment ago may go on to another one.) A call that
    /// returns `true` happens after the insert that it found.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert(&[1, 2, 3]).unwrap();
    /// assert!(filter.contains(&[1, 2, 3]));
    /// assert!(!filter.contains(&[3, 2, 1])); // almost certainly
    /// ```
    #[doc(alias = "might_contain")]
    #[doc(alias = "lookup")]
    #[doc(alias = "contains_key")]
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        let mixed = self.mixed(key);
        if C::EXPIRES { self.engine.is_visible(mixed) } else { self.engine.contains(mixed) }
    }

    /// Looks up many keys: `found[i]` tells whether `keys[i]` is in the filter. Returns the number
    /// of keys found.
    ///
    /// Each lookup takes effect on its own, as [`contains`](Self::contains) does, and in any order:
    /// the batch is no snapshot. (If another thread inserts first `a` and then `b`, a batch may
    /// find `b` and not `a`, whichever comes first in the slice.)
    ///
    /// The cache lines of dozens of keys are in flight at once, and vector instructions (AVX-512 or
    /// AVX2, where the processor has them) compare several keys per step. A few keys are looked up
    /// one by one, where that is faster. In a table beyond the caches, large batches cost less than
    /// half as much as single lookups.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(filter.contains_batch(&[2, 3], &mut [false; 2]), 2);
    /// ```
    #[track_caller]
    pub fn contains_batch<K: Key>(&self, keys: &[K], found: &mut [bool]) -> usize {
        check_lengths(keys.len(), "answers", found.len());
        let (many, few) = self.lookups(keys);
        let (of_many, of_few) = found.split_at_mut(many.len());
        let mut count = 0;
        if !many.is_empty() {
            count = self.contains_many(many, Answers::Each(of_many));
        }
        for (found, key) in of_few.iter_mut().zip(few) {
            *found = self.contains(key);
            count += usize::from(*found);
        }
        count
    }

    /// Looks up a burst of up to 64 keys: bit `i` tells whether `keys[i]` is in the filter.
    ///
    /// The lookups are those of [`contains_batch`](Self::contains_batch). The answers fit into a
    /// register, the form in which packet processors pass bursts on.
    ///
    /// # Panics
    /// If there are more than 64 keys.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert_batch(&["udp", "tcp"]).unwrap();
    /// assert_eq!(filter.contains_mask(&["tcp", "sctp", "udp"]), 0b101);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn contains_mask<K: Key>(&self, keys: &[K]) -> u64 {
        check_burst(keys.len());
        let (many, few) = self.lookups(keys);
        let mut mask = 0;
        if !many.is_empty() {
            self.contains_many(many, Answers::Mask(&mut mask));
        }
        for (position, key) in (many.len()..).zip(few) {
            mask |= u64::from(self.contains(key)) << position;
        }
        mask
    }

    /// Divides the keys of a batch of lookups into those that are looked up together, and those
    /// that follow one by one.
    #[inline]
    pub(super) fn lookups<'a, K>(&self, keys: &'a [K]) -> (&'a [K], &'a [K]) {
        keys.split_at(keys.len() - self.engine.table().lookups_alone(keys.len()))
    }

    /// (Out of line, so that small batches have few instructions.)
    #[inline(never)]
    fn contains_many<K: Key>(&self, keys: &[K], answers: Answers<'_>) -> usize {
        self.with(self.keys(keys), |hashes| {
            if C::EXPIRES {
                self.engine.visible_each(hashes, answers)
            } else {
                self.engine.contains_each(hashes, answers)
            }
        })
    }

    /// Counts the copies of a key, including copies of its aliases; in a map, the items of the key,
    /// whatever their values; in an expiring filter, the copies that have not expired.
    ///
    /// The count is exact at one moment during the call, even if items are relocated meanwhile. (In
    /// a filter that grows, a slot can count that [belongs to no
    /// item](crate::docs::design#slots-that-know-too-little).) Acquires the lock of the item's
    /// stripe. To learn only whether there is a copy, [`contains`](Self::contains) is cheaper.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert("ani").unwrap();
    /// assert_eq!(filter.count("ani"), 1);
    /// ```
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> usize {
        self.engine.count(self.mixed(key))
    }
}
