//! Growth: when buckets are split, by whom, and the split itself.

use super::{GrowingTable, Size};
use crate::table::{Words, split::GrowingWords};
use crate::{
    InsertError,
    bucket::leveled::{MAX_LEVEL, level},
    sync::{AcqRel, Acquire, Relaxed, Release},
};

/// Number of neighbouring buckets that are split under one lock: those of a cache line.
pub(in crate::table) const GROUP: u64 = if cfg!(any(loom, shuttle)) { 1 } else { 8 };
/// Largest number of groups that one insert splits because the load is above the target, or because
/// its search was long. Each call makes room for a quarter more than the inserts since the last one
/// need, so that the table catches up.
pub(in crate::table) const MAX_GROUPS: u32 = 8;
/// Number of further groups of which a thread tries the locks, if others split at the same time.
const TRIED: u32 = 8;
/// Number of buckets that an insert sweeps before it splits a group, in a table whose slots expire.
const SWEPT_BEFORE_SPLIT: u64 = if cfg!(any(loom, shuttle)) { 1 } else { 256 };
/// Largest number of slots of a table in which any insert without room splits buckets. What threads
/// have counted for themselves makes a difference there.
const ALWAYS_SPLIT: u64 = 4_096;
/// Number of times that the hint is published in a round. Every lookup reads it, so that publishing
/// it more often would cost them a cache miss each time; a lookup of a bucket that was split since
/// goes on by the level in its word.
const HINTS_PER_ROUND: u64 = 128;

impl GrowingTable {
    /// Splits buckets while the load is above the target, a bounded number of them.
    #[cold]
    #[inline(never)]
    pub(in crate::table) fn grow(&self) {
        for _ in 0..MAX_GROUPS {
            let size = self.size();
            // Also those beyond the size: a thread that stops in a split holds up the size alone.
            let slots = self.in_use() * u64::from(self.leveled().slots);
            let target = self.limits.items_in(slots);
            if self.occupancy.occupied() <= target as i64 {
                return;
            }
            // Room that a sweep makes need not be made by splits.
            if self.clock.sweeps() {
                self.do_part::<GrowingWords>(self.clock.time_passed(), SWEPT_BEFORE_SPLIT);
            }
            // An insert that finds no room learns why the table did not grow.
            if self.occupancy.occupied() <= target as i64 || self.split_next(size) != Ok(true) {
                return;
            }
        }
    }

    /// Returns whether the load is less than half of the target, in a table of some size. Then an
    /// insert without room meets many copies of few items, which splits do not separate, and each
    /// such insert would only make the table larger.
    pub(in crate::table) fn is_sparse(&self) -> bool {
        let slots = self.in_use() * u64::from(self.leveled().slots);
        let half = self.limits.items_in(slots / 2) as i64;
        slots > ALWAYS_SPLIT && self.occupancy.occupied() < half
    }

