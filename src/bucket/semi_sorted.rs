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
//!
//! **A lane is never zero**, because the smallest key is 16. So a slot is empty if its lane is
//! zero, whatever the code is. This costs 16 of the `2^bits` values of a key, or one in
//! `2^(bits - 4)`.
//!
//! **Slots are in descending order** of nibbles. Empty slots count as zero, so they come last. So a
//! word is full if its last lane is not zero, and of two words the one with fewer occupied slots is
//! the smaller number.

use core::hint::select_unpredictable;

use super::{
    Census, Slots,
    census::census,
    nibbles::{self, BITS, Decoder},
};

/// The lowest bit of each byte, and the highest.
const ONES: u32 = 0x0101_0101;
const HIGHS: u32 = ONES << 7;

/// How many codes a word can have in which so many slots are occupied: the nibbles of all others
/// are zero.
const CODES: [u32; nibbles::MAX_NIBBLES as usize + 1] = {
    let mut codes = [1; nibbles::MAX_NIBBLES as usize + 1];
    let mut occupied = 1;
    while occupied < codes.len() {
        codes[occupied] = nibbles::sequences(occupied as u32);
        occupied += 1;
    }
    codes
};

impl Slots {
    /// The nibbles of a word.
    #[inline]
    fn nibbles(&self, word: u64) -> u32 {
        debug_assert!(self.is_semi_sorted());
        // SAFETY: these are semi-sorted words, and whoever makes them has a decoder. (A decoder
        // beside the constants would be checked by a load. After a locked instruction, removals
        // would wait for it.)
        let decoder = unsafe { Decoder::assumed() };
        decoder.decode(word & self.code)
    }

    /// The place of the lowest lane that is marked.
    #[inline]
    fn place(&self, marks: u64) -> u32 {
        // A division by the bits of a lane, of which the first part is a multiple.
        ((self.lanes.lowest(marks) - self.lanes.shift) * self.reciprocal) >> 16
    }

    /// Of the lanes that are marked, those whose nibble is that of the key, too.
    #[inline(never)]
    pub(super) fn semi_sorted_matches(&self, word: u64, key: u32) -> u64 {
        let (mut marks, mut matches) = (self.lanes.zeros(word ^ self.pattern(key)), 0);
        while let Some(mark) = self.first_of(word, marks, key) {
            matches |= mark;
            marks &= !(mark | (mark - 1));
        }
        matches
    }

    /// Of the lanes that are marked, the first one whose nibble is that of the key, too.
    #[inline]
    fn first_of(&self, word: u64, mut marks: u64, key: u32) -> Option<u64> {
        if marks != 0 {
            let differences = self.nibbles(word) ^ ((key & nibbles::MASK) * 0x1111_1111);
            // Hardly ever more than one.
            while marks != 0 {
                if differences >> (self.place(marks) * BITS) & nibbles::MASK == 0 {
                    return Some(marks & marks.wrapping_neg());
                }
                marks &= marks - 1;
            }
        }
        None
    }

    /// See [`count_in`](Self::count_in).
    #[inline(never)]
    pub(super) fn semi_sorted_count_in(&self, words: [u64; 2], key: u32) -> u32 {
        let (pattern, nibble) = (self.pattern(key), (key & nibbles::MASK) * 0x1111_1111);
        let mut count = 0;
        for word in words {
            let mut marks = self.lanes.zeros(word ^ pattern);
            while marks != 0 {
                let differences = (self.nibbles(word) ^ nibble) >> (self.place(marks) * BITS);
                count += u32::from(differences & nibbles::MASK == 0);
                marks &= marks - 1;
            }
        }
        count
    }

    /// See [`holds`](Self::holds).
    #[inline(never)]
    pub(super) fn semi_sorted_holds(&self, word: u64, key: u32) -> bool {
        self.first_of(word, self.lanes.zeros(word ^ self.pattern(key)), key).is_some()
    }

    /// See [`either_holds`](Self::either_holds).
    #[inline(never)]
    pub(crate) fn semi_sorted_in_any(&self, first: u64, second: u64, key: u32) -> bool {
        self.semi_sorted_in_either(first, second, key)
    }

    /// As above.
    #[inline]
    pub(crate) fn semi_sorted_in_either(&self, first: u64, second: u64, key: u32) -> bool {
        let pattern = self.pattern(key);
        // Usually at most one word has the lane, and no branch could predict which one.
        let in_first = self.lanes.zeros_short(first ^ pattern) != 0;
        let likely = select_unpredictable(in_first, first, second);
        let holds = |word| self.first_of(word, self.lanes.zeros(word ^ pattern), key).is_some();
        holds(likely) || (in_first && holds(second))
    }

