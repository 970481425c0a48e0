//! The mutants of the kernels: expressions, and what replaces them.

/// An expression of the source, wherever it occurs in its file, and a wrong one of the same type.
pub(super) struct Replacement {
    pub(super) name: &'static str,
    pub(super) old: &'static str,
    pub(super) new: &'static str,
}

const fn replace(name: &'static str, old: &'static str, new: &'static str) -> Replacement {
    Replacement { name, old, new }
}

/// The replacements in each file. The expressions that are replaced do not overlap.
pub(super) const FILES: &[(&str, &[Replacement])] = &[
    ("src/table/kernels/steps.rs", STEPS),
    ("src/table/kernels/mod.rs", COMMON),
    ("src/table/kernels/avx2.rs", AVX2),
    ("src/table/kernels/avx512.rs", AVX512),
    ("src/sync/vector.rs", LOADS),
    ("src/table/words.rs", WORDS),
    ("src/table/batch.rs", ANSWERS),
];

const STEPS: &[Replacement] = &[
    // Addressing.
    replace("the seed is left out", "xor(hashes, self.seed)", "hashes"),
    replace("the mixer's first factor twice", "self.mixer[1]", "self.mixer[0]"),
    replace("the mixer's last shift is left out", "xor(x, shift_right::<31>(x))", "x"),
    replace(
        "the smallest fingerprint is not added",
        FINGERPRINT,
        "reduce(mixed, self.fingerprints)",
    ),
    replace(
        "the fingerprint is one larger",
        FINGERPRINT,
        "add(splat(1), add(self.min_fingerprint, reduce(mixed, self.fingerprints)))",
    ),
    replace(
        "one fingerprint more",
        FINGERPRINT,
        "add(self.min_fingerprint, reduce(mixed, add(self.fingerprints, splat(1))))",
    ),
    replace("the bucket from the low half", "shift_right::<32>(mixed)", "mixed"),
    replace("the scatter's shift is left out", "xor(x, shift_right_low::<15>(x))", "x"),
    replace(
        "the scatter's shift is one of 64 bits",
        "xor(x, shift_right_low::<15>(x))",
        "xor(x, shift_right::<15>(x))",
    ),
    replace("the second bucket is the first one", REFLECT, "first"),
    replace("the second bucket is not reflected", REFLECT, "reduce(x, self.buckets)"),
    // Comparisons.
    replace(
        "the bits below a lane are not shifted away",
        "shift_right_by(group.fingerprints, view.bits_below)",
        "group.fingerprints",
    ),
    replace(
        "the zero-lane test is left half",
        "and_not(x, subtract(x, self.lanes.factor()))",
        "subtract(x, self.lanes.factor())",
    ),
    replace("the second word is not compared", ZEROS, "and(zeros[0], self.highs)"),
    replace("the first word is not compared", ZEROS, "and(zeros[1], self.highs)"),
    replace("all bits of the zero-lane test count", ZEROS, "or(zeros[0], zeros[1])"),
    replace("a quick probe is the answer", "view.bits_below == 0 || found == 0", "true"),
    replace("plain words are probed fully", "view.bits_below == 0 || found == 0", "found == 0"),
    replace("the first slot is not probed", "0..view.lanes.count()", "1..view.lanes.count()"),
    replace("the last slot is not probed", "0..view.lanes.count()", "0..view.lanes.count() - 1"),
    replace("the first word's code twice", "and(word, codes)", "and(words[0], codes)"),
    replace(
        "the first nibble for all slots",
        "shift_right_by(sequence, slot * nibbles::BITS)",
        "sequence",
    ),
    replace(
        "the nibbles are left out",
        "or(shift_left::<{ nibbles::BITS }>(highs), low)",
        "shift_left::<{ nibbles::BITS }>(highs)",
    ),
    replace("a full probe finds in lanes that are not there", "found & ALL", "found"),
    // Loads.
    replace(
        "the first stripe's version for all",
        "and(group.fingerprints, self.last_stripe)",
        "splat(0)",
    ),
    replace(
        "a stripe's number is not scaled",
        "shift_left::<{ Stripe::WORDS.ilog2() }>(stripes)",
        "stripes",
    ),
    replace(
        "the last lane's version is not loaded",
        VERSIONS,
        "and(gather(Stripe::versions(view.stripes), places), load(&[u64::MAX; LANES - 1]))",
    ),
    replace(
        "the first lane's version is not loaded",
        VERSIONS,
        "and_not(load(&[u64::MAX]), gather(Stripe::versions(view.stripes), places))",
    ),
    replace(
        "the last lane's word is not loaded",
        WORD,
        "and(gather(view.words.as_ptr(), buckets), load(&[u64::MAX; LANES - 1]))",
    ),
    replace(
        "the first bucket is loaded twice",
        WORD,
        "gather(view.words.as_ptr(), group.buckets[0])",
    ),
    replace(
        "the second bucket is loaded twice",
        WORD,
        "gather(view.words.as_ptr(), group.buckets[1])",
    ),
    // Groups with gathered versions.
    replace("gathered versions are not validated", CHANGED, "0"),
    replace(
        "versions are gathered after the words",
        CHANGED,
        "{ let late = self.versions(view, group); different(late, self.versions(view, group)) }",
    ),
    replace(
        "the words are loaded before the versions",
        COMPARED,
        "{
        let words = self.words(view, group);
        let found = self.compare(view, group, words);
        let _ = self.versions(view, group);
        found & !different(self.words(view, group)[0], words[0])
    }",
    ),
    replace("misses are looked up again always", OPEN, "!found & lanes"),
    replace("the first lane is not looked up again", OPEN, "changed & !found & lanes & !1"),
    replace("the last lane is not looked up again", OPEN, "changed & !found & lanes & ALL >> 1"),
    replace("a second lookup is forgotten", AGAIN, "{ view.look_up_again(open, hashes); found }"),
    replace("first hits are forgotten", AGAIN, "view.look_up_again(open, hashes)"),
    // Bursts.
    replace("a burst's last group is not masked", BURST, "u64::from(few) << (place * LANES)"),
    replace("a burst's groups at the same place", BURST, "u64::from(few & lanes)"),
    // Windows.
    replace(
        "the window's hashes are those of the next block",
        "&blocks[1 - current][start..]",
        "&blocks[current][start..]",
    ),
    replace(
        "the window is loaded from its start",
        "load(&blocks[current][start..])",
        "load(&blocks[current])",
    ),
    replace(
        "the window's group is the next one",
        WINDOW,
        "constants.look_up(view, &*group, lanes, hashes) << start",
    ),
    replace(
        "the window's groups at the same place",
        WINDOW,
        "constants.look_up(view, &prefetched, lanes, hashes)",
    ),
    replace(
        "the last window is not masked",
        "u64::from(found & mask(waiting))",
        "u64::from(found)",
    ),
    replace("the window's position stays", "position += waiting", "()"),
    replace("the blocks do not alternate", "current = 1 - current", "()"),
    // Copied versions.
    replace("versions are not copied", "view.copy_versions(&mut versions)", "()"),
    replace("copied versions are not validated", "view.validate(&versions)", "true"),
    replace(
        "versions are copied after the words",
        "view.validate(&versions)",
        "{ view.copy_versions(&mut versions); view.validate(&versions) }",
    ),
    replace("a round's groups at the same place", ROUND, "constants.compare(view, &group, words)"),
    replace(
        "a changed round is not looked up again",
        "found |= view.look_up_again(!found, hashes)",
        "()",
    ),
    replace(
        "a changed round's hits are forgotten",
        "found |= view.look_up_again(!found, hashes)",
        "found = view.look_up_again(!found, hashes)",
    ),
    replace(
        "a round's last group is not masked",
        "u64::from(found & mask(hashes.len()))",
        "u64::from(found)",
    ),
    replace("the round's position stays", "position += hashes.len()", "()"),
    replace(
        "the rest of the batch is not counted",
        REST,
        "{ contains(view, hashes, position, answers); count }",
    ),
    replace("the first rounds are not counted", REST, "contains(view, hashes, position, answers)"),
    replace("the rest of the batch is left out", REST, "count"),
    replace(
        "the rest of the batch starts at 0",
        REST,
        "count + contains(view, hashes, 0, answers)",
    ),
];

