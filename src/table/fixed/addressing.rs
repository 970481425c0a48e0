//! Addressing: from a mixed hash to a fingerprint, its two buckets, and its stripe.

use crate::{
    bucket::{BucketLayout, Fingerprint, fingerprints},
    table::{Bare, Payload, mix::SCATTER},
};

/// Largest number of buckets of a table: 2^32, which take 32 GiB.
pub const MAX_BUCKETS: u64 = 1 << 32;

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
pub struct Addressing<P = Bare> {
    buckets: u64,
    payload: P,
}

impl Addressing {
    /// The addressing of a table whose slots hold fingerprints alone.
    ///
    /// # Panics
    /// If `buckets` is not in `1 ..= MAX_BUCKETS`.
    #[must_use]
    pub fn new(buckets: u64) -> Self {
        Self::holding(buckets, Bare)
    }
}

impl<P: Payload> Addressing<P> {
    /// The addressing of a table with this payload.
    ///
    /// # Panics
    /// If `buckets` is not in `1 ..= MAX_BUCKETS`.
    #[must_use]
    pub fn holding(buckets: u64, payload: P) -> Self {
        assert!((1..=MAX_BUCKETS).contains(&buckets), "1 to 2^32 buckets, not {buckets}");
        Self { buckets, payload }
    }

    /// The number of buckets.
    #[inline]
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.buckets
    }

    /// What slots hold beside a fingerprint.
    #[must_use]
    pub fn payload(&self) -> &P {
        &self.payload
    }

    /// The fingerprint and the buckets of a hash that was [mixed](crate::table::mix). The value is zero.
    ///
    /// The first bucket comes from the high half of the mixed hash and the fingerprint from the
    /// low half, so the two are independent.
    #[inline]
    #[must_use]
    pub fn pair<L: BucketLayout>(&self, mixed: u64) -> Pair {
        let value_bits = self.payload.value_bits();
        let count = fingerprints::<L>(value_bits);
        let (key, buckets) = self.key_and_buckets((L::MIN_FINGERPRINT, count.into()), mixed);
        Pair { fingerprint: Fingerprint::new(key << value_bits), buckets }
    }

    /// As [`pair`](Self::pair), given the smallest fingerprint and the number of fingerprints, with
    /// the fingerprint without the bits of a value.
    #[inline]
    pub(crate) fn key_and_buckets(&self, (min, count): (u32, u64), mixed: u64) -> (u32, [u32; 2]) {
        let key = min + reduce(mixed as u32, count);
        let bucket = reduce((mixed >> 32) as u32, self.buckets);
        (key, [bucket, self.alternate(Fingerprint::new(key), bucket)])
    }

    /// The alternate bucket of a fingerprint that is stored in `bucket`.
    ///
    /// It is the reflection `t - bucket` modulo the number of buckets, where `t` depends on the
    /// fingerprint alone. A reflection is its own inverse for every modulus; the XOR of the paper
    /// (Fan et al. 2014, section 3.1) stays in range only for powers of two.
    #[inline]
    #[must_use]
    pub fn alt_bucket(&self, fingerprint: Fingerprint, bucket: u32) -> u32 {
        self.alternate(self.stripe_fingerprint(fingerprint), bucket)
    }

    /// The alternate bucket, given the fingerprint without the bits of a value.
    #[inline]
    fn alternate(&self, key: Fingerprint, bucket: u32) -> u32 {
        let t = reduce(scatter(key), self.buckets);
        reflect(bucket, t, self.buckets)
    }

    /// The fingerprint that selects the stripe: the one without the bits of a value.
    #[inline]
    #[must_use]
    pub fn stripe_fingerprint(&self, fingerprint: Fingerprint) -> Fingerprint {
        Fingerprint::new(fingerprint.get() >> self.payload.value_bits())
    }
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
