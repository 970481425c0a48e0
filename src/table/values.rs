//! Values: what the last bits of a fingerprint hold, and the steps that read or replace them.
//!
//! In a table with values, a slot holds a *key* and, in its last bits, a value. The key alone
//! selects the stripe and the alternate bucket. So all copies of an item share their buckets and
//! their stripe, whatever values they have.
//!
//! Adding, moving, and removing concern all bits of a slot. The argument in `table/mod.rs` covers
//! them if "fingerprint" means the key with its value: an item of that argument is a pair with a
//! value, and its aliases have equal pairs and equal values. (In the rest of this file, an alias is
//! an item with an equal pair, whatever its value is.) Three things are new: replacements, lookups
//! by key, and counts of keys.
//!
//! # Replacements
//!
//! [`replace`](Table::replace) stores a key with a new value over the same key with the old value,
//! by one compare-and-swap, under the stripe's lock. It is a removal of (pair, old) and an insert
//! of (pair, new). As a removal, it is a clearing: it bumps the version first, and it must be paid
//! for. As an insert, it pays for one later removal or replacement.
//!
//! So `remove` and `replace` name the value, which must be that of the caller's own insert or of
//! its latest replacement. A value that `get` returned is not enough, because it can be that of an
//! alias with the same pair. Removing that one would use up another item's payment. (Aliases with
//! equal values are interchangeable.)
//!
//! `replace` finds the old value by an Acquire and stores the new one by a Release. So whoever
//! finds the new value happens after the replacement, and after the insert of the copy.
//!
//! Without the bump, a reader misses a value that was in the table throughout. The item x, with the
//! value B, is in bucket i, and its alias y, with the value A, in bucket j. A reader loads i. Then
//! x gets the value A, and y gets the value B. The reader loads j. At each moment there was a copy
//! with the value A.
//!
//! # Lookups by key
//!
//! `contains`, `get`, and `values` (here [`candidates`](Table::candidates)) are given a pair
//! without a value, and compare keys.
//!
//! 1. *A value that is not found.* A lookup by key is a lookup of the pair with each value, all on
//!    the same words and versions. So if the version was unchanged, the miss of each value is
//!    correct: `values` lists the value of every item of the pair that is in the table throughout.
//! 2. *A key that is not found.* During the lookup, an item's value may be replaced. Then the item
//!    has neither the old nor the new value throughout. But its key is there throughout, so apply
//!    the argument to keys. A replacement takes no key out of a word and adds none. The removal
//!    of a replaced copy is paid for by the insert before its first replacement, because each of
//!    these calls happened before the next one. (By the contract, a clear either
//!    happens after the removal, or happened before the last replacement. In the second case, it
//!    happened before the call that pays for that replacement, and so on, back to the insert.) So
//!    neither `contains` nor `get` misses an
//!    item whose value is replaced.
//! 3. *A value that is replaced meanwhile.* If the version was unchanged, the clearings with
//!    numbers below e were seen, and none with a number above e. So the words hold what was in the
//!    table before clearing number e or after it, apart from inserts that overlap the lookup.
//!    `values` lists each item of that state, with the value that it had then.
//!
//! A match in `contains` or `get` is an answer, whatever the versions are. `values` validates the
//! version even if there are matches, because every value that it does not list is a miss. Without
//! that, it loses a value. The item x, with the value A, and its alias y, with the value B, are in
//! bucket j. A reader loads i. Then x moves from j to i. The reader loads j and finds B alone.
//!
//! What `values` lists is right value by value. It need not be the state of one moment. A copy that
//! is being moved comes twice. If x is inserted into i after the reader has loaded i, and then its
//! alias y into j, the reader lists y without x.
//!
//! # Moves
//!
//! A move clears a slot that has exactly the bits that it copied. If it compared keys alone, it
//! could copy the value A, and then clear the slot of an alias with the value B: A would be there
//! twice, and B not at all.
//!
//! # Counts of keys
//!
//! `count`, `TooManyCopies`, limits on copies, and [`get_or_insert`](Table::get_or_insert) concern
//! the copies of a key, with any value. A replacement does not change their number, and the
//! argument for limits holds for keys. `get_or_insert` decides under the lock, as `insert_unique`
//! does. If it compared the values too, two calls with different values would both add the item.

use super::{Fastest, KeyProbe, Pair, Payload, StripeGuard, Table};
use crate::bucket::{BucketLayout, Fingerprint};

/// Largest number of slots of a pair, in layouts with values.
pub const MAX_CANDIDATES: usize = 12;

/// The values that were found for a key in one table, one for each slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    values: [u16; MAX_CANDIDATES],
    len: u8,
}

impl Candidates {
    #[inline]
    pub(super) fn push(&mut self, value: u16) {
        self.values[usize::from(self.len)] = value;
        self.len += 1;
    }

    /// The values.
    #[must_use]
    pub fn as_slice(&self) -> &[u16] {
        &self.values[..self.len.into()]
    }
}

