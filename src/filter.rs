//! The filter as its users see it: hashing, dispatch to the layout, and statistics.

#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "std")]
mod snapshots;

use core::{
    fmt,
    hash::{BuildHasher, Hash},
};

use crate::{
    BuildError, CuckooFilterBuilder, DefaultHashBuilder, InsertBatchError, InsertError, Layout,
    batch::{for_each_pair, in_batches},
    counter::ShardedCounter,
    crowd::Crowd,
    outcome::{Additions, Tallied, check_lengths, check_mask},
    shared::Core,
    word::with_layout,
};

/// A set of items, kept as a few bits each, that any number of threads share.
///
/// [`contains`](Self::contains) never says `false` for an item that is in the filter, whatever other
/// threads insert, relocate and remove meanwhile; for an item that is not in it, it says `true` with
/// the probability [`false_positive_rate`](Self::false_positive_rate). Items can be removed again.
/// Look-ups take no lock and write nothing.
///
/// All operations but [`clear`](Self::clear) take `&self`: share the filter by reference or in an
/// [`Arc`](std::sync::Arc).
///
/// # The contract of removal
///
/// **Remove only what you inserted, once, and after it was inserted.** In full: a call of
/// [`remove`](Self::remove) must be paid for by a call of [`insert`](Self::insert) with an equal item
/// that returned `Ok(())`, or of [`insert_unique`](Self::insert_unique) that returned `Ok(true)`, that
/// happened before it, and that pays for no other removal.
///
/// The filter knows items by their fingerprints alone. Two items with the same fingerprint and the
/// same buckets are *aliases*: removing one that was never inserted takes out a copy that belongs
/// to the other, whose look-ups then miss it. The caller's own records (the cache, the table of
/// flows, the store behind the filter) say what was inserted; the filter cannot.
///
/// An `insert_unique` that returned `Ok(false)` inserted nothing: it may have met an alias. **Its
/// caller owns no copy, and must not remove one.** Where several callers may add and remove the
/// same item and each keeps its own account, use `insert`, which counts.
///
/// # What overlapping calls may observe
///
/// - Every operation takes effect at one moment between its call and its return: for one item (and
///   its aliases) the filter behaves as a multiset behind a lock would. `len` and the other statistics
///   are the exception: they may miss what overlaps them.
/// - Between different items there is happens-before, as for acquire and release, and no single order
///   of all calls: of two threads that each insert one item and then look up the other's, both may
///   miss on processors with weak ordering (not on x86-64).
/// - A `contains` that returns `true` *happens after* the insert that it found: what the inserting
///   thread wrote before is visible to the finder. The same holds for a `remove` that returns
///   `true`, an `insert_unique` that returns `Ok(false)`, and the copies that `count` counts.
/// - A thread that stops in the middle of an operation never holds up a look-up, nor an insert into
///   a bucket with room. It may hold up removals and relocations of 1/1024 of the fingerprints; of more
///   in tables below 4 MiB, of an eighth in the smallest. A [`save`](Self::save) that waits for it holds up
///   all of them.
///
/// # Example
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
pub struct CuckooFilter<S = DefaultHashBuilder> {
    core: Core,
    layout: Layout,
    capacity: usize,
    /// What the mixing of hashes and the default hasher were seeded from.
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "to be saved"))]
    seed: u64,
    items: ShardedCounter,
    hasher: S,
}

impl CuckooFilter {
    /// A filter for `capacity` items with the default layout, [`Layout::Plain4x16`]: about 0.012 %
    /// false positives, 16.7 bits per item.
    ///
    /// # Panics
    /// Where [`build`](CuckooFilterBuilder::build) returns an error: a capacity of zero or beyond
    /// 2^32 buckets, or memory that the system refuses.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// filter.insert("tyto alba").unwrap();
    /// assert!(filter.contains("tyto alba"));
    /// ```
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::builder()
            .capacity(capacity)
            .build()
            .unwrap_or_else(|error: BuildError| panic!("{error}"))
    }

    /// A builder, for every other choice there is.
    ///
    /// ```
    /// use guira::{CuckooFilter, Layout};
    ///
    /// let filter = CuckooFilter::builder().capacity(50_000).false_positive_rate(0.01).build()?;
    /// assert_eq!(filter.layout(), Layout::SemiSorted6x12);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn builder() -> CuckooFilterBuilder {
        CuckooFilterBuilder::new()
    }
}

