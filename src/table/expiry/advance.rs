//! Sweeps, and the beginning of generations: see `mod.rs`, which has the protocol.

use super::{Generations, MAX_GENERATION, Space, Table, Words};
use crate::sync::{Acquire, Relaxed, Release};

/// Number of buckets that are swept before the lock is released for a moment.
const CHUNK: u64 = if cfg!(any(loom, shuttle)) { 1 } else { 1024 };

impl Generations {
    /// Sweeps at most `buckets` of the next buckets that were not swept in this generation, for a
    /// holder of `sweeping` that has read the generation and the end since: see
    /// [`Generations::try_sweep`]. Returns the number of buckets that are left.
    pub(super) fn sweep_locked(
        &self,
        (now, end): (u64, u64),
        buckets: u64,
        mut sweep: impl FnMut(u64, u32, u64),
    ) -> u64 {
        // Relaxed, here and below: the lock orders all accesses.
        let start = self.swept.load(Relaxed);
        let next = end.min(start.saturating_add(buckets));
        for bucket in start..next {
            sweep(now, bucket as u32, end);
        }
        self.swept.store(next, Relaxed);
        end - next
    }

    /// The number of buckets to be swept in this generation, in a table that grows, for a holder of
    /// `sweeping`.
    pub(super) fn end(&self) -> u64 {
        // Relaxed: the lock orders all accesses.
        self.end.load(Relaxed)
    }

    /// Lets the sweep of the present generation begin. `next` is called before, and returns the
    /// number of buckets of the sweep, in a table that grows.
    pub(super) fn begin_sweep(&self, next: impl FnOnce() -> Option<u64>) {
        let _sweeping = self.sweeping.lock();
        let now = self.now();
        self.begin_sweep_locked(now, next());
    }

    /// As [`begin_sweep`](Self::begin_sweep), for a holder of `sweeping` that has completed the
    /// former sweep.
    pub(super) fn begin_sweep_locked(&self, now: u64, end: Option<u64>) {
        // Relaxed: the lock orders all accesses.
        if let Some(end) = end {
            self.end.store(end, Relaxed);
        }
        self.swept.store(0, Relaxed);
        self.clean.store(self.begun.load(Relaxed), Relaxed);
        self.begun.store(now, Relaxed);
    }

    /// Returns whether the sweep that ends there is complete, for a holder of `sweeping`.
    fn is_swept(&self, end: u64) -> bool {
        // Relaxed: the lock orders all accesses.
        self.swept.load(Relaxed) >= end
    }

    /// Lets the sweep of the present generation begin if one of an earlier generation, now
    /// complete, was in its place, for a holder of `sweeping`. Returns whether it has.
    pub(super) fn begin_missed_sweep(&self, end: impl FnOnce() -> Option<u64>) -> bool {
        // Relaxed: if the value is old, a later call begins the sweep.
        if self.begun.load(Relaxed) == self.now() {
            return false;
        }
        // Whoever begins a generation holds this until it has passed all locks, and an `advance`
        // until it has begun this sweep.
        let Some(_advancing) = self.advancing.try_lock() else { return false };
        self.begin_sweep_locked(self.now(), end());
        true
    }
}

impl<S: Space> Table<S> {
    /// Sweeps the next buckets that were not swept in this generation. Returns the number of those
    /// that are left. If the sweep of an earlier generation is complete, goes on with that of this
    /// one: if it was complete before, or if `buckets` are enough for all of them. Otherwise a loop
    /// until none is left might go on for ever. Does not go on while another call begins a
    /// generation, or is about to: that call lets the sweep begin.
    pub fn sweep<L: Words<S>>(&self, buckets: u64) -> u64 {
        let (clock, mut rest, mut has_begun) = (&self.clock, buckets, false);
        loop {
            let chunk = rest.min(CHUNK);
            rest -= chunk;
            let _sweeping = clock.sweeping.lock();
            let now = clock.now();
            let sweep = |now, bucket, end| L::sweep_bucket(self, now, bucket, end);
            let end = self.end_of_sweep();
            let was_swept = clock.is_swept(end);
            let goes_on = rest >= self.space.buckets() || was_swept;
            let mut left = clock.sweep_locked((now, end), chunk, sweep);
            // Once, so that the call begins no sweep after sweep, however fast generations begin.
            if left == 0 && goes_on && !has_begun {
                has_begun = clock.begin_missed_sweep(|| self.end_of_next_sweep());
                left = if has_begun { self.end_of_sweep() } else { 0 };
                // Nothing was swept yet.
                rest += if was_swept { chunk } else { 0 };
            }
            if rest == 0 || left == 0 {
                return left;
            }
        }
    }

