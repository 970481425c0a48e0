//! Where an item lives in a segment of a chain: as in the segment before it, only more closely.
//!
//! Each segment has twice the buckets of the one before it, and fingerprints at least as long. What a segment knows
//! of an item says all that the segments before it know, since every step is a multiply-shift onto a power of two
//! times the first segment's range:
//!
//! - its fingerprint, without the last bits, is that of the first segment;
//! - its first bucket, halved, is that of the segment before; so is, with the same `t`, the other bucket: the
//!   reflection of [`Geometry`](crate::geometry::Geometry) in what is left of the bucket's number after `level`
//!   halvings, and the XOR with bits of the fingerprint's own in what was halved away.
//!
//! So items that are aliases in one segment (one fingerprint, one pair of buckets) are aliases in all before it.
//!
//! The XOR, the paper's own scheme (section 3.1), is where this departs from a reflection of the whole number, `t' = 2t + 1`, which
//! nests as well: that one leads from a bucket only to buckets whose halved bits are the same or the complement,
//! so that a segment falls apart into tables the size of the first two, each with its own luck. (Grown from 100 items to
//! 300 000, segments of four lanes are 98 to 99 % full when the next is appended, by the reflection 84 to 89 %; from 1 000 items to 3
//! million 98 to 99 % and 95 to 98 %.)

use crate::{
    geometry::{Pair, Placement, mix, reduce, reflect, scatter},
    word::Fingerprint,
};

/// The mappings of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nested {
    /// Buckets of the first segment, `2^-level` of this one's.
    first_buckets: u64,
    /// How often they were doubled.
    level: u32,
    /// The smallest fingerprint of the first segment, and how many there are.
    first_fingerprints: (u32, u32),
    /// By how many bits the fingerprints are longer than in the first segment.
    extra_bits: u32,
}

impl Nested {
    /// The mappings of a segment whose number of buckets is the first segment's doubled `level` times. The first segment
    /// has fingerprints `least .. least + count`; this one's have `extra_bits` more bits.
    #[must_use]
    pub fn new(
        first_buckets: u64,
        level: u32,
        (least, count): (u32, u32),
        extra_bits: u32,
    ) -> Self {
        Self { first_buckets, level, first_fingerprints: (least, count), extra_bits }
    }

    /// How many fingerprints there are in this segment.
    #[must_use]
    pub fn fingerprints(&self) -> u32 {
        self.first_fingerprints.1 << self.extra_bits
    }

    /// The smallest of them.
    #[must_use]
    pub fn least_fingerprint(&self) -> u32 {
        self.first_fingerprints.0 << self.extra_bits
    }

    /// The fingerprint and the buckets of a mixed hash.
    #[inline]
    #[must_use]
    pub fn pair(&self, mixed: u64) -> Pair {
        let fingerprint = reduce(mixed as u32, self.fingerprints().into());
        let fingerprint = Fingerprint::new(self.least_fingerprint() + fingerprint);
        let bucket = reduce((mixed >> 32) as u32, self.buckets());
        Pair { fingerprint, buckets: [bucket, self.other(fingerprint, bucket)] }
    }
}

/// What a chain with this seed makes of a hash, before its segments see it.
#[inline]
#[must_use]
pub fn mixed(hash: u64, seed: u64) -> u64 {
    mix(hash ^ seed)
}

impl Placement for Nested {
    #[inline]
    fn buckets(&self) -> u64 {
        self.first_buckets << self.level
    }

    #[inline]
    fn other(&self, fingerprint: Fingerprint, bucket: u32) -> u32 {
        let t = reduce(scatter(self.of_stripe(fingerprint)), self.buckets());
        // In 64 bits: a chain of 33 segments halves 32 bits away.
        let halve = |bucket: u32| (u64::from(bucket) >> self.level) as u32;
        let kept = reflect(halve(bucket), halve(t), self.first_buckets);
        let halved_away = u64::from(t ^ bucket) & ((1 << self.level) - 1);
        (u64::from(kept) << self.level | halved_away) as u32
    }

    #[inline]
    fn of_stripe(&self, fingerprint: Fingerprint) -> Fingerprint {
        Fingerprint::new(fingerprint.get() >> self.extra_bits)
    }
}
