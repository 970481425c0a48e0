//! Operations on the whole table, which hold all stripes: copy and clear.
//!
//! A split holds a stripe from its first load to its last count. So whoever holds all stripes finds
//! no split half done, and no level changes meanwhile. The size may lag, because a thread advances
//! it after it has released its stripe: the holder of all stripes does this first. Then the buckets
//! *in use* are those below the end that follows from the size, and the children of the buckets
//! that were split ahead of their turn. Those children are beyond the end, and have not been split
//! themselves: their turn is in the next round, which begins when this one is complete.
//!
//! The rest is as in a table of a fixed size: see "Copies of the table" in `table/mod.rs`. A slot
//! belongs to an item, or is a ghost. Ghosts come and go under stripes. So whoever holds all
//! stripes knows their number, and what else is occupied are items.

use core::ops::Range;

use super::{GrowingSpace, GrowingTable, Size};
use crate::{
    bucket::leveled::{level, slots},
    sync::{AcqRel, Relaxed, Word, acquire_fence},
    table::{AllStripes, ClockState, GrowingBuckets, memory::touch_pages},
};

/// If a table grows while it is to be copied, the next attempt prepares for as many more buckets as
/// the table has, divided by this.
pub(super) const SLACK: u64 = 16;

/// The number of items among the occupied slots, given the number of ghosts that was counted. The
/// other slots are ghosts.
///
/// If items were removed that had not been added, fewer slots than counted ghosts may be left.
pub(super) fn items(occupied: u64, ghosts: u64) -> u64 {
    occupied.saturating_sub(ghosts)
}

impl GrowingTable {
    /// Returns a copy of the table with stripes of its own, which contains every item that is in
    /// the table throughout the call, and the number of items in the copy; or `None` if the system
    /// refuses the memory.
    #[must_use]
    pub fn try_clone(&self) -> Option<(Self, u64)> {
        let GrowingSpace { limits, memory, .. } = self.space;
        let (leveled, first) = (*self.leveled(), self.addressing.first());
        let mut copy = Self::new(leveled, self.payload, first, limits, self.stripes(), memory)?;
        copy.kernel = self.kernel;
        // Relaxed: a limit that publishes nothing.
        copy.max_bytes.set(self.max_bytes.load(Relaxed));
        let (mut touched, mut slack) = (0, 0);
        let (size, splits, ghosts, clock) = loop {
            // Others wait for the locks, so the system provides the memory before.
            touched = self.prepare_copy(&mut copy.buckets, touched, slack)?;
            let time = self.clock.time_of_copy();
            let paused = self.clock.pause();
            let stripes = self.stripes.lock_all();
            if let Some(size) = self.copy_into(&stripes, &mut copy.buckets) {
                // After the words: see "Copies" in `table/expiry/mod.rs`.
                let clock = self.clock.state(time);
                let (splits, ghosts) = (self.occupancy.splits(), self.occupancy.ghosts());
                drop((stripes, paused));
                break (size, splits, ghosts, clock);
            }
            drop((stripes, paused));
            // The table has grown beyond what was prepared. What it has now is prepared next time,
            // and with the slack it takes longer each time to grow beyond that.
            slack += self.buckets() / SLACK + 1;
        };
        copy.set_size(size);
        copy.occupancy.start(0, 0, splits);
        let (mut occupied, mut end) = (0, 0);
        copy.for_each_in_use(|bucket, word| {
            // Relaxed: no other thread uses the copy.
            let word = word.load(Relaxed);
            occupied += u64::from(self.leveled().occupied(word));
            end = end.max(u64::from(bucket) + 1);
        });
        if slack > 0 {
            copy.buckets.truncate(end);
        }
        let items = items(occupied, ghosts.max(0) as u64);
        copy.occupancy.start(items as i64, (occupied - items) as i64, 0);
        copy.start_clock(clock.as_ref())?;
        Some((copy, items))
    }

    /// Commits in a copy the memory of the chunks that this table has committed, and of some
    /// buckets more. Has the system provide the memory of the buckets from `touched` to the end,
    /// and returns that end. `None` if the system refuses the memory.
    fn prepare_copy(&self, copy: &mut GrowingBuckets, touched: u64, slack: u64) -> Option<u64> {
        let end = (self.buckets() + slack).min(self.limits.buckets);
        // Buckets ahead of their turn have chunks of their own.
        self.buckets.committed().try_for_each(|chunk| copy.commit(chunk))?;
        copy.commit(0..end)?;
        copy.with_values(touched.min(end)..end, touch_pages);
        Some(end)
    }

