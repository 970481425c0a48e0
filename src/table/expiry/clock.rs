//! Expiry and its protocol: slots have ages, and the table has a clock that counts generations.
//!
//! This extends the protocol of a [`table`](crate::table) with values, and uses its terms. What is
//! particular to a table that grows is in `table/split/expiry.rs`. The
//! value of a slot is its *stamp*: the generation g of its insert or refresh, modulo
//! `M = 2^stamp_bits`. (`insert_for` takes an earlier generation, so that the slot expires sooner.)
//!
//! ```text
//!               visible                           expired                     spared
//!  age    0      1   ...   w   |   w + 1      ...      M - 2   |              M - 1
//!  stamp  n    n - 1     n - w |  n-w-1               n - M + 2 |   n + 1: a slot of the
//!                                                               |   generation that just begins
//! ```
//!
//! In the generation n, the *age* of a slot is `n - stamp` modulo M. With a window of w, at most
//! M - 3, a slot is *visible* up to the age w, and *expired* from the age w + 1 to the age M - 2. A
//! slot of the last age, M - 1, is *spared*: a thread that still takes n for the present generation
//! may see slots of the generation n + 1.
//!
//! # Steps
//!
//! 1. **Look up**: read the generation, the version, both words, the version again, and the
//!    generation again. A visible match is a hit. Without one, the item is absent if neither the
//!    version nor the generation has changed; otherwise retry.
//!    (A batch may read the generation before and after all of its items.)
//! 2. **Add**, by `insert`: read the generation, and add to an empty slot, without a lock.
//! 3. **Sweep**: under a lock, read the generation; then clear the expired slots of a word by one
//!    compare-and-swap. The lock is that of any stripe, or `sweeping`, a lock of the clock that is
//!    held while the buckets are swept in order. No version is bumped.
//! 4. **Move**: as in a table, but read the generation under the lock. An expired slot is cleared,
//!    or replaced by the incoming fingerprint, in place of being moved. Expired slots in the
//!    destination are swept by the change that adds the copy. If the original is swept between the
//!    two halves, the copy remains, and the incoming fingerprint is not stored: the insert searches
//!    again.
//! 5. **`insert_unseen`**: under the stripe's lock, read the generation; then add to a slot that is
//!    empty or expired, unless there is a visible match. After making room without the lock, start
//!    again.
//! 6. **Refresh**: under the stripe's lock, read the generation and the words, bump the version,
//!    and replace the stamp of the *oldest* visible match by one compare-and-swap. **Remove** names
//!    the generation: under the lock, if that is visible, bump the version and clear a slot with
//!    its stamp, the one that knows most.
//! 7. **Evict**, after an insert found no room: find the oldest slot of the pair's buckets, and
//!    acquire its lock. Then read both words, and the generation after them. If both words are full
//!    and the slot is the oldest, bump the version and replace the slot by one compare-and-swap.
//!    Otherwise start again.
//! 8. **Advance**: read the generation, and acquire a lock. If the generation has changed, return
//!    the new one. Otherwise complete the sweep of all buckets; publish the next generation; then
//!    *pass the locks*, which means to acquire and release every stripe, one after the other. Only
//!    then may the next sweep of all buckets begin. (Inserts and moves, under a stripe's lock, may
//!    sweep single words as soon as the generation is published.)
//!
//! # What a lock tells about the time
//!
//! *If a thread acquires a stripe's lock and then reads the generation n, no thread reads n + 2
//! before the lock is released.* The advance to n + 1 acquires this lock after it has published
//! that generation. If it did so before the thread, the thread would have read n + 1 at least. So
//! it does so later, and waits for the release. The advance to n + 2 begins after that. (A holder
//! of `sweeping` that reads n and has buckets left to sweep holds up the tick to n + 1 until it has
//! swept them.)
//!
//! So a decision about expiry that is made and acted upon under a lock is at most one generation
//! old. A decision without a lock can be arbitrarily old: a thread may be suspended for M
//! generations, and then sweep what is visible.
//!
//! One generation old is still too old to tell what is there. While a holder of the stripe takes n
//! for the present generation, a holder of another lock may sweep in n + 1 a slot that is visible
//! in n. So `insert_unseen`, `refresh` and `count` read the generation again after the words, and
//! start again if it has changed. (Otherwise a refresh could miss its own copy, which was swept,
//! and find only that of an alias, which has the stamp of n already. It would report that the item
//! was refreshed, but a removal of the alias would take the only copy.) If the oldest copy is swept
//! after this second read, the refresh also starts again. If the item's own copy is swept instead,
//! it expired with n + 1, and so did the older copy that the refresh takes: no other item needs
//! that. (A removal need not read the generation again. If a sweep of n + 1 took the slot of its
//! item, all slots with that stamp have expired.)
//!
//! # Why nothing visible is swept
//!
//! Say that a thread read n under a lock and sweeps a slot. The slot was stamped in a generation g
//! with `(n - g) mod M` in `w + 1 ..= M - 2`, and g is at most n + 1, as nobody has read n + 2. The
//! difference n - g is not -1, whose residue is M - 1. So it is at least w + 1: the slot was not
//! visible in the generation n, and n had been published. In the same way, a slot that a move
//! copies was not expired in the generation that the mover read. So the copy expires at the
//! earliest in the next one, whose sweep begins after the mover's lock was passed, and finds it.
//!
//! No slot leaks (but see "Late inserts"): in each generation every bucket is swept once after the
//! clock has passed all locks. An expired slot has M - 2 - w generations, at least one, in which it
//! is swept.
//!
//! # Why a miss is correct
//!
//! An item is *in the table* during a lookup if it is so by the definition for a table without
//! expiry, and the lookup returns while the generation of the item's stamp is visible. Assume first
//! that nothing is refreshed. The argument of a table applies to fingerprints with their stamps,
//! except that sweeps clear slots without a bump. Say that the last round of a lookup that misses
//! read the generation n twice, and consider an item of the generation g, visible in n.
//!
//! Consider a sweep of which a load returned the result. It had read some generation m, at most n:
//! by coherence, because the load synchronizes with the sweep's change of the word, and the second
//! read of the generation comes after the load. If the sweep took a slot with the stamp of g, then
//! `(m - g) mod M` was in `w + 1 ..= M - 2`. Since `m - g` is at most w, m is at most `g - 2`, and
//! no thread read g before that sweep ended. So the sweep ended before all inserts of the
//! generation g, and took nothing of theirs. (A move that drops an expired slot is such a sweep.)
//! All other clearings bump. So the miss is correct.
//!
//! The generation must be validated. Say that a lookup reads 20, and is suspended. The item, which
//! is in the table throughout, is refreshed in the generation 22. The stamp of 22 looks M - 2
//! generations old. (A match that looks visible although it has expired meanwhile is a hit: it was
//! visible when the lookup read the generation.)
//!
//! *Refreshing.* A refresh is a removal of a fingerprint with the old stamp, and an insert of one
//! with the new stamp. It bumps, so a miss is correct in between: compare the argument for
//! `replace`. The table cannot distinguish aliases, so a refresh may take another item's slot. So
//! items may share a slot. Say that each item in the table is assigned a slot that matches it and
//! is no older than the item. An item that was never refreshed is *removable*; others are left to
//! expire, by the contract. **A slot that is assigned to a removable item of its own generation is
//! assigned to no other item.** The steps preserve this:
//!
//! 1. *Inserts.* The new slot is assigned to the new item alone.
//! 2. *Moves and splits.* A slot goes where it matches all of its items. If a split copies it, each
//!    of the two is assigned to the items that are found there.
//! 3. *A refresh of x in the generation n* takes o, the oldest visible slot that matches x. If o
//!    has the stamp of n, all matches have it, that of x among them, and x keeps its slot.
//!    Otherwise all items of o are older than n. They keep o, which only lasts longer, and x is
//!    assigned o, too. (If the refresh settled for another slot that has the stamp of n, x might
//!    rely on the slot of a removable item, and that item's removal would take it.)
//! 4. *A removal of x*, which is removable and of the generation g, takes u: of the matches with
//!    the stamp of g the one that knows most (see `table/split/mod.rs`; in a table of a fixed size all
//!    know the same). Let v be the slot of x. If u is v, no other item had it. Otherwise the items
//!    of u are assigned v, which is no older than u. All that v knows is true of them if v knows no
//!    more than u, because they and x agree in what u knows. If v has the stamp of g, x was alone
//!    on v, and v knows no more than u. If v is younger, no item of u is of its generation, and no
//!    removable item of its generation shared it with x. But then v may know more.
//! 5. *So a removal takes nothing* if a match younger than g knows more than u, and x is left to
//!    expire. This can be left out if nothing was refreshed within the window, because *a slot that
//!    is younger than one of its items implies a refresh in the generation of the slot or later*: a
//!    refresh makes it so, and a removal of x gives v to the items of u only if v is as young as u,
//!    or younger than x. The last generation of a refresh is noted under the lock of its stripe,
//!    for all stripes together. (Any refresh counts: an alias of y that is not in the table can be
//!    refreshed, too, and takes y's slot.)
//!
//! # Late inserts
//!
//! A plain insert may be suspended between reading the generation and adding. Then it adds a slot
//! with an old stamp. If the stamp has expired, the slot is swept in due course, unless its bucket
//! has had the last sweep in which the stamp is expired. If its residue is visible once more, the
//! item is found for one more window, as a false positive. The slot is one more than the argument
//! counts, and no item is lost by it. (But it looks young, so an eviction may take a visible slot
//! beside it.)
//!
//! # Advances that overlap
//!
//! 1. *The generation that a call returns was published after the call began.* If the call ticks,
//!    this is so. Otherwise the generation has changed since the call read it. (The read can return
//!    a former generation only if the tick did not happen before the call.)
//! 2. *Each call ticks at most once, and only from the generation that it read first.* So of all
//!    calls that have read the generation n, one ticks to n + 1, and the others return what they
//!    find when they get the lock. They get it after that call has passed the stripes, so whoever
//!    returns n + 1 knows that nobody decides by n - 1.
//! 3. *A call that waits must not tick again.* Say that two calls read n, and the first one ticks.
//!    An item is inserted in n + 1, and the second call ticks, too. Then the item has lost a
//!    generation although every advance began before its insert did.
//!
//! # Evicting
//!
//! Let n be the generation that `insert_evicting` read under the victim's lock, after the words.
//!
//! 1. *No slot in the words has a stamp later than n.* Whoever adds a slot of the generation n + 1
//!    has read n + 1, and adds by a Release. The loads of the words are Acquires, so the read of
//!    the generation would have returned n + 1. So the ages by n are right (except those
//!    of late inserts: see above), and the oldest slot is that of the oldest generation. (The two
//!    words are no snapshot: an older item that is moved between them meanwhile may be missed.)
//! 2. *Until the compare-and-swap, only a sweep or a split takes the victim*, because the lock is
//!    held. The generation is n or n + 1 by then. If it is gone, the eviction starts again.
//!    Otherwise a slot of the same fingerprint and generation is replaced.
//! 3. *Who removes.* An eviction takes a copy that nobody removed. So it breaks the payment on
//!    which "Why a miss is correct" relies, if anybody removes items: the contract of removal
//!    forbids it.
//! 4. *The answer.* If the victim is visible in n, the eviction counts as one in n. If it is not,
//!    it has expired in n, and in n + 1, too; or it is the slot of a late insert.
//! 5. *By a generation that was read before the words,* the slots of the next generation have the
//!    last age: they look oldest, and not visible. The eviction would take one of them although an
//!    older slot is there, or report that it replaced nothing.
//!
//! # Copies
//!
//! A clone holds `sweeping` and all stripes while it copies the words, and then reads the
//! generation. So at most one tick comes between the first word and that read. Then it releases
//! them, and only then waits for the lock of the schedule (see `schedule.rs`), which `tick_by`
//! holds while it waits for `sweeping`. Nobody holds a stripe while waiting for `sweeping`, and an
//! advance holds at most one stripe at a time. So no cycle of waiting threads forms.
//!
//! # Counting
//!
//! For each stamp there is a count of the slots that have it. Whoever fills or clears a slot
//! changes it. A move changes it only if the original was swept meanwhile, because then a copy is
//! left that nobody has counted. What has expired is not in the sum that `len` returns, swept or
//! not.

