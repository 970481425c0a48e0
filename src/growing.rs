//! The filter that grows, as its users see it.

use alloc::vec::Vec;
use core::{
    fmt,
    hash::{BuildHasher, Hash},
};

use crate::{
    BuildError, CuckooFilter, DefaultHashBuilder, InsertBatchError, InsertError, Layout,
    batch::{for_each_asked, in_batches},
    chain::{Chain, mixed},
    counter::ShardedCounter,
    outcome::{Additions, Tallied, check_lengths, check_mask},
};

/// One of the tables that a [`GrowingFilter`] consists of.
///
/// ```
/// let filter = guira::GrowingFilter::with_capacity(1_000);
/// for segment in filter.segments() {
///     assert!(segment.slots >= 1_000);
///     println!("{} slots of {} bits", segment.slots, segment.layout.bits());
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Segment {
    /// The layout of its buckets.
    pub layout: Layout,
    /// How many lanes there are in them.
    pub slots: usize,
}

/// A [`CuckooFilter`] that grows: it is full only when memory is, or at 2^32 buckets in one table.
///
/// It is a chain of tables, *segments*, each with twice the buckets of the one before it. When the last one is full (94 to 99 % of
/// its slots, as a rule) another is appended, while other threads go on; nothing is copied or moved from one to another. Items go into the last segment, or
/// where removals have left room in others. **What [`CuckooFilter`] promises holds here as well**: no false negatives under any
/// schedule, as long as only what was inserted is removed (see [the contract](#the-contract-of-removal)); look-ups that take
/// no lock.
///
/// # What it costs
///
/// - **Look-ups of absent items read two buckets of each segment**, so with 100 times the first capacity those of seven or eight segments. Give
///   the capacity that you expect, and let the chain care for the rest.
/// - **The sum of the segments' false-positive rates is at most the rate asked for**, at every length: each segment may take half
///   of what is left of it. So later segments have longer fingerprints: a filter for 1 % begins with 10.9 bits per item; when it has
///   grown a hundredfold it takes 13 to 17 in its last segment, as far as that is filled.
/// - A segment that has just been appended is nearly empty, and takes all its memory soon, as items spread over it: expect a step to
///   about twice the memory at each growth.
/// - Segments are dropped by [`clear`](Self::clear) alone. A filter that has shrunk keeps them: build another from the items
///   if look-ups are to be fast again.
///
/// # The contract of removal
///
/// **Remove only what you inserted, once, and after it was inserted**: a [`remove`](Self::remove) must be paid for by an
/// [`insert`](Self::insert) of an equal item that returned `Ok(())`, or an [`insert_unique`](Self::insert_unique) that returned
/// `Ok(true)`, that happened before it, and that pays for no other removal. Here as there, who is told `Ok(false)` owns no copy.
///
/// That a removal takes a copy which belongs to another item, and leaves one that does for it, holds from the finest segment to the first:
/// what two items share in one segment they share in all before it. How that is argued stands at the head of `src/chain.rs`, how it
/// has been tested in [`docs::verification`](crate::docs::verification).
///
/// # What overlapping calls may observe
///
/// What stands [there](CuckooFilter#what-overlapping-calls-may-observe): every operation takes effect at one moment, a hit happens after
/// the insert that it found, and a thread that stops holds up no look-up. Which items are aliases depends on the segment that their copies
/// are in: `count` of one may include the other, and not the other way round. No thread waits for another to append a segment.
///
/// # Example
///
/// ```
/// use guira::GrowingFilter;
///
/// let seen = GrowingFilter::with_capacity(1_000);
/// std::thread::scope(|scope| {
///     for thread in 0..4_u32 {
///         let seen = &seen;
///         scope.spawn(move || {
///             for key in 0..25_000 {
///                 seen.insert(&(thread, key)).unwrap();
///             }
///         });
///     }
/// });
/// assert_eq!(seen.len(), 100_000);
/// assert!(seen.contains(&(3, 17)) && seen.remove(&(3, 17)));
/// assert!(seen.false_positive_rate() <= 0.001);
/// ```
pub struct GrowingFilter<S = DefaultHashBuilder> {
    chain: Chain,
    asked: f64,
    first_capacity: usize,
    /// What hashes are mixed with.
    seed: u64,
    items: ShardedCounter,
    hasher: S,
}

