//! Words of a table that grows: slots that say how much they know of an item, and the bucket's
//! level.
//!
//! ```text
//! bit 63   60 59                     W                      0        4 slots: W = 15
//!     +------+-----------+-----------+-----------+-----------+
//!     | level|  slot 3   |  slot 2   |  slot 1   |  slot 0   |
//!     +------+-----------+-----------+-----------+-----------+
//!                                    | 0 .. 1 tail .. | core |
//! ```
//!
//! The *level* is the number of splits that led to the bucket, on which it depends how many bits of
//! an item's *extension* the number of the bucket already tells. A slot has, from its lowest bit
//! on, the *core* of the fingerprint, the *tail* (the next bits of the extension, next bit first),
//! and a *marker*, the highest bit that is set. So a slot of a bucket of level l with a tail of k
//! bits knows l + k bits of the extension. A split takes one bit from each tail. An empty slot is
//! zero, and occupied slots precede empty ones.
//!
//! In a table with values, the lowest bits of a slot are the value, below the core, and tails are
//! shorter by as many bits.

#![allow(clippy::must_use_candidate, reason = "functions whose result is all that they do")]

#[cfg(guira_vectors)]
use super::Twice;
use super::{Lanes, swar::shifts};

/// The position of the level in a word. Slots are below it.
pub const LEVEL_SHIFT: u32 = 60;
/// The bits of all slots.
pub(super) const SLOTS_MASK: u64 = (1 << LEVEL_SHIFT) - 1;
/// The highest level: there are 15 doublings.
pub const MAX_LEVEL: u32 = 15;

/// One side of an item, or of a slot: what is known of it, independent of the level of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The core of the fingerprint. In a table with values, the value is below it.
    pub core: u64,
    /// The bits of the extension that are known, lowest bit first, and above them a marker.
    pub extension: u64,
}

impl Code {
    /// The number of bits of the extension that are known.
    #[inline]
    #[must_use]
    pub fn known(self) -> u32 {
        self.extension.ilog2()
    }
}

/// A slot of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The lowest bit of its lane.
    pub at: u32,
    /// What it holds. Of two slots of a word that match the same code, the larger number knows at
    /// least as many bits.
    pub slot: u64,
}

/// What a comparison of both words of an item finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compared {
    /// Whether a slot matches.
    pub(crate) found: bool,
    /// Whether that is the answer. It is open if a word has another level, or if several slots
    /// match. (If no value is looked for, a slot that matches is an answer.)
    pub(crate) settled: bool,
    /// The value of the slot that matches, if that is the answer.
    pub(crate) value: u16,
}

/// A word split in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halves {
    /// What stays in the bucket.
    pub stays: u64,
    /// What goes to its child.
    pub child: u64,
    /// The number of slots that are in both, because their tails had no bit left.
    pub copied: u32,
}

/// The level of a bucket, `0 ..= 15`.
#[inline]
#[must_use]
pub fn level(word: u64) -> u32 {
    (word >> LEVEL_SHIFT) as u32
}

/// The empty word of this level.
#[inline]
#[must_use]
pub fn empty(level: u32) -> u64 {
    debug_assert!(level <= MAX_LEVEL);
    u64::from(level) << LEVEL_SHIFT
}

/// The slots of a word, without its level. The emptier of two words has the smaller number.
#[inline]
#[must_use]
pub fn slots(word: u64) -> u64 {
    word & SLOTS_MASK
}

/// How a word of a growing table is divided, as the constants that the functions on words need. All
/// functions take the level from the word: what a slot means depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Leveled {
    /// The slots.
    pub(crate) lanes: Lanes,
    /// Number of slots in a word.
    pub slots: u32,
    /// Number of bits of the core.
    pub core: u32,
    /// Number of bits of a slot.
    pub width: u32,
    /// Number of bits of a value.
    pub value_bits: u32,
    /// Number of bits of a core and a value, which are below the tail.
    below: u32,
    /// Largest number of bits of a tail.
    pub max_tail: u32,
    /// Number of bits of an extension that come from the low half of a product: see
    /// `table/split/address.rs`. The highest levels need them.
    pub low_bits: u32,
    /// Number of bits of the extension of an item.
    pub extension: u32,
    /// The bits of the first slot.
    pub first: u64,
    /// The bits of the core in the first slot of a table without values.
    pub core_mask: u64,
    /// The bits of all values.
    values: u64,
    /// The bits of a value in a slot.
    pub(super) value_mask: u16,
    /// For each byte of two words, the lowest bit of the lane that has the byte's lowest bit.
    pub(super) shifts: [u8; 16],
    /// As registers of SSE2 take them: `lows`, `highs` and `ones` of the lanes, and all bits but
    /// those of values.
    #[cfg(guira_vectors)]
    pub(crate) twice: [Twice; 4],
}

