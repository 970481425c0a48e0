//! Hashes with a chosen mixed value, so that a test can choose their fingerprints and buckets.

use guira::Layout;

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

/// The seed with which a filter of this seed mixes hashes: see `docs::snapshots`.
pub fn mixing_seed(seed: u64) -> u64 {
    guira::raw::mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15), 0)
}

/// The bits of an item's extension that each slot of a filter that grows knows.
pub fn known_bits(layout: Layout) -> u32 {
    let core = [8, 8, 7, 6][layout.slots_per_bucket() as usize - 2];
    layout.fingerprint_bits() - core
}

/// A hash with other bits of the extension: after those that each slot knows, the first bit is bit
/// 0. So it is an alias of the given one until the filter of this seed has grown.
pub fn relative(hash: u64, seed: u64, layout: Layout, bits: u64) -> u64 {
    let mixed = guira::raw::mix(hash, mixing_seed(seed));
    unmix(mixed ^ bits << (32 + known_bits(layout)).min(61), mixing_seed(seed))
}

/// The inverse of `x ^ (x >> shift)`.
fn unshift(value: u64, shift: u32) -> u64 {
    (0..64 / shift).fold(value, |x, _| value ^ (x >> shift))
}

/// The inverse of an odd number, modulo 2^64. Each step doubles the bits that are right.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |x, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))))
}