impl GrowingFilter {
    /// A filter that grows from `capacity` items on, with a false-positive rate of 0.1 % at most: 16.7 bits per
    /// item. For another rate there is [`build_growing`](crate::CuckooFilterBuilder::build_growing).
    ///
    /// # Panics
    /// Where `build_growing` returns an error: a capacity of zero or beyond 2^32 buckets, or memory that the
    /// system refuses.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// filter.try_extend(0..1_000)?;
    /// assert!(filter.contains(&999));
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        CuckooFilter::builder()
            .capacity(capacity)
            .build_growing()
            .unwrap_or_else(|error: BuildError| panic!("{error}"))
    }
}

impl<S> GrowingFilter<S> {
    pub(crate) fn from_parts(
        chain: Chain,
        asked: f64,
        first_capacity: usize,
        seed: u64,
        hasher: S,
    ) -> Self {
        // As in a filter that does not grow, but as if it had grown already.
        let shards = chain.size_in_bytes() / 256;
        Self { chain, asked, first_capacity, seed, items: ShardedCounter::new(shards), hasher }
    }

    /// How many items are in the filter, duplicates counted; exact when no writer runs.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// filter.insert(&1).unwrap();
    /// assert_eq!(filter.len(), 1);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(self.items.sum()).unwrap_or(0)
    }

    /// Whether no item is in the filter; exact when no writer runs.
    ///
    /// ```
    /// assert!(guira::GrowingFilter::with_capacity(10).is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many distinct items the first segment was made for.
    ///
    /// ```
    /// assert_eq!(guira::GrowingFilter::with_capacity(10).first_capacity(), 10);
    /// ```
    #[must_use]
    pub fn first_capacity(&self) -> usize {
        self.first_capacity
    }

    /// The segments that there are by now, from the first to the last.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(1_000);
    /// filter.try_extend(0..2_000)?;
    /// let slots: Vec<usize> = filter.segments().map(|segment| segment.slots).collect();
    /// assert!(slots.len() == 2 && slots[1] == 2 * slots[0]);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    pub fn segments(&self) -> impl ExactSizeIterator<Item = Segment> {
        let segment = |(layout, buckets): (Layout, u64)| Segment {
            layout,
            slots: buckets as usize * layout.lanes() as usize,
        };
        self.chain.layouts().map(segment)
    }

    /// How many slots the segments have together, by now.
    ///
    /// ```
    /// assert!(guira::GrowingFilter::with_capacity(1_000).slots() >= 1_000);
    /// ```
    #[must_use]
    pub fn slots(&self) -> usize {
        self.segments().map(|segment| segment.slots).sum()
    }

    /// The share of slots occupied, in all segments that there are by now, `0.0 ..= 1.0`.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(1_000);
    /// filter.try_extend(0..500)?;
    /// assert_eq!(filter.load_factor(), 500.0 / filter.slots() as f64);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        // Beside writers what `len` says may be more than there ever was at once.
        (self.len() as f64 / self.slots() as f64).min(1.0)
    }

    /// Bytes of memory: buckets, stripes, counters and the filter itself. Pages of buckets are taken from the system
    /// only as they come into use.
    ///
    /// ```
    /// assert!(guira::GrowingFilter::with_capacity(1_000).size_in_bytes() < 20_000);
    /// ```
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        size_of_val(self) + self.chain.size_in_bytes() + self.items.size_in_bytes()
    }

    /// The false-positive rate with all segments that there are by now full: a bound, never more than was asked for.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().capacity(10).false_positive_rate(0.01).build_growing()?;
    /// assert!(filter.false_positive_rate() <= 0.01);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.chain.rate()
    }

    /// The false-positive rate that was asked for.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(1_000);
    /// assert_eq!(filter.asked_false_positive_rate(), 0.001);
    /// ```
    #[must_use]
    pub fn asked_false_positive_rate(&self) -> f64 {
        self.asked
    }

    /// What went on inside, in all segments, also in those that were dropped: see [`CuckooFilter::stats`]. Only with the feature
    /// `stats`.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// filter.try_extend(0..1_000)?;
    /// assert_eq!(filter.stats().inserts, 1_000);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[cfg(feature = "stats")]
    #[must_use]
    pub fn stats(&self) -> crate::Stats {
        self.chain.stats()
    }

    /// The hasher of the items.
    ///
    /// ```
    /// use std::hash::BuildHasher;
    ///
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// filter.insert("ani").unwrap();
    /// assert!(filter.contains_hash(filter.hasher().hash_one("ani")));
    /// ```
    #[must_use]
    pub fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Removes every item, and drops all segments but the first.
    ///
    /// ```
    /// let mut filter = guira::GrowingFilter::with_capacity(10);
    /// filter.try_extend(0..1_000)?;
    /// filter.clear();
    /// assert!(filter.is_empty() && filter.segments().len() == 1);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    pub fn clear(&mut self) {
        self.chain.clear();
        self.items.reset();
    }

    fn mixed(&self, hash: u64) -> u64 {
        mixed(hash, self.seed)
    }

    /// [`insert`](GrowingFilter::insert) by hash. Any 64 bits will do: the filter mixes them once more.
    ///
    /// # Errors
    /// As [`insert`](GrowingFilter::insert).
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// filter.insert_hash(17).unwrap();
    /// assert!(filter.contains_hash(17));
    /// ```
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> Result<(), InsertError> {
        self.chain.insert(self.mixed(hash))?;
        self.items.add(1);
        Ok(())
    }

    /// [`insert_unique`](GrowingFilter::insert_unique) by hash.
    ///
    /// # Errors
    /// As [`insert_unique`](GrowingFilter::insert_unique).
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// assert_eq!(filter.insert_unique_hash(17), Ok(true));
    /// assert_eq!(filter.insert_unique_hash(17), Ok(false));
    /// ```
    #[inline]
    pub fn insert_unique_hash(&self, hash: u64) -> Result<bool, InsertError> {
        let added = self.chain.insert_unique(self.mixed(hash))?;
        if added {
            self.items.add(1);
        }
        Ok(added)
    }

    /// [`contains`](GrowingFilter::contains) by hash.
    ///
    /// ```
    /// assert!(!guira::GrowingFilter::with_capacity(10).contains_hash(17));
    /// ```
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.chain.contains(self.mixed(hash))
    }

    /// [`remove`](GrowingFilter::remove) by hash; the same [contract](#the-contract-of-removal) holds.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// filter.insert_hash(17).unwrap();
    /// assert!(filter.remove_hash(17));
    /// ```
    #[inline]
    pub fn remove_hash(&self, hash: u64) -> bool {
        let removed = self.chain.remove(self.mixed(hash));
        if removed {
            self.items.add(-1);
        }
        removed
    }

    /// [`count`](GrowingFilter::count) by hash.
    ///
    /// ```
    /// assert_eq!(guira::GrowingFilter::with_capacity(10).count_hash(17), 0);
    /// ```
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> usize {
        self.chain.count(self.mixed(hash))
    }

    /// [`contains_batch`](GrowingFilter::contains_batch) by hash.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// assert_eq!(filter.contains_hash_batch(&[1, 2], &mut [false; 2]), 0);
    /// ```
    pub fn contains_hash_batch(&self, hashes: &[u64], found: &mut [bool]) -> usize {
        self.contains_batch_by(hashes, found, |&hash| hash)
    }

    /// [`contains_mask`](GrowingFilter::contains_mask) by hash.
    ///
    /// # Panics
    /// If there are more than 64 hashes.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// filter.insert_hash(2).unwrap();
    /// assert_eq!(filter.contains_hash_mask(&[1, 2]), 0b10);
    /// ```
    #[must_use]
    pub fn contains_hash_mask(&self, hashes: &[u64]) -> u64 {
        self.contains_mask_by(hashes, |&hash| hash)
    }

    /// [`insert_batch`](GrowingFilter::insert_batch) by hash.
    ///
    /// # Errors
    /// As [`insert_batch`](GrowingFilter::insert_batch).
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// filter.insert_hash_batch(&[1, 2])?;
    /// assert_eq!(filter.len(), 2);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    pub fn insert_hash_batch(&self, hashes: &[u64]) -> Result<(), InsertBatchError> {
        let mut batch = Additions::new(&self.items);
        self.add_all(hashes, |&hash| hash, 0, &mut batch);
        batch.finish().map(drop)
    }

    /// [`insert_unique_batch`](GrowingFilter::insert_unique_batch) by hash.
    ///
    /// # Errors
    /// As [`insert_unique_batch`](GrowingFilter::insert_unique_batch).
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// assert_eq!(filter.insert_unique_hash_batch(&[1, 1], &mut [false; 2]), Ok(1));
    /// ```
    pub fn insert_unique_hash_batch(
        &self,
        hashes: &[u64],
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        self.insert_unique_batch_by(hashes, added, |&hash| hash)
    }

    /// [`remove_batch`](GrowingFilter::remove_batch) by hash.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// filter.insert_hash(1).unwrap();
    /// assert_eq!(filter.remove_hash_batch(&[1], &mut [false]), 1);
    /// ```
    pub fn remove_hash_batch(&self, hashes: &[u64], removed: &mut [bool]) -> usize {
        self.remove_batch_by(hashes, removed, |&hash| hash)
    }

    /// Calls `operation` with each item's position and mixed hash, its lines in all segments on their way.
    fn for_each<T>(
        &self,
        items: &[T],
        hash: impl Fn(&T) -> u64,
        operation: impl FnMut(usize, u64),
    ) {
        let prefetch = |mixed| self.chain.prefetch_all(mixed);
        self.for_each_prefetched(items, hash, prefetch, operation);
    }

    /// The same, with the lines on their way that `prefetch` asks for.
    fn for_each_prefetched<T>(
        &self,
        items: &[T],
        hash: impl Fn(&T) -> u64,
        prefetch: impl Fn(u64),
        operation: impl FnMut(usize, u64),
    ) {
        let ask = |item: &T| {
            let mixed = self.mixed(hash(item));
            prefetch(mixed);
            mixed
        };
        for_each_asked(items, 0, ask, operation);
    }

    fn contains_batch_by<T>(
        &self,
        items: &[T],
        found: &mut [bool],
        hash: impl Fn(&T) -> u64,
    ) -> usize {
        check_lengths(items.len(), found.len());
        let mut hits = 0;
        self.for_each(items, hash, |position, mixed| {
            found[position] = self.chain.contains(mixed);
            hits += usize::from(found[position]);
        });
        hits
    }

    fn contains_mask_by<T>(&self, items: &[T], hash: impl Fn(&T) -> u64) -> u64 {
        check_mask(items.len());
        let mut mask = 0;
        self.for_each(items, hash, |position, mixed| {
            mask |= u64::from(self.chain.contains(mixed)) << position;
        });
        mask
    }

    /// Adds items, the first of which has position `first` in the batch.
    fn add_all<T>(
        &self,
        items: &[T],
        hash: impl Fn(&T) -> u64,
        first: usize,
        batch: &mut Additions,
    ) {
        let prefetch = |mixed| self.chain.prefetch_last(mixed);
        self.for_each_prefetched(items, hash, prefetch, |position, mixed| {
            batch.note(first + position, self.chain.insert(mixed).map(|()| true));
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
        self.for_each(items, hash, |position, mixed| {
            added[position] = batch.note(position, self.chain.insert_unique(mixed));
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
        self.for_each(items, hash, |position, mixed| {
            removed[position] = self.chain.remove(mixed);
            batch.change -= i64::from(removed[position]);
        });
        batch.change.unsigned_abs() as usize
    }
}

impl<S: BuildHasher> GrowingFilter<S> {
    /// Adds an item. Duplicates count: the filter is a multiset.
    ///
    /// Two cache lines as long as the last segment has room in them. Else those of the other segments, which may have
    /// room since items were removed; then other items of the last segment are relocated; and where that does not help,
    /// a segment is appended. Takes the lock of a stripe for relocations, and where copies of this very item seem to take half of its lanes.
    ///
    /// # Errors
    /// - [`InsertError::TooManyCopies`] when copies of this item (or aliases) take half of the lanes of its two buckets in the last segment: that
    ///   is `lanes` copies, or half as many, rounded up, where the two are one. A multitude of copies would fill buckets in a segment that is
    ///   nearly empty, and make the filter grow for nothing. Another time, in another segment, there may be room for more.
    /// - [`InsertError::Full`] when the system has no memory for another segment, or its buckets would be more than 2^32.
    ///
    /// Either way the filter holds the same items as before.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(1);
    /// for key in 0..100 {
    ///     filter.insert(&key)?;
    /// }
    /// assert!((0..100).all(|key| filter.contains(&key)));
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[inline]
    pub fn insert<T: Hash + ?Sized>(&self, item: &T) -> Result<(), InsertError> {
        self.insert_hash(self.hasher.hash_one(item))
    }

    /// Adds an item unless it is there: `Ok(true)` if it was absent from all segments and has been added.
    ///
    /// Of overlapping calls with one item exactly one adds it. `Ok(false)` may be due to an alias, with the probability of a
    /// false positive: the caller then owns no copy, and **must not [`remove`](Self::remove) the item**.
    ///
    /// Reads the lines that [`contains`](Self::contains) reads, under the lock of the item's stripe.
    ///
    /// # Errors
    /// [`InsertError::Full`] as for [`insert`](Self::insert).
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(100);
    /// assert_eq!(filter.insert_unique("guira"), Ok(true));
    /// assert_eq!(filter.insert_unique("guira"), Ok(false));
    /// ```
    #[inline]
    pub fn insert_unique<T: Hash + ?Sized>(&self, item: &T) -> Result<bool, InsertError> {
        self.insert_unique_hash(self.hasher.hash_one(item))
    }

    /// Whether the item is in the filter: never `false` for one that is, rarely `true` for another.
    ///
    /// Takes no lock and writes nothing. Reads two cache lines of every segment, from the last on until the item is found. A `true`
    /// happens after the insert that was found.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(100);
    /// filter.insert("ani").unwrap();
    /// assert!(filter.contains("ani"));
    /// ```
    #[inline]
    #[must_use]
    pub fn contains<T: Hash + ?Sized>(&self, item: &T) -> bool {
        self.contains_hash(self.hasher.hash_one(item))
    }

    /// Takes out one copy of an item: `true` if there was one. The [contract](#the-contract-of-removal) says of which items.
    ///
    /// Reads two cache lines of every segment, from the last on until a copy is found, and writes one, under the lock of the
    /// item's stripe.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(100);
    /// filter.insert(&7)?;
    /// assert!(filter.remove(&7) && filter.is_empty());
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[inline]
    pub fn remove<T: Hash + ?Sized>(&self, item: &T) -> bool {
        self.remove_hash(self.hasher.hash_one(item))
    }

    /// How many copies of an item are in the filter; copies of aliases count too. Exact at one moment during the call.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(100);
    /// filter.insert("ani")?;
    /// filter.insert("ani")?;
    /// assert_eq!(filter.count("ani"), 2);
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[must_use]
    pub fn count<T: Hash + ?Sized>(&self, item: &T) -> usize {
        self.count_hash(self.hasher.hash_one(item))
    }

    /// Looks up many items: `found[i]` says whether `items[i]` is there. Returns the number found.
    ///
    /// The lines of dozens of items, in all segments, are asked for at once.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(100);
    /// filter.insert_batch(&[1, 2, 3])?;
    /// assert_eq!(filter.contains_batch(&[2, 3], &mut [false; 2]), 2);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    pub fn contains_batch<T: Hash>(&self, items: &[T], found: &mut [bool]) -> usize {
        self.contains_batch_by(items, found, |item| self.hasher.hash_one(item))
    }

    /// Looks up a burst of up to 64 items: bit `i` says whether `items[i]` is there.
    ///
    /// # Panics
    /// If there are more than 64 items.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(100);
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
    /// # Errors
    /// [`InsertBatchError`] when some were not added: it lists their positions in the iterator's order. All others are in.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
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
    /// # Errors
    /// [`InsertBatchError`] when some were not added: it lists their positions. All others are in.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(10);
    /// filter.insert_batch(&[1, 2, 3])?;
    /// assert_eq!(filter.len(), 3);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    pub fn insert_batch<T: Hash>(&self, items: &[T]) -> Result<(), InsertBatchError> {
        let mut batch = Additions::new(&self.items);
        self.add_all(items, |item| self.hasher.hash_one(item), 0, &mut batch);
        batch.finish().map(drop)
    }

    /// Adds many items, each unless it is there: `added[i]` says whether `items[i]` was absent and has been added. Returns the
    /// number added. What [`insert_unique`](Self::insert_unique) says of `Ok(false)` holds for each `false`.
    ///
    /// # Errors
    /// [`InsertBatchError`] when some were absent and could not be added: it lists their positions. All others were tried.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(100);
    /// assert_eq!(filter.insert_unique_batch(&[5, 6, 5], &mut [false; 3]), Ok(2));
    /// ```
    pub fn insert_unique_batch<T: Hash>(
        &self,
        items: &[T],
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        self.insert_unique_batch_by(items, added, |item| self.hasher.hash_one(item))
    }

    /// Takes out one copy of each of many items: `removed[i]` says whether there was one of `items[i]`. Returns the number removed.
    /// The [contract](#the-contract-of-removal) holds for each.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(100);
    /// filter.insert_batch(&[1, 2, 3])?;
    /// assert_eq!(filter.remove_batch(&[1, 2], &mut [false; 2]), 2);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    pub fn remove_batch<T: Hash>(&self, items: &[T], removed: &mut [bool]) -> usize {
        self.remove_batch_by(items, removed, |item| self.hasher.hash_one(item))
    }
}

impl<S> fmt::Debug for GrowingFilter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("GrowingFilter");
        #[cfg(feature = "stats")]
        fields.field("stats", &self.stats());
        fields
            .field("len", &self.len())
            .field("segments", &self.segments().collect::<Vec<_>>())
            .field("size_in_bytes", &self.size_in_bytes())
            .field("false_positive_rate", &self.false_positive_rate())
            .finish_non_exhaustive()
    }
}
