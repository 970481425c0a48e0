//! The operations of a map on keys. Each hashes its keys and hands them to the view by hash.

use core::hash::{BuildHasher, Hash};

use super::{Mappable, Mapped, Values};
use crate::{
    InsertBatchError, InsertError,
    filter::{Filter, by_hash::Each},
};

impl<E: Mappable, S: BuildHasher> Filter<Mapped<E>, S> {
    /// Inserts an item: a key with a value. Duplicates count: a key can have several values, and
    /// the same value several times.
    ///
    /// Locks and costs are those of [`insert`](crate::CuckooFilter#method.insert) in a
    /// `CuckooFilter`: no lock if one of the key's two buckets has an empty slot.
    ///
    /// # Errors
    /// - [`InsertError::ValueTooLarge`] if the value has more than
    ///   [`value_bits`](Self::value_bits) bits;
    /// - [`InsertError::Full`] if no empty slot is within reach;
    /// - [`InsertError::TooManyCopies`] if the key's two buckets hold only items of the key and its
    ///   aliases, with whatever values (in the last segment of a
    ///   [`GrowingMap`](crate::GrowingMap): if these take half of the slots), or if there are as
    ///   many of them as [`max_copies`](crate::FilterBuilder::max_copies) allows. To insert a key
    ///   at most once, use [`get_or_insert`](Self::get_or_insert).
    ///
    /// On an error the map holds the same items as before.
    ///
    /// ```
    /// let map = guira::CuckooMap::with_capacity(100);
    /// map.insert("ani", 7)?;
    /// map.insert("ani", 8)?;
    /// assert!(map.contains_value("ani", 7) && map.contains_value("ani", 8));
    /// assert_eq!(map.len(), 2);
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[doc(alias = "add")]
    pub fn insert<T: Hash + ?Sized>(&self, key: &T, value: u16) -> Result<(), InsertError> {
        self.by_hash().insert(self.hasher.hash_one(key), value)
    }

    /// Inserts an item if its key is absent: returns `Ok(None)` if it was inserted, and otherwise a
    /// value that was found for the key.
    ///
    /// If calls with the same absent key overlap, exactly one of them inserts its item, and the
    /// others return that item's value. A value that is found can be due to an alias, with the
    /// probability of a false positive. **If this returns `Ok(Some(_))`, you own no item and must
    /// not call [`remove`](crate::CuckooMap#method.remove) or [`replace`](Self::replace).**
    /// [`max_copies`] has no effect.
    ///
    /// Acquires the lock of the key's stripe. Reads two cache lines, and writes one and the stripe.
    ///
    /// [`max_copies`]: crate::FilterBuilder::max_copies
    ///
    /// # Errors
    /// [`InsertError::Full`] if the key is absent and no empty slot is within reach;
    /// [`InsertError::ValueTooLarge`] if the value has more than [`value_bits`](Self::value_bits)
    /// bits, even if the key is present.
    ///
    /// ```
    /// let workers = guira::CuckooMap::with_capacity(100);
    /// assert_eq!(workers.get_or_insert("flow 17", 3), Ok(None));
    /// assert_eq!(workers.get_or_insert("flow 17", 4), Ok(Some(3)));
    /// assert_eq!(workers.len(), 1);
    /// ```
    #[doc(alias = "insert_unique")]
    #[doc(alias = "check_and_set")]
    pub fn get_or_insert<T: Hash + ?Sized>(
        &self,
        key: &T,
        value: u16,
    ) -> Result<Option<u16>, InsertError> {
        self.by_hash().get_or_insert(self.hasher.hash_one(key), value)
    }

    /// Returns a value of a key, or `None` if the key is not in the map.
    ///
    /// If the key has several values, or an alias in the map, the value is any one of them: see
    /// [What a lookup may return](crate::CuckooMap#what-a-lookup-may-return).
    /// [`values`](Self::values) returns all.
    ///
    /// Acquires no lock and writes nothing. Reads three cache lines, as
    /// [`contains`](crate::CuckooMap#method.contains) does, and retries only for a miss. A call
    /// that returns a value happens after the insert or the replacement that it found.
    ///
    /// ```
    /// let map = guira::CuckooMap::with_capacity(100);
    /// map.insert("ani", 7)?;
    /// assert_eq!(map.get("ani"), Some(7));
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn get<T: Hash + ?Sized>(&self, key: &T) -> Option<u16> {
        self.by_hash().get(self.hasher.hash_one(key))
    }

