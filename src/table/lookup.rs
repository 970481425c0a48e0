//! Lookups: read the version, both words, and the version again.

use core::hint::select_unpredictable;

use super::{
    Addressing, Alone, Nested, Nesting, Pair, Stripe, Table,
    words::{BothWords, Fastest},
};
use crate::bucket::{BucketLayout, Fingerprint};

impl<N: Nesting> Table<N> {
    /// Returns whether the pair's fingerprint is in one of its buckets, with any value. The value
    /// of the pair must be zero.
    #[inline]
    #[must_use]
    pub fn contains<L: BucketLayout>(&self, pair: Pair) -> bool {
        // A semi-sorted word whose high part matches is probed fully, in general registers.
        if L::BITS_BELOW == 0 {
            self.contains_as::<L, Fastest>(pair)
        } else {
            self.contains_as::<L, [u64; 2]>(pair)
        }
    }

    /// [`contains`](Self::contains), given the form in which the words are compared.
    #[inline]
    fn contains_as<L: BucketLayout, W: BothWords>(&self, pair: Pair) -> bool {
        let Pair { fingerprint, buckets: [first, second] } = pair;
        // mutant: lookup-first-unvalidated
        // mutant: lookup-first-late-version, lookup-first-relaxed
        let (words, unchanged) = self.read::<W>(pair);
        // mutant: lookup-with-value
        let value_bits = self.addressing.nesting().value_bits();
        let (found, certain) = words.quick_probe::<L>(fingerprint, value_bits);
        // In plain layouts this branch is almost always taken, for hits and misses alike. In
        // semi-sorted ones it is taken for most misses.
        // mutant: lookup-open-probe
        if (found | unchanged) & certain {
            return found;
        }
        let [first_word, second_word] = words.values();
        self.full_probe::<L>(fingerprint, first, second, first_word, second_word)
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
        let words = [first_word, second_word].without(self.values::<L>());
        if L::either_contains(words, pattern) {
            return true;
        }
        loop {
            self.counters.lookup_retried();
            // mutant: lookup-retry-late-version, lookup-retry-relaxed
            let (words, unchanged) =
                self.read::<[u64; 2]>(Pair { fingerprint, buckets: [first, second] });
            // mutant: lookup-retry-with-value
            let found = L::either_contains(words.without(self.values::<L>()), pattern);
            // mutant: lookup-one-retry
            if found | unchanged {
                return found;
            }
        }
    }

    /// Reads a pair's words, and returns whether the version was unchanged meanwhile. If so, a
    /// fingerprint that is not in these words is absent.
    #[inline]
    pub(super) fn read<W: BothWords>(&self, pair: Pair) -> (W, bool) {
        // mutant: lookup-wrong-version
        let stripe = self.stripe(pair.fingerprint);
        self.read_in(stripe, pair.buckets)
    }

    /// As [`read`](Self::read), given the stripe.
    #[inline]
    pub(super) fn read_in<W: BothWords>(&self, stripe: &Stripe, buckets: [u32; 2]) -> (W, bool) {
        let buckets = buckets.map(|bucket| self.buckets.bucket(bucket));
        // mutant: lookup-late-version, lookup-version-relaxed
        let version = stripe.version();
        // mutant: lookup-words-relaxed
        let words = W::load(buckets);
        // mutant: lookup-no-validation, lookup-words-twice
        (words, stripe.validate(version))
    }

    /// As [`contains`](Self::contains), in the words as they are read one after the other, without
    /// reading the version. `false` is an answer only for a caller that holds the stripe,
    /// or that validates the version itself.
    ///
    /// If the quick probe leaves the answer open, the full probe compares the same words. The
    /// caller reads the version after that, so no further round is needed.
    #[inline]
    pub(crate) fn contains_unvalidated<L: BucketLayout>(&self, pair: Pair) -> bool {
        // As in `contains`.
        if L::BITS_BELOW == 0 {
            self.contains_unvalidated_as::<L, Fastest>(pair)
        } else {
            self.contains_unvalidated_as::<L, [u64; 2]>(pair)
        }
    }

    /// [`contains_unvalidated`](Self::contains_unvalidated), given the form in which the words are
    /// compared.
    #[inline]
    fn contains_unvalidated_as<L: BucketLayout, W: BothWords>(&self, pair: Pair) -> bool {
        let words = W::load(self.both(pair));
        let value_bits = self.addressing.nesting().value_bits();
        let (found, certain) = words.quick_probe::<L>(pair.fingerprint, value_bits);
        // mutant: chain-lookup-open-probe
        if certain {
            found
        } else {
            let words = words.values().without(self.values::<L>());
            L::either_contains(words, L::pattern(pair.fingerprint))
        }
    }

