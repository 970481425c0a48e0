//! The mutants of the steps that both kernels share.

use super::list::{Replacement, replace};

pub(super) const STEPS: &[Replacement] = &[
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
    replace("the second bucket is not reflected", REFLECT, "t"),
    // Addressing in chains.
    replace(
        "a chain's first bucket is not halved",
        HIGH,
        "reflect(first, halved(t), self.first_buckets)",
    ),
    replace(
        "a chain's reflection is not halved",
        HIGH,
        "reflect(halved(first), t, self.first_buckets)",
    ),
    replace(
        "a chain's reflection wraps at all buckets",
        HIGH,
        "reflect(halved(first), halved(t), self.buckets)",
    ),
    replace(
        "a chain's low bits are those of the first bucket",
        "and(xor(t, first), self.low_bits)",
        "and(first, self.low_bits)",
    ),
    replace(
        "a chain's low bits are not masked",
        "and(xor(t, first), self.low_bits)",
        "xor(t, first)",
    ),
    replace(
        "a chain's low bits are left out",
        "or(shift_left_by(high, view.level), low)",
        "shift_left_by(high, view.level)",
    ),
    replace(
        "a chain's stripe is that of the last segment's fingerprint",
        "shift_right_by(fingerprints, view.extra_bits)",
        "fingerprints",
    ),
    replace(
        "an earlier segment's fingerprints are not cut",
        "shift_right_by(group.fingerprints, part.fingerprint_shift)",
        "group.fingerprints",
    ),
    replace(
        "an earlier segment's buckets are halved once more",
        "shift_right_by(buckets, part.bucket_shift)",
        "shift_right_by(buckets, part.bucket_shift + 1)",
    ),
    // Segments.
    replace("the last segment is left out", LAST, "(0, splat(0))"),
    replace("the earlier segments are left out", EARLIER, "(0, splat(0))"),
    replace(
        "the earlier segments have the lanes of the last one",
        EARLIER,
        "compare::<VALUES>(part, self.ones, self.highs, group)",
    ),
    // Comparisons.
    replace(
        "the bits below a lane are not shifted away",
        "shift_right_by(group.fingerprints, part.bits_below)",
        "group.fingerprints",
    ),
    replace(
        "the zero-lane test is left half",
        "and_not(x, subtract(x, ones.factor()))",
        "subtract(x, ones.factor())",
    ),
    replace("the second word is not compared", ZEROS, "and(zeros[0], highs)"),
    replace("the first word is not compared", ZEROS, "and(zeros[1], highs)"),
    replace("all bits of the zero-lane test count", ZEROS, "or(zeros[0], zeros[1])"),
    replace("a quick probe is the answer", "part.bits_below == 0 || found == 0", "true"),
    replace("plain words are probed fully", "part.bits_below == 0 || found == 0", "found == 0"),
    replace("the first slot is not probed", "0..part.lanes.count()", "1..part.lanes.count()"),
    replace("the last slot is not probed", "0..part.lanes.count()", "0..part.lanes.count() - 1"),
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
    // Values.
    replace(
        "the zero-lane test subtracts within the values",
        "multiplier(view.last.ones)",
        "multiplier(view.last.lanes.ones())",
    ),
    replace("values of the first word only", VALUED, "words[0]"),
    replace("values of the second word only", VALUED, "words[1]"),
    replace("marks of the first word only", MARKED, "marks[0]"),
    replace("marks of the second word only", MARKED, "marks[1]"),
    replace("all marks count", "and(marks, subtract(splat(0), marks))", "marks"),
    replace(
        "values with fingerprints",
        "and(slot, splat(mask(part.value_bits as usize).into()))",
        "slot",
    ),
    replace(
        "every item has a value",
        "select(marks, or(value, splat(FOUND.into())), splat(0))",
        "or(value, splat(FOUND.into()))",
    ),
    replace("values of the last segment only", SEGMENT, "all"),
    replace("values of the first segment only", SEGMENT, "earlier"),
    replace(
        "a group's values are not written",
        "values[..LANES].copy_from_slice(&store_low(answers))",
        "()",
    ),
    replace(
        "a burst's values at the same place",
        "part_of::<VALUES>(values, place * LANES)",
        "part_of::<VALUES>(values, 0)",
    ),
    replace(
        "the window's values at the same place",
        "part_of::<VALUES>(&mut values, start)",
        "part_of::<VALUES>(&mut values, 0)",
    ),
    replace("a round's values at the same place", "place * LANES..", "0.."),
    // Loads.
    replace(
        "the first stripe's version for all",
        "and(firsts::<NESTED>(view, group.fingerprints), self.last_stripe)",
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
        "and(gather(part.words.as_ptr(), buckets), load(&[u64::MAX; LANES - 1]))",
    ),
    replace(
        "the first bucket is loaded twice",
        WORD,
        "gather(part.words.as_ptr(), group.buckets[0])",
    ),
    replace(
        "the second bucket is loaded twice",
        WORD,
        "gather(part.words.as_ptr(), group.buckets[1])",
    ),
    // Groups with gathered versions.
    replace("gathered versions are not validated", CHANGED, "0"),
    replace(
        "versions are gathered after the words",
        CHANGED,
        "{
        let late = self.versions::<NESTED>(view, group);
        different(late, self.versions::<NESTED>(view, group))
    }",
    ),
    replace("misses are looked up again always", OPEN, "!found & lanes"),
    replace("the first lane is not looked up again", OPEN, "changed & !found & lanes & !1"),
    replace("the last lane is not looked up again", OPEN, "changed & !found & lanes & ALL >> 1"),
    replace(
        "a second lookup is forgotten",
        AGAIN,
        "{ view.look_up_again(open, hashes, values); found }",
    ),
    replace("first hits are forgotten", AGAIN, "view.look_up_again(open, hashes, values)"),
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
        "{
        let _ = few;
        constants.look_up::<NESTED, VALUES>(view, &*group, next, lanes, hashes, values) << start
    }",
    ),
    replace("the window's groups at the same place", WINDOW, "few"),
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
    replace("a round's groups at the same place", ROUND, "few"),
    replace(
        "a changed round is not looked up again",
        "found |= view.look_up_again(!found, hashes, values)",
        "()",
    ),
    replace(
        "a changed round's hits are forgotten",
        "found |= view.look_up_again(!found, hashes, values)",
        "found = view.look_up_again(!found, hashes, values)",
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
        "{ contains::<NESTED, VALUES>(view, hashes, position, answers); count }",
    ),
    replace(
        "the first rounds are not counted",
        REST,
        "contains::<NESTED, VALUES>(view, hashes, position, answers)",
    ),
    replace("the rest of the batch is left out", REST, "count"),
    replace(
        "the rest of the batch starts at 0",
        REST,
        "count + contains::<NESTED, VALUES>(view, hashes, 0, answers)",
    ),
];

