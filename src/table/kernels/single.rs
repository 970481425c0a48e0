//! Bare lookups in a table that grows by splitting, with both words in one vector register: in
//! AVX-512 from the hash on, and in SSE2 from the words on. The formulas are those of `growing.rs`.

#[allow(clippy::wildcard_imports, reason = "two dozen intrinsics, each used once")]
use core::arch::x86_64::*;
use core::marker::PhantomData;

use super::{Form, Kernel, Stripe, by_form, growing::LEVEL};
use crate::{
    bucket::{Leveled, leveled::LEVEL_SHIFT},
    sync::{
        Word,
        vector::{load_both, load_both_at},
    },
    table::{
        Stripes,
        mix::spread,
        split::{Growth, Size},
    },
};

/// Looks up one mixed hash, given the words, the size as it was read before (Acquire), and what
/// else a table has. Returns whether it was found, or `None` if this look leaves it open: a bucket
/// has been split since the size was read, or the item was not found and the version changed.
///
/// # Safety
/// The words are those of all buckets of a table of this size, valid for reads. It has fewer than
/// 2^32 buckets at level 0, and `Growth` is of the layout.
pub(crate) type ContainsOne = unsafe fn(
    words: *const Word,
    growth: &Growth,
    stripes: &Stripes,
    size: Size,
    mixed: u64,
) -> Option<bool>;

/// Returns the fastest single lookup in words of this kind for a kernel, which must be available, if
/// there is one.
pub(crate) fn contains_one(leveled: &Leveled, kernel: Kernel) -> Option<ContainsOne> {
    debug_assert!(kernel.is_available());
    by_form!(leveled, L => match kernel {
        Kernel::Avx512 => in_avx512::<L>,
        Kernel::Avx2 | Kernel::Scalar => in_sse2::<L>,
    })
}

/// Constants of a layout.
struct Constants<L>(PhantomData<L>);

impl<L: Form> Constants<L> {
    /// The position of the extension in what `extensions` returns.
    const AT: u32 = if L::L.low_bits == 0 { 32 } else { L::L.core };
    /// The part of a pattern that is above the core, in the first slot.
    const TAIL: u64 = L::L.first & !L::L.core_mask;
    /// What depends on the level of a round.
    const ROUNDS: [Round; 16] = {
        let none = Round { chosen: 0, next: 0, shift: 0, level: 0, doublings: 0 };
        let (mut rounds, mut level) = ([none; 16], 0);
        while level < 16 {
            rounds[level as usize] = Round {
                chosen: (1 << level) - 1,
                next: 1 << (Self::AT + level),
                shift: (Self::AT - L::L.core + level) as u64,
                level: (level as u64) << LEVEL_SHIFT,
                doublings: level as u64,
            };
            level += 1;
        }
        rounds
    };

    #[inline(always)]
    fn round(level: u32) -> &'static Round {
        let rounds = const { &Self::ROUNDS };
        // No level is higher.
        &rounds[level as usize % rounds.len()]
    }
}

/// What depends on the level of a round.
#[derive(Clone, Copy)]
struct Round {
    /// The bits of the extension that choose a bucket, in its lowest place.
    chosen: u64,
    /// The next bit of the extension, in its place.
    next: u64,
    /// Bits from the extension to a pattern.
    shift: u64,
    /// The level, in its place in a word.
    level: u64,
    /// The level.
    doublings: u64,
}

/// The stripe of an item, given its bucket with the smaller number at level 0.
#[inline(always)]
fn stripe_of<L: Form>(stripes: &Stripes, start: u64, core: u64) -> &Stripe {
    let (stripes, number) = (stripes.as_slice(), start << L::L.core | core);
    // SAFETY: the number of stripes is a power of two, so the mask yields an index.
    unsafe { stripes.get_unchecked(number as usize & (stripes.len() - 1)) }
}

/// The answer, given whether a slot matches, whether both levels are those of the patterns, and
/// whether the version is unchanged.
#[inline(always)]
fn answer(found: bool, levels: bool, unchanged: bool) -> Option<bool> {
    ((found | unchanged) & levels).then_some(found)
}

