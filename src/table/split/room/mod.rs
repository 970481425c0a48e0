//! Inserts that find both locations full: a search for room, and if that finds none, splits.

mod relocate;
mod search;

#[cfg(guira_vectors)]
use super::Kernel;
use super::{
    GrowingAddressing, GrowingTable, GrowingWords, Item, Place, Seen, Side, Size, Space,
    StripeGuard, Words,
    address::{Root, mask},
    size::grow::{GROUP, MAX_GROUPS},
};
use crate::{InsertError, table::stats::RelocationCount};
pub(super) use search::{Outcome, Search, Victim};

/// Largest number of times that one insert has buckets split because it finds no room.
const MAX_SPLITS: u32 = 64;
/// Fewest buckets of a table whose memory comes in steps of many buckets.
const IN_STEPS: u64 = 4_096;

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
            self.relieve(&search);
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

    /// Splits one of the buckets that a search has read and that have not been split in this round:
    /// in a large table the one whose turn is next, so that little memory is committed ahead of its
    /// turn; otherwise the nearest one. If there is none that can be split, splits the next
    /// buckets, so that the round ends.
    ///
    /// # Errors
    /// Why no bucket can be split, or `Crowded` if this insert has had enough of them split, or if
    /// the table has room and splits make none here.
    pub(super) fn split_within_reach(
        &self,
        search: &Search,
        splits: &mut u32,
    ) -> Result<(), InsertError> {
        *splits += 1;
        if *splits > MAX_SPLITS || self.is_sparse() {
            return Err(InsertError::Crowded);
        }
        let size = self.size();
        let unsplit = search.buckets().filter(|&(_, level)| level == size.level);
        if self.in_use() >= IN_STEPS
            && let Some((bucket, level)) = unsplit.min()
            && self.split_out_of_turn(bucket, level) == Ok(true)
        {
            return Ok(());
        }
        for (bucket, level) in search.buckets() {
            // One that cannot be split does not tell whether another one can.
            if self.split_out_of_turn(bucket, level) == Ok(true) {
                return Ok(());
            }
        }
        // Only the next round can help, and it is too far away.
        let left = (self.addressing.first() << size.level) - size.split;
        if search.is_closed() && left > u64::from(MAX_SPLITS) * GROUP {
            return Err(InsertError::Crowded);
        }
        self.split_in_turn()
    }

    /// Splits the next buckets after a long search, though the load is not above the target: it is
    /// too high for what the table holds. So many copies of many items lower the load until
    /// searches are short again.
    pub(super) fn relieve(&self, search: &Search) {
        if search.is_long && !self.is_sparse() {
            // Not much of a small table at once.
            let most = self.in_use() * u64::from(MAX_GROUPS) / IN_STEPS;
            let mut groups = 0..most.clamp(1, MAX_GROUPS.into());
            groups.all(|_| self.split_next(self.size()).is_ok());
        }
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
    /// few million that are no copies match two of four slots. Where copies are expected, it is
    /// four times as many as expected, but not all slots, since an item may share its fingerprint
    /// and its buckets with three others.
    fn too_many(&self, is_one_bucket: bool) -> usize {
        let slots = self.leveled().slots;
        let copies = self.limits.copies;
        let expected = if copies > 1 { (4 * copies).min(2 * slots - 1) } else { 3 };
        (if is_one_bucket { slots } else { slots.max(expected) }) as usize
    }
}
