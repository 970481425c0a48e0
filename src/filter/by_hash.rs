//! The view of a filter by hash, which also implements every operation on items.

use core::fmt;

use super::{
    Core, Engine, Membership,
    engine::Failed,
    outcome::{
        self, CountChange, InsertMask, burst, check_burst, check_lengths, mask, unique_batch,
        unique_burst,
    },
};
use crate::{
    InsertBatchError, InsertError,
    table::{Answers, Hashes, MAX_BURST, MIN_BATCH, Source, mix},
};

/// A view of a filter by 64-bit hashes: [`Filter::by_hash`](crate::Filter::by_hash) returns it.
///
/// Each method does what the method of the same name of [`Filter`](crate::Filter) does, with the
/// same contract, errors, panics and cost, but takes hashes in place of items, which saves the
/// hashing. All 64-bit values are equally good, even plain integer keys: the filter mixes each of
/// them with its own seed. An item and `filter.hasher().hash_one(item)` are the same to the filter.
///
/// ```
/// use std::hash::BuildHasher;
///
/// let filter = guira::CuckooFilter::with_capacity(100);
/// let flows = filter.by_hash();
/// flows.insert(17)?;
/// assert_eq!(flows.contains_mask(&[16, 17, 18]), 0b010);
/// assert_eq!(flows.remove_mask(&[17]), 1);
///
/// filter.insert("ani")?;
/// assert!(flows.contains(filter.hasher().hash_one("ani")));
/// # Ok::<(), guira::InsertError>(())
/// ```
pub struct ByHash<'a, E> {
    pub(super) core: &'a Core<E>,
}

impl<E> Clone for ByHash<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for ByHash<'_, E> {}

impl<E: Engine> fmt::Debug for ByHash<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ByHash").field(self.core).finish()
    }
}

#[expect(clippy::missing_errors_doc, reason = "`Filter` has the documentation")]
#[expect(clippy::must_use_candidate, reason = "as in `Filter`")]
impl<E: Membership> ByHash<'_, E> {
    /// [`Filter::insert`](crate::Filter::insert) by hash.
    #[inline]
    pub fn insert(self, hash: u64) -> Result<(), InsertError> {
        self.core.engine.insert(self.mix(hash))?;
        // mutant: insert-uncounted
        self.core.items.add(1);
        Ok(())
    }

    /// [`Filter::insert_unique`](crate::Filter::insert_unique) by hash.
    #[inline]
    pub fn insert_unique(self, hash: u64) -> Result<bool, InsertError> {
        let added = self.core.engine.insert_unique(self.mix(hash))?;
        // mutant: unique-counts-always
        if added {
            self.core.items.add(1);
        }
        Ok(added)
    }

    /// [`Filter::contains`](crate::Filter::contains) by hash.
    #[inline]
    #[must_use]
    pub fn contains(self, hash: u64) -> bool {
        self.core.engine.contains(self.mix(hash))
    }

    /// [`Filter::remove`](crate::Filter::remove) by hash.
    #[inline]
    pub fn remove(self, hash: u64) -> bool {
        let removed = self.core.engine.remove(self.mix(hash));
        // mutant: remove-counts-always
        if removed {
            self.core.items.add(-1);
        }
        removed
    }

    /// [`Filter::count`](crate::Filter::count) by hash.
    #[must_use]
    pub fn count(self, hash: u64) -> usize {
        self.core.engine.count(self.mix(hash))
    }

    /// [`Filter::insert_batch`](crate::Filter::insert_batch) by hash.
    pub fn insert_batch(self, hashes: &[u64]) -> Result<(), InsertBatchError> {
        self.insert_all(hashes)
    }

    /// [`Filter::insert_unique_batch`](crate::Filter::insert_unique_batch) by hash.
    #[track_caller]
    pub fn insert_unique_batch(
        self,
        hashes: &[u64],
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        self.insert_unique_all(hashes, added)
    }

    /// [`Filter::contains_batch`](crate::Filter::contains_batch) by hash.
    #[inline]
    #[track_caller]
    pub fn contains_batch(self, hashes: &[u64], found: &mut [bool]) -> usize {
        self.contains_all(hashes, found)
    }

    /// [`Filter::remove_batch`](crate::Filter::remove_batch) by hash.
    #[track_caller]
    pub fn remove_batch(self, hashes: &[u64], removed: &mut [bool]) -> usize {
        self.remove_all(hashes, removed)
    }

    /// [`Filter::insert_unique_mask`](crate::Filter::insert_unique_mask) by hash.
    #[track_caller]
    pub fn insert_unique_mask(self, hashes: &[u64]) -> InsertMask {
        self.insert_unique_burst(hashes)
    }

    /// [`Filter::contains_mask`](crate::Filter::contains_mask) by hash.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn contains_mask(self, hashes: &[u64]) -> u64 {
        self.contains_burst(hashes)
    }

    /// [`Filter::remove_mask`](crate::Filter::remove_mask) by hash.
    #[track_caller]
    pub fn remove_mask(self, hashes: &[u64]) -> u64 {
        self.remove_burst(hashes)
    }

    /// [`Filter::try_extend`](crate::Filter::try_extend) by hash.
    pub fn try_extend(self, hashes: impl IntoIterator<Item = u64>) -> Result<(), InsertBatchError> {
        self.insert_all(Each(hashes.into_iter().fuse()))
    }
}

