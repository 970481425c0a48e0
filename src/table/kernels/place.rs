//! Single lookups in a table of a fixed size whose addresses are computed in vector registers. The
//! formulas are those of `table/fixed/addressing.rs`.

#[allow(clippy::wildcard_imports, reason = "a dozen intrinsics, each used once or twice")]
use core::arch::x86_64::*;

use super::{FixedTable, Payload, SCATTER};
use crate::bucket::BucketLayout;

/// See [`SingleLookup`](crate::table::fixed::SingleLookup).
///
/// # Safety
/// The processor has AVX2, and the number of buckets fits into 32 bits.
#[target_feature(enable = "avx2")]
pub(in crate::table) unsafe fn look_up_one<L: BucketLayout, P: Payload>(
    table: &FixedTable<P>,
    probe: &P::Probe,
    mixed: u64,
) -> P::Answer {
    let addressing = table.addressing();
    let splat = |value: u64| _mm_set1_epi64x(value as i64);
    let high = |product| _mm_srli_epi64::<32>(product);
    let buckets = splat(addressing.buckets());
    let mixed = _mm_cvtsi64_si128(mixed as i64);
    let key = high(_mm_mul_epu32(mixed, splat(P::fingerprints::<L>(probe).into())));
    let key = _mm_add_epi64(key, splat(L::MIN_FINGERPRINT.into()));
    let first = high(_mm_mul_epu32(high(mixed), buckets));
    let x = _mm_mul_epu32(key, splat(SCATTER[0].into()));
    let x = _mm_mul_epu32(_mm_xor_si128(x, _mm_srli_epi32::<15>(x)), splat(SCATTER[1].into()));
    let second = _mm_sub_epi64(high(_mm_mul_epu32(x, buckets)), first);
    let wraps = _mm_cmpgt_epi64(_mm_setzero_si128(), second);
    let second = _mm_add_epi64(second, _mm_and_si128(buckets, wraps));
    let low = |x| _mm_cvtsi128_si32(x) as u32;
    // SAFETY: these are the numbers that the addressing of the table returns. The number of buckets
    // fits into 32 bits, as `single_lookup` has checked.
    unsafe { P::look_up::<L>(table, probe, low(key), [low(first), low(second)]) }
}
