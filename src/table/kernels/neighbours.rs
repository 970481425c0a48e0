//! The other sides of all slots in two buckets of a table that grows, by AVX-512. The formulas are
//! those of `table/split/address.rs`.

#[allow(clippy::wildcard_imports, reason = "two dozen intrinsics, each used once")]
use core::arch::x86_64::*;

use crate::{
    bucket::{
        Leveled,
        leveled::{level, slots},
    },
    table::split::{Growth, Neighbours, Root, Size},
};

/// Slots of each of the two buckets.
const SLOTS: u32 = 4;

/// Returns whether [`neighbours`] serves a layout.
pub(in crate::table) const fn has_neighbours(leveled: &Leveled) -> bool {
    leveled.slots <= SLOTS
}

/// Returns the other sides of all slots in two buckets.
///
/// # Safety
/// The processor has the instructions, and [`has_neighbours`] returns `true` for the layout.
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
pub(in crate::table) unsafe fn neighbours(
    growth: &Growth,
    size: Size,
    [first, second]: [Root; 2],
) -> Neighbours {
    let leveled = growth.leveled();
    debug_assert!(has_neighbours(leveled));
    let splat = |value: u64| _mm512_set1_epi64(value as i64);
    let both = |first: u64, second: u64| {
        let second = _mm256_set1_epi64x(second as i64);
        _mm512_inserti64x4::<1>(splat(first), second)
    };
    let lanes = |lane: u32| i64::from(if lane < leveled.slots { lane * leveled.width } else { 64 });
    let [a, b, c, d] = [lanes(0), lanes(1), lanes(2), lanes(3)];
    let words = both(slots(first.word), slots(second.word));
    let slot = _mm512_srlv_epi64(words, _mm512_set_epi64(d, c, b, a, d, c, b, a));
    let slot = _mm512_and_si512(slot, splat(leveled.first));
    // Without the value.
    let slot = _mm512_srl_epi64(slot, _mm_cvtsi32_si128(leveled.value_bits as i32));
    let core = _mm512_and_si512(slot, splat(leveled.core_mask));
    let tail = _mm512_srl_epi64(slot, _mm_cvtsi32_si128(leveled.core as i32));
    let levels = both(level(first.word).into(), level(second.word).into());
    let low = both(first.low, second.low);
    // With the marker.
    let known = _mm512_or_si512(_mm512_sllv_epi64(tail, levels), low);
    // SAFETY: there is an entry for each core. Nobody changes the entries.
    let entry = unsafe { _mm512_i64gather_epi64::<8>(core, growth.scatter().as_ptr().cast()) };
    let extension = _mm512_xor_si512(known, _mm512_srli_epi64::<32>(entry));
    let t = _mm512_and_si512(entry, splat(u32::MAX.into()));
    let buckets = splat(growth.first());
    let start = _mm512_sub_epi64(t, both(first.start.into(), second.start.into()));
    let start = _mm512_min_epu64(start, _mm512_add_epi64(start, buckets));
    let next = 1 << size.level;
    let chosen = _mm512_and_si512(extension, splat(next - 1));
    let bucket = _mm512_add_epi64(start, _mm512_mul_epu32(chosen, buckets));
    let is_split = _mm512_cmplt_epu64_mask(bucket, splat(size.split));
    let goes = _mm512_mask_test_epi64_mask(is_split, extension, splat(next));
    let bucket = _mm512_mask_add_epi64(bucket, goes, bucket, splat(growth.first() << size.level));
    // What is known reaches up to the next bit that is needed.
    let needed = _mm512_mask_mov_epi64(splat(next), is_split, splat(2 * next));
    let is_possible = _mm512_cmpge_epu64_mask(known, needed)
        & _mm512_test_epi64_mask(tail, tail)
        & _mm512_cmpneq_epu64_mask(bucket, both(first.bucket.into(), second.bucket.into()));
    let mut buckets = [0_u32; 2 * Neighbours::STRIDE];
    let bucket = _mm512_cvtepi64_epi32(bucket);
    // SAFETY: the array has room for four numbers at both places.
    unsafe {
        let at = buckets.as_mut_ptr();
        _mm_storeu_si128(at.cast(), _mm256_castsi256_si128(bucket));
        let at = at.add(Neighbours::STRIDE);
        _mm_storeu_si128(at.cast(), _mm256_extracti128_si256::<1>(bucket));
    }
    let spread = |mask: u8| u32::from(mask & 0xf) | u32::from(mask >> 4) << Neighbours::STRIDE;
    Neighbours {
        buckets,
        split: spread(is_possible & is_split),
        unsplit: spread(is_possible & !is_split),
    }
}
