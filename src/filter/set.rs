//! Sets: their names, and the operations that only sets have.

use core::hash::BuildHasher;

use super::{
    Filter, InsertMask, Insertion, Key, StableHashBuilder,
    batch::{
        Batch, BatchValues, CountChange, Outcomes, check_burst, check_lengths, insert_batch,
        insert_burst, insert_few, insert_few_of_burst,
    },
    engine::Engine,
    kind::{Fixed, Growing, Growth, Set},
};
use crate::{InsertBatchError, InsertError};

/// A set of keys with a fixed capacity: the [`Filter`] of one table.
///
/// ```
/// use guira::CuckooFilter;
///
/// let filter = CuckooFilter::with_capacity(1_000_000);
/// filter.insert("tyto alba").unwrap();
/// assert!(filter.contains("tyto alba"));
/// assert!(filter.remove("tyto alba") && filter.is_empty());
/// ```
pub type CuckooFilter<S = StableHashBuilder> = Filter<Set, Fixed, S>;

/// A set of keys that grows: the [`Filter`] of one table, whose buckets are split one by one.
///
/// Use it if you do not know how many items there will be. It keeps the promises of a
/// [`CuckooFilter`] about false negatives, removal, ordering and atomicity. However far it grows,
/// it does not exceed its target false-positive rate. ([`docs::design`][splitting] explains how it
/// grows.)
///
/// [splitting]: crate::docs::design#growth-by-splitting
///
/// ```
/// use guira::GrowingFilter;
///
/// let seen = GrowingFilter::builder().false_positive_rate(0.01).build().unwrap();
/// seen.insert_batch(0..100_000).unwrap();
/// assert!(seen.contains(&99_999) && seen.false_positive_rate() <= 0.01);
/// assert!(seen.size_in_bytes() * 8 < 21 * seen.len());
/// ```
///
/// # Growth
///
/// The filter grows with its load. While more of its slots are occupied than it is meant to fill,
/// 82 to 85 % (74 % with two slots per bucket), inserts *split* buckets: such a bucket becomes two,
/// and what it holds is divided between them. A thread that has inserted a few dozen items splits
/// as many buckets as these need, at most 64, and memory is added in steps of about a 64th of the
/// table, or of a page. So no call copies the table, and no lookup waits for a split.
///
/// It starts with room for the [`capacity`](crate::FilterBuilder::capacity) that you name, and in
/// any case with 1,024 slots, or with 4,096 if you name none. From there it can grow to 32,768
/// times as many, and with some target rates to no more than 4,096 times as many. So set a
/// capacity, or a [`max_capacity`](crate::FilterBuilder::max_capacity), if there may be more than
/// 10 million items.
///
/// Removals make room for later inserts, and release no memory:
/// [`shrink_step`](Filter::shrink_step) does.
///
/// # What it costs
///
/// - **Memory.** The less far the filter may grow, the fewer bits an item takes. **So name a
///   [`max_capacity`](crate::FilterBuilder::max_capacity) if you know one.** Bits per item, by the
///   target rate and by `max_capacity / capacity`:
///
///   | target rate | 1 to 4 | 16 | 64 | none named |
///   |---|---|---|---|---|
///   | 3 % | 15.0 | 15.0 | 15.0 | 19.0 |
///   | 1 % | 15.0 | 19.0 | 19.0 | 19.0 |
///   | 0.3 % | 19.0 | 19.0 | 19.0 | 26.0 |
///   | 0.1 % | 19.0 | 26.0 | 26.0 | 26.0 |
///   | 0.01 % | 26.0 | 26.0 | 26.0 | 26.0 |
///
///   (These are the bits of the buckets in a filter that is loaded as far as it is meant to be. The
///   layouts are [`Growing5x12`](crate::Layout::Growing5x12),
///   [`Growing4x15`](crate::Layout::Growing4x15) and
///   [`Growing3x20`](crate::Layout::Growing3x20). After ten doublings and more they take up to a
///   quarter more, when some slots [belong to no
///   item](crate::docs::design#slots-that-know-too-little).) A `CuckooFilter` that is built for the
///   final number of items takes half to two thirds as much.
/// - **Lookups** read two buckets at every size, as in a `CuckooFilter`.
/// - **Inserts** take their share of the splits: `BENCHMARKS.md`, in the repository, has figures.
/// - **The rate** [rises](Filter::false_positive_rate) with each doubling, up to the target.
///
/// # Errors
///
/// An insert fails only if it finds no empty slot, for one of these reasons:
///
/// | error | reason |
/// |---|---|
/// | [`Full`](crate::InsertError::Full) | The [cap on memory](crate::FilterBuilder::max_bytes) does not let the filter grow. |
/// | [`Crowded`](crate::InsertError::Crowded) | Copies of a few items fill the buckets around, and splits make no room. |
/// | [`OutOfMemory`](crate::InsertError::OutOfMemory) | The system refuses the memory for the next step. |
/// | [`FullyGrown`](crate::InsertError::FullyGrown) | The filter has grown as far as its `max_capacity`, or its target rate, allows. |
/// | [`TooManyCopies`](crate::InsertError::TooManyCopies) | The item's two buckets are full, and hold as many copies of it as a bucket has slots (three if it has two; more with [`copies`](crate::FilterBuilder::copies)), or there are [`max_copies`](crate::FilterBuilder::max_copies) of them. |
///
/// Every item stays, and lookups and removals go on. A filter that cannot grow fills up first,
/// beyond the load at which it would have grown.
pub type GrowingFilter<S = StableHashBuilder> = Filter<Set, Growing, S>;

