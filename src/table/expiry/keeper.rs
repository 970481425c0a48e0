//! Timekeeping: the writers of a table whose slots expire begin its generations, by a clock that
//! the table has, and sweep it in small parts.
//!
//! `mod.rs` has the protocol of generations. This says which generation begins when, and which
//! call does the work. Let I be the interval, and w the window. The *start* of a write is its first
//! reading of the clock. All readings are of one clock, which never goes back, and lags behind the
//! time by at most `MAX_LAG`. So w × I is the time to live and this lag.
//!
//! # Steps
//!
//! 1. **Write**: read the clock, and load `next`, before the generation is read. If the reading is
//!    less than `next`, nothing is to be done. Otherwise do a *part of the work*, then go on with
//!    the write. A batch is one write.
//! 2. **Part of the work**: acquire the keeper's lock. (If another reading is still less than
//!    `due`, there is only something to sweep, and the write does not wait for the lock.) Read the
//!    clock once more. Try to acquire `advancing` and `sweeping`. While a generation is due and the
//!    table is swept enough, *begin* it. Then sweep what is due by `next`, up to [`CHUNK`] buckets
//!    in one call; if that completes a pass over the buckets, begin the next one. If the last
//!    reading has reached `due` all the same, store it in `late`.
//! 3. **Begin**: publish the next generation, and pass the locks of the stripes. Then set `due` to
//!    the interval after `due` or `late`, whichever is later. If w + 1 generations begin in one
//!    call (of `tick`: in all its parts), everything has expired, and `due` is at least an interval
//!    after the reading.
//! 4. **After a batch**, a part of the work for every [`ITEMS_PER_PART`] items, as long as one is
//!    due and no lock is taken. **`tick`** does parts until nothing is due at its first reading.
//!    Both store nothing in `late`, because they add no slot.
//!
//! # Why nothing is forgotten early
//!
//! Let `due(n)` be the value of `due` while n is the present generation, and `base(n)` the later
//! one of `due(n)` and of all that `late` contains meanwhile. So `due(n + 1)` is `base(n) + I` or
//! later, unless `advance` begins n + 1: see below.
//!
//! *A write that adds a stamp of g starts before `base(g)`, or at it.*
//!
//! 1. *It found nothing to do.* It loaded `next` or `due` from some generation m, and its start is
//!    less than `due(m)`, because `next` is never later than `due`. The store was a Release that
//!    came after m was published, so the write reads m at least as the present generation: m ≤ g,
//!    and `due(m) ≤ due(g)`.
//! 2. *It did a part of the work, and no generation was due in the end.* The same holds, for the
//!    generation m in which it released the lock.
//! 3. *It did a part, and a generation was still due.* Then it stored a reading that is no earlier
//!    than its start in `late`, in a generation m, under the lock. It reads m or a later generation
//!    after that. If a part of the work begins m + 1, it acquires the lock later, and sees what was
//!    stored. If `advance` does, `late` stays, and it is part of `base(m + 1)`, too.
//!
//! An item that expires with the generation `g + w + 1` is forgotten when that is published, not
//! before a reading of `due(g + w)`, which is at least `base(g) + w × I`. So it is found for w × I
//! from its start. (An `insert_for` that is to live for k generations adds a stamp that is w - k
//! older, and the same holds with k in place of w. An `advance` begins a generation and leaves
//! `due` as it is: it takes one interval from each item that is in the table by then, or that is
//! being inserted.)
//!
//! # How long an item is found at most
//!
//! A write that adds the stamp of the present generation g returns after a reading of `due(g - 1)`.
//! The generation `g + w + 1` is due at `due(g - 1) + (w + 1) × I` if nothing is stored in `late`.
//! So the first part of the work with a reading of (w + 1) × I after the return forgets the item:
//! by the time, that is the time to live, the interval, and twice the lag. However long nobody
//! called before, this part begins all generations that are due, up to w + 1, if two things hold:
//!
//! - The table is swept enough: see "Which call pays".
//! - No other call holds `advancing` or `sweeping` at this moment: a copy of the table, an
//!   `advance`, a `tick`, a sweep, also that of an insert that makes the table grow.
//!   Otherwise a write stores its reading in `late`, since the item that it adds has to live from
//!   there on, and so does every item of its generation.
//!
//! # Why no stamp comes twice
//!
//! There are `M = 2^stamp_bits` stamps. The *slack* s is M - 2 - w, at least 1. A *pass* sweeps
//! every bucket once. It begins in a generation b, after the locks were passed, so it sweeps all
//! that had expired in b: what has a stamp of b - w - 1 or older. (What is older than that was
//! swept by former passes. In the first generations of a table there is nothing to sweep: no stamp
//! is less than 1.) **The generation n + 1 begins only if a pass is complete that began in
//! n + 1 - s or later.** By the time it is published, no slot is older than n + 1 - s - w, whose
//! age in n + 1 is M - 2: still an expired one. So no age is ambiguous, and the stamp of n + 1 is
//! on no slot, except by late inserts. `advance` completes the present pass first. (It does not
//! look for a later one, so in a new table it begins one generation more than this rule allows, of
//! which the stamp was never used.)
//!
//! A pass can last for several generations. Each bucket is swept by the generation that was read
//! under `sweeping`; no call begins one while another holds this lock. A `sweep`, or an insert that
//! makes the table grow, may complete a pass, too. If a generation has begun since it did, the call
//! begins the next pass: if it gets `advancing`, that generation has passed the locks.
//!
//! # Which call pays
//!
//! Writes share the passes. For its part of the work, a write sweeps at most [`CHUNK`] buckets, and
//! in a table that grows also those that were split off from them since the pass began. (An insert
//! that makes such a table grow sweeps beside that: see `grow`.) The parts of a pass are scheduled
//! evenly over half an interval: `next` is the time of the next part. Writes that come too seldom
//! do a part each.
//!
//! If a generation needs a pass that is not complete, it begins late, and items are found for
//! longer. Two parts in each interval for every [`CHUNK`] buckets are always enough: then a pass
//! begins in each generation and is complete before the next one, so that w + 1 generations can
//! begin at any time if the slack is larger than w + 1. (A write before `next`, or beside another
//! part, does none. So this many writes are enough if they come evenly, one after the other.) A
//! copy or a table that was loaded does not know how far it is swept: its next generation begins
//! after a whole pass. `tick` sweeps whatever is due.
//!
//! # Locks
//!
//! The lock of the keeper is acquired with no other lock held. Its holder only tries to acquire
//! `advancing` and `sweeping`, and waits for one stripe at a time. Nobody who holds a stripe waits
//! for one of the three. So no cycle of waiting threads forms, and nobody waits for a holder that
//! waits for a copy of the table. But writes that start after `due` wait for the keeper's lock, so
//! for a part of the work, which waits for each stripe in turn: for a thread that is stopped with a
//! stripe or with this lock, for a `clear`, and again and again for a
//! `tick` that has much to sweep.

