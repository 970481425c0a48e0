//! Four items per vector, by AVX2.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "a vector exists only where the processor has the instructions: see `Vector`"
)]

#[allow(clippy::wildcard_imports, reason = "two dozen intrinsics, each used once")]
use core::arch::x86_64::*;

use super::{
    Answers, Hashes, MAX_BURST, Part, WINDOW, fixed,
    vector::{Factor, InAvx2, Vector},
    ways::{self, Lookup},
};
use crate::{
    bucket::nibbles,
    sync::{Word, vector::gather4},
};

/// A vector of AVX2.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Four(__m256i);

/// All bits of the halves in which a test is false.
#[derive(Clone, Copy)]
pub(super) struct NotBelow(Four);

const LANES: usize = Four::LANES;

/// See [`ways::contains_burst`].
#[target_feature(enable = "avx2")]
pub(super) fn contains_burst<'a, V: InAvx2, T: Lookup<'a, V>>(
    view: &'a T::View,
    hashes: &[u64],
    values: &mut [u32],
) -> u64 {
    let table = unsafe { T::new(view) };
    ways::contains_burst::<V, T>(&table, hashes, values)
}

/// See [`ways::contains`].
#[target_feature(enable = "avx2")]
pub(super) fn contains<'a, V: InAvx2, T: Lookup<'a, V>>(
    view: &'a T::View,
    hashes: &mut Hashes<'_>,
    position: usize,
    answers: &mut Answers<'_>,
) -> usize {
    let table = unsafe { T::new(view) };
    ways::contains::<V, T>(&table, hashes, position, answers)
}

/// See [`ways::contains_by_copies`].
#[target_feature(enable = "avx2")]
pub(super) fn contains_by_copies<'a, V: InAvx2, T: Lookup<'a, V>>(
    view: &'a T::View,
    hashes: &mut Hashes<'_>,
    answers: &mut Answers<'_>,
) -> usize {
    let table = unsafe { T::new(view) };
    ways::contains_by_copies::<V, T>(&table, hashes, answers, |hashes, position, answers| {
        contains::<V, T>(view, hashes, position, answers)
    })
}

/// See [`fixed::full_probe`].
#[inline(never)]
#[target_feature(enable = "avx2")]
fn full_probe(part: &Part<'_>, fingerprints: Four, words: [Four; 2]) -> u32 {
    fixed::full_probe(part, fingerprints, words)
}

impl Four {
    #[inline(always)]
    fn zero() -> Self {
        Self(unsafe { _mm256_setzero_si256() })
    }

    /// A count of bits for the shifts that take it from a register. The compiler makes an immediate
    /// of a constant.
    #[inline(always)]
    fn bits(bits: u32) -> __m128i {
        unsafe { _mm_cvtsi32_si128(bits as i32) }
    }
}

impl InAvx2 for Four {}

impl Vector for Four {
    const LANES: usize = 4;
    type Array = [u64; LANES];
    type Window<T: Copy> = [T; WINDOW / LANES];
    type Burst<T: Copy> = [T; MAX_BURST / LANES];
    type Test = NotBelow;

    #[inline(always)]
    fn window<T: Copy>(value: T) -> [T; WINDOW / LANES] {
        [value; WINDOW / LANES]
    }

    #[inline(always)]
    fn burst<T: Copy>(value: T) -> [T; MAX_BURST / LANES] {
        [value; MAX_BURST / LANES]
    }

    #[inline(always)]
    unsafe fn splat(value: u64) -> Self {
        Self(unsafe { _mm256_set1_epi64x(value as i64) })
    }

    #[inline(always)]
    unsafe fn load(hashes: &[u64]) -> Self {
        if let Some(hashes) = hashes.first_chunk::<LANES>() {
            // SAFETY: reads the chunk.
            return Self(unsafe { _mm256_loadu_si256(hashes.as_ptr().cast()) });
        }
        // SAFETY: reads the lanes that the slice has.
        Self(unsafe {
            let lanes = _mm256_cmpgt_epi64(
                Self::splat(hashes.len() as u64).0,
                _mm256_setr_epi64x(0, 1, 2, 3),
            );
            _mm256_maskload_epi64(hashes.as_ptr().cast(), lanes)
        })
    }

    #[inline(always)]
    unsafe fn gather(self, first: *const Word) -> Self {
        // SAFETY: the caller promises it.
        Self(unsafe { gather4(first, self.0) })
    }

