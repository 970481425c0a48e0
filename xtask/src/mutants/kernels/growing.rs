//! The mutants of lookups in a table that grows, in both kernels at once.

use super::list::{Replacement, replace};

pub(super) const GROWING: &[Replacement] = &[
    replace("growing: the core is not incremented", "core.add(self.one)", "core"),
    replace(
        "growing: the first side twice",
        "product.beside(alternate)",
        "product.beside(product)",
    ),
    replace("growing: a reflection does not wrap", REFLECTED, "difference"),
    replace("growing: a reflection always wraps", REFLECTED, "difference.add_halves(self.first)"),
    replace(
        "growing: all of the extension chooses the bucket",
        "extensions.and(self.chosen)",
        "extensions",
    ),
    replace("growing: the extension chooses no bucket", CHOSEN, "start"),
    replace(
        "growing: no bucket is split",
        "bucket.below(self.split)",
        "bucket.below(self.splat(0))",
    ),
    replace(
        "growing: all buckets are split",
        "bucket.below(self.split)",
        "bucket.below(self.splat(u64::MAX))",
    ),
    replace("growing: split buckets have no children", CHILD, "bucket"),
    replace(
        "growing: the child of another round",
        CHILD,
        "bucket.add_if_set(split, extensions, self.next, self.first)",
    ),
    replace(
        "growing: split buckets have the level of the others",
        "V::choose(split, self.levels[1], self.levels[0])",
        "self.levels[0]",
    ),
    replace(
        "growing: the other buckets have the level of split ones",
        "V::choose(split, self.levels[1], self.levels[0])",
        "self.levels[1]",
    ),
    replace(
        "growing: tails are not shifted",
        TAILS,
        "extensions.shift_each_half(self.levels[0], L::CORE)",
    ),
    replace(
        "growing: patterns without a core",
        PATTERNS,
        "tails.and(self.splat(packed(Self::TAIL as u32)))",
    ),
    replace("growing: patterns are not cut", PATTERNS, "tails.or(core)"),
    replace(
        "growing: the first pattern twice",
        "[self.lower(patterns), patterns.shift_right::<32>()]",
        "[self.lower(patterns), self.lower(patterns)]",
    ),
    replace("growing: the stripe of the core alone", STRIPES, "core_mask.and(core)"),
    replace("growing: the core is not part of the stripe", STRIPES, "core_mask.and_not(start)"),
    replace("growing: the stripe of the first side", "product.min_halves(alternate)", "product"),
    replace("growing: the stripe of the second side", "product.min_halves(alternate)", "alternate"),
    replace(
        "growing: the number of a stripe is not masked",
        "group.stripes.and(self.last_stripe)",
        "self.splat(0)",
    ),
    replace("growing: the first word twice", WORDS, "[first.gather(words), first.gather(words)]"),
    replace(
        "growing: the second word twice",
        WORDS,
        "[second.gather(words), second.gather(words)]",
    ),
    replace("growing: marks of the first word only", MARKS, "self.compare(first, pattern)"),
    replace("growing: marks of the second word only", MARKS, "self.compare(second, other)"),
    replace("growing: all bits are marks", "marks.and(self.splat(L::LANES.highs()))", "marks"),
    replace("growing: the first word's level twice", "first.beside(second)", "first.beside(first)"),
    replace(
        "growing: the second word's level twice",
        "first.beside(second)",
        "second.beside(second)",
    ),
    replace("growing: levels do not count", "levels.different(group.levels)", "0"),
    replace("growing: hits at other levels", "found & !open", "found"),
    replace("growing: the other side's extension is the same", "upper.xor(s)", "upper"),
    replace(
        "growing: the low bits of the other side",
        "scattered.and(self.splat(mask << 32))",
        "scattered",
    ),
    replace("growing: low bits of the product are left out", ABOVE, "upper.xor(s)"),
    replace(
        "growing: long patterns lack the low bits",
        LONG,
        "mask.and(mixed.shift_right::<32>())",
    ),
    replace(
        "growing: the other side's long extension is the same",
        "extension.xor(scattered.shift_right::<32>().and(mask))",
        "extension",
    ),
    replace(
        "growing: the first level for both long patterns",
        "other.shift_right_each(other_level)",
        "other.shift_right_each(level)",
    ),
    replace("growing: the upper slots have no pattern", "low.or(x.shift_left_by(shift))", "low"),
    replace(
        "growing: several upper slots have no pattern",
        "low.or(low.shift_left_by(shift))",
        "low",
    ),
    replace(
        "growing: all bits of a slot count",
        "until.and_not(word)",
        "word.xor(pattern).and(word)",
    ),
    replace("growing: empty slots match", "empty.and_not(marks)", "marks"),
    replace("growing: all lanes are looked up again", "lanes >> lane & 1 != 0", "true"),
    replace(
        "growing: the first hash is looked up again for all",
        "(self.lookup)(hashes[lane])",
        "(self.lookup)(hashes[0])",
    ),
];

