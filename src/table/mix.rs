//! Mixing: what spreads hashes and fingerprints over the buckets of both kinds of tables.

/// Shifts and multipliers of the hash mixer: Stafford's variant 13, the finalizer of `SplitMix64`
/// (Steele et al. 2014).
pub(super) const MIXER: [(u32, u64); 2] =
    [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)];

/// Multipliers by which fingerprints are scattered.
pub(super) const SCATTER: [u32; 2] = [0x9e37_79b1, 0x85eb_ca6b];

/// Mixes a hash with the filter's seed, so that integer keys and weak hashers spread well.
#[inline]
#[must_use]
pub fn mix(hash: u64, seed: u64) -> u64 {
    let step = |x: u64, (shift, by): (u32, u64)| (x ^ (x >> shift)).wrapping_mul(by);
    let mixed = MIXER.into_iter().fold(hash ^ seed, step);
    mixed ^ (mixed >> 31)
}
