//! Semi-sorted layouts: longer fingerprints in the same space, because the order of slots is not
//! stored.
//!
//! The slot of a fingerprint has no meaning, yet a plain word spends bits on the order of its
//! slots. So this layout sorts the slots by their low nibbles, and stores the multiset of these
//! nibbles as one number, its *code* (Fan et al. 2014, section 5.2). The code of six nibbles takes
//! 16 bits instead of 24, that of five 14 instead of 20, of four 12 instead of 16, and of three 10
//! instead of 12.
//!
//! The paper decodes a bucket before it compares fingerprints. Here the rest of each fingerprint,
//! its *high part*, is in a SWAR lane as in a plain word, and is compared first. Only if a high
//! part matches is the code decoded. In a full table this happens in one lookup of an absent item
//! out of 21 (6 slots of 12 bits), 102 (5 of 14), 1,024 (4 of 17) or 43,690 (3 of 22).

use core::hint::select_unpredictable;

use super::{
    BucketLayout, Census, Fingerprint,
    census::census,
    nibbles::{self, code_bits},
    swar::Lanes,
};

/// `SLOTS` slots of `BITS` bits: the code of the low nibbles in the lowest bits, and above it the
/// high parts, one lane per slot.
///
/// **A high part is never zero**, because the smallest fingerprint is 16. So a slot is empty if its
/// high part is zero, whatever the code is. This costs 16 of the `2^BITS` values of a fingerprint,
/// or one in `2^(BITS - 4)`.
///
/// **Slots are in descending order** of low nibbles, and slots with equal nibbles in descending
/// order of high parts. Empty slots count as zero, so they come last. So a word is full if its last
/// high part is not zero, and of two words the one with fewer occupied slots is the smaller number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemiSorted<const SLOTS: u32, const BITS: u32>;

/// A fingerprint in the form that comparisons use.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// The high part in every lane.
    highs: u64,
    /// The low nibble.
    nibble: u32,
}

/// An unpacked word: the nibbles and the high parts of all slots, in the same order, both from bit
/// 0 on.
#[derive(Clone, Copy)]
struct Unpacked {
    nibbles: u32,
    highs: u64,
}

impl<const SLOTS: u32, const BITS: u32> SemiSorted<SLOTS, BITS> {
    /// Number of bits of a high part.
    const HIGH: u32 = BITS - nibbles::BITS;
    /// Number of bits of the code, which is below the lanes.
    const CODE: u32 = code_bits(SLOTS);
    /// The bits of the first high part of an unpacked word.
    const FIRST: u64 = (1 << Self::HIGH) - 1;

    /// How many codes a word can have, by the position of its highest set bit. The position tells
    /// how many slots are occupied, and the nibbles of all others are zero.
    const CODES: [u16; 64] = {
        let mut codes = [1; 64];
        let mut bit = Self::CODE;
        while bit < 64 {
            let occupied = (bit - Self::CODE) / Self::HIGH + 1;
            codes[bit as usize] =
                nibbles::sequences(if occupied < SLOTS { occupied } else { SLOTS }) as u16;
            bit += 1;
        }
        codes
    };

    /// Returns the code of a word. (Its mask makes bounds checks of the table of sequences
    /// unnecessary.)
    #[inline]
    fn code(word: u64) -> usize {
        word as usize & ((1 << Self::CODE) - 1)
    }

    /// Returns the low nibbles of a word.
    #[inline]
    fn nibbles(word: u64) -> u32 {
        nibbles::SEQUENCES[Self::code(word)]
    }

    /// Returns the lowest slot whose high part `mask` marks.
    #[inline]
    fn slot(mask: u64) -> u32 {
        (Self::LANES.lowest(mask) - Self::CODE) / Self::HIGH
    }

    /// Returns the first slot that holds the fingerprint.
    #[inline]
    fn find(word: u64, pattern: Pattern) -> Option<u32> {
        let mut candidates = Self::LANES.zeros(word ^ pattern.highs);
        if candidates == 0 {
            return None;
        }
        let nibbles = Self::nibbles(word);
        while candidates != 0 {
            let slot = Self::slot(candidates);
            if (nibbles >> (slot * nibbles::BITS)) & nibbles::MASK == pattern.nibble {
                return Some(slot);
            }
            candidates &= candidates - 1;
        }
        None
    }

    /// Splits a word into nibbles and high parts.
    #[inline]
    fn unpack(word: u64) -> Unpacked {
        Unpacked { nibbles: Self::nibbles(word), highs: word >> Self::CODE }
    }

    /// Returns the word of nibbles and high parts whose slots are in order.
    #[inline]
    fn pack(Unpacked { nibbles, highs }: Unpacked) -> u64 {
        highs << Self::CODE | nibbles::encode(SLOTS, nibbles)
    }

    /// Removes a slot and appends an empty one.
    #[inline]
    fn remove_slot(Unpacked { nibbles, highs }: Unpacked, slot: u32) -> Unpacked {
        let (below, highs_below) = Self::masks_below(slot);
        Unpacked {
            nibbles: nibbles & below | (nibbles >> nibbles::BITS) & !below,
            highs: highs & highs_below | (highs >> Self::HIGH) & !highs_below,
        }
    }

