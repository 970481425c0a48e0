//! Addressing: from a mixed hash to a fingerprint, its two buckets, and its stripe; and what the
//! steps of the protocol need of the words of a table of a fixed size.

use core::hint::select_unpredictable;

use super::{
    Attempts, FixedSpace, FixedTable, FixedWords, Move, Seen, Space, Stripe, StripeGuard, Stripes,
    Words,
};
use crate::{
    InsertError,
    bucket::{Fingerprint, Lanes, Slots, Sought, Twice},
    sync::{Acquire, Relaxed, Word},
    table::mix::REFLECTION,
};

/// Largest number of buckets of a table of a fixed size. They take 32 GiB.
pub const MAX_BUCKETS: u64 = (1 << 32) - 1;

/// A fingerprint, the two buckets that may hold it, and a value: see `table/steps/values.rs`.
///
/// [`Addressing::alt_bucket`] leads from each of the two buckets to the other. In a table of n
/// buckets, both are the same bucket for about one item in n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The fingerprint.
    pub fingerprint: Fingerprint,
    /// The value that is stored with it. Zero in sets.
    pub value: u16,
    /// The buckets that may store it.
    pub buckets: [u32; 2],
}

impl Pair {
    /// The pair of a key and a value.
    #[inline]
    pub(crate) fn new(key: u32, value: u16, first: u32, second: u32) -> Self {
        Self { fingerprint: Fingerprint::new(key), value, buckets: [first, second] }
    }

    /// The pair of an item with this value, given the pair with the value zero.
    #[inline]
    #[must_use]
    pub fn with_value(self, value: u16) -> Self {
        Self { value, ..self }
    }
}

/// The number of buckets of a table, and with it every mapping from hashes to buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressing {
    /// Each number twice, as a register of SSE2 takes it: the number of buckets, the number of
    /// keys, and the smallest key.
    buckets: Twice,
    keys: Twice,
    min_key: Twice,
}

impl Addressing {
    /// The addressing of a table with words of this kind.
    ///
    /// # Panics
    /// If `buckets` is not in `1 ..= MAX_BUCKETS`.
    #[must_use]
    pub fn new(buckets: u64, slots: &Slots) -> Self {
        assert!((1..=MAX_BUCKETS).contains(&buckets), "1 to 2^32 - 1 buckets, not {buckets}");
        let keys = (1 << slots.key_bits()) - u64::from(slots.min_key());
        Self {
            buckets: Twice::new(buckets),
            keys: Twice::new(keys),
            min_key: Twice::new(slots.min_key().into()),
        }
    }