use alloc::boxed::Box;

use super::{
    keeper::Keeper,
    schedule::{ClockState, Schedule},
    stamp_counts::StampCounts,
};
use crate::{
    bucket::Lanes,
    sync::{Acquire, Lock, Relaxed, Release, Tally, Word},
    table::try_boxed,
};

/// The clock of a table whose slots expire. It counts generations, and ticks when
/// [`advance`](crate::table::Table::advance) is called.
#[derive(Debug)]
pub struct Generations {
    pub(super) now: Word,
    /// Largest age of a visible slot, at most `2^stamp_bits - 3`.
    pub(super) window: u32,
    pub(super) stamp_bits: u32,
    /// Held while the clock ticks.
    pub(super) advancing: Lock,
    /// Held while buckets are swept, for one chunk of them.
    pub(super) sweeping: Lock,
    /// The buckets that have been swept in this generation, and the number of those to be swept.
    /// Holders of `sweeping` access them.
    pub(super) swept: Word,
    pub(super) end: Word,
    /// The generation whose sweep this is. It is the present one, but for the time between a tick
    /// and the beginning of its sweep.
    pub(super) begun: Word,
    /// The generation in which the last complete sweep began.
    pub(super) clean: Word,
    pub(super) counts: StampCounts,
    /// The number of slots with each stamp that belong to no item: none in a table of a fixed size.
    pub(super) ghosts: Box<[Tally]>,
    /// In a table that grows, the last generation in which a refresh restamped a slot, or zero.
    /// Written under the stripe of the slot.
    pub(super) refreshed: Word,
    pub(super) schedule: Schedule,
    /// If the table keeps time itself: see `keeper.rs`.
    pub(super) keeper: Option<Keeper>,
}

