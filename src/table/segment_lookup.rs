//! Lookups in one segment of a chain, whose pair follows from that in the finest segment.

use core::hint::select_unpredictable;

use super::{Addressing, Alone, BothWords, Nested, Nesting, Pair, Table};
use crate::bucket::BucketLayout;

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
