//! Buckets: every function of every layout against a list of fingerprints. Exhaustive for narrow
//! words, with random words of the full width.

mod common;

use std::{cmp::Reverse, sync::OnceLock};

use common::runner;
use guira::raw::{BucketLayout, Census, Fingerprint, Plain, SemiSorted};
use proptest::prelude::*;
use rand::RngExt;

/// A layout with a second, straightforward implementation.
trait Oracle: BucketLayout {
    /// Number of bits in use.
    const WIDTH: u32;

    /// Returns the word that holds these fingerprints.
    fn write(fingerprints: &[u32]) -> u64;

    /// Returns the fingerprints in a word, sorted, or `None` if the word is invalid.
    fn read(word: u64) -> Option<Vec<u32>>;

    /// Returns whether a census must accept the word: it is valid apart from the order of slots
    /// that the layout's functions do not depend on.
    fn is_accepted(word: u64) -> bool {
        Self::read(word).is_some()
    }

    /// Returns the fingerprints in a valid word.
    fn decode(word: u64) -> Vec<u32> {
        Self::read(word)
            .unwrap_or_else(|| panic!("{word:#x} is invalid in {}x{}", Self::SLOTS, Self::BITS))
    }
}

/// Splits a word into fields of `bits` bits, up to the last one that is not zero.
fn fields(word: u64, count: u32, bits: u32) -> Vec<u32> {
    let field = |index: u32| (word >> (index * bits)) as u32 & (u32::MAX >> (32 - bits));
    let mut fields: Vec<u32> = (0..count).map(field).collect();
    fields.truncate(fields.iter().rposition(|&field| field != 0).map_or(0, |last| last + 1));
    fields
}

impl<const SLOTS: u32, const BITS: u32> Oracle for Plain<SLOTS, BITS> {
    const WIDTH: u32 = SLOTS * BITS;

    fn write(fingerprints: &[u32]) -> u64 {
        let slots = fingerprints.iter().zip(0..);
        slots.fold(0, |word, (&value, slot)| word | u64::from(value) << (slot * BITS))
    }

    fn read(word: u64) -> Option<Vec<u32>> {
        let mut slots = fields(word, SLOTS, BITS);
        let above = word.checked_shr(Self::WIDTH).unwrap_or(0);
        // No empty slot precedes an occupied one.
        let valid = above == 0 && slots.iter().all(|&value| value != 0);
        slots.sort_unstable();
        valid.then_some(slots)
    }
}

/// Returns all descending sequences of `count` nibbles, ordered by the last nibble, then by the one
/// before it, and so on.
fn sequences(count: u32) -> &'static [Vec<u32>] {
    static SEQUENCES: [OnceLock<Vec<Vec<u32>>>; 7] = [const { OnceLock::new() }; 7];
    SEQUENCES[count as usize].get_or_init(|| {
        if count == 0 {
            return vec![vec![]];
        }
        let shorter = sequences(count - 1).iter();
        let longer = shorter.flat_map(|sequence| {
            let next = 0..=sequence.last().copied().unwrap_or(15);
            next.map(|nibble| [&sequence[..], &[nibble]].concat())
        });
        let mut longer: Vec<_> = longer.collect();
        longer.sort_unstable_by(|one, other| one.iter().rev().cmp(other.iter().rev()));
        longer
    })
}

/// Returns the number of bits of a code for `count` nibbles.
fn code_bits(count: u32) -> u32 {
    sequences(count).len().next_power_of_two().ilog2()
}

impl<const SLOTS: u32, const BITS: u32> Oracle for SemiSorted<SLOTS, BITS> {
    const WIDTH: u32 = [0, 4, 8, 10, 12, 14, 16][SLOTS as usize] + SLOTS * (BITS - 4);

    fn write(fingerprints: &[u32]) -> u64 {
        let mut sorted = fingerprints.to_vec();
        sorted.sort_unstable_by_key(|&value| Reverse((value % 16, value / 16)));
        let mut nibbles: Vec<u32> = sorted.iter().map(|value| value % 16).collect();
        nibbles.resize(SLOTS as usize, 0);
        let code = sequences(SLOTS)
            .binary_search_by(|other| other.iter().rev().cmp(nibbles.iter().rev()))
            .expect("a descending sequence");
        let highs = sorted
            .iter()
            .zip(0..)
            .fold(0, |highs, (&value, slot)| highs | u64::from(value / 16) << (slot * (BITS - 4)));
        code as u64 | highs << code_bits(SLOTS)
    }

