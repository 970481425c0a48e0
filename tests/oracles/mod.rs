//! A second, straightforward implementation of each family of layouts.

use std::{cmp::Reverse, sync::OnceLock};

/// A second implementation of a layout.
#[derive(Clone, Copy)]
pub struct Oracle {
    /// Number of slots.
    pub slots: u32,
    /// Number of bits of a slot, its value included.
    pub bits: u32,
    /// Number of bits in use.
    pub width: u32,
    pub is_semi_sorted: bool,
}

impl Oracle {
    /// The oracle of plain words.
    pub fn plain(slots: u32, bits: u32) -> Self {
        Self { slots, bits, width: slots * bits, is_semi_sorted: false }
    }

    /// The oracle of semi-sorted words.
    pub fn semi_sorted(slots: u32, bits: u32) -> Self {
        let width = [0, 4, 8, 10, 12, 14, 16][slots as usize] + slots * (bits - 4);
        Self { slots, bits, width, is_semi_sorted: true }
    }

    /// Returns the word that holds these slots.
    pub fn write(self, slots: &[u32]) -> u64 {
        if self.is_semi_sorted { write_semi_sorted(self, slots) } else { write_plain(self, slots) }
    }

    /// Returns the slots in a word, sorted, or `None` if the word is invalid.
    pub fn read(self, word: u64) -> Option<Vec<u32>> {
        if self.is_semi_sorted { read_semi_sorted(self, word) } else { read_plain(self, word) }
    }
}

/// Splits a word into fields of `bits` bits, up to the last one that is not zero.
fn fields(word: u64, count: u32, bits: u32) -> Vec<u32> {
    let field = |index: u32| (word >> (index * bits)) as u32 & (u32::MAX >> (32 - bits));
    let mut fields: Vec<u32> = (0..count).map(field).collect();
    fields.truncate(fields.iter().rposition(|&field| field != 0).map_or(0, |last| last + 1));
    fields
}

fn write_plain(layout: Oracle, slots: &[u32]) -> u64 {
    let slots = slots.iter().zip(0..);
    slots.fold(0, |word, (&value, slot)| word | u64::from(value) << (slot * layout.bits))
}

fn read_plain(layout: Oracle, word: u64) -> Option<Vec<u32>> {
    let mut slots = fields(word, layout.slots, layout.bits);
    let above = word.checked_shr(layout.width).unwrap_or(0);
    // No empty slot precedes an occupied one.
    let valid = above == 0 && slots.iter().all(|&value| value != 0);
    slots.sort_unstable();
    valid.then_some(slots)
}

/// Returns all descending sequences of `count` nibbles, ordered by the last nibble, then by the one
/// before it, and so on.
pub fn sequences(count: u32) -> &'static [Vec<u32>] {
    static SEQUENCES: [OnceLock<Vec<Vec<u32>>>; 7] = [const { OnceLock::new() }; 7];
    SEQUENCES[count as usize].get_or_init(|| {
        if count == 0 {
            return vec![vec![]];
        }
        let shorter = sequences(count - 1).iter();
        let longer = shorter.flat_map(|sequence| {
            let next = 0..=sequence.last().copied().unwrap_or(15);
            next.map(|nibble| [&sequence[..], &[nibble]].concat())
        });
        let mut longer: Vec<_> = longer.collect();
        longer.sort_unstable_by(|one, other| one.iter().rev().cmp(other.iter().rev()));
        longer
    })
}

/// Returns the number of bits of a code for `count` nibbles.
pub fn code_bits(count: u32) -> u32 {
    sequences(count).len().next_power_of_two().ilog2()
}

fn write_semi_sorted(layout: Oracle, fingerprints: &[u32]) -> u64 {
    let Oracle { slots, bits, .. } = layout;
    let mut sorted = fingerprints.to_vec();
    // Stable: the order of slots with equal nibbles does not matter.
    sorted.sort_by_key(|&value| Reverse(value % 16));
    let mut nibbles: Vec<u32> = sorted.iter().map(|value| value % 16).collect();
    nibbles.resize(slots as usize, 0);
    let code = sequences(slots)
        .binary_search_by(|other| other.iter().rev().cmp(nibbles.iter().rev()))
        .expect("a descending sequence");
    let highs = sorted
        .iter()
        .zip(0..)
        .fold(0, |highs, (&value, slot)| highs | u64::from(value / 16) << (slot * (bits - 4)));
    code as u64 | highs << code_bits(slots)
}

/// Splits a word into its code and the rest.
fn split(layout: Oracle, word: u64) -> (usize, u64) {
    let code_bits = code_bits(layout.slots);
    ((word & ((1 << code_bits) - 1)) as usize, word >> code_bits)
}

fn read_semi_sorted(layout: Oracle, word: u64) -> Option<Vec<u32>> {
    let Oracle { slots, bits, .. } = layout;
    let (code, highs) = split(layout, word);
    let nibbles = sequences(slots).get(code)?;
    let above = highs.checked_shr(slots * (bits - 4)).unwrap_or(0);
    let highs = fields(highs, slots, bits - 4);
    let valid = above == 0
        && highs.iter().all(|&high| high != 0)
        && nibbles[highs.len()..].iter().all(|&nibble| nibble == 0);
    let mut fingerprints: Vec<u32> =
        highs.iter().zip(nibbles).map(|(high, nibble)| high * 16 + nibble).collect();
    fingerprints.sort_unstable();
    valid.then_some(fingerprints)
}
