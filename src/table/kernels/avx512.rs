//! Eight items per vector, by AVX-512 (F and DQ).
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "a vector exists only where the processor has the instructions: see `Vector`"
)]

#[allow(clippy::wildcard_imports, reason = "two dozen intrinsics, each used once")]
use core::arch::x86_64::*;

use super::{
    vector::{InAvx512, Vector, by_intrinsics, count, lanes_of},
    ways::compile_ways,
};
use crate::{
    bucket::{Lanes, nibbles},
    sync::{Word, vector::gather8},
};

/// A vector of AVX-512.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Eight(__m512i);

compile_ways!("avx512f,avx512dq", InAvx512);

impl InAvx512 for Eight {}

impl Vector for Eight {
    const LANES: usize = 8;
    const MULTIPLIES: bool = true;
    type Test = __mmask16;

    by_intrinsics! {
        xor(other) _mm512_xor_si512;
        and(other) _mm512_and_si512;
        and_not(other) _mm512_andnot_si512;
        or(other) _mm512_or_si512;
        add(other) _mm512_add_epi64;
        subtract(other) _mm512_sub_epi64;
        multiply(other) _mm512_mullo_epi64;
        multiply_low(other) _mm512_mul_epu32;
        upper_halves() _mm512_shuffle_epi32::<0xf5>;
        lower_halves() _mm512_shuffle_epi32::<0xa0>;
        add_halves(other) _mm512_add_epi32;
        subtract_halves(other) _mm512_sub_epi32;
        multiply_halves(other) _mm512_mullo_epi32;
        min_halves(other) _mm512_min_epu32;
    }

    #[inline(always)]
    unsafe fn splat(value: u64) -> Self {
        Self(unsafe { _mm512_set1_epi64(value as i64) })
    }

    #[inline(always)]
    unsafe fn load(hashes: &[u64]) -> Self {
        if let Some(hashes) = hashes.first_chunk::<{ Self::LANES }>() {
            // SAFETY: reads the chunk.
            return Self(unsafe { _mm512_loadu_si512(hashes.as_ptr().cast()) });
        }
        let lanes = lanes_of::<Self>(hashes.len()) as u8;
        // SAFETY: reads the lanes that the slice has.
        Self(unsafe { _mm512_maskz_loadu_epi64(lanes, hashes.as_ptr().cast()) })
    }

    #[inline(always)]
    unsafe fn gather(self, first: *const Word) -> Self {
        // SAFETY: the caller promises it.
        Self(unsafe { gather8(first, self.0) })
    }

    #[inline(always)]
    fn store_low(self, values: &mut [u32]) {
        let values = &mut values[..Self::LANES];
        // SAFETY: writes the whole slice.
        unsafe {
            _mm256_storeu_si256(values.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(self.0));
        }
    }

    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        Self(unsafe { _mm512_srl_epi64(self.0, count(bits)) })
    }

    #[inline(always)]
    fn shift_left(self, bits: u32) -> Self {
        Self(unsafe { _mm512_sll_epi64(self.0, count(bits)) })
    }

    #[inline(always)]
    fn different(self, other: Self) -> u32 {
        unsafe { _mm512_cmpneq_epi64_mask(self.0, other.0) }.into()
    }

    #[inline(always)]
    fn select(self, nonzero: Self, zero: Self) -> Self {
        Self(unsafe {
            _mm512_mask_mov_epi64(zero.0, _mm512_test_epi64_mask(self.0, self.0), nonzero.0)
        })
    }

    #[inline(always)]
    fn shift_right_each(self, bits: Self) -> Self {
        // The compiler would compare the numbers for a shift with 64.
        Self(unsafe { _mm512_rorv_epi64(self.0, bits.0) })
    }

    #[inline(always)]
    fn beside(self, other: Self) -> Self {
        Self(unsafe { _mm512_mask_shuffle_epi32::<0xf5>(other.0, 0x5555, self.0) })
    }

    #[inline(always)]
    fn shift_right_halves(self, bits: u32) -> Self {
        Self(unsafe { _mm512_srl_epi32(self.0, count(bits)) })
    }

    #[inline(always)]
    fn shift_each_half(self, right: Self, left: u32) -> Self {
        // A rotation takes the number of bits modulo 32.
        Self(unsafe {
            let bits = _mm512_sub_epi32(right.0, _mm512_set1_epi32(left as i32));
            _mm512_rorv_epi32(self.0, bits)
        })
    }

    #[inline(always)]
    fn below(self, other: Self) -> __mmask16 {
        unsafe { _mm512_cmplt_epu32_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn choose(test: __mmask16, yes: Self, no: Self) -> Self {
        Self(unsafe { _mm512_mask_blend_epi32(test, no.0, yes.0) })
    }

    #[inline(always)]
    fn add_if_set(self, test: __mmask16, bits: Self, bit: Self, other: Self) -> Self {
        Self(unsafe {
            let test = _mm512_mask_test_epi32_mask(test, bits.0, bit.0);
            _mm512_mask_add_epi32(self.0, test, self.0, other.0)
        })
    }

    #[inline(always)]
    fn shift_to(self, mark: Self, lanes: &Lanes) -> Self {
        let bias = u64::from(1_023 + lanes.bits() - 1);
        // The position of a single bit is the exponent of its number.
        Self(unsafe {
            let exponent = _mm512_srli_epi64::<52>(_mm512_castpd_si512(_mm512_cvtepu64_pd(mark.0)));
            _mm512_srlv_epi64(self.0, Self(exponent).subtract(Self::splat(bias)).0)
        })
    }

    #[inline(always)]
    unsafe fn gather_nibbles(self) -> Self {
        // SAFETY: the caller promises that the table has an entry for each code.
        Self(unsafe {
            let nibbles = _mm512_i64gather_epi32::<4>(self.0, nibbles::SEQUENCES.as_ptr().cast());
            _mm512_cvtepu32_epi64(nibbles)
        })
    }
}
