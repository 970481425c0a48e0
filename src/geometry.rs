//! Where an item lives: from a hash to a fingerprint and two buckets, and how many buckets a
//! capacity needs.

use crate::word::{Fingerprint, WordLayout};

/// The most buckets a table can have: 2^32, or 32 GiB.
pub const MAX_BUCKETS: u64 = 1 << 32;

/// Multipliers and shifts of the mixer of hashes: variant 13 of Stafford's, the finalizer of `SplitMix64`
/// (Steele et al. 2014).
const MIXER: [(u32, u64); 2] = [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)];

/// A fingerprint and the two buckets that may hold it.
///
/// Both buckets of a pair name the same pair: [`Geometry::other`] leads from each to the other.
/// The two are the same bucket for about one item in as many as there are buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What is stored.
    pub fingerprint: Fingerprint,
    /// Where it may be stored.
    pub buckets: [u32; 2],
}

/// What the protocol asks of a geometry: it knows pairs, and no hashes.
pub trait Placement: Copy + core::fmt::Debug {
    /// How many buckets there are.
    fn buckets(&self) -> u64;

    /// The other bucket of a fingerprint that stands in `bucket`. From there it leads back.
    fn other(&self, fingerprint: Fingerprint, bucket: u32) -> u32;

    /// The fingerprint that a pair's stripe follows from.
    fn of_stripe(&self, fingerprint: Fingerprint) -> Fingerprint;
}

/// The number of buckets, and with it every mapping from hashes to buckets.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    buckets: u64,
    seed: u64,
}

impl Geometry {
    /// The mappings of a table with this many buckets.
    ///
    /// # Panics
    /// If `buckets` is not in `1 ..= MAX_BUCKETS`.
    #[must_use]
    pub fn new(buckets: u64, seed: u64) -> Self {
        assert!((1..=MAX_BUCKETS).contains(&buckets), "1 to 2^32 buckets, not {buckets}");
        Self { buckets, seed }
    }

    /// How many buckets there are.
    #[inline]
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.buckets
    }

    /// The fingerprint and the buckets of a hash.
    ///
    /// The first bucket comes from the high half of the mixed hash and the fingerprint from the
    /// low half, so that neither says anything about the other.
    #[inline]
    #[must_use]
    pub fn pair<L: WordLayout>(&self, hash: u64) -> Pair {
        let mixed = mix(hash ^ self.seed);
        let fingerprint = reduce(mixed as u32, L::FINGERPRINTS.into());
        let fingerprint = Fingerprint::new(L::LEAST_FINGERPRINT + fingerprint);
        let bucket = reduce((mixed >> 32) as u32, self.buckets);
        Pair { fingerprint, buckets: [bucket, self.other(fingerprint, bucket)] }
    }

    /// The other bucket of a fingerprint that stands in `bucket`: the reflection `t - bucket`
    /// modulo the number of buckets, with a `t` of the fingerprint's own.
    ///
    /// A reflection is its own inverse in every modulus. The XOR of the paper (section 3.1) is one
    /// only for powers of two.
    #[inline]
    #[must_use]
    pub fn other(&self, fingerprint: Fingerprint, bucket: u32) -> u32 {
        reflect(bucket, reduce(scatter(fingerprint), self.buckets), self.buckets)
    }
}

impl Placement for Geometry {
    #[inline]
    fn buckets(&self) -> u64 {
        self.buckets
    }

    #[inline]
    fn other(&self, fingerprint: Fingerprint, bucket: u32) -> u32 {
        self.other(fingerprint, bucket)
    }

    #[inline]
    fn of_stripe(&self, fingerprint: Fingerprint) -> Fingerprint {
        fingerprint
    }
}

/// Mixes a hash.
#[inline]
pub(crate) fn mix(hash: u64) -> u64 {
    let mixed = MIXER.into_iter().fold(hash, |x, (shift, by)| (x ^ (x >> shift)).wrapping_mul(by));
    mixed ^ (mixed >> 31)
}

/// Maps 32 uniform bits evenly onto `0 .. n`, for `n` up to 2^32 (Lemire's multiply-shift).
#[inline]
pub(crate) fn reduce(bits: u32, n: u64) -> u32 {
    ((u64::from(bits) * n) >> 32) as u32
}

/// The reflection `t - bucket` modulo `n`, its own inverse.
#[inline]
pub(crate) fn reflect(bucket: u32, t: u32, n: u64) -> u32 {
    let (bucket, t) = (u64::from(bucket), u64::from(t));
    let wrap = if bucket > t { n } else { 0 };
    (t + wrap - bucket) as u32
}

/// Spreads fingerprints over 32 bits, by two multiplies and a shift.
///
/// It must not be linear: with `t` a multiple of the fingerprint, a path of relocations of length d
/// would reach only about d × 2^f buckets, and short fingerprints would fill badly.
#[inline]
pub(crate) fn scatter(fingerprint: Fingerprint) -> u32 {
    let x = fingerprint.get().wrapping_mul(0x9e37_79b1);
    (x ^ (x >> 15)).wrapping_mul(0x85eb_ca6b)
}