/// See [`ContainsOne`].
///
/// # Safety
/// As there, and the processor has the instructions.
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
unsafe fn in_avx512<L: Form>(
    words: *const Word,
    growth: &Growth,
    stripes: &Stripes,
    Size { level, split }: Size,
    mixed: u64,
) -> Option<bool> {
    let splat = |value: u64| _mm_set1_epi64x(value as i64);
    let round = Constants::<L>::round(level);
    let core = mixed >> (u64::BITS - L::L.core);
    // SAFETY: there is an entry for each core.
    let entry = unsafe { *growth.scatter().get_unchecked(core as usize) };
    // For the second side alone.
    let entry = _mm_set_epi64x(entry as i64, 0);
    let (hash, first, low) = (splat(mixed), splat(growth.first()), splat(u32::MAX.into()));
    // As in `spread`.
    let product = _mm_mul_epu32(_mm_xor_si128(hash, _mm_srli_epi64::<32>(hash)), first);
    let start = _mm_srli_epi64::<32>(product);
    let start = _mm_mask_sub_epi64(start, 2, _mm_and_si128(entry, low), start);
    let start = _mm_min_epu64(start, _mm_add_epi64(start, first));

    let extension = if L::L.low_bits == 0 {
        _mm_xor_si128(hash, entry)
    } else {
        let bits = _mm_cvtsi32_si128(32 - L::L.core as i32);
        let (below, other) = (_mm_srl_epi64(hash, bits), _mm_srl_epi64(entry, bits));
        let above = _mm_sll_epi64(product, _mm_cvtsi32_si128(L::L.low_bits as i32));
        _mm_xor_si128(_mm_ternarylogic_epi64::<0xca>(low, below, above), other)
    };
    let chosen = _mm_srl_epi64(extension, _mm_cvtsi32_si128(Constants::<L>::AT as i32));
    let chosen = _mm_and_si128(chosen, splat(round.chosen));
    let bucket = _mm_add_epi64(start, _mm_mul_epu32(chosen, first));
    let is_split = _mm_cmplt_epu64_mask(bucket, splat(split));
    let goes = _mm_mask_test_epi64_mask(is_split, extension, splat(round.next));
    let all = _mm_rolv_epi64(first, splat(round.doublings));
    let bucket = _mm_mask_add_epi64(bucket, goes, bucket, all);
    let shift = splat(round.shift);
    let shift = _mm_mask_add_epi64(shift, is_split, shift, splat(1));
    let tail = _mm_and_si128(_mm_rorv_epi64(extension, shift), splat(Constants::<L>::TAIL));
    let pattern = _mm_mullo_epi64(_mm_or_si128(tail, splat(core)), splat(L::L.lanes.ones()));
    let level = splat(round.level);
    let level = _mm_mask_add_epi64(level, is_split, level, splat(1 << LEVEL_SHIFT));
    let pattern = _mm_or_si128(pattern, level);

    let min = _mm_min_epu64(start, _mm_unpackhi_epi64(start, start));
    let stripe = stripe_of::<L>(stripes, _mm_cvtsi128_si64(min) as u64, core);
    let buckets = [_mm_cvtsi128_si64(bucket), _mm_extract_epi64::<1>(bucket)];
    let version = stripe.version();
    // SAFETY: both are buckets of a table of this size, as in `growing.rs`.
    let words = unsafe { load_both_at(words, buckets) };
    let unchanged = stripe.validate(version);

    let ones = splat(L::L.lanes.ones());
    let highs = splat(L::L.lanes.highs());
    let differences = _mm_or_si128(_mm_xor_si128(words, pattern), highs);
    let until = _mm_xor_si128(differences, _mm_sub_epi64(differences, ones));
    let beyond = _mm_andnot_si128(until, words);
    let marks = _mm_andnot_si128(beyond, _mm_sub_epi64(beyond, ones));
    let empty = _mm_andnot_si128(words, _mm_sub_epi64(words, ones));
    let found = _mm_test_epi64_mask(_mm_andnot_si128(empty, marks), highs) != 0;
    let levels = _mm_test_epi64_mask(differences, splat(LEVEL)) == 0;
    answer(found, levels, unchanged)
}

/// See [`ContainsOne`]. The target has SSE2.
///
/// # Safety
/// As there.
unsafe fn in_sse2<L: Form>(
    words: *const Word,
    growth: &Growth,
    stripes: &Stripes,
    Size { level, split }: Size,
    mixed: u64,
) -> Option<bool> {
    let (mixed, round) = (spread(mixed), Constants::<L>::round(level));
    let core = mixed >> (u64::BITS - L::L.core);
    // SAFETY: there is an entry for each core.
    let entry = unsafe { *growth.scatter().get_unchecked(core as usize) };
    let first = growth.first();
    let product = (mixed & u64::from(u32::MAX)) * first;
    let start = product >> 32;
    let (difference, wraps) = (entry & u64::from(u32::MAX)).overflowing_sub(start);
    let alternate = difference.wrapping_add(if wraps { first } else { 0 });
    let extensions = if L::L.low_bits == 0 {
        [mixed, mixed ^ entry]
    } else {
        let below = |x: u64| x >> (32 - L::L.core) & u64::from(u32::MAX);
        let above = (product << L::L.low_bits) >> 32 << 32;
        [below(mixed) | above, (below(mixed) | above) ^ below(entry)]
    };
    let side = |start: u64, extension: u64| {
        let bucket = start + (extension >> Constants::<L>::AT & round.chosen) * first;
        let is_split = u64::from(bucket < split);
        let goes = is_split & extension >> Constants::<L>::AT >> level;
        let bucket = bucket + (first << level & goes.wrapping_neg());
        let pattern = extension >> (round.shift + is_split) & Constants::<L>::TAIL | core;
        let level = round.level + (is_split << LEVEL_SHIFT);
        (bucket, pattern.wrapping_mul(L::L.lanes.ones()) | level)
    };
    let (bucket, pattern) = side(start, extensions[0]);
    let (alt_bucket, other) = side(alternate, extensions[1]);
    let stripe = stripe_of::<L>(stripes, start.min(alternate), core);
    let version = stripe.version();
    // SAFETY: both are buckets of a table of this size, as in `growing.rs`.
    let words = unsafe { load_both(words, [bucket, alt_bucket]) };
    let unchanged = stripe.validate(version);

    // SAFETY: the target has SSE2.
    unsafe {
        let splat = |value: u64| _mm_set1_epi64x(value as i64);
        let (ones, highs) = (splat(L::L.lanes.ones()), splat(L::L.lanes.highs()));
        let pattern = _mm_set_epi64x(other as i64, pattern as i64);
        let differences = _mm_or_si128(_mm_xor_si128(words, pattern), highs);
        let until = _mm_xor_si128(differences, _mm_sub_epi64(differences, ones));
        let beyond = _mm_andnot_si128(until, words);
        let marks = _mm_andnot_si128(beyond, _mm_sub_epi64(beyond, ones));
        let empty = _mm_andnot_si128(words, _mm_sub_epi64(words, ones));
        let is_zero = |x| _mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_setzero_si128())) == 0xffff;
        let found = !is_zero(_mm_and_si128(_mm_andnot_si128(empty, marks), highs));
        let levels = is_zero(_mm_and_si128(differences, splat(LEVEL)));
        answer(found, levels, unchanged)
    }
}