impl<S> CuckooFilter<S> {
    pub(crate) fn from_parts(
        core: Core,
        layout: Layout,
        capacity: usize,
        seed: u64,
        hasher: S,
    ) -> Self {
        // So few shards that they take no more than a fraction of the table.
        let shards = core.size_in_bytes() / 1024;
        Self { core, layout, capacity, seed, items: ShardedCounter::new(shards), hasher }
    }

    /// How many items are in the filter, duplicates counted, `0 ..= slots`.
    ///
    /// Exact when no writer runs; beside writers it may miss what they are doing. It reads one
    /// cache line for each of up to 64 shards, and no bucket.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert_batch(&[1, 2, 2])?;
    /// assert_eq!(filter.len(), 3);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(self.items.sum()).unwrap_or(0).min(self.slots())
    }

    /// Whether no item is in the filter; exact when no writer runs.
    ///
    /// ```
    /// assert!(guira::CuckooFilter::with_capacity(10).is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many distinct items the filter was built for.
    ///
    /// That many fit, but for one table in 10 000. As a rule more do: see [`slots`](Self::slots).
    ///
    /// ```
    /// assert_eq!(guira::CuckooFilter::with_capacity(1_000).capacity(), 1_000);
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many lanes there are: no more items than this can be in the filter.
    ///
    /// ```
    /// assert!(guira::CuckooFilter::with_capacity(1_000).slots() > 1_000);
    /// ```
    #[must_use]
    pub fn slots(&self) -> usize {
        (self.core.geometry().buckets() * u64::from(self.layout.lanes())) as usize
    }

    /// The share of slots occupied, `0.0 ..= 1.0`.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// filter.try_extend(0..500)?;
    /// assert_eq!(filter.load_factor(), 500.0 / filter.slots() as f64);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        self.len() as f64 / self.slots() as f64
    }

    /// Bytes of memory: buckets, stripes, counters and the filter itself.
    ///
    /// Pages of the buckets are taken from the system only as they come into use.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000_000);
    /// assert!(filter.size_in_bytes() * 8 < 17_100_000); // 17.1 bits per item
    /// ```
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        size_of_val(self) + self.core.size_in_bytes() + self.items.size_in_bytes()
    }

    /// The false-positive rate with [`capacity`](Self::capacity) items in: a bound, from the layout.
    ///
    /// With fewer items it is lower, in proportion. A filter filled beyond its capacity, which its
    /// slots may allow, reaches [`Layout::rate`] at most.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000_000);
    /// assert!(filter.false_positive_rate() < 0.000_12);
    /// ```
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.layout.rate_at(self.capacity as f64 / self.slots() as f64)
    }

    /// What went on inside since the filter was made or loaded, cleared or not: relocations, retries, waits. Only with the
    /// feature `stats`; see [`Stats`](crate::Stats).
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert(&1).unwrap();
    /// assert_eq!(filter.stats().inserts, 1);
    /// ```
    #[cfg(feature = "stats")]
    #[must_use]
    pub fn stats(&self) -> crate::Stats {
        self.core.counters.read(self.core.stripes.waits())
    }

    /// The layout of the buckets.
    ///
    /// ```
    /// use guira::{CuckooFilter, Layout};
    ///
    /// assert_eq!(CuckooFilter::with_capacity(10).layout(), Layout::Plain4x16);
    /// ```
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The hasher of the items.
    ///
    /// ```
    /// use std::hash::BuildHasher;
    ///
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert("ani").unwrap();
    /// assert!(filter.contains_hash(filter.hasher().hash_one("ani")));
    /// ```
    #[must_use]
    pub fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Removes every item. The one operation that needs the filter for itself.
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert(&1).unwrap();
    /// filter.clear();
    /// assert!(filter.is_empty() && !filter.contains(&1));
    /// ```
    pub fn clear(&mut self) {
        self.core.clear();
        self.items.reset();
    }

    /// [`insert`](CuckooFilter::insert) by hash.
    ///
    /// Any 64 bits will do, raw integer keys as well: the filter mixes them once more, with its seed.
    ///
    /// # Errors
    /// As [`insert`](CuckooFilter::insert).
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert_hash(17)?;
    /// assert!(filter.contains_hash(17));
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> Result<(), InsertError> {
        with_layout!(self.layout, L => {
            let pair = self.core.geometry().pair::<L>(hash);
            self.core.prefetch(pair);
            self.core.insert::<L>(pair)
        })?;
        self.items.add(1);
        Ok(())
    }

    /// [`insert_unique`](CuckooFilter::insert_unique) by hash.
    ///
    /// # Errors
    /// As [`insert_unique`](CuckooFilter::insert_unique).
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// assert_eq!(filter.insert_unique_hash(17), Ok(true));
    /// assert_eq!(filter.insert_unique_hash(17), Ok(false));
    /// ```
    #[inline]
    pub fn insert_unique_hash(&self, hash: u64) -> Result<bool, InsertError> {
        let added = with_layout!(self.layout, L => {
            let pair = self.core.geometry().pair::<L>(hash);
            self.core.prefetch_all(pair);
            self.core.insert_unique::<L>(pair)
        })?;
        if added {
            self.items.add(1);
        }
        Ok(added)
    }

    /// [`contains`](CuckooFilter::contains) by hash.
    ///
    /// ```
    /// assert!(!guira::CuckooFilter::with_capacity(10).contains_hash(17));
    /// ```
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        with_layout!(self.layout, L => {
            self.core.contains::<L>(self.core.geometry().pair::<L>(hash))
        })
    }

    /// [`remove`](CuckooFilter::remove) by hash; the same [contract](#the-contract-of-removal) holds.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert_hash(17)?;
    /// assert!(filter.remove_hash(17));
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[inline]
    pub fn remove_hash(&self, hash: u64) -> bool {
        let removed = with_layout!(self.layout, L => {
            let pair = self.core.geometry().pair::<L>(hash);
            self.core.prefetch_all(pair);
            self.core.remove::<L>(pair)
        });
        if removed {
            self.items.add(-1);
        }
        removed
    }

    /// [`count`](CuckooFilter::count) by hash.
    ///
    /// ```
    /// assert_eq!(guira::CuckooFilter::with_capacity(10).count_hash(17), 0);
    /// ```
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> usize {
        with_layout!(self.layout, L => {
            let pair = self.core.geometry().pair::<L>(hash);
            self.core.prefetch_all(pair);
            self.core.count::<L>(pair)
        })
    }

    /// [`contains_batch`](CuckooFilter::contains_batch) by hash.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert_hash(2).unwrap();
    /// let mut found = [false; 2];
    /// assert_eq!(filter.contains_hash_batch(&[1, 2], &mut found), 1);
    /// assert_eq!(found, [false, true]);
    /// ```
    pub fn contains_hash_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        self.contains_batch_by(hashes, found, |&hash| hash)
    }

    /// [`contains_mask`](CuckooFilter::contains_mask) by hash.
    ///
    /// # Panics
    /// If there are more than 64 hashes.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert_hash(2).unwrap();
    /// assert_eq!(filter.contains_hash_mask(&[1, 2]), 0b10);
    /// ```
    #[must_use]
    pub fn contains_hash_mask(&self, hashes: &[u64]) -> u64 {
        self.contains_mask_by(hashes, |&hash| hash)
    }

    /// [`insert_batch`](CuckooFilter::insert_batch) by hash.
    ///
    /// # Errors
    /// As [`insert_batch`](CuckooFilter::insert_batch).
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert_hash_batch(&[1, 2])?;
    /// assert_eq!(filter.len(), 2);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    pub fn insert_hash_batch(&self, hashes: &[u64]) -> Result<(), InsertBatchError> {
        self.insert_batch_by(hashes, |&hash| hash)
    }

    /// [`insert_unique_batch`](CuckooFilter::insert_unique_batch) by hash.
    ///
    /// # Errors
    /// As [`insert_unique_batch`](CuckooFilter::insert_unique_batch).
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// assert_eq!(filter.insert_unique_hash_batch(&[1, 1], &mut [false; 2]), Ok(1));
    /// ```
    pub fn insert_unique_hash_batch(
        &self,
        hashes: &[u64],
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        self.insert_unique_batch_by(hashes, added, |&hash| hash)
    }

    /// [`remove_batch`](CuckooFilter::remove_batch) by hash.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert_hash(1).unwrap();
    /// assert_eq!(filter.remove_hash_batch(&[1], &mut [false]), 1);
    /// ```
    pub fn remove_hash_batch(&self, hashes: &[u64], removed: &mut [bool]) -> usize {
        self.remove_batch_by(hashes, removed, |&hash| hash)
    }

    fn contains_batch_by<T>(
        &self,
        items: &[T],
        found: &mut [bool],
        hash: impl Fn(&T) -> u64,
    ) -> usize {
        check_lengths(items.len(), found.len());
        let mut hits = 0;
        with_layout!(self.layout, L => {
            for_each_pair::<L, T>(&self.core, items, hash, |position, pair| {
                found[position] = self.core.contains::<L>(pair);
                hits += usize::from(found[position]);
            });
        });
        hits
    }

    fn contains_mask_by<T>(&self, items: &[T], hash: impl Fn(&T) -> u64) -> u64 {
        check_mask(items.len());
        let mut mask = 0;
        with_layout!(self.layout, L => {
            for_each_pair::<L, T>(&self.core, items, hash, |position, pair| {
                mask |= u64::from(self.core.contains::<L>(pair)) << position;
            });
        });
        mask
    }

    fn insert_batch_by<T>(
        &self,
        items: &[T],
        hash: impl Fn(&T) -> u64,
    ) -> Result<(), InsertBatchError> {
        let mut batch = Additions::new(&self.items);
        self.add_all(items, hash, 0, &mut batch);
        batch.finish().map(drop)
    }

    /// Adds items, the first of which has position `first` in the batch.
    fn add_all<T>(
        &self,
        items: &[T],
        hash: impl Fn(&T) -> u64,
        first: usize,
        batch: &mut Additions,
    ) {
        let mut crowd = Crowd::default();
        let mut note = |position: usize, outcome: Result<(), InsertError>| {
            batch.note(first + position, outcome.map(|()| true));
        };
        with_layout!(self.layout, L => {
            for_each_pair::<L, T>(&self.core, items, hash, |position, pair| {
                if self.core.add::<L>(pair) {
                    note(position, Ok(()));
                } else {
                    crowd.take_in::<L>(&self.core, position, pair, &mut note);
                }
            });
            crowd.finish::<L>(&self.core, &mut note);
        });
    }

    fn insert_unique_batch_by<T>(
        &self,
        items: &[T],
        added: &mut [bool],
        hash: impl Fn(&T) -> u64,
    ) -> Result<usize, InsertBatchError> {
        check_lengths(items.len(), added.len());
        let mut batch = Additions::new(&self.items);
        with_layout!(self.layout, L => {
            for_each_pair::<L, T>(&self.core, items, hash, |position, pair| {
                added[position] = batch.note(position, self.core.insert_unique::<L>(pair));
            });
        });
        batch.finish()
    }

    fn remove_batch_by<T>(
        &self,
        items: &[T],
        removed: &mut [bool],
        hash: impl Fn(&T) -> u64,
    ) -> usize {
        check_lengths(items.len(), removed.len());
        let mut batch = Tallied { items: &self.items, change: 0 };
        with_layout!(self.layout, L => {
            for_each_pair::<L, T>(&self.core, items, hash, |position, pair| {
                removed[position] = self.core.remove::<L>(pair);
                batch.change -= i64::from(removed[position]);
            });
        });
        batch.change.unsigned_abs() as usize
    }
}

