//! The view of a map by hash, which also implements every operation on keys.

use super::{MapSteps, Mappable, Mapped, Values};
use crate::{
    InsertBatchError, InsertError,
    filter::{
        ByHash,
        by_hash::Batch,
        engine::Failed,
        outcome::{self, CountChange, check_burst, check_lengths, check_values},
    },
    table::{Answers, Hashes, MIN_BATCH},
};

#[expect(clippy::missing_errors_doc, reason = "`CuckooMap` has the documentation")]
#[expect(clippy::must_use_candidate, reason = "as in `CuckooMap`")]
impl<E: Mappable> ByHash<'_, Mapped<E>> {
    /// [`CuckooMap::insert`](crate::CuckooMap#method.insert) by hash.
    pub fn insert(self, hash: u64, value: u16) -> Result<(), InsertError> {
        self.check(value)?;
        self.store().insert(self.mix(hash), value)?;
        // mutant: map-insert-uncounted
        self.core.items.add(1);
        Ok(())
    }

    /// [`CuckooMap::get_or_insert`](crate::CuckooMap#method.get_or_insert) by hash.
    pub fn get_or_insert(self, hash: u64, value: u16) -> Result<Option<u16>, InsertError> {
        self.check(value)?;
        let found = self.store().get_or_insert(self.mix(hash), value)?;
        // mutant: map-unique-counts-always
        if found.is_none() {
            self.core.items.add(1);
        }
        Ok(found)
    }

    /// [`CuckooMap::get`](crate::CuckooMap#method.get) by hash.
    #[inline]
    #[must_use]
    pub fn get(self, hash: u64) -> Option<u16> {
        self.store().get(self.mix(hash))
    }

    /// [`CuckooMap::values`](crate::CuckooMap#method.values) by hash.
    #[must_use]
    pub fn values(self, hash: u64) -> Values {
        self.store().values(self.mix(hash))
    }

    /// [`CuckooMap::contains`](crate::CuckooMap#method.contains) by hash.
    #[inline]
    #[must_use]
    pub fn contains(self, hash: u64) -> bool {
        self.store().contains(self.mix(hash))
    }

    /// [`CuckooMap::contains_value`](crate::CuckooMap#method.contains_value) by hash.
    #[must_use]
    pub fn contains_value(self, hash: u64, value: u16) -> bool {
        self.fits(value) && self.store().contains_value(self.mix(hash), value)
    }

    /// [`CuckooMap::replace`](crate::CuckooMap#method.replace) by hash.
    pub fn replace(self, hash: u64, old: u16, new: u16) -> bool {
        self.fits(old | new) && self.store().replace(self.mix(hash), old, new)
    }

    /// [`CuckooMap::remove`](crate::CuckooMap#method.remove) by hash.
    pub fn remove(self, hash: u64, value: u16) -> bool {
        let removed = self.fits(value) && self.store().remove(self.mix(hash), value);
        // mutant: map-remove-counts-always
        if removed {
            self.core.items.add(-1);
        }
        removed
    }

    /// [`CuckooMap::count`](crate::CuckooMap#method.count) by hash.
    #[must_use]
    pub fn count(self, hash: u64) -> usize {
        self.store().count(self.mix(hash))
    }

    /// [`CuckooMap::insert_batch`](crate::CuckooMap#method.insert_batch) by hash.
    #[track_caller]
    pub fn insert_batch(self, hashes: &[u64], values: &[u16]) -> Result<(), InsertBatchError> {
        self.insert_all(hashes, values)
    }

    /// [`CuckooMap::get_batch`](crate::CuckooMap#method.get_batch) by hash.
    #[track_caller]
    pub fn get_batch(self, hashes: &[u64], values: &mut [Option<u16>]) -> usize {
        self.get_all(hashes, values)
    }

    /// [`CuckooMap::get_batch_into`](crate::CuckooMap#method.get_batch_into) by hash.
    #[track_caller]
    pub fn get_batch_into(self, hashes: &[u64], values: &mut [u16], found: &mut [bool]) -> usize {
        self.get_all_into(hashes, values, found)
    }

    /// [`CuckooMap::get_mask`](crate::CuckooMap#method.get_mask) by hash.
    #[must_use]
    #[track_caller]
    pub fn get_mask(self, hashes: &[u64], values: &mut [u16]) -> u64 {
        self.get_burst(hashes, values)
    }

    /// [`CuckooMap::contains_batch`](crate::CuckooMap#method.contains_batch) by hash.
    #[track_caller]
    pub fn contains_batch(self, hashes: &[u64], found: &mut [bool]) -> usize {
        self.contains_all(hashes, found)
    }

    /// [`CuckooMap::contains_mask`](crate::CuckooMap#method.contains_mask) by hash.
    #[must_use]
    #[track_caller]
    pub fn contains_mask(self, hashes: &[u64]) -> u64 {
        self.contains_burst(hashes)
    }

    /// [`CuckooMap::remove_batch`](crate::CuckooMap#method.remove_batch) by hash.
    #[track_caller]
    pub fn remove_batch(self, hashes: &[u64], values: &[u16], removed: &mut [bool]) -> usize {
        self.remove_all(hashes, values, removed)
    }
}

