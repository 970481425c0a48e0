//! Merging: adding the copies of another table, all of them or none.
//!
//! The other table is copied first, as a clone is, under its stripes. Then each fingerprint of the
//! copy is inserted into this table, as by any other insert, while nothing else is held. So two
//! merges in opposite directions do not wait for each other, and a table can be merged with itself.
//!
//! # Why a merge can be undone
//!
//! If a copy cannot be added, the merge removes as many copies of each pair as it has added. Each
//! of these removals is paid for by an insert of the same pair, which the merge itself made before
//! and which pays for no other removal: no caller is entitled to remove a merged item before the
//! merge has succeeded. So the contract of `remove` holds, and the removals need not take the very
//! copies that the merge added.
//!
//! The contract of `clear` needs care. A clear that overlaps the merge may have taken a copy that
//! the merge added, and the merge must not remove another one in its place: that might belong to an
//! alias that was inserted after the clear. So the stripes have one count of the clears. The merge
//! reads it under a lock before it adds anything, and again under the lock of each removal, and
//! does not remove if the count has changed. A clear holds all locks, and raises the count before
//! it clears a slot. If the count is unchanged, every clear either ended before the first insert of
//! the merge, or starts after the removal. If it has changed, copies may be left behind, as by any
//! insert that overlaps a clear.

use super::{Pair, Payload, StripeGuard, Table};
use crate::{InsertError, bucket::BucketLayout, sync::Relaxed};

/// What a merge did.
#[derive(Debug)]
pub struct Merged {
    /// The change of the number of copies. After a refusal it is zero, unless a clear overlapped
    /// the merge.
    pub change: i64,
    /// Whether all copies were added.
    pub outcome: Result<(), MergeRefusal>,
}

/// Why a merge was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRefusal {
    /// The system refused the memory for the copy.
    OutOfMemory,
    /// There was room for only some of the copies.
    Full {
        /// The copies that were added, and removed again.
        fitted: u64,
        /// All copies.
        items: u64,
    },
    /// There would be too many copies of one item.
    TooManyCopies,
}

impl Merged {
    /// The result of a merge for which there was no memory.
    pub(crate) fn out_of_memory() -> Self {
        Self { change: 0, outcome: Err(MergeRefusal::OutOfMemory) }
    }

    /// Adds all items, or removes again what it added. `each` calls a function with the number of
    /// every item and the item, until the function returns `false`. Each call of `each` passes the
    /// same items in the same order. `items` is their number.
    ///
    /// `undo` returns whether it removed a copy.
    pub(crate) fn all_or_none<N, I>(
        items: u64,
        each: impl Fn(&mut dyn FnMut(N, I) -> bool),
        add: impl Fn(N, I) -> Result<(), InsertError>,
        undo: impl Fn(N, I) -> bool,
    ) -> Self {
        let (mut added, mut error) = (0, None);
        each(&mut |number, item| {
            // mutant: merge-one-copy-less
            error = add(number, item).err();
            added += u64::from(error.is_none());
            error.is_none()
        });
        let Some(error) = error else {
            return Self { change: added as i64, outcome: Ok(()) };
        };
        let (mut left, mut removed) = (added, 0);
        // mutant: merge-not-undone
        each(&mut |number, item| {
            let undone = left > 0 && undo(number, item);
            removed += i64::from(undone);
            left = left.saturating_sub(1);
            left > 0
        });
        let refusal = match error {
            InsertError::Full | InsertError::MaxCapacity | InsertError::FullyGrown => {
                MergeRefusal::Full { fitted: added, items }
            }
            InsertError::OutOfMemory => MergeRefusal::OutOfMemory,
            // An insert without a life and without a new value has no other error.
            _ => MergeRefusal::TooManyCopies,
        };
        Self { change: added as i64 - removed, outcome: Err(refusal) }
    }
}

impl<P: Payload> Table<P> {
    /// Adds all fingerprints of another table with the same addressing, or none. `limit` is the
    /// largest number of copies of an item, if there is one.
    pub fn merge<L: BucketLayout>(&self, other: &Self, limit: Option<usize>) -> Merged {
        let Some((copy, items)) = other.try_clone::<L>(false) else {
            return Merged::out_of_memory();
        };
        // mutant: merge-holds-stripes
        let clears = self.stripes.clears();
        Merged::all_or_none(
            items,
            |each| copy.for_each_copy::<L>(|pair| each((), pair)),
            |(), pair| {
                // mutant: merge-limit-ignored
                if limit.is_some_and(|limit| self.holds::<L>(limit, pair)) {
                    return Err(InsertError::TooManyCopies);
                }
                // mutant: merge-relaxed
                self.insert_in_place::<L>(pair)
            },
            |(), pair| {
                // mutant: merge-undo-no-lock
                let guard = self.stripe(pair.fingerprint).lock();
                // mutant: merge-undo-no-bump, merge-undo-despite-clear
                self.undo_locked::<L>(&guard, clears, pair)
            },
        )
    }
}

impl<P: Payload> Table<P> {
    /// Removes a copy that a merge added, unless the table was cleared since the merge read this
    /// number of clears.
    pub(crate) fn undo_locked<L: BucketLayout>(
        &self,
        guard: &StripeGuard,
        clears: u64,
        pair: Pair,
    ) -> bool {
        self.stripes.clears_locked(guard) == clears && self.remove_locked::<L>(guard, pair)
    }

    /// Inserts a copy, if possible into the first bucket of the pair.
    fn insert_in_place<L: BucketLayout>(&self, pair: Pair) -> Result<(), InsertError> {
        if self.add_in_place::<L>(pair) { Ok(()) } else { self.insert_by_relocating::<L>(pair) }
    }

    /// Adds the fingerprint to the first bucket of the pair, or to the other one. Returns `false`
    /// if both are full.
    ///
    /// The first bucket is where the fingerprint is in the other table. So a table that is empty
    /// takes all fingerprints of another one, which may be so full that they would not fit in
    /// another arrangement. And the buckets are written in order.
    pub(crate) fn add_in_place<L: BucketLayout>(&self, pair: Pair) -> bool {
        let [first, _] = pair.buckets;
        self.add::<L>(Pair { buckets: [first; 2], ..pair }) || self.add::<L>(pair)
    }

    /// Calls `each` with the pairs of all fingerprints, bucket by bucket, until it returns `false`.
    /// The first bucket of a pair is the one that holds the fingerprint. Meanwhile no other thread
    /// may use the table.
    pub(crate) fn for_each_copy<L: BucketLayout>(&self, mut each: impl FnMut(Pair) -> bool) {
        for (word, bucket) in self.buckets.as_slice().iter().zip(0..) {
            // Relaxed: no other thread uses the table.
            for fingerprint in L::fingerprints(word.load(Relaxed)) {
                let alternate = self.addressing.alt_bucket(fingerprint, bucket);
                if !each(Pair { fingerprint, buckets: [bucket, alternate] }) {
                    return;
                }
            }
        }
    }
}
