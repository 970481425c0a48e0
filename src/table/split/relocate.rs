//! Relocation: a slot moves to the other side of its item.

use super::{GrowingTable, Place, Side, search::Victim};
use crate::{
    bucket::{Code, GrowingLayout, leveled::level},
    sync::{Acquire, Relaxed, Release, Word},
    table::{Clock, Payload, StripeGuard},
};

/// As in a table of a fixed size: a load of a word that this thread may change.
fn to_change(word: &Word) -> u64 {
    word.load_to_change(Acquire)
}

impl<P: Payload> GrowingTable<P> {
    /// Moves a slot to its other side, and stores the incoming side in the slot that it leaves.
    ///
    /// Returns `false` if the plan is stale: the slot is no longer there, its bucket has been
    /// split, or there is no room on the other side. Then the incoming side was not stored. The
    /// slot may have been moved all the same, if its bucket was split meanwhile, or copied, if it
    /// was swept.
    ///
    /// A slot that has expired is not copied: it is cleared, or replaced by the incoming side. In
    /// the destination, such slots count as empty.
    pub(super) fn relocate<L: GrowingLayout>(
        &self,
        victim: Victim,
        incoming: Option<Side>,
    ) -> bool {
        let Victim { side, place, slot } = victim;
        let other = self.growth.other(side);
        // mutant: split-relocate-no-lock, split-relocate-wrong-lock, split-move-early-now
        let guard = self.stripe_of::<L>([side, other]).lock();
        let now = self.clock.now();
        // Acquire: pairs with the Release of `try_add`. The copy passes on what its original
        // published.
        let seen = to_change(self.bucket(place.bucket));
        // A slot's value can recur at another level, with another meaning.
        // mutant: split-relocate-level-ignored, split-relocate-stale-plan
        if level(seen) != place.level || L::find(seen, slot).is_none() {
            return false;
        }
        // mutant: split-move-copies-expired
        if P::Clock::SWEEPS && self.expired::<L>(now, slot) != 0 {
            return self.drop_expired::<L>(victim, seen, incoming);
        }
        // mutant: split-relocate-early-bump
        if !self.copy::<L>(now, other, place.bucket) {
            return false;
        }
        // mutant: split-relocate-no-bump, split-relocate-late-bump, split-relocate-bump-relaxed
        guard.bump();
        // mutant: split-relocate-lock-gap
        self.counters.relocated();
        // mutant: split-relocate-not-cleared
        self.clear_original::<L>(&guard, victim, seen, incoming)
    }

    /// Adds a slot on this side, unless its location is full, not known, or the bucket `except`.
    /// What had expired there in the generation `now` is swept.
    fn copy<L: GrowingLayout>(&self, now: u64, side: Side, except: u32) -> bool {
        loop {
            let Some(place) = self.growth.place(side, self.hint()) else { return false };
            let Some(to) = self.follow(side, place, to_change) else { return false };
            if to.bucket == except {
                return false;
            }
            let slot = L::encode(side.code, level(to.word), self.value_bits());
            let expired = self.expired::<L>(now, to.word);
            let Some(new) = L::with(L::without_all(to.word, expired), slot) else { return false };
            // Release: pairs with the Acquire of whoever loads the word, as in `try_add`.
            // mutant: split-relocate-no-copy, split-relocate-copy-store
            if self.bucket(to.bucket).compare_exchange(to.word, new, Release, Relaxed).is_ok() {
                // mutant: split-move-sweep-uncounted
                self.count_swept::<L>(to.word, expired);
                return true;
            }
        }
    }

    /// Clears a slot that has expired, or stores the incoming side in it. Returns `false` if it is
    /// no longer there, or its bucket has been split. The caller holds its lock, which the incoming
    /// side does not need: nobody misses the slot.
    #[cold]
    fn drop_expired<L: GrowingLayout>(
        &self,
        Victim { place, slot, .. }: Victim,
        mut word: u64,
        incoming: Option<Side>,
    ) -> bool {
        while level(word) == place.level {
            let Some(lane) = L::find(word, slot) else { return false };
            let stored = incoming.map(|side| L::encode(side.code, place.level, self.value_bits()));
            let new = match stored {
                None => L::without(word, lane),
                Some(slot) => L::replace(word, lane, slot),
            };
            // Release: as in `clear_original`, and in `sweep_family`.
            // mutant: split-move-drop-store
            match self.bucket(place.bucket).compare_exchange(word, new, Release, Relaxed) {
                Ok(()) => {
                    // mutant: split-move-drop-uncounted
                    self.clock.count_removed(slot as u32);
                    // mutant: split-move-drop-unoccupied
                    let _ = self.occupancy.count(-1);
                    if let Some(slot) = stored {
                        self.counters.inserted();
                        // mutant: split-move-drop-incoming-uncounted
                        self.clock.count_added(slot as u32);
                    }
                    return true;
                }
                Err(now) => word = now,
            }
        }
        false
    }

