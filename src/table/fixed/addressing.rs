//! Addressing: from a mixed hash to a fingerprint, its two buckets, and its stripe; and what the
//! steps of the protocol need of the words of a table of a fixed size.

use core::hint::select_unpredictable;

use super::{
    Attempts, Bare, FixedSpace, FixedTable, Move, Payload, Seen, Space, Stripe, StripeGuard,
    Stripes, Words,
};
use crate::{
    InsertError,
    bucket::{BucketLayout, Fingerprint, Lanes},
    sync::{Acquire, Relaxed, Word},
    table::{Hashes, mix::REFLECTION},
};

/// Largest number of buckets of a table of a fixed size. They take 32 GiB.
pub const MAX_BUCKETS: u64 = (1 << 32) - 1;

/// A fingerprint and the two buckets that may hold it.
///
/// In a table with values, the last bits of the fingerprint are a value: see
/// `table/steps/values.rs`.
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

impl<P: Payload> Addressing<P> {
    /// The addressing of a table with this payload.
    ///
    /// # Panics
    /// If `buckets` is not in `1 ..= MAX_BUCKETS`.
    #[must_use]
    pub fn new(buckets: u64, payload: P) -> Self {
        assert!((1..=MAX_BUCKETS).contains(&buckets), "1 to 2^32 - 1 buckets, not {buckets}");
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

    /// The fingerprint and the buckets of a hash that was [mixed](fn@crate::table::mix). The value
    /// is zero.
    ///
    /// The first bucket comes from the high half of the mixed hash and the fingerprint from the
    /// low half, so the two are independent.
    #[inline]
    #[must_use]
    pub fn pair<L: BucketLayout>(&self, mixed: u64) -> Pair {
        let value_bits = self.payload.value_bits();
        let (key, buckets) = self.key_and_buckets::<L>(key_shift::<L>(value_bits), mixed);
        Pair { fingerprint: Fingerprint::new(key << value_bits), buckets }
    }

    /// As [`pair`](Self::pair), given the [shift](key_shift), with the fingerprint without the bits
    /// of a value.
    #[inline]
    pub(crate) fn key_and_buckets<L: BucketLayout>(
        &self,
        shift: u32,
        mixed: u64,
    ) -> (u32, [u32; 2]) {
        locate::<L>(shift, self.buckets, mixed)
    }

    /// The alternate bucket of a fingerprint that is stored in `bucket`.
    ///
    /// It is the reflection `t - bucket` modulo the number of buckets, where `t` depends on the
    /// fingerprint alone. A reflection is its own inverse for every modulus; the XOR of the paper
    /// (Fan et al. 2014, section 3.1) stays in range only for powers of two.
    #[inline]
    #[must_use]
    pub fn alt_bucket(&self, fingerprint: Fingerprint, bucket: u32) -> u32 {
        alternate(self.stripe_fingerprint(fingerprint).get(), bucket, self.buckets)
    }

    /// The fingerprint that selects the stripe: the one without the bits of a value.
    #[inline]
    #[must_use]
    pub fn stripe_fingerprint(&self, fingerprint: Fingerprint) -> Fingerprint {
        Fingerprint::new(fingerprint.get() >> self.payload.value_bits())
    }
}

/// The number of bits of the low half of a mixed hash that are below a fingerprint, without those
/// of a value.
#[inline]
pub(in crate::table) const fn key_shift<L: BucketLayout>(value_bits: u32) -> u32 {
    u32::BITS + value_bits - L::BITS
}

/// The fingerprint without the bits of a value, and both buckets.
///
/// The fingerprints below the smallest one, zero in plain layouts, are replaced by the first ones
/// from it on, which are therefore twice as frequent as the others.
#[cfg(any(test, not(guira_vectors)))]
#[inline]
fn locate_by_words<L: BucketLayout>(shift: u32, buckets: u64, mixed: u64) -> (u32, [u32; 2]) {
    let bits = mixed as u32 >> shift;
    let key = bits + if bits < L::MIN_FINGERPRINT { L::MIN_FINGERPRINT } else { 0 };
    let first = reduce((mixed >> 32) as u32, buckets);
    (key, [first, alternate(key, first, buckets)])
}
#[cfg(not(guira_vectors))]
use locate_by_words as locate;

/// As `locate_by_words`, in registers of SSE2. The processor overlaps single operations only as far
/// as it has integer registers for what they compute, and it has more of these.
#[cfg(guira_vectors)]
#[inline]
fn locate<L: BucketLayout>(shift: u32, buckets: u64, mixed: u64) -> (u32, [u32; 2]) {
    use core::arch::x86_64::{
        _mm_add_epi64, _mm_and_si128, _mm_cmpeq_epi32, _mm_cmpgt_epi32, _mm_cvtsi32_si128,
        _mm_cvtsi64_si128, _mm_cvtsi128_si32, _mm_mul_epu32, _mm_setzero_si128, _mm_shuffle_epi32,
        _mm_slli_epi32, _mm_srl_epi32, _mm_srli_epi64, _mm_sub_epi32, _mm_sub_epi64, _mm_xor_si128,
    };
    // SAFETY: the target has SSE2.
    unsafe {
        let number = |x: u32| _mm_cvtsi32_si128(x as i32);
        let reduce = |bits, n| _mm_srli_epi64::<32>(_mm_mul_epu32(bits, n));
        let (mixed, buckets) = (_mm_cvtsi64_si128(mixed as i64), number(buckets as u32));
        let bits = _mm_srl_epi32(mixed, number(shift));
        // All ones, which is -1, where the bits are less than the smallest fingerprint.
        let raise = if L::MIN_FINGERPRINT == 1 {
            _mm_cmpeq_epi32(bits, _mm_setzero_si128())
        } else {
            const { assert!(L::MIN_FINGERPRINT == 1 || L::MIN_FINGERPRINT == 16 && L::BITS < 32) };
            _mm_slli_epi32::<4>(_mm_cmpgt_epi32(number(16), bits))
        };
        let key = _mm_sub_epi32(bits, raise);
        let first = reduce(_mm_srli_epi64::<32>(mixed), buckets);
        let [by, flips] = REFLECTION.map(number);
        let t = reduce(_mm_xor_si128(_mm_mul_epu32(key, by), flips), buckets);
        let second = _mm_sub_epi64(t, first);
        // The upper half of a negative difference has ones only.
        let wrap = _mm_and_si128(_mm_shuffle_epi32::<0b1111_0101>(second), buckets);
        let second = _mm_add_epi64(second, wrap);
        let low = |x| _mm_cvtsi128_si32(x) as u32;
        (low(key), [low(first), low(second)])
    }
}

/// The alternate bucket, given the fingerprint without the bits of a value.
#[inline]
fn alternate(key: u32, bucket: u32, buckets: u64) -> u32 {
    reflect(bucket, reduce(scatter(key), buckets), buckets)
}

/// Maps 32 uniform bits evenly onto `0 .. n`, for `n` up to 2^32 (Lemire's multiply-shift).
#[inline]
fn reduce(bits: u32, n: u64) -> u32 {
    ((u64::from(bits) * n) >> 32) as u32
}

/// The reflection `t - bucket` modulo `n`, its own inverse.
#[inline]
fn reflect(bucket: u32, t: u32, n: u64) -> u32 {
    let (difference, wraps) = t.overflowing_sub(bucket);
    difference.wrapping_add(if wraps { n as u32 } else { 0 })
}

/// Spreads fingerprints over 32 bits.
///
/// The function must not be linear. With `t` a multiple of the fingerprint, which has f bits, an
/// eviction path of length d would reach only about d × 2^f buckets, and tables with short
/// fingerprints would fill badly. Every second bit is flipped, which adds its value or subtracts
/// it, so that no sum of two results is the result of a sum.
#[inline]
fn scatter(key: u32) -> u32 {
    let [by, flips] = REFLECTION;
    key.wrapping_mul(by) ^ flips
}

impl<P: Payload> Space for FixedSpace<P> {
    type Payload = P;
    type Item = Pair;
    type Move = Move;
    type Incoming = Fingerprint;
    const GROWS: bool = false;