impl<S: BuildHasher> CuckooFilter<S> {
    /// Adds an item. Duplicates count: the filter is a multiset.
    ///
    /// Reads both buckets of the item, two cache lines, and writes one. Takes no lock while one of
    /// the two has room; else it relocates other items, which readers do not notice.
    ///
    /// # Errors
    /// - [`InsertError::Full`] when no room could be made within reach;
    /// - [`InsertError::TooManyCopies`] when both buckets hold nothing but copies of this item:
    ///   `2 × lanes` of them, or `lanes` where the two are one. Somebody inserts the same item again and again: see
    ///   [`insert_unique`](Self::insert_unique).
    ///
    /// Either way the filter holds the same items as before.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert(&7)?;
    /// filter.insert(&7)?;
    /// assert_eq!(filter.count(&7), 2);
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[inline]
    pub fn insert<T: Hash + ?Sized>(&self, item: &T) -> Result<(), InsertError> {
        self.insert_hash(self.hasher.hash_one(item))
    }

    /// Adds an item unless it is there: `Ok(true)` if it was absent and has been added.
    ///
    /// Of overlapping calls with one item exactly one adds it. `Ok(false)` may be due to an alias,
    /// with the probability of a false positive: the caller then owns no copy, and **must not
    /// [`remove`](Self::remove) the item**. A later look-up finds it as long as the alias is there.
    ///
    /// Reads two cache lines and writes one, under the lock of the item's stripe.
    ///
    /// # Errors
    /// [`InsertError::Full`] when the item is absent and no room could be made within reach. In a
    /// full filter an item that is present still gets its `Ok(false)`.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// assert_eq!(filter.insert_unique("guira"), Ok(true));
    /// assert_eq!(filter.insert_unique("guira"), Ok(false));
    /// assert_eq!(filter.len(), 1);
    /// ```
    #[inline]
    pub fn insert_unique<T: Hash + ?Sized>(&self, item: &T) -> Result<bool, InsertError> {
        self.insert_unique_hash(self.hasher.hash_one(item))
    }

