//! Snapshots that were changed, with their checksums made right again.

use rapidhash::v3::{RapidSecrets, rapidhash_v3, rapidhash_v3_seeded};

/// Bytes of the header of a filter with one segment, if its items do not expire and it does not
/// grow.
pub const HEADER: usize = START + SEGMENT + 8 + 8;
/// Bytes of a header before its segments, of a segment there, and of a block of words.
pub const START: usize = 56;
pub const SEGMENT: usize = 16;
pub const BLOCK: usize = 64 << 10;
/// Where fields are.
pub const VERSION: usize = 8;
pub const KIND: usize = 12;
/// The kind of expiring filters, whose header has three more numbers.
pub const EXPIRING: u8 = 3;
/// The kinds of sets and maps that grow, whose headers have five more.
pub const GROWING: u8 = 1;
pub const GROWING_MAP: u8 = 4;
pub const PLANNED: usize = 13;
pub const EXISTING: usize = 14;
pub const STRIPES: usize = 15;
pub const SEED: usize = 16;
pub const HASHER_CHECK: usize = 24;
pub const CAPACITY: usize = 32;
pub const COPIES: usize = 40;
pub const TARGET: usize = 48;
/// Where fields of a segment are.
pub const SLOTS: usize = 1;
pub const BITS: usize = 2;
pub const LEVEL: usize = 3;
pub const VALUE_BITS: usize = 4;
pub const RESERVED: usize = 5;
pub const BUCKETS: usize = 8;

/// The number at an offset.
///
/// # Panics
/// If the bytes end there.
pub fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

/// Writes a number.
///
/// # Panics
/// If the bytes end there.
pub fn put(bytes: &mut [u8], at: usize, number: u64) {
    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
}

/// Where the segment with this number is described.
pub fn segment(number: usize) -> usize {
    START + SEGMENT * number
}

/// Where the numbers of items are.
pub fn items(bytes: &[u8]) -> usize {
    segment(bytes[PLANNED].into())
}

/// Where the numbers are that only filters of some kinds have.
pub fn rest(bytes: &[u8]) -> usize {
    items(bytes) + 8 * usize::from(bytes[EXISTING])
}

/// Bytes of the numbers that only filters of this kind have.
pub fn rest_len(kind: u8) -> usize {
    match kind {
        EXPIRING => 24,
        GROWING | GROWING_MAP => 40,
        _ => 0,
    }
}

/// Bytes of the header, whatever they say.
pub fn header_len(bytes: &[u8]) -> usize {
    rest(bytes) + rest_len(bytes[KIND]) + 8
}

/// Makes the checksum of a header right, if there is all of it.
pub fn amend_header(bytes: &mut [u8]) {
    if bytes.len() >= START && bytes.len() >= header_len(bytes) {
        let end = header_len(bytes) - 8;
        put(bytes, end, rapidhash_v3(&bytes[..end]));
    }
}

/// Where each block of words is, and its length, as far as there are such bytes.
pub fn blocks(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut at = if bytes.len() < START { usize::MAX } else { header_len(bytes) };
    let mut blocks = Vec::new();
    if at <= bytes.len() {
        for nth in 0..usize::from(bytes[EXISTING].min(bytes[PLANNED])) {
            let mut left = number(bytes, segment(nth) + BUCKETS).saturating_mul(8) as usize;
            while left > 0 && bytes.len() - at >= left.min(BLOCK) + 8 {
                blocks.push((at, left.min(BLOCK)));
                at += left.min(BLOCK) + 8;
                left -= left.min(BLOCK);
            }
            if left > 0 {
                break;
            }
        }
    }
    blocks
}

/// The places in a snapshot at which something begins or ends, and those beside them: of the
/// header, of blocks, of checksums, of segments, and of what a loader stages.
pub fn places(bytes: &[u8]) -> Vec<usize> {
    let mut edges = vec![0, START, header_len(bytes), bytes.len()];
    for (at, len) in blocks(bytes) {
        edges.extend([at, at + len / 2 / 8 * 8, at + len, at + len + 8]);
    }
    let beside = |edge: usize| [edge.saturating_sub(3), edge, edge + 3];
    let mut places: Vec<usize> = edges.into_iter().flat_map(beside).collect();
    places.retain(|&place| place <= bytes.len());
    places.sort_unstable();
    places.dedup();
    places
}

/// Makes all checksums of a snapshot right, as far as there are such bytes.
pub fn amend(bytes: &mut [u8]) {
    amend_header(bytes);
    let blocks = blocks(bytes);
    let mut checksum = if blocks.is_empty() { 0 } else { rapidhash_v3(&bytes[..items(bytes)]) };
    for (at, len) in blocks {
        checksum = rapidhash_v3_seeded(&bytes[at..at + len], &RapidSecrets::seed_cpp(checksum));
        put(bytes, at + len, checksum);
    }
}
