//! Relocation in a table that grows: what a move clears if its bucket is split meanwhile.

use super::{GrowingTable, Place, Side, StripeGuard, Victim};
use crate::{
    bucket::{Code, leveled::level},
    sync::{Acquire, Relaxed, Release},
};

impl GrowingTable {
    /// Clears a slot that has been copied to its other side, and whose bucket was split since.
    /// Returns whether it was there: otherwise it was swept, and the copy is one slot more.
    pub(in crate::table) fn clear_copies(
        &self,
        guard: &StripeGuard,
        Victim { side, place, slot }: Victim,
    ) -> bool {
        let cleared = self.clear_all(guard, side, place);
        self.count_cleared_copies(slot, cleared);
        cleared > 0
    }

    /// Counts that a slot was moved, of which this many copies have been cleared in its old place.
    fn count_cleared_copies(&self, slot: u64, cleared: i64) {
        if cleared == 0 {
            // All were swept.
            return self.count_copy(slot as u32);
        }
        self.counters.relocated();
        // One of the copies was the item's, and splits have made the others.
        self.count_ghosts(1 - cleared);
        (1..cleared).for_each(|_| self.clock.count_removed(slot as u32));
    }

    /// Clears the copies of a slot that was at a place before its bucket was split: one, or several
    /// if its tail ran out. Returns their number.
    #[cold]
    #[expect(clippy::only_used_in_recursion, reason = "the caller holds the lock")]
    fn clear_all(&self, guard: &StripeGuard, mut side: Side, mut place: Place) -> i64 {
        let mut cleared = 0;
        loop {
            // Acquire: pairs with the Release of a switch, so that the child is there.
            // mutant-ok: models have all memory from the start, and a load to change is the latest
            let word = self.bucket(place.bucket).load_to_change(Acquire);
            while place.level < level(word) {
                let Code { extension, core } = side.code;
                let next = extension >> place.level;
                let child = self.addressing.child(place.bucket, place.level);
                let child = Place { bucket: child, level: place.level + 1 };
                if next == 1 {
                    // The tail has run out: there is a copy in either bucket. Each of them is known
                    // by the bit that the number of its bucket has.
                    let in_child = Code { core, extension: extension | 2 << place.level };
                    cleared += self.clear_all(guard, Side { code: in_child, ..side }, child);
                    side.code.extension = extension ^ (3 << place.level);
                } else if next & 1 == 1 {
                    return cleared + self.clear_all(guard, side, child);
                }
                place.level += 1;
            }
            let slot = self.leveled().encode(side.code, place.level);
            let Some(at) = self.leveled().find(word, slot) else {
                assert!(self.clock.sweeps(), "only the holder of its stripe clears a slot");
                return cleared;
            };
            let new = self.leveled().without(word, at);
            // Release: as in `change_slot`.
            if self.bucket(place.bucket).compare_exchange(word, new, Release, Relaxed).is_ok() {
                return cleared + 1;
            }
        }
    }
}
