//! Inserts that find both locations full: a search for room, and if that finds none, splits.

mod relocate;
mod search;

#[cfg(guira_vectors)]
use super::Kernel;
use super::{
    GrowingTable, GrowingWords, Growth, Item, Place, Seen, Side, Size, Space, StripeGuard, Words,
    address::{Root, mask},
};
use crate::{InsertError, table::stats::RelocationCount};
pub(super) use search::{Outcome, Search, Victim};

/// Largest number of times that one insert has buckets split because it finds no room.
const MAX_SPLITS: u32 = 64;

impl GrowingTable {
    /// The rest of `insert`, once both locations were full.
    #[cold]
    #[inline(never)]
    pub(super) fn insert_by_making_room(&self, item: &Item) -> Result<(), InsertError> {
        let relocations = RelocationCount::zero();
        let mut splits = 0;
        loop {
            if self.add_swept::<GrowingWords>(item) {
                self.counters.insert_relocated(&relocations);
                return Ok(());
            }
            let (mut search, mut made_room) = (Search::new(), Ok(()));
            let stored = match self.search(item, Some(item), &mut search, &relocations) {
                Outcome::Stored => true,
                Outcome::Stale => false,
                Outcome::Copies => {
                    if self.has_too_many(item, item) {
                        return Err(InsertError::TooManyCopies);
                    }
                    false
                }
                Outcome::Exhausted => {
                    self.counters.search_failed();
                    made_room = self.split_within_reach(&search, &mut splits);
                    false
                }
            };
            // Slots may have expired since, if the search failed.
            if stored
                || self.add::<GrowingWords>(item)
                || made_room.is_err() && self.add_swept::<GrowingWords>(item)
            {
                self.counters.insert_relocated(&relocations);
                return Ok(());
            }
            // Not earlier: another thread may have made room.
            made_room?;
        }
    }

    /// Splits one of the buckets that a search has read, the nearest one that has not been split in
    /// this round. If there is none that can be split, splits the next buckets, so that the round
    /// ends.
    ///
    /// # Errors
    /// Why no bucket can be split, or `Full` if this insert has had enough of them split, or if the
    /// table has room and splits make none here.
    pub(super) fn split_within_reach(
        &self,
        search: &Search,
        splits: &mut u32,
    ) -> Result<(), InsertError> {
        *splits += 1;
        if *splits > MAX_SPLITS || self.is_sparse() {
            return Err(InsertError::Full);
        }
        for (bucket, level) in search.buckets() {
            // One that cannot be split does not tell whether another one can.
            if self.split_out_of_turn(bucket, level) == Ok(true) {
                return Ok(());
            }
        }
        self.split_in_turn()
    }

    /// Returns whether an insert that found both locations full must be refused: they are full, and
    /// copies take as many of their slots as they may. `known` is the item, or as much of it as is
    /// known.
    pub(super) fn has_too_many(&self, item: &Item, known: &Item) -> bool {
        let _guard = self.stripe::<GrowingWords>(item).lock();
        let (_, seen) = self.load_unexpired(known);
        seen.iter().all(|seen| self.leveled().is_full(seen.word)) && self.are_too_many(known, seen)
    }

    /// As [`has_too_many`](Self::has_too_many), for words of both locations without expired slots.
    pub(super) fn are_too_many(&self, item: &Item, seen: [Seen; 2]) -> bool {
        GrowingWords::copies_in(&self.space, item, (), seen)
            >= self.too_many(seen[0].bucket == seen[1].bucket)
    }

    /// Counts an item that was added, and lets the table grow if that is due. The caller holds no
    /// stripe.
    #[inline]
    pub(super) fn count_added(&self) {
        if self.occupancy.count(1) {
            self.grow();
        }
    }

    /// The number of copies to which no more are added if their locations are full: as many as a
    /// bucket has slots. Many copies of few items would fill buckets that splits cannot relieve.
    ///
    /// Of the four slots of two buckets it is three: with short fingerprints, two items out of a
    /// few million that are no copies match two of four slots.
    fn too_many(&self, is_one_bucket: bool) -> usize {
        let slots = self.leveled().slots;
        (if is_one_bucket { slots } else { slots.max(3) }) as usize
    }
}
