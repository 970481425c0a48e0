//! The mutants of the kernels: expressions, and what replaces them. Those of the steps that both
//! kernels share are in `steps.rs`.

/// An expression of the source, wherever it occurs in its file, and a wrong one of the same type.
pub(super) struct Replacement {
    pub(super) name: &'static str,
    pub(super) old: &'static str,
    pub(super) new: &'static str,
}

pub(super) const fn replace(
    name: &'static str,
    old: &'static str,
    new: &'static str,
) -> Replacement {
    Replacement { name, old, new }
}

/// The replacements in each file. The expressions that are replaced do not overlap.
pub(super) const FILES: &[(&str, &[Replacement])] = &[
    ("src/table/kernels/mixing.rs", super::steps::MIXING),
    ("src/table/kernels/fixed.rs", super::steps::FIXED),
    ("src/table/kernels/ways.rs", super::steps::WAYS),
    ("src/table/kernels/growing.rs", super::growing::GROWING),
    ("src/table/kernels/single.rs", super::growing::SINGLE),
    ("src/table/kernels/place.rs", PLACE),
    ("src/table/kernels/mod.rs", COMMON),
    ("src/table/kernels/avx2.rs", AVX2),
    ("src/table/kernels/avx512.rs", AVX512),
    ("src/sync/vector.rs", LOADS),
    ("src/table/fixed/lookup.rs", WORDS),
    ("src/table/fixed/key_probe.rs", KEYS),
    ("src/table/answers.rs", ANSWERS),
];

const COMMON: &[Replacement] = &[
    replace(
        "one version that stays is enough",
        "unchanged & stripe.validate(copy)",
        "unchanged | stripe.validate(copy)",
    ),
    replace(
        "only the last version counts",
        "unchanged & stripe.validate(copy)",
        "stripe.validate(copy)",
    ),
    replace("all lanes are looked up again", "lanes >> lane & 1 != 0", "true"),
    replace("second lookups at the same place", "found | 1 << lane", "found | 1"),
    replace(
        "the first hash is looked up again for all",
        "(self.lookup)(hashes[lane])",
        "(self.lookup)(hashes[0])",
    ),
    replace("second values at the same place", "values.get_mut(lane)", "values.get_mut(0)"),
    replace("second lookups without their values", "FOUND | u32::from(value)", "FOUND"),
    replace("a mask of the bit above", "(1_u64 << bits) - 1", "1_u64 << bits"),
    replace(
        "a mask lacks a bit",
        "(1_u64 << bits) - 1",
        "(1_u64 << bits >> 1) - (bits > 0) as u64",
    ),
    replace("more versions are copied than there is room for", "stripes <= MAX_COPIED", "true"),
];

const PLACE: &[Replacement] = &[
    replace(
        "single lookups in vectors: the smallest fingerprint is zero",
        "_mm_add_epi64(key, splat(L::MIN_FINGERPRINT.into()))",
        "key",
    ),
    replace(
        "single lookups in vectors: the first bucket depends on the low half",
        "_mm_mul_epu32(high(mixed), buckets)",
        "_mm_mul_epu32(mixed, buckets)",
    ),
    replace(
        "single lookups in vectors: fingerprints are scattered by a linear function",
        "_mm_xor_si128(x, _mm_srli_epi32::<15>(x))",
        "x",
    ),
    replace(
        "single lookups in vectors: a reflection does not wrap",
        "_mm_and_si128(buckets, wraps)",
        "_mm_setzero_si128()",
    ),
    replace(
        "single lookups in vectors: the first bucket twice",
        "[low(first), low(second)]",
        "[low(first), low(first)]",
    ),
];

const AVX2: &[Replacement] = &[
    replace("AVX2: the product lacks the high half of x", PRODUCT, "self.multiply_low(by.high)"),
    replace(
        "AVX2: the product lacks the high half of the factor",
        PRODUCT,
        "self.shift_right::<32>().multiply_low(by.value)",
    ),
    replace("AVX2: a reflection does not wrap", WRAP, "d"),
    replace("AVX2: a reflection always wraps", WRAP, "d.add(n)"),
    replace(
        "AVX2: the last hash is not loaded",
        "Self::splat(hashes.len() as u64)",
        "Self::splat(hashes.len() as u64 - 1)",
    ),
    replace(
        "AVX2: halves are shifted as a whole",
        "_mm256_srl_epi32(self.0, Self::bits(N))",
        "_mm256_srl_epi64(self.0, Self::bits(N))",
    ),
    replace(
        "AVX2: only halves are compared",
        "_mm256_cmpeq_epi64(x, y)",
        "_mm256_cmpeq_epi32(x, y)",
    ),
    replace(
        "AVX2: values in the upper lanes are left there",
        "lane.or(lane.shift_right_by(4 * bits))",
        "lane",
    ),
    replace(
        "AVX2: values in the middle lanes are left there",
        "folded.or(folded.shift_right_by(2 * bits))",
        "folded",
    ),
    replace(
        "AVX2: values in odd lanes are left there",
        "folded.or(folded.shift_right_by(bits))",
        "folded",
    ),
    replace("AVX2: values of all lanes", "self.and(mark.add(mark).subtract(one))", "self"),
    replace(
        "AVX2: the high halves of the answers",
        "_mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6)",
        "_mm256_setr_epi32(1, 3, 5, 7, 0, 2, 4, 6)",
    ),
];

