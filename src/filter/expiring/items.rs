//! The operations of an expiring filter on items. Each hashes its items and hands them to the view
//! by hash.

use core::hash::{BuildHasher, Hash};

use super::Expiring;
use crate::{
    InsertBatchError, InsertError, InsertMask,
    filter::{Filter, by_hash::Each},
};

impl<S: BuildHasher> Filter<Expiring, S> {
    /// Inserts an item, for the whole window. Returns its generation, which
    /// [`remove`](Self::remove) takes. Duplicates count.
    ///
    /// Acquires no lock if one of the item's two buckets has an empty slot. Otherwise, frees what
    /// has expired in one of the two, under the lock of the item's stripe. If nothing has expired
    /// in either bucket, it relocates other items, which concurrent lookups do not notice.
    ///
    /// Inserting an item again does not replace its former copies, which take room until they
    /// expire: use [`refresh`](Self::refresh) or [`insert_unique`](Self::insert_unique) for items
    /// that come often.
    ///
    /// # Errors
    /// - [`InsertError::Full`] if no slot within reach is empty or has expired;
    /// - [`InsertError::TooManyCopies`] if the item's two buckets hold only copies of it and its
    ///   aliases that have not expired.
    ///
    /// On an error the filter holds the same items as before.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::with_capacity(1_000);
    /// let generation = seen.insert("nonce")?;
    /// assert!(seen.contains("nonce"));
    /// assert!(seen.remove("nonce", generation));
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[doc(alias = "add")]
    pub fn insert<T: Hash + ?Sized>(&self, item: &T) -> Result<u64, InsertError> {
        self.by_hash().insert(self.hasher.hash_one(item))
    }

    /// Inserts an item for a shorter life: for this many generations after the present one, from 1
    /// up to the [`window`](Self::window). Returns the generation that [`remove`](Self::remove)
    /// takes.
    ///
    /// The item is as old as if it had been inserted earlier, so the generation that is returned is
    /// a past one: `generation() - (window() - generations)`. The [promise](crate::ExpiringFilter)
    /// of the type holds for it. If [`tick`](Self::tick) begins all generations, and the clock is
    /// not set forward, the item is found for at least this many intervals. The costs are those of
    /// [`insert`](Self::insert), which does the same for the whole window.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and [`InsertError::InvalidLife`] for any other number of
    /// generations.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(5).seed(1).build()?;
    /// seen.insert_for("short-lived", 1).unwrap();
    /// seen.insert("nonce").unwrap();
    /// seen.advance();
    /// assert!(seen.contains("short-lived") && seen.contains("nonce"));
    /// seen.advance();
    /// assert!(!seen.contains("short-lived") && seen.contains("nonce"));
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn insert_for<T: Hash + ?Sized>(
        &self,
        item: &T,
        generations: u32,
    ) -> Result<u64, InsertError> {
        self.by_hash().insert_for(self.hasher.hash_one(item), generations)
    }

    /// Inserts an item if it has not been seen within the window. Returns its generation if it was
    /// inserted, and `Ok(None)` if it was found.
    ///
    /// This is the operation of a filter for duplicates, or against replays. If calls with the same
    /// item overlap, at most one of them inserts it, until that insert expires, or is removed,
    /// cleared, or evicted. An item that is found is not refreshed: it is forgotten a window after
    /// the insert. `Ok(None)` can be due to an alias, with the probability of a false positive.
    /// **If this returns `Ok(None)`, you own no copy and must not call [`remove`](Self::remove).**
    ///
    /// Acquires the lock of the item's stripe. Reads two cache lines, and writes one and the
    /// stripe.
    ///
    /// # Errors
    /// [`InsertError::Full`] if the item was not found, and no slot within reach is empty or has
    /// expired. In a full filter, the call still returns `Ok(None)` for an item that is found.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(1).build()?;
    /// assert!(seen.insert_unique("nonce").unwrap().is_some());
    /// assert!(seen.insert_unique("nonce").unwrap().is_none()); // a replay
    /// seen.advance();
    /// seen.advance();
    /// assert!(seen.insert_unique("nonce").unwrap().is_some());
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[doc(alias = "check_and_set")]
    #[doc(alias = "test_and_add")]
    pub fn insert_unique<T: Hash + ?Sized>(&self, item: &T) -> Result<Option<u64>, InsertError> {
        self.by_hash().insert_unique(self.hasher.hash_one(item))
    }

