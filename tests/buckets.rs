//! Words: every function of every layout against a list of numbers, exhaustively where words are
//! narrow, by property where they are as wide as the real ones.

mod common;

use std::{cmp::Reverse, sync::OnceLock};

use common::runner;
use guira::raw::{BucketLayout, Census, Fingerprint, Plain, SemiSorted};
use proptest::prelude::*;
use rand::RngExt;

/// A layout read and written in the most naive way.
trait Naive: BucketLayout {
    /// Bits in use.
    const WIDTH: u32;

    /// The word of these fingerprints.
    fn write(fingerprints: &[u32]) -> u64;

    /// The fingerprints in a word, sorted; `None` if there is no such word.
    fn read(word: u64) -> Option<Vec<u32>>;

    /// Whether a number can pass for a word: but for the order of some lanes, it is one.
    fn passes(word: u64) -> bool {
        Self::read(word).is_some()
    }

    /// The fingerprints in a word that there is.
    fn decode(word: u64) -> Vec<u32> {
        Self::read(word).unwrap_or_else(|| panic!("{word:#x} of {}x{}", Self::LANES, Self::BITS))
    }
}

/// Some lanes of so many bits, up to the last one that is not zero.
fn lanes(word: u64, count: u32, bits: u32) -> Vec<u32> {
    let lane = |lane: u32| (word >> (lane * bits)) as u32 & (u32::MAX >> (32 - bits));
    let mut lanes: Vec<u32> = (0..count).map(lane).collect();
    lanes.truncate(lanes.iter().rposition(|&lane| lane != 0).map_or(0, |last| last + 1));
    lanes
}

impl<const LANES: u32, const BITS: u32> Naive for Plain<LANES, BITS> {
    const WIDTH: u32 = LANES * BITS;

    fn write(fingerprints: &[u32]) -> u64 {
        let lanes = fingerprints.iter().zip(0..);
        lanes.fold(0, |word, (&lane, place)| word | u64::from(lane) << (place * BITS))
    }

    fn read(word: u64) -> Option<Vec<u32>> {
        let mut lanes = lanes(word, LANES, BITS);
        let above = word.checked_shr(Self::WIDTH).unwrap_or(0);
        // No empty lane below an occupied one.
        let proper = above == 0 && lanes.iter().all(|&lane| lane != 0);
        lanes.sort_unstable();
        proper.then_some(lanes)
    }
}

/// All descending sequences of so many nibbles, ordered by the last nibble, then the one before it, and so on.
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

/// Bits of a code: enough for the number of sequences.
fn code_bits(count: u32) -> u32 {
    sequences(count).len().next_power_of_two().ilog2()
}

impl<const LANES: u32, const BITS: u32> Naive for SemiSorted<LANES, BITS> {
    const WIDTH: u32 = [0, 4, 8, 10, 12, 14, 16][LANES as usize] + LANES * (BITS - 4);

    fn write(fingerprints: &[u32]) -> u64 {
        let mut sorted = fingerprints.to_vec();
        sorted.sort_unstable_by_key(|&it| Reverse((it % 16, it / 16)));
        let mut nibbles: Vec<u32> = sorted.iter().map(|it| it % 16).collect();
        nibbles.resize(LANES as usize, 0);
        let code = sequences(LANES)
            .binary_search_by(|other| other.iter().rev().cmp(nibbles.iter().rev()))
            .expect("a descending sequence");
        let highs = sorted.iter().zip(0..).fold(0, |highs, (&fingerprint, place)| {
            highs | u64::from(fingerprint / 16) << (place * (BITS - 4))
        });
        code as u64 | highs << code_bits(LANES)
    }

    fn read(word: u64) -> Option<Vec<u32>> {
        let (code, highs) = (word & ((1 << code_bits(LANES)) - 1), word >> code_bits(LANES));
        let nibbles = sequences(LANES).get(code as usize)?;
        let highs = lanes(highs, LANES, BITS - 4);
        let mut fingerprints: Vec<u32> =
            highs.iter().zip(nibbles).map(|(high, nibble)| high * 16 + nibble).collect();
        fingerprints.sort_unstable();
        let proper = highs.iter().all(|&high| high != 0) && Self::write(&fingerprints) == word;
        proper.then_some(fingerprints)
    }

