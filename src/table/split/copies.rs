//! Copies of one item: how many there are, and how many there may be.

use super::{GrowingTable, Item, Seen, Side};
use crate::{
    InsertError,
    bucket::GrowingLayout,
    sync::full_fence,
    table::{Payload, StripeGuard},
};

impl<P: Payload> GrowingTable<P> {
    /// Counts the slots that match an item, with any value.
    #[must_use]
    pub fn count<L: GrowingLayout>(&self, item: &Item) -> usize {
        // mutant: split-count-no-lock, split-count-wrong-lock
        let guard = self.stripe::<L>(item).lock();
        // mutant: split-count-relaxed
        self.count_locked::<L>(&guard, item)
    }

    /// Counts the slots that match an item under its lock, so that no move is half done.
    fn count_locked<L: GrowingLayout>(&self, _guard: &StripeGuard, item: &Item) -> usize {
        self.copies_in::<L>(item, self.load_both(item))
    }

    /// Counts the slots that match an item in the words of its locations.
    #[inline]
    pub(super) fn copies_in<L: GrowingLayout>(&self, item: &Item, seen: [Seen; 2]) -> usize {
        let [first, second] = self.marks_of::<L>(item, seen);
        (first.count_ones() + second.count_ones()) as usize
    }

    /// Marks the slots that match an item, with any value, in the words of its locations.
    #[inline]
    pub(super) fn marks_of<L: GrowingLayout>(
        &self,
        item: &Item,
        [first, second]: [Seen; 2],
    ) -> [u64; 2] {
        let matches = |word, side: Side| {
            // mutant: split-copies-with-value
            L::matches(word, side.code, self.value_bits())
        };
        let [in_first, in_second] =
            [matches(first.word, item.sides[0]), matches(second.word, item.sides[1])];
        // In one bucket, a slot that matches on both sides is one copy. Both loads of it must show
        // the same word then: take those of the later one.
        // mutant: split-copies-one-bucket-twice, split-copies-one-side
        if first.bucket == second.bucket {
            [0, matches(second.word, item.sides[0]) | in_second]
        } else {
            [in_first, in_second]
        }
    }

    /// Half of the slots of an item's locations: if both are full, no more copies are added. Many
    /// copies of few items would fill buckets that splits cannot relieve.
    pub(super) fn half_of_slots<L: GrowingLayout>(item: &Item) -> usize {
        let [first, second] = item.sides;
        // Sides that differ may still have one bucket at this level. Then copies may fill it, until
        // it is split.
        half_of_slots::<L>(first == second)
    }

    /// As [`insert`](Self::insert), unless there are `limit` copies: see "Limits on copies" in
    /// `table/mod.rs`.
    ///
    /// # Errors
    /// As `insert`, and `TooManyCopies` if there were `limit` copies.
    pub fn insert_up_to<L: GrowingLayout>(
        &self,
        limit: usize,
        item: &Item,
    ) -> Result<(), InsertError> {
        if self.holds::<L>(limit, item) {
            return Err(InsertError::TooManyCopies);
        }
        self.insert::<L>(item)
    }

    /// Returns whether an insert must be refused: `true` means that there were at least `limit`
    /// copies at one moment of the call.
    fn holds<L: GrowingLayout>(&self, limit: usize, item: &Item) -> bool {
        // Of the inserts that add copies, one executes this fence last. It sees every copy that
        // another thread added before the last fence of that thread.
        // mutant: split-limit-no-fence
        full_fence();
        let stripe = self.stripe::<L>(item);
        loop {
            // mutant: split-limit-version-relaxed
            let version = stripe.version();
            // mutant: split-limit-relaxed
            if self.copies_in::<L>(item, self.load_both(item)) >= limit {
                // mutant: split-limit-estimate, split-limit-no-lock, split-limit-wrong-lock
                return self.count::<L>(item) >= limit;
            }
            // mutant: split-limit-no-validation
            if stripe.validate(version) {
                return false;
            }
            self.counters.lookup_retried();
        }
    }
}

/// Half of the slots of two buckets, or of one. Of four slots it is three: with short fingerprints,
/// two items out of a few million that are no copies match two of four slots.
pub(super) fn half_of_slots<L: GrowingLayout>(is_one: bool) -> usize {
    (if is_one { L::SLOTS.div_ceil(2) } else { L::SLOTS.max(3) }) as usize
}
