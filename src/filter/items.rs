//! The operations of a filter on items. Each hashes its items and hands them to the view by hash.

use core::hash::{BuildHasher, Hash};

use super::{Filter, InsertMask, Membership, by_hash::Each};
use crate::{InsertBatchError, InsertError};

impl<E: Membership, S: BuildHasher> Filter<E, S> {
    /// Inserts an item. Duplicates count: the filter is a multiset.
    ///
    /// Acquires no lock if one of the item's two buckets has an empty slot, with one exception: in
    /// a filter with [`max_copies`](crate::FilterBuilder::max_copies), and in a
    /// [`GrowingFilter`](crate::GrowingFilter), it acquires one if the item seems to have as many
    /// copies as it may have. If both buckets are full, it relocates other items, which concurrent
    /// lookups do not notice. Reads two cache lines and writes one if there is room; a search for
    /// room reads more. A `GrowingFilter` appends a segment instead of being full.
    ///
    /// # Errors
    /// - [`InsertError::Full`] if no empty slot is within reach (and no segment can be appended);
    /// - [`InsertError::TooManyCopies`] if the item's two buckets hold only copies of it,
    ///   `2 × slots per bucket` of them. (In a `GrowingFilter`: if copies take half of these slots
    ///   in the last segment. If both buckets are the same one, there are half as many slots.) With
    ///   [`max_copies`](crate::FilterBuilder::max_copies), also if there are that many copies. To
    ///   add an item at most once, use [`insert_unique`](Self::insert_unique).
    ///
    /// On an error the filter holds the same items as before.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert(&7)?;
    /// filter.insert(&7)?;
    /// assert_eq!(filter.count(&7), 2);
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[doc(alias = "add")]
    #[inline]
    pub fn insert<T: Hash + ?Sized>(&self, item: &T) -> Result<(), InsertError> {
        self.by_hash().insert(self.hasher.hash_one(item))
    }

    /// Inserts an item if it is absent. Returns whether it was added.
    ///
    /// If calls with the same item overlap, exactly one of them adds it. `Ok(false)` can be due to
    /// an alias, with the probability of a false positive. **If this returns `Ok(false)`, you own
    /// no copy and must not call [`remove`](Self::remove).** A later lookup finds the item as long
    /// as the copy that was found remains.
    ///
    /// Acquires the lock of the item's stripe. Reads two cache lines (in a
    /// [`GrowingFilter`](crate::GrowingFilter): of each segment), and writes one and the stripe.
    ///
    /// # Errors
    /// [`InsertError::Full`] if the item is absent and no empty slot is within reach. In a full
    /// filter, the call still returns `Ok(false)` for an item that is present.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// assert_eq!(filter.insert_unique("guira"), Ok(true));
    /// assert_eq!(filter.insert_unique("guira"), Ok(false));
    /// assert_eq!(filter.len(), 1);
    /// ```
    #[doc(alias = "check_and_set")]
    #[doc(alias = "test_and_add")]
    #[inline]
    pub fn insert_unique<T: Hash + ?Sized>(&self, item: &T) -> Result<bool, InsertError> {
        self.by_hash().insert_unique(self.hasher.hash_one(item))
    }

    /// Returns whether the item is in the filter: never `false` for an item that is in it, rarely
    /// `true` for another one.
    ///
    /// Acquires no lock and writes nothing. Reads three cache lines: two buckets, whose loads
    /// overlap, and the stripe. (There are few stripes, so they tend to stay in a cache. A
    /// [`GrowingFilter`](crate::GrowingFilter) reads two buckets of each segment.) It retries if it
    /// found no match and another thread cleared a slot of the same stripe meanwhile. (A
    /// `CuckooFilter` with a semi-sorted layout also retries once if a part of a fingerprint
    /// matches by chance.) A call that returns `true` happens after the insert that it found.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert(&[1, 2, 3]).unwrap();
    /// assert!(filter.contains(&[1, 2, 3]));
    /// assert!(!filter.contains(&[3, 2, 1])); // almost certainly
    /// ```
    #[doc(alias = "might_contain")]
    #[doc(alias = "lookup")]
    #[inline]
    #[must_use]
    pub fn contains<T: Hash + ?Sized>(&self, item: &T) -> bool {
        self.by_hash().contains(self.hasher.hash_one(item))
    }