impl<G: Growth, S: BuildHasher> Filter<Set, G, S> {
    /// Inserts an item. Duplicates count: the filter is a multiset, and each of them takes a slot.
    /// If keys come again, use [`insert_unique`](Self::insert_unique), or say by
    /// [`copies`](crate::FilterBuilder::copies) how many may be equal.
    ///
    /// Acquires no lock if one of the item's two buckets has an empty slot, with one exception: in
    /// a filter with [`max_copies`](crate::FilterBuilder::max_copies), it acquires one if the item
    /// seems to have as many copies as it may have. If both buckets are full, it relocates other
    /// items, which concurrent lookups do not notice. Reads two cache lines and writes one if there
    /// is room; a search for room reads more.
    ///
    /// In a [`GrowingFilter`](crate::GrowingFilter), some inserts also split buckets, each under a
    /// lock: one in a few dozen if the filter is loaded as far as it should be, and each insert
    /// whose search finds no room.
    ///
    /// # Errors
    /// [`Full`](InsertError::Full) if no empty slot is within reach, and
    /// [`TooManyCopies`](InsertError::TooManyCopies) if the item's two buckets hold only copies of
    /// it, or if there are `max_copies` of them. In a `GrowingFilter`, those on [its
    /// page](crate::GrowingFilter#errors). To add an item at most once, use
    /// [`insert_unique`](Self::insert_unique).
    ///
    /// On an error the filter holds the same items as before.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert(&7).unwrap();
    /// filter.insert(&7).unwrap();
    /// assert_eq!(filter.count(&7), 2);
    /// ```
    #[doc(alias = "add")]
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Result<(), InsertError> {
        self.engine.insert(self.mixed(key), 0)?;
        self.items.add(1);
        Ok(())
    }

