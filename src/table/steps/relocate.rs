//! Relocation: a slot moves to the other side of its item.

use super::{Gone, Seen, Space, StripeGuard, Table, Words};
use crate::sync::{Relaxed, Release};

impl<S: Space> Table<S> {
    /// Moves a slot to its other side, and stores what comes in in the slot that it leaves. Returns
    /// `true` if the slot was moved, and `incoming` is stored.
    ///
    /// Returns `false` if the plan is stale: the slot is no longer there, its bucket has been
    /// split, or there is no room on the other side. Then `incoming` was not stored. If the bucket
    /// was split meanwhile, the slot may have been moved all the same. If the original was swept
    /// meanwhile, the copy stays.
    ///
    /// A slot that has expired is not copied: it is cleared, or takes `incoming`. In the
    /// destination, such slots count as empty.
    #[must_use]
    pub fn relocate<L: Words<S>>(&self, step: S::Move, incoming: Option<S::Incoming>) -> bool {
        let guard = L::stripe_of_move(&self.space, &self.stripes, step).lock();
        let now = self.clock.now();
        let Some((seen, slot)) = L::source(&self.space, step) else { return false };
        let stored = incoming.map(|incoming| L::incoming_slot(&self.space, step, incoming));
        if self.expired::<L>(now, slot.into()) != 0 {
            return self.drop_expired::<L>(&guard, seen, slot, stored);
        }
        if !self.copy::<L>(now, step, seen.bucket) {
            return false;
        }
        guard.bump();
        self.clear_original::<L>(&guard, step, (seen, slot), stored)
    }

    /// Clears a slot that was copied to its other side, or replaces it. Returns `false` if what
    /// replaces it was not stored, or if the slot was swept.
    #[inline]
    fn clear_original<L: Words<S>>(
        &self,
        guard: &StripeGuard,
        step: S::Move,
        (seen, slot): (Seen, u32),
        stored: Option<u32>,
    ) -> bool {
        match self.change_slot::<L>(guard, seen, slot, stored) {
            Ok(()) => {
                self.counters.relocated();
                if let Some(slot) = stored {
                    self.counters.inserted();
                    self.clock.count_added(slot);
                }
                true
            }
            Err(Gone::Swept) => {
                self.count_copy(slot);
                false
            }
            // What comes in is not stored, since it may belong to the other one of the two buckets.
            Err(Gone::Split) => L::clear_elsewhere(self, guard, step) && stored.is_none(),
        }
    }

    /// Adds a slot on its other side, unless that is full, not known, or the same bucket. What had
    /// expired there in the generation `now` is swept.
    #[inline]
    fn copy<L: Words<S>>(&self, now: u64, step: S::Move, from: u32) -> bool {
        loop {
            let Some((Seen { bucket, word }, slot)) = L::destination(&self.space, step) else {
                return false;
            };
            let expired = self.expired::<L>(now, word);
            let room = if expired != 0 { L::without_all(&self.space, word, expired) } else { word };
            let Some(new) = L::with(&self.space, room, slot).filter(|_| bucket != from) else {
                return false;
            };
            // Release: pairs with the Acquire of whoever loads the word, as in `try_add`.
            if self.space.bucket(bucket).compare_exchange(word, new, Release, Relaxed).is_ok() {
                self.count_swept::<L>(word, expired);
                return true;
            }
        }
    }

    /// Clears a slot that has expired, or replaces it. Returns `false` if it is no longer there.
    /// The caller holds its lock, which what comes in does not need: nobody misses the slot.
    #[cold]
    fn drop_expired<L: Words<S>>(
        &self,
        guard: &StripeGuard,
        seen: Seen,
        slot: u32,
        stored: Option<u32>,
    ) -> bool {
        if self.change_slot::<L>(guard, seen, slot, stored).is_err() {
            return false;
        }
        self.clock.count_removed(slot);
        self.space.count(-1);
        if let Some(slot) = stored {
            self.counters.inserted();
            self.clock.count_added(slot);
        }
        true
    }

    /// Counts the copy of a slot whose original was swept, and counted as gone. It is one more.
    pub(in crate::table) fn count_copy(&self, slot: u32) {
        self.clock.count_added(slot);
        self.space.count(1);
    }
}
