//! What the clock does: the step of every write, the parts of the sweep, and the beginning of
//! generations. `mod.rs` has the protocol.

use super::{
    MAX_GENERATION, Space, Table, Words,
    clock::{Start, Timing, due},
};
use crate::sync::{Acquire, Relaxed, Release};

/// The largest number of buckets that are swept before the lock is released for a moment, or by one
/// write: about 20 µs, if each of them is written.
const CHUNK: u64 = if cfg!(any(loom, shuttle)) { 1 } else { 1024 };
/// How often a write tries to begin a generation after one that has expired, while another thread
/// holds a lock: for some 100 µs. (Each time it tries a stripe several times.)
const TRIES: u32 = if cfg!(any(loom, shuttle)) { 0 } else { 2_000 };
/// A write that finds the stripe of another thread held passes the others this part of an interval
/// later.
const RETRY: u64 = 8;

impl<S: Space> Table<S> {
    /// The step of every write that adds or refreshes, before it acquires a stripe. With a time to
    /// live, the generation that it returns ends after the call began; if one was due, this begins
    /// the next one. Waits for nothing.
    #[inline]
    pub fn start<L: Words<S>>(&self) -> Start {
        let Some(timing) = self.clock.timing() else {
            return Start { word: self.clock.look(), time: 0 };
        };
        let time = timing.read();
        let word = self.clock.look();
        // Relaxed: a hint.
        if time < due(word) && time < timing.next.load(Relaxed) {
            return Start { word, time };
        }
        self.start_late::<L>(timing, time)
    }

    /// The rest of `start`, if there is something to do.
    #[cold]
    #[inline(never)]
    fn start_late<L: Words<S>>(&self, timing: &Timing, time: u64) -> Start {
        let (clock, mut has_begun, mut tries) = (&self.clock, false, 0);
        loop {
            let word = clock.look_to_change();
            if time < due(word) {
                // Relaxed: a hint.
                if has_begun || time >= timing.next.load(Relaxed) {
                    self.do_part::<L>(time, CHUNK);
                }
                return Start { word, time };
            }
            if clock.may_begin_after(word) {
                has_begun |= clock.begin(timing, word, time);
                continue;
            }
            let left = self.do_part::<L>(time, CHUNK);
            // If only the sweep is missing, it goes on: what has expired must not be found again.
            let is_held_up = left.is_none_or(|left| left == 0);
            if is_held_up && !clock.may_begin_after(word) {
                // Nor if another thread only sweeps a chunk, or holds a stripe for a moment.
                if tries < TRIES && time >= timing.expiry_of(word) {
                    tries += 1;
                    core::hint::spin_loop();
                } else {
                    clock.extend(timing, word, time);
                }
            }
        }
    }

    /// Does a part of the work if no other thread does. Waits for nothing. Returns the number of
    /// buckets that are left, or `None` if another thread holds a lock.
    pub(in crate::table) fn do_part<L: Words<S>>(&self, time: u64, buckets: u64) -> Option<u64> {
        let _sweeping = self.clock.sweep.lock.try_lock()?;
        self.work::<L>(time, buckets, false)
    }

