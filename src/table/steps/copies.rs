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
//! too, and in a table with values, copies with any value. If slots expire, only those count that
//! have not expired.
//!
//! # Why a limit holds
//!
//! With a limit n, an insert first executes a full fence. Then it counts the copies without the
//! lock, in words that it reads as a lookup does. Let s be the number that it sees.
//!
//! 1. *s is at least n.* A half-done move may count twice, so the insert counts again under the
//!    lock. It is refused only if there are n copies then. Otherwise it adds a copy.
//! 2. *s is less than n, and the version changed.* Copies may have moved away from under the reads,
//!    so the insert counts again. As for a lookup, another thread has made progress.
//! 3. *s is less than n, and the version is unchanged.* The insert adds a copy.
//!
//! Suppose that k threads insert the item or its aliases. Then there are never more than n + k - 1
//! copies. Assume that n + k copies are in the words, and consider the inserts that added them. (A
//! copy that is moved remains the same copy. Copies in one bucket are alike, so we may choose which
//! of them a removal takes: let it be one that is not among the n + k.) One of these inserts, x,
//! executes its fence last. Each other thread executed, after each of its copies but the last, the
//! fence of its next insert. That fence precedes the fence of x. So at least n of the copies, all
//! but that of x and the last ones of k - 1 other threads, were added before x reads the words, and
//! x sees them. It misses none that is moved meanwhile, for the reason that makes a lookup's miss
//! correct: the clearing of the original would have changed the version. So s is at least n, and so
//! is the count under the lock: x is refused, a contradiction.
//!
//! The same holds with sequences of inserts in place of threads, if in each sequence every insert
//! happens before the next one. A single sequence never exceeds n. Without the fence, two threads
//! may each add two copies to different buckets and see only their own.
//!
//! The inserts of a batch with a limit are made one after the other. Interleaved ones would all
//! count before the first of them adds.

use super::{Space, StripeGuard, Table, Words};
use crate::{InsertError, sync::full_fence};

impl<S: Space> Table<S> {
    /// Counts the slots that match an item, with any value. If slots expire, counts visible ones.
    #[expect(
        clippy::inline_always,
        reason = "the item would be stored before the lock is acquired"
    )]
    #[inline(always)]
    #[must_use]
    pub fn count<L: Words<S>>(&self, item: S::Item) -> usize {
        let (sought, time) = (L::sought(&self.space, &item), self.clock.time());
        let _guard = self.stripe::<L>(&item).lock();
        if !self.clock.sweeps() {
            return L::copies_in(&self.space, &item, sought, self.space.load_both(&item));
        }
        loop {
            let now = self.clock.look();
            let ages = self.clock.visible_ages(now, time);
            let words = self.space.load_both(&item);
            // A sweep of the next generation may have cleared one copy and not yet the other.
            if self.clock.validate(now) {
                let visible = self.visible_in::<L>(now, ages, &item, words);
                return visible.map(|marks| marks.count_ones() as usize).into_iter().sum();
            }
        }
    }

    /// Counts the slots that match an item and have not expired, under its lock, so that no move is
    /// half done.
    #[inline]
    pub(in crate::table) fn count_locked<L: Words<S>>(
        &self,
        _guard: &StripeGuard,
        item: &S::Item,
        sought: L::Sought,
    ) -> usize {
        let words = self.space.load_both(item);
        let now = self.clock.now();
        L::copies_in(&self.space, item, sought, self.all_unexpired::<L>(now, words))
    }

    /// As [`insert`](Self::insert), unless there are `limit` copies.
    ///
    /// # Errors
    /// As `insert`, and `TooManyCopies` if there were `limit` copies.
    #[inline]
    pub fn insert_up_to<L: Words<S>>(
        &self,
        limit: usize,
        item: S::Item,
    ) -> Result<(), InsertError> {
        if self.holds::<L>(limit, item) {
            return Err(InsertError::TooManyCopies);
        }
        self.insert::<L>(item)
    }

    /// Returns whether an insert must be refused: `true` means that there were at least `limit`
    /// copies at one moment of the call.
    #[inline]
    pub(in crate::table) fn holds<L: Words<S>>(&self, limit: usize, item: S::Item) -> bool {
        // Of the inserts that add copies, one executes this fence last. It sees every copy that
        // another thread added before the last fence of that thread.
        full_fence();
        let sought = L::sought(&self.space, &item);
        loop {
            let (words, reading) = self.read::<L>(&item);
            if L::copies_in(&self.space, &item, sought, words) >= limit {
                return self.count::<L>(item) >= limit;
            }
            if reading.is_valid() {
                return false;
            }
            self.counters.lookup_retried();
        }
    }
}
