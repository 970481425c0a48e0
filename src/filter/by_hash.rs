//! The view of a filter by hash, which also implements every operation on items.

use alloc::vec::Vec;
use core::fmt;

use super::{
    Core, Engine, Membership,
    outcome::{Additions, CountChange, InsertMask, check_burst, check_lengths},
};
use crate::{InsertBatchError, InsertError, table::mix};

/// Number of hashes that are taken from an iterator before they are inserted together.
const CHUNK: usize = 1024;

/// A view of a filter by 64-bit hashes: [`Filter::by_hash`](crate::Filter::by_hash) returns it.
///
/// Each method does what the method of the same name of [`Filter`](crate::Filter) does, with the
/// same contract, errors, panics and cost, but takes hashes in place of items, which saves the
/// hashing. All 64-bit values are equally good, also integer keys as they are: the filter mixes
/// each of them with its own seed. An item and `filter.hasher().hash_one(item)` are the same to the
/// filter.
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

/// The hash of a hash: itself.
#[inline]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as hashes of items")]
fn as_is(&hash: &u64) -> u64 {
    hash
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
        self.insert_batch_by(hashes, as_is)
    }

    /// [`Filter::insert_unique_batch`](crate::Filter::insert_unique_batch) by hash.
    #[track_caller]
    pub fn insert_unique_batch(
        self,
        hashes: &[u64],
        added: &mut [bool],
    ) -> Result<usize, InsertBatchError> {
        self.insert_unique_batch_by(hashes, added, as_is)
    }

    /// [`Filter::contains_batch`](crate::Filter::contains_batch) by hash.
    #[track_caller]
    pub fn contains_batch(self, hashes: &[u64], found: &mut [bool]) -> usize {
        self.contains_batch_by(hashes, found, as_is)
    }

    /// [`Filter::remove_batch`](crate::Filter::remove_batch) by hash.
    #[track_caller]
    pub fn remove_batch(self, hashes: &[u64], removed: &mut [bool]) -> usize {
        self.remove_batch_by(hashes, removed, as_is)
    }

    /// [`Filter::insert_unique_mask`](crate::Filter::insert_unique_mask) by hash.
    #[track_caller]
    pub fn insert_unique_mask(self, hashes: &[u64]) -> InsertMask {
        self.insert_unique_mask_by(hashes, as_is)
    }

    /// [`Filter::contains_mask`](crate::Filter::contains_mask) by hash.
    #[must_use]
    #[track_caller]
    pub fn contains_mask(self, hashes: &[u64]) -> u64 {
        self.contains_mask_by(hashes, as_is)
    }

    /// [`Filter::remove_mask`](crate::Filter::remove_mask) by hash.
    #[track_caller]
    pub fn remove_mask(self, hashes: &[u64]) -> u64 {
        self.remove_mask_by(hashes, as_is)
    }

    /// [`Filter::try_extend`](crate::Filter::try_extend) by hash.
    pub fn try_extend(self, hashes: impl IntoIterator<Item = u64>) -> Result<(), InsertBatchError> {
        let mut hashes = hashes.into_iter();
        let mut additions = Additions::new(&self.core.items);
        let mut chunk = Vec::with_capacity(CHUNK);
        for first in (0..).step_by(CHUNK) {
            chunk.clear();
            chunk.extend(hashes.by_ref().take(CHUNK));
            self.insert_all(&chunk, as_is, first, &mut additions);
            if chunk.len() < CHUNK {
                break;
            }
        }
        additions.finish().map(drop)
    }
}

