//! Snapshots that were changed, with their checksums made right again.

use std::ops::Range;

use rapidhash::v3::{RapidSecrets, rapidhash_v3, rapidhash_v3_seeded};

/// Bytes of the header.
pub const HEADER: usize = 320;
/// Bytes of a block of words.
pub const BLOCK: usize = 64 << 10;
/// Where fields are. Those that some kinds of filters lack are zero there.
pub const VERSION: usize = 8;
pub const LENGTH: usize = 12;
pub const CONTENTS: usize = 16;
pub const GROWTH: usize = 17;
pub const STRIPES: usize = 18;
pub const LAYOUT: usize = 20;
pub const SLOTS: usize = 21;
pub const BITS: usize = 22;
pub const VALUE_BITS: usize = 23;
pub const SEED: usize = 24;
pub const HASHER_CHECKS: usize = 32;
pub const CAPACITY: usize = 64;
pub const COPIES: usize = 72;
pub const TARGET: usize = 80;
pub const WINDOW: usize = 88;
pub const GENERATION: usize = 96;
pub const TIME_TO_LIVE: usize = 104;
pub const FIRST: usize = 112;
pub const SIZE: usize = 120;
pub const MAX_BUCKETS: usize = 128;
pub const LOAD: usize = 136;
pub const EXPECTED: usize = 144;
pub const GHOSTS: usize = 152;
pub const WORDS: usize = 160;
pub const OCCUPIED: usize = 168;
pub const CLEAN: usize = 176;
pub const REFRESHED: usize = 184;
pub const BOUND: usize = 192;
pub const SWEPT: usize = 200;
pub const END: usize = 208;
pub const TIMES: usize = 216;

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

/// Where a bucket below the end is, in the snapshot of a filter that grows.
pub fn bucket(bucket: u64) -> usize {
    HEADER + 8 * bucket as usize
}

/// Where the words of children are that were split off ahead of their turn, and before them, in as
/// many bytes, their numbers.
pub fn ahead(bytes: &[u8]) -> [Range<usize>; 2] {
    let (level, split) = (number(bytes, SIZE) >> 32, number(bytes, SIZE) & u64::from(u32::MAX));
    let start = bucket((number(bytes, FIRST) << level) + split);
    let end = HEADER + 8 * number(bytes, WORDS) as usize;
    let words = start.midpoint(end);
    [start..words, words..end]
}

/// Makes the checksum of a header right, if there is all of it.
pub fn amend_header(bytes: &mut [u8]) {
    let len = HEADER;
    if bytes.len() >= len {
        put(bytes, len - 8, rapidhash_v3(&bytes[..len - 8]));
    }
}

/// Where each block of words is, and its length, as far as there are such bytes.
pub fn blocks(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut blocks = Vec::new();
    let header = HEADER;
    if bytes.len() >= header {
        let (mut at, mut left) = (header, number(bytes, WORDS).saturating_mul(8) as usize);
        while left > 0 && bytes.len() - at >= left.min(BLOCK) {
            blocks.push((at, left.min(BLOCK)));
            at += left.min(BLOCK);
            left -= left.min(BLOCK);
        }
    }
    blocks
}

/// Where the table of checksums is, if the bytes reach it.
pub fn table(bytes: &[u8]) -> Option<usize> {
    let &(at, len) = blocks(bytes).last()?;
    let words = number(bytes, WORDS).checked_mul(8)?;
    ((at + len - HEADER) as u64 == words).then_some(at + len)
}

/// The places in a snapshot at which something begins or ends, and those beside them: of the
/// header, of blocks, of checksums, and of what a loader stages.
pub fn places(bytes: &[u8]) -> Vec<usize> {
    let table = table(bytes).expect("a whole snapshot");
    let mut edges = vec![0, LENGTH + 4, HEADER, bytes.len()];
    edges.extend([table + 8, bytes.len() - 8]);
    for (at, len) in blocks(bytes) {
        edges.extend([at, at + len / 2 / 8 * 8, at + len]);
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
    let Some(table) = table(bytes) else { return };
    let seed = rapidhash_v3(&bytes[..OCCUPIED]);
    let checksum = |seed: u64, bytes: &[u8]| {
        rapidhash_v3_seeded(bytes, &RapidSecrets::seed_cpp(seed)).to_le_bytes()
    };
    let mut sums = Vec::new();
    for (nth, (at, len)) in (0..).zip(blocks(bytes)) {
        sums.extend(checksum(seed.wrapping_add(nth), &bytes[at..at + len]));
    }
    sums.extend(checksum(seed, &sums));
    let some = sums.len().min(bytes.len() - table);
    bytes[table..table + some].copy_from_slice(&sums[..some]);
}
