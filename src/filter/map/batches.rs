//! The operations on many keys that only maps have.

use core::hash::BuildHasher;

use crate::{
    InsertBatchError, Key,
    filter::{
        Filter,
        batch::{
            BatchValues, CountChange, Outcomes, check_burst, check_lengths, insert_batch,
            insert_few,
        },
        engine::Engine,
    },
    kind::{Growth, Map},
    table::Answers,
};

impl<G: Growth, S: BuildHasher> Filter<Map, G, S> {
    /// Inserts many items: `keys[i]` with `values[i]`. Duplicates count. Every item is tried.
    ///
    /// The items are added in no particular order. If the hashing of a key panics, some of the
    /// items before it may be missing. A batch with a value that does not fit takes longer: its
    /// items are inserted one by one.
    ///
    /// # Errors
    /// [`InsertBatchError`] lists the items that could not be inserted, for example because their
    /// values do not fit.
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
    #[doc(alias = "extend")]
    #[track_caller]
    pub fn insert_batch<K: Key>(&self, keys: &[K], values: &[u16]) -> Result<(), InsertBatchError> {
        check_lengths(keys.len(), "values", values.len());
        if !self.takes_as_batch(values) {
            let each = keys.iter().zip(values).map(|(key, &value)| {
                self.check(value)?;
                self.engine.insert(self.mixed(key), value).map(|()| true)
            });
            return insert_few(&mut [], Some(&self.items), each).map(drop);
        }
        let insert = |outcomes: &mut Outcomes<'_>| {
            self.with(self.keys(keys), |hashes| {
                self.engine.insert_each(hashes, BatchValues::Each(values), outcomes);
            });
        };
        insert_batch(&mut [], Some(&self.items), insert).map(drop)
    }

    /// Looks up many keys: `values[i]` becomes a value of `keys[i]`, or `None`. Returns the number
    /// of keys found.
    ///
    /// Each lookup takes effect on its own, as [`get`](Self::get) does, and in any order: the batch
    /// is no snapshot. Nothing is allocated. The cache lines of dozens of keys are in flight at
    /// once; a few keys are looked up one by one.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// ```
    /// let workers = guira::CuckooMap::builder().capacity(100_000).seed(1).build().unwrap();
    /// workers.insert_batch(&["flow 1", "flow 2"], &[3, 4]).unwrap();
    /// let mut values = [None; 3];
    /// assert_eq!(workers.get_batch(&["flow 2", "flow 3", "flow 1"], &mut values), 2);
    /// assert_eq!(values, [Some(4), None, Some(3)]);
    /// ```
    #[track_caller]
    pub fn get_batch<K: Key>(&self, keys: &[K], values: &mut [Option<u16>]) -> usize {
        check_lengths(keys.len(), "answers", values.len());
        self.get_each(keys, Answers::Values(values))
    }

    /// Looks up a burst of up to 64 keys and their values, as [`get_batch`](Self::get_batch) does:
    /// bit `i` tells whether `keys[i]` is in the map, and `values[i]` becomes a value of it, or 0.
    ///
    /// # Panics
    /// If there are more than 64 keys, or if the slices differ in length.
    ///
    /// ```
    /// let workers = guira::CuckooMap::builder().capacity(100_000).seed(1).build().unwrap();
    /// workers.insert_batch(&["flow 1", "flow 2"], &[3, 4]).unwrap();
    /// let mut values = [0; 3];
    /// assert_eq!(workers.get_mask(&["flow 2", "flow 3", "flow 1"], &mut values), 0b101);
    /// assert_eq!(values, [4, 0, 3]);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn get_mask<K: Key>(&self, keys: &[K], values: &mut [u16]) -> u64 {
        check_burst(keys.len());
        check_lengths(keys.len(), "values", values.len());
        let mut mask = 0;
        self.get_each(keys, Answers::MaskWithValues(&mut mask, values));
        mask
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
    /// map.insert_batch(&[1, 2, 3], &[7, 8, 9]).unwrap();
    /// assert_eq!(map.remove_batch(&[1, 2], &[7, 8], &mut [false; 2]), 2);
    /// assert_eq!(map.len(), 1);
    /// ```
    #[track_caller]
    pub fn remove_batch<K: Key>(&self, keys: &[K], values: &[u16], removed: &mut [bool]) -> usize {
        check_lengths(keys.len(), "values", values.len());
        check_lengths(keys.len(), "answers", removed.len());
        // In case the hashing of a key panics.
        removed.fill(false);
        if !self.takes_as_batch(values) {
            let mut count = 0;
            for ((removed, &value), key) in removed.iter_mut().zip(values).zip(keys) {
                *removed = self.remove(key, value);
                count += usize::from(*removed);
            }
            return count;
        }
        let mut change = CountChange { counter: Some(&self.items), sign: -1, items: 0 };
        self.with(self.keys(keys), |hashes| {
            let values = BatchValues::Each(values);
            self.engine.remove_each(hashes, values, removed, &mut change.items);
        });
        change.items
    }

    /// Looks up the values of keys, and returns the number of keys that were found.
    fn get_each<K: Key>(&self, keys: &[K], mut answers: Answers<'_>) -> usize {
        let (many, few) = self.lookups(keys);
        let mut count = 0;
        if !many.is_empty() {
            let answers = answers.reborrow();
            count = self.with(self.keys(many), |hashes| self.engine.get_each(hashes, answers));
        }
        for (position, key) in (many.len()..).zip(few) {
            let found = self.get(key);
            answers.set(position, found);
            count += usize::from(found.is_some());
        }
        count
    }

    /// Returns whether a batch with these values is large, and all values fit.
    fn takes_as_batch(&self, values: &[u16]) -> bool {
        !self.are_few(Some(values.len()))
            && self.fits(values.iter().fold(0, |all, value| all | value))
    }
}
