//! The steps of a table whose slots expire: see `clock.rs`, which has the protocol.

use core::hint::select_unpredictable;

use super::{
    Addition, Aged, BothWords, Clock, Fastest, Pair, Payload, StripeGuard, Table,
    stats::RelocationCount,
};
use crate::{
    InsertError,
    bucket::{BucketLayout, Fingerprint},
    sync::{Acquire, Relaxed, Release},
};

/// Number of buckets that are swept before the lock is released for a moment.
const CHUNK: u64 = if cfg!(any(loom, shuttle)) { 1 } else { 1024 };

impl Table<Aged> {
    /// Returns whether a visible copy of the pair's fingerprint is in one of its buckets. The value
    /// of the pair must be zero.
    #[inline]
    #[must_use]
    pub fn is_visible<L: BucketLayout>(&self, pair: Pair) -> bool {
        loop {
            // mutant: age-late-now
            let now = self.clock.generation();
            let (words, unchanged) = self.read::<Fastest>(pair);
            let key = pair.fingerprint.get() >> self.addressing.payload().value_bits();
            let (found, stamp) = self.key_probe::<L>().first_value(words, key);
            // A copy that has expired may come before one that is visible.
            let another = || {
                let [first, second] = words.values();
                self.shows_another::<L>(now, pair.fingerprint, first, second)
            };
            if found && (self.clock.shows(now, stamp.into()) || another()) {
                return true;
            }
            // mutant: age-no-now-validation, age-no-version-validation, age-version-alone
            if unchanged & self.clock.validate(now) {
                return false;
            }
            self.counters.lookup_retried();
        }
    }

    /// Returns whether these words hold a visible copy of the fingerprint.
    ///
    /// Each argument is passed in a register, as in `full_probe`.
    #[cold]
    #[inline(never)]
    fn shows_another<L: BucketLayout>(
        &self,
        now: u64,
        fingerprint: Fingerprint,
        first: u64,
        second: u64,
    ) -> bool {
        let pair = Pair { fingerprint, buckets: [0, 1] };
        self.visible_in::<L>(now, pair, [first, second]) != [0; 2]
    }

    /// Counts the visible copies of the pair's fingerprint. The value of the pair must be zero.
    #[must_use]
    pub fn count_visible<L: BucketLayout>(&self, pair: Pair) -> usize {
        // mutant: age-count-no-lock, age-count-wrong-lock
        let _guard = self.stripe(pair.fingerprint).lock();
        loop {
            let now = self.clock.now();
            let words = self.both(pair).map(|word| word.load(Acquire));
            // A sweep of the next generation may have cleared one copy and not yet the other.
            // mutant: age-count-no-validation
            if self.clock.validate(now) {
                let marks = self.visible_in::<L>(now, pair, words);
                return marks.map(|marks| marks.count_ones() as usize).into_iter().sum();
            }
        }
    }

    /// Marks the visible copies of the pair's fingerprint in these words. A bucket that comes twice
    /// is marked once.
    #[inline]
    fn visible_in<L: BucketLayout>(&self, now: u64, pair: Pair, words: [u64; 2]) -> [u64; 2] {
        let pattern = L::LANES.broadcast(pair.fingerprint.get());
        let [first, second] = words.map(|word| {
            // The exact tests: every mark is right.
            let matches = L::LANES.zeros((word ^ pattern) & !self.values::<L>());
            matches & self.clock.visible::<L>(now, word)
        });
        [first, if pair.buckets[0] == pair.buckets[1] { 0 } else { second }]
    }

    /// Adds a copy of the pair's fingerprint that is visible for `life` generations, at most the
    /// window. Returns the generation of its stamp. The value of the pair must be zero.
    ///
    /// # Errors
    /// As [`insert`](Table::insert), where slots that have expired count as empty.
    #[inline]
    pub fn insert_for<L: BucketLayout>(&self, pair: Pair, life: u32) -> Result<u64, InsertError> {
        let generation = self.clock.generation() - u64::from(self.clock.window() - life);
        self.insert::<L>(pair.with_value(self.clock.stamp(generation)))?;
        Ok(generation)
    }