impl<E: Engine> ByHash<'_, E> {
    #[inline]
    pub(super) fn mix(self, hash: u64) -> u64 {
        mix(hash, self.core.mixing_seed)
    }

    /// Calls an operation of the engine with the hashes of a batch.
    #[inline]
    pub(super) fn with<R>(
        self,
        batch: impl Batch,
        operation: impl FnOnce(&mut Hashes<'_>) -> R,
    ) -> R {
        batch.with(|source| operation(&mut Hashes::new(source, self.core.mixing_seed)))
    }

    /// Looks up `len` items, and returns the number of those that were found. `each` looks up all
    /// hashes of a large batch, and `one` looks up one mixed hash of a small batch. `one` returns
    /// the item's value, or any number if the answers have no values.
    pub(super) fn look_up(
        self,
        len: usize,
        batch: impl Batch,
        mut answers: Answers<'_>,
        each: impl FnOnce(&mut Hashes<'_>, Answers<'_>) -> usize,
        one: impl Fn(u64) -> Option<u16>,
    ) -> usize {
        if len >= MIN_BATCH {
            return self.with(batch, |hashes| each(hashes, answers));
        }
        let mut count = 0;
        for (position, hash) in batch.hashes().enumerate() {
            let found = one(self.mix(hash));
            answers.set(position, found);
            count += usize::from(found.is_some());
        }
        count
    }
}

