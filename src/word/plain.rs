//! Lanes side by side, matched by SWAR: all lanes of a word in a handful of instructions.

use super::{Fingerprint, WordLayout};

/// `LANES` lanes of `BITS` bits, lowest lane in the lowest bits; bits above the last lane are zero.
///
/// **Occupied lanes are the lowest ones.** So a word is full when its highest lane is not zero, and of two
/// words the one with fewer occupied lanes is the smaller number.
///
/// Two zero-lane tests are used (Warren, Hacker's Delight, section 6-1):
/// - the *short* one, `(x - 1) & !x & high` in every lane. It says exactly whether there is a zero
///   lane, and its lowest set bit is exactly the lowest zero lane; bits above that one can be
///   wrong, because the subtraction borrows from the next lane.
/// - the *exact* one, which adds inside the lanes and so carries nowhere. Every bit is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain<const LANES: u32, const BITS: u32>;

impl<const LANES: u32, const BITS: u32> Plain<LANES, BITS> {
    /// The lowest bit of every lane; multiplying by it broadcasts a fingerprint to all lanes.
    const ONES: u64 = {
        assert!(LANES > 0 && BITS > 0 && BITS < 32 && LANES * BITS <= 64);
        let mut ones = 0;
        let mut lane = 0;
        while lane < LANES {
            ones |= 1 << (lane * BITS);
            lane += 1;
        }
        ones
    };
    /// The highest bit of every lane: where the zero-lane tests leave their answer.
    const HIGHS: u64 = Self::ONES << (BITS - 1);
    /// Every bit of every lane but the highest.
    const LOWS: u64 = Self::HIGHS - Self::ONES;
    /// The bits of the lowest lane.
    const LANE: u64 = (1 << BITS) - 1;

    /// The high bits of the zero lanes of `x`: zero when there is none, right at its lowest set
    /// bit, perhaps wrong above that.
    #[inline]
    const fn zero_lanes_short(x: u64) -> u64 {
        x.wrapping_sub(Self::ONES) & !x & Self::HIGHS
    }

    /// Shift of the highest lane.
    const HIGHEST: u32 = (LANES - 1) * BITS;

    /// The high bits of exactly the zero lanes of `x`.
    #[inline]
    const fn zero_lanes(x: u64) -> u64 {
        !(((x & Self::LOWS) + Self::LOWS) | x) & Self::HIGHS
    }

    /// How many lanes a mask of high bits marks.
    #[inline]
    const fn marked(mask: u64) -> u32 {
        if LANES < 1 << BITS {
            // One multiply sums the lanes into the highest one, where the sum fits. (A population
            // count is a dozen instructions on baseline x86-64.)
            let sums = (mask >> (BITS - 1)).wrapping_mul(Self::ONES);
            ((sums >> ((LANES - 1) * BITS)) & Self::LANE) as u32
        } else {
            mask.count_ones()
        }
    }

    /// The shift of the lane whose high bit is the lowest set one of `mask`.
    #[inline]
    const fn lowest_lane(mask: u64) -> u32 {
        mask.trailing_zeros() - (BITS - 1)
    }
}

impl<const LANES: u32, const BITS: u32> WordLayout for Plain<LANES, BITS> {
    const LANES: u32 = LANES;
    const BITS: u32 = BITS;

    /// The fingerprint in every lane.
    type Pattern = u64;

    #[inline]
    fn pattern(fingerprint: Fingerprint) -> u64 {
        debug_assert!(fingerprint.get() <= Self::MAX_FINGERPRINT);
        u64::from(fingerprint.get()) * Self::ONES
    }

    #[inline]
    fn contains(word: u64, pattern: u64) -> bool {
        Self::zero_lanes_short(word ^ pattern) != 0
    }

    #[inline]
    fn count(word: u64, pattern: u64) -> u32 {
        Self::marked(Self::zero_lanes(word ^ pattern))
    }

    #[inline]
    fn is_emptier(word: u64, other: u64) -> bool {
        word < other
    }

    #[inline]
    fn is_full(word: u64) -> bool {
        word >> Self::HIGHEST != 0
    }

    #[inline]
    fn with(word: u64, fingerprint: Fingerprint) -> Option<u64> {
        let empty = Self::zero_lanes_short(word);
        (empty != 0).then(|| word | u64::from(fingerprint.get()) << Self::lowest_lane(empty))
    }

    #[inline]
    fn without(word: u64, pattern: u64) -> Option<u64> {
        let found = Self::zero_lanes_short(word ^ pattern);
        (found != 0).then(|| {
            let below = (1 << Self::lowest_lane(found)) - 1;
            word & below | (word >> BITS) & !below
        })
    }

    #[inline]
    fn replace(word: u64, old: u64, new: Fingerprint) -> Option<u64> {
        let found = Self::zero_lanes_short(word ^ old);
        (found != 0).then(|| {
            let lane = Self::lowest_lane(found);
            word & !(Self::LANE << lane) | u64::from(new.get()) << lane
        })
    }

    #[inline]
    fn fingerprints(word: u64) -> impl Iterator<Item = Fingerprint> {
        let mut rest = word;
        std::iter::from_fn(move || {
            let lane = (rest & Self::LANE) as u32;
            rest >>= BITS;
            (lane != 0).then(|| Fingerprint::new(lane))
        })
    }
}