    /// Adds a copy of the pair's fingerprint if there is no visible one. Returns the present
    /// generation if it was added. The value of the pair must be zero.
    ///
    /// # Errors
    /// `Full` if there is no visible copy and a search found no slot that is empty or has expired.
    pub fn insert_unseen<L: BucketLayout>(&self, pair: Pair) -> Result<Option<u64>, InsertError> {
        let (mut made_room, mut relocations) = (Ok(()), RelocationCount::zero());
        loop {
            // mutant: unseen-no-lock, unseen-wrong-lock
            let guard = self.stripe(pair.fingerprint).lock();
            let now = self.clock.now();
            match self.add_if_unseen::<L>(&guard, now, pair) {
                Some(Addition::Found(_)) => return Ok(None),
                Some(Addition::Added) => {
                    self.counters.insert_relocated(&relocations);
                    return Ok(Some(now));
                }
                Some(Addition::NoRoom) => {}
                None => continue,
            }
            drop(guard);
            made_room?;
            // Without the lock, as in `get_or_insert`. The clock may tick meanwhile.
            // mutant: unseen-kept-now, unseen-no-second-scan
            made_room = self.make_room::<L>(pair, &mut relocations);
        }
    }

    /// Adds the fingerprint with the stamp of the generation `now` if there is no visible copy.
    /// `now` was read under the lock. Returns `None` if it is no longer the present generation.
    fn add_if_unseen<L: BucketLayout>(
        &self,
        _guard: &StripeGuard,
        now: u64,
        pair: Pair,
    ) -> Option<Addition> {
        let stamped = pair.with_value(self.clock.stamp(now));
        loop {
            // As in `add_if_absent`.
            let words = self.both(pair).map(|word| word.load_to_change(Acquire));
            if self.visible_in::<L>(now, pair, words) != [0; 2] {
                return Some(Addition::Found(stamped.fingerprint));
            }
            // A sweep of the next generation may have cleared a copy that is visible in this one.
            // mutant: unseen-no-now-validation
            if !self.clock.validate(now) {
                return None;
            }
            // mutant: unseen-add-relaxed
            match self.try_add_swept::<L>(now, stamped, words) {
                Some(true) => return Some(Addition::Added),
                Some(false) => {}
                None => return Some(Addition::NoRoom),
            }
        }
    }

    /// Gives the stamp of the present generation to the oldest visible copy of the pair's
    /// fingerprint. Returns whether there was one. The value of the pair must be zero.
    #[must_use]
    pub fn refresh<L: BucketLayout>(&self, pair: Pair) -> bool {
        // mutant: refresh-no-lock, refresh-wrong-lock
        let guard = self.stripe(pair.fingerprint).lock();
        loop {
            let now = self.clock.now();
            let stamped = pair.with_value(self.clock.stamp(now)).fingerprint;
            let words = self.both(pair).map(|word| word.load_to_change(Acquire));
            // A sweep of the next generation may have cleared the caller's copy, and the copy that
            // is left may be an alias's.
            // mutant: refresh-no-now-validation
            if !self.clock.validate(now) {
                continue;
            }
            let marks = self.visible_in::<L>(now, pair, words);
            // mutant: refresh-any
            let Some((place, oldest)) = self.oldest::<L>(now, words, marks) else { return false };
            if oldest == stamped {
                return true;
            }
            // mutant: refresh-no-bump
            guard.bump();
            let (bucket, word) = (pair.buckets[place], words[place]);
            // mutant: refresh-ignores-sweep
            if self.clear_slot::<L>(&guard, bucket, word, L::pattern(oldest), Some(stamped)) {
                // mutant: refresh-uncounted
                self.count_moved(oldest, stamped);
                return true;
            }
            // The clock has ticked since, and the copy was swept.
        }
    }

    /// Removes one copy of the pair's fingerprint with the stamp of a generation, if that is
    /// visible. Returns whether there was one. The value of the pair must be zero.
    #[must_use]
    pub fn remove_of<L: BucketLayout>(&self, pair: Pair, generation: u64) -> bool {
        // mutant: age-remove-no-lock, age-remove-wrong-lock, age-remove-early-now
        let guard = self.stripe(pair.fingerprint).lock();
        // mutant: age-remove-expired
        if !self.clock.is_visible(self.clock.now(), generation) {
            return false;
        }
        let stamped = pair.with_value(self.clock.stamp(generation));
        let removed = self.remove_locked::<L>(&guard, stamped);
        if removed {
            // mutant: age-remove-uncounted
            self.clock.count_removed(stamped.fingerprint);
        }
        removed
    }

