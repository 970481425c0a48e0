//! Bare steps of the protocol, which operations take as parts, for models and tests.

use super::{GrowingTable, GrowingWords, Place, Side, room::Victim, size::grow::GROUP};
use crate::InsertError;

impl GrowingTable {
    /// Splits the next bucket that no other thread is splitting. Returns `false` if there is none,
    /// or if the table may not grow further.
    pub fn split_one(&self) -> bool {
        self.split_next(self.size()) == Ok(true)
    }

    /// Splits a bucket before its turn. Returns whether it was split: not if it has been split.
    ///
    /// # Errors
    /// Why it cannot be split.
    pub fn split_early(&self, place: Place) -> Result<bool, InsertError> {
        self.split_out_of_turn(place.bucket, place.level)
    }

    /// Splits a bucket, whose child must be committed, and does not advance the size. Returns
    /// whether it was split: not if it has been split.
    pub fn split_only(&self, place: Place) -> bool {
        let _guard = self.stripes.at((u64::from(place.bucket) / GROUP) as usize).lock();
        self.split_bucket(self.clock.now(), place.bucket, place.level)
    }

    /// The number of occupied slots, and of ghosts among them, by which the table grows.
    #[must_use]
    pub fn occupied(&self) -> (i64, i64) {
        (self.occupancy.occupied(), self.occupancy.ghosts())
    }

    /// Moves a slot that has this side at this place to its other side, and stores the incoming
    /// side in the slot that it leaves. Counts the incoming item, as an insert does. Returns
    /// `false` if the incoming side was not stored, or if nothing was moved.
    pub fn relocate_slot(&self, side: Side, place: Place, incoming: Option<Side>) -> bool {
        let slot = self.leveled().encode(side.code, place.level);
        let moved = self.relocate::<GrowingWords>(Victim { side, place, slot }, incoming);
        if moved && incoming.is_some() {
            let _ = self.occupancy.count(1);
        }
        moved
    }
}
