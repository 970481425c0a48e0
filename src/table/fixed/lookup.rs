//! The fastest lookups: one function for each layout, and how both words are loaded and compared at
//! once.

use super::{Bare, FixedTable, Pair, Payload, Stripe, addressing::key_shift};
use crate::{
    bucket::{BucketLayout, Fingerprint},
    sync::{Acquire, Word},
};

/// Looks up one mixed hash. A filter keeps one for its layout.
///
/// A call of its function is cheaper than a jump by layout to code that is inline in every caller.
/// A loop over lookups has fewer instructions, so the processor overlaps more of them. In memory
/// this saves a tenth to a third of the time, and in a second-level cache it costs nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SingleLookup<P: Payload> {
    function: Function<P>,
    /// What lookups need of the bits of a value or a stamp, computed once. Nothing in sets.
    probe: P::Probe,
}

/// Looks up one mixed hash in a table of one layout and number of buckets.
type Function<P> =
    unsafe fn(&FixedTable<P>, &<P as Payload>::Probe, mixed: u64) -> <P as Payload>::Answer;

impl<P: Payload> SingleLookup<P> {
    /// Looks up one mixed hash.
    ///
    /// # Safety
    /// This was made for a table with the same layout and number of buckets.
    #[inline]
    pub(crate) unsafe fn answer(&self, table: &FixedTable<P>, mixed: u64) -> P::Answer {
        // SAFETY: the caller promises it, and the function was made with this probe.
        unsafe { (self.function)(table, &self.probe, mixed) }
    }
}

impl<P: Payload> FixedTable<P> {
    /// Returns the single lookup of tables with this layout and number of buckets.
    pub(crate) fn single_lookup<L: BucketLayout>(&self) -> SingleLookup<P> {
        let probe = self.addressing.payload().probe::<L>();
        SingleLookup { function: Self::look_up_one::<L>, probe }
    }

    fn look_up_one<L: BucketLayout>(&self, probe: &P::Probe, mixed: u64) -> P::Answer {
        let (key, buckets) = self.addressing.key_and_buckets::<L>(P::key_shift::<L>(probe), mixed);
        // SAFETY: this table's addressing has returned them.
        unsafe { P::look_up::<L>(self, probe, key, buckets) }
    }
}

impl Payload for Bare {
    type Clock = ();
    type Probe = ();
    type Answer = bool;

    fn probe<L: BucketLayout>(&self) {}

    #[inline]
    fn key_shift<L: BucketLayout>(_probe: &()) -> u32 {
        key_shift::<L>(0)
    }

    #[expect(clippy::inline_always, reason = "so that it gets the features of its caller")]
    #[inline(always)]
    unsafe fn look_up<L: BucketLayout>(
        table: &FixedTable,
        _probe: &(),
        key: u32,
        buckets: [u32; 2],
    ) -> bool {
        // SAFETY: the caller promises it.
        unsafe { table.contains_key::<L>(key, buckets) }
    }

    fn clock(&self, _stripes: usize, _grows: Option<u64>) -> Option<()> {
        Some(())
    }

    #[inline]
    fn value_bits(&self) -> u32 {
        0
    }
}

impl<P: Payload> FixedTable<P> {
    /// Returns whether the pair's fingerprint is in one of its buckets, with any value. The value
    /// of the pair must be zero.
    ///
    /// # Panics
    /// If there is no such bucket. So do the other lookups of pairs.
    #[inline]
    #[must_use]
    pub fn contains<L: BucketLayout>(&self, pair: Pair) -> bool {
        let key = pair.fingerprint.get() >> self.addressing.payload().value_bits();
        self.check(pair.buckets);
        // SAFETY: checked.
        unsafe { self.contains_key::<L>(key, pair.buckets) }
    }

    /// As [`contains`](Self::contains), for a fingerprint without the bits of a value.
    ///
    /// # Safety
    /// As for [`read_in`](Self::read_in).
    #[inline]
    unsafe fn contains_key<L: BucketLayout>(&self, key: u32, buckets: [u32; 2]) -> bool {
        let [first, second] = buckets;
        let stripe = self.stripes.of(Fingerprint::new(key));
        // SAFETY: the caller promises it.
        let (words, unchanged) = unsafe { self.read_in::<Fastest>(stripe, buckets) };
        let found = words.hold::<L>(key, self.addressing.payload().value_bits());
        // This branch is almost always taken, for hits and misses alike.
        if found | unchanged {
            return found;
        }
        self.contains_again::<L>(key, first, second)
    }