    fn passes(word: u64) -> bool {
        let (code, highs) = (word & ((1 << code_bits(LANES)) - 1), word >> code_bits(LANES));
        let Some(nibbles) = sequences(LANES).get(code as usize) else { return false };
        let above = highs.checked_shr(LANES * (BITS - 4)).unwrap_or(0);
        // The order of lanes with equal nibbles does not matter.
        let highs = lanes(highs, LANES, BITS - 4);
        above == 0
            && highs.iter().all(|&high| high != 0)
            && nibbles[highs.len()..].iter().all(|&it| it == 0)
    }
}

/// Checks that a word, if there is to be one, holds these fingerprints and nothing else at all.
fn expect<L: Naive>(what: &str, word: Option<u64>, mut expected: Option<Vec<u32>>) {
    if let Some(expected) = &mut expected {
        expected.sort_unstable();
    }
    let found = word.map(|word| L::read(word).ok_or(word));
    assert_eq!(found, expected.map(Ok), "{what} of {}x{}", L::SLOTS, L::BITS);
}

/// Checks what a word says of itself.
fn check_word<L: Naive>(word: u64) {
    let held = L::decode(word);
    assert_eq!(L::is_full(word), held.len() == L::SLOTS as usize, "is_full({word:#x})");
    let mut listed: Vec<u32> = L::fingerprints(word).map(Fingerprint::get).collect();
    listed.sort_unstable();
    assert_eq!(listed, held, "fingerprints({word:#x})");
    let census = Census { occupied: held.len() as u64, valid: true };
    assert_eq!(L::census(&[word]), census, "census({word:#x})");
}

/// Checks what a word says of a fingerprint, and the words that it leads to.
fn check_fingerprint<L: Naive>(word: u64, value: u32) {
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
    expect::<L>("without", L::without(word, pattern), less(&held, value));
}

/// Checks the word in which `old` has turned into `new`.
fn check_replace<L: Naive>(word: u64, old: u32, new: u32) {
    let replaced = L::replace(word, L::pattern(Fingerprint::new(old)), Fingerprint::new(new));
    let expected = less(&L::decode(word), old).map(|rest| [&rest[..], &[new]].concat());
    expect::<L>("replace", replaced, expected);
}

/// The list without one `value`, if it has one.
fn less(held: &[u32], value: u32) -> Option<Vec<u32>> {
    let place = held.iter().position(|&other| other == value)?;
    let mut rest = held.to_vec();
    rest.remove(place);
    Some(rest)
}