use super::{
    ClockState, Generations, MAX_GENERATION, MAX_LAG, MAX_READING, Space, Table, TimeSource, Words,
};
use crate::sync::{Acquire, Lock, Relaxed, Release, Word};

/// Largest number of buckets that a write sweeps: about 20 µs, if each of them is written.
const CHUNK: u64 = if cfg!(any(loom, shuttle)) { 1 } else { 1024 };

/// Number of items of a batch for each further part of the work that comes after it.
const ITEMS_PER_PART: usize = if cfg!(any(loom, shuttle)) { 1 } else { 64 };

/// When the next generation is due, by the clock of the table.
#[derive(Debug)]
pub struct Keeper {
    pub(super) time: TimeSource,
    lock: Lock,
    /// When there is something to do: at `due`, or earlier if there is something to sweep. Holders
    /// of `lock` write this and what follows.
    next: Word,
    /// When the present generation ends.
    due: Word,
    /// The last start of a write that may have been stamped late in the present generation.
    late: Word,
}

impl Keeper {
    /// A keeper whose generation has lasted for some time by now.
    pub(super) fn new(state: ClockState, time: TimeSource) -> Self {
        let now = time.now();
        let due = now.saturating_add(state.interval - state.elapsed);
        let [next, due, late] = [now, due, 0].map(Word::new);
        Self { time, lock: Lock::new(), next, due, late }
    }