const HIGH: &str = "reflect(halved(first), halved(t), self.first_buckets)";
const LAST: &str = "compare::<VALUES>(&view.last, self.ones, self.highs, group)";
const EARLIER: &str = "compare::<VALUES>(part, ones, highs, group)";
const FINGERPRINT: &str = "add(self.min_fingerprint, reduce(mixed, self.fingerprints))";
const REFLECT: &str = "reflect(first, t, self.buckets)";
const ZEROS: &str = "and(or(zeros[0], zeros[1]), highs)";
const VALUED: &str = "select(marks[0], words[0], words[1])";
const MARKED: &str = "select(marks[0], marks[0], marks[1])";
const SEGMENT: &str = "select(all, all, earlier)";
const VERSIONS: &str = "gather(Stripe::versions(view.stripes), places)";
const WORD: &str = "gather(part.words.as_ptr(), buckets)";
const CHANGED: &str = "different(before, self.versions::<NESTED>(view, group))";
const OPEN: &str = "changed & !found & lanes";
const AGAIN: &str = "found | view.look_up_again(open, hashes, values)";
const BURST: &str = "u64::from(few & lanes) << (place * LANES)";
const WINDOW: &str = "few << start";
const ROUND: &str = "few << (place * LANES)";
const REST: &str = "count + contains::<NESTED, VALUES>(view, hashes, position, answers)";
