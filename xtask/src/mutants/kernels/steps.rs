//! The mutants of the steps that both kernels share.

use super::list::{Replacement, replace};

/// From hashes to mixed ones.
pub(super) const MIXING: &[Replacement] = &[
    // Addressing.
    replace("the seed is left out", "hashes.xor(self.seed)", "hashes"),
    replace(
        "the mixer's first factor twice",
        "x.xor(x.shift_right::<{ MIXER[1].0 }>()).multiply(self.factors[1])",
        "x.xor(x.shift_right::<{ MIXER[1].0 }>()).multiply(self.factors[0])",
    ),
    replace("the mixer's last shift is left out", "x.xor(x.shift_right::<31>())", "x"),
    replace("the scatter's shift is left out", "x.xor(x.shift_right_low::<15>())", "x"),
    replace(
        "the scatter's shift is one of 64 bits",
        "x.xor(x.shift_right_low::<15>())",
        "x.xor(x.shift_right::<15>())",
    ),
];

/// Lookups in tables of a fixed size.
pub(super) const FIXED: &[Replacement] = &[
    // Addressing.
    replace(
        "the smallest fingerprint is not added",
        FINGERPRINT,
        "mixed.reduce(self.fingerprints)",
    ),
    replace(
        "the fingerprint is one larger",
        FINGERPRINT,
        "self.splat(1).add(self.min_fingerprint.add(mixed.reduce(self.fingerprints)))",
    ),
    replace(
        "one fingerprint more",
        FINGERPRINT,
        "self.min_fingerprint.add(mixed.reduce(self.fingerprints.add(self.splat(1))))",
    ),
    replace("the bucket from the low half", "mixed.shift_right::<32>()", "mixed"),
    replace("the second bucket is the first one", REFLECT, "first"),
    replace("the second bucket is not reflected", REFLECT, "t"),
    // Comparisons.
    replace(
        "the bits below a lane are not shifted away",
        "group.fingerprints.shift_right_by(part.bits_below)",
        "group.fingerprints",
    ),
    replace("the zero-lane test is left half", "x.and_not(x.subtract(ones))", "x.subtract(ones)"),
    replace("the second word is not compared", ZEROS, "zeros[0].and(highs).nonzero()"),
    replace("the first word is not compared", ZEROS, "zeros[1].and(highs).nonzero()"),
    replace("all bits of the zero-lane test count", ZEROS, "zeros[0].or(zeros[1]).nonzero()"),
    replace("a quick probe is the answer", "part.bits_below != 0 && found != 0", "false"),
    replace("plain words are probed fully", "part.bits_below != 0 && found != 0", "found != 0"),
    replace("the first slot is not probed", "0..part.lanes.count()", "1..part.lanes.count()"),
    replace("the last slot is not probed", "0..part.lanes.count()", "0..part.lanes.count() - 1"),
    replace("the first word's code twice", "word.and(codes)", "words[0].and(codes)"),
    replace(
        "the first nibble for all slots",
        "sequence.shift_right_by(slot * nibbles::BITS)",
        "sequence",
    ),
    replace(
        "the nibbles are left out",
        "highs.shift_left::<{ nibbles::BITS }>().or(low)",
        "highs.shift_left::<{ nibbles::BITS }>()",
    ),
    replace("a full probe finds in lanes that are not there", "found & V::ALL", "found"),
    // Values.
    replace(
        "the zero-lane test subtracts within the values",
        "Factor::splat(view.part.ones)",
        "Factor::splat(view.part.lanes.ones())",
    ),
    replace("values of the first word only", VALUED, "words[0]"),
    replace("values of the second word only", VALUED, "words[1]"),
    replace("marks of the first word only", MARKED, "marks[0]"),
    replace("marks of the second word only", MARKED, "marks[1]"),
    replace("all marks count", "marks.and(self.splat(0).subtract(marks))", "marks"),
    replace(
        "values with fingerprints",
        "slot.and(self.splat(mask(part.value_bits as usize).into()))",
        "slot",
    ),
    replace(
        "every item has a value",
        "marks.select(value.or(self.splat(FOUND.into())), self.splat(0))",
        "value.or(self.splat(FOUND.into()))",
    ),
    // Loads.
    replace(
        "the first stripe's version for all",
        "group.fingerprints.and(self.last_stripe)",
        "self.splat(0)",
    ),
    replace(
        "a stripe's number is not scaled",
        "stripes.shift_left::<{ Stripe::WORDS.ilog2() }>()",
        "stripes",
    ),
    replace(
        "the last lane's version is not loaded",
        VERSIONS,
        "places.gather(Stripe::versions(self.view.stripes)).and(V::load(&[u64::MAX; 7][..V::LANES - 1]))",
    ),
    replace(
        "the first lane's version is not loaded",
        VERSIONS,
        "V::load(&[u64::MAX]).and_not(places.gather(Stripe::versions(self.view.stripes)))",
    ),
    replace(
        "the last lane's word is not loaded",
        WORD,
        "first.gather(part.words.as_ptr()).and(V::load(&[u64::MAX; 7][..V::LANES - 1]))",
    ),
    replace("the first bucket is loaded twice", OTHER_WORD, "first.gather(part.words.as_ptr())"),
    replace("the second bucket is loaded twice", WORD, "second.gather(part.words.as_ptr())"),
];

