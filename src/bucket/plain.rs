//! Plain layouts: each slot is a SWAR lane that holds one fingerprint.

use super::{BucketLayout, Census, Fingerprint, census::census, swar::Lanes};

/// `SLOTS` slots of `BITS` bits, the first slot in the lowest bits. Bits above the last slot are
/// zero.
///
/// **Occupied slots precede empty ones.** So a word is full if its last slot is not zero, and of
/// two words the one with fewer occupied slots is the smaller number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain<const SLOTS: u32, const BITS: u32>;

impl<const SLOTS: u32, const BITS: u32> Plain<SLOTS, BITS> {
    /// The bits of the first slot.
    const FIRST: u64 = (1 << BITS) - 1;
}

impl<const SLOTS: u32, const BITS: u32> BucketLayout for Plain<SLOTS, BITS> {
    const SLOTS: u32 = SLOTS;
    const BITS: u32 = BITS;
    const MIN_FINGERPRINT: u32 = 1;
    /// The slots.
    const LANES: Lanes = Lanes::new(SLOTS, BITS, 0);
    const BITS_BELOW: u32 = 0;

    /// The fingerprint in every slot.
    type Pattern = u64;

    #[inline]
    fn pattern(fingerprint: Fingerprint) -> u64 {
        debug_assert!(fingerprint.get() <= Self::MAX_FINGERPRINT);
        Self::LANES.broadcast(fingerprint.get())
    }

    #[inline]
    fn contains(word: u64, pattern: u64) -> bool {
        Self::LANES.zeros_short(word ^ pattern) != 0
    }

    #[inline]
    fn count(word: u64, pattern: u64) -> u32 {
        Self::LANES.marked(Self::LANES.zeros(word ^ pattern))
    }

    #[inline]
    fn is_emptier(word: u64, other: u64) -> bool {
        word < other
    }

    #[inline]
    fn is_full(word: u64) -> bool {
        word >> Self::LANES.highest() != 0
    }

    #[inline]
    fn with(word: u64, fingerprint: Fingerprint) -> Option<u64> {
        let empty = Self::LANES.zeros_short(word);
        (empty != 0).then(|| word | u64::from(fingerprint.get()) << Self::LANES.lowest(empty))
    }

    #[inline]
    fn without(word: u64, pattern: u64) -> Option<u64> {
        // A bit at the start of the slot. Bits above it can be wrong.
        let found = Self::LANES.zeros_short(word ^ pattern) >> (BITS - 1);
        // All bits from there on, which take those of the next slot.
        let moved = found | found.wrapping_neg();
        (found != 0).then_some(word ^ ((word ^ word >> BITS) & moved))
    }

    #[inline]
    fn replace(word: u64, old: u64, new: Fingerprint) -> Option<u64> {
        let found = Self::LANES.zeros_short(word ^ old);
        (found != 0).then(|| {
            let shift = Self::LANES.lowest(found);
            word & !(Self::FIRST << shift) | u64::from(new.get()) << shift
        })
    }

    #[inline]
    fn census(words: &[u64]) -> Census {
        census(Self::LANES, words, |_| false)
    }

    #[inline]
    fn fingerprints(word: u64) -> impl Iterator<Item = Fingerprint> {
        let slots = (0..SLOTS).map(move |slot| (word >> (slot * BITS) & Self::FIRST) as u32);
        slots.take_while(|&slot| slot != 0).map(Fingerprint::new)
    }
}