    /// Clears a slot that has been copied to its other side, or stores the incoming side in it.
    /// Returns `false` if its bucket has been split: then the slot is cleared, and the incoming
    /// side is not stored, since it may belong to the other one of the two buckets. Also returns
    /// `false` if the slot has been swept.
    fn clear_original<L: GrowingLayout>(
        &self,
        guard: &StripeGuard,
        Victim { side, place, slot }: Victim,
        mut word: u64,
        incoming: Option<Side>,
    ) -> bool {
        let stored = incoming.map(|side| L::encode(side.code, place.level, self.value_bits()));
        // mutant: split-clear-level-ignored
        while level(word) == place.level {
            // mutant: split-move-ignores-sweep
            let Some(lane) = Self::find::<L>(word, slot) else {
                self.count_cleared_copies(slot, 0);
                return false;
            };
            // mutant: split-clear-drops-incoming
            let new = match stored {
                None => L::without(word, lane),
                Some(slot) => L::replace(word, lane, slot),
            };
            // Release: pairs with the Acquire of whoever loads the word: a lookup that sees the
            // slot cleared sees the version bumped. It also publishes an incoming item.
            // mutant: split-clear-plain-store
            match self.bucket(place.bucket).compare_exchange(word, new, Release, Relaxed) {
                Ok(()) => {
                    if let Some(slot) = stored {
                        self.counters.inserted();
                        // mutant: split-move-incoming-uncounted
                        self.clock.count_added(slot as u32);
                    }
                    return true;
                }
                Err(now) => word = now,
            }
        }
        let cleared = self.clear_all::<L>(guard, side, place);
        // mutant: split-cleared-ghosts-counted
        self.count_cleared_copies(slot, cleared);
        // mutant: split-clear-incoming-assumed
        incoming.is_none() && cleared > 0
    }

    /// The lane of a slot in a word, of which the caller holds the stripe. `None` if it has been
    /// swept.
    fn find<L: GrowingLayout>(word: u64, slot: u64) -> Option<u32> {
        let lane = L::find(word, slot);
        assert!(lane.is_some() || P::Clock::SWEEPS, "only the holder of its stripe clears a slot");
        lane
    }

    /// Counts that a slot was moved, of which this many copies have been cleared in its old place.
    fn count_cleared_copies(&self, slot: u64, cleared: i64) {
        if cleared == 0 {
            // All were swept, and counted as gone. The slot in the new place is one more.
            // mutant: split-move-uncounted-copy
            self.clock.count_added(slot as u32);
            // mutant: split-move-unoccupied-copy
            let _ = self.occupancy.count(1);
            return;
        }
        // One of the copies was the item's, and splits have made the others. If some of them were
        // swept, these count as items that are gone, and as many ghosts stay in their place.
        self.occupancy.count_ghosts(1 - cleared);
        if P::Clock::SWEEPS {
            // mutant: split-cleared-stamps-counted
            (1..cleared).for_each(|_| self.clock.count_removed(slot as u32));
            // mutant: split-cleared-stamp-ghosts-counted
            self.clock.count_ghosts(slot as u32, 1 - cleared);
        }
    }

    /// Clears the copies of a slot that was at a place before its bucket was split: one, or several
    /// if its tail ran out. Returns their number.
    #[cold]
    #[expect(clippy::only_used_in_recursion, reason = "the caller holds the lock")]
    fn clear_all<L: GrowingLayout>(
        &self,
        guard: &StripeGuard,
        mut side: Side,
        mut place: Place,
    ) -> i64 {
        let mut cleared = 0;
        loop {
            let word = to_change(self.bucket(place.bucket));
            while place.level < level(word) {
                let Code { extension, core } = side.code;
                let next = extension >> place.level;
                let child = self.growth.child(place.bucket, place.level);
                let child = Place { bucket: child, level: place.level + 1 };
                if next == 1 {
                    // The tail has run out: there is a copy in either bucket. Each of them is known
                    // by the bit that the number of its bucket has.
                    let in_child = Code { core, extension: extension | 2 << place.level };
                    // mutant: split-clear-one-copy
                    cleared += self.clear_all::<L>(guard, Side { code: in_child, ..side }, child);
                    side.code.extension = extension ^ (3 << place.level);
                } else if next & 1 == 1 {
                    return cleared + self.clear_all::<L>(guard, side, child);
                }
                place.level += 1;
            }
            let slot = L::encode(side.code, place.level, self.value_bits());
            let Some(lane) = Self::find::<L>(word, slot) else { return cleared };
            let new = L::without(word, lane);
            // Release: as in `clear_original`.
            // mutant: split-clear-all-store
            if self.bucket(place.bucket).compare_exchange(word, new, Release, Relaxed).is_ok() {
                return cleared + 1;
            }
        }
    }
}
