//! Sets: their names, and the operations that only sets have.

use core::hash::BuildHasher;

use super::{
    Filter, InsertMask, Insertion, Key, StableHashBuilder,
    batch::{
        self, Batch, CountChange, Each, check_lengths, insert_singly, insert_unique_singly,
        unique_batch, unique_burst,
    },
    engine::{Failed, SetEngine},
    kind::{Fixed, Growing, Growth, Set},
};
use crate::{InsertBatchError, InsertError, table::MIN_BATCH};

/// A set of keys with a fixed capacity: the [`Filter`] of one table.
///
/// ```
/// use guira::CuckooFilter;
///
/// let filter = CuckooFilter::with_capacity(1_000_000);
/// std::thread::scope(|scope| {
///     for thread in 0..4_u64 {
///         let filter = &filter;
///         scope.spawn(move || {
///             for key in 0..1_000 {
///                 filter.insert(&(thread, key)).unwrap();
///                 assert!(filter.contains(&(thread, key)));
///             }
///         });
///     }
/// });
/// assert_eq!(filter.len(), 4_000);
/// assert!(filter.remove(&(0_u64, 17)));
/// ```
pub type CuckooFilter<S = StableHashBuilder> = Filter<Set, Fixed, S>;

/// A set of keys that grows: the [`Filter`] of a chain of segments.
///
/// Where a [`CuckooFilter`] would be full, this filter appends a segment, with twice the buckets of
/// the last one, while other threads use it. Nothing is copied, and no thread waits. The
/// target false-positive rate holds for all segments together, so later ones have longer
/// fingerprints.
///
/// It promises what a `CuckooFilter` promises about false negatives, removal, ordering and
/// atomicity. Its costs: a lookup reads two buckets of every segment, so give it the capacity that
/// you expect. It refuses further copies of an item when copies take half of the
/// item's slots in the last segment. After removals, it shrinks only when
/// [`shrink_to_fit`](Filter::shrink_to_fit) is called. `insert` fails with
/// [`Full`](crate::InsertError::Full) only if the last segment is full and another one may not be
/// appended: it would exceed the cap ([`set_max_bytes`](Filter::set_max_bytes)), or it would have
/// more than 2^32 buckets. If the system refuses the memory for it, `insert` fails with
/// [`OutOfMemory`](crate::InsertError::OutOfMemory).
///
/// ```
/// use guira::GrowingFilter;
///
/// let seen = GrowingFilter::builder().capacity(1_000).false_positive_rate(0.01).build()?;
/// seen.insert_batch(0..50_000).unwrap();
/// assert!(seen.contains(&49_999) && seen.false_positive_rate() <= 0.01);
/// # Ok::<(), guira::BuildError>(())
/// ```
pub type GrowingFilter<S = StableHashBuilder> = Filter<Set, Growing, S>;

impl<G: Growth, S: BuildHasher> Filter<Set, G, S> {
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
    /// - [`InsertError::OutOfMemory`] if the system refuses the memory for another segment;
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
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Result<(), InsertError> {
        self.engine.insert(self.mixed(key))?;
        // mutant: insert-uncounted
        self.items.add(1);
        Ok(())
    }