    /// The time of the present generation that has passed, for a copy that is in this generation or
    /// an earlier one, whose items live for longer then.
    pub(super) fn elapsed(&self, interval: u64) -> u64 {
        let _keeping = self.lock.lock();
        // Relaxed: the lock orders these loads. What was stamped late, or is being stamped now, has
        // at least one nanosecond left of its generation.
        let left = self.due.load(Relaxed).saturating_sub(self.time.now());
        interval - left.max(1).min(interval)
    }
}

impl Generations {
    /// The number of generations after which everything has expired.
    pub(super) fn life(&self) -> u64 {
        u64::from(self.window) + 1
    }

    /// The number of generations in which a slot is expired, at least one.
    pub(super) fn slack(&self) -> u64 {
        self.mask - 1 - u64::from(self.window)
    }

    /// The number of generations that last for this many nanoseconds at least, if there is an
    /// interval and the number is not absurd.
    pub(crate) fn generations_in(&self, nanos: u128) -> Option<u32> {
        let interval = u128::from(self.interval());
        let lag = self.keeper.as_ref().map_or(0, |_| MAX_LAG);
        let generations = (interval != 0).then(|| (nanos + u128::from(lag)).div_ceil(interval));
        u32::try_from(generations?.max(1)).ok()
    }

    /// Returns whether a write has to do a part of the work first.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        let has_work = |keeper: &Keeper| {
            let start = keeper.time.now();
            // Acquire: pairs with the Release in `do_part`. The write reads the generation to which
            // this belongs, or a later one.
            start >= keeper.next.load(Acquire)
        };
        self.keeper.as_ref().is_some_and(has_work)
    }

    /// Returns whether parts of the work fall to a batch of this many items, after it.
    #[inline]
    pub(crate) fn has_work_after(&self, items: usize) -> bool {
        items >= ITEMS_PER_PART && self.has_work()
    }

    /// Returns whether the generation after `now` may begin, for a holder of `sweeping`.
    fn may_begin_after(&self, now: u64, is_swept: bool) -> bool {
        // Relaxed: the lock orders these loads.
        let clean = if is_swept { self.begun.load(Relaxed) } else { self.clean.load(Relaxed) };
        now < MAX_GENERATION.min(clean + self.slack())
    }
}

impl<S: Space> Table<S> {
    /// Does a part of the work before a write, if the table keeps time.
    #[cold]
    pub fn keep_time<L: Words<S>>(&self) {
        let Some(keeper) = &self.clock.keeper else { return };
        // Acquire: as in `has_work`, if the lock is taken.
        // mutant-ok: loom does not run another thread between a store of the lock's holder and the
        // release
        let only_sweeps = keeper.time.now() < keeper.due.load(Acquire);
        let guard = if only_sweeps { keeper.lock.try_lock() } else { Some(keeper.lock.lock()) };
        let Some(_keeping) = guard else { return };
        let time = keeper.time.now();
        self.do_part::<L>(keeper, time, &mut self.clock.life());
        // Relaxed: the lock orders these accesses. A write that comes too late for its generation
        // ends it later.
        if time >= keeper.due.load(Relaxed) {
            keeper.late.store(time, Relaxed);
        }
    }