impl Generations {
    /// Returns a clock that starts in the generation `now`, or `None` if the system refuses the
    /// memory for its counters. Of a table that grows, the first `grows` buckets are to be swept.
    pub(crate) fn new(
        now: u64,
        (window, stamp_bits): (u32, u32),
        stripes: usize,
        grows: Option<u64>,
    ) -> Option<Self> {
        debug_assert!(window <= (1_u32 << stamp_bits) - 3);
        let stamps = grows.map_or(0, |_| 1 << stamp_bits);
        Some(Self {
            now: Word::new(now),
            window,
            stamp_bits,
            advancing: Lock::new(),
            sweeping: Lock::new(),
            swept: Word::new(0),
            end: Word::new(grows.unwrap_or(0)),
            begun: Word::new(now),
            clean: Word::new(now),
            counts: StampCounts::new(stamp_bits, stripes)?,
            ghosts: try_boxed((0..stamps).map(|_| Tally::new()))?,
            refreshed: Word::new(0),
            schedule: Schedule::new(ClockState::new(window, now, 0)),
            keeper: None,
        })
    }

    /// The largest age of a visible slot.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Least nanoseconds of a generation, or zero if none is ever due.
    pub(crate) fn interval(&self) -> u64 {
        self.schedule.interval()
    }