impl Leveled {
    /// Words with this many slots, of which the core takes this many bits, and a value this many.
    ///
    /// # Panics
    /// If a slot has no bit left for a marker.
    #[must_use]
    pub const fn new(slots: u32, core: u32, value_bits: u32) -> Self {
        let width = LEVEL_SHIFT / slots;
        assert!(core + value_bits < width, "a slot has a marker");
        let lanes = Lanes::new(slots, width, 0);
        // With values, an item has the same extension as without.
        let needed = MAX_LEVEL + width - 1 - core;
        let low_bits = needed.saturating_sub(32 - core);
        let values = lanes.broadcast((1 << value_bits) - 1);
        Self {
            lanes,
            slots,
            core,
            width,
            value_bits,
            below: core + value_bits,
            max_tail: width - 1 - core - value_bits,
            low_bits,
            extension: 32 - core + low_bits,
            first: (1 << width) - 1,
            core_mask: (1 << core) - 1,
            values,
            value_mask: ((1_u32 << value_bits) - 1) as u16,
            shifts: shifts(width),
            #[cfg(guira_vectors)]
            twice: [
                Twice::new(lanes.lows),
                Twice::new(lanes.highs),
                Twice::new(lanes.ones),
                Twice::new(!values),
            ],
        }
    }

    /// Returns the slot of a code in a bucket of this level: a tail as long as fits. The code knows
    /// at least as many bits.
    #[inline]
    pub fn encode(&self, code: Code, level: u32) -> u64 {
        debug_assert!(code.known() >= level, "{code:?} in a bucket of level {level}");
        let tail = code.extension >> level;
        let longest = 1 << self.max_tail;
        let tail = if tail > longest { tail & (longest - 1) | longest } else { tail };
        tail << self.below | code.core
    }

    /// Returns the code of a slot in a bucket of this level. `low` are the bits of the extension
    /// that the number of the bucket tells.
    #[inline]
    pub fn decode(&self, slot: u64, level: u32, low: u64) -> Code {
        let below = self.below;
        debug_assert!(slot >> below != 0 && low >> level == 0);
        Code { core: slot & ((1 << below) - 1), extension: slot >> below << level | low }
    }

    /// Returns what the slots of a bucket of this level are compared with, in the first lane.
    #[inline]
    pub fn pattern(&self, code: Code, level: u32) -> u64 {
        (code.extension >> level << self.below | code.core) & self.first
    }

