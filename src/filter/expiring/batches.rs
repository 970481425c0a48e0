//! The operations on many keys that only expiring filters have.

use core::hash::BuildHasher;

use crate::{
    InsertBatchError, InsertError, InsertMask, Key,
    filter::{
        Filter,
        batch::{
            Batch, BatchValues, Outcomes, check_burst, check_lengths, insert_batch, insert_burst,
            insert_few, insert_few_of_burst,
        },
        engine::Engine,
    },
    kind::{Expiring, Growth},
    table::Answers,
};

impl<G: Growth, S: BuildHasher> Filter<Expiring, G, S> {
    /// Inserts all keys of a slice or an iterator, for the time to live or the whole window.
    /// Duplicates count. Every item is tried, whether others fail or not.
    ///
    /// The items are added in no particular order, and several of them search for room together.
    /// Each 16 of them have a generation that is current when the first of them is added. The
    /// generations are not returned, so nobody may remove the items. If the hashing of an item
    /// panics, some of the items before it may be missing.
    ///
    /// # Errors
    /// [`InsertBatchError`] lists the items that could not be inserted.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(13).build().unwrap();
    /// seen.insert_batch(&["udp", "tcp"]).unwrap();
    /// assert_eq!(seen.contains_mask(&["tcp", "sctp", "udp"]) & 0b101, 0b101);
    /// ```
    #[doc(alias = "extend")]
    pub fn insert_batch<K: Key>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), InsertBatchError> {
        let keys = keys.into_iter();
        if self.are_few(keys.size_hint().1) {
            let insert = |key| self.insert(&key).map(|_| true);
            return insert_few(&mut [], None, keys.map(insert)).map(drop);
        }
        let each = keys.map(|key| key.hash_with(&self.hasher).0).fuse();
        let insert = |outcomes: &mut Outcomes<'_>| {
            self.with(Batch { slice: None, each }, |hashes| {
                self.engine.insert_each(hashes, BatchValues::Stamps, outcomes);
            });
        };
        insert_batch(&mut [], None, insert).map(drop)
    }

    /// Inserts those of many items that have not been seen within the window: `added[i]` tells
    /// whether `keys[i]` was added. Returns the number of items added.
    ///
    /// Each item is inserted as by [`insert_unique`](Self::insert_unique), in their order, and each
    /// in the generation that is current then. Their generations are not returned, so nobody may
    /// remove them. An item that occurs twice in the batch is added once, unless it expires, or is
    /// cleared, during the call. If the hashing of an item panics, some of the items
    /// before it may not have been tried: `added` tells which were added.
    ///
    /// # Errors
    /// [`InsertBatchError`] lists the items that were not found and could not be added. `added` is
    /// `false` for them.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let builder = guira::ExpiringFilter::builder().capacity(1_000).seed(1);
    /// let seen = builder.window(1).build().unwrap();
    /// let mut added = [false; 3];
    /// assert_eq!(seen.insert_unique_batch(&[5, 6, 5], &mut added), Ok(2));
    /// assert_eq!(added, [true, true, false]);
    /// ```
    #[track_caller]
    pub fn insert_unique_batch<K: Key>(
        &self,
        keys: &[K],
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        check_lengths(keys.len(), "answers", added.len());
        self.insert_unseen_batch(keys, added, false)
    }

    /// Inserts those of up to 64 keys that have not been seen within the window, and returns the
    /// outcomes as masks.
    ///
    /// The items are processed as by [`insert_unique_batch`](Self::insert_unique_batch). Nothing is
    /// allocated unless an item's buckets are full, or the filter grows.
    ///
    /// # Panics
    /// If there are more than 64 keys.
    ///
    /// ```
    /// let builder = guira::ExpiringFilter::builder().capacity(1_000).seed(1);
    /// let seen = builder.window(1).build().unwrap();
    /// let outcome = seen.insert_unique_mask(&["udp", "tcp", "udp"]);
    /// assert_eq!((outcome.added, outcome.refused), (0b011, 0));
    /// ```
    #[track_caller]
    pub fn insert_unique_mask<K: Key>(&self, keys: &[K]) -> InsertMask {
        self.insert_unseen_mask(keys, false)
    }

    /// Inserts those of many items that are not found, and [refreshes](Self::refresh) the others:
    /// `added[i]` tells whether `keys[i]` was added. Returns the number of items added.
    ///
    /// Each item is processed as by [`insert_or_refresh`](Self::insert_or_refresh), in their order,
    /// so nobody may remove them. If the hashing of an item panics, some of the items before it may
    /// not have been tried.
    ///
    /// # Errors
    /// [`InsertBatchError`] lists the items that were not found and could not be added. `added` is
    /// `false` for them.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let builder = guira::ExpiringFilter::builder().capacity(1_000).seed(1);
    /// let live = builder.window(1).build().unwrap();
    /// let mut added = [false; 3];
    /// assert_eq!(live.insert_or_refresh_batch(&[5, 6, 5], &mut added), Ok(2));
    /// assert_eq!(added, [true, true, false]);
    /// ```
    #[track_caller]
    pub fn insert_or_refresh_batch<K: Key>(
        &self,
        keys: &[K],
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        check_lengths(keys.len(), "answers", added.len());
        self.insert_unseen_batch(keys, added, true)
    }

    /// Inserts those of up to 64 keys that are not found, and [refreshes](Self::refresh) the
    /// others. Returns the outcomes as masks.
    ///
    /// The items are processed as by [`insert_or_refresh_batch`](Self::insert_or_refresh_batch).
    /// Nothing is allocated unless an item's buckets are full, or the filter grows.
    ///
    /// # Panics
    /// If there are more than 64 keys.
    ///
    /// ```
    /// let builder = guira::ExpiringFilter::builder().capacity(1_000).seed(1);
    /// let live = builder.window(1).build().unwrap();
    /// let outcome = live.insert_or_refresh_mask(&["udp", "tcp", "udp"]);
    /// assert_eq!((outcome.added, outcome.refused), (0b011, 0));
    /// ```
    #[track_caller]
    pub fn insert_or_refresh_mask<K: Key>(&self, keys: &[K]) -> InsertMask {
        self.insert_unseen_mask(keys, true)
    }

    /// Refreshes those of up to 64 keys that are found: bit `i` tells whether `keys[i]` was
    /// found. The others are not inserted.
    ///
    /// Each item is refreshed as by [`refresh`](Self::refresh), in their order, while the cache
    /// lines of later ones are in flight. If the hashing of an item panics, some of the items
    /// before it may not be refreshed.
    ///
    /// # Panics
    /// If there are more than 64 keys.
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
    pub fn refresh_mask<K: Key>(&self, keys: &[K]) -> u64 {
        check_burst(keys.len());
        let mut mask = 0;
        if self.are_few(Some(keys.len())) {
            for (position, key) in keys.iter().enumerate() {
                mask |= u64::from(self.refresh(key)) << position;
            }
        } else {
            self.with(self.keys(keys), |hashes| {
                self.engine.refresh_each(hashes, Answers::Mask(&mut mask));
            });
        }
        mask
    }

    /// Inserts many items, or refreshes those that are visible.
    fn insert_unseen_batch<K: Key>(
        &self,
        keys: &[K],
        added: &mut [bool],
        refreshes: bool,
    ) -> Result<usize, InsertBatchError> {
        if self.are_few(Some(keys.len())) {
            return insert_few(added, None, self.insert_few_unseen(keys, refreshes));
        }
        insert_batch(added, None, |outcomes| self.insert_unseen_each(keys, outcomes, refreshes))
    }

    /// As [`insert_unseen_batch`](Self::insert_unseen_batch), for a burst.
    #[track_caller]
    fn insert_unseen_mask<K: Key>(&self, keys: &[K], refreshes: bool) -> InsertMask {
        check_burst(keys.len());
        if self.are_few(Some(keys.len())) {
            return insert_few_of_burst(None, self.insert_few_unseen(keys, refreshes));
        }
        let insert = |outcomes: &mut Outcomes<'_>| {
            self.insert_unseen_each(keys, outcomes, refreshes);
        };
        insert_burst(keys.len(), None, insert)
    }

    /// Inserts each item that is not found, and refreshes the others if the call `refreshes`.
    fn insert_unseen_each<K: Key>(&self, keys: &[K], outcomes: &mut Outcomes<'_>, refreshes: bool) {
        self.with(self.keys(keys), |hashes| {
            self.engine.insert_unseen_each(hashes, outcomes, refreshes);
        });
    }

    /// As [`insert_unseen_each`](Self::insert_unseen_each), one by one.
    #[inline]
    fn insert_few_unseen<K: Key>(
        &self,
        keys: &[K],
        refreshes: bool,
    ) -> impl Iterator<Item = Result<bool, InsertError>> {
        keys.iter().map(move |key| {
            let mixed = self.mixed(key);
            let inserted = if refreshes {
                self.engine.insert_or_refresh(mixed)
            } else {
                self.engine.insert_unseen(mixed, None)
            };
            inserted.map(|generation| generation.is_some())
        })
    }
}
