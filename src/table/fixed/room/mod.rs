//! Making room for an insert by moving fingerprints along an eviction path.

mod insert;
mod near;
mod pending;
mod search;

use self::{
    near::Near,
    search::{Plan, Progress, Search},
};
pub use self::{pending::PendingInserts, search::Move};
use super::{Addressing, FixedTable, FixedWords, Pair, Slots};
use crate::{InsertError, sync::Relaxed, table::stats::RelocationCount};

impl FixedTable {
    /// Searches for an empty slot and moves fingerprints so that one of the pair's buckets may have
    /// room.
    ///
    /// # Errors
    /// `Full` if no empty slot was found.
    pub(crate) fn make_room(
        &self,
        pair: Pair,
        relocations: &RelocationCount,
    ) -> Result<(), InsertError> {
        let near = self.starts_near() && self.make_room_by::<Near>(pair, relocations);
        if near || self.make_room_by::<Search>(pair, relocations) {
            return Ok(());
        }
        self.counters.search_failed();
        Err(InsertError::Full)
    }

    /// Whether a lone search begins with the nearest buckets. In a cache, this takes two thirds of
    /// the time; in memory it gains nothing. Not under loom and shuttle, whose tables
    /// are small and which must see the other search.
    fn starts_near(&self) -> bool {
        !self.is_in_memory() && !cfg!(any(loom, shuttle))
    }

    /// As [`make_room`](Self::make_room), by one search. Returns `false` if it found no empty slot.
    fn make_room_by<S: Plan>(&self, pair: Pair, relocations: &RelocationCount) -> bool {
        let mut search = S::default();
        search.start(&self.addressing, pair.buckets);
        let distance = self.lone_prefetch_distance();
        loop {
            match self.search_on(&mut search, distance) {
                Progress::Prefetched => {}
                Progress::Exhausted => return false,
                Progress::Room => {
                    // The caller looks again, so it does not matter whether all moves were made.
                    let _ = self.follow_path(pair, None, &search, relocations);
                    return true;
                }
            }
        }
    }

    /// Advances a search for room by one step.
    #[inline]
    fn search_on<S: Plan>(&self, search: &mut S, prefetch_distance: usize) -> Progress {
        let progress = search.advance(self, prefetch_distance);
        if progress == Progress::Room {
            self.counters.found_path(search.moves(&self.slots));
        }
        progress
    }

    /// Reads a bucket for a search. In the generation `now`, a slot that has expired counts as
    /// empty, because the moves will sweep it.
    #[inline]
    fn planned(&self, now: u64, bucket: u32) -> u64 {
        // Relaxed: this is a plan, and every move validates its own step of it. `Exhausted` is not
        // validated: the search misses a slot that is emptied after its bucket was read, and a slot
        // that only the second copy of a half-done move occupies.
        let word = self.buckets.bucket(bucket).load_to_change(Relaxed);
        self.unexpired::<FixedWords>(now, word)
    }

    /// Makes the moves of an eviction path as far as they are still valid. Returns `true` if one of
    /// them left one of the pair's buckets and stored `incoming` there.
    fn follow_path<S: Plan>(
        &self,
        pair: Pair,
        incoming: Option<u32>,
        search: &S,
        relocations: &RelocationCount,
    ) -> bool {
        for step in search.moves(&self.slots) {
            let alternate = self.addressing.alt_bucket(self.fingerprint_of(step.slot), step.from);
            debug_assert_eq!(step.to, alternate, "a path leads from bucket to alternate bucket");
            let incoming = incoming.filter(|_| pair.buckets.contains(&step.from));
            if !self.relocate::<FixedWords>(step, incoming) {
                return false;
            }
            relocations.increment();
            if incoming.is_some() {
                return true;
            }
        }
        false
    }
}
