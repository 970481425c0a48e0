//! Words: every function of every plain layout against a list of numbers, exhaustively where words
//! are narrow, by property where they are as wide as the real ones.

mod common;

use common::runner;
use guira::raw::{Fingerprint, Plain, WordLayout};
use proptest::prelude::*;

/// The naive reading of a word: its lanes that are not zero, sorted.
fn decode<L: WordLayout>(word: u64) -> Vec<u32> {
    let lane = |lane: u32| (word >> (lane * L::BITS)) as u32 & L::MAX_FINGERPRINT;
    let mut lanes: Vec<u32> = (0..L::LANES).map(lane).filter(|&value| value != 0).collect();
    lanes.sort_unstable();
    lanes
}

/// Whether the occupied lanes are the lowest: there are no other words.
fn is_packed<L: WordLayout>(word: u64) -> bool {
    let mut lanes =
        (0..L::LANES).map(|lane| (word >> (lane * L::BITS)) as u32 & L::MAX_FINGERPRINT);
    lanes.find(|&lane| lane == 0);
    lanes.all(|lane| lane == 0)
}

/// Checks that a word, if there is to be one, holds these fingerprints and nothing else at all.
fn expect<L: WordLayout>(what: &str, word: Option<u64>, mut expected: Option<Vec<u32>>) {
    if let Some(expected) = &mut expected {
        expected.sort_unstable();
    }
    assert_eq!(word.map(decode::<L>), expected, "{what} of {}x{}", L::LANES, L::BITS);
    assert!(word.is_none_or(is_packed::<L>), "{what}: a hole in {word:x?}");
    if L::LANES * L::BITS < 64 {
        assert_eq!(
            word.unwrap_or(0) >> (L::LANES * L::BITS),
            0,
            "{what}: bits above the last lane"
        );
    }
}

/// Checks what a word says of itself.
fn check_word<L: WordLayout>(word: u64) {
    let held = decode::<L>(word);
    assert_eq!(L::is_full(word), held.len() == L::LANES as usize, "is_full({word:#x})");
    let mut listed: Vec<u32> = L::fingerprints(word).map(Fingerprint::get).collect();
    listed.sort_unstable();
    assert_eq!(listed, held, "fingerprints({word:#x})");
}

/// Checks what a word says of a fingerprint, and the words that it leads to.
fn check_fingerprint<L: WordLayout>(word: u64, value: u32) {
    let held = decode::<L>(word);
    let fingerprint = Fingerprint::new(value);
    let pattern = L::pattern(fingerprint);
    let count = held.iter().filter(|&&other| other == value).count();
    assert_eq!(L::count(word, pattern) as usize, count, "count({word:#x}, {value})");
    assert_eq!(L::contains(word, pattern), count > 0, "contains({word:#x}, {value})");

    let more = (held.len() < L::LANES as usize).then(|| [&held[..], &[value]].concat());
    if let Some(with) = L::with(word, fingerprint) {
        assert!(L::is_emptier(word, with) && !L::is_emptier(with, word), "{word:#x}, {with:#x}");
    }
    expect::<L>("with", L::with(word, fingerprint), more);
    expect::<L>("without", L::without(word, pattern), less(&held, value));
}

