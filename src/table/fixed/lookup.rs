//! The fastest lookups: one function for each layout, and how both words are loaded and compared at
//! once.

use super::{Bare, FixedTable, Pair, Payload, Stripe};
use crate::{
    bucket::{BucketLayout, Fingerprint, fingerprints},
    sync::{Acquire, Word},
    table::Kernel,
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
    /// Returns the single lookup of tables with this layout and number of buckets, by the
    /// instructions of a kernel, which must be available.
    pub(crate) fn single_lookup<L: BucketLayout>(&self, kernel: Kernel) -> SingleLookup<P> {
        let probe = self.addressing.payload().probe::<L>();
        #[cfg(guira_vectors)]
        if kernel != Kernel::Scalar
            && !self.is_cached()
            && u32::try_from(self.addressing.buckets()).is_ok()
        {
            // In memory, the number of lookups that overlap is limited by the integer registers
            // that they need. In a cache, the way from vector registers to addresses takes longer
            // than it saves.
            return SingleLookup { function: crate::table::kernels::look_up_one::<L, P>, probe };
        }
        let _ = kernel;
        SingleLookup { function: Self::look_up_one::<L>, probe }
    }

    fn look_up_one<L: BucketLayout>(&self, probe: &P::Probe, mixed: u64) -> P::Answer {
        let fingerprints = (L::MIN_FINGERPRINT, P::fingerprints::<L>(probe).into());
        let (key, buckets) = self.addressing.key_and_buckets(fingerprints, mixed);
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
    fn fingerprints<L: BucketLayout>(_probe: &()) -> u32 {
        fingerprints::<L>(0)
    }

    #[expect(clippy::inline_always, reason = "so that it gets the features of its caller")]
    #[inline(always)]
    unsafe fn look_up<L: BucketLayout>(
        table: &FixedTable,
        _probe: &(),
        key: u32,
        buckets: [u32; 2],
    ) -> bool {
        let pair = Pair { fingerprint: Fingerprint::new(key), buckets };
        // SAFETY: the caller promises it.
        unsafe { table.contains_unchecked::<L>(pair) }
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
        self.check(pair.buckets);
        // SAFETY: checked.
        unsafe { self.contains_unchecked::<L>(pair) }
    }

    /// As [`contains`](Self::contains).
    ///
    /// # Safety
    /// As for [`read_in`](Self::read_in).
    #[inline]
    pub(in crate::table) unsafe fn contains_unchecked<L: BucketLayout>(&self, pair: Pair) -> bool {
        // SAFETY: the caller promises it.
        unsafe {
            // A semi-sorted word whose high part matches is probed fully, in general registers.
            if L::BITS_BELOW == 0 {
                self.contains_as::<L, Fastest>(pair)
            } else {
                self.contains_as::<L, [u64; 2]>(pair)
            }
        }
    }

    /// [`contains`](Self::contains), given the form in which the words are compared.
    ///
    /// # Safety
    /// As for [`read_in`](Self::read_in).
    #[inline]
    unsafe fn contains_as<L: BucketLayout, W: BothWords>(&self, pair: Pair) -> bool {
        let Pair { fingerprint, buckets: [first, second] } = pair;
        let stripe = self.stripe_of(fingerprint);
        // SAFETY: the caller promises it.
        let (words, unchanged) = unsafe { self.read_in::<W>(stripe, [first, second]) };
        let value_bits = self.addressing.payload().value_bits();
        let (found, certain) = words.quick_probe::<L>(fingerprint, value_bits);
        // In plain layouts this branch is almost always taken, for hits and misses alike. In
        // semi-sorted ones it is taken for most misses.
        if (found | unchanged) & certain {
            return found;
        }
        let [first_word, second_word] = words.values();
        self.full_probe::<L>(fingerprint, first, second, first_word, second_word)
    }

    /// The rest of `contains`: probes the same words fully, and retries if there is no match.
    ///
    /// Each argument is passed in a register. If the pair or the words were passed as a whole, they
    /// would be written to memory before every quick probe. No register is left for `unchanged`, so
    /// a quick probe that left the answer open costs one more round if the full probe finds no
    /// match.
    #[cold]
    #[inline(never)]
    fn full_probe<L: BucketLayout>(
        &self,
        fingerprint: Fingerprint,
        first: u32,
        second: u32,
        first_word: u64,
        second_word: u64,
    ) -> bool {
        let pattern = L::pattern(fingerprint);
        // A match is a hit, whatever the versions are.
        let words = [first_word, second_word].without(self.values::<L>());
        if L::either_contains(words, pattern) {
            return true;
        }
        loop {
            self.counters.lookup_retried();
            let (words, unchanged) =
                self.read_as::<[u64; 2]>(Pair { fingerprint, buckets: [first, second] });
            let found = L::either_contains(words.without(self.values::<L>()), pattern);
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

    /// Reads a pair's words, and returns whether the version was unchanged meanwhile. If so, a
    /// fingerprint that is not in these words is absent.
    #[inline]
    pub(super) fn read_as<W: BothWords>(&self, pair: Pair) -> (W, bool) {
        self.check(pair.buckets);
        let stripe = self.stripe_of(pair.fingerprint);
        // SAFETY: checked.
        unsafe { self.read_in(stripe, pair.buckets) }
    }

    /// As [`read_as`](Self::read_as), given the stripe.
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

    /// Returns the words without these bits.
    fn without(self, bits: u64) -> Self;

    /// Compares them with a fingerprint, with any value: see [`BucketLayout::quick_probe`].
    fn quick_probe<L: BucketLayout>(
        self,
        fingerprint: Fingerprint,
        value_bits: u32,
    ) -> (bool, bool);

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
    fn without(self, bits: u64) -> Self {
        self.map(|word| word & !bits)
    }

    #[inline]
    fn quick_probe<L: BucketLayout>(
        self,
        fingerprint: Fingerprint,
        value_bits: u32,
    ) -> (bool, bool) {
        let words = self.without(L::LANES.broadcast((1 << value_bits) - 1));
        L::quick_probe(words, L::pattern(fingerprint))
    }

    #[inline]
    fn values(self) -> [u64; 2] {
        self
    }
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
        bucket::{BucketLayout, Fingerprint},
        sync::{Word, vector::load_both},
    };

    /// Compares words with a fingerprint, with any value. Returns a bit for each byte. With 8 slots
    /// of 8 bits or 4 of 16, the bits of all bytes of each matching slot are set, and no others.
    /// With other slots, a match sets the bit of the byte that has the slot's highest bit, and only
    /// the lowest bit that is set for a word is sure to be right.
    #[inline]
    fn matches<L: BucketLayout>(words: __m128i, fingerprint: Fingerprint, value_bits: u32) -> u32 {
        let lane = fingerprint.get() >> L::BITS_BELOW;
        // SAFETY: the target has SSE2.
        let matches = unsafe {
            match L::LANES.width() {
                (8, 8) => _mm_movemask_epi8(_mm_cmpeq_epi8(words, _mm_set1_epi8(lane as i8))),
                (4, 16) => {
                    let x = _mm_xor_si128(words, _mm_set1_epi16(lane as i16));
                    let keys = _mm_srl_epi16(x, _mm_cvtsi32_si128(value_bits as i32));
                    _mm_movemask_epi8(_mm_cmpeq_epi16(keys, _mm_setzero_si128()))
                }
                // The short zero-lane test on both words. It subtracts at the bit above each value,
                // so a lane borrows if all its bits above the value are zero.
                _ => {
                    let splat = |word: u64| _mm_set1_epi64x(word as i64);
                    let x = _mm_xor_si128(words, splat(L::LANES.broadcast(lane)));
                    let lower = _mm_sub_epi64(x, splat(L::LANES.ones() << value_bits));
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
        fn without(self, bits: u64) -> Self {
            // SAFETY: the target has SSE2.
            unsafe { _mm_andnot_si128(_mm_set1_epi64x(bits as i64), self) }
        }

        #[inline]
        fn quick_probe<L: BucketLayout>(
            self,
            fingerprint: Fingerprint,
            value_bits: u32,
        ) -> (bool, bool) {
            let found = matches::<L>(self, fingerprint, value_bits) != 0;
            (found, L::BITS_BELOW == 0 || !found)
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