/// Every word × every fingerprint × every replacement (debug builds: every third).
fn exhaust<L: Naive>() {
    assert_eq!(L::MAX_FINGERPRINT, (1 << L::BITS) - 1);
    // Two bits more than are in use, where there are so many.
    for number in 0..1 << (L::WIDTH + 2).min(64) {
        assert_eq!(L::census(&[number]).valid, L::passes(number), "census({number:#x})");
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

macro_rules! exhaustively {
    ($module:ident of $layout:ident: $($name:ident: $lanes:literal x $bits:literal),* $(,)?) => {
        mod $module {
            use super::*;
            $(#[test]
            fn $name() {
                exhaust::<$layout<$lanes, $bits>>();
            })*
        }
    };
}

exhaustively! {
    every_plain_word of Plain:
    of_1x1: 1 x 1, of_2x1: 2 x 1, of_3x1: 3 x 1, of_8x1: 8 x 1, of_12x1: 12 x 1,
    of_1x2: 1 x 2, of_2x2: 2 x 2, of_3x2: 3 x 2, of_4x2: 4 x 2, of_5x2: 5 x 2, of_6x2: 6 x 2,
    of_1x3: 1 x 3, of_2x3: 2 x 3, of_3x3: 3 x 3, of_4x3: 4 x 3,
    of_2x4: 2 x 4, of_3x4: 3 x 4,
    of_2x5: 2 x 5, of_1x6: 1 x 6,
}

exhaustively! {
    every_semi_sorted_word of SemiSorted:
    of_1x5: 1 x 5, of_2x5: 2 x 5, of_3x5: 3 x 5, of_4x5: 4 x 5, of_5x5: 5 x 5,
    of_1x6: 1 x 6, of_2x6: 2 x 6, of_1x8: 1 x 8,
}

/// A fingerprint and a word whose lanes are apt to confuse: empty, equal to the fingerprint, one bit
/// or one step away from it (where the subtraction of the short test borrows), at the ends, or
/// anything.
fn confusing<L: Naive>() -> impl Strategy<Value = (u64, u32, u32)> {
    let least = L::MIN_FINGERPRINT;
    let value = prop_oneof![least..=L::MAX_FINGERPRINT, Just(least), Just(L::MAX_FINGERPRINT)];
    (value, least..=L::MAX_FINGERPRINT).prop_flat_map(move |(value, new)| {
        let lane = prop_oneof![
            2 => Just(0),
            4 => Just(value),
            2 => (0..L::BITS).prop_map(move |bit| value ^ 1 << bit),
            1 => Just(value.wrapping_add(1) & L::MAX_FINGERPRINT),
            1 => Just(value.wrapping_sub(1)),
            1 => Just(L::MAX_FINGERPRINT),
            2 => 0..=L::MAX_FINGERPRINT,
        ];
        let word = prop::collection::vec(lane, L::SLOTS as usize).prop_map(|mut lanes| {
            lanes.retain(|&lane| lane >= L::MIN_FINGERPRINT);
            L::write(&lanes)
        });
        (word, Just(value), Just(new))
    })
}

/// The census of many words, from none to all of them empty or full, and with one that does not pass.
fn check_many<L: Naive>() {
    let mut rng = common::rng(u64::from(L::BITS));
    for length in [0, 1, 2, 63, 127, 128, 129, 255, 256, 257, 1000] {
        for least in [0, 0, L::SLOTS] {
            for most in [0, L::SLOTS] {
                let (least, mut occupied) = (least.min(most), 0);
                let mut words: Vec<u64> = (0..length)
                    .map(|_| {
                        let lanes = rng.random_range(least..=most);
                        occupied += u64::from(lanes);
                        let mut lane = || rng.random_range(L::MIN_FINGERPRINT..=L::MAX_FINGERPRINT);
                        L::write(&(0..lanes).map(|_| lane()).collect::<Vec<_>>())
                    })
                    .collect();
                assert_eq!(L::census(&words), Census { occupied, valid: true });
                for _ in 0..common::scaled(20, 100) {
                    let number = rng.random::<u64>() >> rng.random_range(0..64);
                    let Some(place) = (!words.is_empty()).then(|| rng.random_range(0..words.len()))
                    else {
                        break;
                    };
                    let before = std::mem::replace(&mut words[place], number);
                    assert_eq!(
                        L::census(&words).valid,
                        L::passes(number),
                        "{number:#x} at {place}"
                    );
                    words[place] = before;
                }
            }
        }
    }
}

/// Random words of a layout, all functions.
fn by_property<L: Naive>() {
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

macro_rules! properties {
    ($module:ident of $layout:ident: $($name:ident: $lanes:literal x $bits:literal),* $(,)?) => {
        mod $module {
            use super::*;
            $(#[test]
            fn $name() {
                by_property::<$layout<$lanes, $bits>>();
            })*
        }
    };
}

properties! {
    wide_plain_words of Plain:
    of_8x8: 8 x 8, of_6x10: 6 x 10, of_5x12: 5 x 12, of_4x16: 4 x 16,
    of_64x1: 64 x 1, of_32x2: 32 x 2, of_21x3: 21 x 3, of_16x4: 16 x 4, of_12x5: 12 x 5,
    of_7x9: 7 x 9, of_3x21: 3 x 21, of_2x31: 2 x 31, of_1x31: 1 x 31, of_1x8: 1 x 8,
}

properties! {
    wide_semi_sorted_words of SemiSorted:
    of_6x12: 6 x 12, of_5x14: 5 x 14, of_4x17: 4 x 17, of_3x22: 3 x 22,
    of_6x5: 6 x 5, of_6x8: 6 x 8, of_5x10: 5 x 10, of_4x6: 4 x 6, of_2x31: 2 x 31, of_1x31: 1 x 31,
}

/// Of any two words the one with fewer fingerprints is the emptier.
fn check_emptier<L: Naive>() {
    let words: Vec<(u64, usize)> =
        (0..1_u64 << L::WIDTH).filter_map(|word| Some((word, L::read(word)?.len()))).collect();
    for (word, held) in &words {
        for (other, others) in words.iter().filter(|(_, others)| others != held) {
            assert_eq!(L::is_emptier(*word, *other), held < others, "{word:#x}, {other:#x}");
        }
    }
}

#[test]
fn the_emptier_word_has_fewer_fingerprints() {
    check_emptier::<Plain<3, 3>>();
    check_emptier::<SemiSorted<2, 6>>();
    check_emptier::<SemiSorted<3, 5>>();
}

/// Whether one of two words holds a fingerprint, for all pairs of words that can be confused.
#[test]
fn either_of_two_words() {
    type L = SemiSorted<2, 6>;
    let words: Vec<u64> = (0..1_u64 << L::WIDTH).filter(|&word| L::read(word).is_some()).collect();
    for value in [L::MIN_FINGERPRINT, 17, 35, L::MAX_FINGERPRINT] {
        let pattern = L::pattern(Fingerprint::new(value));
        for &first in &words {
            for &second in &words {
                let expected = [first, second].map(|word| L::decode(word).contains(&value));
                assert_eq!(L::either_contains([first, second], pattern), expected != [false; 2]);
            }
        }
    }
}

/// Fills a word lane by lane and empties it again, in another order.
fn fills_and_empties<L: Naive>() {
    let values = [16, L::MAX_FINGERPRINT, 16, 17, 2048];
    let mut word = 0;
    for (number, &value) in values.iter().enumerate() {
        assert_eq!(L::fingerprints(word).count(), number);
        word = L::with(word, Fingerprint::new(value)).expect("room");
    }
    assert_eq!(L::with(word, Fingerprint::new(30)), None);
    for &value in values.iter().rev() {
        word = L::without(word, L::pattern(Fingerprint::new(value))).expect("it is there");
    }
    assert_eq!(word, 0);
}

#[test]
fn a_word_fills_and_empties() {
    fills_and_empties::<Plain<5, 12>>();
    fills_and_empties::<SemiSorted<5, 14>>();
}

/// The code of every sequence of nibbles, the longest too, is its place in their order.
#[test]
fn every_code_is_the_place_of_its_sequence() {
    fn check<L: Naive>() {
        for (code, sequence) in (0..).zip(sequences(L::SLOTS)) {
            let fingerprints: Vec<u32> = sequence.iter().map(|nibble| 16 + nibble).collect();
            let word = fingerprints.iter().rev().fold(0, |word, &fingerprint| {
                L::with(word, Fingerprint::new(fingerprint)).expect("room")
            });
            assert_eq!(word % sequences(L::SLOTS).len().next_power_of_two() as u64, code);
            assert_eq!(
                L::fingerprints(word).map(Fingerprint::get).collect::<Vec<_>>(),
                fingerprints
            );
        }
    }
    check::<SemiSorted<1, 8>>();
    check::<SemiSorted<2, 8>>();
    check::<SemiSorted<3, 22>>();
    check::<SemiSorted<4, 17>>();
    check::<SemiSorted<5, 14>>();
    check::<SemiSorted<6, 12>>();
}

/// Zero is no fingerprint.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "empty lane")]
fn zero_is_no_fingerprint() {
    let _ = Fingerprint::new(0);
}
