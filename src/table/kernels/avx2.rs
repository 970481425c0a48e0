//! Four items per step, by AVX2.

#[allow(clippy::wildcard_imports, reason = "two dozen intrinsics, each used once")]
use core::arch::x86_64::*;

use super::{
    Answers, FOUND, Hashes, Lanes, MAX_BURST, MAX_COPIED, MIXER, Part, ROUND, SCATTER, Stripe,
    Version, View, WINDOW, mask, operations::operations, part_of, steps::steps, window,
};
use crate::{bucket::nibbles, sync::vector::gather4 as gather};

type Vector = __m256i;
const LANES: usize = 4;
const ALL: u32 = 0xf;

steps!("avx2");

/// A factor in every lane, and its high half in every lane of a second vector.
#[derive(Clone, Copy)]
struct Multiplier(Vector, Vector);

impl Multiplier {
    fn factor(self) -> Vector {
        self.0
    }
}

operations! {
    "avx2"

    fn splat(value: u64) -> Vector { _mm256_set1_epi64x(value as i64) }
    fn multiplier(factor: u64) -> Multiplier { Multiplier(splat(factor), splat(factor >> 32)) }
    fn multiply(x: Vector, by: Multiplier) -> Vector {
        let high = add(multiply_low(_mm256_srli_epi64::<32>(x), by.0), multiply_low(x, by.1));
        add(multiply_low(x, by.0), _mm256_slli_epi64::<32>(high))
    }
    fn multiply_low(x: Vector, y: Vector) -> Vector { _mm256_mul_epu32(x, y) }
    fn xor(x: Vector, y: Vector) -> Vector { _mm256_xor_si256(x, y) }
    fn and(x: Vector, y: Vector) -> Vector { _mm256_and_si256(x, y) }
    fn and_not(x: Vector, y: Vector) -> Vector { _mm256_andnot_si256(x, y) }
    fn or(x: Vector, y: Vector) -> Vector { _mm256_or_si256(x, y) }
    fn add(x: Vector, y: Vector) -> Vector { _mm256_add_epi64(x, y) }
    fn subtract(x: Vector, y: Vector) -> Vector { _mm256_sub_epi64(x, y) }
    fn shift_right_by(x: Vector, bits: u32) -> Vector {
        _mm256_srl_epi64(x, _mm_cvtsi32_si128(bits as i32))
    }
    fn shift_left_by(x: Vector, bits: u32) -> Vector {
        _mm256_sll_epi64(x, _mm_cvtsi32_si128(bits as i32))
    }
    fn shift_right<const N: u32>(x: Vector) -> Vector { shift_right_by(x, N) }
    fn shift_left<const N: u32>(x: Vector) -> Vector {
        _mm256_sll_epi64(x, _mm_cvtsi32_si128(N as i32))
    }
    fn shift_right_low<const N: u32>(x: Vector) -> Vector {
        _mm256_srl_epi32(x, _mm_cvtsi32_si128(N as i32))
    }
    fn nonzero(x: Vector) -> u32 { different(x, splat(0)) }
    fn different(x: Vector, y: Vector) -> u32 {
        !_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(x, y))) as u32 & ALL
    }
    fn reflect(bucket: Vector, t: Vector, n: Vector) -> Vector {
        let d = subtract(t, bucket);
        add(d, and(n, _mm256_cmpgt_epi64(splat(0), d)))
    }
    fn load(hashes: &[u64]) -> Vector {
        if let Some(hashes) = hashes.first_chunk::<LANES>() {
            // SAFETY: reads the chunk.
            return unsafe { _mm256_loadu_si256(hashes.as_ptr().cast()) };
        }
        let lanes = _mm256_cmpgt_epi64(
            splat(hashes.len() as u64),
            _mm256_setr_epi64x(0, 1, 2, 3),
        );
        // SAFETY: reads the lanes that the slice has.
        unsafe { _mm256_maskload_epi64(hashes.as_ptr().cast(), lanes) }
    }
    fn store(x: Vector) -> [u64; LANES] {
        let mut values = [0; LANES];
        // SAFETY: writes the whole array.
        unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), x) };
        values
    }
    fn store_low(x: Vector) -> [u32; LANES] {
        let low = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
        let mut values = [0; LANES];
        // SAFETY: writes the whole array.
        unsafe { _mm_storeu_si128(values.as_mut_ptr().cast(), _mm256_castsi256_si128(low)) };
        values
    }
    fn select(test: Vector, nonzero: Vector, zero: Vector) -> Vector {
        _mm256_blendv_epi8(nonzero, zero, _mm256_cmpeq_epi64(test, splat(0)))
    }
    fn shift_to(word: Vector, mark: Vector, lanes: &Lanes) -> Vector {
        // The marked lane, alone.
        let one = shift_right_by(mark, lanes.bits() - 1);
        let lane = and(word, subtract(add(mark, mark), one));
        let folded = or(lane, shift_right_by(lane, 4 * lanes.bits()));
        let folded = or(folded, shift_right_by(folded, 2 * lanes.bits()));
        or(folded, shift_right_by(folded, lanes.bits()))
    }
    fn gather_nibbles(codes: Vector) -> Vector {
        // SAFETY: `full_probe` masks the codes, and the table has an entry for each code.
        let nibbles = unsafe {
            _mm256_i64gather_epi32::<4>(nibbles::SEQUENCES.as_ptr().cast(), codes)
        };
        _mm256_cvtepu32_epi64(nibbles)
    }
}
