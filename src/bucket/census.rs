//! Counting and validating many words, in vectors of the crate `wide`.
//!
//! The words are values: nothing here reads a word that threads share. So safe code suffices, and
//! `wide` has it for every target. It selects the instruction set when the program is compiled.

use core::slice;

use bytemuck::cast;
use wide::{CmpEq, u8x32, u16x16, u64x4};

use super::{Census, swar::Lanes};

/// Number of words in a vector.
const WORDS: usize = 4;

/// Counts the nonzero lanes of all words, and validates the words. In a valid word all lanes after
/// a zero lane and all bits above the lanes are zero, and `is_invalid` returns `false`. The word
/// zero must be valid.
#[inline]
pub(super) fn census(lanes: Lanes, words: &[u64], is_invalid: impl Fn(u64) -> bool) -> Census {
    let splat = u64x4::splat;
    let (vectors, rest) = words.as_chunks();
    // The last vector is filled up with empty words.
    let mut last = [0; WORDS];
    last[..rest.len()].copy_from_slice(rest);
    let mut zero_lanes = splat(0);
    let mut holes = splat(0);
    let mut bits = splat(0);
    let mut invalid = false;
    // A block has at most as many vectors as every lane can count. Blocks of more than 128 vectors
    // gain nothing.
    let blocks = vectors.chunks(1 << (lanes.bits - 1).min(7));
    for block in blocks.chain([slice::from_ref(&last)]) {
        let mut counts = splat(0);
        for &vector in block {
            let words = u64x4::new(vector);
            let zeros = zeros(lanes, words);
            counts += zeros >> (lanes.bits - 1) & splat(lanes.ones);
            // The lane after a zero lane is not zero.
            holes |= (zeros << lanes.bits) & !zeros;
            bits |= words;
            // No branch: where a caller only counts, the compiler then drops the unused result.
            for word in vector {
                invalid |= is_invalid(word);
            }
        }
        for lane in 0..lanes.count {
            let shift = lanes.shift + lane * lanes.bits;
            zero_lanes += counts >> shift & splat(u64::MAX >> (64 - lanes.bits));
        }
    }
    // No lane precedes the first one.
    let marks = lanes.highs & (lanes.highs - 1);
    let wrong = holes & splat(marks) | bits & splat(lanes.above);
    let slots = (vectors.len() + 1) as u64 * WORDS as u64 * u64::from(lanes.count);
    Census {
        occupied: slots - zero_lanes.to_array().iter().sum::<u64>(),
        valid: wrong == splat(0) && !invalid,
    }
}

/// Marks zero lanes by their highest bits. All other bits of the result have no meaning.
#[inline]
fn zeros(lanes: Lanes, words: u64x4) -> u64x4 {
    match lanes.bits {
        8 if lanes.shift.is_multiple_of(8) => cast(cast::<_, u8x32>(words).cmp_eq(u8x32::ZERO)),
        16 if lanes.shift.is_multiple_of(16) => cast(cast::<_, u16x16>(words).cmp_eq(u16x16::ZERO)),
        _ => {
            let lows = u64x4::splat(lanes.lows);
            !(((words & lows) + lows) | words)
        }
    }
}