    /// The rest of `contains`, after a round that missed while the version changed: more such
    /// rounds.
    ///
    /// Each argument is passed in a register. If the pair was passed as a whole, it would be
    /// written to memory before every first round.
    #[cold]
    #[inline(never)]
    fn contains_again<L: BucketLayout>(&self, key: u32, first: u32, second: u32) -> bool {
        let stripe = self.stripes.of(Fingerprint::new(key));
        self.check([first, second]);
        loop {
            self.counters.lookup_retried();
            // SAFETY: checked.
            let (words, unchanged) = unsafe { self.read_in::<Fastest>(stripe, [first, second]) };
            let found = words.hold::<L>(key, self.addressing.payload().value_bits());
            if found | unchanged {
                return found;
            }
        }
    }

    /// Panics if there is no such bucket.
    #[inline]
    pub(super) fn check(&self, [first, second]: [u32; 2]) {
        assert!((first.max(second) as usize) < self.buckets.as_slice().len(), "no such bucket");
    }

    /// Reads both words of an item with this stripe, and returns whether the version was unchanged
    /// meanwhile. If so, a fingerprint that is not in these words is absent.
    ///
    /// # Safety
    /// Both numbers are those of buckets of this table, as [`Addressing::key_and_buckets`] of its
    /// addressing returns them.
    ///
    /// [`Addressing::key_and_buckets`]: super::Addressing::key_and_buckets
    #[inline]
    pub(super) unsafe fn read_in<W: BothWords>(
        &self,
        stripe: &Stripe,
        buckets: [u32; 2],
    ) -> (W, bool) {
        let version = stripe.version();
        // SAFETY: the caller promises it.
        let words = unsafe { W::load(self.buckets.as_slice(), buckets) };
        (words, stripe.validate(version))
    }
}

/// The form of both words in which lookups are fastest.
#[cfg(not(guira_vectors))]
pub(crate) type Fastest = [u64; 2];
#[cfg(guira_vectors)]
pub(crate) type Fastest = core::arch::x86_64::__m128i;

/// Both words of a pair, as they were read.
pub(crate) trait BothWords: Copy {
    /// Reads both words of these buckets. A fingerprint found in them is present. One that is not
    /// found may have moved between the two loads, unless the version is validated or the stripe is
    /// held.
    ///
    /// # Safety
    /// Both numbers are less than the number of words.
    unsafe fn load(words: &[Word], buckets: [u32; 2]) -> Self;

    /// Returns whether one of them may hold a fingerprint, given without the bits of a value. In
    /// plain layouts it does so. In semi-sorted ones, a high part is equal.
    fn may_hold<L: BucketLayout>(self, key: u32, value_bits: u32) -> bool;

    /// Returns whether one of them holds a fingerprint, given without the bits of a value.
    #[inline]
    fn hold<L: BucketLayout>(self, key: u32, value_bits: u32) -> bool {
        let may_hold = self.may_hold::<L>(key, value_bits);
        if L::BITS_BELOW == 0 || !may_hold {
            return may_hold;
        }
        let [first, second] = self.values();
        hold_semi_sorted::<L>(key, first, second)
    }

    /// Returns the words.
    fn values(self) -> [u64; 2];
}

impl BothWords for [u64; 2] {
    #[inline]
    unsafe fn load(words: &[Word], buckets: [u32; 2]) -> Self {
        // SAFETY: the caller promises it.
        let word = |bucket: u32| unsafe { words.get_unchecked(bucket as usize) };
        // Acquire, twice: pairs with the Release of `try_add` (and of `copy` and `change_slot`,
        // which also add), so that a hit happens after the insert that it found; and with that of
        // `change_slot` and `clear`, so that a lookup that sees a cleared slot also sees the
        // version bumped.
        buckets.map(|bucket| word(bucket).load(Acquire))
    }