    /// Removes one copy of an item. Returns whether there was one.
    ///
    /// **Remove only what an [`insert`](Self::insert) that returned `Ok(())`, or an
    /// [`insert_unique`](Self::insert_unique) that returned `Ok(true)`, has inserted: once, and
    /// after it returned.** Any other removal can take the only copy of another item: see the
    /// [contract](Self#the-contract-of-removal).
    ///
    /// If removals of one copy overlap, exactly one of them returns `true`. Acquires the lock of
    /// the item's stripe. Reads two cache lines (in a [`GrowingFilter`](crate::GrowingFilter): of
    /// each segment), and writes one and the stripe.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert(&7)?;
    /// assert!(filter.remove(&7));
    /// assert!(filter.is_empty());
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[doc(alias = "delete")]
    #[inline]
    pub fn remove<T: Hash + ?Sized>(&self, item: &T) -> bool {
        self.by_hash().remove(self.hasher.hash_one(item))
    }

    /// Counts the copies of an item, including copies of its aliases.
    ///
    /// The count is exact at one moment during the call, even if items are relocated meanwhile.
    /// Acquires the lock of the item's stripe. To learn only whether there is a copy,
    /// [`contains`](Self::contains) is cheaper.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// assert_eq!(filter.count("ani"), 0);
    /// filter.insert("ani")?;
    /// assert_eq!(filter.count("ani"), 1);
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[must_use]
    pub fn count<T: Hash + ?Sized>(&self, item: &T) -> usize {
        self.by_hash().count(self.hasher.hash_one(item))
    }

    /// Inserts many items. Duplicates count. Every item is tried, whether others fail or not.
    ///
    /// In a [`CuckooFilter`](crate::CuckooFilter) the items are added in no particular order: those
    /// whose buckets are full are set aside, and several of them search for room together. If the
    /// hashing of an item panics, some of the items before it may be missing.
    ///
    /// # Errors
    /// [`InsertBatchError`] if some items could not be inserted. It lists their positions. All
    /// other items are in the filter, unless the list itself [ran out of
    /// memory](InsertBatchError).
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// let keys: Vec<u32> = (0..1_000).collect();
    /// if let Err(error) = filter.insert_batch(&keys) {
    ///     for (position, reason) in error.failures() {
    ///         eprintln!("{}: {reason}", keys[position]);
    ///     }
    /// }
    /// ```
    pub fn insert_batch<T: Hash>(&self, items: &[T]) -> Result<(), InsertBatchError> {
        self.by_hash().insert_all(Each(self.hashes(items)))
    }

    /// Inserts many items, each only if it is absent: `added[i]` tells whether `items[i]` was
    /// added. Returns the number of items added.
    ///
    /// Each `false` means what `Ok(false)` of [`insert_unique`](Self::insert_unique) means. An item
    /// that occurs twice in the batch is added once.
    ///
    /// If the hashing of an item panics, some of the items before it may not have been tried.
    /// `added` tells which items were added.
    ///
    /// # Errors
    /// [`InsertBatchError`] if some items were absent and could not be added. It lists their
    /// positions, where `added` is `false`. All other items were tried, unless the list itself
    /// [ran out of memory](InsertBatchError).
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// let mut added = [false; 3];
    /// assert_eq!(filter.insert_unique_batch(&[5, 6, 5], &mut added), Ok(2));
    /// assert_eq!(added, [true, true, false]);
    /// ```
    #[track_caller]
    pub fn insert_unique_batch<T: Hash>(
        &self,
        items: &[T],
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        self.by_hash().insert_unique_all(Each(self.hashes(items)), added)
    }

    /// Looks up many items: `found[i]` tells whether `items[i]` is in the filter. Returns the
    /// number of items found.
    ///
    /// Each lookup takes effect on its own, as [`contains`](Self::contains) does: the batch is no
    /// snapshot. The lookups may take effect in any order. (If another thread inserts first `a` and
    /// then `b`, a batch may find `b` and not `a`, whichever comes first in the slice. A call of
    /// `contains` for `b` and then one for `a` cannot do so.)
    ///
    /// The cache lines of dozens of items are in flight at once, and a [kernel](crate::Kernel)
    /// compares several items per step. Fewer than 6 items are looked up one by one. In a table
    /// beyond the caches, large batches cost less than half as much as single lookups.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert_batch(&[1, 2, 3])?;
    /// let mut found = [false; 2];
    /// assert_eq!(filter.contains_batch(&[2, 3], &mut found), 2);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[track_caller]
    pub fn contains_batch<T: Hash>(&self, items: &[T], found: &mut [bool]) -> usize {
        self.by_hash().contains_all(Each(self.hashes(items)), found)
    }