    /// The number of buckets.
    #[inline]
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.buckets.get()
    }

    /// The fingerprint and the buckets of a hash that was [mixed](fn@crate::table::mix). The value
    /// is zero.
    #[inline]
    #[must_use]
    pub fn pair(&self, mixed: u64) -> Pair {
        let (key, buckets) = self.locate(mixed);
        Pair { fingerprint: Fingerprint::new(key), value: 0, buckets }
    }

    /// The key and both buckets of a mixed hash.
    ///
    /// The first bucket comes from the high half of the mixed hash and the key from the low half,
    /// so the two are independent. All keys from the smallest one on are equally frequent.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    pub(super) fn locate_by_words(&self, mixed: u64) -> (u32, [u32; 2]) {
        // All numbers have 32 bits, in words of 64: vectors have their products, and need not
        // convert.
        let lower = |x: u64| x & u64::from(u32::MAX);
        let reduce = |bits: u64, n: Twice| (bits * lower(n.get())) >> 32;
        let key = lower(self.min_key.get()) + reduce(lower(mixed), self.keys);
        let first = reduce(mixed >> 32, self.buckets);
        let [by, flips] = REFLECTION.map(u64::from);
        let t = reduce(lower(lower(key) * by) ^ flips, self.buckets);
        let wrap = if first > t { self.buckets.get() } else { 0 };
        (key as u32, [first as u32, t.wrapping_sub(first).wrapping_add(wrap) as u32])
    }

    /// As above.
    #[cfg(not(guira_vectors))]
    #[inline]
    pub(super) fn locate(&self, mixed: u64) -> (u32, [u32; 2]) {
        self.locate_by_words(mixed)
    }

    /// As `locate_by_words`, in registers of SSE2. The processor overlaps single operations only as
    /// far as it has integer registers for what they compute, and it has more of these.
    #[cfg(guira_vectors)]
    #[inline]
    pub(super) fn locate(&self, mixed: u64) -> (u32, [u32; 2]) {
        use core::arch::x86_64::{
            __m128i, _mm_add_epi64, _mm_and_si128, _mm_cvtsi32_si128, _mm_cvtsi64_si128,
            _mm_cvtsi128_si32, _mm_mul_epu32, _mm_shuffle_epi32, _mm_srli_epi64, _mm_sub_epi64,
            _mm_xor_si128,
        };
        // SAFETY: the target has SSE2.
        unsafe {
            let number = |x: u32| _mm_cvtsi32_si128(x as i32);
            let reduce = |bits, n| _mm_srli_epi64::<32>(_mm_mul_epu32(bits, n));
            let mixed = _mm_cvtsi64_si128(mixed as i64);
            let buckets: __m128i = bytemuck::cast(self.buckets.load());
            let key = _mm_add_epi64(
                reduce(mixed, bytemuck::cast(self.keys.load())),
                bytemuck::cast(self.min_key.load()),
            );
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

    /// The alternate bucket of a fingerprint that is stored in `bucket`.
    ///
    /// It is the reflection `t - bucket` modulo the number of buckets, where `t` depends on the
    /// fingerprint alone. A reflection is its own inverse for every modulus; the XOR of the paper
    /// (Fan et al. 2014, section 3.1) stays in range only for powers of two.
    #[inline]
    #[must_use]
    pub fn alt_bucket(&self, fingerprint: Fingerprint, bucket: u32) -> u32 {
        alternate(fingerprint.get(), bucket, self.buckets.get() as u32)
    }
}

/// The alternate bucket, given the fingerprint without the bits of a value.
#[inline]
fn alternate(key: u32, bucket: u32, buckets: u32) -> u32 {
    reflect(bucket, reduce(scatter(key), buckets), buckets)
}

/// Maps 32 uniform bits evenly onto `0 .. n` (Lemire's multiply-shift). (With a wider `n`, vectors
/// would take a product of 64 bits, which is three instructions.)
#[inline]
fn reduce(bits: u32, n: u32) -> u32 {
    ((u64::from(bits) * u64::from(n)) >> 32) as u32
}

/// The reflection `t - bucket` modulo `n`, its own inverse.
#[inline]
fn reflect(bucket: u32, t: u32, n: u32) -> u32 {
    let (difference, wraps) = t.overflowing_sub(bucket);
    difference.wrapping_add(if wraps { n } else { 0 })
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

impl Space for FixedSpace {
    type Item = Pair;
    type Move = Move;
    type Incoming = u32;
    const GROWS: bool = false;

    #[inline]
    fn value_mask(&self) -> u32 {
        self.slots.value_mask()
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
        // Acquire: a slot that is found is that of an insert, all of which is then seen.
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

impl<const PLAIN: bool> Words<FixedSpace> for FixedWords<PLAIN> {
    #[inline]
    fn lanes(space: &FixedSpace) -> &Lanes {
        space.slots.lanes()
    }

    #[inline]
    fn item(space: &FixedSpace, mixed: u64) -> Pair {
        space.addressing.pair(mixed)
    }

    #[inline]
    fn stripe<'a>(_space: &FixedSpace, stripes: &'a Stripes, pair: &Pair) -> &'a Stripe {
        stripes.of(pair.fingerprint)
    }

    #[inline]
    fn stripe_of_move<'a>(space: &FixedSpace, stripes: &'a Stripes, step: Move) -> &'a Stripe {
        stripes.of(space.fingerprint_of(step.slot))
    }

    type Sought = Sought;

    #[inline]
    fn sought(space: &FixedSpace, pair: &Pair) -> Sought {
        space.slots.sought(space.slots.slot(pair.fingerprint.get(), pair.value))
    }

    #[inline]
    fn marks(space: &FixedSpace, pair: &Pair, words: [Seen; 2]) -> [u64; 2] {
        let sought = Self::sought(space, pair);
        let marks = words.map(|seen| space.slots.matches::<PLAIN>(seen.word, sought));
        [marks[0], if pair.buckets[0] == pair.buckets[1] { 0 } else { marks[1] }]
    }

    #[inline]
    fn copies_in(space: &FixedSpace, pair: &Pair, sought: Sought, words: [Seen; 2]) -> usize {
        let [first, second] = words.map(|seen| seen.word);
        let second = if pair.buckets[0] == pair.buckets[1] { 0 } else { second };
        space.slots.count_in::<PLAIN>([first, second], sought) as usize
    }
    #[expect(clippy::inline_always, reason = "a call takes a tenth of the time of `insert_unique`")]
    #[inline(always)]
    fn value_in(space: &FixedSpace, _pair: &Pair, sought: Sought, words: [Seen; 2]) -> Option<u16> {
        let slots = &space.slots;
        if slots.value_bits() == 0 {
            return slots.either_holds::<PLAIN>(words.map(|seen| seen.word), sought).then_some(0);
        }
        let marks = words.map(|seen| slots.matches::<PLAIN>(seen.word, sought));
        let place = marks.iter().position(|&marks| marks != 0)?;
        Some(slots.marked_value(words[place].word, marks[place]))
    }

    #[inline]
    fn changed(
        space: &FixedSpace,
        pair: &Pair,
        sought: Sought,
        [first, second]: [Seen; 2],
        value: Option<u16>,
    ) -> Option<(Seen, u64)> {
        let slots = &space.slots;
        let Some(value) = value else {
            let (is_second, new) =
                slots.either_without::<PLAIN>([first.word, second.word], sought)?;
            let bucket = select_unpredictable(is_second, second.bucket, first.bucket);
            let word = select_unpredictable(is_second, second.word, first.word);
            return Some((Seen { bucket, word }, new));
        };
        let seen = if slots.holds::<PLAIN>(first.word, sought) { first } else { second };
        let slot = slots.slot(pair.fingerprint.get(), value);
        Some((seen, slots.replaced::<PLAIN>(seen.word, sought, slot)?))
    }

    #[inline]
    fn knowledge(_space: &FixedSpace, _word: u64, _slot: u32) -> u32 {
        0
    }

    #[inline]
    fn slot_of(space: &FixedSpace, pair: &Pair, _is_second: bool, _word: u64) -> u32 {
        space.slots.slot(pair.fingerprint.get(), pair.value)
    }

    #[inline]
    fn is_emptier(space: &FixedSpace, word: u64, other: u64) -> bool {
        space.slots.is_emptier(word, other)
    }

    #[inline]
    fn with(space: &FixedSpace, word: u64, slot: u32) -> Option<u64> {
        space.slots.with::<PLAIN>(word, slot)
    }

    #[inline]
    fn without_all(space: &FixedSpace, word: u64, marks: u64) -> u64 {
        space.slots.lanes().without(word, marks)
    }

    #[inline]
    fn with_changed(space: &FixedSpace, word: u64, slot: u32, new: Option<u32>) -> Option<u64> {
        let sought = space.slots.sought(slot);
        match new {
            None => space.slots.without::<PLAIN>(word, sought),
            Some(new) => space.slots.replaced::<PLAIN>(word, sought, new),
        }
    }

    #[inline]
    fn source(space: &FixedSpace, step: Move) -> Option<(Seen, u32)> {
        // Acquire: pairs with the Release of `try_add`. The copy passes on what its original
        // published.
        let word = space.bucket(step.from).load_to_change(Acquire);
        let sought = space.slots.sought(step.slot);
        let is_there = space.slots.holds::<PLAIN>(word, sought);
        is_there.then_some((Seen { bucket: step.from, word }, step.slot))
    }

    #[inline]
    fn destination(space: &FixedSpace, step: Move) -> Option<(Seen, u32)> {
        // Relaxed: the compare-and-swap validates what was read, and nothing else depends on it.
        let word = space.bucket(step.to).load_to_change(Relaxed);
        Some((Seen { bucket: step.to, word }, step.slot))
    }

    #[inline]
    fn incoming_slot(_space: &FixedSpace, _step: Move, incoming: u32) -> u32 {
        incoming
    }

    fn clear_elsewhere(_table: &FixedTable, _guard: &StripeGuard, _step: Move) -> bool {
        unreachable!("no bucket is split")
    }

    fn make_room(
        table: &FixedTable,
        pair: &Pair,
        attempts: &mut Attempts,
    ) -> Result<(), InsertError> {
        table.make_room(*pair, &attempts.relocations)
    }

    #[inline]
    fn insert_by_making_room(table: &FixedTable, pair: &Pair) -> Result<(), InsertError> {
        table.insert_by_relocating(*pair)
    }

    #[inline]
    fn count_added(_table: &FixedTable) {}

    #[inline]
    fn sweep_bucket(table: &FixedTable, now: u64, bucket: u32, _end: u64) {
        table.sweep_one::<Self>(now, bucket);
    }
}

#[cfg(all(test, guira_vectors))]
mod tests {
    use super::{Addressing, MAX_BUCKETS};
    use crate::{bucket::Slots, table::finalize};

    #[test]
    fn vectors_locate_as_words_do() {
        let slots = [
            Slots::plain(8, 8, 0),
            Slots::plain(4, 16, 4),
            Slots::plain(2, 32, 0),
            Slots::semi_sorted(6, 12),
            Slots::semi_sorted(3, 22),
        ];
        for slots in slots {
            for buckets in [1, 2, 3, 1_000, 4_096, 12_289, 1 << 31, (1 << 31) + 1, MAX_BUCKETS] {
                let addressing = Addressing::new(buckets, &slots);
                let some = (0..2_000).map(finalize);
                for mixed in some.chain([0, 1, u64::MAX, u32::MAX.into(), !0 << 32]) {
                    let located = addressing.locate(mixed);
                    assert_eq!(located, addressing.locate_by_words(mixed), "{mixed} in {buckets}");
                }
            }
        }
    }
}