const FINGERPRINT: &str = "add(self.min_fingerprint, reduce(mixed, self.fingerprints))";
const REFLECT: &str = "reflect(first, reduce(x, self.buckets), self.buckets)";
const ZEROS: &str = "and(or(zeros[0], zeros[1]), self.highs)";
const VERSIONS: &str = "gather(Stripe::versions(view.stripes), places)";
const WORD: &str = "gather(view.words.as_ptr(), buckets)";
const COMPARED: &str = "self.compare(view, group, self.words(view, group))";
const CHANGED: &str = "different(before, self.versions(view, group))";
const OPEN: &str = "changed & !found & lanes";
const AGAIN: &str = "found | view.look_up_again(open, hashes)";
const BURST: &str = "u64::from(few & lanes) << (place * LANES)";
const WINDOW: &str = "constants.look_up(view, &prefetched, lanes, hashes) << start";
const ROUND: &str = "constants.compare(view, &group, words) << (place * LANES)";
const REST: &str = "count + contains(view, hashes, position, answers)";

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
    replace("the scalar kernel's hashes are taken", "kernel == Kernel::Scalar", "false"),
    replace("all lanes are looked up again", "lanes >> lane & 1 != 0", "true"),
    replace("second lookups at the same place", LOOKUP, "u32::from((self.lookup)(hashes[lane]))"),
    replace(
        "the first hash is looked up again for all",
        LOOKUP,
        "u32::from((self.lookup)(hashes[0])) << lane",
    ),
    replace("a mask of the bit above", "(1_u64 << bits) - 1", "1_u64 << bits"),
    replace(
        "a mask lacks a bit",
        "(1_u64 << bits) - 1",
        "(1_u64 << bits >> 1) - (bits > 0) as u64",
    ),
    replace("more versions are copied than there is room for", "stripes <= MAX_COPIED", "true"),
];