    /// Sets the clock of a table that is not shared, and counts all its slots by their stamps, if
    /// they expire. Returns `None` if the system refuses the memory.
    #[must_use]
    pub(super) fn start_clock(&mut self, state: Option<&ClockState>) -> Option<()> {
        let Some(state) = state else { return Some(()) };
        self.clock.set(state)?;
        self.for_each_in_use(|_, word| {
            // Relaxed: the table is not shared.
            self.clock.count_all(self.leveled().lanes, &[slots(word.load(Relaxed))]);
        });
        Some(())
    }

    /// Copies the words of all buckets in use, and returns the size. A caller that finds an item in
    /// the copy happens after its insert. `None` if some of these buckets are not committed in the
    /// copy.
    fn copy_into(&self, stripes: &AllStripes, copy: &mut GrowingBuckets) -> Option<Size> {
        let size = self.settle(stripes);
        let end = self.addressing.buckets(size);
        if !copy.is_committed(0..end) {
            return None;
        }
        let mut at = 0;
        copy.with_values(0..end, |copied| {
            self.copy_words_from(at, copied);
            at += copied.len() as u64;
        });
        let mut all = true;
        self.for_each_ahead(size, |child, word| {
            let child = u64::from(child)..u64::from(child) + 1;
            all &= copy.is_committed(child.clone());
            if all {
                // Relaxed: as in `copy_words_from`. The fence below orders these loads.
                copy.with_values(child, |copied| copied[0] = word.load(Relaxed));
            }
        });
        // Pairs with the Release of whoever changed a word that was loaded: an insert, a
        // relocation, a removal, or a split.
        acquire_fence();
        all.then_some(size)
    }

    /// Removes every item and every ghost. Returns the number of items. The levels stay, and with
    /// them the size.
    #[must_use]
    pub fn clear(&self) -> u64 {
        let stripes = self.stripes.lock_all();
        stripes.bump();
        self.settle(&stripes);
        let (levels, mut occupied) = (!slots(u64::MAX), 0);
        self.for_each_in_use(|_, word| {
            // Release: pairs with the Acquire of `load_both`: a lookup that sees the slots cleared
            // sees the versions bumped. Acquire: pairs with the Release of `try_add`, so that the
            // caller happens after the inserts whose slots are counted. A level never falls: a
            // thread that compares and swaps a word from before the clear must fail, or find what
            // it has planned for.
            let cleared = word.fetch_and(levels, AcqRel);
            occupied += u64::from(self.leveled().occupied(cleared));
            self.clock.count_cleared(self.leveled().lanes, slots(cleared));
        });
        // Under the locks: whoever acquires them next finds no ghosts counted that are gone.
        let ghosts = self.occupancy.ghosts();
        self.occupancy.clear(occupied as i64 - ghosts, ghosts);
        drop(stripes);
        items(occupied, ghosts.max(0) as u64)
    }

    /// Advances the size as far as buckets have been split, and returns it. It stays as long as all
    /// stripes are held.
    pub(super) fn settle(&self, _stripes: &AllStripes) -> Size {
        self.advance_size();
        self.size()
    }

    /// Calls a function with every bucket in use: those below the end in order, and then the
    /// children of buckets that were split ahead of their turn, in the order of their parents.
    ///
    /// The caller holds all stripes and has [settled](Self::settle) the size, or no other thread
    /// changes the table.
    pub(super) fn for_each_in_use(&self, mut each: impl FnMut(u32, &Word)) {
        let size = self.size();
        let mut bucket = 0;
        self.buckets.for_each_run(0..self.addressing.buckets(size), |words| {
            for word in words {
                each(bucket, word);
                bucket = bucket.wrapping_add(1);
            }
        });
        self.for_each_ahead(size, each);
    }

    /// As [`for_each_in_use`](Self::for_each_in_use), of the children alone.
    pub(super) fn for_each_ahead(&self, size: Size, mut each: impl FnMut(u32, &Word)) {
        let mut left = self.split_ahead(size);
        if left == 0 {
            return;
        }
        let mut bucket = size.split;
        self.buckets.for_each_run(self.unsplit(size), |words| {
            for word in words {
                if left == 0 {
                    return;
                }
                // Relaxed: no level changes, and the splits happened before this.
                if level(word.load(Relaxed)) > size.level {
                    let child = self.addressing.child(bucket as u32, size.level);
                    each(child, self.bucket(child));
                    left -= 1;
                }
                bucket += 1;
            }
        });
    }

    /// The buckets that have not had their turn in this round.
    pub(super) fn unsplit(&self, size: Size) -> Range<u64> {
        size.split..self.addressing.first() << size.level
    }

    /// The number of buckets that were split ahead of their turn. It is exact in the situations of
    /// [`for_each_in_use`](Self::for_each_in_use).
    pub(super) fn split_ahead(&self, size: Size) -> u64 {
        let in_use = self.addressing.first() + self.occupancy.splits() as u64;
        in_use.saturating_sub(self.addressing.buckets(size))
    }
}
