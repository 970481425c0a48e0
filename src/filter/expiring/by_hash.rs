//! The view of an expiring filter by hash, which also implements every operation on items.

use super::Expiring;
use crate::{
    InsertBatchError, InsertError, InsertMask,
    filter::{
        ByHash,
        by_hash::Batch,
        engine::Failed,
        outcome::{self, check_burst, check_lengths, unique_batch, unique_burst},
    },
    table::{Answers, Hashes, MIN_BATCH},
};

#[expect(clippy::missing_errors_doc, reason = "`ExpiringFilter` has the documentation")]
#[expect(clippy::must_use_candidate, reason = "as in `ExpiringFilter`")]
impl ByHash<'_, Expiring> {
    /// [`ExpiringFilter::insert`](crate::ExpiringFilter#method.insert) by hash.
    pub fn insert(self, hash: u64) -> Result<u64, InsertError> {
        let engine = self.expiring();
        engine.insert_for(self.mix(hash), engine.window())
    }

    /// [`ExpiringFilter::insert_for`](crate::ExpiringFilter#method.insert_for) by hash.
    pub fn insert_for(self, hash: u64, generations: u32) -> Result<u64, InsertError> {
        let engine = self.expiring();
        if !(1..=engine.window()).contains(&generations) {
            return Err(InsertError::InvalidLife);
        }
        engine.insert_for(self.mix(hash), generations)
    }

    /// [`ExpiringFilter::insert_unique`](crate::ExpiringFilter#method.insert_unique) by hash.
    pub fn insert_unique(self, hash: u64) -> Result<Option<u64>, InsertError> {
        self.expiring().insert_unique(self.mix(hash))
    }

    /// [`ExpiringFilter::insert_evicting`](crate::ExpiringFilter#method.insert_evicting) by hash.
    pub fn insert_evicting(self, hash: u64) -> bool {
        self.expiring().insert_evicting(self.mix(hash))
    }

    /// [`ExpiringFilter::contains`](crate::ExpiringFilter#method.contains) by hash.
    #[inline]
    #[must_use]
    pub fn contains(self, hash: u64) -> bool {
        self.expiring().contains(self.mix(hash))
    }

    /// [`ExpiringFilter::refresh`](crate::ExpiringFilter#method.refresh) by hash.
    pub fn refresh(self, hash: u64) -> bool {
        self.expiring().refresh(self.mix(hash))
    }

    /// [`ExpiringFilter::remove`](crate::ExpiringFilter#method.remove) by hash.
    pub fn remove(self, hash: u64, generation: u64) -> bool {
        self.expiring().remove(self.mix(hash), generation)
    }

    /// [`ExpiringFilter::count`](crate::ExpiringFilter#method.count) by hash.
    #[must_use]
    pub fn count(self, hash: u64) -> usize {
        self.expiring().count(self.mix(hash))
    }

    /// [`ExpiringFilter::insert_batch`](crate::ExpiringFilter#method.insert_batch) by hash.
    pub fn insert_batch(self, hashes: &[u64]) -> Result<u64, InsertBatchError> {
        self.insert_all(hashes)
    }

    /// [`ExpiringFilter::insert_unique_batch`](crate::ExpiringFilter#method.insert_unique_batch) by
    /// hash.
    #[track_caller]
    pub fn insert_unique_batch(
        self,
        hashes: &[u64],
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        self.insert_unique_all(hashes, added)
    }

    /// [`ExpiringFilter::contains_batch`](crate::ExpiringFilter#method.contains_batch) by hash.
    #[track_caller]
    pub fn contains_batch(self, hashes: &[u64], found: &mut [bool]) -> usize {
        self.contains_all(hashes, found)
    }

    /// [`ExpiringFilter::insert_unique_mask`](crate::ExpiringFilter#method.insert_unique_mask) by
    /// hash.
    #[track_caller]
    pub fn insert_unique_mask(self, hashes: &[u64]) -> InsertMask {
        self.insert_unique_burst(hashes)
    }

    /// [`ExpiringFilter::contains_mask`](crate::ExpiringFilter#method.contains_mask) by hash.
    #[must_use]
    #[track_caller]
    pub fn contains_mask(self, hashes: &[u64]) -> u64 {
        self.contains_burst(hashes)
    }

    /// [`ExpiringFilter::refresh_mask`](crate::ExpiringFilter#method.refresh_mask) by hash.
    #[must_use]
    #[track_caller]
    pub fn refresh_mask(self, hashes: &[u64]) -> u64 {
        self.refresh_burst(hashes)
    }
}