const LOOKUP: &str = "u32::from((self.lookup)(hashes[lane])) << lane";

const AVX2: &[Replacement] = &[
    replace("AVX2: the product lacks the high half of x", HIGH, "multiply_low(x, by.1)"),
    replace(
        "AVX2: the product lacks the high half of the factor",
        HIGH,
        "multiply_low(_mm256_srli_epi64::<32>(x), by.0)",
    ),
    replace("AVX2: a reflection does not wrap", WRAP, "d"),
    replace("AVX2: a reflection always wraps", WRAP, "add(d, n)"),
    replace(
        "AVX2: the last hash is not loaded",
        "splat(hashes.len() as u64)",
        "splat(hashes.len() as u64 - 1)",
    ),
    replace(
        "AVX2: halves are shifted as a whole",
        "_mm256_srl_epi32(x, _mm_cvtsi32_si128(N as i32))",
        "_mm256_srl_epi64(x, _mm_cvtsi32_si128(N as i32))",
    ),
    replace(
        "AVX2: only halves are compared",
        "_mm256_cmpeq_epi64(x, y)",
        "_mm256_cmpeq_epi32(x, y)",
    ),
];

const HIGH: &str = "add(multiply_low(_mm256_srli_epi64::<32>(x), by.0), multiply_low(x, by.1))";
const WRAP: &str = "add(d, and(n, _mm256_cmpgt_epi64(splat(0), d)))";

const AVX512: &[Replacement] = &[
    replace(
        "AVX-512: the product of the low halves",
        "_mm512_mullo_epi64(x, by.0)",
        "multiply_low(x, by.0)",
    ),
    replace("AVX-512: a reflection does not wrap", "_mm512_min_epu64(d, add(d, n))", "d"),
    replace("AVX-512: a reflection always wraps", "_mm512_min_epu64(d, add(d, n))", "add(d, n)"),
    replace(
        "AVX-512: the last hash is not loaded",
        "LANES.min(hashes.len())",
        "LANES.min(hashes.len()) - 1",
    ),
    replace(
        "AVX-512: halves are shifted as a whole",
        "_mm512_srli_epi32::<N>(x)",
        "_mm512_srli_epi64::<N>(x)",
    ),
];

const LOADS: &[Replacement] = &[
    replace("the first word of a pair twice", "from_ref(second)", "from_ref(first)"),
    replace("the second word of a pair twice", "from_ref(first)", "from_ref(second)"),
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
        "_mm_movemask_epi8(none) != 0xffff",
        "_mm_movemask_epi8(none) == 0",
    ),
    replace(
        "single lookups: bytes in the first word only",
        "_mm_movemask_epi8(equal) != 0",
        "_mm_movemask_epi8(equal) & 0xff != 0",
    ),
];

const ANSWERS: &[Replacement] = &[
    replace("a batch is counted wholly", "found.count_ones() as usize", "count"),
    replace("the first eight answers repeat", "rest >>= 8", "()"),
    replace("answers are put at the start", "position..position + count", "0..count"),
];