    #[inline]
    fn payload(&self) -> P {
        *self.addressing.payload()
    }

    #[inline]
    fn with_value(pair: Pair, value: u16) -> Pair {
        pair.with_value(value)
    }

    #[inline]
    fn prefetch(&self, pair: &Pair) {
        self.buckets.prefetch(pair.buckets[0]);
        self.buckets.prefetch(pair.buckets[1]);
    }

    #[inline]
    fn bucket(&self, bucket: u32) -> &Word {
        self.buckets.bucket(bucket)
    }

    #[inline]
    fn load_both(&self, pair: &Pair) -> [Seen; 2] {
        // Acquire: as in `BothWords::load`.
        pair.buckets.map(|bucket| Seen { bucket, word: self.bucket(bucket).load(Acquire) })
    }

    #[inline]
    fn load_both_to_change(&self, pair: &Pair) -> [Seen; 2] {
        // Acquire: as above.
        pair.buckets
            .map(|bucket| Seen { bucket, word: self.bucket(bucket).load_to_change(Acquire) })
    }

    #[inline]
    fn load_both_to_add(&self, pair: &Pair) -> [Seen; 2] {
        // Relaxed: the compare-and-swap validates the word, and nothing else depends on it. (After
        // an Acquire, the compiler loads the address of the buckets again: four instructions.)
        pair.buckets
            .map(|bucket| Seen { bucket, word: self.bucket(bucket).load_to_change(Relaxed) })
    }

