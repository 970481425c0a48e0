//! Copies of one item: how many there are, and how many there may be.
//!
//! | where | at most | beyond that |
//! |---|---|---|
//! | in a table | all slots of the item's two buckets, `2 × slots per bucket` | `TooManyCopies` |
//! | in the last segment of a growing filter | half of them, `slots per bucket` | `TooManyCopies` |
//!
//! If an item's two buckets are the same one, it has half as many slots. Copies of aliases count
//! too.

use super::{Nesting, Pair, StripeGuard, Table};
use crate::{
    InsertError,
    bucket::BucketLayout,
    sync::{Acquire, Relaxed},
};

/// Counts the copies of a pair's fingerprint. `word` reads a bucket.
#[inline]
fn copies<L: BucketLayout>(pair: Pair, word: impl Fn(u32) -> u64) -> usize {
    let pattern = L::pattern(pair.fingerprint);
    let count = |bucket| L::count(word(bucket), pattern) as usize;
    let [first, second] = pair.buckets;
    // mutant: copies-one-bucket-twice, copies-first-bucket
    if first == second { count(first) } else { count(first) + count(second) }
}

/// The number of slots in a pair's buckets: the limit on copies in a table.
fn slots_of<L: BucketLayout>(pair: Pair) -> usize {
    let [first, second] = pair.buckets;
    (if first == second { L::SLOTS } else { 2 * L::SLOTS }) as usize
}

/// The limit on copies in the last segment of a growing filter.
///
/// Without it, duplicates would fill the two buckets of an item in a nearly empty segment and force
/// needless growth.
fn half_of_slots<L: BucketLayout>(pair: Pair) -> usize {
    slots_of::<L>(pair).div_ceil(2)
}

impl<N: Nesting> Table<N> {
    /// Counts the copies of the pair's fingerprint.
    #[must_use]
    pub fn count<L: BucketLayout>(&self, pair: Pair) -> usize {
        // mutant: count-no-lock
        let guard = self.stripe(pair.fingerprint).lock();
        // mutant: count-relaxed
        self.count_locked::<L>(&guard, pair)
    }

    /// Counts the copies of the pair's fingerprint under its lock, so that no move is half done.
    pub(crate) fn count_locked<L: BucketLayout>(&self, _guard: &StripeGuard, pair: Pair) -> usize {
        // Acquire: as in `words`. The insert of a copy that is counted happened before the count.
        copies::<L>(pair, |bucket| self.buckets.bucket(bucket).load(Acquire))
    }

    /// Counts the copies without the lock: an estimate, since a copy that is being moved can count
    /// twice or not at all.
    #[inline]
    fn estimate_copies<L: BucketLayout>(&self, pair: Pair) -> usize {
        // Relaxed: it is an estimate in any case. See `has_reached`.
        copies::<L>(pair, |bucket| self.buckets.bucket(bucket).load_to_change(Relaxed))
    }

    /// Returns whether the number of copies has reached `limit`.
    ///
    /// An unlocked pre-check comes first, so that only likely failures take the lock. If a copy is
    /// being moved meanwhile, the pre-check can miss it, and the item may get a copy too many.
    #[inline]
    fn has_reached<L: BucketLayout>(&self, pair: Pair, limit: usize) -> bool {
        self.estimate_copies::<L>(pair) >= limit && {
            let guard = self.stripe(pair.fingerprint).lock();
            self.count_locked::<L>(&guard, pair) >= limit
        }
    }

    /// Returns whether both buckets held only copies of the pair's fingerprint, at one moment.
    pub(super) fn holds_only_copies<L: BucketLayout>(&self, pair: Pair) -> bool {
        // mutant: only-copies-no-lock, only-copies-estimate
        self.has_reached::<L>(pair, slots_of::<L>(pair))
    }

    /// Adds the fingerprint to the bucket with more empty slots, unless copies of it take half of
    /// the slots. Returns `Ok(false)` if both buckets are full.
    ///
    /// # Errors
    /// `TooManyCopies`.
    #[inline]
    pub(crate) fn add_up_to_half<L: BucketLayout>(&self, pair: Pair) -> Result<bool, InsertError> {
        // mutant: half-no-lock, half-estimate
        if self.has_reached::<L>(pair, half_of_slots::<L>(pair)) {
            return Err(InsertError::TooManyCopies);
        }
        Ok(self.add::<L>(pair))
    }
}