impl<P: Payload> Table<P> {
    /// Returns a value of the pair's fingerprint, or `None` if the fingerprint is absent. The value
    /// of the pair must be zero.
    ///
    /// As for [`contains`](Self::contains), a match is an answer, whatever the versions are.
    #[inline]
    #[must_use]
    pub fn get<L: BucketLayout>(&self, pair: Pair) -> Option<u16> {
        self.get_by::<L>(&self.key_probe::<L>(), pair)
    }

    /// The probe of lookups by key.
    #[inline]
    pub(super) fn key_probe<L: BucketLayout>(&self) -> KeyProbe {
        KeyProbe::new::<L>(self.addressing.payload().value_bits())
    }

    /// As [`get`](Self::get), by the probe of this table.
    #[inline]
    pub(super) fn get_by<L: BucketLayout>(&self, probe: &KeyProbe, pair: Pair) -> Option<u16> {
        let Pair { fingerprint, buckets: [first, second] } = pair;
        let key = fingerprint.get() >> self.addressing.payload().value_bits();
        self.try_get(probe, key, pair.buckets)
            .unwrap_or_else(|()| self.get_again::<L>(fingerprint, first, second))
    }

    /// One round of [`get`](Self::get), for a fingerprint without the bits of a value. Fails if it
    /// missed while the version changed.
    #[inline]
    pub(crate) fn try_get(
        &self,
        probe: &KeyProbe,
        key: u32,
        buckets: [u32; 2],
    ) -> Result<Option<u16>, ()> {
        // mutant: get-wrong-version
        let stripe = self.stripes.of(Fingerprint::new(key));
        // mutant: get-late-version, get-version-relaxed, get-words-relaxed
        let (words, unchanged) = self.read_in::<Fastest>(stripe, buckets);
        let (found, value) = probe.first_value(words, key);
        // This branch is almost always taken, for hits and misses alike.
        // mutant: get-no-validation
        if found | unchanged {
            return Ok(found.then_some(value));
        }
        Err(())
    }

    /// The rest of `get`, after a round that missed while the version changed: more such rounds.
    ///
    /// Each argument is passed in a register, as in `full_probe`.
    #[cold]
    #[inline(never)]
    pub(crate) fn get_again<L: BucketLayout>(
        &self,
        fingerprint: Fingerprint,
        first: u32,
        second: u32,
    ) -> Option<u16> {
        let key = fingerprint.get() >> self.addressing.payload().value_bits();
        let probe = self.key_probe::<L>();
        loop {
            self.counters.lookup_retried();
            if let Ok(value) = self.try_get(&probe, key, [first, second]) {
                return value;
            }
        }
    }

    /// The value in the lowest slot that is marked.
    #[inline]
    fn value_at<L: BucketLayout>(&self, word: u64, matches: u64) -> u16 {
        ((word >> L::LANES.lowest(matches)) as u32 & self.addressing.payload().value_mask()) as u16
    }

    /// Returns all values of the pair's fingerprint: for every item of this pair that is in the
    /// table throughout the call, its value is among them. One that is moved meanwhile may come
    /// twice. The value of the pair must be zero.
    #[must_use]
    pub fn candidates<L: BucketLayout>(&self, pair: Pair) -> Candidates {
        loop {
            // mutant: values-late-version, values-version-relaxed, values-words-relaxed
            let (words, unchanged) = self.read::<[u64; 2]>(pair);
            // Even if there are matches: another value may have moved from one word to the other.
            // mutant: values-no-validation, values-unvalidated-match
            if unchanged {
                return self.candidates_in::<L>(pair, words);
            }
            self.counters.lookup_retried();
        }
    }

    /// Returns all values of the pair's fingerprint in these words.
    pub(crate) fn candidates_in<L: BucketLayout>(&self, pair: Pair, words: [u64; 2]) -> Candidates {
        let mut candidates = Candidates::default();
        let pattern = L::LANES.broadcast(pair.fingerprint.get());
        let distinct = if pair.buckets[0] == pair.buckets[1] { 1 } else { 2 };
        for &word in &words[..distinct] {
            // The exact test: every mark is right.
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
            // mutant: contains-value-late-version, contains-value-version-relaxed
            // mutant: contains-value-words-relaxed
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
        // mutant: replace-no-bump, replace-late-bump, replace-bump-relaxed, replace-clear-relaxed
        // mutant: replace-by-key, replace-not-stored
        self.clear_one::<L>(guard, pair, Some(key.with_value(new).fingerprint))
    }

    /// The first copy of a fingerprint, with any value, in a word that holds one.
    #[inline]
    pub(super) fn first_match<L: BucketLayout>(
        &self,
        word: u64,
        fingerprint: Fingerprint,
    ) -> Fingerprint {
        if self.addressing.payload().value_bits() == 0 {
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
        (fingerprint.get() & self.addressing.payload().value_mask()) as u16
    }
}