    /// Returns all values that a key may have: its own, and those of its aliases.
    ///
    /// The value of an item that is in the map throughout the call is always among them. The order
    /// is arbitrary. A value comes once for each item that has it, and possibly once more if
    /// another thread is in the middle of moving such an item, which then occupies two slots.
    ///
    /// Acquires no lock and writes nothing. Reads three cache lines, and retries if another thread
    /// moved, replaced or removed an item of the same stripe meanwhile.
    ///
    /// ```
    /// let runs = guira::CuckooMap::with_capacity(1_000);
    /// runs.insert("ani", 7)?;
    /// runs.insert("ani", 12)?;
    /// for run in runs.values("ani") {
    ///     // Search this run of the store for the key.
    ///     assert!([7, 12].contains(&run));
    /// }
    /// assert_eq!(runs.values("ani").len(), 2);
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[must_use]
    pub fn values<T: Hash + ?Sized>(&self, key: &T) -> Values {
        self.by_hash().values(self.hasher.hash_one(key))
    }

    /// Returns whether a key is in the map, with whatever value: never `false` for one that is in
    /// it, rarely `true` for another one.
    ///
    /// Acquires no lock and writes nothing. Reads three cache lines: two buckets, whose loads
    /// overlap, and the stripe. Retries if it found no match and another thread moved, replaced or
    /// removed an item of the same stripe meanwhile. A call that returns `true` happens after the
    /// insert that it found.
    ///
    /// ```
    /// let map = guira::CuckooMap::with_capacity(100);
    /// map.insert("ani", 7)?;
    /// assert!(map.contains("ani"));
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[doc(alias = "contains_key")]
    #[inline]
    #[must_use]
    pub fn contains<T: Hash + ?Sized>(&self, key: &T) -> bool {
        self.by_hash().contains(self.hasher.hash_one(key))
    }

    /// Returns whether an item is in the map, that is, a key with this value: never `false` for one
    /// that is in it. `false` if the value does not fit.
    ///
    /// On `true`, the value is one of the key's [`values`](Self::values). Reads what
    /// [`contains`](crate::CuckooMap#method.contains) reads, and acquires no lock.
    ///
    /// ```
    /// let map = guira::CuckooMap::with_capacity(100);
    /// map.insert("ani", 7)?;
    /// assert!(map.contains_value("ani", 7) && !map.contains_value("ani", 8));
    /// assert!(!map.contains_value("ani", 999)); // more than 8 bits
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[must_use]
    pub fn contains_value<T: Hash + ?Sized>(&self, key: &T, value: u16) -> bool {
        self.by_hash().contains_value(self.hasher.hash_one(key), value)
    }

    /// Replaces the value `old` of one item with this key by `new`. Returns whether there was one.
    /// If one of the values does not fit, returns `false` and changes nothing.
    ///
    /// **Replace only what you inserted, with the value that you inserted or set last**, never with
    /// one that a lookup returned: see the
    /// [contract](crate::CuckooMap#the-contract-of-removal-and-replacement). From then on, remove
    /// or replace the item with the value `new`.
    ///
    /// The item never seems absent meanwhile: a lookup finds the old value or the new one. If
    /// replacements of one item overlap, exactly one of them returns `true`. Acquires the lock of
    /// the key's stripe. Reads two cache lines, and writes one and the stripe.
    ///
    /// ```
    /// let workers = guira::CuckooMap::with_capacity(100);
    /// workers.insert("flow 17", 3)?;
    /// assert!(workers.replace("flow 17", 3, 5));
    /// assert_eq!(workers.get("flow 17"), Some(5));
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[doc(alias = "compare_exchange")]
    #[doc(alias = "update")]
    pub fn replace<T: Hash + ?Sized>(&self, key: &T, old: u16, new: u16) -> bool {
        self.by_hash().replace(self.hasher.hash_one(key), old, new)
    }