    /// The current generation, at the start of a lookup or an insert.
    #[inline]
    pub fn generation(&self) -> u64 {
        // Acquire: pairs with the Release of `tick` below. The words that the caller reads next
        // show what was swept before the tick.
        self.now.load(Acquire)
    }

    /// As [`generation`](Self::generation), for a thread that may begin the next one.
    pub(super) fn generation_to_change(&self) -> u64 {
        // Acquire: what the caller does next comes after the beginning of this generation.
        // mutant-ok: an advance validates it under a lock, and the caller's clock is in no model
        self.now.load_to_change(Acquire)
    }

    /// Begins the next generation. The caller holds `advancing`.
    pub(super) fn tick(&self) {
        // Relaxed: the lock orders this load.
        let now = self.now.load_to_change(Relaxed);
        // Release: pairs with the Acquire of `generation`. A swap only because of loom, which does
        // not know that a plain store follows a read-modify-write of `generation_to_change`.
        self.now.swap(now + 1, Release);
    }

    #[inline]
    pub(super) fn mask(&self) -> u64 {
        (1 << self.stamp_bits) - 1
    }

    /// Returns whether a generation is visible.
    #[inline]
    pub(super) fn is_visible(&self, now: u64, generation: u64) -> bool {
        generation <= now && now - generation <= self.window.into()
    }

