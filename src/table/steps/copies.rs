//! Copies of one item: how many there are, and how many there may be.
//!
//! | where | at most | beyond that |
//! |---|---|---|
//! | in a table of a fixed size | all slots of the item's two buckets, `2 × slots per bucket` | `TooManyCopies` |
//! | in a table that grows, if both buckets are full | as many as one bucket has slots, at least three of two buckets | `TooManyCopies` |
//! | with [`max_copies`](crate::FilterBuilder::max_copies) | that many | `TooManyCopies` |
//! | after a merge | the same | [`MergeError::TooManyCopies`](crate::MergeError::TooManyCopies) |
//!
//! If a slot of the filter that is merged tells only one of its two buckets, that one counts.
//!
//! If an item's two buckets are the same one, it has half as many slots. Copies of aliases count
//! too, and in a table with values, copies with any value. If slots expire, the limits of tables
//! count the slots that have not expired.

use crate::{
    InsertError,
    sync::full_fence,
    table::{Clock, Seen, Space, StripeGuard, Table, Words},
};

impl<S: Space> Table<S> {
    /// Counts the slots that match an item, with any value. If slots expire, counts visible ones.
    #[must_use]
    pub fn count<L>(&self, item: S::Item) -> usize
    where
        S: Words<L>,
    {
        let guard = self.stripe::<L>(&item).lock();
        if !Self::SWEEPS {
            return self.count_locked::<L>(&guard, &item);
        }
        loop {
            let now = self.clock.now();
            let words = self.space.load_both(&item);
            // A sweep of the next generation may have cleared one copy and not yet the other.
            if self.clock.validate(now) {
                let visible = self.visible_in::<L>(now, &item, words);
                return visible.map(|marks| marks.count_ones() as usize).into_iter().sum();
            }
        }
    }

    /// Counts the slots that match an item under its lock, so that no move is half done.
    pub(in crate::table) fn count_locked<L>(&self, _guard: &StripeGuard, item: &S::Item) -> usize
    where
        S: Words<L>,
    {
        self.copies_in::<L>(item, self.space.load_both(item))
    }

    /// Counts the slots that match an item, with any value, in the words of its locations.
    #[inline]
    pub(in crate::table) fn copies_in<L>(&self, item: &S::Item, words: [Seen; 2]) -> usize
    where
        S: Words<L>,
    {
        self.space.copies_in(item, words)
    }

    /// As [`insert`](Self::insert), unless there are `limit` copies: see "Limits on copies" in
    /// `table/mod.rs`.
    ///
    /// # Errors
    /// As `insert`, and `TooManyCopies` if there were `limit` copies.
    #[inline]
    pub fn insert_up_to<L>(&self, limit: usize, item: S::Item) -> Result<(), InsertError>
    where
        S: Words<L>,
    {
        if self.holds::<L>(limit, item) {
            return Err(InsertError::TooManyCopies);
        }
        self.insert::<L>(item)
    }

    /// Returns whether an insert must be refused: `true` means that there were at least `limit`
    /// copies at one moment of the call.
    #[inline]
    pub(in crate::table) fn holds<L>(&self, limit: usize, item: S::Item) -> bool
    where
        S: Words<L>,
    {
        // Of the inserts that add copies, one executes this fence last. It sees every copy that
        // another thread added before the last fence of that thread.
        full_fence();
        loop {
            let (words, reading) = self.read::<L>(&item);
            if self.copies_in::<L>(&item, words) >= limit {
                return self.count::<L>(item) >= limit;
            }
            if reading.is_valid() {
                return false;
            }
            self.counters.lookup_retried();
        }
    }
}
