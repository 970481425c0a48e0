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
//! shorter by as many bits. Functions take the number of these bits if they depend on it.

#![allow(clippy::must_use_candidate, reason = "functions whose result is all that they do")]

use super::Lanes;

/// The position of the level in a word. Slots are below it.
pub const LEVEL_SHIFT: u32 = 60;
/// The bits of all slots.
const SLOTS_MASK: u64 = (1 << LEVEL_SHIFT) - 1;
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

/// A slot of a word, by its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The lane, `0 .. SLOTS`.
    pub lane: u32,
    /// What it holds. Of two slots of a word that match the same code, the larger number knows at
    /// least as many bits.
    pub slot: u64,
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

/// How a word of a growing table is divided: `SLOTS` slots of 60 / `SLOTS` bits, of which the core
/// takes `CORE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leveled<const SLOTS: u32, const CORE: u32>;

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

/// The functions on words of a growing table. All of them take the level from the word: what a slot
/// means depends on it.
pub trait GrowingLayout: 'static {
    /// Number of slots in a word.
    const SLOTS: u32;
    /// Number of bits of the core.
    const CORE: u32;
    /// Number of bits of a slot.
    const WIDTH: u32 = LEVEL_SHIFT / Self::SLOTS;
    /// Largest number of bits of a tail, without a value.
    const MAX_TAIL: u32 = Self::WIDTH - 1 - Self::CORE;
    /// Number of bits of an extension that come from the low half of a product: see
    /// `table/split/address.rs`. The highest levels need them.
    const LOW_BITS: u32 = {
        let needed = MAX_LEVEL + Self::MAX_TAIL;
        needed.saturating_sub(32 - Self::CORE)
    };
    /// Number of bits of the extension of an item.
    const EXTENSION: u32 = 32 - Self::CORE + Self::LOW_BITS;
    /// The slots.
    const LANES: Lanes = Lanes::new(Self::SLOTS, Self::WIDTH, 0);
    /// The bits of the first slot.
    const FIRST: u64 = (1 << Self::WIDTH) - 1;
    /// The bits of the core in the first slot.
    const CORE_MASK: u64 = (1 << Self::CORE) - 1;

    /// Returns the slot of a code in a bucket of this level: a tail as long as fits. The code knows
    /// at least as many bits.
    #[inline]
    fn encode(code: Code, level: u32, value_bits: u32) -> u64 {
        debug_assert!(code.known() >= level, "{code:?} in a bucket of level {level}");
        let tail = code.extension >> level;
        let longest = 1 << (Self::MAX_TAIL - value_bits);
        let tail = if tail > longest { tail & (longest - 1) | longest } else { tail };
        tail << (Self::CORE + value_bits) | code.core
    }

    /// Returns the code of a slot in a bucket of this level. `low` are the bits of the extension
    /// that the number of the bucket tells.
    #[inline]
    fn decode(slot: u64, level: u32, low: u64, value_bits: u32) -> Code {
        let below = Self::CORE + value_bits;
        debug_assert!(slot >> below != 0 && low >> level == 0);
        Code { core: slot & ((1 << below) - 1), extension: slot >> below << level | low }
    }

    /// Returns what the slots of a bucket of this level are compared with, in the first lane.
    #[inline]
    fn pattern(code: Code, level: u32, value_bits: u32) -> u64 {
        (code.extension >> level << (Self::CORE + value_bits) | code.core) & Self::FIRST
    }

    /// Marks the slots that may be those of the code, with any value, by their highest bits: those
    /// that differ from it in no bit that they know. Every mark is right.
    #[inline]
    fn matches(word: u64, code: Code, value_bits: u32) -> u64 {
        let lanes = Self::LANES;
        let pattern = Self::pattern(code, level(word), value_bits).wrapping_mul(lanes.ones());
        Self::matches_of(slots(word), pattern, lanes.broadcast((1 << value_bits) - 1))
    }

    /// As [`matches`](Self::matches), of the slots that have the value of the code.
    #[inline]
    fn matches_with_value(word: u64, code: Code, value_bits: u32) -> u64 {
        let lanes = Self::LANES;
        let pattern = Self::pattern(code, level(word), value_bits).wrapping_mul(lanes.ones());
        Self::matches_of(slots(word), pattern, 0)
    }

    /// As [`matches`](Self::matches), given the slots of a word, the pattern in every lane, and the
    /// bits of all values that are not compared.
    ///
    /// In each lane: `until` has the bits up to the lowest one in which slot and pattern differ
    /// (the highest bit of a lane can only be a marker, and counts as a difference). A slot matches
    /// if its marker is among them.
    #[inline]
    fn matches_of(slots: u64, pattern: u64, values: u64) -> u64 {
        let lanes = Self::LANES;
        let differences = (slots ^ pattern) & !values | lanes.highs();
        let until = differences ^ (differences - lanes.ones());
        let beyond = slots & !until;
        // A slot that has no bit beyond matches, unless it is empty.
        lanes.nonzeros(slots) & !lanes.nonzeros(beyond)
    }

    /// Returns the slot that knows most bits, of those that are marked, which match the same code.
    #[inline]
    fn longest(word: u64, mut marks: u64) -> Option<Found> {
        let mut longest: Option<Found> = None;
        while marks != 0 {
            let lane = marks.trailing_zeros() / Self::WIDTH;
            let slot = Self::slot(word, lane);
            if longest.is_none_or(|found| found.slot < slot) {
                longest = Some(Found { lane, slot });
            }
            marks &= marks - 1;
        }
        longest
    }

    /// Returns the lane that holds exactly this slot, if there is one.
    #[inline]
    fn find(word: u64, slot: u64) -> Option<u32> {
        let pattern = slot.wrapping_mul(Self::LANES.ones());
        let marks = Self::LANES.zeros(slots(word) ^ pattern);
        (marks != 0).then(|| marks.trailing_zeros() / Self::WIDTH)
    }

    /// Returns the slot in a lane, or zero if it is empty.
    #[inline]
    fn slot(word: u64, lane: u32) -> u64 {
        word >> (lane * Self::WIDTH) & Self::FIRST
    }

    /// Returns the occupied slots.
    #[inline]
    fn occupied_slots(word: u64) -> impl Iterator<Item = u64> {
        (0..Self::SLOTS).map(move |lane| Self::slot(word, lane)).take_while(|&slot| slot != 0)
    }

    /// Counts the occupied slots.
    #[inline]
    fn occupied(word: u64) -> u32 {
        (u64::BITS - slots(word).leading_zeros()).div_ceil(Self::WIDTH)
    }

    /// Returns whether every slot is occupied.
    #[inline]
    fn is_full(word: u64) -> bool {
        slots(word) >> Self::LANES.highest() != 0
    }

    /// Returns the word with one more slot, or `None` if it is full.
    #[inline]
    fn with(word: u64, slot: u64) -> Option<u64> {
        debug_assert!(slot >> Self::CORE != 0 && slot <= Self::FIRST);
        let empty = Self::LANES.zeros_short(slots(word));
        (empty != 0).then(|| word | slot << Self::LANES.lowest(empty))
    }

    /// Returns the word without the slot in this lane.
    #[inline]
    fn without(word: u64, lane: u32) -> u64 {
        let below = (1 << (lane * Self::WIDTH)) - 1;
        let slots = slots(word);
        word & !SLOTS_MASK | slots & below | slots >> Self::WIDTH & !below
    }

    /// Returns the word without the slots that are marked by their highest bits.
    #[inline]
    fn without_all(word: u64, marks: u64) -> u64 {
        word & !SLOTS_MASK | Self::LANES.without(slots(word), marks)
    }

    /// Returns the word with another slot in this lane.
    #[inline]
    fn replace(word: u64, lane: u32, slot: u64) -> u64 {
        let at = lane * Self::WIDTH;
        word & !(Self::FIRST << at) | slot << at
    }

    /// Splits a word: each slot goes where the next bit of its extension says.
    #[inline]
    fn halves(word: u64, value_bits: u32) -> Halves {
        let (empty, below) = (empty(level(word) + 1), Self::CORE + value_bits);
        let mut halves = Halves { stays: empty, child: empty, copied: 0 };
        let (mut at, mut child_at) = (0, 0);
        for slot in Self::occupied_slots(word) {
            let (core, tail) = (slot & ((1 << below) - 1), slot >> below);
            let unknown = u64::from(tail == 1);
            // The slot itself if its tail has no bit left, and otherwise one with a shorter tail.
            let next = if unknown != 0 { slot } else { tail >> 1 << below | core };
            let stays = !tail & 1 | unknown;
            let goes = tail & 1;
            halves.stays |= (next & stays.wrapping_neg()) << at;
            halves.child |= (next & goes.wrapping_neg()) << child_at;
            halves.copied += unknown as u32;
            at += Self::WIDTH * stays as u32;
            child_at += Self::WIDTH * goes as u32;
        }
        halves
    }

    /// Returns whether these functions could have made the word.
    fn is_valid(word: u64, value_bits: u32) -> bool {
        let slots = (0..Self::SLOTS).map(|lane| Self::slot(word, lane));
        // Occupied slots come first.
        let packed = slots.clone().skip_while(|&slot| slot != 0).all(|slot| slot == 0);
        packed && slots.clone().all(|slot| slot == 0 || slot >> (Self::CORE + value_bits) != 0)
    }
}

impl<const SLOTS: u32, const CORE: u32> GrowingLayout for Leveled<SLOTS, CORE> {
    const SLOTS: u32 = SLOTS;
    const CORE: u32 = CORE;
}