    /// Counts the copies of the pair's fingerprint in its words as they are read one after the
    /// other, without reading the version, as [`contains_unvalidated`](Self::contains_unvalidated)
    /// does.
    pub(crate) fn count_unvalidated<L: BucketLayout>(&self, pair: Pair) -> usize {
        // mutant: chain-limit-words-relaxed
        let words = <[u64; 2]>::load(self.both(pair));
        self.copies_in::<L>(pair, words)
    }
}

/// How a lookup in a chain compares the words of one segment.
///
/// The pair in the segment follows from the one in the finest segment that the chain may ever have,
/// without a multiplication.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Bits by which the index of a bucket is shorter than in the finest segment.
    bucket_shift: u32,
    /// A lane holds a fingerprint of this segment, or its high part in a semi-sorted layout. This
    /// is the number of bits by which it is shorter than the fingerprint in the finest segment.
    value_shift: u32,
    ones: u64,
    highs: u64,
    /// Whether a lane holds a whole fingerprint.
    is_certain: bool,
}

impl Probe {
    /// The probe of the segment with this addressing.
    pub(crate) fn new<L: BucketLayout, V: Alone>(
        segment: &Addressing<Nested<V>>,
        finest: &Addressing<Nested<V>>,
    ) -> Self {
        let (segment, finest) = (segment.nesting(), finest.nesting());
        Self {
            bucket_shift: finest.level() - segment.level(),
            value_shift: finest.extra_bits() - segment.extra_bits() + L::BITS_BELOW,
            ones: L::LANES.ones(),
            highs: L::LANES.highs(),
            is_certain: L::BITS_BELOW == 0,
        }
    }

    /// Whether a mark is a match.
    #[inline]
    pub(crate) fn is_certain(&self) -> bool {
        self.is_certain
    }
}

impl<V: Alone> Table<Nested<V>> {
    /// Reads an item's words, given its pair in the finest segment, without reading the version.
    /// Marks lanes that match, with any value. If there is no mark, there is no match. If there is
    /// one, and [`is_certain`](Probe::is_certain), there is a match.
    #[inline]
    pub(crate) fn marks<W: BothWords>(&self, probe: &Probe, finest: Pair) -> W {
        let buckets = finest.buckets.map(|bucket| (u64::from(bucket) >> probe.bucket_shift) as u32);
        // mutant: chain-lookup-words-relaxed
        // mutant: chain-lookup-first-word-relaxed, chain-lookup-second-word-relaxed
        let words = W::load(buckets.map(|bucket| self.buckets.bucket(bucket)));
        self.marks_in(probe, finest, words)
    }

    /// [`marks`](Self::marks), in words that were read.
    #[inline]
    fn marks_in<W: BothWords>(&self, probe: &Probe, finest: Pair, words: W) -> W {
        let lane = finest.fingerprint.get() >> probe.value_shift;
        let values = u64::from(self.addressing.nesting().value_mask()).wrapping_mul(probe.ones);
        // The shift has moved bits of the fingerprint to where the value is.
        let pattern = u64::from(lane).wrapping_mul(probe.ones) & !values;
        words.without(values).marks(pattern, probe.ones, probe.highs)
    }

    /// Returns a value of an item in this segment, given its pair in the finest segment, without
    /// reading the version.
    #[inline]
    pub(crate) fn value_unvalidated(&self, probe: &Probe, finest: Pair) -> Option<u16> {
        let buckets = finest.buckets.map(|bucket| (u64::from(bucket) >> probe.bucket_shift) as u32);
        let words = <[u64; 2]>::load(buckets.map(|bucket| self.buckets.bucket(bucket)));
        let [first, second] = self.marks_in(probe, finest, words);
        // No branch between the words, as in `either_contains`.
        let in_first = first != 0;
        let marks = select_unpredictable(in_first, first, second);
        let word = select_unpredictable(in_first, words[0], words[1]);
        // The lowest mark is right. It is the highest bit of its lane.
        let lane = marks.trailing_zeros().wrapping_sub(probe.highs.trailing_zeros());
        let value = word.wrapping_shr(lane) as u32 & self.addressing.nesting().value_mask();
        (marks != 0).then_some(value as u16)
    }
}
