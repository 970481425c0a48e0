//! The buckets in a snapshot: how many slots are occupied, and whether each bucket is one that the
//! library could have made.

use core::ops::Range;

use crate::{
    Layout,
    bucket::{Census, Leveled, Slots},
};

/// Words whose census is taken together. They stay in a first-level cache.
const CENSUS_BLOCK: usize = 512;

/// The census of no words.
pub(super) const EMPTY_CENSUS: Census = Census { occupied: 0, valid: true };

/// Takes the census of words from a place on, without those that are `numbers`. Fastest for
/// hundreds of words that are in a first-level cache.
pub(super) fn census(layout: Layout, numbers: &Range<u64>, from: u64, words: &[u64]) -> Census {
    let at = |place: u64| (place.max(from) - from).min(words.len() as u64) as usize;
    let mut sum = EMPTY_CENSUS;
    for words in [&words[..at(numbers.start)], &words[at(numbers.end)..]] {
        if !words.is_empty() {
            let census = match layout.leveled() {
                Some(leveled) => growing_census(&leveled, words),
                None => layout.slots().census(words),
            };
            sum.occupied += census.occupied;
            sum.valid &= census.valid;
        }
    }
    sum
}

/// As [`census`], of buckets of a table that grows.
fn growing_census(leveled: &Leveled, words: &[u64]) -> Census {
    let occupied = words.iter().map(|&word| u64::from(leveled.occupied(word))).sum();
    Census { occupied, valid: words.iter().all(|&word| leveled.is_valid(word)) }
}

/// Adds the census of the words in these bytes. They are valid only if all their slots hold a
/// fingerprint, and not just a value.
pub(super) fn add_census(
    layout: Layout,
    numbers: &Range<u64>,
    mut from: u64,
    bytes: &[u8],
    sum: &mut Census,
) {
    let mut block = [0; CENSUS_BLOCK];
    for bytes in bytes.chunks(8 * CENSUS_BLOCK) {
        let words = &mut block[..bytes.len() / 8];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let census = census(layout, numbers, from, words);
        sum.occupied += census.occupied;
        sum.valid &= census.valid;
        // Only then: the fingerprints of an invalid word are arbitrary.
        if sum.valid && layout.leveled().is_none() {
            sum.valid = all_have_keys(&layout.slots(), words);
        }
        from += words.len() as u64;
    }
}

/// Returns whether all slots of these valid words have keys, and not just values.
fn all_have_keys(slots: &Slots, words: &[u64]) -> bool {
    let mut all = words.iter().flat_map(|&word| slots.each(word));
    slots.value_bits() == 0 || all.all(|slot| slots.key(slot) != 0)
}