    /// Adds a copy of the pair's fingerprint, with the stamp of the present generation. If there is
    /// no room, replaces the oldest slot in its two buckets: see "Evicting" in `clock.rs`. Returns
    /// the generation, and whether a visible slot was replaced. The value of the pair must be zero.
    pub fn insert_evicting<L: BucketLayout>(&self, pair: Pair) -> (u64, bool) {
        loop {
            if let Ok(generation) = self.insert_for::<L>(pair, self.clock.window()) {
                return (generation, false);
            }
            // Without a lock, only to learn whose lock to acquire.
            let now = self.clock.generation();
            let words = self.both(pair).map(|word| word.load_to_change(Relaxed));
            let every = [L::LANES.highs(); 2];
            let Some(likely) = self.oldest::<L>(now, words, every) else { continue };
            let (place, victim) = likely;
            // mutant: evict-no-lock, evict-wrong-lock
            let guard = self.stripe(victim).lock();
            // Acquire: pairs with the Release of `try_add` and `clear_slot`. The generation comes
            // after the words, so no slot in them has a later one.
            // mutant-ok: takes a third thread that adds the victim while an advance waits for the
            // lock
            let words = self.both(pair).map(|word| word.load_to_change(Acquire));
            let now = self.clock.now();
            // There was no room, but there may be now.
            // mutant: evict-despite-room
            if words.iter().any(|&word| L::LANES.zeros(word) != 0) {
                continue;
            }
            // mutant: evict-early-choice
            if self.oldest::<L>(now, words, every) != Some(likely) {
                continue;
            }
            let stamped = pair.with_value(self.clock.stamp(now)).fingerprint;
            // mutant: evict-no-bump
            guard.bump();
            let (bucket, word) = (pair.buckets[place], words[place]);
            // mutant: evict-ignores-sweep
            if self.clear_slot::<L>(&guard, bucket, word, L::pattern(victim), Some(stamped)) {
                self.counters.inserted();
                // mutant: evict-uncounted
                self.count_moved(victim, stamped);
                // mutant: evict-reports-nothing
                return (now, self.clock.shows(now, victim.get()));
            }
        }
    }

    /// Returns the place of the word that has the oldest marked slot, and what that slot holds.
    fn oldest<L: BucketLayout>(
        &self,
        now: u64,
        words: [u64; 2],
        marks: [u64; 2],
    ) -> Option<(usize, Fingerprint)> {
        let mut oldest = None;
        for (place, (word, mut marks)) in words.into_iter().zip(marks).enumerate() {
            while marks != 0 {
                let slot = (word >> L::LANES.lowest(marks)) as u32 & L::MAX_FINGERPRINT;
                marks &= marks - 1;
                // An empty slot may be marked, too.
                if slot != 0 {
                    let age = self.clock.age(now, slot);
                    oldest = oldest.max(Some((age, place, slot)));
                }
            }
        }
        oldest.map(|(_, place, slot)| (place, Fingerprint::new(slot)))
    }

    /// Counts a slot whose stamp was replaced.
    fn count_moved(&self, old: Fingerprint, new: Fingerprint) {
        self.clock.count_removed(old);
        self.clock.count_added(new);
    }

    /// Sweeps the next buckets that were not swept in this generation. Returns the number of those
    /// that are left.
    pub fn sweep<L: BucketLayout>(&self, buckets: u64) -> u64 {
        let mut rest = buckets;
        loop {
            let chunk = rest.min(CHUNK);
            rest -= chunk;
            let left = self.sweep_chunk::<L>(chunk);
            if rest == 0 || left == 0 {
                return left;
            }
        }
    }

    /// Sweeps at most `buckets`, and returns the number of those that are left.
    fn sweep_chunk<L: BucketLayout>(&self, buckets: u64) -> u64 {
        // mutant: sweep-no-lock, sweep-early-now
        let _sweeping = self.clock.sweeping.lock();
        let (now, all) = (self.clock.now(), self.addressing.buckets());
        let start = self.clock.swept();
        let end = all.min(start + buckets);
        for bucket in start..end {
            self.sweep_bucket::<L>(now, bucket as u32);
        }
        self.clock.set_swept(end);
        all - end
    }

    /// Clears the slots of a bucket that had expired in the generation `now`, which was read under
    /// a lock that is still held.
    #[inline]
    fn sweep_bucket<L: BucketLayout>(&self, now: u64, bucket: u32) {
        let place = self.buckets.bucket(bucket);
        loop {
            // Relaxed: as in `add`.
            let word = place.load_to_change(Relaxed);
            let expired = self.clock.expired::<L>(now, word);
            if expired == 0 {
                return;
            }
            let new = L::LANES.without(word, expired);
            // Release: pairs with the Acquire loads of `BothWords::load`: a lookup that sees the
            // slot cleared sees the generation in which it expired.
            // mutant: sweep-plain-store
            if place.compare_exchange(word, new, Release, Relaxed).is_ok() {
                // mutant: sweep-uncounted
                self.clock.count_swept::<L>(word, expired);
                return;
            }
        }
    }

    /// Begins the next generation, unless another call has done so since this one began. Returns
    /// the new generation.
    pub fn advance<L: BucketLayout>(&self) -> u64 {
        self.advance_from::<L>(self.clock.generation_to_change())
    }

