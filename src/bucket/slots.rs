//! The constants of a word of a table of a fixed size, and the functions on words.
//!
//! A layout is a value: a table keeps these constants, and every function on a word is a method of
//! them. So the code is compiled once for all layouts. (Some steps are compiled twice, with and
//! without the code of semi-sorted words: see `PLAIN`.)
//!
//! A plain word has one lane of equal width for each slot, the first in the lowest bits, and
//! **occupied slots precede empty ones**. So a word is full if it is at least `full`, and of two
//! words the one with fewer occupied slots is the smaller number. A semi-sorted word has a code
//! below its lanes: see `semi_sorted.rs`, to whose functions those of this file branch. They are
//! out of line, so that the paths of plain words have few registers to save.

use core::hint::select_unpredictable;

use super::{
    Census,
    both::Twice,
    census::census,
    nibbles::{self, Decoder},
    swar::{self, Lanes},
};

/// How a word is divided into slots, as the constants that the functions on words need.
///
/// A word is a multiset of slots: the place of a slot has no meaning, and a layout may reorder
/// slots. `0` is the empty word of every layout. All other words are made from it by these
/// functions, or pass the [`census`](Self::census), so a layout may maintain an invariant and rely
/// on it.
///
/// A *slot* is a *key*, the fingerprint, and below it a value, of no bits in sets. A key is never
/// less than [`min_key`](Self::min_key).
///
/// With `PLAIN`, a function knows that the words are plain, so the caller has no code of
/// semi-sorted ones, whose calls would take its registers.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    /// `keys`, negated, and the highest bit of each lane, in both words of a register.
    pub(super) minus_keys: Twice,
    pub(super) highs: Twice,
    /// The lanes: of slots in plain words, and of the upper parts of keys in semi-sorted ones.
    pub(super) lanes: Lanes,
    /// The lowest bit of the key in each lane, which is above the value.
    pub(super) keys: u64,
    /// The smallest word that is full.
    full: u64,
    /// The lowest bit of the last lane.
    last: u32,
    /// The bits of a slot that are in its lane, and those of a key.
    slot_mask: u32,
    key_mask: u32,
    /// The bits of a key below its lane: those of a nibble in semi-sorted words, or 0.
    below: u32,
    key_bits: u32,
    value_bits: u32,
    is_semi_sorted: bool,
    /// Whether these are the slots of sets for which processors compare lanes: of 16 and of 8 bits.
    /// (One number for all forms would become a jump through a table.)
    is_4x16: bool,
    is_8x8: bool,
    /// The bits of a code.
    pub(super) code: u64,
    /// 2^16 divided by the bits of a lane, rounded up.
    pub(super) reciprocal: u32,
    /// For each byte of two words, the lowest bit of the lane that has the byte's lowest bit.
    pub(super) shifts: [u8; 16],
}

/// A slot that is looked for, and a word that has its lane everywhere. A step of the protocol
/// computes it before it acquires a lock: what is loaded after a locked instruction waits for it.
/// (With more of the constants, there are too few registers: they are stored, and the locked
/// instruction waits.)
#[derive(Clone, Copy, Debug)]
pub struct Sought {
    slot: u32,
    pattern: u64,
}

impl Slots {
    /// Plain words with this many slots, each with this many bits, of which the last ones are a
    /// value.
    ///
    /// # Panics
    /// If there are not 2 to 8 slots of at most 32 bits that fit into a word, or if no bit is left
    /// for the key.
    ///
    /// With fewer than 5 bits, [`count_in`](Self::count_in) is wrong, and with fewer than 8, so are
    /// the values that lookups return. No [`Layout`](crate::Layout) has such slots.
    #[must_use]
    pub const fn plain(slots: u32, bits: u32, value_bits: u32) -> Self {
        assert!(value_bits < bits);
        Self::new(slots, bits, value_bits, 0, bits - value_bits)
    }

    /// Semi-sorted words with this many slots, each with a key of this many bits.
    ///
    /// # Panics
    /// If there are not 2 to 6 slots of 5 to 32 bits, or if they do not fit into a word.
    #[cfg(all(feature = "std", not(any(loom, shuttle))))]
    #[must_use]
    pub fn semi_sorted(slots: u32, key_bits: u32) -> Self {
        Self::decoded_by(Decoder::filled(), slots, key_bits)
    }

