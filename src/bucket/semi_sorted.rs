//! Semi-sorted lanes: a bit more of every fingerprint in the same space.
//!
//! In which lane a fingerprint stands says nothing, yet lanes side by side record it. So they are sorted
//! by their low four bits, and these are stored as one number, that of the multiset they are (Fan
//! et al. 2014, section 5.2). Six lanes take 16 bits for it instead of 24, five 14 instead of 20, four 12
//! instead of 16.
//!
//! The paper decodes a bucket to compare it. Here the rest of each fingerprint, its *high part*, lies in
//! lanes as in a plain word, and is compared first, by SWAR. Only where one matches is the number looked
//! up in a table: for an absent item in one lookup of 21 (6 lanes of 12 bits), 102 (5 of 14) or 1 024 (4
//! of 17).

use core::hint::select_unpredictable;

use super::{
    BucketLayout, Census, Fingerprint,
    nibbles::{self, code_bits},
    swar::Lanes,
};

/// `SLOTS` lanes of `BITS` bits in less space: in the lowest bits the code of the lanes' low nibbles, and above
/// it the lanes of their high parts.
///
/// **A high part is never zero**: the fingerprints begin at 16. So a lane is empty when its high part is
/// zero, whatever the code says, and it costs one fingerprint in `2^(BITS - 4)`.
///
/// **Lanes descend**, by low nibble, and among equal ones by high part; empty lanes, which are zeros, come
/// last. So occupied lanes are the lowest ones, a word is full when its highest
/// high part is not zero, and of two words the one with fewer occupied lanes is the smaller number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemiSorted<const SLOTS: u32, const BITS: u32>;

/// A fingerprint made ready for comparison.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// The high part in every lane.
    highs: u64,
    /// The low nibble.
    nibble: u32,
}

/// The lanes of a word, taken apart: the nibbles and the high parts in the same order, from bit 0 on.
#[derive(Clone, Copy)]
struct Apart {
    nibbles: u32,
    highs: u64,
}

impl<const SLOTS: u32, const BITS: u32> SemiSorted<SLOTS, BITS> {
    /// Bits of a high part.
    const HIGH: u32 = BITS - nibbles::BITS;
    /// Bits of the code, below the lanes.
    const CODE: u32 = code_bits(SLOTS);
    /// Where the high parts stand.
    const HIGHS: Lanes = Lanes::new(SLOTS, Self::HIGH, Self::CODE);
    /// The bits of the lowest high part of lanes taken apart.
    const LOWEST: u64 = (1 << Self::HIGH) - 1;

    /// The number of codes of words whose highest bit is this one, by as many lanes as are occupied then.
    const CODES: [u16; 64] = {
        let mut codes = [1; 64];
        let mut bit = Self::CODE;
        while bit < 64 {
            let lanes = (bit - Self::CODE) / Self::HIGH + 1;
            codes[bit as usize] =
                nibbles::sequences(if lanes < SLOTS { lanes } else { SLOTS }) as u16;
            bit += 1;
        }
        codes
    };

    /// The code of a word. (Where tables are looked into by it no check is left: they have a place for every
    /// number of so many bits.)
    #[inline]
    fn code(word: u64) -> usize {
        word as usize & ((1 << Self::CODE) - 1)
    }

    /// The low nibbles of a word.
    #[inline]
    fn nibbles(word: u64) -> u32 {
        nibbles::SEQUENCES[Self::code(word)]
    }

    /// The place of the lane whose high part's highest bit is the lowest set one of `mask`.
    #[inline]
    fn place(mask: u64) -> u32 {
        (Self::HIGHS.lowest(mask) - Self::CODE) / Self::HIGH
    }

    /// The first lane with this fingerprint, by its place.
    #[inline]
    fn find(word: u64, pattern: Pattern) -> Option<u32> {
        let mut candidates = Self::HIGHS.zeros(word ^ pattern.highs);
        if candidates == 0 {
            return None;
        }
        let nibbles = Self::nibbles(word);
        while candidates != 0 {
            let place = Self::place(candidates);
            if (nibbles >> (place * nibbles::BITS)) & nibbles::LOWEST == pattern.nibble {
                return Some(place);
            }
            candidates &= candidates - 1;
        }
        None
    }

    #[inline]
    fn take_apart(word: u64) -> Apart {
        Apart { nibbles: Self::nibbles(word), highs: word >> Self::CODE }
    }

    #[inline]
    fn put_together(Apart { nibbles, highs }: Apart) -> u64 {
        highs << Self::CODE | nibbles::encode(SLOTS, nibbles)
    }

    /// Lanes with one at this place taken out, an empty one last.
    #[inline]
    fn take_out(Apart { nibbles, highs }: Apart, place: u32) -> Apart {
        let (below, highs_below) = Self::below(place);
        Apart {
            nibbles: nibbles & below | (nibbles >> nibbles::BITS) & !below,
            highs: highs & highs_below | (highs >> Self::HIGH) & !highs_below,
        }
    }

