//! Operations on the whole table, which hold all stripes: copy and clear.

use alloc::vec::Vec;

use super::{Buckets, FixedTable, Slots};
use crate::{
    sync::{AcqRel, acquire_fence, load_all},
    table::{AllStripes, ClockState, memory::touched_words},
};

/// Number of words whose occupied slots are counted together. They stay in a first-level cache.
const CENSUS_BLOCK: usize = 512;

/// Counts the occupied slots of words.
pub(crate) fn occupied(slots: &Slots, words: &[u64]) -> u64 {
    words.chunks(CENSUS_BLOCK).map(|block| slots.census(block).occupied).sum()
}

impl FixedTable {
    /// Returns a copy of all words that contains every item that is in the table throughout the
    /// call, and the state of the clock, if slots expire; or `None` if the system refuses the
    /// memory.
    #[must_use]
    pub fn copy_words(&self) -> Option<(Vec<u64>, Option<ClockState>)> {
        let mut copy = touched_words(self.buckets.as_slice().len())?;
        let clock = self.copy_into(&mut copy);
        Some((copy, clock))
    }

    /// Copies all words, in order, and returns the state of the clock. A caller that finds an item
    /// in the copy happens after its insert.
    ///
    /// Other threads wait for the stripes meanwhile, so the memory of the copy should be
    /// [touched](touched_words).
    ///
    /// # Panics
    /// If the copy does not have as many words as the table.
    fn copy_into(&self, copy: &mut [u64]) -> Option<ClockState> {
        let time = self.clock.time_of_copy();
        let paused = self.clock.pause();
        let stripes = self.stripes.lock_all();
        // Relaxed: what must be in the copy happened before the locks were acquired. The fence
        // orders these loads.
        load_all(self.buckets.as_slice(), copy);
        // Pairs with the Release of `try_add` and `change_slot`, for every word that was loaded.
        acquire_fence();
        // After the words, and under the locks: see "Copies" in `table/expiry/mod.rs`.
        let clock = self.clock.state(time);
        drop((stripes, paused));
        clock
    }

    /// Returns a copy of the table with stripes of its own, which contains every item that is in
    /// the table throughout the call, and the number of occupied slots; or `None` if the system
    /// refuses the memory.
    #[must_use]
    pub fn try_clone(&self) -> Option<(Self, u64)> {
        let mut copy = Buckets::new(self.addressing.buckets(), self.buckets.huge_pages())?;
        copy.touch();
        let clock = copy.with_words(|words| self.copy_into(words));
        let occupied = copy.with_words(|words| occupied(&self.slots, words));
        let mut table = Self::with_buckets(self.slots, self.payload, copy, self.stripes())?;
        table.kernel = self.kernel;
        table.start_clock(clock.as_ref())?;
        Some((table, occupied))
    }

    /// Removes every fingerprint. Returns the number of slots that were cleared.
    #[must_use]
    pub fn clear(&self) -> u64 {
        let stripes = self.stripes.lock_all();
        stripes.bump();
        self.clear_locked(&stripes)
    }

    /// The rest of `clear`, once all stripes are held, and their versions bumped.
    fn clear_locked(&self, _stripes: &AllStripes) -> u64 {
        let mut block = [0; CENSUS_BLOCK];
        let mut count = 0;
        for words in self.buckets.as_slice().chunks(CENSUS_BLOCK) {
            let block = &mut block[..words.len()];
            for (cleared, word) in block.iter_mut().zip(words) {
                // Release: pairs with the Acquire loads of `BothWords::load`: a lookup that sees
                // the slots cleared sees the versions bumped. Acquire: pairs with the Release of
                // `try_add`, so that the caller happens after the inserts whose copies are in the
                // count.
                *cleared = word.swap(0, AcqRel);
                self.clock.count_cleared(*self.slots.lanes(), *cleared);
            }
            count += self.slots.census(block).occupied;
        }
        count
    }

    /// The buckets, for a caller that knows that nobody changes them.
    #[cfg(feature = "std")]
    pub(crate) fn buckets(&self) -> &Buckets {
        &self.buckets
    }
}