    /// Inserts a key if it is absent: returns [`New`](Insertion::New) if it was inserted, and
    /// [`Found`](Insertion::Found) otherwise.
    ///
    /// If calls with the same item overlap, exactly one of them adds it. `Found` can be due to an
    /// alias, with the probability of a false positive. **If this returns `Found`, you own no copy
    /// and must not call [`remove`](Self::remove).** A later lookup finds the item as long as the
    /// copy that was found remains.
    ///
    /// Acquires the lock of the item's stripe. Reads two cache lines, and writes one and the
    /// stripe.
    ///
    /// # Errors
    /// If the item is absent and there is no room for it: as [`insert`](Self::insert), but for
    /// `TooManyCopies`. In a full filter, the call still returns `Found` for an item that is
    /// present.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// assert!(filter.insert_unique("guira").unwrap().is_new());
    /// assert!(!filter.insert_unique("guira").unwrap().is_new());
    /// assert_eq!(filter.len(), 1);
    /// ```
    #[doc(alias = "check_and_set")]
    #[doc(alias = "test_and_add")]
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&self, key: &K) -> Result<Insertion, InsertError> {
        let added = self.engine.insert_unique(self.mixed(key), 0)?.is_none();
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
    /// the item's stripe. Reads two cache lines, and writes one and the stripe.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert(&7).unwrap();
    /// assert!(filter.remove(&7));
    /// assert!(filter.is_empty());
    /// ```
    #[doc(alias = "delete")]
    #[inline]
    pub fn remove<K: Key + ?Sized>(&self, key: &K) -> bool {
        let removed = self.engine.remove(self.mixed(key), 0);
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
    /// [`docs::limits`](crate::docs::limits), also for the [stack](crate::docs::limits#memory) that
    /// the call takes.
    ///
    /// # Errors
    /// [`InsertBatchError`] lists the items that could not be inserted.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// filter.insert_batch(&["udp", "tcp"]).unwrap();
    /// filter.insert_batch(0..900).unwrap();
    /// ```
    #[doc(alias = "extend")]
    pub fn insert_batch<K: Key>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), InsertBatchError> {
        let keys = keys.into_iter();
        if self.are_few(keys.size_hint().1) {
            let insert = |key: K| self.engine.insert(self.mixed(&key), 0).map(|()| true);
            return insert_few(&mut [], Some(&self.items), keys.map(insert)).map(drop);
        }
        let each = keys.map(|key| key.hash_with(&self.hasher).0).fuse();
        self.insert_many(Batch { slice: None, each })
    }

    /// (Out of line, so that small batches have few instructions. So are the others.)
    #[inline(never)]
    fn insert_many(
        &self,
        batch: Batch<'_, impl Iterator<Item = u64>>,
    ) -> Result<(), InsertBatchError> {
        let insert = |outcomes: &mut Outcomes<'_>| {
            self.with(batch, |hashes| {
                self.engine.insert_each(hashes, BatchValues::All(0), outcomes);
            });
        };
        insert_batch(&mut [], Some(&self.items), insert).map(drop)
    }

    /// Inserts many items, each only if it is absent: `added[i]` tells whether `keys[i]` was
    /// added. Returns the number of items added.
    ///
    /// Each `false` means what `Found` of [`insert_unique`](Self::insert_unique) means. An item
    /// that occurs twice in the batch is added once. If the hashing of an item panics, some of the
    /// items before it may not have been tried: `added` tells which were added.
    ///
    /// # Errors
    /// [`InsertBatchError`] lists the items that were absent and could not be added. `added` is
    /// `false` for them.
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
        check_lengths(keys.len(), "answers", added.len());
        if self.are_few(Some(keys.len())) {
            return insert_few(added, Some(&self.items), self.insert_few_unique(keys));
        }
        insert_batch(added, Some(&self.items), |outcomes| self.insert_unique_many(keys, outcomes))
    }

    /// Inserts those of up to 64 keys that are absent, and returns the outcomes as masks.
    ///
    /// The items are processed in their order, each as by [`insert_unique`](Self::insert_unique).
    /// Nothing is allocated unless an item's buckets are full, or the filter grows. An item that
    /// occurs twice is added once.
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
        check_burst(keys.len());
        if self.are_few(Some(keys.len())) {
            return insert_few_of_burst(Some(&self.items), self.insert_few_unique(keys));
        }
        let insert = |outcomes: &mut Outcomes<'_>| self.insert_unique_many(keys, outcomes);
        insert_burst(keys.len(), Some(&self.items), insert)
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
    /// filter.insert_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(filter.remove_batch(&[1, 2], &mut [false; 2]), 2);
    /// assert_eq!(filter.len(), 1);
    /// ```
    #[track_caller]
    pub fn remove_batch<K: Key>(&self, keys: &[K], removed: &mut [bool]) -> usize {
        check_lengths(keys.len(), "answers", removed.len());
        // In case the hashing of a key panics.
        removed.fill(false);
        let mut change = CountChange { counter: Some(&self.items), sign: -1, items: 0 };
        if self.are_few(Some(keys.len())) {
            for (removed, key) in removed.iter_mut().zip(keys) {
                *removed = self.engine.remove(self.mixed(key), 0);
                change.items += usize::from(*removed);
            }
        } else {
            self.remove_many(keys, removed, &mut change.items);
        }
        change.items
    }

    #[inline(never)]
    fn remove_many<K: Key>(&self, keys: &[K], removed: &mut [bool], count: &mut usize) {
        self.with(self.keys(keys), |hashes| {
            self.engine.remove_each(hashes, BatchValues::All(0), removed, count);
        });
    }

    /// Inserts each item that is absent, all together.
    #[inline(never)]
    fn insert_unique_many<K: Key>(&self, keys: &[K], outcomes: &mut Outcomes<'_>) {
        self.with(self.keys(keys), |hashes| self.engine.insert_unique_each(hashes, outcomes));
    }

    /// Inserts each item that is absent, one by one. Tells of each whether it was.
    #[inline]
    fn insert_few_unique<K: Key>(
        &self,
        keys: &[K],
    ) -> impl Iterator<Item = Result<bool, InsertError>> {
        keys.iter().map(|key| Ok(self.engine.insert_unique(self.mixed(key), 0)?.is_none()))
    }
}
