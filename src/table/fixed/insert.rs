//! Inserts that find both buckets full: a search for room, and the moves that make it.

use core::mem::take;

use super::{FixedTable, Pair, Payload, Progress, Search, search::lone_prefetch_distance};
use crate::{InsertError, bucket::BucketLayout, table::stats::RelocationCount};

/// The state of an insert that searches for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchStep {
    /// The next buckets have been prefetched.
    Prefetched,
    /// The plan went stale: the table changed before the moves were made.
    Stale,
    /// There is no empty slot within reach of the search.
    Exhausted,
    /// The insert is complete.
    Done,
}

impl<P: Payload> FixedTable<P> {
    /// The rest of `insert`, once both buckets were full.
    #[cold]
    #[inline(never)]
    pub(crate) fn insert_by_relocating<L: BucketLayout>(
        &self,
        pair: Pair,
    ) -> Result<(), InsertError> {
        self.insert_alone::<L>(pair, &mut RelocationCount::zero())
    }

    /// Completes one insert whose buckets were full, and which has made this many relocations.
    #[inline(never)]
    pub(super) fn insert_alone<L: BucketLayout>(
        &self,
        pair: Pair,
        relocations: &mut RelocationCount,
    ) -> Result<(), InsertError> {
        let mut search = <Search>::default();
        search.relocations = take(relocations);
        let distance = lone_prefetch_distance(self.addressing.buckets());
        loop {
            if self.add_swept::<L>(&pair) {
                self.counters.insert_relocated(&search.relocations);
                return Ok(());
            }
            self.start_search::<L, _, _>(pair, &mut search)?;
            loop {
                match self.step_search::<L, _, _>(pair, &mut search, distance) {
                    SearchStep::Prefetched => {}
                    SearchStep::Stale => break,
                    SearchStep::Exhausted => {
                        return self.add_at_last::<L>(pair, &search.relocations);
                    }
                    SearchStep::Done => return Ok(()),
                }
            }
        }
    }

    /// Starts the search of an insert whose buckets were full.
    ///
    /// # Errors
    /// `TooManyCopies` if they hold only copies of its fingerprint.
    pub(super) fn start_search<L: BucketLayout, const REACH: usize, const PLACES: usize>(
        &self,
        pair: Pair,
        search: &mut Search<REACH, PLACES>,
    ) -> Result<(), InsertError> {
        if self.holds_only_copies::<L>(pair) {
            return Err(InsertError::TooManyCopies);
        }
        search.start(&self.addressing, pair.buckets);
        Ok(())
    }

    /// Advances the search of an insert by one step, and completes the insert if the search has
    /// found room.
    #[inline]
    pub(super) fn step_search<L: BucketLayout, const REACH: usize, const PLACES: usize>(
        &self,
        pair: Pair,
        search: &mut Search<REACH, PLACES>,
        prefetch_distance: usize,
    ) -> SearchStep {
        match self.search_on::<L, _, _>(search, prefetch_distance) {
            Progress::Prefetched => return SearchStep::Prefetched,
            Progress::Exhausted => return SearchStep::Exhausted,
            Progress::Room => {}
        }
        let stored = self.follow_path::<L, _, _>(pair, Some(pair.fingerprint), search);
        if !stored && !self.add::<L>(&pair) && !self.add_swept::<L>(&pair) {
            return SearchStep::Stale;
        }
        self.counters.insert_relocated(&search.relocations);
        SearchStep::Done
    }

    /// The last attempt of an insert whose search found no empty slot. Since its buckets were read,
    /// a slot may have become empty, or more copies of its fingerprint may have been added.
    #[cold]
    fn add_at_last<L: BucketLayout>(
        &self,
        pair: Pair,
        relocations: &RelocationCount,
    ) -> Result<(), InsertError> {
        self.counters.search_failed();
        if self.add::<L>(&pair) || self.add_swept::<L>(&pair) {
            self.counters.insert_relocated(relocations);
            return Ok(());
        }
        let only_copies = self.holds_only_copies::<L>(pair);
        Err(if only_copies { InsertError::TooManyCopies } else { InsertError::Full })
    }
}