    /// Does the parts of the work that fall to a batch of this many items, after it, if the table
    /// keeps time. Waits for stripes if a generation is due, and for nothing else.
    #[cold]
    pub fn catch_up<L: Words<S>>(&self, items: usize) {
        let Some(keeper) = &self.clock.keeper else { return };
        for _ in 0..items / ITEMS_PER_PART {
            let time = keeper.time.now();
            // Relaxed: the call adds no slot, and the part looks again under the lock.
            let is_due = time >= keeper.next.load(Relaxed);
            let Some(_keeping) = is_due.then(|| keeper.lock.try_lock()).flatten() else { return };
            if !self.do_part::<L>(keeper, time, &mut self.clock.life()).0 {
                return;
            }
        }
    }

    /// Does all work that is due by the clock of the table, if it has one. Returns the present
    /// generation if this call has begun it.
    pub fn tick<L: Words<S>>(&self) -> Option<u64> {
        let keeper = self.clock.keeper.as_ref()?;
        // One reading, so that this comes to an end however short the interval is.
        // (What is never due is due at the last time that there is.)
        let time = keeper.time.now().min(MAX_READING);
        let (mut begun, mut left) = (None, self.clock.life());
        // Acquire: as in `has_work`.
        // mutant-ok: the call adds no slot
        while time >= keeper.next.load(Acquire) {
            let keeping = keeper.lock.lock();
            let (is_done, last) = self.do_part::<L>(keeper, time, &mut left);
            drop(keeping);
            begun = last.or(begun);
            if !is_done {
                // The keeper's lock is free meanwhile, so that writes go on.
                drop(self.clock.advancing.lock());
                drop(self.clock.sweeping.lock());
            }
        }
        begun
    }

    /// Does a part of what is due at a time, for a holder of the keeper's lock. Returns whether the
    /// other locks were free, and the last generation that it has begun. The caller's first part
    /// has a [`life`](Generations::life) `left`.
    fn do_part<L: Words<S>>(
        &self,
        keeper: &Keeper,
        time: u64,
        left: &mut u64,
    ) -> (bool, Option<u64>) {
        let clock = &self.clock;
        // Whoever holds one of these may take long.
        let Some(_advancing) = clock.advancing.try_lock() else { return (false, None) };
        let Some(_sweeping) = clock.sweeping.try_lock() else { return (false, None) };
        let interval = clock.interval();
        // Relaxed, here and below: the locks order these accesses, but for those of `next`.
        let (mut next, mut due) = (keeper.next.load(Relaxed), keeper.due.load(Relaxed));
        let (mut rest, mut begun) = (CHUNK, None);
        loop {
            let (now, end) = (clock.now(), self.end_of_sweep());
            let is_swept = clock.swept.load(Relaxed) >= end;
            if time >= due && clock.may_begin_after(now, is_swept) {
                clock.tick();
                // Whoever holds a stripe may still decide by the generation before.
                self.stripes.pass();
                due = due.max(keeper.late.swap(0, Relaxed)).saturating_add(interval);
                *left = left.saturating_sub(1);
                if *left == 0 {
                    // Everything has expired.
                    due = due.max(time.saturating_add(interval));
                }
                begun = Some(now + 1);
            } else if !is_swept && rest > 0 && time >= next.min(due) {
                let buckets = rest.min(CHUNK);
                clock.sweep_locked((now, end), buckets, |now, bucket, end| {
                    L::sweep_bucket(self, now, bucket, end);
                });
                rest -= buckets.min(end);
                next = next.saturating_add(interval / 2 / (end / CHUNK + 1));
            } else if is_swept && clock.begun.load(Relaxed) < now {
                // The present generation has passed all locks: its pass may begin.
                clock.begin_sweep_locked(now, self.end_of_next_sweep());
                next = time;
            } else {
                // None is due after it.
                if now == MAX_GENERATION {
                    due = u64::MAX;
                }
                // Release, twice: pairs with the Acquires of `keep_time` and of `has_work`.
                // mutant-ok: as in `keep_time`
                keeper.due.store(due, Release);
                keeper.next.store(if is_swept { due } else { next.min(due) }, Release);
                return (true, begun);
            }
        }
    }
}
