//! Copies of one item: how many there are, and how many there may be.
//!
//! | where | at most | beyond that |
//! |---|---|---|
//! | in a table of a fixed size | all slots of the item's two buckets, `2 × slots per bucket` | `TooManyCopies` |
//! | in a table that grows, if both buckets are full | half of them, at least three | `TooManyCopies` |
//! | with [`max_copies`](crate::FilterBuilder::max_copies) | that many | `TooManyCopies` |
//! | after a merge | the same | [`MergeError::TooManyCopies`](crate::MergeError::TooManyCopies) |
//!
//! If an item's two buckets are the same one, it has half as many slots. Copies of aliases count
//! too, and in a table with values, copies with any value.

use super::{BothWords, Pair, Payload, StripeGuard, Table};
use crate::{
    InsertError,
    bucket::BucketLayout,
    sync::{Acquire, Relaxed, full_fence},
};

/// The number of slots in a pair's buckets: the limit on copies in a table.
fn slots_of<L: BucketLayout>(pair: Pair) -> usize {
    let [first, second] = pair.buckets;
    (if first == second { L::SLOTS } else { 2 * L::SLOTS }) as usize
}

impl<P: Payload> Table<P> {
    /// Counts the copies of a pair's fingerprint, with any value, in the words of its buckets.
    #[inline]
    pub(super) fn copies_in<L: BucketLayout>(&self, pair: Pair, words: [u64; 2]) -> usize {
        let pattern = L::pattern(self.key(pair.fingerprint));
        // mutant: copies-with-value
        let [first, second] = words.without(self.values::<L>());
        let (first, second) =
            (L::count(first, pattern) as usize, L::count(second, pattern) as usize);
        // mutant: copies-one-bucket-twice, copies-first-bucket
        if pair.buckets[0] == pair.buckets[1] { first } else { first + second }
    }

    /// Counts the copies of the pair's fingerprint.
    #[must_use]
    pub fn count<L: BucketLayout>(&self, pair: Pair) -> usize {
        // mutant: count-no-lock
        // mutant: count-wrong-lock
        let guard = self.stripe(pair.fingerprint).lock();
        // mutant: count-relaxed
        self.count_locked::<L>(&guard, pair)
    }

    /// Counts the copies of the pair's fingerprint under its lock, so that no move is half done.
    pub(crate) fn count_locked<L: BucketLayout>(&self, _guard: &StripeGuard, pair: Pair) -> usize {
        // Acquire: as in `BothWords::load`. The insert of a copy that is counted happened before
        // the count.
        self.copies_in::<L>(pair, self.both(pair).map(|word| word.load(Acquire)))
    }

    /// Counts the copies without the lock: an estimate, since a copy that is being moved can count
    /// twice or not at all.
    #[inline]
    fn estimate_copies<L: BucketLayout>(&self, pair: Pair) -> usize {
        // Relaxed: it is an estimate in any case. See `has_reached`.
        self.copies_in::<L>(pair, self.both(pair).map(|word| word.load_to_change(Relaxed)))
    }

    /// Returns whether the number of copies has reached `limit`.
    ///
    /// An unlocked pre-check comes first, so that only likely failures take the lock. If a copy is
    /// being moved meanwhile, the pre-check can miss it, and the item may get a copy too many.
    #[inline]
    fn has_reached<L: BucketLayout>(&self, pair: Pair, limit: usize) -> bool {
        self.estimate_copies::<L>(pair) >= limit && {
            // mutant: reached-wrong-lock
            let guard = self.stripe(pair.fingerprint).lock();
            // mutant: reached-relaxed
            self.count_locked::<L>(&guard, pair) >= limit
        }
    }

    /// Returns whether both buckets held only copies of the pair's fingerprint, at one moment.
    pub(super) fn holds_only_copies<L: BucketLayout>(&self, pair: Pair) -> bool {
        // mutant: only-copies-no-lock, only-copies-estimate
        // mutant: only-copies-wrong-lock
        self.has_reached::<L>(pair, slots_of::<L>(pair))
    }

    /// As [`insert`](Self::insert), unless there are `limit` copies: see "Limits on copies" in
    /// `table/mod.rs`.
    ///
    /// # Errors
    /// As `insert`, and `TooManyCopies` if there were `limit` copies.
    #[inline]
    pub fn insert_up_to<L: BucketLayout>(
        &self,
        limit: usize,
        pair: Pair,
    ) -> Result<(), InsertError> {
        if self.holds::<L>(limit, pair) {
            return Err(InsertError::TooManyCopies);
        }
        self.insert::<L>(pair)
    }

    /// Returns whether an insert must be refused: `true` means that there were at least `limit`
    /// copies at one moment of the call.
    #[inline]
    pub(super) fn holds<L: BucketLayout>(&self, limit: usize, pair: Pair) -> bool {
        // Of the inserts that add copies, one executes this fence last. It sees every copy that
        // another thread added before the last fence of that thread.
        // mutant: limit-no-fence
        full_fence();
        loop {
            // mutant: limit-no-validation, limit-relaxed
            let (words, unchanged) = self.read(pair);
            if self.copies_in::<L>(pair, words) >= limit {
                // mutant: limit-no-lock, limit-estimate
                return self.count::<L>(pair) >= limit;
            }
            if unchanged {
                return false;
            }
            self.counters.lookup_retried();
        }
    }
}
