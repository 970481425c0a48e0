//! Relocation: a slot moves to the other side of its item.

use super::{GrowingTable, Place, Side, search::Victim};
use crate::{
    bucket::{Code, GrowingLayout, leveled::level},
    sync::{Acquire, Relaxed, Release, Word},
    table::{Payload, StripeGuard},
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
    /// slot may have been moved all the same, if its bucket was split meanwhile.
    pub(super) fn relocate<L: GrowingLayout>(
        &self,
        victim: Victim,
        incoming: Option<Side>,
    ) -> bool {
        let Victim { side, place, slot } = victim;
        let other = self.growth.other(side);
        // mutant: split-relocate-no-lock, split-relocate-wrong-lock
        let guard = self.stripe_of::<L>([side, other]).lock();
        // Acquire: pairs with the Release of `try_add`. The copy passes on what its original
        // published.
        let seen = to_change(self.bucket(place.bucket));
        // A slot's value can recur at another level, with another meaning.
        // mutant: split-relocate-level-ignored, split-relocate-stale-plan
        if level(seen) != place.level || L::find(seen, slot).is_none() {
            return false;
        }
        // mutant: split-relocate-early-bump
        if !self.copy::<L>(other, place.bucket) {
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
    fn copy<L: GrowingLayout>(&self, side: Side, except: u32) -> bool {
        loop {
            let Some(place) = self.growth.place(side, self.hint()) else { return false };
            let Some(to) = self.follow(side, place, to_change) else { return false };
            if to.bucket == except {
                return false;
            }
            let slot = L::encode(side.code, level(to.word), self.value_bits());
            let Some(new) = L::with(to.word, slot) else { return false };
            // Release: pairs with the Acquire of whoever loads the word, as in `try_add`.
            // mutant: split-relocate-no-copy, split-relocate-copy-store
            if self.bucket(to.bucket).compare_exchange(to.word, new, Release, Relaxed).is_ok() {
                return true;
            }
        }
    }

    /// Clears a slot that has been copied to its other side, or stores the incoming side in it.
    /// Returns `false` if its bucket has been split: then the slot is cleared, and the incoming
    /// side is not stored, since it may belong to the other one of the two buckets.
    fn clear_original<L: GrowingLayout>(
        &self,
        guard: &StripeGuard,
        Victim { side, place, slot }: Victim,
        mut word: u64,
        incoming: Option<Side>,
    ) -> bool {
        // mutant: split-clear-level-ignored
        while level(word) == place.level {
            let lane = L::find(word, slot).expect("only the holder of its stripe clears a slot");
            // mutant: split-clear-drops-incoming
            let new = match incoming {
                None => L::without(word, lane),
                Some(side) => {
                    L::replace(word, lane, L::encode(side.code, place.level, self.value_bits()))
                }
            };
            // Release: pairs with the Acquire of whoever loads the word: a lookup that sees the
            // slot cleared sees the version bumped. It also publishes an incoming item.
            // mutant: split-clear-plain-store
            match self.bucket(place.bucket).compare_exchange(word, new, Release, Relaxed) {
                Ok(()) => {
                    if incoming.is_some() {
                        self.counters.inserted();
                    }
                    return true;
                }
                Err(now) => word = now,
            }
        }
        let cleared = self.clear_all::<L>(guard, side, place);
        // One of the copies was the item's, and splits have made the others.
        // mutant: split-cleared-ghosts-counted
        self.occupancy.count_ghosts(1 - cleared);
        // mutant: split-clear-incoming-assumed
        incoming.is_none()
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
            let lane = L::find(word, slot).expect("only the holder of its stripe clears a slot");
            let new = L::without(word, lane);
            // Release: as in `clear_original`.
            // mutant: split-clear-all-store
            if self.bucket(place.bucket).compare_exchange(word, new, Release, Relaxed).is_ok() {
                return cleared + 1;
            }
        }
    }
}
