//! Eight items per step, by AVX-512 (F and DQ).

#[allow(clippy::wildcard_imports, reason = "two dozen intrinsics, each used once")]
use core::arch::x86_64::*;

use super::{
    Answers, FOUND, Hashes, Lanes, MAX_BURST, MAX_COPIED, MIXER, Part, ROUND, SCATTER, Stripe,
    Version, View, WINDOW, mask, operations::operations, part_of, steps::steps, window,
};
use crate::{bucket::nibbles, sync::vector::gather8 as gather};

type Vector = __m512i;
const LANES: usize = 8;
const ALL: u32 = 0xff;

steps!("avx512f,avx512dq");

/// A factor in every lane.
#[derive(Clone, Copy)]
struct Multiplier(Vector);

impl Multiplier {
    fn factor(self) -> Vector {
        self.0
    }
}

operations! {
    "avx512f,avx512dq"

    fn splat(value: u64) -> Vector { _mm512_set1_epi64(value as i64) }
    fn multiplier(factor: u64) -> Multiplier { Multiplier(splat(factor)) }
    fn multiply(x: Vector, by: Multiplier) -> Vector { _mm512_mullo_epi64(x, by.0) }
    fn multiply_low(x: Vector, y: Vector) -> Vector { _mm512_mul_epu32(x, y) }
    fn xor(x: Vector, y: Vector) -> Vector { _mm512_xor_si512(x, y) }
    fn and(x: Vector, y: Vector) -> Vector { _mm512_and_si512(x, y) }
    fn and_not(x: Vector, y: Vector) -> Vector { _mm512_andnot_si512(x, y) }
    fn or(x: Vector, y: Vector) -> Vector { _mm512_or_si512(x, y) }
    fn add(x: Vector, y: Vector) -> Vector { _mm512_add_epi64(x, y) }
    fn subtract(x: Vector, y: Vector) -> Vector { _mm512_sub_epi64(x, y) }
    fn shift_right<const N: u32>(x: Vector) -> Vector { _mm512_srli_epi64::<N>(x) }
    fn shift_left<const N: u32>(x: Vector) -> Vector { _mm512_slli_epi64::<N>(x) }
    fn shift_right_low<const N: u32>(x: Vector) -> Vector { _mm512_srli_epi32::<N>(x) }
    fn shift_right_by(x: Vector, bits: u32) -> Vector {
        _mm512_srl_epi64(x, _mm_cvtsi32_si128(bits as i32))
    }
    fn shift_left_by(x: Vector, bits: u32) -> Vector {
        _mm512_sll_epi64(x, _mm_cvtsi32_si128(bits as i32))
    }
    fn nonzero(x: Vector) -> u32 { _mm512_test_epi64_mask(x, x).into() }
    fn different(x: Vector, y: Vector) -> u32 { _mm512_cmpneq_epi64_mask(x, y).into() }
    fn reflect(bucket: Vector, t: Vector, n: Vector) -> Vector {
        let d = subtract(t, bucket);
        _mm512_min_epu64(d, add(d, n))
    }
    fn load(hashes: &[u64]) -> Vector {
        if let Some(hashes) = hashes.first_chunk::<LANES>() {
            // SAFETY: reads the chunk.
            return unsafe { _mm512_loadu_si512(hashes.as_ptr().cast()) };
        }
        let lanes = mask(LANES.min(hashes.len())) as u8;
        // SAFETY: reads the lanes that the slice has.
        unsafe { _mm512_maskz_loadu_epi64(lanes, hashes.as_ptr().cast()) }
    }
    fn store(x: Vector) -> [u64; LANES] {
        let mut values = [0; LANES];
        // SAFETY: writes the whole array.
        unsafe { _mm512_storeu_si512(values.as_mut_ptr().cast(), x) };
        values
    }
    fn store_low(x: Vector) -> [u32; LANES] {
        let mut values = [0; LANES];
        // SAFETY: writes the whole array.
        unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(x)) };
        values
    }
    fn select(test: Vector, nonzero: Vector, zero: Vector) -> Vector {
        _mm512_mask_mov_epi64(zero, _mm512_test_epi64_mask(test, test), nonzero)
    }
    fn shift_to(word: Vector, mark: Vector, lanes: &Lanes) -> Vector {
        // The position of a single bit is the exponent of its number.
        let exponent = _mm512_srli_epi64::<52>(_mm512_castpd_si512(_mm512_cvtepu64_pd(mark)));
        let bias = u64::from(1_023 + lanes.bits() - 1);
        _mm512_srlv_epi64(word, subtract(exponent, splat(bias)))
    }
    fn gather_nibbles(codes: Vector) -> Vector {
        // SAFETY: `full_probe` masks the codes, and the table has an entry for each code.
        let nibbles = unsafe {
            _mm512_i64gather_epi32::<4>(codes, nibbles::SEQUENCES.as_ptr().cast())
        };
        _mm512_cvtepu32_epi64(nibbles)
    }
}