    /// Inserts an item even if the filter is full: then it replaces the oldest item in the two
    /// buckets. Returns whether an item was replaced that had not expired.
    ///
    /// The item that is replaced is at least as old as every item that stays in one of the two
    /// buckets throughout the call, and is not relocated between them. If the call returns `false`,
    /// no item was forgotten early. Both hold beside any other calls.
    ///
    /// Use it where it is better to forget an old item early than to refuse a new one. **The
    /// promise that an item is found for a window no longer holds in a filter on which this is
    /// called, and nobody may [`remove`](Self::remove) anything from it**: the item may be gone,
    /// and an alias of it would lose its copy. It also inserts an item that is already present. So
    /// if several threads call it after [`insert_unique`](Self::insert_unique) was refused, each of
    /// them inserts the item.
    ///
    /// First tries to insert the item as [`insert`](Self::insert) does, with its search for room:
    /// in a full filter, this takes most of the time. Then acquires the lock of the stripe of the
    /// item that it replaces.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::with_capacity(100);
    /// let replaced = (0..1_000).filter(|key| seen.insert_evicting(key)).count();
    /// assert_eq!(seen.len(), 1_000 - replaced);
    /// assert!(seen.contains(&999));
    /// ```
    #[doc(alias = "force_insert")]
    pub fn insert_evicting<T: Hash + ?Sized>(&self, item: &T) -> bool {
        self.by_hash().insert_evicting(self.hasher.hash_one(item))
    }

    /// Returns whether the item was inserted within the window: never `false` for an item that is
    /// young enough, rarely `true` for another one.
    ///
    /// Acquires no lock and writes nothing. Reads three cache lines, as lookups in a
    /// [`CuckooFilter`](crate::CuckooFilter) do, and the clock. Retries if it found no match, and
    /// another thread cleared a slot of the same stripe or began a generation meanwhile. A call
    /// that returns `true` happens after the insert that it found.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::with_capacity(1_000);
    /// seen.insert("nonce").unwrap();
    /// assert!(seen.contains("nonce"));
    /// ```
    #[doc(alias = "might_contain")]
    #[doc(alias = "lookup")]
    #[inline]
    #[must_use]
    pub fn contains<T: Hash + ?Sized>(&self, item: &T) -> bool {
        self.by_hash().contains(self.hasher.hash_one(item))
    }

    /// Makes an item as young as if it were inserted now, if it is found. Returns whether it was
    /// found.
    ///
    /// The item is found for a whole window from now on, even if it was inserted for a shorter
    /// life. Of several copies (its own, or those of its aliases), the oldest is refreshed.
    /// Refreshing a younger one could take the copy of an alias, and the older copy that is left
    /// would not last long enough for that alias. **Nobody may [`remove`](Self::remove) an item
    /// that is refreshed: it is left to expire.** `true` can be due to an alias: then this item is
    /// found only as long as the alias's copy stays.
    ///
    /// Acquires the lock of the item's stripe. Reads two cache lines. Writes the stripe, and one of
    /// the lines unless the copy is of this generation. Lookups find the item meanwhile.
    ///
    /// To insert an item that is absent and refresh one that is present:
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(1).build()?;
    /// let touch = |key: &str| seen.refresh(key) || seen.insert(key).is_ok();
    /// for _ in 0..5 {
    ///     assert!(touch("session"));
    ///     seen.advance();
    /// }
    /// assert!(seen.contains("session") && seen.len() == 1);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[doc(alias = "touch")]
    pub fn refresh<T: Hash + ?Sized>(&self, item: &T) -> bool {
        self.by_hash().refresh(self.hasher.hash_one(item))
    }

