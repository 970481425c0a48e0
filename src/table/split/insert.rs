//! Inserts: one compare-and-swap where a location has an empty slot; otherwise a search for room,
//! and if that finds none, splits.

use core::hint::select_unpredictable;

use super::{
    GrowingTable, Item, Seen,
    search::{Outcome, Search},
};
use crate::{
    InsertError,
    bucket::{
        GrowingLayout,
        leveled::{level, slots},
    },
    sync::{Relaxed, Release},
    table::{Clock, Payload, StripeGuard, stats::RelocationCount},
};

/// Largest number of buckets that one insert splits because it finds no room.
const MAX_SPLITS: u32 = 64;

/// The outcome of adding an item under its lock if it is absent.
enum Addition {
    Added,
    /// A slot matches it, with this value.
    Found(u16),
    NoRoom,
}

impl<P: Payload> GrowingTable<P> {
    /// Adds a copy of an item. Relocates slots if both locations are full, and splits buckets if
    /// that does not help.
    ///
    /// # Errors
    /// `TooManyCopies`, if both locations are full and copies take half of their slots. If no slot
    /// is within reach, and no bucket within reach can be split: why that is so.
    #[inline]
    pub fn insert<L: GrowingLayout>(&self, item: &Item) -> Result<(), InsertError> {
        // mutant: split-insert-relaxed
        if !self.add::<L>(item) {
            self.insert_by_making_room::<L>(item)?;
        }
        // mutant: split-insert-uncounted
        self.count_added::<L>();
        Ok(())
    }

    /// Adds a copy of an item unless a slot matches it. Returns whether it was added.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), but for `TooManyCopies`.
    pub fn insert_unique<L: GrowingLayout>(&self, item: &Item) -> Result<bool, InsertError> {
        self.get_or_insert::<L>(item).map(|found| found.is_none())
    }

    /// Adds a copy of an item unless a slot matches it, with this or another value. Returns `None`
    /// if it was added, and otherwise the value that was found: that of the slot that knows most.
    ///
    /// # Errors
    /// As [`insert_unique`](Self::insert_unique).
    #[inline]
    pub fn get_or_insert<L: GrowingLayout>(&self, item: &Item) -> Result<Option<u16>, InsertError> {
        let (mut made_room, mut splits) = (Ok(()), 0);
        let relocations = RelocationCount::zero();
        loop {
            // mutant: split-unique-no-lock, split-unique-wrong-lock
            let guard = self.stripe::<L>(item).lock();
            // mutant: split-unique-lock-gap, split-unique-relaxed, split-unique-load-relaxed
            match self.add_if_absent::<L>(&guard, item) {
                Addition::Found(value) => return Ok(Some(value)),
                Addition::Added => {
                    // No stripe is held while the table grows.
                    drop(guard);
                    self.counters.insert_relocated(&relocations);
                    // mutant: split-unique-uncounted
                    self.count_added::<L>();
                    return Ok(None);
                }
                Addition::NoRoom => {}
            }
            // mutant: split-unique-lock-kept
            drop(guard);
            // Not earlier: another call may have added the item during the failed search.
            made_room?;
            // The lock is released while making room: the slots to be moved may belong to the same
            // stripe, and the thread would wait for itself.
            let mut search = Search::default();
            // mutant: split-unique-no-second-scan, split-unique-no-last-scan
            // mutant: split-unique-move-wrong-lock, split-unique-move-no-bump
            // mutant: split-unique-move-early-bump, split-unique-move-late-bump
            // mutant: split-unique-move-bump-relaxed, split-unique-move-clear-relaxed
            // mutant: split-unique-move-read-relaxed, split-unique-move-copy-relaxed
            // mutant: split-unique-move-no-lock, split-unique-move-stale-plan
            made_room = match self.search::<L>(item, None, &mut search, &relocations) {
                Outcome::Exhausted => self.split_within_reach::<L>(&search, &mut splits),
                // The caller looks again, whether or not all moves were made.
                Outcome::Stored | Outcome::Stale | Outcome::Copies => Ok(()),
            };
        }
    }

    /// Adds a slot on the side with more empty slots. Returns `false` if both locations are full.
    #[inline]
    pub(super) fn add<L: GrowingLayout>(&self, item: &Item) -> bool {
        loop {
            let seen = self.load_both_to_change(item);
            match self.try_add::<L>(item, seen) {
                Some(true) => return true,
                // Located again, and encoded again: the bucket may have been split.
                Some(false) => {}
                None => return false,
            }
        }
    }