    /// Removes one copy of each of many items: `removed[i]` tells whether there was one of
    /// `items[i]`. Returns the number of copies removed.
    ///
    /// The [contract](Self#the-contract-of-removal) of [`remove`](Self::remove) holds for each
    /// item. If the hashing of an item panics, `removed` tells which copies were removed.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert_batch(&[1, 2, 3])?;
    /// assert_eq!(filter.remove_batch(&[1, 2], &mut [false; 2]), 2);
    /// assert_eq!(filter.len(), 1);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[track_caller]
    pub fn remove_batch<T: Hash>(&self, items: &[T], removed: &mut [bool]) -> usize {
        self.by_hash().remove_all(Each(self.hashes(items)), removed)
    }

    /// Inserts those of up to 64 items that are absent, and returns the outcomes as masks.
    ///
    /// The items are processed in their order, each as by [`insert_unique`](Self::insert_unique).
    /// Nothing is allocated unless an item's buckets are full. An item that occurs twice is added
    /// once.
    ///
    /// # Panics
    /// If there are more than 64 items.
    ///
    /// ```
    /// let flows = guira::CuckooFilter::with_capacity(100);
    /// let outcome = flows.insert_unique_mask(&["udp", "tcp", "udp"]);
    /// assert_eq!((outcome.added, outcome.refused), (0b011, 0));
    /// ```
    #[track_caller]
    pub fn insert_unique_mask<T: Hash>(&self, items: &[T]) -> InsertMask {
        self.by_hash().insert_unique_burst(Each(self.hashes(items)))
    }

    /// Looks up a burst of up to 64 items: bit `i` tells whether `items[i]` is in the filter.
    ///
    /// The lookups are those of [`contains_batch`](Self::contains_batch). The answers fit into a
    /// register, the form in which packet processors pass bursts on.
    ///
    /// # Panics
    /// If there are more than 64 items.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert_batch(&["udp", "tcp"])?;
    /// assert_eq!(filter.contains_mask(&["tcp", "sctp", "udp"]), 0b101);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn contains_mask<T: Hash>(&self, items: &[T]) -> u64 {
        self.by_hash().contains_burst(Each(self.hashes(items)))
    }

    /// Removes one copy of each of up to 64 items: bit `i` tells whether there was one of
    /// `items[i]`.
    ///
    /// The [contract](Self#the-contract-of-removal) of [`remove`](Self::remove) holds for each
    /// item. Nothing is allocated.
    ///
    /// # Panics
    /// If there are more than 64 items.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert_batch(&["udp", "tcp"])?;
    /// assert_eq!(filter.remove_mask(&["tcp", "udp"]), 0b11);
    /// assert!(filter.is_empty());
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[track_caller]
    pub fn remove_mask<T: Hash>(&self, items: &[T]) -> u64 {
        self.by_hash().remove_burst(Each(self.hashes(items)))
    }

    /// Inserts all items of an iterator, in batches. Duplicates count. Every item is tried.
    ///
    /// The order of the inserts is that of [`insert_batch`](Self::insert_batch): arbitrary in a
    /// [`CuckooFilter`](crate::CuckooFilter). If the iterator or the hashing of an item panics,
    /// some of the items before it may be missing. The call consumes the iterator even after the
    /// filter is full, so it does not return for an endless one. (It also does so if the
    /// list of failures [runs out of memory](InsertBatchError), without trying the other items.)
    ///
    /// (There is no [`Extend`] or [`FromIterator`], because these cannot report failed inserts.)
    ///
    /// # Errors
    /// [`InsertBatchError`] if some items could not be inserted. It lists their positions in the
    /// iterator's order. All other items that were tried are in the filter.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(2_000);
    /// filter.try_extend((0..2_000).map(|n| format!("item {n}")))?;
    /// assert!(filter.contains("item 1999"));
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    pub fn try_extend<T: Hash>(
        &self,
        items: impl IntoIterator<Item = T>,
    ) -> Result<(), InsertBatchError> {
        let hashes = items.into_iter().map(|item| self.hasher.hash_one(item));
        self.by_hash().try_extend(hashes)
    }

    #[inline]
    fn hashes<T: Hash>(&self, items: &[T]) -> impl ExactSizeIterator<Item = u64> {
        items.iter().map(|item| self.hasher.hash_one(item))
    }
}
