//! Addressing: from a mixed hash to a fingerprint, its two buckets, and its stripe.
//!
//! There is one formula for the alternate bucket, [`Addressing::alt_bucket`]. It serves a table
//! that stands alone ([`Single`]) and, at every level, a segment of a growing filter ([`Nested`]).
//!
//! # Nesting
//!
//! The segment at level n of a chain has 2^n times the buckets of the first one, and fingerprints
//! at least as long. (A chain may leave out levels: its segments may be at levels 0, 3, and 6.)
//! What the segment at a level keeps of an item determines what one at any lower level keeps of it:
//!
//! - The fingerprint, without its last `extra_bits` bits, is the one in the first segment.
//! - The first bucket, halved, is the first bucket at the level before. Both are multiply-shifts of
//!   the same 32 bits, onto ranges whose sizes differ by a factor of a power of two.
//! - The alternate bucket, halved, is the alternate bucket at the level before: the bits that
//!   remain after `level` halvings are reflected as in the first segment, and the bits that the
//!   halvings drop are combined by XOR with bits that depend on the fingerprint alone.
//!
//! So items that are aliases in one segment (same fingerprint, same pair of buckets) are aliases in
//! every earlier segment. Removal from a chain relies on this.
//!
//! The XOR on the low bits is the scheme of the paper (Fan et al. 2014, section 3.1). One could
//! also reflect all bits of the bucket's number, as `t - bucket` at every level, where each level's
//! `t` is `2t + 1` for the `t` of the level before. This nests as well, but it connects a bucket
//! only to buckets whose low bits are equal or complementary. A segment then falls apart into small
//! tables, which fill unevenly: in chains grown from 100 to 300,000 items, segments with four slots
//! per bucket were 84 to 89 % full when the next one was appended. With the XOR they were 98 to 99
//! % full.

use arrayvec::ArrayVec;

use super::{Alone, Nested, Nesting, Single};
use crate::bucket::{BucketLayout, Fingerprint, fingerprints};

/// Largest number of buckets of a table: 2^32, which take 32 GiB.
pub const MAX_BUCKETS: u64 = 1 << 32;

/// Largest number of segments of a chain: one bucket can be doubled 32 times.
pub const MAX_LEVELS: usize = MAX_BUCKETS.ilog2() as usize + 1;
/// Something of each segment of a chain, which has at most one of each level.
pub type PerSegment<T> = ArrayVec<T, MAX_LEVELS>;

/// Shifts and multipliers of the hash mixer: Stafford's variant 13, the finalizer of `SplitMix64`
/// (Steele et al. 2014).
pub(super) const MIXER: [(u32, u64); 2] =
    [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)];

/// Multipliers of [`scatter`].
pub(super) const SCATTER: [u32; 2] = [0x9e37_79b1, 0x85eb_ca6b];

/// A fingerprint and the two buckets that may hold it.
///
/// In a table with values, the last bits of the fingerprint are a value: see `table/values.rs`.
///
/// [`Addressing::alt_bucket`] leads from each of the two buckets to the other. In a table of n
/// buckets, both are the same bucket for about one item in n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The stored fingerprint.
    pub fingerprint: Fingerprint,
    /// The buckets that may store it.
    pub buckets: [u32; 2],
}

impl Pair {
    /// The pair of an item with this value, given the pair with the value zero.
    #[inline]
    #[must_use]
    pub fn with_value(self, value: u16) -> Self {
        let fingerprint = Fingerprint::new(self.fingerprint.get() | u32::from(value));
        Self { fingerprint, ..self }
    }
}

/// The number of buckets of a table, and with it every mapping from hashes to buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressing<N = Single> {
    /// Buckets of the first segment, `2^-level` of the buckets of this one.
    first_buckets: u64,
    nesting: N,
}

impl Addressing {
    /// The addressing of a table that stands alone.
    ///
    /// # Panics
    /// If `buckets` is not in `1 ..= MAX_BUCKETS`.
    #[must_use]
    pub fn new(buckets: u64) -> Self {
        Self::nested(buckets, Single)
    }
}