    /// What [`compare`](Self::compare) takes: the pattern of a core and a tail, and above it
    /// whether the level is the higher one of two.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    pub(crate) fn expected(&self, core: u32, tail: u32, is_higher: bool) -> u32 {
        let pattern = (tail << self.below | core << self.value_bits) & self.first as u32;
        pattern | u32::from(is_higher) << 31
    }

    /// Compares both words of an item with what is [expected](Self::expected), if the level of each
    /// is `level` or, as expected, one more. All of it is arithmetic, without a count of zeros, so
    /// that a loop over it becomes vectors.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(crate) fn compare<const VALUES: bool>(
        &self,
        words: [u64; 2],
        expected: [u32; 2],
        level: u32,
    ) -> Compared {
        let marks = |word: u64, expected: u32| {
            let is_level = word >> LEVEL_SHIFT == u64::from(level) + u64::from(expected >> 31);
            let pattern = u64::from(expected & (u32::MAX >> 1)).wrapping_mul(self.lanes.ones);
            let marks = self.matches_of(slots(word), pattern, self.values);
            (if is_level { marks } else { 0 }, is_level)
        };
        let (first, in_first) = marks(words[0], expected[0]);
        let (second, in_second) = marks(words[1], expected[1]);
        let (found, is_level) = (first | second != 0, in_first & in_second);
        if !VALUES {
            return Compared { found, settled: found | is_level, value: 0 };
        }
        let (word, marks) = if first == 0 { (words[1], second) } else { (words[0], first) };
        let others = marks & marks.wrapping_sub(1) | if first == 0 { 0 } else { second };
        let is_sole = others == 0;
        // The lane that is marked alone. The product has it in every lane from there on.
        let lane = word & (marks << 1).wrapping_sub(marks >> (self.width - 1));
        let slot = slots(lane.wrapping_mul(self.lanes.ones)) >> self.lanes.highest();
        let value = slot as u16 & ((1 << self.value_bits) - 1) as u16;
        Compared { found, settled: is_level & is_sole, value }
    }

    /// Marks the slots that may be those of the code, with any value, by their highest bits: those
    /// that differ from it in no bit that they know. Every mark is right.
    #[inline]
    pub fn matches(&self, word: u64, code: Code) -> u64 {
        let pattern = self.pattern(code, level(word)).wrapping_mul(self.lanes.ones());
        self.matches_of(slots(word), pattern, self.values)
    }

    /// As [`matches`](Self::matches), given the pattern in every lane.
    #[cfg(not(guira_vectors))]
    #[inline]
    pub(super) fn matches_pattern(&self, word: u64, pattern: u64) -> u64 {
        self.matches_of(slots(word), pattern, self.values)
    }

    /// As [`matches`](Self::matches), of the slots that have the value of the code.
    #[inline]
    pub fn matches_with_value(&self, word: u64, code: Code) -> u64 {
        let pattern = self.pattern(code, level(word)).wrapping_mul(self.lanes.ones());
        self.matches_of(slots(word), pattern, 0)
    }

    /// As [`matches`](Self::matches), given the slots of a word, the pattern in every lane, and the
    /// bits of all values that are not compared.
    ///
    /// In each lane: `until` has the bits up to the lowest one in which slot and pattern differ
    /// (the highest bit of a lane can only be a marker, and counts as a difference). A slot matches
    /// if its marker is among them.
    #[inline]
    fn matches_of(&self, slots: u64, pattern: u64, values: u64) -> u64 {
        let lanes = &self.lanes;
        let differences = (slots ^ pattern) & !values | lanes.highs();
        let until = differences ^ (differences - lanes.ones());
        let beyond = slots & !until;
        // A slot that has no bit beyond matches, unless it is empty.
        lanes.nonzeros(slots) & !lanes.nonzeros(beyond)
    }

    /// Returns the slot that knows most bits, of those that are marked, which match the same code.
    #[inline]
    pub fn longest(&self, word: u64, mut marks: u64) -> Option<Found> {
        let mut longest: Option<Found> = None;
        while marks != 0 {
            let at = self.lanes.lowest(marks);
            let slot = word >> at & self.first;
            if longest.is_none_or(|found| found.slot < slot) {
                longest = Some(Found { at, slot });
            }
            marks &= marks - 1;
        }
        longest
    }

    /// Returns the lowest bit of a lane that holds exactly this slot, if there is one.
    #[inline]
    pub fn find(&self, word: u64, slot: u64) -> Option<u32> {
        let pattern = slot.wrapping_mul(self.lanes.ones());
        let marks = self.lanes.zeros(slots(word) ^ pattern);
        (marks != 0).then(|| self.lanes.lowest(marks))
    }

    /// Returns the slot in a lane, or zero if it is empty.
    #[inline]
    pub fn slot(&self, word: u64, lane: u32) -> u64 {
        word >> (lane * self.width) & self.first
    }

    /// Returns the occupied slots.
    #[inline]
    pub fn occupied_slots(&self, word: u64) -> impl Iterator<Item = u64> {
        (0..self.slots).map(move |lane| self.slot(word, lane)).take_while(|&slot| slot != 0)
    }

    /// Counts the occupied slots.
    #[inline]
    pub fn occupied(&self, word: u64) -> u32 {
        self.lanes.nonzeros(slots(word)).count_ones()
    }

    /// Returns whether every slot is occupied.
    #[inline]
    pub fn is_full(&self, word: u64) -> bool {
        slots(word) >> self.lanes.highest() != 0
    }

    /// Returns the word with one more slot, or `None` if it is full.
    #[inline]
    pub fn with(&self, word: u64, slot: u64) -> Option<u64> {
        debug_assert!(slot >> self.core != 0 && slot <= self.first);
        let empty = self.lanes.zeros_short(slots(word));
        (empty != 0).then(|| word | slot << self.lanes.lowest(empty))
    }

    /// Returns the word without the slot whose lane has this lowest bit.
    #[inline]
    pub fn without(&self, word: u64, at: u32) -> u64 {
        let below = (1 << at) - 1;
        let slots = slots(word);
        word & !SLOTS_MASK | slots & below | slots >> self.width & !below
    }

    /// Returns the word without the slots that are marked by their highest bits.
    #[inline]
    pub fn without_all(&self, word: u64, marks: u64) -> u64 {
        word & !SLOTS_MASK | self.lanes.without(slots(word), marks)
    }

    /// Returns the word with another slot in the lane that has this lowest bit.
    #[inline]
    pub fn replace(&self, word: u64, at: u32, slot: u64) -> u64 {
        word & !(self.first << at) | slot << at
    }

    /// Splits a word: each slot goes where the next bit of its extension says.
    #[inline]
    pub fn halves(&self, word: u64) -> Halves {
        let (empty, below) = (empty(level(word) + 1), self.below);
        let mut halves = Halves { stays: empty, child: empty, copied: 0 };
        let (mut at, mut child_at) = (0, 0);
        for slot in self.occupied_slots(word) {
            let (core, tail) = (slot & ((1 << below) - 1), slot >> below);
            let unknown = u64::from(tail == 1);
            // The slot itself if its tail has no bit left, and otherwise one with a shorter tail.
            let next = if unknown != 0 { slot } else { tail >> 1 << below | core };
            let stays = !tail & 1 | unknown;
            let goes = tail & 1;
            halves.stays |= (next & stays.wrapping_neg()) << at;
            halves.child |= (next & goes.wrapping_neg()) << child_at;
            halves.copied += unknown as u32;
            at += self.width * stays as u32;
            child_at += self.width * goes as u32;
        }
        halves
    }

    /// Returns whether these functions could have made the word.
    pub fn is_valid(&self, word: u64) -> bool {
        let slots = (0..self.slots).map(|lane| self.slot(word, lane));
        // Occupied slots come first.
        let packed = slots.clone().skip_while(|&slot| slot != 0).all(|slot| slot == 0);
        packed && slots.clone().all(|slot| slot == 0 || slot >> self.below != 0)
    }
}
