//! Hashes that are near others, so that a test can choose how their fingerprints and buckets
//! relate. The mixer has no inverse, so they are searched for.

use std::collections::HashSet;

use guira::{Layout, raw::Mixer};
use rand::{Rng, RngExt};

/// The seed with which a filter of this seed mixes hashes: see `docs::snapshots`.
pub fn mixing_seed(seed: u64) -> u64 {
    let x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The part of 32 bits, of which there are so many.
fn part(bits: u64, parts: u64) -> u64 {
    (bits * parts) >> 32
}

/// Hashes whose fingerprint or first bucket is next to that of a present one, and whose other one
/// is equal, in a filter of this seed and a fixed size: some, or none if fingerprints are long.
pub fn near(
    present: &[u64],
    seed: u64,
    (layout, buckets): (Layout, u64),
    rng: &mut impl Rng,
) -> Vec<u64> {
    let mixer = Mixer::new(mixing_seed(seed));
    let min = if layout.is_semi_sorted() { 16 } else { 1 };
    let place = |hash: u64| {
        let mixed = mixer.mix(hash);
        let parts = (1 << layout.fingerprint_bits()) - min;
        let fingerprint = min + part(mixed & u64::from(u32::MAX), parts);
        (fingerprint as i64, part(mixed >> 32, buckets) as i64)
    };
    let beside = |(fingerprint, bucket)| {
        [(fingerprint, 1), (fingerprint, -1)]
            .map(|(f, by)| (f, bucket + by))
            .into_iter()
            .chain([(fingerprint + 1, bucket), (fingerprint - 1, bucket)])
    };
    let places: HashSet<(i64, i64)> =
        present.iter().flat_map(|&hash| beside(place(hash))).collect();
    let tries = (0..1 << 18).map(|_| rng.random());
    tries.filter(|&hash| places.contains(&place(hash))).take(500).collect()
}

/// The bits of an item's extension that each slot of a filter that grows knows.
pub fn known_bits(layout: Layout) -> u32 {
    layout.fingerprint_bits() - core_bits(layout)
}

fn core_bits(layout: Layout) -> u32 {
    match layout.slots_per_bucket() {
        5 => 6,
        4 => 7,
        _ => 8,
    }
}

/// Two aliases of a hash in a filter of this seed that has not grown, with so many first buckets.
/// Both differ from it in the first bit of the extension that slots do not know. The second one
/// also differs in the bit after that. `None` if fewer than one hash in `2^max_bits` is one.
pub fn relatives(
    hash: u64,
    seed: u64,
    (layout, first): (Layout, u64),
    max_bits: u32,
) -> Option<[u64; 2]> {
    let (core, known) = (core_bits(layout), known_bits(layout));
    if core + known + first.ilog2() + 2 > max_bits {
        return None;
    }
    let mixer = Mixer::new(mixing_seed(seed));
    let place = |hash: u64| {
        let mixed = mixer.mix(hash);
        let extension = mixed >> 32;
        let start = part((mixed ^ extension) & u64::from(u32::MAX), first);
        (mixed >> (64 - core), extension & ((1 << known) - 1), start, extension >> known & 3)
    };
    let (core, low, start, bits) = place(hash);
    let relative = |flips| {
        let wanted = (core, low, start, bits ^ flips);
        (0..1 << 29)
            .map(|n| hash.wrapping_add(n * 0x9e37_79b9))
            .find(|&other| place(other) == wanted)
    };
    Some([relative(1)?, relative(3)?])
}