    /// Inserts a key if it is absent: returns [`New`](Insertion::New) if it was inserted, and
    /// [`Found`](Insertion::Found) otherwise.
    ///
    /// If calls with the same item overlap, exactly one of them adds it. `Found` can be due to an
    /// alias, with the probability of a false positive. **If this returns `Found`, you own no copy
    /// and must not call [`remove`](Self::remove).** A later lookup finds the item as long
    /// as the copy that was found remains.
    ///
    /// Acquires the lock of the item's stripe. Reads two cache lines (in a
    /// [`GrowingFilter`](crate::GrowingFilter): of each segment), and writes one and the stripe.
    ///
    /// # Errors
    /// [`InsertError::Full`] if the item is absent and no empty slot is within reach (and no
    /// segment can be appended), and [`InsertError::OutOfMemory`] if the system refuses the memory
    /// for another segment. In a full filter, the call still returns `Found` for an item that is
    /// present.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// assert!(filter.insert_unique("guira")?.is_new());
    /// assert!(!filter.insert_unique("guira")?.is_new());
    /// assert_eq!(filter.len(), 1);
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[doc(alias = "check_and_set")]
    #[doc(alias = "test_and_add")]
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&self, key: &K) -> Result<Insertion, InsertError> {
        let added = self.engine.insert_unique(self.mixed(key))?;
        // mutant: unique-counts-always
        if added {
            self.items.add(1);
        }
        Ok(if added { Insertion::New(()) } else { Insertion::Found(()) })
    }

    /// Removes one copy of an item. Returns whether there was one.
    ///
    /// **Remove only what an [`insert`](Self::insert) that returned `Ok(())`, or an
    /// [`insert_unique`](Self::insert_unique) that returned `New`, has inserted: once, and
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
    pub fn remove<K: Key + ?Sized>(&self, key: &K) -> bool {
        let removed = self.engine.remove(self.mixed(key));
        // mutant: remove-counts-always
        if removed {
            self.items.add(-1);
        }
        removed
    }

    /// Inserts all keys of a slice or an iterator. Duplicates count. Every key is tried, whether
    /// others fail or not.
    ///
    /// In a [`CuckooFilter`](crate::CuckooFilter) the items are added in no particular order: those
    /// whose buckets are full are set aside, and several of them search for room together. If the
    /// iterator or the hashing of a key panics, some of the keys before it may be missing. The call
    /// consumes the iterator even after the filter is full, so it does not return for an endless
    /// one. In a full filter, each key costs a long search for room: see
    /// [`docs::limits`](crate::docs::limits).
    ///
    /// (There is no [`Extend`] or [`FromIterator`], because these cannot report failed inserts.)
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
    pub fn insert_batch<K: Key>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), InsertBatchError> {
        let hashes = keys.into_iter().map(|key| key.hash_with(&self.hasher).0);
        batch::inserts(|failed| self.insert_each(Each(hashes.fuse()), failed)).map(drop)
    }

    /// Inserts many items, each only if it is absent: `added[i]` tells whether `keys[i]` was
    /// added. Returns the number of items added.
    ///
    /// Each `false` means what `Found` of [`insert_unique`](Self::insert_unique) means. An item
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
    pub fn insert_unique_batch<K: Key>(
        &self,
        keys: &[K],
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        unique_batch(keys.len(), added, |added, failed| {
            self.insert_unique_each(self.keys(keys), added, failed)
        })
    }

    /// Inserts those of up to 64 keys that are absent, and returns the outcomes as masks.
    ///
    /// The items are processed in their order, each as by [`insert_unique`](Self::insert_unique).
    /// Nothing is allocated unless an item's buckets are full. An item that occurs twice is added
    /// once.
    ///
    /// # Panics
    /// If there are more than 64 keys.
    ///
    /// ```
    /// let flows = guira::CuckooFilter::with_capacity(100);
    /// let outcome = flows.insert_unique_mask(&["udp", "tcp", "udp"]);
    /// assert_eq!((outcome.added, outcome.refused), (0b011, 0));
    /// ```
    #[track_caller]
    pub fn insert_unique_mask<K: Key>(&self, keys: &[K]) -> InsertMask {
        unique_burst(keys.len(), |added, failed| {
            self.insert_unique_each(self.keys(keys), added, failed);
        })
    }

    /// Removes one copy of each of many items: `removed[i]` tells whether there was one of
    /// `keys[i]`. Returns the number of copies removed.
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
    pub fn remove_batch<K: Key>(&self, keys: &[K], removed: &mut [bool]) -> usize {
        check_lengths(keys.len(), removed.len());
        // In case the hashing of a key panics.
        removed.fill(false);
        let mut change = CountChange::removals(&self.items);
        if keys.len() < MIN_BATCH {
            for (removed, key) in removed.iter_mut().zip(keys) {
                *removed = self.engine.remove(self.mixed(key));
                change.items += usize::from(*removed);
            }
        } else {
            self.with(self.keys(keys), |hashes| {
                self.engine.remove_each(hashes, removed, &mut change.items);
            });
        }
        change.items
    }
}

impl<G: Growth, S> Filter<Set, G, S> {
    /// Inserts the items, and returns the number of those that were added. Calls `failed` with the
    /// positions of the others, until it breaks.
    pub(super) fn insert_each(&self, batch: impl Batch, failed: &mut Failed<'_>) -> usize {
        let mut change = CountChange::additions(&self.items);
        if batch.at_most() < MIN_BATCH {
            let outcomes = batch.hashes().map(|hash| self.engine.insert(self.mix(hash)));
            insert_singly(outcomes, &mut change.items, failed);
        } else {
            self.with(batch, |hashes| self.engine.insert_each(hashes, &mut change.items, failed));
        }
        change.items
    }

    /// Writes which items were added, and returns their number. Calls `failed` with the positions
    /// of those that failed, until it breaks.
    pub(super) fn insert_unique_each(
        &self,
        batch: impl Batch,
        added: &mut [bool],
        failed: &mut Failed<'_>,
    ) -> usize {
        let mut change = CountChange::additions(&self.items);
        let count = &mut change.items;
        if added.len() < MIN_BATCH {
            let outcomes = batch.hashes().map(|hash| self.engine.insert_unique(self.mix(hash)));
            insert_unique_singly(outcomes, added, count, failed);
        } else {
            self.with(batch, |hashes| {
                self.engine.insert_unique_each(hashes, added, count, failed);
            });
        }
        change.items
    }
}