impl<N: Alone> Addressing<N> {
    /// The fingerprint and the buckets of a hash that was [`mix`]ed. The value is zero.
    #[inline]
    #[must_use]
    pub fn pair<L: BucketLayout>(&self, mixed: u64) -> Pair {
        let count = fingerprints::<L>(self.nesting.value_bits());
        self.pair_among((L::MIN_FINGERPRINT, count), mixed)
    }
}

impl<N: Nesting> Addressing<N> {
    /// The addressing of a segment of a chain whose first segment has `first_buckets` buckets.
    ///
    /// # Panics
    /// If the segment has fewer than 1 or more than `MAX_BUCKETS` buckets.
    #[must_use]
    pub fn nested(first_buckets: u64, nesting: N) -> Self {
        let level = nesting.level();
        assert!(
            (1..=MAX_BUCKETS >> level).contains(&first_buckets),
            "1 to 2^32 buckets, not {first_buckets} doubled {level} times"
        );
        Self { first_buckets, nesting }
    }

    /// The number of buckets.
    #[inline]
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.first_buckets << self.nesting.level()
    }

    /// The nesting.
    #[must_use]
    pub fn nesting(&self) -> &N {
        &self.nesting
    }

    /// The pair of a mixed hash, given the smallest fingerprint and the number of fingerprints.
    ///
    /// The first bucket comes from the high half of the mixed hash and the fingerprint from the
    /// low half, so the two are independent.
    #[inline]
    fn pair_among(&self, (min, count): (u32, u32), mixed: u64) -> Pair {
        let (key, buckets) = self.key_and_buckets((min, count.into()), mixed);
        Pair { fingerprint: self.with_value_zero(key), buckets }
    }

    /// As [`pair_among`](Self::pair_among), with the fingerprint without the bits of a value.
    #[inline]
    pub(crate) fn key_and_buckets(&self, (min, count): (u32, u64), mixed: u64) -> (u32, [u32; 2]) {
        let key = key_among((min, count), mixed);
        let bucket = reduce((mixed >> 32) as u32, self.buckets());
        // `extra_bits` includes the bits of the value, which the key does not have.
        let longer = self.nesting.extra_bits() - self.nesting.value_bits();
        let alternate = self.alternate(Fingerprint::new(key >> longer), bucket);
        (key, [bucket, alternate])
    }

    /// The fingerprint of a mixed hash, given the smallest one and their number. The value is zero.
    #[inline]
    fn fingerprint_among(&self, (min, count): (u32, u32), mixed: u64) -> Fingerprint {
        self.with_value_zero(key_among((min, count.into()), mixed))
    }

    /// The fingerprint that consists of a key and the value zero.
    #[inline]
    fn with_value_zero(&self, key: u32) -> Fingerprint {
        Fingerprint::new(key << self.nesting.value_bits())
    }

    /// The alternate bucket of a fingerprint that is stored in `bucket`.
    ///
    /// In a table that stands alone it is the reflection `t - bucket` modulo the number of buckets,
    /// where `t` depends on the fingerprint alone. A reflection is its own inverse for every
    /// modulus; the XOR of the paper stays in range only for powers of two. In a segment the
    /// reflection applies to what remains of the bucket's number after `level` halvings, and XOR to
    /// the bits below.
    #[inline]
    #[must_use]
    pub fn alt_bucket(&self, fingerprint: Fingerprint, bucket: u32) -> u32 {
        self.alternate(self.stripe_fingerprint(fingerprint), bucket)
    }

    /// The alternate bucket, given the fingerprint in the first segment.
    #[inline]
    fn alternate(&self, first: Fingerprint, bucket: u32) -> u32 {
        let level = self.nesting.level();
        let t = reduce(scatter(first), self.buckets());
        // The shift is made on 64 bits: a chain of 33 segments halves 32 times.
        let halved = |bucket: u32| (u64::from(bucket) >> level) as u32;
        let high = reflect(halved(bucket), halved(t), self.first_buckets);
        let low = u64::from(t ^ bucket) & ((1 << level) - 1);
        (u64::from(high) << level | low) as u32
    }

    /// The fingerprint that selects the stripe: the one in the first segment of the chain.
    #[inline]
    #[must_use]
    pub fn stripe_fingerprint(&self, fingerprint: Fingerprint) -> Fingerprint {
        // mutant: segment-own-stripe-choice
        Fingerprint::new(fingerprint.get() >> self.nesting.extra_bits())
    }
}