    fn read(word: u64) -> Option<Vec<u32>> {
        let (code, highs) = (word & ((1 << code_bits(SLOTS)) - 1), word >> code_bits(SLOTS));
        let nibbles = sequences(SLOTS).get(code as usize)?;
        let highs = fields(highs, SLOTS, BITS - 4);
        let mut fingerprints: Vec<u32> =
            highs.iter().zip(nibbles).map(|(high, nibble)| high * 16 + nibble).collect();
        fingerprints.sort_unstable();
        let valid = highs.iter().all(|&high| high != 0) && Self::write(&fingerprints) == word;
        valid.then_some(fingerprints)
    }

    fn is_accepted(word: u64) -> bool {
        let (code, highs) = (word & ((1 << code_bits(SLOTS)) - 1), word >> code_bits(SLOTS));
        let Some(nibbles) = sequences(SLOTS).get(code as usize) else { return false };
        let above = highs.checked_shr(SLOTS * (BITS - 4)).unwrap_or(0);
        // The order of slots with equal nibbles does not matter.
        let highs = fields(highs, SLOTS, BITS - 4);
        above == 0
            && highs.iter().all(|&high| high != 0)
            && nibbles[highs.len()..].iter().all(|&nibble| nibble == 0)
    }
}

/// Checks that the word, if one is expected, holds exactly these fingerprints.
fn expect<L: Oracle>(what: &str, word: Option<u64>, mut expected: Option<Vec<u32>>) {
    if let Some(expected) = &mut expected {
        expected.sort_unstable();
    }
    let found = word.map(|word| L::read(word).ok_or(word));
    assert_eq!(found, expected.map(Ok), "{what} of {}x{}", L::SLOTS, L::BITS);
}

/// Checks the functions that take a word alone.
fn check_word<L: Oracle>(word: u64) {
    let held = L::decode(word);
    assert_eq!(L::is_full(word), held.len() == L::SLOTS as usize, "is_full({word:#x})");
    let mut listed: Vec<u32> = L::fingerprints(word).map(Fingerprint::get).collect();
    listed.sort_unstable();
    assert_eq!(listed, held, "fingerprints({word:#x})");
    let census = Census { occupied: held.len() as u64, valid: true };
    assert_eq!(L::census(&[word]), census, "census({word:#x})");
}

/// Checks the functions that take a word and a fingerprint.
fn check_fingerprint<L: Oracle>(word: u64, value: u32) {
    let held = L::decode(word);
    let fingerprint = Fingerprint::new(value);
    let pattern = L::pattern(fingerprint);
    let count = held.iter().filter(|&&other| other == value).count();
    assert_eq!(L::count(word, pattern) as usize, count, "count({word:#x}, {value})");
    assert_eq!(L::contains(word, pattern), count > 0, "contains({word:#x}, {value})");

    let more = (held.len() < L::SLOTS as usize).then(|| [&held[..], &[value]].concat());
    if let Some(with) = L::with(word, fingerprint) {
        assert!(L::is_emptier(word, with) && !L::is_emptier(with, word), "{word:#x}, {with:#x}");
    }
    expect::<L>("with", L::with(word, fingerprint), more);
    expect::<L>("without", L::without(word, pattern), without(&held, value));
}

/// Checks `replace`.
fn check_replace<L: Oracle>(word: u64, old: u32, new: u32) {
    let replaced = L::replace(word, L::pattern(Fingerprint::new(old)), Fingerprint::new(new));
    let expected = without(&L::decode(word), old).map(|rest| [&rest[..], &[new]].concat());
    expect::<L>("replace", replaced, expected);
}

/// Returns the list without one copy of `value`, or `None` if it has none.
fn without(held: &[u32], value: u32) -> Option<Vec<u32>> {
    let position = held.iter().position(|&other| other == value)?;
    let mut rest = held.to_vec();
    rest.remove(position);
    Some(rest)
}

/// Checks every word with every fingerprint and every replacement (in debug builds, every third).
fn check_every_word<L: Oracle>() {
    assert_eq!(L::MAX_FINGERPRINT, (1 << L::BITS) - 1);
    // Two bits more than are in use, if the word has them.
    for number in 0..1 << (L::WIDTH + 2).min(64) {
        assert_eq!(L::census(&[number]).valid, L::is_accepted(number), "census({number:#x})");
    }
    for word in (0..1 << L::WIDTH).filter(|&word| L::read(word).is_some()) {
        check_word::<L>(word);
        for value in L::MIN_FINGERPRINT..=L::MAX_FINGERPRINT {
            check_fingerprint::<L>(word, value);
            for new in (L::MIN_FINGERPRINT..=L::MAX_FINGERPRINT).step_by(common::scaled(3, 1)) {
                check_replace::<L>(word, value, new);
            }
        }
    }
}