/// Checks the word in which `old` has turned into `new`.
fn check_replace<L: WordLayout>(word: u64, old: u32, new: u32) {
    let replaced = L::replace(word, L::pattern(Fingerprint::new(old)), Fingerprint::new(new));
    let expected = less(&decode::<L>(word), old).map(|rest| [&rest[..], &[new]].concat());
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
fn exhaust<L: WordLayout>() {
    assert_eq!(L::MAX_FINGERPRINT, (1 << L::BITS) - 1);
    for word in (0..1 << (L::LANES * L::BITS)).filter(|&word| is_packed::<L>(word)) {
        check_word::<L>(word);
        for value in 1..=L::MAX_FINGERPRINT {
            check_fingerprint::<L>(word, value);
            for new in (1..=L::MAX_FINGERPRINT).step_by(common::scaled(3, 1)) {
                check_replace::<L>(word, value, new);
            }
        }
    }
}

macro_rules! exhaustively {
    ($($name:ident: $lanes:literal x $bits:literal),* $(,)?) => {
        mod every_word {
            use super::*;
            $(#[test]
            fn $name() {
                exhaust::<Plain<$lanes, $bits>>();
            })*
        }
    };
}

exhaustively! {
    of_1x1: 1 x 1, of_2x1: 2 x 1, of_3x1: 3 x 1, of_8x1: 8 x 1, of_12x1: 12 x 1,
    of_1x2: 1 x 2, of_2x2: 2 x 2, of_3x2: 3 x 2, of_4x2: 4 x 2, of_5x2: 5 x 2, of_6x2: 6 x 2,
    of_1x3: 1 x 3, of_2x3: 2 x 3, of_3x3: 3 x 3, of_4x3: 4 x 3,
    of_2x4: 2 x 4, of_3x4: 3 x 4,
    of_2x5: 2 x 5, of_1x6: 1 x 6,
}

/// A fingerprint and a word whose lanes are apt to confuse: empty, equal to the fingerprint, one bit
/// or one step away from it (where the subtraction of the short test borrows), at the ends, or
/// anything.
fn confusing<L: WordLayout>() -> impl Strategy<Value = (u64, u32, u32)> {
    let value = prop_oneof![1..=L::MAX_FINGERPRINT, Just(1), Just(L::MAX_FINGERPRINT)];
    (value, 1..=L::MAX_FINGERPRINT).prop_flat_map(|(value, new)| {
        let lane = prop_oneof![
            2 => Just(0),
            4 => Just(value),
            2 => (0..L::BITS).prop_map(move |bit| value ^ 1 << bit),
            1 => Just(value.wrapping_add(1) & L::MAX_FINGERPRINT),
            1 => Just(value.wrapping_sub(1)),
            1 => Just(L::MAX_FINGERPRINT),
            2 => 0..=L::MAX_FINGERPRINT,
        ];
        let word = prop::collection::vec(lane, L::LANES as usize).prop_map(|lanes| {
            let occupied = lanes.iter().filter(|&&lane| lane != 0);
            occupied
                .fold(0_u64, |word, &lane| word.checked_shl(L::BITS).unwrap_or(0) | u64::from(lane))
        });
        (word, Just(value), Just(new))
    })
}

/// Random words of a layout, all functions.
fn by_property<L: WordLayout>() {
    let cases = common::scaled(1_000, 10_000);
    let outcome = runner(cases, u64::from(L::BITS)).run(&confusing::<L>(), |(word, value, new)| {
        check_word::<L>(word);
        check_fingerprint::<L>(word, value);
        check_replace::<L>(word, value, new);
        check_replace::<L>(word, value, value);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

macro_rules! properties {
    ($($name:ident: $lanes:literal x $bits:literal),* $(,)?) => {
        mod wide_words {
            use super::*;
            $(#[test]
            fn $name() {
                by_property::<Plain<$lanes, $bits>>();
            })*
        }
    };
}

properties! {
    of_8x8: 8 x 8, of_6x10: 6 x 10, of_5x12: 5 x 12, of_4x16: 4 x 16,
    of_64x1: 64 x 1, of_32x2: 32 x 2, of_21x3: 21 x 3, of_16x4: 16 x 4, of_12x5: 12 x 5,
    of_7x9: 7 x 9, of_3x21: 3 x 21, of_2x31: 2 x 31, of_1x31: 1 x 31, of_1x8: 1 x 8,
}

/// Of any two words the one with fewer fingerprints is the emptier.
#[test]
fn the_emptier_word_has_fewer_fingerprints() {
    type L = Plain<3, 3>;
    let words = || (0..1_u64 << 9).filter(|&word| is_packed::<L>(word));
    for (word, other) in words().flat_map(|word| words().map(move |other| (word, other))) {
        let [held, others] = [word, other].map(|word| decode::<L>(word).len());
        if held != others {
            assert_eq!(L::is_emptier(word, other), held < others, "{word:#o}, {other:#o}");
        }
    }
}

/// Fills a word lane by lane and empties it again, in another order.
#[test]
fn a_word_fills_and_empties() {
    type L = Plain<5, 12>;
    let values = [7, 4095, 7, 1, 2048];
    let mut word = 0;
    for (number, &value) in values.iter().enumerate() {
        assert_eq!(L::fingerprints(word).count(), number);
        word = L::with(word, Fingerprint::new(value)).expect("room");
    }
    assert_eq!(L::with(word, Fingerprint::new(3)), None);
    for &value in values.iter().rev() {
        word = L::without(word, L::pattern(Fingerprint::new(value))).expect("it is there");
    }
    assert_eq!(word, 0);
}

/// Zero is no fingerprint.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "empty lane")]
fn zero_is_no_fingerprint() {
    let _ = Fingerprint::new(0);
}
