//! Expiry in tables of a fixed size: lookups, and what `expiry.rs` needs.

use core::hint::select_unpredictable;

use super::{
    Aged, Aging, BothWords, Clock, Counters, Expires, Fastest, Generations, Pair, Payload, Seen,
    Stripe, StripeGuard, Stripes, Table, stats::RelocationCount,
};
use crate::{
    InsertError,
    bucket::{BucketLayout, Fingerprint, Lanes},
    sync::{Acquire, Relaxed, Release},
};

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
        let words = [first, second];
        let marks = self.marks_of::<L>(Pair { fingerprint, buckets: [0, 1] }, words);
        let visible = words.map(|word| self.clock.visible(L::LANES, now, word));
        (marks[0] & visible[0]) | (marks[1] & visible[1]) != 0
    }

    /// Marks the copies of the pair's fingerprint in these words, with any stamp. A bucket that
    /// comes twice is marked once.
    #[inline]
    fn marks_of<L: BucketLayout>(&self, pair: Pair, words: [u64; 2]) -> [u64; 2] {
        let pattern = L::LANES.broadcast(pair.fingerprint.get());
        // The exact tests: every mark is right.
        let marks = words.map(|word| L::LANES.zeros((word ^ pattern) & !self.values::<L>()));
        [marks[0], if pair.buckets[0] == pair.buckets[1] { 0 } else { marks[1] }]
    }
}

impl Expires for Table<Aged> {
    type Item = Pair;
    const GROWS: bool = false;

    #[inline]
    fn generations(&self) -> &Generations {
        &self.clock
    }

    fn all_stripes(&self) -> &Stripes {
        &self.stripes
    }

    fn statistics(&self) -> &Counters {
        &self.counters
    }

    #[inline]
    fn stamped(pair: Pair, stamp: u16) -> Pair {
        pair.with_value(stamp)
    }

    fn end_of_sweep(&self) -> u64 {
        self.addressing.buckets()
    }

    fn next_sweep(&self) -> Option<u64> {
        None
    }

    fn retire_ghosts(&self, _now: u64) {}
}

impl<L: BucketLayout> Aging<L> for Table<Aged> {
    const LANES: Lanes = L::LANES;
    type Attempts = RelocationCount;

    #[inline]
    fn stripe_of(&self, pair: &Pair) -> &Stripe {
        self.stripe(pair.fingerprint)
    }

    fn stripe_of_slot(&self, _seen: Seen, slot: u32) -> &Stripe {
        self.stripe(Fingerprint::new(slot))
    }

    #[inline]
    fn words_of(&self, pair: &Pair) -> [Seen; 2] {
        // Acquire: as in `BothWords::load`.
        pair.buckets.map(|bucket| Seen { bucket, word: self.buckets.bucket(bucket).load(Acquire) })
    }

    #[inline]
    fn words_to_change(&self, pair: &Pair) -> [Seen; 2] {
        // Acquire: as above.
        pair.buckets.map(|bucket| {
            let word = self.buckets.bucket(bucket).load_to_change(Acquire);
            Seen { bucket, word }
        })
    }

    #[inline]
    fn slots_in(word: u64) -> u64 {
        word
    }

    #[inline]
    fn marks_in(&self, pair: &Pair, words: [Seen; 2]) -> [u64; 2] {
        self.marks_of::<L>(*pair, words.map(|seen| seen.word))
    }

    #[inline]
    fn knowledge(_word: u64, _slot: u32) -> u32 {
        0
    }

    fn slot_of(&self, pair: &Pair, _place: usize, _word: u64) -> u32 {
        pair.fingerprint.get()
    }

    #[inline]
    fn change_slot(&self, guard: &StripeGuard, seen: Seen, slot: u32, new: Option<u32>) -> bool {
        let pattern = L::pattern(Fingerprint::new(slot));
        self.clear_slot::<L>(guard, seen.bucket, seen.word, pattern, new.map(Fingerprint::new))
    }

    #[inline]
    fn try_add_swept(&self, now: u64, pair: &Pair, words: [Seen; 2]) -> Option<bool> {
        self.try_add_to_swept::<L>(now, *pair, words.map(|seen| seen.word))
    }

    fn try_make_room(
        &self,
        pair: &Pair,
        relocations: &mut RelocationCount,
    ) -> Result<(), InsertError> {
        self.make_room::<L>(*pair, relocations)
    }

    fn added(&self, relocations: &RelocationCount) {
        self.counters.insert_relocated(relocations);
    }

    #[inline]
    fn try_insert(&self, pair: &Pair) -> Result<(), InsertError> {
        self.insert::<L>(*pair)
    }

    fn removed(&self) {}

    #[inline]
    fn sweep_bucket(&self, now: u64, bucket: u32, _end: u64) {
        let place = self.buckets.bucket(bucket);
        loop {
            // Relaxed: as in `add`.
            let word = place.load_to_change(Relaxed);
            let expired = self.clock.expired(L::LANES, now, word);
            if expired == 0 {
                return;
            }
            let new = L::LANES.without(word, expired);
            // Release: pairs with the Acquire loads of `BothWords::load`: a lookup that sees the
            // slot cleared sees the generation in which it expired.
            // mutant: sweep-plain-store
            if place.compare_exchange(word, new, Release, Relaxed).is_ok() {
                // mutant: sweep-uncounted
                self.clock.count_swept(L::LANES, word, expired);
                return;
            }
        }
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
            match self.try_add_to_swept::<L>(now, pair, words) {
                Some(true) => return true,
                Some(false) => {}
                None => return false,
            }
        }
    }

    /// As [`try_add`](Self::try_add), where slots that had expired in the generation `now` count as
    /// empty. They are swept by the same change. `now` was read under a lock that is still held.
    fn try_add_to_swept<L: BucketLayout>(
        &self,
        now: u64,
        pair: Pair,
        words: [u64; 2],
    ) -> Option<bool> {
        let expired = words.map(|word| self.clock.expired(L::LANES, now, word));
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
            self.clock.count_swept(L::LANES, words[place], expired[place]);
            // mutant: add-stamp-uncounted
            self.clock.count_added(pair.fingerprint.get());
        }
        Some(added)
    }
}
