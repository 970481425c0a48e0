//! Lanes side by side, matched by SWAR.

use super::{BucketLayout, Census, Fingerprint, swar::Lanes};

/// `SLOTS` lanes of `BITS` bits, lowest lane in the lowest bits; bits above the last lane are zero.
///
/// **Occupied lanes are the lowest ones.** So a word is full when its highest lane is not zero, and of two
/// words the one with fewer occupied lanes is the smaller number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain<const SLOTS: u32, const BITS: u32>;

impl<const SLOTS: u32, const BITS: u32> Plain<SLOTS, BITS> {
    const SWAR: Lanes = Lanes::new(SLOTS, BITS, 0);
    /// The bits of the lowest lane.
    const LANE: u64 = (1 << BITS) - 1;
}

impl<const SLOTS: u32, const BITS: u32> BucketLayout for Plain<SLOTS, BITS> {
    const SLOTS: u32 = SLOTS;
    const BITS: u32 = BITS;
    const MIN_FINGERPRINT: u32 = 1;

    /// The fingerprint in every lane.
    type Pattern = u64;

    #[inline]
    fn pattern(fingerprint: Fingerprint) -> u64 {
        debug_assert!(fingerprint.get() <= Self::MAX_FINGERPRINT);
        Self::SWAR.broadcast(fingerprint.get())
    }

    #[inline]
    fn contains(word: u64, pattern: u64) -> bool {
        Self::SWAR.zeros_short(word ^ pattern) != 0
    }

    #[inline]
    fn count(word: u64, pattern: u64) -> u32 {
        Self::SWAR.marked(Self::SWAR.zeros(word ^ pattern))
    }

    #[inline]
    fn is_emptier(word: u64, other: u64) -> bool {
        word < other
    }

    #[inline]
    fn is_full(word: u64) -> bool {
        word >> Self::SWAR.highest() != 0
    }

    #[inline]
    fn with(word: u64, fingerprint: Fingerprint) -> Option<u64> {
        let empty = Self::SWAR.zeros_short(word);
        (empty != 0).then(|| word | u64::from(fingerprint.get()) << Self::SWAR.lowest(empty))
    }

    #[inline]
    fn without(word: u64, pattern: u64) -> Option<u64> {
        let found = Self::SWAR.zeros_short(word ^ pattern);
        (found != 0).then(|| {
            let below = (1 << Self::SWAR.lowest(found)) - 1;
            word & below | (word >> BITS) & !below
        })
    }

    #[inline]
    fn replace(word: u64, old: u64, new: Fingerprint) -> Option<u64> {
        let found = Self::SWAR.zeros_short(word ^ old);
        (found != 0).then(|| {
            let lane = Self::SWAR.lowest(found);
            word & !(Self::LANE << lane) | u64::from(new.get()) << lane
        })
    }

    #[inline]
    fn census(words: &[u64]) -> Census {
        Self::SWAR.census(words)
    }

    #[inline]
    fn fingerprints(word: u64) -> impl Iterator<Item = Fingerprint> {
        let mut rest = word;
        core::iter::from_fn(move || {
            let lane = (rest & Self::LANE) as u32;
            rest >>= BITS;
            (lane != 0).then(|| Fingerprint::new(lane))
        })
    }
}
