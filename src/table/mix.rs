//! Mixing: what spreads hashes and fingerprints over the buckets of both kinds of tables.

/// The second multiplier of the hash mixer.
pub(super) const MULTIPLIER: u64 = 0xbf58_476d_1ce4_e5b9;

/// Multipliers by which the cores of fingerprints are scattered in tables that grow.
pub(super) const SCATTER: [u32; 2] = [0x9e37_79b1, 0x85eb_ca6b];

/// The multiplier by which fingerprints are scattered in tables of a fixed size, and the bits that
/// are flipped afterwards.
pub(super) const REFLECTION: [u32; 2] = [0x9e37_79b1, 0x5555_5555];

/// The hash mixer of a filter: two secrets from its seed.
///
/// It need not have an inverse, and whoever does not know the seed cannot choose its results. With
/// a fixed first step, such as the XOR-shift of `SplitMix64`, hashes that undo that step would
/// reach the multiplications as multiples of a large power of two, with any seed.
#[derive(Clone, Copy, Debug)]
pub struct Mixer {
    pub(super) flips: u64,
    pub(super) multiplier: u64,
}

impl Mixer {
    /// The mixer with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        // Odd, so that no bit of the hash is lost, and large, so that the product has two full
        // halves.
        let multiplier = finalize(seed.wrapping_add(GAMMA)) | 1 << 63 | 1;
        Self { flips: seed, multiplier }
    }

    /// Mixes a hash, so that integer keys and weak hashers spread well. All bits of the upper half
    /// are good, and the upper ones of the lower half.
    ///
    /// The fold of the first product, the XOR of its halves, brings the upper bits of the hash into
    /// the lower ones. Bits that differ between two hashes lead to bits that depend on the hashes
    /// and on the seed. One product alone leaves some shapes of keys uneven: `tests/screening.rs`.
    #[inline]
    #[must_use]
    pub fn mix(&self, hash: u64) -> u64 {
        let product = u128::from(hash ^ self.flips) * u128::from(self.multiplier);
        (product as u64 ^ (product >> 64) as u64).wrapping_mul(MULTIPLIER)
    }
}

#[cfg(guira_vectors)]
impl Mixer {
    /// As [`mix`](Self::mix), by products of halves, which vectors have.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    pub(super) fn mix_by_halves(&self, hash: u64) -> u64 {
        let halves = |x: u64| [x as u32, (x >> 32) as u32].map(u64::from);
        let (x, [low, high]) = (hash ^ self.flips, halves(self.multiplier));
        let [x_low, x_high] = halves(x);
        // No sum overflows.
        let least = x_low * low;
        let middle = x_high * low + (least >> 32);
        let other = x_low * high + (middle & 0xffff_ffff);
        let most = x_high * high + (middle >> 32) + (other >> 32);
        let folded = (least & 0xffff_ffff | other << 32) ^ most;
        folded.wrapping_mul(MULTIPLIER)
    }
}

/// Mixes a hash by the [`Mixer`] of a seed.
#[cfg(any(test, feature = "raw"))]
#[must_use]
pub fn mix(hash: u64, seed: u64) -> u64 {
    Mixer::new(seed).mix(hash)
}

/// Mixes further, for tables that grow: all bits of both halves are good.
#[inline]
pub(super) fn spread(mixed: u64) -> u64 {
    mixed ^ (mixed >> 32)
}

/// The increment of `SplitMix64`: 2^64 divided by the golden ratio.
pub(crate) const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of `SplitMix64` (Steele et al. 2014), which is Stafford's variant 13.
#[must_use]
pub(crate) fn finalize(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