    /// Splits the next group of buckets that no other thread is splitting. Returns `false` if other
    /// threads are splitting all buckets that could be split next.
    ///
    /// The first one to try is that at which the size stands: it may have been passed over, because
    /// its stripe was in use. The others begin where no thread has been.
    ///
    /// # Errors
    /// The table may not grow further, or the system refuses the memory.
    pub(in crate::table) fn split_next(&self, size: Size) -> Result<bool, InsertError> {
        self.check_level(size.level)?;
        if self.split_group(size, size.split / GROUP)? {
            return Ok(true);
        }
        for _ in 0..TRIED {
            // Relaxed: a place to begin, and every bucket is looked at under its lock.
            let ahead = Size::unpack(self.sizes.cursor.load(Relaxed));
            let group = if ahead.level == size.level { ahead.split / GROUP } else { 0 };
            let group = group.max(size.split / GROUP + 1);
            if group * GROUP >= self.addressing.first() << size.level {
                break;
            }
            let next = Size { split: (group + 1) * GROUP, ..size };
            // Relaxed: as above.
            self.sizes.cursor.fetch_max(next.pack(), Relaxed);
            match self.split_group(size, group) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                // The first group is left, which another thread may be splitting.
                Err(_) => break,
            }
        }
        Ok(false)
    }

    /// Splits a group of buckets. Returns `false` if another thread holds the lock.
    fn split_group(&self, size: Size, group: u64) -> Result<bool, InsertError> {
        let round = self.addressing.first() << size.level;
        let first = (group * GROUP).max(size.split);
        let last = (group * GROUP + GROUP).min(round);
        // Committed first: a thread that waits for the system holds no lock.
        self.commit(round + first..round + last)?;
        let last = last.min(self.limits.buckets - round);
        let Some(guard) = self.stripes.at(group as usize).try_lock() else { return Ok(false) };
        let now = self.clock.now();
        for bucket in first..last {
            self.split_bucket(now, bucket as u32, size.level);
        }
        drop(guard);
        self.advance_size();
        // The next group is split a few dozen inserts later.
        for bucket in [last, round + last, round + last + GROUP - 1] {
            self.buckets.prefetch(bucket.min(self.limits.buckets - 1) as u32);
        }
        Ok(true)
    }

    /// Splits the buckets whose turn it is. If other threads are splitting all of them, waits for
    /// one of these: no insert is refused because another thread has stopped.
    ///
    /// # Errors
    /// Why they cannot be split.
    pub(in crate::table) fn split_in_turn(&self) -> Result<(), InsertError> {
        let size = self.size();
        if !self.split_next(size)? {
            drop(self.stripes.at((size.split / GROUP) as usize).lock());
        }
        Ok(())
    }

    /// Splits a bucket before its turn, because an insert found no room. Returns whether it was
    /// split; not if it has been split in this round.
    ///
    /// # Errors
    /// Why it cannot be split.
    pub(in crate::table) fn split_out_of_turn(
        &self,
        bucket: u32,
        level: u32,
    ) -> Result<bool, InsertError> {
        let size = self.size();
        self.check_level(size.level)?;
        // Buckets of the next level have their turn in the next round.
        if level != size.level {
            return Ok(false);
        }
        let child = self.addressing.future_child(bucket, level);
        self.commit(child..child + 1)?;
        let guard = self.stripes.at((u64::from(bucket) / GROUP) as usize).lock();
        let now = self.clock.now();
        let split = self.split_bucket(now, bucket, level);
        drop(guard);
        self.advance_size();
        Ok(split)
    }

    /// Returns an error if no bucket of this level may be split.
    pub(in crate::table) fn check_level(&self, level: u32) -> Result<(), InsertError> {
        let round = self.addressing.first() << level;
        if level == MAX_LEVEL || round >= 1 << 32 {
            return Err(InsertError::FullyGrown);
        }
        Ok(())
    }

    /// Commits the memory of buckets.
    ///
    /// # Errors
    /// Why it cannot be committed.
    fn commit(&self, buckets: core::ops::Range<u64>) -> Result<(), InsertError> {
        if buckets.start >= self.limits.buckets {
            return Err(InsertError::FullyGrown);
        }
        let buckets = buckets.start..buckets.end.min(self.limits.buckets);
        if self.buckets.is_committed(buckets.clone()) {
            return Ok(());
        }
        // Relaxed: a limit that publishes nothing.
        let max_bytes = self.max_bytes.load(Relaxed);
        let _guard;
        if max_bytes != u64::MAX {
            // So that two threads do not both take what is left.
            _guard = self.committing.lock();
            let needed = self.size_in_bytes() + self.buckets.bytes_to_commit(buckets.clone());
            if needed as u64 > max_bytes {
                return Err(InsertError::Full);
            }
        }
        self.buckets.commit(buckets).ok_or(InsertError::OutOfMemory)
    }

    /// Splits a bucket of this level, unless it has been split. The caller holds the lock of its
    /// group, has read the generation `now` since, and has committed the memory of the child.
    ///
    /// One compare-and-swap moves the locations of all items whose next bit is 1 to the child.
    pub(in crate::table) fn split_bucket(&self, now: u64, bucket: u32, at: u32) -> bool {
        let parent = self.bucket(bucket);
        let child = self.bucket(self.addressing.child(bucket, at));
        // Relaxed, here and on failure: the switch acquires what the changes of the word published,
        // and the child passes it on.
        let mut word = parent.load_to_change(Relaxed);
        while level(word) == at {
            // What has expired is swept by the switch.
            let expired = self.expired::<GrowingWords>(now, word);
            let carried = <GrowingWords as Words<_>>::without_all(&self.space, word, expired);
            let halves = self.leveled().halves(carried);
            // Release: pairs with the Acquire of those who come here from the parent, though they
            // also acquire the switch below. No other thread reaches the child, or writes to it:
            // that takes the level in the parent, or the lock.
            child.store(halves.child, Release); // mutant-ok: the switch is a Release, too
            // Release: whoever sees the new level sees the child. Acquire: an item may have moved
            // away from here and back, so that the word is the same again. Then this must happen
            // after the move back, whose second half cleared a slot elsewhere.
            match parent.compare_exchange(word, halves.stays, AcqRel, Relaxed) {
                Ok(()) => {
                    self.occupancy.count_split();
                    self.count_ghosts(halves.copied.into());
                    self.count_split_slots((word, expired), carried);
                    return true;
                }
                Err(changed) => word = changed,
            }
        }
        false
    }

    /// Counts ghosts that were made, or cleared. The caller holds a stripe. If slots expire, ghosts
    /// count as items: a sweep cannot tell one from the other.
    pub(in crate::table::split) fn count_ghosts(&self, change: i64) {
        if !self.clock.sweeps() {
            self.occupancy.count_ghosts(change);
        } else if change != 0 {
            // A later insert checks whether the table has to grow: see `Occupancy::count`.
            let _ = self.occupancy.count(change);
        }
    }

    /// Counts by their stamps the slots of a word that its split has swept, which are marked, and
    /// those that it has copied. (What has expired may be more by now.)
    #[inline]
    fn count_split_slots(&self, (word, expired): (u64, u64), carried: u64) {
        if !self.clock.sweeps() {
            return;
        }
        self.count_swept::<GrowingWords>(word, expired);
        for slot in self.leveled().occupied_slots(carried) {
            // Nothing of the tail is left, and the marker is the lowest bit above the stamp.
            if slot >> (self.leveled().core + self.value_bits()) == 1 {
                self.clock.count_added(slot as u32);
            }
        }
    }

    /// The hint of a table of this size. Searches depend on it, so it follows from the size: tables
    /// with equal histories make the same moves, also if one of them was saved and loaded.
    pub(in crate::table) fn hint_for(&self, Size { level, split }: Size) -> Size {
        let step = ((self.addressing.first() << level) / HINTS_PER_ROUND).max(GROUP);
        Size { level, split: split / step * step }
    }

    /// Advances the size over all buckets that have been split, whoever split them.
    pub fn advance_size(&self) {
        loop {
            // Acquire: pairs with the Release below.
            // mutant-ok: as in `size`
            let seen = Size::unpack(self.sizes.size.load_to_change(Acquire));
            let (mut size, round) = (seen, self.addressing.first() << seen.level);
            // Acquire: pairs with the Release of the switch. A lookup that goes by this size goes
            // to the child, and must see its word.
            while size.split < round
                && level(self.bucket(size.split as u32).load(Acquire)) > size.level
            {
                size.split += 1;
            }
            if size == seen {
                return;
            }
            if size.split == round {
                size = Size { level: size.level + 1, split: 0 };
            }
            // Release: pairs with the Acquire of `size`. Another thread may have advanced further.
            // mutant-ok: as in `size`
            self.sizes.size.fetch_max(size.pack(), Release);
            let hint = self.hint_for(size);
            if hint > self.hint_for(seen) {
                // Release: pairs with the Acquire of `hint`.
                self.hint.fetch_max(hint.pack(), Release);
            }
        }
    }
}
