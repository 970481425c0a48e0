//! The steps of chains with values that read or replace a value, over all segments.

use arrayvec::ArrayVec;

use super::Chain;
use crate::{
    InsertError,
    bucket::Fingerprint,
    table::{Candidates, MAX_CANDIDATES, MAX_LEVELS, Nesting, Pair, Valued},
};

/// The values that were found for a key in all segments, one for each slot.
#[derive(Clone, Debug, Default)]
pub struct AllCandidates(ArrayVec<u16, { MAX_LEVELS * MAX_CANDIDATES }>);

impl AllCandidates {
    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at this place, if there are that many.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<u16> {
        self.0.get(place).copied()
    }

    fn add(&mut self, candidates: &Candidates) {
        self.0.extend(candidates.as_slice().iter().copied());
    }
}

impl From<Candidates> for AllCandidates {
    fn from(candidates: Candidates) -> Self {
        let mut all = Self::default();
        all.add(&candidates);
        all
    }
}

impl Chain<Valued> {
    /// Returns a value that matches the hash, or `None` if there is none in any segment. If there
    /// are several, it is one in the finest segment that holds one.
    #[inline]
    #[must_use]
    pub fn get(&self, mixed: u64) -> Option<u16> {
        let finest = self.finest.pair(mixed);
        let stripe = self.stripes.of(self.finest.stripe_fingerprint(finest.fingerprint));
        loop {
            // mutant: chain-get-early-segments, chain-get-late-version, chain-get-version-relaxed
            let version = stripe.version();
            // mutant: chain-get-last-only, chain-get-words-relaxed, chain-get-segments-relaxed
            let found = self.value_unvalidated(finest);
            // mutant: chain-get-no-validation
            if found.is_some() || stripe.validate(version) {
                return found;
            }
            self.counters.lookup_retried();
        }
    }

    /// Returns a value of the item in the finest segment that holds one, without reading the
    /// version.
    #[inline]
    fn value_unvalidated(&self, finest: Pair) -> Option<u16> {
        let values = self.each_segment().map(|segment| segment.value_unvalidated(finest));
        values.fold(None, |before, value| value.or(before))
    }

    /// Returns all values that match the hash, in all segments. The value of an item with this hash
    /// that is in the chain throughout the call is among them. Some may come twice.
    #[must_use]
    pub fn values(&self, mixed: u64) -> AllCandidates {
        // mutant: chain-values-wrong-version
        let stripe = self.stripe(mixed);
        loop {
            // mutant: chain-values-early-segments, chain-values-late-version
            // mutant: chain-values-version-relaxed
            let version = stripe.version();
            let mut all = AllCandidates::default();
            // mutant: chain-values-words-relaxed, chain-values-segments-relaxed
            for segment in self.segments().rev() {
                // mutant: chain-values-last-only
                all.add(&segment.candidates_unvalidated(mixed));
            }
            // Even if there are matches: another value may have moved from one word to another.
            // mutant: chain-values-no-validation, chain-values-unvalidated-match
            if stripe.validate(version) {
                return all;
            }
            self.counters.lookup_retried();
        }
    }

    /// Returns whether a copy that matches the hash and has this value is in one of the segments.
    #[must_use]
    pub fn contains_value(&self, item: (u64, u16)) -> bool {
        // mutant: chain-probe-wrong-version
        let stripe = self.stripe(item.0);
        loop {
            // mutant: chain-probe-early-segments, chain-probe-late-version
            // mutant: chain-probe-version-relaxed
            let version = stripe.version();
            // mutant: chain-probe-last-only, chain-probe-words-relaxed
            // mutant: chain-probe-segments-relaxed
            if self.segments().rev().any(|segment| segment.contains_value_unvalidated(item)) {
                return true;
            }
            // mutant: chain-probe-no-validation
            if stripe.validate(version) {
                return false;
            }
            self.counters.lookup_retried();
        }
    }

    /// Adds a copy unless one matches the hash, with this or another value. Returns `None` if it
    /// was added, and otherwise a value that was found.
    ///
    /// # Errors
    /// `Full` if no copy matches, there is no room for one, and no segment can be added.
    pub fn get_or_insert(&self, item: (u64, u16)) -> Result<Option<u16>, InsertError> {
        let value = |copy: Fingerprint| copy.get() & self.finest.nesting().value_mask();
        // mutant: chain-unique-own-value
        self.find_or_insert(item).map(|found| found.map(|copy| value(copy) as u16))
    }

    /// Replaces the value of one copy that matches the hash and has this value. Returns whether
    /// there was one.
    #[must_use]
    pub fn replace(&self, item: (u64, u16), new: u16) -> bool {
        // mutant: chain-replace-no-lock, chain-replace-wrong-lock
        let guard = self.lock(item.0);
        // From the finest, as a removal: see "Values".
        // mutant: chain-replace-first-segment, chain-replace-no-bump, chain-replace-late-bump
        // mutant: chain-replace-bump-relaxed, chain-replace-clear-relaxed
        // mutant: chain-replace-read-relaxed, chain-replace-by-key, chain-replace-not-stored
        // mutant: chain-replace-segments-relaxed
        self.segments().rev().any(|segment| segment.replace(&guard, item, new))
    }
}