    /// Begins the generation after `start`, which the caller has read, once all buckets have been
    /// swept in this one; unless it has begun already. Returns the present generation.
    fn advance_from<L: BucketLayout>(&self, start: u64) -> u64 {
        // mutant: advance-no-lock
        let _advancing = self.clock.advancing.lock();
        // Another thread began a generation after the start, perhaps the one that this thread
        // waited for.
        // mutant: advance-not-shared, advance-always-shared
        if !self.clock.validate(start) {
            return self.clock.now();
        }
        // mutant: advance-no-sweep
        while self.sweep::<L>(CHUNK) > 0 {}
        self.clock.tick();
        // Whoever holds a stripe may still decide by the generation before. Nobody does after this.
        // mutant: advance-no-pass, advance-early-sweep
        self.stripes.pass();
        // Only now: a sweep of the new generation must not have begun earlier.
        self.clock.begin_sweep();
        self.clock.now()
    }

    /// Begins the next generation if it is due by the caller's clock, in nanoseconds, and returns
    /// it.
    pub fn tick<L: BucketLayout>(&self, clock: impl Fn() -> u64) -> Option<u64> {
        let begun = self.count_reading::<L>(&clock)?;
        // The time of the new generation is counted from here. Meanwhile others may have counted so
        // much of it that the next one is due.
        self.count_reading::<L>(&clock).or(Some(begun))
    }

    /// Reads the caller's clock once, and begins the next generation if it is due.
    fn count_reading<L: BucketLayout>(&self, clock: impl Fn() -> u64) -> Option<u64> {
        let generation = self.clock.generation_to_change();
        let before = self.clock.schedule.readings();
        // No lock is held over the caller's code.
        let reading = clock();
        let counting = self.clock.schedule.try_count(before)?;
        if !counting.is_due(reading, generation) {
            return None;
        }
        // From the generation that was measured: `advance` may have begun another one since.
        // mutant: tick-other-generation
        let begun = self.advance_from::<L>(generation);
        counting.began(begun);
        Some(begun)
    }

    /// Begins the generations that are due by the caller's clock, in nanoseconds, after a time in
    /// which nobody used the table, but no more than are needed to let everything expire. Returns
    /// the present generation.
    pub fn advance_to<L: BucketLayout>(&self, clock: impl Fn() -> u64) -> u64 {
        let (counting, generation, reading) = loop {
            let generation = self.clock.generation_to_change();
            let before = self.clock.schedule.readings();
            let reading = clock();
            if let Some(counting) = self.clock.schedule.count(before) {
                break (counting, generation, reading);
            }
        };
        let limit = u64::from(self.clock.window()) + 1;
        let (due, elapsed) = counting.absence(reading, generation, limit);
        let mut now = generation;
        for _ in 0..due {
            now = self.advance_from::<L>(now);
        }
        counting.set(now, elapsed, reading);
        now
    }
}

impl<P: Payload> Table<P> {
    /// Adds the fingerprint under its lock to a slot that is empty or has expired. Returns `false`
    /// if there is none, or if slots do not expire.
    pub(super) fn add_swept<L: BucketLayout>(&self, pair: Pair) -> bool {
        if !P::Clock::SWEEPS {
            return false;
        }
        // mutant: add-swept-no-lock, add-swept-early-now
        let _guard = self.stripe(pair.fingerprint).lock();
        let now = self.clock.now();
        loop {
            // Relaxed: as in `add`.
            let words = self.both(pair).map(|word| word.load_to_change(Relaxed));
            // mutant: add-swept-relaxed
            match self.try_add_swept::<L>(now, pair, words) {
                Some(true) => return true,
                Some(false) => {}
                None => return false,
            }
        }
    }

    /// As [`try_add`](Self::try_add), where slots that had expired in the generation `now` count as
    /// empty. They are swept by the same change. `now` was read under a lock that is still held.
    fn try_add_swept<L: BucketLayout>(
        &self,
        now: u64,
        pair: Pair,
        words: [u64; 2],
    ) -> Option<bool> {
        let expired = words.map(|word| self.clock.expired::<L>(now, word));
        let [first, second] = [0, 1].map(|place| L::LANES.without(words[place], expired[place]));
        let place = usize::from(L::is_emptier(second, first));
        let new = L::with(select_unpredictable(place == 0, first, second), pair.fingerprint)?;
        let word = self.buckets.bucket(pair.buckets[place]);
        // Release: as in `try_add`, and in `sweep_bucket`.
        // mutant: add-swept-plain-store
        let added = word.compare_exchange(words[place], new, Release, Relaxed).is_ok();
        if added {
            self.counters.inserted();
            // mutant: add-swept-uncounted
            self.clock.count_swept::<L>(words[place], expired[place]);
            // mutant: add-stamp-uncounted
            self.clock.count_added(pair.fingerprint);
        }
        Some(added)
    }
}
