//! Four items per vector, by AVX2.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "a vector exists only where the processor has the instructions: see `Vector`"
)]

#[allow(clippy::wildcard_imports, reason = "two dozen intrinsics, each used once")]
use core::arch::x86_64::*;

use super::{
    mask,
    vector::{InAvx2, Vector, by_intrinsics, count},
    ways::compile_ways,
};
use crate::{
    bucket::{Lanes, nibbles},
    sync::{Word, vector::gather4},
};

/// A vector of AVX2.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Four(__m256i);

/// All bits of the halves in which a test is false.
#[derive(Clone, Copy)]
pub(super) struct NotBelow(Four);

compile_ways!("avx2", InAvx2);

impl InAvx2 for Four {}

impl Vector for Four {
    const LANES: usize = 4;
    const MULTIPLIES: bool = false;
    type Test = NotBelow;

    by_intrinsics! {
        xor(other) _mm256_xor_si256;
        and(other) _mm256_and_si256;
        and_not(other) _mm256_andnot_si256;
        or(other) _mm256_or_si256;
        add(other) _mm256_add_epi64;
        subtract(other) _mm256_sub_epi64;
        multiply_low(other) _mm256_mul_epu32;
        upper_halves() _mm256_shuffle_epi32::<0xf5>;
        lower_halves() _mm256_shuffle_epi32::<0xa0>;
        add_halves(other) _mm256_add_epi32;
        subtract_halves(other) _mm256_sub_epi32;
        multiply_halves(other) _mm256_mullo_epi32;
        min_halves(other) _mm256_min_epu32;
    }

    #[inline(always)]
    unsafe fn splat(value: u64) -> Self {
        Self(unsafe { _mm256_set1_epi64x(value as i64) })
    }

    #[inline(always)]
    unsafe fn load(hashes: &[u64]) -> Self {
        if let Some(hashes) = hashes.first_chunk::<{ Self::LANES }>() {
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
    fn store_low(self, values: &mut [u32]) {
        let values = &mut values[..Self::LANES];
        // SAFETY: writes the whole slice.
        unsafe {
            let low =
                _mm256_permutevar8x32_epi32(self.0, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
            _mm_storeu_si128(values.as_mut_ptr().cast(), _mm256_castsi256_si128(low));
        }
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        let crossed = self.shift_right(32).multiply_low(other);
        let crossed = crossed.add(self.multiply_low(other.shift_right(32)));
        self.multiply_low(other).add(crossed.shift_left(32))
    }

    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        Self(unsafe { _mm256_srl_epi64(self.0, count(bits)) })
    }

    #[inline(always)]
    fn shift_left(self, bits: u32) -> Self {
        Self(unsafe { _mm256_sll_epi64(self.0, count(bits)) })
    }

    #[inline(always)]
    fn different(self, other: Self) -> u32 {
        let equal = unsafe { _mm256_movemask_pd(_mm256_castsi256_pd(equal(self.0, other.0))) };
        !equal as u32 & mask(Self::LANES)
    }

    #[inline(always)]
    fn select(self, nonzero: Self, zero: Self) -> Self {
        Self(unsafe { _mm256_blendv_epi8(nonzero.0, zero.0, equal(self.0, self.all(0).0)) })
    }

    #[inline(always)]
    fn shift_right_each(self, bits: Self) -> Self {
        // Otherwise the compiler would compare the numbers with 64.
        Self(unsafe { _mm256_srlv_epi64(self.0, bits.and(bits.all(63)).0) })
    }

    #[inline(always)]
    fn beside(self, other: Self) -> Self {
        Self(unsafe { _mm256_blend_epi32::<0xaa>(self.shift_right(32).0, other.0) })
    }

    #[inline(always)]
    fn shift_right_halves(self, bits: u32) -> Self {
        Self(unsafe { _mm256_srl_epi32(self.0, count(bits)) })
    }

    #[inline(always)]
    fn shift_each_half(self, right: Self, left: u32) -> Self {
        Self(unsafe {
            // Otherwise the compiler would compare the numbers with 32.
            let bits = _mm256_and_si256(right.0, _mm256_set1_epi32(31));
            _mm256_sll_epi32(_mm256_srlv_epi32(self.0, bits), count(left))
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
    fn shift_to(self, mark: Self, lanes: &Lanes) -> Self {
        let bits = lanes.bits();
        // The marked lane, alone.
        let one = mark.shift_right(bits - 1);
        let lane = self.and(mark.add(mark).subtract(one));
        let folded = lane.or(lane.shift_right(4 * bits));
        let folded = folded.or(folded.shift_right(2 * bits));
        folded.or(folded.shift_right(bits))
    }

    #[inline(always)]
    unsafe fn gather_nibbles(self) -> Self {
        // SAFETY: the caller promises that the table has an entry for each code.
        Self(unsafe {
            let nibbles = _mm256_i64gather_epi32::<4>(nibbles::SEQUENCES.as_ptr().cast(), self.0);
            _mm256_cvtepu32_epi64(nibbles)
        })
    }
}

/// Sets all bits of the lanes that are equal.
#[inline(always)]
fn equal(x: __m256i, y: __m256i) -> __m256i {
    unsafe { _mm256_cmpeq_epi64(x, y) }
}
