//! Lookups: read the version, both words, and the version again.

use super::{Nesting, Pair, Table, copies::copies_in};
use crate::{
    bucket::{BucketLayout, Fingerprint},
    sync::{Acquire, Word},
};

/// Reads both words of a pair. A fingerprint found in them is present. One that is not found may
/// have moved between the two loads, unless the version is validated or the stripe is held.
#[inline]
fn words([first, second]: [&Word; 2]) -> [u64; 2] {
    // Acquire, twice: pairs with the Release of `try_add` (and of `relocate` and `clear_slot`,
    // which also add), so that a hit happens after the insert that it found; and with that of
    // `clear_slot` and `clear`, so that a lookup that sees a cleared slot also sees the version
    // bumped.
    [first.load(Acquire), second.load(Acquire)]
}

impl<N: Nesting> Table<N> {
    /// Returns whether the pair's fingerprint is in one of its buckets.
    #[inline]
    #[must_use]
    pub fn contains<L: BucketLayout>(&self, pair: Pair) -> bool {
        let Pair { fingerprint, buckets: [first, second] } = pair;
        // mutant: lookup-first-unvalidated
        // mutant: lookup-first-late-version, lookup-first-relaxed
        let (words, unchanged) = self.read(pair);
        let (found, certain) = L::quick_probe(words, L::pattern(fingerprint));
        // In plain layouts this branch is almost always taken, for hits and misses alike. In
        // semi-sorted ones it is taken for most misses.
        // mutant: lookup-open-probe
        if (found | unchanged) & certain {
            return found;
        }
        self.full_probe::<L>(fingerprint, first, second, words[0], words[1])
    }

    /// The rest of `contains`: probes the same words fully, and retries if there is no match.
    ///
    /// Each argument is passed in a register. If the pair or the words were passed as a whole, they
    /// would be written to memory before every quick probe. No register is left for `unchanged`, so
    /// a quick probe that left the answer open costs one more round if the full probe finds no
    /// match.
    #[cold]
    #[inline(never)]
    fn full_probe<L: BucketLayout>(
        &self,
        fingerprint: Fingerprint,
        first: u32,
        second: u32,
        first_word: u64,
        second_word: u64,
    ) -> bool {
        let pattern = L::pattern(fingerprint);
        // A match is a hit, whatever the versions are.
        if L::either_contains([first_word, second_word], pattern) {
            return true;
        }
        loop {
            self.counters.lookup_retried();
            // mutant: lookup-retry-late-version, lookup-retry-relaxed
            let (words, unchanged) = self.read(Pair { fingerprint, buckets: [first, second] });
            let found = L::either_contains(words, pattern);
            // mutant: lookup-one-retry
            if found | unchanged {
                return found;
            }
        }
    }

    /// Reads a pair's words, and returns whether the version was unchanged meanwhile. If it was, a
    /// fingerprint that is not in these words is absent.
    #[inline]
    pub(super) fn read(&self, pair: Pair) -> ([u64; 2], bool) {
        // mutant: lookup-wrong-version
        let stripe = self.stripe(pair.fingerprint);
        let buckets = self.both(pair);
        // mutant: lookup-late-version, lookup-version-relaxed
        let version = stripe.version();
        // mutant: lookup-words-relaxed
        let words = words(buckets);
        // mutant: lookup-no-validation, lookup-words-twice
        (words, stripe.validate(version))
    }

    /// Returns whether the pair's fingerprint is in its words as they are read one after the other,
    /// without reading the version. `false` is an answer only for a caller that holds the stripe,
    /// or that validates the version itself.
    ///
    /// If the quick probe leaves the answer open, the full probe reads the same words. The caller
    /// reads the version after that, so no further round is needed.
    #[inline]
    pub(crate) fn contains_unvalidated<L: BucketLayout>(&self, pair: Pair) -> bool {
        // mutant: chain-lookup-words-relaxed
        // mutant: chain-lookup-first-word-relaxed, chain-lookup-second-word-relaxed
        let (words, pattern) = (words(self.both(pair)), L::pattern(pair.fingerprint));
        let (found, certain) = L::quick_probe(words, pattern);
        // mutant: chain-lookup-open-probe
        if certain { found } else { L::either_contains(words, pattern) }
    }

    /// Counts the copies of the pair's fingerprint in its words as they are read one after the
    /// other, without reading the version, as [`contains_unvalidated`](Self::contains_unvalidated)
    /// does.
    pub(crate) fn count_unvalidated<L: BucketLayout>(&self, pair: Pair) -> usize {
        // mutant: chain-limit-words-relaxed
        let words = words(self.both(pair));
        copies_in::<L>(pair, words)
    }
}
