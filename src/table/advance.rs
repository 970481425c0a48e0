//! Sweeps, and the beginning of generations: see `clock.rs`, which has the protocol.

use super::{Aged, Clock, Space, Table, Words};
use crate::sync::{Acquire, Relaxed, Release};

/// Number of buckets that are swept before the lock is released for a moment.
const CHUNK: u64 = if cfg!(any(loom, shuttle)) { 1 } else { 1024 };

impl<S: Space<Payload = Aged>> Table<S> {
    /// Sweeps the next buckets that were not swept in this generation. Returns the number of those
    /// that are left. If that completes the sweep of an earlier generation, goes on with that of
    /// this one.
    pub fn sweep<L>(&self, buckets: u64) -> u64
    where
        S: Words<L>,
    {
        let (clock, mut rest, mut has_begun) = (&self.clock, buckets, false);
        loop {
            let chunk = rest.min(CHUNK);
            rest -= chunk;
            let _sweeping = clock.sweeping.lock();
            let now = clock.now();
            let sweep = |now, bucket, end| S::sweep_bucket(self, now, bucket, end);
            let mut left = clock.sweep_locked((now, self.end_of_sweep()), chunk, sweep);
            // Once, so that the call ends however fast generations begin.
            if left == 0 && !has_begun {
                has_begun = clock.begin_missed_sweep(|| self.end_of_next_sweep());
                left = if has_begun { self.end_of_sweep() } else { 0 };
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
    pub fn advance<L>(&self) -> u64
    where
        S: Words<L>,
    {
        self.advance_from::<L>(self.clock.generation_to_change())
    }

    /// Begins the generation after `start`, which the caller has read, once all buckets have been
    /// swept in this one; unless it has begun already. Returns the present generation.
    fn advance_from<L>(&self, start: u64) -> u64
    where
        S: Words<L>,
    {
        let clock = &self.clock;
        let _advancing = clock.advancing.lock();
        // Another thread began a generation after the start, perhaps the one that this thread
        // waited for.
        if !clock.validate(start) {
            return clock.now();
        }
        while self.sweep::<L>(CHUNK) > 0 {}
        clock.tick();
        // Whoever holds a stripe may still decide by the generation before. Nobody does after this.
        self.stripes.pass();
        // Only now: a sweep of the new generation must not have begun earlier.
        clock.begin_sweep(|now| {
            if S::GROWS {
                self.space.retire_ghosts(self.clock.retire_ghosts(now));
            }
            self.end_of_next_sweep()
        });
        clock.now()
    }

    /// Begins the next generation if it is due by the caller's clock, in nanoseconds, and returns
    /// it.
    pub fn tick_by<L>(&self, clock: impl Fn() -> u64) -> Option<u64>
    where
        S: Words<L>,
    {
        let begun = self.count_reading::<L>(&clock)?;
        // The time of the new generation is counted from here. Meanwhile others may have counted so
        // much of it that the next one is due.
        self.count_reading::<L>(&clock).or(Some(begun))
    }

    /// Reads the caller's clock once, and begins the next generation if it is due.
    fn count_reading<L>(&self, clock: impl Fn() -> u64) -> Option<u64>
    where
        S: Words<L>,
    {
        let schedule = &self.clock.schedule;
        if self.clock.keeper.is_some() {
            return None;
        }
        let generation = self.clock.generation_to_change();
        let before = schedule.readings();
        // No lock is held over the caller's code.
        let reading = clock();
        let counting = schedule.try_count(before)?;
        if !counting.is_due(reading, generation) {
            return None;
        }
        // From the generation that was measured: `advance` may have begun another one since.
        let begun = self.advance_from::<L>(generation);
        counting.began(begun);
        Some(begun)
    }

    /// Begins the generations that are due by the caller's clock, in nanoseconds, after a time in
    /// which nobody used the table, but no more than are needed to let everything expire. Returns
    /// the present generation.
    pub fn advance_to<L>(&self, clock: impl Fn() -> u64) -> u64
    where
        S: Words<L>,
    {
        let (counting, generation, reading) = loop {
            if self.clock.keeper.is_some() {
                return self.clock.generation();
            }
            let generation = self.clock.generation_to_change();
            let before = self.clock.schedule.readings();
            let reading = clock();
            if let Some(counting) = self.clock.schedule.count(before) {
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
    pub(super) fn sweep_one<L>(&self, now: u64, bucket: u32) -> u64
    where
        S: Words<L>,
    {
        let place = self.space.bucket(bucket);
        loop {
            // Acquire: pairs with the Release of a split, so that the memory of a child is there.
            // mutant-ok: models have all memory from the start, and a child's word is loaded anew
            let word = place.load_to_change(Acquire);
            let expired = self.expired::<L>(now, word);
            if expired == 0 {
                return word;
            }
            let new = S::without_all(word, expired);
            // Release: pairs with the Acquire of whoever loads the word: a lookup that sees the
            // slot cleared sees the generation in which it expired.
            if place.compare_exchange(word, new, Release, Relaxed).is_ok() {
                self.count_swept::<L>(word, expired);
                return new;
            }
        }
    }
}