    /// The number of buckets to be swept in this generation, for a holder of `sweeping`.
    pub(super) fn end_of_sweep(&self) -> u64 {
        if S::GROWS { self.clock.end() } else { self.space.buckets() }
    }

    /// The number of buckets to be swept if the sweep begins now, in a table that grows.
    pub(super) fn end_of_next_sweep(&self) -> Option<u64> {
        S::GROWS.then(|| self.space.buckets())
    }

    /// Begins the next generation, unless another call has done so since this one began. Returns
    /// the new generation.
    pub fn advance<L: Words<S>>(&self) -> u64 {
        self.advance_from::<L>(self.clock.generation_to_change())
    }

    /// Begins the generation after `start`, which the caller has read, once all buckets have been
    /// swept in this one; unless it has begun already. Returns the present generation.
    fn advance_from<L: Words<S>>(&self, start: u64) -> u64 {
        let clock = &self.clock;
        let _advancing = clock.advancing.lock();
        // Another thread began a generation after the start, perhaps the one that this thread
        // waited for.
        if !clock.validate(start) {
            return clock.now();
        }
        // None comes after it.
        if start == MAX_GENERATION {
            return start;
        }
        while self.sweep::<L>(CHUNK) > 0 {}
        clock.tick();
        // Whoever holds a stripe may still decide by the generation before. Nobody does after this.
        self.stripes.pass();
        // Only now: a sweep of the new generation must not have begun earlier.
        clock.begin_sweep(|| self.end_of_next_sweep());
        clock.now()
    }

    /// Begins the next generation if it is due by the caller's clock, in nanoseconds, and returns
    /// it.
    pub fn tick_by<L: Words<S>>(&self, clock: impl Fn() -> u64) -> Option<u64> {
        let begun = self.count_reading::<L>(&clock)?;
        // The time of the new generation is counted from here. Meanwhile others may have counted so
        // much of it that the next one is due.
        self.count_reading::<L>(&clock).or(Some(begun))
    }

    /// Reads the caller's clock once, and begins the next generation if it is due.
    fn count_reading<L: Words<S>>(&self, clock: impl Fn() -> u64) -> Option<u64> {
        let schedule = &self.clock.schedule;
        if self.clock.keeper.is_some() {
            return None;
        }
        let generation = self.clock.generation_to_change();
        let before = schedule.readings();
        // No lock is held over the caller's code.
        let reading = clock();
        let counting = schedule.try_count(before, generation)?;
        if !counting.is_due(reading, generation) {
            return None;
        }
        // From the generation that was measured: `advance` may have begun another one since.
        let begun = self.advance_from::<L>(generation);
        counting.began(begun);
        (begun > generation).then_some(begun)
    }

    /// Begins the generations that are due by the caller's clock, in nanoseconds, after a time in
    /// which nobody used the table, but no more than are needed to let everything expire. Returns
    /// the present generation.
    pub fn advance_to<L: Words<S>>(&self, clock: impl Fn() -> u64) -> u64 {
        let (counting, generation, reading) = loop {
            if self.clock.keeper.is_some() {
                return self.clock.generation();
            }
            let generation = self.clock.generation_to_change();
            let before = self.clock.schedule.readings();
            let reading = clock();
            if let Some(counting) = self.clock.schedule.count(before, generation) {
                break (counting, generation, reading);
            }
        };
        let (due, elapsed) = counting.absence(reading, generation, self.clock.life());
        let mut now = generation;
        for _ in 0..due {
            now = self.advance_from::<L>(now);
        }
        counting.set(now, elapsed, reading);
        now
    }
}

impl<S: Space> Table<S> {
    /// Sweeps a bucket in the generation `now`, which was read under a lock that is still held.
    /// Returns its word.
    #[inline]
    pub(in crate::table) fn sweep_one<L: Words<S>>(&self, now: u64, bucket: u32) -> u64 {
        let place = self.space.bucket(bucket);
        loop {
            // Acquire: pairs with the Release of a split, so that the memory of a child is there.
            // mutant-ok: models have all memory from the start, and a child's word is loaded anew
            let word = place.load_to_change(Acquire);
            let expired = self.expired::<L>(now, word);
            if expired == 0 {
                return word;
            }
            let new = L::without_all(&self.space, word, expired);
            // Release: pairs with the Acquire of whoever loads the word: a lookup that sees the
            // slot cleared sees the generation in which it expired.
            if place.compare_exchange(word, new, Release, Relaxed).is_ok() {
                self.count_swept::<L>(word, expired);
                return new;
            }
        }
    }
}
