//! Values: what the last bits of a fingerprint hold, and the steps that read or replace them.

use super::{BothWords, Nesting, Pair, StripeGuard, Table};
use crate::bucket::{BucketLayout, Fingerprint};

/// Largest number of slots of a pair, in layouts with values.
const MAX_CANDIDATES: usize = 12;

/// The values that were found for an item in one table, one for each slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    values: [u16; MAX_CANDIDATES],
    len: u8,
}

impl Candidates {
    #[inline]
    fn push(&mut self, value: u16) {
        self.values[usize::from(self.len)] = value;
        self.len += 1;
    }

    /// Adds a value, if there is room for it. Returns whether there was.
    pub(crate) fn add(&mut self, value: u16) -> bool {
        let fits = usize::from(self.len) < MAX_CANDIDATES;
        if fits {
            self.push(value);
        }
        fits
    }

    /// The values.
    #[must_use]
    pub fn as_slice(&self) -> &[u16] {
        &self.values[..self.len.into()]
    }
}

impl<N: Nesting> Table<N> {
    /// Returns a value of the pair's fingerprint, or `None` if the fingerprint is absent. The value
    /// of the pair must be zero.
    ///
    /// As for [`contains`](Self::contains), a match is an answer whatever the versions are.
    #[inline]
    #[must_use]
    pub fn get<L: BucketLayout>(&self, pair: Pair) -> Option<u16> {
        loop {
            // mutant: get-late-version, get-version-relaxed
            let (words, unchanged) = self.read::<[u64; 2]>(pair);
            if let Some(value) = self.value_in::<L>(pair, words) {
                return Some(value);
            }
            // mutant: get-no-validation
            if unchanged {
                return None;
            }
            self.counters.lookup_retried();
        }
    }

    /// Returns a value of the pair's fingerprint in these words.
    #[inline]
    pub(crate) fn value_in<L: BucketLayout>(&self, pair: Pair, words: [u64; 2]) -> Option<u16> {
        let pattern = L::LANES.broadcast(pair.fingerprint.get());
        let [first, second] =
            words.map(|word| L::LANES.zeros_short((word ^ pattern) & !self.values::<L>()));
        // No branch between the words, as in `either_contains`.
        let in_first = first != 0;
        let (matches, word) = if in_first { (first, words[0]) } else { (second, words[1]) };
        (matches != 0).then(|| self.value_at::<L>(word, matches))
    }

    /// The value in the lowest slot that is marked.
    #[inline]
    fn value_at<L: BucketLayout>(&self, word: u64, matches: u64) -> u16 {
        ((word >> L::LANES.lowest(matches)) as u32 & self.addressing.nesting().value_mask()) as u16
    }

    /// Returns all values of the pair's fingerprint: for every item of this pair that is in the
    /// table throughout the call, its value is among them. One that is moved meanwhile may come
    /// twice. The value of the pair must be zero.
    #[must_use]
    pub fn candidates<L: BucketLayout>(&self, pair: Pair) -> Candidates {
        loop {
            // mutant: values-late-version, values-version-relaxed
            let (words, unchanged) = self.read::<[u64; 2]>(pair);
            // Also if there are matches: another value may have gone from one word to the other.
            // mutant: values-no-validation, values-unvalidated-match
            if unchanged {
                return self.candidates_in::<L>(pair, words);
            }
            self.counters.lookup_retried();
        }
    }

    /// As [`candidates`](Self::candidates), in the words as they are read one after the other,
    /// without reading the version.
    pub(crate) fn candidates_unvalidated<L: BucketLayout>(&self, pair: Pair) -> Candidates {
        self.candidates_in::<L>(pair, <[u64; 2]>::load(self.both(pair)))
    }

    /// Returns whether the pair's fingerprint is in one of its buckets, with the pair's own value,
    /// without reading the version.
    pub(crate) fn contains_value_unvalidated<L: BucketLayout>(&self, pair: Pair) -> bool {
        L::either_contains(<[u64; 2]>::load(self.both(pair)), L::pattern(pair.fingerprint))
    }

    /// Returns all values of the pair's fingerprint in these words.
    pub(crate) fn candidates_in<L: BucketLayout>(&self, pair: Pair, words: [u64; 2]) -> Candidates {
        let mut candidates = Candidates::default();
        let pattern = L::LANES.broadcast(pair.fingerprint.get());
        let distinct = if pair.buckets[0] == pair.buckets[1] { 1 } else { 2 };
        for &word in &words[..distinct] {
            // The exact test: every mark is right.
            // mutant: values-short-test
            let mut matches = L::LANES.zeros((word ^ pattern) & !self.values::<L>());
            while matches != 0 {
                candidates.push(self.value_at::<L>(word, matches));
                matches &= matches - 1;
            }
        }
        candidates
    }

    /// Returns whether the pair's fingerprint is in one of its buckets, with the pair's own value.
    #[must_use]
    pub fn contains_value<L: BucketLayout>(&self, pair: Pair) -> bool {
        let pattern = L::pattern(pair.fingerprint);
        loop {
            let (words, unchanged) = self.read::<[u64; 2]>(pair);
            let found = L::either_contains(words, pattern);
            // mutant: contains-value-no-validation
            if found | unchanged {
                return found;
            }
            self.counters.lookup_retried();
        }
    }

    /// Replaces the value of one copy of the pair's fingerprint that has the pair's own value.
    /// Returns whether there was one.
    #[must_use]
    pub fn replace<L: BucketLayout>(&self, pair: Pair, new: u16) -> bool {
        // mutant: replace-no-lock, replace-wrong-lock
        let guard = self.stripe(pair.fingerprint).lock();
        self.replace_locked::<L>(&guard, pair, new)
    }

    /// As [`replace`](Self::replace), under the lock.
    pub(crate) fn replace_locked<L: BucketLayout>(
        &self,
        guard: &StripeGuard,
        pair: Pair,
        new: u16,
    ) -> bool {
        let key = Pair { fingerprint: self.key(pair.fingerprint), ..pair };
        // mutant: replace-no-bump, replace-late-bump
        self.clear_one::<L>(guard, pair, Some(key.with_value(new).fingerprint))
    }

    /// The first copy of a fingerprint, with any value, in a word that holds one.
    #[inline]
    pub(super) fn first_match<L: BucketLayout>(
        &self,
        word: u64,
        fingerprint: Fingerprint,
    ) -> Fingerprint {
        if self.addressing.nesting().value_bits() == 0 {
            return fingerprint;
        }
        let pattern = L::LANES.broadcast(fingerprint.get());
        let matches = L::LANES.zeros_short((word ^ pattern) & !self.values::<L>());
        let value = u32::from(self.value_at::<L>(word, matches));
        Fingerprint::new(self.key(fingerprint).get() | value)
    }

    /// The value of a fingerprint.
    #[inline]
    #[must_use]
    pub fn value_of(&self, fingerprint: Fingerprint) -> u16 {
        (fingerprint.get() & self.addressing.nesting().value_mask()) as u16
    }
}
