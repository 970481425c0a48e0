//! The hasher check: how a load or a merge notices that it got another hasher.

use core::hash::BuildHasher;

/// Identifies a hasher and its release by its hashes of integers of every width and of texts of
/// many lengths, since hashers treat each of these in a way of its own.
///
/// For each hash in turn, the result so far is rotated left by one bit and combined with the hash
/// by XOR.
pub(in crate::filter) fn hasher_check(hasher: &impl BuildHasher) -> u64 {
    const NUMBER: u64 = 0x0123_4567_89ab_cdef;
    let integers = [
        hasher.hash_one(NUMBER as u8),
        hasher.hash_one(NUMBER as u16),
        hasher.hash_one(NUMBER as u32),
        hasher.hash_one(NUMBER),
        hasher.hash_one(u128::from(NUMBER)),
        hasher.hash_one((NUMBER, NUMBER as usize as u32 as usize)),
        // Slices are hashed as they are in memory, so this hash depends on the byte order.
        hasher.hash_one([NUMBER as u16, 1]),
    ];
    let lengths =
        (0..=64).chain([100, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025]);
    let texts = lengths.map(|length| hasher.hash_one(&TEXT[..length]));
    integers.into_iter().chain(texts).fold(0, |check: u64, hash| check.rotate_left(1) ^ hash)
}

/// "guira " again and again: 1,026 bytes.
const TEXT: &str = match core::str::from_utf8(WORDS.as_flattened()) {
    Ok(text) => text,
    Err(_) => unreachable!(),
};
const WORDS: [[u8; 6]; 171] = [*b"guira "; 171];
