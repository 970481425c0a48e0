//! What a load validates: the length and the buckets, here; the header, in `header.rs`; and the
//! checksums, in `receive.rs`, which makes all checks in their order.

use super::{LoadError, encode::encoded_len, header::Header};
use crate::{
    Layout,
    bucket::{BucketLayout, Census, GrowingLayout, with_growing_layout, with_layout},
};

/// Words whose census is taken together. They stay in a first-level cache.
const CENSUS_BLOCK: usize = 512;

/// The census of no words.
pub(super) const EMPTY_CENSUS: Census = Census { occupied: 0, valid: true };

/// Takes the census of words. Fastest for hundreds of words that are in a first-level cache.
pub(super) fn census(layout: Layout, words: &[u64]) -> Census {
    match layout.splitting() {
        Some(_) => {
            with_growing_layout!(layout, L => growing_census::<L>(words, layout.value_bits()))
        }
        None => with_layout!(layout, L => L::census(words)),
    }
}

/// As [`census`], of a table that grows by splitting.
fn growing_census<L: GrowingLayout>(words: &[u64], value_bits: u32) -> Census {
    let occupied = words.iter().map(|&word| u64::from(L::occupied(word))).sum();
    Census { occupied, valid: words.iter().all(|&word| L::is_valid(word, value_bits)) }
}

/// Adds the census of the words in these bytes, which are valid only if all their fingerprints are
/// at least `min`.
pub(super) fn add_census(layout: Layout, bytes: &[u8], min: u32, sum: &mut Census) {
    let mut block = [0; CENSUS_BLOCK];
    for bytes in bytes.chunks(8 * CENSUS_BLOCK) {
        let words = &mut block[..bytes.len() / 8];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let census = census(layout, words);
        sum.occupied += census.occupied;
        sum.valid &= census.valid;
        // Only then: the fingerprints of an invalid word are arbitrary.
        if sum.valid && layout.splitting().is_none() {
            sum.valid = with_layout!(layout, L => all_are_at_least::<L>(words, min));
        }
    }
}

/// Returns whether all fingerprints in these valid words are at least `min`.
fn all_are_at_least<L: BucketLayout>(words: &[u64], min: u32) -> bool {
    let mut fingerprints = words.iter().flat_map(|&word| L::fingerprints(word));
    min <= L::MIN_FINGERPRINT || fingerprints.all(|fingerprint| fingerprint.get() >= min)
}

/// Validates the number of bytes of a whole snapshot.
pub(super) fn check_length(
    header: &Header,
    header_len: usize,
    received: u64,
) -> Result<(), LoadError> {
    let words = header.segments().map(|(segment, _)| encoded_len(segment.buckets));
    match received.checked_sub(header_len as u64 + words.sum::<u64>()) {
        None => Err(LoadError::Truncated { received }),
        Some(0) => Ok(()),
        Some(more) => Err(LoadError::TrailingBytes { more }),
    }
}