    /// Removes one item with this key and this value. Returns whether there was one. `false` if the
    /// value does not fit.
    ///
    /// **Remove only what you inserted, with the value that you inserted or set last**, once, and
    /// never with one that a lookup returned. Any other removal can take the only item of another
    /// key: see the [contract](crate::CuckooMap#the-contract-of-removal-and-replacement).
    ///
    /// If removals of one item overlap, exactly one of them returns `true`. Acquires the lock of
    /// the key's stripe. Reads two cache lines, and writes one and the stripe.
    ///
    /// ```
    /// let map = guira::CuckooMap::with_capacity(100);
    /// map.insert("ani", 7)?;
    /// assert!(map.remove("ani", 7));
    /// assert!(map.is_empty());
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[doc(alias = "delete")]
    pub fn remove<T: Hash + ?Sized>(&self, key: &T, value: u16) -> bool {
        self.by_hash().remove(self.hasher.hash_one(key), value)
    }

    /// Counts the items of a key, whatever their values, including items of its aliases.
    ///
    /// The count is exact at one moment during the call, even if items are relocated meanwhile.
    /// Acquires the lock of the key's stripe.
    ///
    /// ```
    /// let map = guira::CuckooMap::with_capacity(100);
    /// map.insert("ani", 7)?;
    /// map.insert("ani", 8)?;
    /// assert_eq!(map.count("ani"), 2);
    /// # Ok::<(), guira::InsertError>(())
    /// ```
    #[must_use]
    pub fn count<T: Hash + ?Sized>(&self, key: &T) -> usize {
        self.by_hash().count(self.hasher.hash_one(key))
    }

    /// Inserts many items: `keys[i]` with `values[i]`. Duplicates count. Every item is tried.
    ///
    /// The items are added in no particular order. If the hashing of a key panics, some of the
    /// items before it may be missing. A batch with a value that does not fit takes longer: its
    /// items are inserted one by one.
    ///
    /// # Errors
    /// [`InsertBatchError`] if some items could not be inserted, for example because their values
    /// do not fit. It lists their positions, with the reasons. All other items are in the map,
    /// unless the list itself [ran out of memory](InsertBatchError).
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// use guira::{CuckooMap, InsertError};
    ///
    /// let map = CuckooMap::with_capacity(100);
    /// let error = map.insert_batch(&["ani", "guira", "tyto"], &[7, 300, 9]).unwrap_err();
    /// assert_eq!(error.added(), 2);
    /// assert!(error.failures().eq([(1, InsertError::ValueTooLarge)]));
    /// ```
    #[track_caller]
    pub fn insert_batch<T: Hash>(
        &self,
        keys: &[T],
        values: &[u16],
    ) -> Result<(), InsertBatchError> {
        self.by_hash().insert_all(Each(self.hashes_of(keys)), values)
    }

    /// Looks up many keys: `values[i]` becomes a value of `keys[i]`, or `None`. Returns the number
    /// of keys found.
    ///
    /// Each lookup takes effect on its own, as [`get`](Self::get) does, and in any order: the batch
    /// is no snapshot. Nothing is allocated, so this also serves bursts of
    /// packets.
    ///
    /// The cache lines of dozens of keys are in flight at once. Fewer than 6 keys are looked up one
    /// by one.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let workers = guira::CuckooMap::builder().capacity(100_000).seed(1).build()?;
    /// workers.insert_batch(&["flow 1", "flow 2"], &[3, 4]).unwrap();
    /// let mut values = [None; 3];
    /// assert_eq!(workers.get_batch(&["flow 2", "flow 3", "flow 1"], &mut values), 2);
    /// assert_eq!(values, [Some(4), None, Some(3)]);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[track_caller]
    pub fn get_batch<T: Hash>(&self, keys: &[T], values: &mut [Option<u16>]) -> usize {
        self.by_hash().get_all(Each(self.hashes_of(keys)), values)
    }