    #[inline(always)]
    fn store(self) -> [u64; LANES] {
        let mut values = [0; LANES];
        // SAFETY: writes the whole array.
        unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), self.0) };
        values
    }

    #[inline(always)]
    fn store_low(self, values: &mut [u32]) {
        let values = &mut values[..LANES];
        // SAFETY: writes the whole slice.
        unsafe {
            let low =
                _mm256_permutevar8x32_epi32(self.0, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
            _mm_storeu_si128(values.as_mut_ptr().cast(), _mm256_castsi256_si128(low));
        }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(unsafe { _mm256_and_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Self(unsafe { _mm256_andnot_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(unsafe { _mm256_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        Self(unsafe { _mm256_sub_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn multiply(self, by: Factor<Self>) -> Self {
        let crossed =
            self.shift_right::<32>().multiply_low(by.value).add(self.multiply_low(by.high));
        self.multiply_low(by.value).add(crossed.shift_left::<32>())
    }

    #[inline(always)]
    fn multiply_low(self, other: Self) -> Self {
        Self(unsafe { _mm256_mul_epu32(self.0, other.0) })
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self) -> Self {
        self.shift_right_by(N)
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self) -> Self {
        self.shift_left_by(N)
    }

    #[inline(always)]
    fn shift_right_low<const N: u32>(self) -> Self {
        Self(unsafe { _mm256_srl_epi32(self.0, Self::bits(N)) })
    }

    #[inline(always)]
    fn shift_right_by(self, bits: u32) -> Self {
        Self(unsafe { _mm256_srl_epi64(self.0, Self::bits(bits)) })
    }

    #[inline(always)]
    fn shift_left_by(self, bits: u32) -> Self {
        Self(unsafe { _mm256_sll_epi64(self.0, Self::bits(bits)) })
    }

    #[inline(always)]
    fn nonzero(self) -> u32 {
        self.different(Self::zero())
    }

    #[inline(always)]
    fn different(self, other: Self) -> u32 {
        let equal = unsafe { _mm256_movemask_pd(_mm256_castsi256_pd(equal(self.0, other.0))) };
        !equal as u32 & Self::ALL
    }

    #[inline(always)]
    fn select(self, nonzero: Self, zero: Self) -> Self {
        Self(unsafe { _mm256_blendv_epi8(nonzero.0, zero.0, equal(self.0, Self::zero().0)) })
    }

    #[inline(always)]
    fn shift_right_each(self, bits: Self) -> Self {
        let bits = unsafe { _mm256_and_si256(bits.0, _mm256_set1_epi64x(63)) };
        Self(unsafe { _mm256_srlv_epi64(self.0, bits) })
    }

    #[inline(always)]
    fn upper_halves(self) -> Self {
        Self(unsafe { _mm256_shuffle_epi32::<0xf5>(self.0) })
    }

    #[inline(always)]
    fn lower_halves(self) -> Self {
        Self(unsafe { _mm256_shuffle_epi32::<0xa0>(self.0) })
    }

    #[inline(always)]
    fn beside(self, other: Self) -> Self {
        Self(unsafe { _mm256_blend_epi32::<0xaa>(self.shift_right::<32>().0, other.0) })
    }

    #[inline(always)]
    fn add_halves(self, other: Self) -> Self {
        Self(unsafe { _mm256_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn subtract_halves(self, other: Self) -> Self {
        Self(unsafe { _mm256_sub_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn multiply_halves(self, other: Self) -> Self {
        Self(unsafe { _mm256_mullo_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn min_halves(self, other: Self) -> Self {
        Self(unsafe { _mm256_min_epu32(self.0, other.0) })
    }

    #[inline(always)]
    fn shift_right_halves(self, bits: u32) -> Self {
        Self(unsafe { _mm256_srl_epi32(self.0, Self::bits(bits)) })
    }

    #[inline(always)]
    fn shift_each_half(self, right: Self, left: u32) -> Self {
        Self(unsafe {
            // Otherwise the compiler would compare the numbers with 32.
            let bits = _mm256_and_si256(right.0, _mm256_set1_epi32(31));
            _mm256_sll_epi32(_mm256_srlv_epi32(self.0, bits), Self::bits(left))
        })
    }

    #[inline(always)]
    fn below(self, other: Self) -> NotBelow {
        // There is no comparison of unsigned numbers.
        NotBelow(Self(unsafe { _mm256_cmpeq_epi32(_mm256_max_epu32(self.0, other.0), self.0) }))
    }

    #[inline(always)]
    fn choose(NotBelow(test): NotBelow, yes: Self, no: Self) -> Self {
        Self(unsafe { _mm256_blendv_epi8(yes.0, no.0, test.0) })
    }

    #[inline(always)]
    fn add_if_set(self, NotBelow(test): NotBelow, bits: Self, bit: Self, other: Self) -> Self {
        let is_set = Self(unsafe { _mm256_cmpeq_epi32(bits.and(bit).0, bit.0) });
        self.add_halves(test.and_not(is_set).and(other))
    }

    #[inline(always)]
    fn reflect(self, t: Self, n: Self) -> Self {
        let d = t.subtract(self);
        let wraps = Self(unsafe { _mm256_cmpgt_epi64(Self::zero().0, d.0) });
        d.add(n.and(wraps))
    }

    #[inline(always)]
    fn shift_to(self, mark: Self, part: &Part<'_>) -> Self {
        let bits = part.lanes.bits();
        // The marked lane, alone.
        let one = mark.shift_right_by(bits - 1);
        let lane = self.and(mark.add(mark).subtract(one));
        let folded = lane.or(lane.shift_right_by(4 * bits));
        let folded = folded.or(folded.shift_right_by(2 * bits));
        folded.or(folded.shift_right_by(bits))
    }

    #[inline(always)]
    unsafe fn gather_nibbles(self) -> Self {
        // SAFETY: the caller promises that the table has an entry for each code.
        Self(unsafe {
            let nibbles = _mm256_i64gather_epi32::<4>(nibbles::SEQUENCES.as_ptr().cast(), self.0);
            _mm256_cvtepu32_epi64(nibbles)
        })
    }

    #[inline(always)]
    fn full_probe(self, part: &Part<'_>, words: [Self; 2]) -> u32 {
        unsafe { full_probe(part, self, words) }
    }
}

/// Sets all bits of the lanes that are equal.
#[inline(always)]
fn equal(x: __m256i, y: __m256i) -> __m256i {
    unsafe { _mm256_cmpeq_epi64(x, y) }
}