    /// Drops the last slot, which must be empty, and inserts a fingerprint where the order requires
    /// it.
    #[inline]
    fn insert_slot(Unpacked { nibbles, highs }: Unpacked, fingerprint: Fingerprint) -> Unpacked {
        let (nibble, high) = Self::split(fingerprint);
        let rank = |nibble: u32, high: u32| nibble << Self::HIGH | high;
        // The number of slots that come before it in this order, counted without a branch.
        let slot = (0..SLOTS)
            .map(|slot| {
                let other_nibble = (nibbles >> (slot * nibbles::BITS)) & nibbles::MASK;
                let other_high = (highs >> (slot * Self::HIGH)) & Self::FIRST;
                u32::from(rank(other_nibble, other_high as u32) > rank(nibble, high))
            })
            .sum();
        let (below, highs_below) = Self::masks_below(slot);
        Unpacked {
            nibbles: nibbles & below
                | nibble << (slot * nibbles::BITS)
                | (nibbles & !below) << nibbles::BITS,
            highs: highs & highs_below
                | u64::from(high) << (slot * Self::HIGH)
                | (highs & !highs_below) << Self::HIGH,
        }
    }

    /// Returns the masks of the nibbles and of the high parts before a slot.
    #[inline]
    fn masks_below(slot: u32) -> (u32, u64) {
        ((1 << (slot * nibbles::BITS)) - 1, (1 << (slot * Self::HIGH)) - 1)
    }

    /// Splits a fingerprint into its low nibble and its high part.
    #[inline]
    fn split(fingerprint: Fingerprint) -> (u32, u32) {
        (fingerprint.get() & nibbles::MASK, fingerprint.get() >> nibbles::BITS)
    }
}

impl<const SLOTS: u32, const BITS: u32> BucketLayout for SemiSorted<SLOTS, BITS> {
    const SLOTS: u32 = SLOTS;
    const BITS: u32 = BITS;
    const MIN_FINGERPRINT: u32 = 1 << nibbles::BITS;
    /// The high parts.
    const LANES: Lanes = Lanes::new(SLOTS, Self::HIGH, Self::CODE);
    const BITS_BELOW: u32 = nibbles::BITS;

    type Pattern = Pattern;

    #[inline]
    fn pattern(fingerprint: Fingerprint) -> Pattern {
        debug_assert!(
            fingerprint.get() >= Self::MIN_FINGERPRINT,
            "a zero high part marks an empty slot"
        );
        debug_assert!(fingerprint.get() <= Self::MAX_FINGERPRINT);
        let (nibble, high) = Self::split(fingerprint);
        Pattern { highs: Self::LANES.broadcast(high), nibble }
    }

    #[inline]
    fn contains(word: u64, pattern: Pattern) -> bool {
        Self::find(word, pattern).is_some()
    }

    #[inline]
    fn either_contains([first, second]: [u64; 2], pattern: Pattern) -> bool {
        let in_first = Self::LANES.zeros_short(first ^ pattern.highs) != 0;
        // Usually at most one word has the high part, and no branch could predict which one.
        let likely = select_unpredictable(in_first, first, second);
        Self::contains(likely, pattern) || (in_first && Self::contains(second, pattern))
    }

    #[inline]
    fn count(word: u64, pattern: Pattern) -> u32 {
        let mut candidates = Self::LANES.zeros(word ^ pattern.highs);
        let nibbles = Self::nibbles(word);
        let mut count = 0;
        while candidates != 0 {
            let nibble = (nibbles >> (Self::slot(candidates) * nibbles::BITS)) & nibbles::MASK;
            count += u32::from(nibble == pattern.nibble);
            candidates &= candidates - 1;
        }
        count
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
        (!Self::is_full(word))
            .then(|| Self::pack(Self::insert_slot(Self::unpack(word), fingerprint)))
    }

    #[inline]
    fn without(word: u64, pattern: Pattern) -> Option<u64> {
        let slot = Self::find(word, pattern)?;
        Some(Self::pack(Self::remove_slot(Self::unpack(word), slot)))
    }

    #[inline]
    fn replace(word: u64, old: Pattern, new: Fingerprint) -> Option<u64> {
        let slot = Self::find(word, old)?;
        let rest = Self::remove_slot(Self::unpack(word), slot);
        Some(Self::pack(Self::insert_slot(rest, new)))
    }

    /// Does not check the order of fingerprints with equal nibbles, since no function depends on
    /// it.
    #[inline]
    fn census(words: &[u64]) -> Census {
        // The nibbles of empty slots are zero, and codes of such sequences are the smallest ones.
        census(Self::LANES, words, |word| {
            let highest = (word | 1).ilog2();
            Self::code(word) >= usize::from(Self::CODES[highest as usize])
        })
    }

    #[inline]
    fn fingerprints(word: u64) -> impl Iterator<Item = Fingerprint> {
        let Unpacked { mut nibbles, mut highs } = Self::unpack(word);
        core::iter::from_fn(move || {
            let high = (highs & Self::FIRST) as u32;
            let fingerprint = high << nibbles::BITS | nibbles & nibbles::MASK;
            nibbles >>= nibbles::BITS;
            highs >>= Self::HIGH;
            (high != 0).then(|| Fingerprint::new(fingerprint))
        })
    }
}
