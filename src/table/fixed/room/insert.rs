//! Inserts that find both buckets full: a search for room, and the moves that make it.

use super::{FixedTable, FixedWords, Near, Pair, Plan, Progress, Search};
use crate::{InsertError, table::stats::RelocationCount};

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

impl FixedTable {
    /// The rest of `insert`, once both buckets were full.
    #[cold]
    #[inline(never)]
    pub(crate) fn insert_by_relocating(&self, pair: Pair) -> Result<(), InsertError> {
        self.insert_alone(pair, &RelocationCount::zero())
    }

    /// Completes one insert whose buckets were full, and which has made this many relocations.
    #[inline(never)]
    pub(super) fn insert_alone(
        &self,
        pair: Pair,
        relocations: &RelocationCount,
    ) -> Result<(), InsertError> {
        let near = self.starts_near() && self.insert_by::<Near>(pair, relocations)?;
        if near || self.insert_by::<Search>(pair, relocations)? {
            return Ok(());
        }
        self.add_at_last(pair, relocations)
    }

    /// As [`insert_alone`](Self::insert_alone), by searches of one form. Returns `false` if one of
    /// them found no empty slot.
    fn insert_by<S: Plan>(
        &self,
        pair: Pair,
        relocations: &RelocationCount,
    ) -> Result<bool, InsertError> {
        let mut search = S::default();
        let distance = self.lone_prefetch_distance();
        loop {
            if self.add_swept::<FixedWords>(&pair) {
                self.counters.insert_relocated(relocations);
                return Ok(true);
            }
            self.start_search(pair, &mut search)?;
            loop {
                match self.step_search(pair, &mut search, relocations, distance) {
                    SearchStep::Prefetched => {}
                    SearchStep::Stale => break,
                    SearchStep::Exhausted => return Ok(false),
                    SearchStep::Done => return Ok(true),
                }
            }
        }
    }

    /// Starts the search of an insert whose buckets were full.
    ///
    /// # Errors
    /// `TooManyCopies` if they hold only copies of its fingerprint.
    pub(super) fn start_search<S: Plan>(
        &self,
        pair: Pair,
        search: &mut S,
    ) -> Result<(), InsertError> {
        if self.holds_only_copies(pair) {
            return Err(InsertError::TooManyCopies);
        }
        search.start(&self.addressing, pair.buckets);
        Ok(())
    }

    /// Advances the search of an insert by one step, and completes the insert if the search has
    /// found room.
    #[inline]
    pub(super) fn step_search<S: Plan>(
        &self,
        pair: Pair,
        search: &mut S,
        relocations: &RelocationCount,
        prefetch_distance: usize,
    ) -> SearchStep {
        match self.search_on(search, prefetch_distance) {
            Progress::Prefetched => return SearchStep::Prefetched,
            Progress::Exhausted => return SearchStep::Exhausted,
            Progress::Room => {}
        }
        let slot = self.slots.slot(pair.fingerprint.get(), pair.value);
        let stored = self.follow_path(pair, Some(slot), search, relocations);
        if !stored && !self.add::<FixedWords>(&pair) && !self.add_swept::<FixedWords>(&pair) {
            return SearchStep::Stale;
        }
        self.counters.insert_relocated(relocations);
        SearchStep::Done
    }

    /// The last attempt of an insert whose search found no empty slot. Since its buckets were read,
    /// a slot may have become empty, or more copies of its fingerprint may have been added.
    #[cold]
    fn add_at_last(&self, pair: Pair, relocations: &RelocationCount) -> Result<(), InsertError> {
        self.counters.search_failed();
        if self.add::<FixedWords>(&pair) || self.add_swept::<FixedWords>(&pair) {
            self.counters.insert_relocated(relocations);
            return Ok(());
        }
        let only_copies = self.holds_only_copies(pair);
        Err(if only_copies { InsertError::TooManyCopies } else { InsertError::Full })
    }
}