/// Defines a module with one test per layout of a family, which calls a generic function.
macro_rules! for_layouts {
    ($check:ident in $module:ident of $family:ident:
     $($name:ident: $slots:literal x $bits:literal),* $(,)?) => {
        mod $module {
            use super::*;
            $(#[test]
            fn $name() {
                $check::<$family<$slots, $bits>>();
            })*
        }
    };
}

for_layouts! {
    check_every_word in every_plain_word of Plain:
    of_1x1: 1 x 1, of_2x1: 2 x 1, of_3x1: 3 x 1, of_8x1: 8 x 1, of_12x1: 12 x 1,
    of_1x2: 1 x 2, of_2x2: 2 x 2, of_3x2: 3 x 2, of_4x2: 4 x 2, of_5x2: 5 x 2, of_6x2: 6 x 2,
    of_1x3: 1 x 3, of_2x3: 2 x 3, of_3x3: 3 x 3, of_4x3: 4 x 3,
    of_2x4: 2 x 4, of_3x4: 3 x 4,
    of_2x5: 2 x 5, of_1x6: 1 x 6,
}

for_layouts! {
    check_every_word in every_semi_sorted_word of SemiSorted:
    of_1x5: 1 x 5, of_2x5: 2 x 5, of_3x5: 3 x 5, of_4x5: 4 x 5, of_5x5: 5 x 5,
    of_1x6: 1 x 6, of_2x6: 2 x 6, of_1x8: 1 x 8,
}

/// Draws a word, a fingerprint and a replacement. The slots of the word are likely to confuse SWAR
/// tests: empty, equal to the fingerprint, one bit or one step away from it (where the subtraction
/// of the short test borrows), the largest value, or random.
fn confusing<L: Oracle>() -> impl Strategy<Value = (u64, u32, u32)> {
    let min = L::MIN_FINGERPRINT;
    let value = prop_oneof![min..=L::MAX_FINGERPRINT, Just(min), Just(L::MAX_FINGERPRINT)];
    (value, min..=L::MAX_FINGERPRINT).prop_flat_map(move |(value, new)| {
        let slot = prop_oneof![
            2 => Just(0),
            4 => Just(value),
            2 => (0..L::BITS).prop_map(move |bit| value ^ 1 << bit),
            1 => Just(value.wrapping_add(1) & L::MAX_FINGERPRINT),
            1 => Just(value.wrapping_sub(1)),
            1 => Just(L::MAX_FINGERPRINT),
            2 => 0..=L::MAX_FINGERPRINT,
        ];
        let word = prop::collection::vec(slot, L::SLOTS as usize).prop_map(|mut slots| {
            slots.retain(|&value| value >= L::MIN_FINGERPRINT);
            L::write(&slots)
        });
        (word, Just(value), Just(new))
    })
}

/// Checks the census of many words: empty, full and mixed ones, and with one random number among
/// them.
fn check_many<L: Oracle>() {
    let mut rng = common::rng(u64::from(L::BITS));
    for length in [0, 1, 2, 63, 127, 128, 129, 255, 256, 257, 1000] {
        for min in [0, 0, L::SLOTS] {
            for max in [0, L::SLOTS] {
                let (min, mut occupied) = (min.min(max), 0);
                let mut words: Vec<u64> = (0..length)
                    .map(|_| {
                        let slots = rng.random_range(min..=max);
                        occupied += u64::from(slots);
                        let mut value =
                            || rng.random_range(L::MIN_FINGERPRINT..=L::MAX_FINGERPRINT);
                        L::write(&(0..slots).map(|_| value()).collect::<Vec<_>>())
                    })
                    .collect();
                assert_eq!(L::census(&words), Census { occupied, valid: true });
                for _ in 0..common::scaled(20, 100) {
                    let number = rng.random::<u64>() >> rng.random_range(0..64);
                    if words.is_empty() {
                        break;
                    }
                    let index = rng.random_range(0..words.len());
                    let before = std::mem::replace(&mut words[index], number);
                    let accepted = L::is_accepted(number);
                    assert_eq!(L::census(&words).valid, accepted, "{number:#x} at {index}");
                    words[index] = before;
                }
            }
        }
    }
}