    /// Lanes, the last of which is empty, with a fingerprint put in where it belongs.
    #[inline]
    fn put_in(Apart { nibbles, highs }: Apart, fingerprint: Fingerprint) -> Apart {
        let (nibble, high) = Self::parts(fingerprint);
        let rank = |nibble: u32, high: u32| nibble << Self::HIGH | high;
        let place = (0..SLOTS)
            .map(|lane| {
                let nibble_there = (nibbles >> (lane * nibbles::BITS)) & nibbles::LOWEST;
                let high_there = (highs >> (lane * Self::HIGH)) & Self::LOWEST;
                u32::from(rank(nibble_there, high_there as u32) > rank(nibble, high))
            })
            .sum();
        let (below, highs_below) = Self::below(place);
        Apart {
            nibbles: nibbles & below
                | nibble << (place * nibbles::BITS)
                | (nibbles & !below) << nibbles::BITS,
            highs: highs & highs_below
                | u64::from(high) << (place * Self::HIGH)
                | (highs & !highs_below) << Self::HIGH,
        }
    }

    /// Masks of the nibbles and of the high parts before a place.
    #[inline]
    fn below(place: u32) -> (u32, u64) {
        ((1 << (place * nibbles::BITS)) - 1, (1 << (place * Self::HIGH)) - 1)
    }

    /// The low nibble and the high part of a fingerprint.
    #[inline]
    fn parts(fingerprint: Fingerprint) -> (u32, u32) {
        (fingerprint.get() & nibbles::LOWEST, fingerprint.get() >> nibbles::BITS)
    }
}

impl<const SLOTS: u32, const BITS: u32> BucketLayout for SemiSorted<SLOTS, BITS> {
    const SLOTS: u32 = SLOTS;
    const BITS: u32 = BITS;
    const MIN_FINGERPRINT: u32 = 1 << nibbles::BITS;

    type Pattern = Pattern;

    #[inline]
    fn pattern(fingerprint: Fingerprint) -> Pattern {
        debug_assert!(fingerprint.get() >= Self::MIN_FINGERPRINT, "an empty high part");
        debug_assert!(fingerprint.get() <= Self::MAX_FINGERPRINT);
        let (nibble, high) = Self::parts(fingerprint);
        Pattern { highs: Self::HIGHS.broadcast(high), nibble }
    }

    #[inline]
    fn contains(word: u64, pattern: Pattern) -> bool {
        Self::find(word, pattern).is_some()
    }

    #[inline]
    fn either_contains([first, second]: [u64; 2], pattern: Pattern) -> bool {
        let in_first = Self::HIGHS.zeros_short(first ^ pattern.highs) != 0;
        // As a rule one word has the high part. Which one, no branch could guess.
        let likely = select_unpredictable(in_first, first, second);
        Self::contains(likely, pattern) || (in_first && Self::contains(second, pattern))
    }

    /// By the high parts alone. What it takes to be certain of a match would cost those who find none
    /// fifteen instructions, for the registers it needs.
    #[inline]
    fn quick_probe(words: [u64; 2], pattern: Pattern) -> (bool, bool) {
        let [first, second] = words.map(|word| Self::HIGHS.zeros_short(word ^ pattern.highs));
        let may = first | second != 0;
        (may, !may)
    }

    #[inline]
    fn count(word: u64, pattern: Pattern) -> u32 {
        let mut candidates = Self::HIGHS.zeros(word ^ pattern.highs);
        let nibbles = Self::nibbles(word);
        let mut count = 0;
        while candidates != 0 {
            let nibble = (nibbles >> (Self::place(candidates) * nibbles::BITS)) & nibbles::LOWEST;
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
        word >> Self::HIGHS.highest() != 0
    }

    #[inline]
    fn with(word: u64, fingerprint: Fingerprint) -> Option<u64> {
        (!Self::is_full(word))
            .then(|| Self::put_together(Self::put_in(Self::take_apart(word), fingerprint)))
    }

    #[inline]
    fn without(word: u64, pattern: Pattern) -> Option<u64> {
        let place = Self::find(word, pattern)?;
        Some(Self::put_together(Self::take_out(Self::take_apart(word), place)))
    }

    #[inline]
    fn replace(word: u64, old: Pattern, new: Fingerprint) -> Option<u64> {
        let place = Self::find(word, old)?;
        let rest = Self::take_out(Self::take_apart(word), place);
        Some(Self::put_together(Self::put_in(rest, new)))
    }

    /// The order of fingerprints with equal nibbles is not looked at: nothing depends on it.
    #[inline]
    fn census(words: &[u64]) -> Census {
        let Census { occupied, valid } = Self::HIGHS.census(words);
        // Empty lanes, which are the last, have zeros for nibbles: codes begin with those.
        let no_code = |word: u64| {
            let highest = (word | 1).ilog2();
            Self::code(word) >= usize::from(Self::CODES[highest as usize])
        };
        let wrong: u32 = words.iter().map(|&word| u32::from(no_code(word))).sum();
        Census { occupied, valid: valid && wrong == 0 }
    }

    #[inline]
    fn fingerprints(word: u64) -> impl Iterator<Item = Fingerprint> {
        let Apart { mut nibbles, mut highs } = Self::take_apart(word);
        core::iter::from_fn(move || {
            let high = (highs & Self::LOWEST) as u32;
            let fingerprint = high << nibbles::BITS | nibbles & nibbles::LOWEST;
            nibbles >>= nibbles::BITS;
            highs >>= Self::HIGH;
            (high != 0).then(|| Fingerprint::new(fingerprint))
        })
    }
}