/// The operations on many keys, whose hashes are a `Batch`.
impl<E: Mappable> ByHash<'_, Mapped<E>> {
    #[track_caller]
    pub(super) fn insert_all(
        self,
        batch: impl Batch,
        values: &[u16],
    ) -> Result<(), InsertBatchError> {
        check_values(batch.at_most(), values.len());
        outcome::batch(|failed| self.insert_each(batch, values, failed)).map(drop)
    }

    /// Inserts the items, and returns the number of those that were added. Calls `failed` with the
    /// positions of the others, until it breaks.
    pub(in crate::filter) fn insert_each(
        self,
        batch: impl Batch,
        values: &[u16],
        failed: &mut Failed<'_>,
    ) -> usize {
        let mut change = CountChange::additions(&self.core.items);
        if self.takes_as_batch(values) {
            self.with(batch, |hashes| {
                self.store().insert_each(hashes, values, &mut change.items, failed);
            });
        } else {
            for (position, (hash, &value)) in batch.hashes().zip(values).enumerate() {
                let fits = self.check(value);
                match fits.and_then(|()| self.store().insert(self.mix(hash), value)) {
                    Ok(()) => change.items += 1,
                    Err(error) if failed(position, error).is_break() => break,
                    Err(_) => {}
                }
            }
        }
        change.items
    }

    #[track_caller]
    pub(super) fn get_all(self, batch: impl Batch, values: &mut [Option<u16>]) -> usize {
        check_lengths(batch.at_most(), values.len());
        self.get_each(values.len(), batch, Answers::Values(values))
    }

    #[track_caller]
    pub(super) fn get_all_into(
        self,
        batch: impl Batch,
        values: &mut [u16],
        found: &mut [bool],
    ) -> usize {
        check_values(batch.at_most(), values.len());
        check_lengths(batch.at_most(), found.len());
        self.get_each(found.len(), batch, Answers::EachWithValues(found, values))
    }

    #[track_caller]
    pub(super) fn get_burst(self, batch: impl Batch, values: &mut [u16]) -> u64 {
        let (mut mask, len) = (0, batch.at_most());
        check_burst(len);
        check_values(len, values.len());
        self.get_each(len, batch, Answers::MaskWithValues(&mut mask, values));
        mask
    }

    /// Writes which keys were found, with a value of each, and returns their number.
    fn get_each(self, len: usize, batch: impl Batch, answers: Answers<'_>) -> usize {
        let store = self.store();
        let each =
            |hashes: &mut Hashes<'_>, answers: Answers<'_>| store.get_each(len, hashes, answers);
        self.look_up(len, batch, answers, each, |mixed| store.get(mixed))
    }

    #[track_caller]
    pub(super) fn contains_all(self, batch: impl Batch, found: &mut [bool]) -> usize {
        check_lengths(batch.at_most(), found.len());
        self.contains_each(found.len(), batch, Answers::Each(found))
    }

    #[track_caller]
    pub(super) fn contains_burst(self, batch: impl Batch) -> u64 {
        let (mut mask, len) = (0, batch.at_most());
        check_burst(len);
        self.contains_each(len, batch, Answers::Mask(&mut mask));
        mask
    }

    /// Writes which keys were found, and returns their number.
    fn contains_each(self, len: usize, batch: impl Batch, answers: Answers<'_>) -> usize {
        let store = self.store();
        let each = |hashes: &mut Hashes<'_>, answers: Answers<'_>| {
            store.contains_each(len, hashes, answers)
        };
        self.look_up(len, batch, answers, each, |mixed| store.contains(mixed).then_some(0))
    }

    #[track_caller]
    pub(super) fn remove_all(
        self,
        batch: impl Batch,
        values: &[u16],
        removed: &mut [bool],
    ) -> usize {
        check_values(batch.at_most(), values.len());
        check_lengths(batch.at_most(), removed.len());
        // In case the hashing of a key panics.
        removed.fill(false);
        let mut change = CountChange::removals(&self.core.items);
        if self.takes_as_batch(values) {
            self.with(batch, |hashes| {
                self.store().remove_each(hashes, values, removed, &mut change.items);
            });
        } else {
            for ((removed, &value), hash) in removed.iter_mut().zip(values).zip(batch.hashes()) {
                *removed = self.fits(value) && self.store().remove(self.mix(hash), value);
                change.items += usize::from(*removed);
            }
        }
        change.items
    }

    pub(super) fn store(&self) -> &E::Store {
        &self.core.engine.0
    }

    /// Returns whether a value has no more bits than the values of the map.
    #[inline]
    fn fits(self, value: u16) -> bool {
        u32::from(value) >> self.store().value_bits() == 0
    }

    fn check(self, value: u16) -> Result<(), InsertError> {
        if self.fits(value) { Ok(()) } else { Err(InsertError::ValueTooLarge) }
    }

    /// Returns whether the store processes a batch with these values. It takes only values that
    /// fit; other batches, and small ones, are processed one by one.
    fn takes_as_batch(self, values: &[u16]) -> bool {
        values.len() >= MIN_BATCH && self.fits(values.iter().fold(0, |all, value| all | value))
    }
}