pub(super) const SINGLE: &[Replacement] = &[
    replace("single growing: the stripe of the core alone", "start << L::CORE | core", "core"),
    replace(
        "single growing: the core is not part of the stripe",
        "start << L::CORE | core",
        "start << L::CORE",
    ),
    replace("single growing: levels do not count", ANSWER, "(found | unchanged)"),
    replace("single growing: versions do not count", ANSWER, "levels"),
    replace("single growing: hits need the version", ANSWER, "(unchanged & levels)"),
    replace(
        "single growing in SSE2: a reflection does not wrap",
        "if wraps { first } else { 0 }",
        "0",
    ),
    replace(
        "single growing in SSE2: the stripe of the first side",
        "start.min(alternate)",
        "start",
    ),
    replace(
        "single growing in SSE2: the first word twice",
        "[bucket, alt_bucket]",
        "[bucket, bucket]",
    ),
    replace("single growing in SSE2: no bucket is split", "u64::from(bucket < split)", "0_u64"),
    replace("single growing in SSE2: no children", "(first << level & goes.wrapping_neg())", "0"),
    replace(
        "AVX-512: single growing: the stripe of the first side",
        "_mm_min_epu64(start, _mm_unpackhi_epi64(start, start))",
        "start",
    ),
    replace(
        "AVX-512: single growing: no children",
        "_mm_mask_add_epi64(bucket, goes, bucket, all)",
        "bucket",
    ),
    replace(
        "AVX-512: single growing: a reflection does not wrap",
        "_mm_min_epu64(start, _mm_add_epi64(start, first))",
        "start",
    ),
    replace(
        "AVX-512: single growing: levels of split buckets",
        "_mm_mask_add_epi64(level, is_split, level, splat(1 << LEVEL_SHIFT))",
        "level",
    ),
    replace(
        "AVX-512: single growing: tails of split buckets",
        "_mm_mask_add_epi64(shift, is_split, shift, splat(1))",
        "shift",
    ),
];

const REFLECTED: &str = "difference.min_halves(difference.add_halves(self.first))";
const CHOSEN: &str = "start.add_halves(chosen.multiply_halves(self.first))";
const CHILD: &str = "bucket.add_if_set(split, extensions, self.next, self.round)";
const TAILS: &str = "extensions.shift_each_half(levels, L::CORE)";
const PATTERNS: &str = "tails.and(self.splat(packed(Self::TAIL as u32))).or(core)";
const STRIPES: &str = "core_mask.and(core).or(core_mask.and_not(start))";
const WORDS: &str = "[first.gather(words), second.gather(words)]";
const MARKS: &str = "self.compare(first, pattern).or(self.compare(second, other))";
const ABOVE: &str = "mask.and(upper).or(mask.and_not(low)).xor(s)";
const LONG: &str = "mask.and(mixed.shift_right::<32>()).or(mask.and_not(low))";
const ANSWER: &str = "((found | unchanged) & levels)";
