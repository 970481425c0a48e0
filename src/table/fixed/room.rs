//! Making room for an insert by moving fingerprints along an eviction path.

use core::mem::take;

use super::{Clock, FixedTable, Pair, Payload, Progress, Search, search::lone_prefetch_distance};
use crate::{
    InsertError,
    bucket::{BucketLayout, Fingerprint},
    sync::Relaxed,
    table::stats::RelocationCount,
};

impl<P: Payload> FixedTable<P> {
    /// Searches for an empty slot and moves fingerprints so that one of the pair's buckets may have
    /// room.
    ///
    /// # Errors
    /// `Full` if no empty slot was found.
    pub(crate) fn make_room<L: BucketLayout>(
        &self,
        pair: Pair,
        relocations: &mut RelocationCount,
    ) -> Result<(), InsertError> {
        let mut search = <Search>::default();
        search.relocations = take(relocations);
        search.start(&self.addressing, pair.buckets);
        let distance = lone_prefetch_distance(self.addressing.buckets());
        let outcome = loop {
            match self.search_on::<L, _, _>(&mut search, distance) {
                Progress::Prefetched => {}
                Progress::Exhausted => {
                    self.counters.search_failed();
                    break Err(InsertError::Full);
                }
                Progress::Room => {
                    // The caller looks again, so it does not matter whether all moves were made.
                    let _ = self.follow_path::<L, _, _>(pair, None, &search);
                    break Ok(());
                }
            }
        };
        *relocations = search.relocations;
        outcome
    }

    /// Advances a search for room by one step.
    #[inline]
    pub(super) fn search_on<L: BucketLayout, const REACH: usize, const PLACES: usize>(
        &self,
        search: &mut Search<REACH, PLACES>,
        prefetch_distance: usize,
    ) -> Progress {
        // Relaxed: this is a plan, and every move validates its own step of it. `Exhausted` is not
        // validated: the search misses a slot that is emptied after its bucket was read, and a slot
        // that only the second copy of a half-done move occupies. A slot that has expired counts as
        // empty, because the moves will sweep it.
        let now = self.clock.now();
        let read = |bucket| {
            let word = self.buckets.bucket(bucket).load_to_change(Relaxed);
            self.unexpired::<L>(now, word)
        };
        let prefetch = |bucket| self.buckets.prefetch(bucket);
        let progress = search.step::<L>(&self.addressing, prefetch_distance, read, prefetch);
        if progress == Progress::Room {
            self.counters.found_path(search.moves::<L>());
        }
        progress
    }

    /// Makes the moves of an eviction path as far as they are still valid. Returns `true` if one of
    /// them left one of the pair's buckets and stored `incoming` there.
    pub(super) fn follow_path<L: BucketLayout, const REACH: usize, const PLACES: usize>(
        &self,
        pair: Pair,
        incoming: Option<Fingerprint>,
        search: &Search<REACH, PLACES>,
    ) -> bool {
        for step in search.moves::<L>() {
            let incoming = incoming.filter(|_| pair.buckets.contains(&step.from));
            if !self.relocate::<L>(step, incoming) {
                return false;
            }
            search.relocations.increment();
            if incoming.is_some() {
                return true;
            }
        }
        false
    }
}