    #[inline]
    fn level(_word: u64) -> u32 {
        0
    }

    #[inline]
    fn slots(word: u64) -> u64 {
        word
    }

    #[inline]
    fn count(&self, _change: i64) {}

    fn buckets(&self) -> u64 {
        self.addressing.buckets()
    }
}

impl<L: BucketLayout, P: Payload> Words<FixedSpace<P>> for L {
    const LANES: Lanes = L::LANES;

    #[inline]
    fn item(space: &FixedSpace<P>, mixed: u64) -> Pair {
        space.addressing.pair::<L>(mixed)
    }

    #[inline]
    fn for_each_item(
        table: &FixedTable<P>,
        hashes: &mut Hashes<'_>,
        operation: impl FnMut(usize, Pair),
    ) {
        table.for_each_pair::<L>(hashes, operation);
    }

    #[inline]
    fn stripe<'a>(space: &FixedSpace<P>, stripes: &'a Stripes, pair: &Pair) -> &'a Stripe {
        space.stripe_among(stripes, pair.fingerprint)
    }

    #[inline]
    fn stripe_of_move<'a>(space: &FixedSpace<P>, stripes: &'a Stripes, step: Move) -> &'a Stripe {
        space.stripe_among(stripes, step.fingerprint)
    }

    #[inline]
    fn marks(space: &FixedSpace<P>, pair: &Pair, words: [Seen; 2]) -> [u64; 2] {
        let pattern = L::LANES.broadcast(pair.fingerprint.get());
        // The exact tests: every mark is right.
        let marks = words.map(|seen| L::LANES.zeros((seen.word ^ pattern) & !space.values::<L>()));
        [marks[0], if pair.buckets[0] == pair.buckets[1] { 0 } else { marks[1] }]
    }

    #[inline]
    fn copies_in(space: &FixedSpace<P>, pair: &Pair, words: [Seen; 2]) -> usize {
        let pattern = L::pattern(space.key(pair.fingerprint));
        let count = |seen: Seen| L::count(seen.word & !space.values::<L>(), pattern) as usize;
        let [first, second] = words.map(count);
        if pair.buckets[0] == pair.buckets[1] { first } else { first + second }
    }

    #[inline]
    fn value_in(space: &FixedSpace<P>, pair: &Pair, words: [Seen; 2]) -> Option<u16> {
        let pattern = L::pattern(space.key(pair.fingerprint));
        let is_in = |seen: &Seen| L::contains(seen.word & !space.values::<L>(), pattern);
        let place = words.iter().position(is_in)?;
        Some(space.first_value::<L>(words[place].word, pair.fingerprint))
    }

    #[inline]
    fn changed(
        space: &FixedSpace<P>,
        pair: &Pair,
        [first, second]: [Seen; 2],
        value: Option<u16>,
    ) -> Option<(Seen, u64)> {
        let pattern = L::pattern(pair.fingerprint);
        // No branch: the words may still be on their way from memory, as in `try_add`.
        let in_first = L::contains(first.word, pattern);
        let bucket = select_unpredictable(in_first, first.bucket, second.bucket);
        let word = select_unpredictable(in_first, first.word, second.word);
        let new = match value {
            None => L::without(word, pattern),
            Some(value) => {
                let key = space.key(pair.fingerprint).get();
                L::replace(word, pattern, Fingerprint::new(key | u32::from(value)))
            }
        };
        Some((Seen { bucket, word }, new?))
    }

    #[inline]
    fn knowledge(_word: u64, _slot: u32) -> u32 {
        0
    }

    #[inline]
    fn slot_of(_space: &FixedSpace<P>, pair: &Pair, _is_second: bool, _word: u64) -> u32 {
        pair.fingerprint.get()
    }

    #[inline]
    fn is_emptier(word: u64, other: u64) -> bool {
        L::is_emptier(word, other)
    }

    #[inline]
    fn with(word: u64, slot: u32) -> Option<u64> {
        L::with(word, Fingerprint::new(slot))
    }

    #[inline]
    fn without_all(word: u64, marks: u64) -> u64 {
        L::LANES.without(word, marks)
    }

    #[inline]
    fn with_changed(word: u64, slot: u32, new: Option<u32>) -> Option<u64> {
        let pattern = L::pattern(Fingerprint::new(slot));
        match new {
            None => L::without(word, pattern),
            Some(new) => L::replace(word, pattern, Fingerprint::new(new)),
        }
    }

    #[inline]
    fn source(space: &FixedSpace<P>, step: Move) -> Option<(Seen, u32)> {
        // Acquire: pairs with the Release of `try_add`. The copy passes on what its original
        // published.
        let word = space.bucket(step.from).load_to_change(Acquire);
        let is_there = L::contains(word, L::pattern(step.fingerprint));
        is_there.then_some((Seen { bucket: step.from, word }, step.fingerprint.get()))
    }

    #[inline]
    fn destination(space: &FixedSpace<P>, step: Move) -> Option<(Seen, u32)> {
        // Relaxed: the compare-and-swap validates what was read, and nothing else depends on it.
        let word = space.bucket(step.to).load_to_change(Relaxed);
        Some((Seen { bucket: step.to, word }, step.fingerprint.get()))
    }

    #[inline]
    fn incoming_slot(_space: &FixedSpace<P>, _step: Move, incoming: Fingerprint) -> u32 {
        incoming.get()
    }

    fn clear_elsewhere(_table: &FixedTable<P>, _guard: &StripeGuard, _step: Move) -> bool {
        unreachable!("no bucket is split")
    }

    fn make_room(
        table: &FixedTable<P>,
        pair: &Pair,
        attempts: &mut Attempts,
    ) -> Result<(), InsertError> {
        table.make_room::<L>(*pair, &attempts.relocations)
    }

    #[inline]
    fn insert_by_making_room(table: &FixedTable<P>, pair: &Pair) -> Result<(), InsertError> {
        table.insert_by_relocating::<L>(*pair)
    }

    #[inline]
    fn count_added(_table: &FixedTable<P>) {}

    #[inline]
    fn sweep_bucket(table: &FixedTable<P>, now: u64, bucket: u32, _end: u64) {
        table.sweep_one::<L>(now, bucket);
    }
}

#[cfg(all(test, guira_vectors))]
mod tests {
    use super::{MAX_BUCKETS, key_shift, locate, locate_by_words};
    use crate::{
        bucket::{BucketLayout, Plain, SemiSorted},
        table::finalize,
    };

    fn agree<L: BucketLayout>(value_bits: u32) {
        let shift = key_shift::<L>(value_bits);
        for buckets in [1, 2, 3, 1_000, 4_096, 12_289, 1 << 31, (1 << 31) + 1, MAX_BUCKETS] {
            let some = (0..2_000).map(finalize);
            for mixed in some.chain([0, 1, u64::MAX, u32::MAX.into(), !0 << 32]) {
                let [by_vectors, by_words] =
                    [locate::<L>, locate_by_words::<L>].map(|f| f(shift, buckets, mixed));
                assert_eq!(by_vectors, by_words, "{mixed} in {buckets}");
            }
        }
    }

    #[test]
    fn vectors_locate_as_words_do() {
        agree::<Plain<8, 8>>(0);
        agree::<Plain<4, 16>>(4);
        agree::<Plain<2, 32>>(0);
        agree::<SemiSorted<6, 12>>(0);
        agree::<SemiSorted<3, 22>>(0);
    }
}