/// Checks all functions with random words.
fn check_random_words<L: Oracle>() {
    let cases = common::scaled(1_000, 10_000);
    let outcome = runner(cases, u64::from(L::BITS)).run(&confusing::<L>(), |(word, value, new)| {
        check_word::<L>(word);
        check_fingerprint::<L>(word, value);
        check_replace::<L>(word, value, new);
        check_replace::<L>(word, value, value);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    check_many::<L>();
}

for_layouts! {
    check_random_words in wide_plain_words of Plain:
    of_8x8: 8 x 8, of_6x10: 6 x 10, of_5x12: 5 x 12, of_4x16: 4 x 16,
    of_64x1: 64 x 1, of_32x2: 32 x 2, of_21x3: 21 x 3, of_16x4: 16 x 4, of_12x5: 12 x 5,
    of_7x9: 7 x 9, of_3x21: 3 x 21, of_2x31: 2 x 31, of_1x31: 1 x 31, of_1x8: 1 x 8,
}

for_layouts! {
    check_random_words in wide_semi_sorted_words of SemiSorted:
    of_6x12: 6 x 12, of_5x14: 5 x 14, of_4x17: 4 x 17, of_3x22: 3 x 22,
    of_6x5: 6 x 5, of_6x8: 6 x 8, of_5x10: 5 x 10, of_4x6: 4 x 6, of_2x31: 2 x 31, of_1x31: 1 x 31,
}

/// Checks that of any two words the one with fewer fingerprints is the emptier one.
fn check_emptier<L: Oracle>() {
    let words: Vec<(u64, usize)> =
        (0..1_u64 << L::WIDTH).filter_map(|word| Some((word, L::read(word)?.len()))).collect();
    for (word, held) in &words {
        for (other, other_held) in words.iter().filter(|(_, other_held)| other_held != held) {
            assert_eq!(L::is_emptier(*word, *other), held < other_held, "{word:#x}, {other:#x}");
        }
    }
}

#[test]
fn the_emptier_word_has_fewer_fingerprints() {
    check_emptier::<Plain<3, 3>>();
    check_emptier::<SemiSorted<2, 6>>();
    check_emptier::<SemiSorted<3, 5>>();
}

/// Checks both probes with all pairs of words of a narrow layout.
#[test]
fn probes_of_two_words() {
    type L = SemiSorted<2, 6>;
    let words: Vec<u64> = (0..1_u64 << L::WIDTH).filter(|&word| L::read(word).is_some()).collect();
    for value in [L::MIN_FINGERPRINT, 17, 35, L::MAX_FINGERPRINT] {
        let pattern = L::pattern(Fingerprint::new(value));
        for &first in &words {
            for &second in &words {
                let expected = [first, second].map(|word| L::decode(word).contains(&value));
                let expected = expected != [false; 2];
                assert_eq!(L::either_contains([first, second], pattern), expected);
                let (found, certain) = L::quick_probe([first, second], pattern);
                assert!(found == expected || !certain, "{value} in {first:#x}, {second:#x}");
                assert!(found || certain, "a miss is certain");
            }
        }
    }
}

/// Fills a word one fingerprint at a time, and empties it in another order.
fn fills_and_empties<L: Oracle>() {
    let values = [16, L::MAX_FINGERPRINT, 16, 17, 2048];
    let mut word = 0;
    for (count, &value) in values.iter().enumerate() {
        assert_eq!(L::fingerprints(word).count(), count);
        word = L::with(word, Fingerprint::new(value)).expect("an empty slot");
    }
    assert_eq!(L::with(word, Fingerprint::new(30)), None);
    for &value in values.iter().rev() {
        word = L::without(word, L::pattern(Fingerprint::new(value)))
            .expect("the fingerprint is present");
    }
    assert_eq!(word, 0);
}

#[test]
fn a_word_fills_and_empties() {
    fills_and_empties::<Plain<5, 12>>();
    fills_and_empties::<SemiSorted<5, 14>>();
}

/// The code of every sequence of nibbles, up to the longest ones, is its rank.
#[test]
fn every_code_is_the_rank_of_its_sequence() {
    fn check<L: Oracle>() {
        for (code, sequence) in (0..).zip(sequences(L::SLOTS)) {
            let fingerprints: Vec<u32> = sequence.iter().map(|nibble| 16 + nibble).collect();
            let word = fingerprints.iter().rev().fold(0, |word, &fingerprint| {
                L::with(word, Fingerprint::new(fingerprint)).expect("an empty slot")
            });
            assert_eq!(word & ((1 << code_bits(L::SLOTS)) - 1), code);
            assert!(L::fingerprints(word).map(Fingerprint::get).eq(fingerprints));
        }
    }
    check::<SemiSorted<1, 8>>();
    check::<SemiSorted<2, 8>>();
    check::<SemiSorted<3, 22>>();
    check::<SemiSorted<4, 17>>();
    check::<SemiSorted<5, 14>>();
    check::<SemiSorted<6, 12>>();
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "empty slot")]
fn zero_is_no_fingerprint() {
    let _ = Fingerprint::new(0);
}