/// The ways in which a batch is looked up.
pub(super) const WAYS: &[Replacement] = &[
    // Values.
    replace("a group's values are not written", "answers.store_low(values)", "()"),
    replace(
        "a burst's values at the same place",
        "part_of(T::VALUES, values, place * V::LANES)",
        "part_of(T::VALUES, values, 0)",
    ),
    replace(
        "the window's values at the same place",
        "part_of(T::VALUES, &mut values, start)",
        "part_of(T::VALUES, &mut values, 0)",
    ),
    replace("a round's values at the same place", "place * V::LANES..", "0.."),
    // Groups with gathered versions.
    replace("gathered versions are not validated", CHANGED, "0"),
    replace(
        "versions are gathered after the words",
        CHANGED,
        "{
        let late = table.versions(group);
        late.different(table.versions(group))
    }",
    ),
    replace("misses are looked up again always", OPEN, "!found & lanes"),
    replace(
        "the first lane is not looked up again",
        OPEN,
        "(changed | open) & !found & lanes & !1",
    ),
    replace(
        "the last lane is not looked up again",
        OPEN,
        "(changed | open) & !found & lanes & V::ALL >> 1",
    ),
    replace(
        "a second lookup is forgotten",
        AGAIN,
        "{ table.look_up_again(open, hashes, values); found }",
    ),
    replace("first hits are forgotten", AGAIN, "table.look_up_again(open, hashes, values)"),
    // Bursts.
    replace("a burst's last group is not masked", BURST, "u64::from(few) << (place * V::LANES)"),
    replace("a burst's groups at the same place", BURST, "u64::from(few & lanes)"),
    // Windows.
    replace(
        "the window's hashes are those of the next block",
        "&blocks[1 - current][start..]",
        "&blocks[current][start..]",
    ),
    replace(
        "the window is loaded from its start",
        "table.locate(&blocks[current][start..])",
        "table.locate(&blocks[current])",
    ),
    replace(
        "the window's group is the next one",
        WINDOW,
        "{
        let _ = few;
        look_up(table, &*group, lanes, hashes, values) << start
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
    replace("versions are not copied", "copy_versions(table.stripes(), &mut versions)", "()"),
    replace("copied versions are not validated", "validate(table.stripes(), &versions)", "true"),
    replace(
        "versions are copied after the words",
        "validate(table.stripes(), &versions)",
        "{ copy_versions(table.stripes(), &mut versions); validate(table.stripes(), &versions) }",
    ),
    replace("a round's groups at the same place", ROUND, "few.found"),
    replace(
        "a changed round is not looked up again",
        "found |= table.look_up_again(!found, hashes, values)",
        "()",
    ),
    replace(
        "a changed round's hits are forgotten",
        "found |= table.look_up_again(!found, hashes, values)",
        "found = table.look_up_again(!found, hashes, values)",
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
        "{ rest(hashes, position, answers); count }",
    ),
    replace("the first rounds are not counted", REST, "rest(hashes, position, answers)"),
    replace("the rest of the batch is left out", REST, "count"),
    replace("the rest of the batch starts at 0", REST, "count + rest(hashes, 0, answers)"),
];

const FINGERPRINT: &str = "self.min_fingerprint.add(mixed.reduce(self.fingerprints))";
const REFLECT: &str = "first.reflect(t, self.buckets)";
const ZEROS: &str = "zeros[0].or(zeros[1]).and(highs).nonzero()";
const VALUED: &str = "marks[0].select(words[0], words[1])";
const MARKED: &str = "marks[0].select(marks[0], marks[1])";
const VERSIONS: &str = "places.gather(Stripe::versions(self.view.stripes))";
const WORD: &str = "first.gather(part.words.as_ptr())";
const OTHER_WORD: &str = "second.gather(part.words.as_ptr())";
const CHANGED: &str = "before.different(table.versions(group))";
const OPEN: &str = "(changed | open) & !found & lanes";
const AGAIN: &str = "found | table.look_up_again(open, hashes, values)";
const BURST: &str = "u64::from(few & lanes) << (place * V::LANES)";
const WINDOW: &str = "few << start";
const ROUND: &str = "few.found << (place * V::LANES)";
const REST: &str = "count + rest(hashes, position, answers)";