    /// Whether the item is in the filter: never `false` for one that is, rarely `true` for another.
    ///
    /// Takes no lock, writes nothing, and reads three cache lines: two buckets, asked for together,
    /// and the stripe, of which there are few. It looks again only when another thread cleared a lane
    /// of the same stripe meanwhile (in semi-sorted layouts also where a part of a fingerprint matches by chance). A `true` happens after the insert that was found.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert(&[1, 2, 3]).unwrap();
    /// assert!(filter.contains(&[1, 2, 3]));
    /// assert!(!filter.contains(&[3, 2, 1])); // almost surely
    /// ```
    #[inline]
    #[must_use]
    pub fn contains<T: Hash + ?Sized>(&self, item: &T) -> bool {
        self.contains_hash(self.hasher.hash_one(item))
    }

    /// Takes out one copy of an item: `true` if there was one.
    ///
    /// **Remove only what an [`insert`](Self::insert) that returned `Ok(())`, or an
    /// [`insert_unique`](Self::insert_unique) that returned `Ok(true)`, put in, once, and after it.**
    /// Anything else can take the only copy of another item; see the
    /// [contract](#the-contract-of-removal).
    ///
    /// Of overlapping removals of one copy exactly one returns `true`. Reads two cache lines and
    /// writes one, and the stripe, under the stripe's lock.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// filter.insert(&7)?;
    /// assert!(filter.remove(&7));
    /// assert!(filter.is_empty());
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[inline]
    pub fn remove<T: Hash + ?Sized>(&self, item: &T) -> bool {
        self.remove_hash(self.hasher.hash_one(item))
    }