/// The operations on many items, which `hash` hashes one by one as they are prefetched.
impl<E: Membership> ByHash<'_, E> {
    #[inline]
    fn mix(self, hash: u64) -> u64 {
        mix(hash, self.core.mixing_seed)
    }

    /// Inserts items, of which the first one has position `first` in the batch.
    fn insert_all<T>(
        self,
        items: &[T],
        hash: impl Fn(&T) -> u64,
        first: usize,
        additions: &mut Additions,
    ) {
        let seed = self.core.mixing_seed;
        let mix = |item: &T| mix(hash(item), seed);
        self.core.engine.insert_each(items, mix, |position, outcome| {
            additions.record(first + position, outcome.map(|()| true));
        });
    }

    pub(super) fn insert_batch_by<T>(
        self,
        items: &[T],
        hash: impl Fn(&T) -> u64,
    ) -> Result<(), InsertBatchError> {
        let mut additions = Additions::new(&self.core.items);
        self.insert_all(items, hash, 0, &mut additions);
        additions.finish().map(drop)
    }

    #[track_caller]
    pub(super) fn insert_unique_batch_by<T>(
        self,
        items: &[T],
        added: &mut [bool],
        hash: impl Fn(&T) -> u64,
    ) -> Result<usize, InsertBatchError> {
        check_lengths(items.len(), added.len());
        let mut additions = Additions::new(&self.core.items);
        let seed = self.core.mixing_seed;
        let mix = |item: &T| mix(hash(item), seed);
        self.core.engine.insert_unique_each(items, mix, |position, outcome| {
            added[position] = additions.record(position, outcome);
        });
        additions.finish()
    }

    #[track_caller]
    pub(super) fn contains_batch_by<T>(
        self,
        items: &[T],
        found: &mut [bool],
        hash: impl Fn(&T) -> u64,
    ) -> usize {
        check_lengths(items.len(), found.len());
        let mut hits = 0;
        let seed = self.core.mixing_seed;
        let mix = |item: &T| mix(hash(item), seed);
        self.core.engine.contains_each(items, mix, |position, is_found| {
            found[position] = is_found;
            hits += usize::from(is_found);
        });
        hits
    }

    #[track_caller]
    pub(super) fn remove_batch_by<T>(
        self,
        items: &[T],
        removed: &mut [bool],
        hash: impl Fn(&T) -> u64,
    ) -> usize {
        check_lengths(items.len(), removed.len());
        let mut change = CountChange::new(&self.core.items);
        let seed = self.core.mixing_seed;
        let mix = |item: &T| mix(hash(item), seed);
        self.core.engine.remove_each(items, mix, |position, is_removed| {
            removed[position] = is_removed;
            change.items -= i64::from(is_removed);
        });
        change.items.unsigned_abs() as usize
    }

    #[track_caller]
    pub(super) fn insert_unique_mask_by<T>(
        self,
        items: &[T],
        hash: impl Fn(&T) -> u64,
    ) -> InsertMask {
        check_burst(items.len());
        let mut masks = InsertMask::default();
        let mut change = CountChange::new(&self.core.items);
        let seed = self.core.mixing_seed;
        let mix = |item: &T| mix(hash(item), seed);
        self.core.engine.insert_unique_each(items, mix, |position, outcome| {
            let added = outcome == Ok(true);
            change.items += i64::from(added);
            masks.added |= u64::from(added) << position;
            masks.refused |= u64::from(outcome.is_err()) << position;
        });
        masks
    }

    #[track_caller]
    pub(super) fn contains_mask_by<T>(self, items: &[T], hash: impl Fn(&T) -> u64) -> u64 {
        check_burst(items.len());
        let mut mask = 0;
        let seed = self.core.mixing_seed;
        let mix = |item: &T| mix(hash(item), seed);
        self.core.engine.contains_each(items, mix, |position, found| {
            mask |= u64::from(found) << position;
        });
        mask
    }

    #[track_caller]
    pub(super) fn remove_mask_by<T>(self, items: &[T], hash: impl Fn(&T) -> u64) -> u64 {
        check_burst(items.len());
        let mut mask = 0_u64;
        let mut change = CountChange::new(&self.core.items);
        let seed = self.core.mixing_seed;
        let mix = |item: &T| mix(hash(item), seed);
        self.core.engine.remove_each(items, mix, |position, removed| {
            mask |= u64::from(removed) << position;
            change.items -= i64::from(removed);
        });
        mask
    }
}