    /// As with `std`.
    #[cfg(not(all(feature = "std", not(any(loom, shuttle)))))]
    #[must_use]
    pub const fn semi_sorted(slots: u32, key_bits: u32) -> Self {
        Self::decoded_by(Decoder::filled(), slots, key_bits)
    }

    /// Semi-sorted words. Nobody else makes them, so whoever has some can decode them.
    const fn decoded_by(_decoder: Decoder, slots: u32, key_bits: u32) -> Self {
        assert!(slots <= nibbles::MAX_NIBBLES && key_bits > nibbles::BITS);
        let start = nibbles::code_bits(slots);
        Self::new(slots, key_bits - nibbles::BITS, 0, start, key_bits)
    }

    const fn new(slots: u32, bits: u32, value_bits: u32, start: u32, key_bits: u32) -> Self {
        assert!(2 <= slots && slots as usize <= super::MAX_SLOTS);
        let lanes = Lanes::new(slots, bits, start);
        let keys = lanes.ones << value_bits;
        Self {
            minus_keys: Twice::new(keys.wrapping_neg()),
            highs: Twice::new(lanes.highs),
            lanes,
            keys,
            full: 1 << lanes.highest(),
            last: lanes.highest(),
            slot_mask: u32::MAX >> (32 - bits),
            key_mask: u32::MAX >> (32 - key_bits),
            below: key_bits + value_bits - bits,
            key_bits,
            value_bits,
            is_semi_sorted: start != 0,
            is_4x16: start == 0 && bits == 16 && value_bits == 0,
            is_8x8: start == 0 && bits == 8 && value_bits == 0,
            code: (1 << start) - 1,
            reciprocal: (1_u32 << 16).div_ceil(bits),
            shifts: swar::shifts(bits),
        }
    }