    /// How many copies of an item are in the filter, `0 ..= 2 × lanes`; copies of aliases count too.
    ///
    /// Exact at one moment during the call, also beside relocations. It takes the lock of the item's
    /// stripe; to know only whether there is one, [`contains`](Self::contains) is cheaper.
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
        self.count_hash(self.hasher.hash_one(item))
    }

    /// Looks up many items: `found[i]` says whether `items[i]` is there. Returns the number found.
    ///
    /// Each look-up is one of its own, as by [`contains`](Self::contains); the batch is no snapshot.
    /// The cache lines of dozens of items are asked for at once, so in a table beyond the caches a batch
    /// costs half of as many single look-ups, or less.
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
    pub fn contains_batch<T: Hash>(&self, items: &[T], found: &mut [bool]) -> usize {
        self.contains_batch_by(items, found, |item| self.hasher.hash_one(item))
    }

    /// Looks up a burst of up to 64 items: bit `i` says whether `items[i]` is there.
    ///
    /// The look-ups are those of [`contains_batch`](Self::contains_batch); the answers fit a register, the
    /// shape in which packet processors hand bursts on.
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
    pub fn contains_mask<T: Hash>(&self, items: &[T]) -> u64 {
        self.contains_mask_by(items, |item| self.hasher.hash_one(item))
    }

    /// Adds all items of an iterator, in batches, duplicates counted. Every item is tried.
    ///
    /// Items are taken a thousand at a time before they are added. Should the iterator panic, those of the
    /// last thousand are not in. An iterator without an end is never done, also when the filter is full.
    ///
    /// # Errors
    /// [`InsertBatchError`] when some did not fit: it lists their positions in the iterator's order. All
    /// others are in.
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
        let mut batch = Additions::new(&self.items);
        let hashes = items.into_iter().map(|item| self.hasher.hash_one(item));
        in_batches(hashes, |hashes, first| self.add_all(hashes, |&hash| hash, first, &mut batch));
        batch.finish().map(drop)
    }

    /// Adds many items, duplicates counted. Every item is tried.
    ///
    /// Items are added in no particular order: those whose buckets are full are set aside, and some of them
    /// search for room at once. Should the hashing of an item panic, some of those before it may not be
    /// in.
    ///
    /// # Errors
    /// [`InsertBatchError`] when some did not fit: it lists their positions. All others are in.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// let keys: Vec<u32> = (0..1_000).collect();
    /// if let Err(error) = filter.insert_batch(&keys) {
    ///     for &position in error.rejected() {
    ///         eprintln!("{} did not fit", keys[position]);
    ///     }
    /// }
    /// ```
    pub fn insert_batch<T: Hash>(&self, items: &[T]) -> Result<(), InsertBatchError> {
        self.insert_batch_by(items, |item| self.hasher.hash_one(item))
    }

    /// Adds many items, each unless it is there: `added[i]` says whether `items[i]` was absent and
    /// has been added. Returns the number added.
    ///
    /// What [`insert_unique`](Self::insert_unique) says of `Ok(false)` holds for each `false`. An item
    /// that comes twice in the batch is added once.
    ///
    /// # Errors
    /// [`InsertBatchError`] when some were absent and did not fit: it lists their positions, where
    /// `added` is `false`. All others were tried.
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
    pub fn insert_unique_batch<T: Hash>(
        &self,
        items: &[T],
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        self.insert_unique_batch_by(items, added, |item| self.hasher.hash_one(item))
    }

    /// Takes out one copy of each of many items: `removed[i]` says whether there was one of
    /// `items[i]`. Returns the number removed. The [contract](#the-contract-of-removal) of `remove`
    /// holds for each.
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
    pub fn remove_batch<T: Hash>(&self, items: &[T], removed: &mut [bool]) -> usize {
        self.remove_batch_by(items, removed, |item| self.hasher.hash_one(item))
    }
}

impl<S> fmt::Debug for CuckooFilter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("CuckooFilter");
        #[cfg(feature = "stats")]
        fields.field("stats", &self.stats());
        fields
            .field("layout", &self.layout)
            .field("len", &self.len())
            .field("capacity", &self.capacity)
            .field("slots", &self.slots())
            .field("buckets", &self.core.geometry().buckets())
            .field("load_factor", &self.load_factor())
            .field("size_in_bytes", &self.size_in_bytes())
            .field("false_positive_rate", &self.false_positive_rate())
            .finish_non_exhaustive()
    }
}
