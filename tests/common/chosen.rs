//! Hashes with a chosen mixed value, so that a test can choose their fingerprints and buckets.

/// The shifts and multipliers of the filter's mixer: Stafford's variant 13.
const MIXER: [(u32, u64); 2] = [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)];

/// The hash that a filter of this seed mixes to `mixed`: the inverse of [`guira::raw::mix`].
pub fn unmix(mixed: u64, seed: u64) -> u64 {
    let x = unshift(mixed, 31);
    let step = |x: u64, (shift, by): (u32, u64)| unshift(x.wrapping_mul(inverse(by)), shift);
    let hash = MIXER.into_iter().rev().fold(x, step) ^ seed;
    assert_eq!(guira::raw::mix(hash, seed), mixed);
    hash
}

/// The hash of another item of a table of so many buckets: its fingerprint and its first bucket are
/// this much larger, modulo their numbers.
pub fn neighbour(
    hash: u64,
    seed: u64,
    (fingerprints, more): (u64, i64),
    (buckets, further): (u64, i64),
) -> u64 {
    let mixed = guira::raw::mix(hash, seed);
    let step = |bits: u32, of: u64, by: i64| {
        let value = ((u64::from(bits) * of) >> 32) as i64;
        let value = (value + by).rem_euclid(of as i64) as u64;
        (value << 32).div_ceil(of)
    };
    let low = step(mixed as u32, fingerprints, more);
    let high = step((mixed >> 32) as u32, buckets, further);
    unmix(high << 32 | low, seed)
}

/// The inverse of `x ^ (x >> shift)`.
fn unshift(value: u64, shift: u32) -> u64 {
    (0..64 / shift).fold(value, |x, _| value ^ (x >> shift))
}

/// The inverse of an odd number, modulo 2^64. Each step doubles the bits that are right.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |x, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))))
}