/// The operations on many items, whose hashes are a `Batch`.
impl ByHash<'_, Expiring> {
    pub(super) fn insert_all(self, batch: impl Batch) -> Result<u64, InsertBatchError> {
        let generation = self.expiring().generation();
        outcome::batch(|failed| self.insert_each_at(batch, generation, failed)).map(|_| generation)
    }

    /// Inserts the items with the stamp of a generation that the caller has read. Returns the
    /// number of those that were added, and calls `failed` with the positions of the others, until
    /// it breaks.
    pub(in crate::filter) fn insert_each_at(
        self,
        batch: impl Batch,
        generation: u64,
        failed: &mut Failed<'_>,
    ) -> usize {
        let (engine, mut count) = (self.expiring(), 0);
        if batch.at_most() < MIN_BATCH {
            for (position, hash) in batch.hashes().enumerate() {
                match engine.insert_at(self.mix(hash), generation) {
                    Ok(()) => count += 1,
                    Err(error) if failed(position, error).is_break() => break,
                    Err(_) => {}
                }
            }
        } else {
            self.with(batch, |hashes| engine.insert_each(hashes, generation, &mut count, failed));
        }
        count
    }

    #[track_caller]
    pub(super) fn insert_unique_all(
        self,
        batch: impl Batch,
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        unique_batch(batch.at_most(), added, |added, failed| {
            self.insert_unique_each(batch, added, failed);
            added.iter().filter(|&&added| added).count()
        })
    }

    #[track_caller]
    pub(super) fn insert_unique_burst(self, batch: impl Batch) -> InsertMask {
        unique_burst(batch.at_most(), |added, failed| self.insert_unique_each(batch, added, failed))
    }

    /// Writes which items were added, and calls `failed` with the positions of those that failed,
    /// until it breaks.
    pub(in crate::filter) fn insert_unique_each(
        self,
        batch: impl Batch,
        added: &mut [bool],
        failed: &mut Failed<'_>,
    ) {
        let engine = self.expiring();
        if added.len() >= MIN_BATCH {
            return self.with(batch, |hashes| engine.insert_unique_each(hashes, added, failed));
        }
        for (position, hash) in batch.hashes().enumerate() {
            match engine.insert_unique(self.mix(hash)) {
                Ok(generation) => added[position] = generation.is_some(),
                Err(error) if failed(position, error).is_break() => break,
                Err(_) => {}
            }
        }
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

    #[track_caller]
    pub(super) fn refresh_burst(self, batch: impl Batch) -> u64 {
        let (mut mask, len, engine) = (0, batch.at_most(), self.expiring());
        check_burst(len);
        let each =
            |hashes: &mut Hashes<'_>, answers: Answers<'_>| engine.refresh_each(hashes, answers);
        let one = |mixed| engine.refresh(mixed).then_some(0);
        self.look_up(len, batch, Answers::Mask(&mut mask), each, one);
        mask
    }

    /// Writes which items were found, and returns their number.
    fn contains_each(self, len: usize, batch: impl Batch, answers: Answers<'_>) -> usize {
        let engine = self.expiring();
        let each =
            |hashes: &mut Hashes<'_>, answers: Answers<'_>| engine.contains_each(hashes, answers);
        self.look_up(len, batch, answers, each, |mixed| engine.contains(mixed).then_some(0))
    }

    pub(in crate::filter) fn expiring(&self) -> &Expiring {
        &self.core.engine
    }
}