    /// See [`with`](Self::with).
    #[inline(never)]
    pub(super) fn semi_sorted_with(&self, word: u64, key: u32) -> Option<u64> {
        if self.is_full(word) {
            return None;
        }
        let (nibbles, highs) = (self.nibbles(word), word >> self.lanes.shift);
        let (nibble, high) = (key & nibbles::MASK, key >> BITS);
        // It comes behind all larger nibbles: those in even places, and those in odd ones. (The
        // multiplication adds the bytes.)
        let reached = (nibble + 1) * ONES;
        let larger = |nibbles: u32| ((((nibbles & 0x0f0f_0f0f) | HIGHS) - reached) & HIGHS) >> 7;
        let place = (larger(nibbles) + larger(nibbles >> BITS)).wrapping_mul(ONES) >> 24;
        let below = (1 << (place * BITS)) - 1;
        let nibbles = nibbles & below | nibble << (place * BITS) | (nibbles & !below) << BITS;
        let shift = place * self.lanes.bits;
        let below = (1 << shift) - 1;
        let highs = highs & below | u64::from(high) << shift | (highs & !below) << self.lanes.bits;
        Some(highs << self.lanes.shift | nibbles::encode(nibbles))
    }

    /// See [`either_without`](Self::either_without).
    #[inline(never)]
    pub(super) fn semi_sorted_either_without(
        &self,
        first: u64,
        second: u64,
        key: u32,
    ) -> Option<(bool, u64)> {
        // As in `semi_sorted_in_either`.
        let is_second = self.lanes.zeros_short(first ^ self.pattern(key)) == 0;
        let likely = select_unpredictable(is_second, second, first);
        match self.without_nibble(likely, key) {
            Some(new) => Some((is_second, new)),
            None if is_second => None,
            None => Some((true, self.without_nibble(second, key)?)),
        }
    }

    /// See [`without`](Self::without).
    #[inline(never)]
    pub(super) fn semi_sorted_without(&self, word: u64, key: u32) -> Option<u64> {
        self.without_nibble(word, key)
    }

    /// As above.
    #[inline]
    fn without_nibble(&self, word: u64, key: u32) -> Option<u64> {
        let mark = self.first_of(word, self.lanes.zeros(word ^ self.pattern(key)), key)?;
        let (nibbles, highs) = (self.nibbles(word), word >> self.lanes.shift);
        let below = (1 << (self.place(mark) * BITS)) - 1;
        let nibbles = nibbles & below | nibbles >> BITS & !below;
        let below = (1 << (self.lanes.lowest(mark) - self.lanes.shift)) - 1;
        let highs = highs & below | highs >> self.lanes.bits & !below;
        Some(highs << self.lanes.shift | nibbles::encode(nibbles))
    }

    /// See [`slot_at`](Self::slot_at).
    pub(super) fn semi_sorted_slot_at(&self, word: u64, place: u32) -> u32 {
        let high = self.lane_at(word, place);
        let nibble = self.nibbles(word) >> (place * BITS) & nibbles::MASK;
        if high == 0 { 0 } else { high << BITS | nibble }
    }

    /// See [`for_each_key`](Self::for_each_key).
    #[inline]
    pub(super) fn for_each_semi_sorted(&self, word: u64, mut each: impl FnMut(u32)) {
        let (mut nibbles, mut highs) = (self.nibbles(word), word >> self.lanes.shift);
        for _ in 0..self.count() {
            let high = (highs & (u64::MAX >> (64 - self.lanes.bits))) as u32;
            each(high << BITS | nibbles & nibbles::MASK);
            nibbles >>= BITS;
            highs >>= self.lanes.bits;
        }
    }

    /// The lane at a place.
    #[inline]
    fn lane_at(&self, word: u64, place: u32) -> u32 {
        let lane = word >> (self.lanes.shift + place * self.lanes.bits);
        (lane & (u64::MAX >> (64 - self.lanes.bits))) as u32
    }

    /// See [`census`](Self::census). Does not check the order of slots with equal nibbles, since no
    /// function depends on it.
    pub(super) fn semi_sorted_census(&self, words: &[u64]) -> Census {
        let (shift, lane) = (self.lanes.shift, self.reciprocal);
        // The nibbles of empty slots are zero, and codes of such sequences are the smallest ones.
        census(self.lanes, words, |word| {
            let highest = (word | 1).ilog2();
            let occupied = if highest < shift { 0 } else { (((highest - shift) * lane) >> 16) + 1 };
            (word & self.code) as u32 >= CODES[occupied.min(self.count()) as usize]
        })
    }
}
