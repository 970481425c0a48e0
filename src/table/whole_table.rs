//! Operations on the whole table, which hold all stripes: copy and clear.

use alloc::vec::Vec;

use super::{AllStripes, Nesting, Table, memory::advise_huge_pages};
use crate::{
    bucket::BucketLayout,
    sync::{AcqRel, Acquire, Relaxed},
};

/// Number of words whose occupied slots are counted together. They stay in a first-level cache.
const CENSUS_BLOCK: usize = 512;

/// Counts the occupied slots of words.
#[cfg(feature = "std")]
pub(crate) fn occupied<L: BucketLayout>(words: &[u64]) -> u64 {
    words.chunks(CENSUS_BLOCK).map(|block| L::census(block).occupied).sum()
}

impl Table {
    /// Returns a copy of all words that contains every item that is in the table throughout the
    /// call, or `None` if the system refuses the memory.
    #[must_use]
    pub fn copy_words(&self) -> Option<Vec<u64>> {
        let words = self.buckets.as_slice();
        let mut copy = Vec::new();
        copy.try_reserve_exact(words.len()).ok()?;
        // The page faults of the copy occur under the locks. Huge pages make them fewer.
        advise_huge_pages(copy.spare_capacity_mut());
        // mutant: copy-no-locks, copy-early-unlock, copy-one-lock-fewer, copy-any-order
        let _stripes = self.stripes.lock_all()?;
        // Relaxed: what must be seen happened before the locks were acquired, or before the call.
        // An insert that overlaps the call may be in the copy without having happened before it.
        copy.extend(words.iter().map(|word| word.load(Relaxed)));
        Some(copy)
    }

    /// Returns a copy of the table with stripes of its own, which contains every item that is in
    /// the table throughout the call, and the number of occupied slots; or `None` if the system
    /// refuses the memory.
    #[must_use]
    pub fn try_clone<L: BucketLayout>(&self, huge_pages: bool) -> Option<(Self, u64)> {
        let mut copy = Self::new(self.addressing, huge_pages)?;
        // mutant: clone-no-locks, clone-one-lock-fewer, clone-any-order
        let stripes = self.stripes.lock_all()?;
        // mutant: clone-early-unlock
        let occupied = self.copy_into::<L>(&stripes, &mut copy);
        Some((copy, occupied))
    }

    /// Removes every fingerprint. Returns the number of slots that were cleared.
    ///
    /// # Panics
    /// If the system refuses the memory to hold the locks. Nothing is cleared then.
    #[must_use]
    pub fn clear<L: BucketLayout>(&self) -> u64 {
        // mutant: clear-no-locks, clear-one-lock-fewer, clear-any-order
        let stripes = self.stripes.lock_all().expect("memory to hold the locks");
        // mutant: clear-no-bump, clear-late-bump, clear-bump-relaxed
        stripes.bump();
        // mutant: clear-early-unlock
        self.clear_locked::<L>(&stripes)
    }
}

impl<N: Nesting> Table<N> {
    /// Copies all words into an empty table of the same size. Returns the number of occupied slots.
    ///
    /// The caller holds all stripes of this table.
    pub(crate) fn copy_into<L: BucketLayout>(&self, _stripes: &AllStripes, copy: &mut Self) -> u64 {
        let mut block = [0; CENSUS_BLOCK];
        let mut count = 0;
        let (from, to) = (self.buckets.as_slice(), copy.buckets.as_mut_slice());
        for (from, to) in from.chunks(CENSUS_BLOCK).zip(to.chunks_mut(CENSUS_BLOCK)) {
            let block = &mut block[..from.len()];
            for ((copied, from), to) in block.iter_mut().zip(from).zip(to) {
                // Acquire: as in `BothWords::load`. A hit in the copy happens after the insert that
                // it found.
                *copied = from.load(Acquire);
                to.set(*copied);
            }
            count += L::census(block).occupied;
        }
        count
    }

    /// Removes every fingerprint. Returns the number of slots that were cleared.
    ///
    /// The caller holds all stripes, and has bumped their versions.
    pub(crate) fn clear_locked<L: BucketLayout>(&self, _stripes: &AllStripes) -> u64 {
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
            }
            count += L::census(block).occupied;
        }
        count
    }
}