    /// Removes one copy of an item that was inserted in `generation`, before it expires. Returns
    /// whether there was one.
    ///
    /// **Remove only what you inserted, with the generation that the insert returned, once, and
    /// after it returned.** Any other removal can take the copy of another item: see the
    /// [contract](crate::ExpiringFilter#the-contract-of-removal). Returns `false`, and removes
    /// nothing, if the item has expired.
    ///
    /// Each copy is removed at most once. (A second removal could take the copy of an alias.)
    /// Acquires the lock of
    /// the item's stripe. Reads two cache lines, and writes one and the stripe.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(1).build()?;
    /// let generation = seen.insert("nonce").unwrap();
    /// assert!(seen.remove("nonce", generation));
    /// let generation = seen.insert("nonce").unwrap();
    /// seen.advance();
    /// seen.advance();
    /// assert!(!seen.remove("nonce", generation)); // it has expired
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[doc(alias = "delete")]
    pub fn remove<T: Hash + ?Sized>(&self, item: &T, generation: u64) -> bool {
        self.by_hash().remove(self.hasher.hash_one(item), generation)
    }

    /// Counts the copies of an item that have not expired, including copies of its aliases.
    ///
    /// The count is exact at one moment during the call, even if items are relocated meanwhile.
    /// Acquires the lock of the item's stripe.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(1).build()?;
    /// seen.insert("nonce").unwrap();
    /// seen.advance();
    /// seen.insert("nonce").unwrap();
    /// assert_eq!(seen.count("nonce"), 2);
    /// seen.advance();
    /// assert_eq!(seen.count("nonce"), 1);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[must_use]
    pub fn count<T: Hash + ?Sized>(&self, item: &T) -> usize {
        self.by_hash().count(self.hasher.hash_one(item))
    }

    /// Inserts many items, for the whole window. Returns their generation, which is current at some
    /// moment of the call, before the first item is added. Duplicates count. Every item is tried,
    /// whether others fail or not.
    ///
    /// All items have the same generation, even if the call overlaps an [`advance`](Self::advance).
    /// So keep a batch shorter than a generation: what is added after its generation has expired
    /// may not be found, or may be found later, for another window. The items are added in no
    /// particular order, and several of them search for room together. If the hashing of an item
    /// panics, some of the items before it may be missing.
    ///
    /// # Errors
    /// [`InsertBatchError`] if some items could not be inserted. It lists their positions. All
    /// other items are in the filter until they expire, unless the list itself
    /// [ran out of memory](InsertBatchError). The error does not tell their generation, so nobody
    /// may remove them.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::with_capacity(1_000);
    /// let generation = seen.insert_batch(&["udp", "tcp"])?;
    /// assert!(seen.remove("tcp", generation));
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    pub fn insert_batch<T: Hash>(&self, items: &[T]) -> Result<u64, InsertBatchError> {
        self.by_hash().insert_all(Each(self.item_hashes(items)))
    }