    /// Does a part of the work, for a holder of the lock of the sweep: notes what has expired,
    /// passes the stripes, sweeps at most this many buckets, and permits the next generation.
    /// Returns the number of buckets that are left, or `None` if another thread holds a stripe, for
    /// which only a call that `waits` waits.
    fn work<L: Words<S>>(&self, time: u64, buckets: u64, waits: bool) -> Option<u64> {
        let (clock, sweep) = (&self.clock, &self.clock.sweep);
        let word = clock.look_to_change();
        let number = clock.number(word);
        // Before any stripe is passed: whoever acquires it afterwards sees it.
        let oldest = clock.let_expire(word, number, time);
        // Relaxed, here and below: the lock orders all accesses, but for those of `next`, a hint.
        if sweep.passed_in.load(Relaxed) != number {
            sweep.passed_in.store(number, Relaxed);
            sweep.passed.store(0, Relaxed);
            sweep.floor.store(oldest, Relaxed);
        }
        let passed = self.stripes.pass(sweep.passed.load(Relaxed), waits);
        sweep.passed.store(passed, Relaxed);
        if passed < self.stripes.count() as u64 {
            if let Some(timing) = clock.timing() {
                timing.next.store(time.saturating_add(timing.interval / RETRY), Relaxed);
            }
            return None;
        }
        let mut begins = self.begin_pass();
        let (swept, end) = (sweep.swept.load(Relaxed), self.end_of_sweep());
        let to = end.min(swept.saturating_add(buckets));
        for bucket in swept..to {
            L::sweep_bucket(self, word, bucket as u32, end);
        }
        sweep.swept.store(swept.max(to), Relaxed);
        if to == end {
            sweep.clean.store(sweep.bound.load(Relaxed), Relaxed);
            begins |= self.begin_pass();
        }
        let left = self.end_of_sweep().saturating_sub(sweep.swept.load(Relaxed));
        clock.permit_after(number);
        if let Some(timing) = clock.timing() {
            let from = if begins { time } else { timing.next.load(Relaxed) };
            // Evenly over half an interval; then when the next generation expires, whose slots
            // inserts may take from there on.
            let share = timing.interval / 2 / (end + 1) * to.saturating_sub(swept);
            let next = if left > 0 {
                from.saturating_add(share)
            } else {
                let age = number - oldest;
                if age == 0 { u64::MAX } else { timing.expiry(word, age as u32) }
            };
            timing.next.store(next, Relaxed);
        }
        Some(left)
    }

    /// Begins a pass over the buckets if the last one is complete and slots have expired since. For
    /// a holder of the lock of the sweep that has passed the stripes. Returns whether it has begun.
    fn begin_pass(&self) -> bool {
        let sweep = &self.clock.sweep;
        // Relaxed: the lock orders all accesses.
        let floor = sweep.floor.load(Relaxed);
        let is_complete = sweep.swept.load(Relaxed) >= self.end_of_sweep();
        let begins = is_complete && floor > sweep.bound.load(Relaxed);
        if begins {
            sweep.bound.store(floor, Relaxed);
            sweep.swept.store(0, Relaxed);
            sweep.end.store(self.space.buckets(), Relaxed);
        }
        begins
    }

    /// Sweeps the next buckets that are to be swept, at most so many. Returns the number of those
    /// that are left. Waits for the holders of stripes, one at a time. With a time to live, begins
    /// the generation that is due.
    pub fn sweep<L: Words<S>>(&self, buckets: u64) -> u64 {
        let time = self.start::<L>().time;
        // Two passes: generations may begin for ever.
        let mut rest = buckets.min(self.space.buckets().saturating_mul(2));
        loop {
            let chunk = rest.min(CHUNK);
            rest -= chunk;
            let sweeping = self.clock.sweep.lock.lock();
            let left = self.work::<L>(time, chunk, true).unwrap_or(0);
            drop(sweeping);
            if rest == 0 || left == 0 {
                return left;
            }
        }
    }

    /// The number of buckets to be swept, for a holder of the lock of the sweep.
    fn end_of_sweep(&self) -> u64 {
        // Relaxed: the lock orders this load.
        if S::GROWS { self.clock.sweep.end.load(Relaxed) } else { self.space.buckets() }
    }

    /// Begins the next generation, unless another call has done so since this one began. Returns
    /// the new generation. With a time to live, begins none, and returns the current one.
    pub fn advance<L: Words<S>>(&self) -> u64 {
        let clock = &self.clock;
        let start = clock.look_to_change();
        if clock.timing().is_some() || start == MAX_GENERATION {
            return clock.number(start);
        }
        loop {
            let _sweeping = clock.sweep.lock.lock();
            // Another thread began a generation after the start, perhaps the one that this thread
            // waited for.
            if !clock.validate(start) {
                return clock.now();
            }
            if self.work::<L>(0, CHUNK, true) == Some(0) {
                clock.tick(start);
                return start + 1;
            }
        }
    }

    /// Sweeps a bucket by the word `now` of the clock, which was read under a lock that is still
    /// held. Returns the bucket's word.
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