    /// The lanes.
    #[inline]
    pub(crate) const fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// The number of slots.
    #[inline]
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.lanes.count
    }

    /// Whether vectors compare all lanes at once: the slots of sets, with lanes of 16 bits.
    #[inline]
    pub(crate) const fn is_4x16(&self) -> bool {
        cfg!(guira_vectors) && self.is_4x16
    }

    /// As above, with lanes of 8 bits.
    #[inline]
    pub(crate) const fn is_8x8(&self) -> bool {
        cfg!(guira_vectors) && self.is_8x8
    }

    /// The number of bits of a key.
    #[inline]
    #[must_use]
    pub const fn key_bits(&self) -> u32 {
        self.key_bits
    }

    /// The smallest key: no lane of a slot is zero.
    #[inline]
    #[must_use]
    pub const fn min_key(&self) -> u32 {
        1 << self.below
    }

    /// The number of bits of a value.
    #[inline]
    #[must_use]
    pub const fn value_bits(&self) -> u32 {
        self.value_bits
    }

    /// The bits of a value.
    #[inline]
    pub(crate) const fn value_mask(&self) -> u32 {
        (1 << self.value_bits) - 1
    }

    /// The slot with this key and value.
    #[inline]
    #[must_use]
    pub const fn slot(&self, key: u32, value: u16) -> u32 {
        key << self.value_bits | value as u32
    }

    /// The key of a slot.
    #[inline]
    #[must_use]
    pub const fn key(&self, slot: u32) -> u32 {
        slot >> self.value_bits
    }

    /// Whether words are semi-sorted.
    #[inline]
    #[must_use]
    pub const fn is_semi_sorted(&self) -> bool {
        self.is_semi_sorted
    }

    /// A word with the lane of the key everywhere, and no values.
    #[inline]
    pub(super) const fn pattern(&self, key: u32) -> u64 {
        (key >> self.below) as u64 * self.keys
    }

    /// A slot as comparisons take it.
    #[inline]
    #[must_use]
    pub const fn sought(&self, slot: u32) -> Sought {
        Sought { slot, pattern: (slot >> self.below) as u64 * self.lanes.ones }
    }

    /// The differences of a word and a slot, but for those of values.
    #[inline]
    const fn differences(&self, word: u64, sought: Sought) -> u64 {
        (word ^ sought.pattern) & !(self.keys - self.lanes.ones)
    }

    /// Returns whether every slot is occupied.
    #[inline]
    #[must_use]
    pub const fn is_full(&self, word: u64) -> bool {
        word >= self.full
    }

    /// Returns whether a word holds fewer slots than the other one. Both answers are allowed if
    /// they hold equally many.
    #[allow(clippy::unused_self, reason = "a method as all functions on words")]
    #[inline]
    #[must_use]
    pub const fn is_emptier(&self, word: u64, other: u64) -> bool {
        word < other
    }

    /// Marks the slots with the key of a slot, whatever their values are.
    #[inline]
    pub(crate) fn matches<const PLAIN: bool>(&self, word: u64, sought: Sought) -> u64 {
        if !PLAIN && self.is_semi_sorted {
            return self.semi_sorted_matches(word, sought.slot);
        }
        self.lanes.zeros(self.differences(word, sought))
    }

    /// Counts the slots of two words with the key of a slot, whatever their values are.
    #[inline]
    #[must_use]
    pub fn count_in<const PLAIN: bool>(&self, words: [u64; 2], sought: Sought) -> u32 {
        if !PLAIN && self.is_semi_sorted {
            return self.semi_sorted_count_in(words, sought.slot);
        }
        let [first, second] = words.map(|word| self.matches::<true>(word, sought));
        // One multiplication adds all lanes into the last one, where the sum fits. (A population
        // count is a dozen instructions on baseline x86-64.)
        let shift = self.lanes.bits - 1;
        let sums = ((first >> shift) + (second >> shift)).wrapping_mul(self.lanes.ones);
        (sums >> self.last) as u32 & 31
    }

    /// Returns whether a lane of one of two words is that of a key.
    #[inline]
    pub(crate) const fn either_may_hold(&self, [first, second]: [u64; 2], key: u32) -> bool {
        let (x, y) = (first ^ self.pattern(key), second ^ self.pattern(key));
        (x.wrapping_sub(self.keys) & !x | y.wrapping_sub(self.keys) & !y) & self.lanes.highs != 0
    }

    /// Returns whether one of two words holds a key, and the value of the first slot that has it.
    /// If there is none, that has no meaning. Only in plain words. All of it is arithmetic, without
    /// a count of zeros, so that a loop over it becomes vectors.
    #[inline]
    pub(crate) const fn first_value(&self, words: [u64; 2], key: u32) -> (bool, u16) {
        let Lanes { highs, ones, bits, .. } = self.lanes;
        let (x, y) = (words[0] ^ self.pattern(key), words[1] ^ self.pattern(key));
        let first = x.wrapping_sub(self.keys) & !x & highs;
        let second = y.wrapping_sub(self.keys) & !y & highs;
        let (word, marks) = if first == 0 { (words[1], second) } else { (words[0], first) };
        let mark = marks & marks.wrapping_neg();
        // The lane that is marked alone. The product has it in every lane from there on.
        let lane = word & (mark << 1).wrapping_sub(mark >> (bits - 1));
        let value = (lane.wrapping_mul(ones) >> self.last) as u32 & self.value_mask();
        (marks != 0, value as u16)
    }

    /// Returns whether one of two words holds the key of a slot.
    #[expect(clippy::inline_always, reason = "so that plain words take no call")]
    #[inline(always)]
    #[must_use]
    pub fn either_holds<const PLAIN: bool>(
        &self,
        [first, second]: [u64; 2],
        sought: Sought,
    ) -> bool {
        if !PLAIN && self.is_semi_sorted {
            return self.semi_sorted_in_any(first, second, sought.slot);
        }
        let [first, second] = [first, second].map(|word| {
            let x = self.differences(word, sought);
            x.wrapping_sub(self.lanes.ones) & !x
        });
        (first | second) & self.lanes.highs != 0
    }

    /// The value of the first slot that is marked. Only in plain words.
    #[inline]
    pub(crate) const fn marked_value(&self, word: u64, marks: u64) -> u16 {
        ((word >> self.lanes.lowest(marks)) as u32 & self.value_mask()) as u16
    }

    /// Returns whether a slot is there, its value included.
    #[inline]
    #[must_use]
    pub fn holds<const PLAIN: bool>(&self, word: u64, sought: Sought) -> bool {
        if !PLAIN && self.is_semi_sorted {
            return self.semi_sorted_holds(word, sought.slot);
        }
        self.lanes.zeros_short(word ^ sought.pattern) != 0
    }

    /// The word with one more slot, or `None` if it is full.
    #[inline]
    #[must_use]
    pub fn with<const PLAIN: bool>(&self, word: u64, slot: u32) -> Option<u64> {
        if !PLAIN && self.is_semi_sorted {
            return self.semi_sorted_with(word, slot);
        }
        let empty = self.lanes.zeros_short(word);
        (empty != 0).then(|| word | u64::from(slot) << self.lanes.lowest(empty))
    }

    /// The word without a slot, or `None` if it is not there.
    #[inline]
    #[must_use]
    pub fn without<const PLAIN: bool>(&self, word: u64, sought: Sought) -> Option<u64> {
        if !PLAIN && self.is_semi_sorted {
            return self.semi_sorted_without(word, sought.slot);
        }
        // A bit at the start of the slot. Bits above it can be wrong.
        let found = self.lanes.zeros_short(word ^ sought.pattern) >> (self.lanes.bits - 1);
        // All bits from there on, which take those of the next slot.
        let moved = found | found.wrapping_neg();
        (found != 0).then_some(word ^ ((word ^ word >> self.lanes.bits) & moved))
    }

    /// As [`without`](Self::without), for the first one of two words that holds the slot. Returns
    /// whether that is the second one, the word, and the new one.
    #[expect(clippy::inline_always, reason = "so that plain words take no call")]
    #[inline(always)]
    pub(crate) fn either_without<const PLAIN: bool>(
        &self,
        [first, second]: [u64; 2],
        sought: Sought,
    ) -> Option<(bool, u64)> {
        if !PLAIN && self.is_semi_sorted {
            return self.semi_sorted_either_without(first, second, sought.slot);
        }
        // No branch: the words may still be on their way from memory, as in `try_add`.
        let is_second = !self.holds::<true>(first, sought);
        let word = select_unpredictable(is_second, second, first);
        Some((is_second, self.without::<true>(word, sought)?))
    }

    /// The word with another slot in place of one, or `None` if that is not there.
    #[inline]
    #[must_use]
    pub fn replaced<const PLAIN: bool>(&self, word: u64, old: Sought, new: u32) -> Option<u64> {
        if !PLAIN && self.is_semi_sorted {
            return self.semi_sorted_with(self.semi_sorted_without(word, old.slot)?, new);
        }
        let found = self.lanes.zeros_short(word ^ old.pattern);
        // The bits in which the slots differ are flipped.
        (found != 0).then(|| word ^ u64::from(old.slot ^ new) << self.lanes.lowest(found))
    }

    /// The slot at a place of a word, or zero if it is empty.
    #[inline]
    #[must_use]
    pub fn slot_at(&self, word: u64, place: u32) -> u32 {
        if self.is_semi_sorted {
            return self.semi_sorted_slot_at(word, place);
        }
        (word >> (place * self.lanes.bits)) as u32 & self.slot_mask
    }

    /// Calls `each` with the keys of a full word, in the order of their places.
    #[inline]
    pub(crate) fn for_each_key(&self, word: u64, mut each: impl FnMut(u32)) {
        if self.is_semi_sorted {
            return self.for_each_semi_sorted(word, each);
        }
        let mut rest = word >> self.value_bits;
        for _ in 0..self.count() {
            each(rest as u32 & self.key_mask);
            rest >>= self.lanes.bits;
        }
    }

    /// The occupied slots of a word, in the order of their places.
    #[inline]
    pub fn each(&self, word: u64) -> impl Iterator<Item = u32> {
        let slots = (0..self.count()).map(move |place| self.slot_at(word, place));
        slots.take_while(|&slot| slot != 0)
    }

    /// Counts the occupied slots of words, and validates the words. Fastest for hundreds of words
    /// that are in a first-level cache.
    #[must_use]
    pub fn census(&self, words: &[u64]) -> Census {
        if self.is_semi_sorted {
            return self.semi_sorted_census(words);
        }
        census(self.lanes, words, |_| false)
    }
}