impl<V: Alone> Addressing<Nested<V>> {
    /// The fingerprint of a mixed hash, with the value zero.
    #[inline]
    #[must_use]
    pub fn fingerprint(&self, mixed: u64) -> Fingerprint {
        self.fingerprint_among(self.nesting.fingerprints(), mixed)
    }

    /// The fingerprint and the buckets of a hash that was [`mix`]ed. The value is zero.
    #[inline]
    #[must_use]
    pub fn pair(&self, mixed: u64) -> Pair {
        self.pair_among(self.nesting.fingerprints(), mixed)
    }

    /// Returns whether the pair of an item in `finer`, a segment of a chain with the same first
    /// segment, determines its pair in this one. This is also true of two equal segments.
    #[must_use]
    pub fn is_determined_by(&self, finer: &Self) -> bool {
        let (this, finer) = (self.nesting, finer.nesting);
        this.level() <= finer.level() && this.extra_bits() <= finer.extra_bits()
    }

    /// The finest addressing that is determined by this segment and also by `other`, a segment of a
    /// chain with the same first segment.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        Self { nesting: self.nesting.common(other.nesting), ..*self }
    }

    /// The pair of an item in this segment, given its `pair` in `finer`, which determines this one.
    #[must_use]
    pub fn coarse_pair(&self, finer: &Self, pair: Pair) -> Pair {
        debug_assert!(self.is_determined_by(finer), "{self:?} {finer:?}");
        let halvings = finer.nesting.level() - self.nesting.level();
        let dropped_bits = finer.nesting.extra_bits() - self.nesting.extra_bits();
        Pair {
            fingerprint: self.without_bits(pair.fingerprint, dropped_bits),
            // On 64 bits: as in `alternate`.
            buckets: pair.buckets.map(|bucket| (u64::from(bucket) >> halvings) as u32),
        }
    }

    /// A fingerprint that is shorter by this many bits, with the same value.
    fn without_bits(&self, fingerprint: Fingerprint, bits: u32) -> Fingerprint {
        let (key, mask) = (fingerprint.get() >> bits, self.nesting.value_mask());
        Fingerprint::new(key & !mask | fingerprint.get() & mask)
    }
}

/// The key of a mixed hash, one of `count` that begin at `min`.
#[inline]
fn key_among((min, count): (u32, u64), mixed: u64) -> u32 {
    min + reduce(mixed as u32, count)
}

/// Mixes a hash with the filter's seed, so that integer keys and weak hashers spread well.
#[inline]
#[must_use]
pub fn mix(hash: u64, seed: u64) -> u64 {
    let step = |x: u64, (shift, by): (u32, u64)| (x ^ (x >> shift)).wrapping_mul(by);
    let mixed = MIXER.into_iter().fold(hash ^ seed, step);
    mixed ^ (mixed >> 31)
}

/// Maps 32 uniform bits evenly onto `0 .. n`, for `n` up to 2^32 (Lemire's multiply-shift).
#[inline]
fn reduce(bits: u32, n: u64) -> u32 {
    ((u64::from(bits) * n) >> 32) as u32
}

/// The reflection `t - bucket` modulo `n`, its own inverse.
#[inline]
fn reflect(bucket: u32, t: u32, n: u64) -> u32 {
    let (bucket, t) = (u64::from(bucket), u64::from(t));
    let wrap = if bucket > t { n } else { 0 };
    (t + wrap - bucket) as u32
}

/// Spreads fingerprints over 32 bits by two multiplications and a shift.
///
/// The function must not be linear. With `t` a multiple of the fingerprint, which has f bits, an
/// eviction path of length d would reach only about d × 2^f buckets, and tables with short
/// fingerprints would fill badly.
#[inline]
fn scatter(fingerprint: Fingerprint) -> u32 {
    let x = fingerprint.get().wrapping_mul(SCATTER[0]);
    (x ^ (x >> 15)).wrapping_mul(SCATTER[1])
}