/// The operations on many items, whose hashes are a `Batch`.
impl<E: Membership> ByHash<'_, E> {
    pub(super) fn insert_all(self, batch: impl Batch) -> Result<(), InsertBatchError> {
        outcome::batch(|failed| self.insert_each(batch, failed)).map(drop)
    }

    /// Inserts the items, and returns the number of those that were added. Calls `failed` with the
    /// positions of the others, until it breaks.
    pub(super) fn insert_each(self, batch: impl Batch, failed: &mut Failed<'_>) -> usize {
        let engine = &self.core.engine;
        let mut change = CountChange::additions(&self.core.items);
        if batch.at_most() < MIN_BATCH {
            for (position, hash) in batch.hashes().enumerate() {
                match engine.insert(self.mix(hash)) {
                    Ok(()) => change.items += 1,
                    Err(error) if failed(position, error).is_break() => break,
                    Err(_) => {}
                }
            }
        } else {
            self.with(batch, |hashes| engine.insert_each(hashes, &mut change.items, failed));
        }
        change.items
    }

    #[track_caller]
    pub(super) fn insert_unique_all(
        self,
        batch: impl Batch,
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        unique_batch(batch.at_most(), added, |added, failed| {
            self.insert_unique_each(batch, added, failed)
        })
    }

    #[track_caller]
    pub(super) fn insert_unique_burst(self, batch: impl Batch) -> InsertMask {
        unique_burst(batch.at_most(), |added, failed| {
            self.insert_unique_each(batch, added, failed);
        })
    }

    /// Writes which items were added, and returns their number. Calls `failed` with the positions
    /// of those that failed, until it breaks.
    pub(super) fn insert_unique_each(
        self,
        batch: impl Batch,
        added: &mut [bool],
        failed: &mut Failed<'_>,
    ) -> usize {
        let engine = &self.core.engine;
        let mut change = CountChange::additions(&self.core.items);
        let count = &mut change.items;
        if added.len() < MIN_BATCH {
            for (position, hash) in batch.hashes().enumerate() {
                match engine.insert_unique(self.mix(hash)) {
                    Ok(was_absent) => added[position] = was_absent,
                    Err(error) if failed(position, error).is_break() => break,
                    Err(_) => {}
                }
                *count += usize::from(added[position]);
            }
        } else {
            self.with(batch, |hashes| engine.insert_unique_each(hashes, added, count, failed));
        }
        change.items
    }

    #[inline]
    #[track_caller]
    pub(super) fn contains_all(self, batch: impl Batch, found: &mut [bool]) -> usize {
        check_lengths(batch.at_most(), found.len());
        if found.len() < MIN_BATCH {
            return self.contains_few(batch, |position, is_found| found[position] = is_found);
        }
        self.with(batch, |hashes| self.core.engine.contains_each(hashes, found))
    }

    #[inline]
    #[track_caller]
    pub(super) fn contains_burst(self, batch: impl Batch) -> u64 {
        let (mut mask, len) = (0, batch.at_most());
        check_burst(len);
        if len < MIN_BATCH {
            self.contains_few(batch, |position, found| mask |= u64::from(found) << position);
            return mask;
        }
        self.with(batch, |hashes| self.core.engine.contains_burst(len, hashes))
    }

    /// Calls `answer` with the position of each item and whether it was found. Returns the number
    /// of items that were found.
    #[inline]
    fn contains_few(self, batch: impl Batch, mut answer: impl FnMut(usize, bool)) -> usize {
        let mut count = 0;
        for (position, hash) in batch.hashes().enumerate() {
            let found = self.contains(hash);
            answer(position, found);
            count += usize::from(found);
        }
        count
    }

    #[track_caller]
    pub(super) fn remove_all(self, batch: impl Batch, removed: &mut [bool]) -> usize {
        check_lengths(batch.at_most(), removed.len());
        // In case the hashing of an item panics.
        removed.fill(false);
        self.remove_each(batch, removed)
    }

    #[track_caller]
    pub(super) fn remove_burst(self, batch: impl Batch) -> u64 {
        let mut removed = [false; MAX_BURST];
        let removed = burst(&mut removed, batch.at_most());
        self.remove_each(batch, removed);
        mask(removed)
    }

    /// Writes which items were removed, and returns their number.
    fn remove_each(self, batch: impl Batch, removed: &mut [bool]) -> usize {
        let engine = &self.core.engine;
        let mut change = CountChange::removals(&self.core.items);
        if removed.len() < MIN_BATCH {
            for (removed, hash) in removed.iter_mut().zip(batch.hashes()) {
                *removed = engine.remove(self.mix(hash));
                change.items += usize::from(*removed);
            }
        } else {
            self.with(batch, |hashes| engine.remove_each(hashes, removed, &mut change.items));
        }
        change.items
    }
}

/// The hashes of a batch: a slice, or an iterator that computes them.
pub(super) trait Batch: Sized {
    /// The number of hashes; of an iterator, the upper bound that it knows, or else `usize::MAX`.
    fn at_most(&self) -> usize;

    /// The hashes, one by one.
    fn hashes(self) -> impl Iterator<Item = u64>;

    /// Calls a function with the hashes in the form that the engine takes.
    fn with<R>(self, operation: impl FnOnce(Source<'_>) -> R) -> R;
}

impl Batch for &[u64] {
    #[inline]
    fn at_most(&self) -> usize {
        self.len()
    }

    #[inline]
    fn hashes(self) -> impl Iterator<Item = u64> {
        self.iter().copied()
    }

    #[inline]
    fn with<R>(self, operation: impl FnOnce(Source<'_>) -> R) -> R {
        operation(Source::Slice(self))
    }
}

/// Hashes that an iterator computes.
pub(super) struct Each<I>(pub(super) I);

impl<I: Iterator<Item = u64>> Batch for Each<I> {
    #[inline]
    fn at_most(&self) -> usize {
        self.0.size_hint().1.unwrap_or(usize::MAX)
    }

    #[inline]
    fn hashes(self) -> impl Iterator<Item = u64> {
        self.0
    }

    #[inline]
    fn with<R>(mut self, operation: impl FnOnce(Source<'_>) -> R) -> R {
        operation(Source::Blocks(&mut |block| {
            let hashes = block.iter_mut().zip(self.0.by_ref());
            hashes.map(|(place, hash)| *place = hash).count()
        }))
    }
}