    /// Returns whether a slot that ends with a stamp is visible.
    #[inline]
    pub(in crate::table) fn shows(&self, now: u64, slot: u32) -> bool {
        self.age(now, slot) <= self.window
    }

    /// The age of a slot that ends with a stamp.
    #[inline]
    pub(super) fn age(&self, now: u64, slot: u32) -> u32 {
        (now.wrapping_sub(slot.into()) & self.mask()) as u32
    }

    /// The ages of all slots of a word, empty ones included, in the lowest bits of each lane.
    #[inline]
    pub(super) fn ages(&self, lanes: Lanes, now: u64, word: u64) -> u64 {
        let stamps = lanes.broadcast(self.mask() as u32);
        // The bit above each stamp lends to the subtraction, so that no lane borrows from another.
        let minuend = lanes.broadcast((now & self.mask()) as u32 | 1 << self.stamp_bits);
        (minuend - (word & stamps)) & stamps
    }

    /// Marks the lanes whose age is at least `age`, which must be at least 1.
    #[inline]
    pub(super) fn at_least(&self, lanes: Lanes, ages: u64, age: u32) -> u64 {
        // The sum has the bit above the stamp if it reaches `2^stamp_bits`. No lane overflows.
        let sums = ages + lanes.broadcast((1 << self.stamp_bits) - age);
        sums << (lanes.bits() - 1 - self.stamp_bits) & lanes.highs()
    }

    /// Notes that a refresh is about to restamp a slot. The caller holds its stripe, and has read
    /// the generation since.
    pub(super) fn note_refresh(&self, now: u64) {
        // Relaxed: who depends on it acquires the stripe. Most refreshes of a generation only read
        // the line.
        if self.refreshed.load(Relaxed) < now {
            self.refreshed.fetch_max(now, Relaxed);
        }
    }

    /// Returns whether a slot of the caller's stripe that is still visible may have been restamped.
    /// The caller holds that stripe, and has read the generation since.
    pub(super) fn has_refreshed(&self, now: u64) -> bool {
        // Relaxed: as in `note_refresh`.
        let refreshed = self.refreshed.load(Relaxed);
        refreshed != 0 && now.saturating_sub(refreshed) <= self.window.into()
    }
}

/// Largest number of bits of a stamp.
const MAX_STAMP_BITS: u32 = 8;
/// Largest number of stamps.
pub(crate) const MAX_STAMPS: usize = 1 << MAX_STAMP_BITS;

/// The smallest number of bits of stamps for a window, or `None` if there is none. An age is
/// visible, expired, or the last one, which is neither.
pub(crate) fn stamp_bits(window: u32) -> Option<u32> {
    (2..=MAX_STAMP_BITS).find(|bits| (1..=(1 << bits) - 3).contains(&window))
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use crate::table::{Payload, expiry::Aged};

    /// A removal takes a restamped slot into account as long as one can be visible.
    #[test]
    fn a_refresh_is_remembered_for_a_window() {
        const WINDOW: u32 = 5;
        let clock = Aged::new(3, WINDOW, 10).clock(8, Some(16)).expect("memory");
        assert!(!clock.has_refreshed(10));
        for noted in [10, 12] {
            clock.note_refresh(noted);
            let last = noted + u64::from(WINDOW);
            assert!((noted..=last).all(|now| clock.has_refreshed(now)));
            assert!(!clock.has_refreshed(last + 1));
        }
    }
}