    /// Looks up many keys, with the answers in two slices: `found[i]` tells whether `keys[i]` is in
    /// the map, and `values[i]` becomes a value of it, or 0. Returns the number of keys found.
    ///
    /// The lookups are those of [`get_batch`](Self::get_batch). Use this method if later code takes
    /// the values as a slice, such as code in vector registers or in another language.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let workers = guira::CuckooMap::builder().capacity(100_000).seed(1).build()?;
    /// workers.insert_batch(&["flow 1", "flow 2"], &[3, 4]).unwrap();
    /// let (mut values, mut found) = ([0; 3], [false; 3]);
    /// workers.get_batch_into(&["flow 2", "flow 3", "flow 1"], &mut values, &mut found);
    /// assert_eq!((values, found), ([4, 0, 3], [true, false, true]));
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[track_caller]
    pub fn get_batch_into<T: Hash>(
        &self,
        keys: &[T],
        values: &mut [u16],
        found: &mut [bool],
    ) -> usize {
        self.by_hash().get_all_into(Each(self.hashes_of(keys)), values, found)
    }

    /// Looks up a burst of up to 64 keys and their values: bit `i` tells whether `keys[i]` is in
    /// the map, and `values[i]` becomes a value of it, or 0.
    ///
    /// The lookups are those of [`get_batch`](Self::get_batch).
    ///
    /// # Panics
    /// If there are more than 64 keys, or if the slices differ in length.
    ///
    /// ```
    /// let workers = guira::CuckooMap::builder().capacity(100_000).seed(1).build()?;
    /// workers.insert_batch(&["flow 1", "flow 2"], &[3, 4]).unwrap();
    /// let mut values = [0; 3];
    /// assert_eq!(workers.get_mask(&["flow 2", "flow 3", "flow 1"], &mut values), 0b101);
    /// assert_eq!(values, [4, 0, 3]);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn get_mask<T: Hash>(&self, keys: &[T], values: &mut [u16]) -> u64 {
        self.by_hash().get_burst(Each(self.hashes_of(keys)), values)
    }

    /// Looks up many keys: `found[i]` tells whether `keys[i]` is in the map, with whatever value.
    /// Returns the number of keys found.
    ///
    /// Each lookup takes effect on its own, in any order, as in [`get_batch`](Self::get_batch).
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let map = guira::CuckooMap::with_capacity(100);
    /// map.insert_batch(&[1, 2, 3], &[7, 8, 9])?;
    /// let mut found = [false; 2];
    /// assert_eq!(map.contains_batch(&[2, 3], &mut found), 2);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[track_caller]
    pub fn contains_batch<T: Hash>(&self, keys: &[T], found: &mut [bool]) -> usize {
        self.by_hash().contains_all(Each(self.hashes_of(keys)), found)
    }

    /// Looks up a burst of up to 64 keys: bit `i` tells whether `keys[i]` is in the map, with
    /// whatever value.
    ///
    /// The lookups are those of [`contains_batch`](crate::CuckooMap#method.contains_batch).
    ///
    /// # Panics
    /// If there are more than 64 keys.
    ///
    /// ```
    /// let map = guira::CuckooMap::builder().capacity(100_000).seed(1).build()?;
    /// map.insert_batch(&["udp", "tcp"], &[7, 8]).unwrap();
    /// assert_eq!(map.contains_mask(&["tcp", "sctp", "udp"]), 0b101);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn contains_mask<T: Hash>(&self, keys: &[T]) -> u64 {
        self.by_hash().contains_burst(Each(self.hashes_of(keys)))
    }

    /// Removes one item of each of many keys: `removed[i]` tells whether there was one with
    /// `keys[i]` and `values[i]`. Returns the number of items removed.
    ///
    /// The [contract](crate::CuckooMap#the-contract-of-removal-and-replacement) of
    /// [`remove`](crate::CuckooMap#method.remove) holds for each item. Nothing is allocated. If the
    /// hashing of a key panics, `removed` tells which items were removed.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let map = guira::CuckooMap::with_capacity(100);
    /// map.insert_batch(&[1, 2, 3], &[7, 8, 9])?;
    /// assert_eq!(map.remove_batch(&[1, 2], &[7, 8], &mut [false; 2]), 2);
    /// assert_eq!(map.len(), 1);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[track_caller]
    pub fn remove_batch<T: Hash>(&self, keys: &[T], values: &[u16], removed: &mut [bool]) -> usize {
        self.by_hash().remove_all(Each(self.hashes_of(keys)), values, removed)
    }

    #[inline]
    fn hashes_of<T: Hash>(&self, keys: &[T]) -> impl ExactSizeIterator<Item = u64> {
        keys.iter().map(|key| self.hasher.hash_one(key))
    }
}