    #[inline]
    fn may_hold<L: BucketLayout>(self, key: u32, value_bits: u32) -> bool {
        let ones = L::LANES.ones() << value_bits;
        let pattern = u64::from(key >> L::BITS_BELOW) * ones;
        // The short zero-lane test. It subtracts at the bit above each value, so a lane borrows if
        // all its bits above the value are zero.
        let zeros = self.map(|word| (word ^ pattern).wrapping_sub(ones) & !(word ^ pattern));
        (zeros[0] | zeros[1]) & L::LANES.highs() != 0
    }

    #[inline]
    fn values(self) -> [u64; 2] {
        self
    }
}

/// Whether one of two words holds a fingerprint whose high part is in one of them. Out of line,
/// because it needs more registers than lookups without a match should have to save.
#[inline(never)]
fn hold_semi_sorted<L: BucketLayout>(key: u32, first: u64, second: u64) -> bool {
    L::either_contains([first, second], L::pattern(Fingerprint::new(key)))
}

/// Both words in one register of SSE2. A comparison in general registers
/// takes twice as many instructions. Until the words have arrived from memory, these instructions
/// wait in the scheduler and leave less room for the next lookups.
#[cfg(guira_vectors)]
mod sse2 {
    use core::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_cmpeq_epi16,
        _mm_cvtsi32_si128, _mm_cvtsi128_si64, _mm_movemask_epi8, _mm_set1_epi8, _mm_set1_epi16,
        _mm_set1_epi64x, _mm_setzero_si128, _mm_srl_epi16, _mm_sub_epi64, _mm_unpackhi_epi64,
        _mm_xor_si128,
    };

    use super::BothWords;
    use crate::{
        bucket::BucketLayout,
        sync::{Word, vector::load_both},
    };

    /// Compares words with a fingerprint, given without the bits of a value. Returns bits of the
    /// bytes of matching slots, and perhaps of others above the lowest match of a word.
    #[inline]
    fn matches<L: BucketLayout>(words: __m128i, key: u32, value_bits: u32) -> u32 {
        let lane = key >> L::BITS_BELOW;
        // SAFETY: the target has SSE2.
        let matches = unsafe {
            match L::LANES.width() {
                (8, 8) => _mm_movemask_epi8(_mm_cmpeq_epi8(words, _mm_set1_epi8(lane as i8))),
                (4, 16) => {
                    let x = _mm_xor_si128(words, _mm_set1_epi16((lane << value_bits) as i16));
                    let keys = _mm_srl_epi16(x, _mm_cvtsi32_si128(value_bits as i32));
                    _mm_movemask_epi8(_mm_cmpeq_epi16(keys, _mm_setzero_si128()))
                }
                // The short zero-lane test on both words, as in `[u64; 2]`.
                _ => {
                    let splat = |word: u64| _mm_set1_epi64x(word as i64);
                    let ones = L::LANES.ones() << value_bits;
                    let x = _mm_xor_si128(words, splat(u64::from(lane) * ones));
                    let lower = _mm_sub_epi64(x, splat(ones));
                    let zeros = _mm_and_si128(_mm_andnot_si128(x, lower), splat(L::LANES.highs()));
                    0xffff ^ _mm_movemask_epi8(_mm_cmpeq_epi8(zeros, _mm_setzero_si128()))
                }
            }
        };
        matches as u32
    }

    impl BothWords for __m128i {
        #[inline]
        unsafe fn load(words: &[Word], buckets: [u32; 2]) -> Self {
            // An Acquire load of each word, which pairs as those of `[u64; 2]` do.
            // SAFETY: the caller promises it.
            unsafe { load_both(words.as_ptr(), buckets.map(u64::from)) }
        }

        #[inline]
        fn may_hold<L: BucketLayout>(self, key: u32, value_bits: u32) -> bool {
            matches::<L>(self, key, value_bits) != 0
        }

        #[inline]
        fn values(self) -> [u64; 2] {
            // SAFETY: the target has SSE2.
            unsafe {
                let second = _mm_unpackhi_epi64(self, self);
                [_mm_cvtsi128_si64(self) as u64, _mm_cvtsi128_si64(second) as u64]
            }
        }
    }
}