    /// Inserts those of many items that have not been seen within the window: `added[i]` tells
    /// whether `items[i]` was added. Returns the number of items added.
    ///
    /// Each item is inserted as by [`insert_unique`](Self::insert_unique), in their order, and each
    /// in the generation that is current then. Their generations are not returned, so nobody may
    /// remove them. An item that occurs twice in the
    /// batch is added at most once, unless the window passes, or it is cleared or
    /// evicted, during the call.
    ///
    /// If the hashing of an item panics, some of the items before it may not have been tried.
    /// `added` tells which items were added.
    ///
    /// # Errors
    /// [`InsertBatchError`] if some items were not found and could not be added. It lists their
    /// positions, where `added` is `false`. All other items were tried, unless the list itself
    /// [ran out of memory](InsertBatchError).
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).seed(1).build()?;
    /// let mut added = [false; 3];
    /// assert_eq!(seen.insert_unique_batch(&[5, 6, 5], &mut added), Ok(2));
    /// assert_eq!(added, [true, true, false]);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[track_caller]
    pub fn insert_unique_batch<T: Hash>(
        &self,
        items: &[T],
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        self.by_hash().insert_unique_all(Each(self.item_hashes(items)), added)
    }

    /// Looks up many items: `found[i]` tells whether `items[i]` was inserted within the window.
    /// Returns the number of items found.
    ///
    /// Each lookup takes effect on its own, as [`contains`](Self::contains) does: the batch is no
    /// snapshot, and different items may be looked up in different generations. In a table beyond
    /// the caches, the cache lines of dozens of items are in flight at once.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::with_capacity(1_000);
    /// seen.insert_batch(&[1, 2, 3])?;
    /// let mut found = [false; 2];
    /// assert_eq!(seen.contains_batch(&[2, 3], &mut found), 2);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[track_caller]
    pub fn contains_batch<T: Hash>(&self, items: &[T], found: &mut [bool]) -> usize {
        self.by_hash().contains_all(Each(self.item_hashes(items)), found)
    }

    /// Inserts those of up to 64 items that have not been seen within the window, and returns the
    /// outcomes as masks.
    ///
    /// The items are processed as by [`insert_unique_batch`](Self::insert_unique_batch). Nothing is
    /// allocated unless an item's buckets are full.
    ///
    /// # Panics
    /// If there are more than 64 items.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).seed(1).build()?;
    /// let outcome = seen.insert_unique_mask(&["udp", "tcp", "udp"]);
    /// assert_eq!((outcome.added, outcome.refused), (0b011, 0));
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[track_caller]
    pub fn insert_unique_mask<T: Hash>(&self, items: &[T]) -> InsertMask {
        self.by_hash().insert_unique_burst(Each(self.item_hashes(items)))
    }

    /// Looks up a burst of up to 64 items: bit `i` tells whether `items[i]` was inserted within the
    /// window.
    ///
    /// The lookups are those of [`contains_batch`](Self::contains_batch).
    ///
    /// # Panics
    /// If there are more than 64 items.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).seed(1).build()?;
    /// seen.insert_batch(&["udp", "tcp"]).unwrap();
    /// assert_eq!(seen.contains_mask(&["tcp", "sctp", "udp"]), 0b101);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn contains_mask<T: Hash>(&self, items: &[T]) -> u64 {
        self.by_hash().contains_burst(Each(self.item_hashes(items)))
    }

    /// Refreshes those of up to 64 items that are found: bit `i` tells whether `items[i]` was
    /// found. The others are not inserted: the caller may do so.
    ///
    /// Each item is refreshed as by [`refresh`](Self::refresh), in their order, while the cache
    /// lines of later ones are in flight. If the hashing of an item panics, some of the items
    /// before it may not be refreshed.
    ///
    /// # Panics
    /// If there are more than 64 items.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(1).seed(1).build()?;
    /// seen.insert_batch(&["udp", "tcp"]).unwrap();
    /// seen.advance();
    /// assert_eq!(seen.refresh_mask(&["tcp", "sctp"]), 0b01);
    /// seen.advance();
    /// assert_eq!(seen.contains_mask(&["tcp", "sctp", "udp"]), 0b001);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn refresh_mask<T: Hash>(&self, items: &[T]) -> u64 {
        self.by_hash().refresh_burst(Each(self.item_hashes(items)))
    }

    #[inline]
    fn item_hashes<T: Hash>(&self, items: &[T]) -> impl ExactSizeIterator<Item = u64> {
        items.iter().map(|item| self.hasher.hash_one(item))
    }
}