const PRODUCT: &str =
    "self.shift_right::<32>().multiply_low(by.value).add(self.multiply_low(by.high))";
const WRAP: &str = "d.add(n.and(wraps))";

const AVX512: &[Replacement] = &[
    replace(
        "AVX-512: the product of the low halves",
        "_mm512_mullo_epi64(self.0, by.value.0)",
        "self.multiply_low(by.value).0",
    ),
    replace("AVX-512: a reflection does not wrap", "_mm512_min_epu64(d.0, d.add(n).0)", "d.0"),
    replace(
        "AVX-512: a reflection always wraps",
        "_mm512_min_epu64(d.0, d.add(n).0)",
        "d.add(n).0",
    ),
    replace(
        "AVX-512: the last hash is not loaded",
        "lanes_of::<Self>(hashes.len())",
        "lanes_of::<Self>(hashes.len() - 1)",
    ),
    replace(
        "AVX-512: halves are shifted as a whole",
        "_mm512_srli_epi32::<N>(self.0)",
        "_mm512_srli_epi64::<N>(self.0)",
    ),
    replace(
        "AVX-512: values one bit lower",
        "1_023 + part.lanes.bits() - 1",
        "1_023 + part.lanes.bits() - 2",
    ),
];

const LOADS: &[Replacement] = &[
    replace("the first word of a pair twice", "indices[1]", "indices[0]"),
    replace("the second word of a pair twice", "indices[0]", "indices[1]"),
    replace("AVX-512: a gather leaves out the last lane", "0xff", "0x7f"),
    replace("AVX-512: a gather leaves out the first lane", "0xff", "0xfe"),
];

const WORDS: &[Replacement] = &[
    replace(
        "single lookups: bytes are compared as words",
        "L::LANES.width()",
        "(match L::LANES.width() { (8, 8) => (4, 16), width => width })",
    ),
    replace(
        "single lookups: words are compared as bytes",
        "L::LANES.width()",
        "(match L::LANES.width() { (4, 16) => (8, 8), width => width })",
    ),
    replace(
        "single lookups: the zero-lane test is left half",
        "_mm_andnot_si128(x, lower)",
        "lower",
    ),
    replace(
        "single lookups: all lanes must be zero",
        ZERO_LANES,
        "if _mm_movemask_epi8(_mm_cmpeq_epi8(zeros, _mm_setzero_si128())) == 0 { 1 } else { 0 }",
    ),
    replace(
        "single lookups: bytes in the first word only",
        "_mm_movemask_epi8(_mm_cmpeq_epi8(words, _mm_set1_epi8(lane as i8)))",
        "(_mm_movemask_epi8(_mm_cmpeq_epi8(words, _mm_set1_epi8(lane as i8))) & 0xff)",
    ),
    replace(
        "single lookups: slots of 16 bits are compared with their values",
        "_mm_srl_epi16(x, _mm_cvtsi32_si128(value_bits as i32))",
        "x",
    ),
    replace(
        "single lookups: the zero-lane test subtracts within the values",
        "L::LANES.ones() << value_bits",
        "L::LANES.ones()",
    ),
];

const KEYS: &[Replacement] = &[
    replace(
        "single gets: slots of 16 bits are compared with their values",
        "_mm_and_si128(x, self.operand)",
        "x",
    ),
    replace("single gets: the zero-lane test is left half", "_mm_andnot_si128(x, lower)", "lower"),
    replace(
        "single gets: the zero-lane test subtracts within the values",
        "ones.wrapping_neg()",
        "L::LANES.ones().wrapping_neg()",
    ),
    replace("single gets: values of the first word only", "byte / 8 % 2", "0"),
    replace("single gets: the first slot's value", "shifts[byte]", "shifts[0]"),
    replace("single gets: the first value of 16 bits", "byte / 2 % 8", "0"),
    replace("single gets: a value has the bits of its neighbor", "slot & self.value_mask", "slot"),
];

const ZERO_LANES: &str = "0xffff ^ _mm_movemask_epi8(_mm_cmpeq_epi8(zeros, _mm_setzero_si128()))";

const ANSWERS: &[Replacement] = &[
    replace("a batch is counted wholly", "found.count_ones() as usize", "count"),
    replace("the first eight answers repeat", "found >>= 8", "()"),
    replace("every item has a value in the answers", "value & FOUND != 0", "true"),
    replace("answers are put at the start", "position..position + count", "0..count"),
    replace(
        "the upper half of an answer is its value",
        "*answer = value as u16",
        "*answer = (value >> 16) as u16",
    ),
];