    /// Adds an item under its lock unless a slot matches it.
    ///
    /// Presence and room are decided by the same words, as in a table of a fixed size.
    fn add_if_absent<L: GrowingLayout>(&self, _guard: &StripeGuard, item: &Item) -> Addition {
        loop {
            let seen = self.load_both_to_change(item);
            // mutant: split-unique-with-value
            let found = self.value_in::<L>(item, seen);
            if let Some(value) = found {
                // mutant: split-unique-own-value
                return Addition::Found(value);
            }
            // mutant: split-unique-two-reads
            match self.try_add::<L>(item, seen) {
                Some(true) => return Addition::Added,
                Some(false) => {}
                None => return Addition::NoRoom,
            }
        }
    }

    /// Adds a slot to the emptier one of two words. Returns `Some(false)` if that word has changed
    /// since, and `None` if both are full.
    #[inline]
    fn try_add<L: GrowingLayout>(&self, item: &Item, seen: [Seen; 2]) -> Option<bool> {
        // No branches: the words may still be on their way from memory.
        let second_is_emptier = slots(seen[1].word) < slots(seen[0].word);
        let [first, second] = seen;
        let word = select_unpredictable(second_is_emptier, second.word, first.word);
        let bucket = select_unpredictable(second_is_emptier, second.bucket, first.bucket);
        let [first, second] = item.sides.map(|side| side.code.extension);
        let extension = select_unpredictable(second_is_emptier, second, first);
        let code = crate::bucket::Code { extension, ..item.sides[0].code };
        let slot = L::encode(code, level(word), self.value_bits());
        let new = L::with(word, slot)?;
        // Release: pairs with the Acquire of whoever loads the word, so that a hit happens after
        // the insert. Relaxed on failure: the word is loaded again.
        // mutant: split-add-plain-store
        let added = self.bucket(bucket).compare_exchange(word, new, Release, Relaxed).is_ok();
        if added {
            self.counters.inserted();
            // mutant: split-add-age-uncounted
            self.clock.count_added(slot as u32);
        }
        Some(added)
    }

    /// The rest of `insert`, once both locations were full.
    #[cold]
    #[inline(never)]
    fn insert_by_making_room<L: GrowingLayout>(&self, item: &Item) -> Result<(), InsertError> {
        let relocations = RelocationCount::zero();
        let mut splits = 0;
        loop {
            if self.add_swept::<L>(item) {
                self.counters.insert_relocated(&relocations);
                return Ok(());
            }
            let (mut search, mut made_room) = (Search::default(), Ok(()));
            // mutant: split-insert-move-wrong-lock, split-insert-move-no-bump
            // mutant: split-insert-move-early-bump, split-insert-move-late-bump
            // mutant: split-insert-move-bump-relaxed, split-insert-move-clear-relaxed
            // mutant: split-insert-move-read-relaxed, split-insert-move-copy-relaxed
            // mutant: split-insert-move-no-lock, split-insert-move-stale-plan
            let stored = match self.search::<L>(item, Some(item), &mut search, &relocations) {
                Outcome::Stored => true,
                Outcome::Stale => false,
                Outcome::Copies => {
                    // mutant: split-copies-estimate, split-copies-no-lock, split-copies-wrong-lock
                    if self.count::<L>(item) >= Self::half_of_slots::<L>(item) {
                        return Err(InsertError::TooManyCopies);
                    }
                    false
                }
                Outcome::Exhausted => {
                    self.counters.search_failed();
                    made_room = self.split_within_reach::<L>(&search, &mut splits);
                    false
                }
            };
            // mutant: split-search-add-relaxed, split-insert-no-last-add
            // Slots may have expired since, if the search failed.
            if stored || self.add::<L>(item) || made_room.is_err() && self.add_swept::<L>(item) {
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
    pub(super) fn split_within_reach<L: GrowingLayout>(
        &self,
        search: &Search,
        splits: &mut u32,
    ) -> Result<(), InsertError> {
        *splits += 1;
        if *splits > MAX_SPLITS || self.is_sparse::<L>() {
            return Err(InsertError::Full);
        }
        for (bucket, level) in search.buckets() {
            // One that cannot be split does not tell whether another one can.
            if self.split_out_of_turn::<L>(bucket, level) == Ok(true) {
                return Ok(());
            }
        }
        // mutant: split-reach-round-stays
        self.split_in_turn::<L>()
    }

    /// Counts an item that was added, and lets the table grow if that is due. The caller holds no
    /// stripe.
    #[inline]
    pub(super) fn count_added<L: GrowingLayout>(&self) {
        if self.occupancy.count(1) {
            self.grow::<L>();
        }
    }
}
