//! Buckets: every function of every layout against a list of fingerprints. Exhaustive for narrow
//! words, with random words of the full width.

mod common;
mod oracles;

use common::runner;
use guira::raw::{Census, Fingerprint, Plain, SemiSorted};
use oracles::{Checkable, Oracle, code_bits, sequences};
use proptest::prelude::*;
use rand::RngExt;

/// The functions of a layout as values, beside its oracle: so the checks and their generators are
/// compiled once and not once per layout.
#[derive(Clone, Copy)]
struct Subject {
    slots: u32,
    bits: u32,
    min: u32,
    max: u32,
    oracle: Oracle,
    is_full: fn(u64) -> bool,
    is_emptier: fn(u64, u64) -> bool,
    fingerprints: fn(u64) -> Vec<u32>,
    census: fn(&[u64]) -> Census,
    count: fn(u64, u32) -> u32,
    contains: fn(u64, u32) -> bool,
    with: fn(u64, u32) -> Option<u64>,
    without: fn(u64, u32) -> Option<u64>,
    replace: fn(u64, u32, u32) -> Option<u64>,
}

impl Subject {
    fn of<L: Checkable>() -> Self {
        fn pattern<L: Checkable>(value: u32) -> L::Pattern {
            L::pattern(Fingerprint::new(value))
        }
        Self {
            slots: L::SLOTS,
            bits: L::BITS,
            min: L::MIN_FINGERPRINT,
            max: L::MAX_FINGERPRINT,
            oracle: L::oracle(),
            is_full: L::is_full,
            is_emptier: L::is_emptier,
            fingerprints: |word| L::fingerprints(word).map(Fingerprint::get).collect(),
            census: L::census,
            count: |word, value| L::count(word, pattern::<L>(value)),
            contains: |word, value| L::contains(word, pattern::<L>(value)),
            with: |word, value| L::with(word, Fingerprint::new(value)),
            without: |word, value| L::without(word, pattern::<L>(value)),
            replace: |word, old, new| L::replace(word, pattern::<L>(old), Fingerprint::new(new)),
        }
    }

    /// Returns the fingerprints in a valid word.
    fn decode(self, word: u64) -> Vec<u32> {
        self.oracle
            .read(word)
            .unwrap_or_else(|| panic!("{word:#x} is invalid in {}x{}", self.slots, self.bits))
    }

    /// Checks that the word, if one is expected, holds exactly these fingerprints.
    fn expect(self, what: &str, word: Option<u64>, mut expected: Option<Vec<u32>>) {
        if let Some(expected) = &mut expected {
            expected.sort_unstable();
        }
        let found = word.map(|word| self.oracle.read(word).ok_or(word));
        assert_eq!(found, expected.map(Ok), "{what} of {}x{}", self.slots, self.bits);
    }

    /// Checks the functions that take a word alone. Returns its fingerprints.
    fn check_word(self, word: u64) -> Vec<u32> {
        let held = self.decode(word);
        let full = held.len() == self.slots as usize;
        assert_eq!((self.is_full)(word), full, "is_full({word:#x})");
        let mut listed = (self.fingerprints)(word);
        listed.sort_unstable();
        assert_eq!(listed, held, "fingerprints({word:#x})");
        let census = Census { occupied: held.len() as u64, valid: true };
        assert_eq!((self.census)(&[word]), census, "census({word:#x})");
        held
    }

    /// Checks the functions that take a word, which holds `held`, and a fingerprint.
    fn check_fingerprint(self, word: u64, held: &[u32], value: u32) {
        let count = held.iter().filter(|&&other| other == value).count();
        assert_eq!((self.count)(word, value) as usize, count, "count({word:#x}, {value})");
        assert_eq!((self.contains)(word, value), count > 0, "contains({word:#x}, {value})");

        let more = (held.len() < self.slots as usize).then(|| [held, &[value]].concat());
        let with = (self.with)(word, value);
        if let Some(with) = with {
            let emptier = self.is_emptier;
            assert!(emptier(word, with) && !emptier(with, word), "{word:#x}, {with:#x}");
        }
        self.expect("with", with, more);
        self.expect("without", (self.without)(word, value), without(held, value));
    }

    /// Checks `replace`.
    fn check_replace(self, word: u64, held: &[u32], old: u32, new: u32) {
        let expected = without(held, old).map(|rest| [&rest[..], &[new]].concat());
        self.expect("replace", (self.replace)(word, old, new), expected);
    }

    /// Checks every word with every fingerprint and every replacement (in debug builds, every
    /// third).
    fn check_every_word(self) {
        assert_eq!(self.max, (1 << self.bits) - 1);
        // Two bits more than are in use, if the word has them.
        for number in 0..1 << (self.oracle.width + 2).min(64) {
            let valid = (self.census)(&[number]).valid;
            assert_eq!(valid, self.oracle.is_accepted(number), "census({number:#x})");
        }
        for word in (0..1 << self.oracle.width).filter(|&word| self.oracle.read(word).is_some()) {
            let held = self.check_word(word);
            for value in self.min..=self.max {
                self.check_fingerprint(word, &held, value);
                for new in (self.min..=self.max).step_by(common::scaled(3, 1)) {
                    self.check_replace(word, &held, value, new);
                }
            }
        }
    }

    /// Checks all functions with random words.
    fn check_random_words(self) {
        let cases = common::scaled(1_000, 10_000);
        let outcome = runner(cases, u64::from(self.bits)).run(&self.confusing(), |drawn| {
            let (word, value, new) = drawn;
            let held = self.check_word(word);
            self.check_fingerprint(word, &held, value);
            self.check_replace(word, &held, value, new);
            self.check_replace(word, &held, value, value);
            Ok(())
        });
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
        self.check_many();
    }

    /// Draws a word, a fingerprint and a replacement. The slots of the word are likely to confuse
    /// SWAR tests: empty, equal to the fingerprint, one bit or one step away from it (where the
    /// subtraction of the short test borrows), the largest value, or random.
    fn confusing(self) -> impl Strategy<Value = (u64, u32, u32)> {
        let Self { slots, bits, min, max, oracle, .. } = self;
        let value = prop_oneof![min..=max, Just(min), Just(max)];
        (value, min..=max).prop_flat_map(move |(value, new)| {
            let slot = prop_oneof![
                2 => Just(0),
                4 => Just(value),
                2 => (0..bits).prop_map(move |bit| value ^ 1 << bit),
                1 => Just(value.wrapping_add(1) & max),
                1 => Just(value.wrapping_sub(1)),
                1 => Just(max),
                2 => 0..=max,
            ];
            let word = prop::collection::vec(slot, slots as usize).prop_map(move |mut slots| {
                slots.retain(|&value| value >= min);
                oracle.write(&slots)
            });
            (word, Just(value), Just(new))
        })
    }

    /// Checks the census of many words: empty, full and mixed ones, and with one damaged word among
    /// them.
    fn check_many(self) {
        let mut rng = common::rng(u64::from(self.bits));
        // Vectors have four words, and blocks have up to 512.
        for length in [0, 1, 2, 3, 4, 5, 63, 128, 129, 255, 511, 512, 513, 1027] {
            for min in [0, 0, self.slots] {
                for max in [0, self.slots] {
                    let (min, mut occupied) = (min.min(max), 0);
                    let mut words: Vec<u64> = (0..length)
                        .map(|_| {
                            let slots = rng.random_range(min..=max);
                            occupied += u64::from(slots);
                            let mut value = || rng.random_range(self.min..=self.max);
                            self.oracle.write(&(0..slots).map(|_| value()).collect::<Vec<_>>())
                        })
                        .collect();
                    assert_eq!((self.census)(&words), Census { occupied, valid: true });
                    for _ in 0..common::scaled(20, 100) {
                        if words.is_empty() {
                            break;
                        }
                        let index = rng.random_range(0..words.len());
                        let number = self.damage(words[index], &mut rng);
                        let before = std::mem::replace(&mut words[index], number);
                        let accepted = self.oracle.is_accepted(number);
                        let valid = (self.census)(&words).valid;
                        assert_eq!(valid, accepted, "{number:#x} at {index}");
                        words[index] = before;
                    }
                }
            }
        }
    }

    /// Returns the number of bits of a SWAR lane, and the number of bits below the first lane.
    fn lanes(self) -> (u32, u32) {
        let lane = self.bits - self.min.ilog2();
        (lane, self.oracle.width - self.slots * lane)
    }

    /// Returns the word with one slot emptied, one bit flipped, or another code; or a random
    /// number.
    fn damage(self, word: u64, rng: &mut impl RngExt) -> u64 {
        let (lane, code) = self.lanes();
        match rng.random_range(0..4) {
            0 => word & !(((1 << lane) - 1) << (code + lane * rng.random_range(0..self.slots))),
            1 => word ^ 1 << rng.random_range(0..64),
            2 => word ^ rng.random::<u64>() & ((1 << code) - 1),
            _ => rng.random::<u64>() >> rng.random_range(0..64),
        }
    }

    /// Checks the census of one word: with every set of occupied slots, with each bit of a slot
    /// alone, and with every code for every number of occupied slots.
    fn check_lanes(self) {
        let (lane, code) = self.lanes();
        let check = |word: u64| {
            let Census { occupied, valid } = (self.census)(&[0, word, 0]);
            assert_eq!(valid, self.oracle.is_accepted(word), "census({word:#x})");
            if valid {
                assert_eq!(occupied, (self.fingerprints)(word).len() as u64, "census({word:#x})");
            }
        };
        for set in 0..1_u32 << self.slots {
            for bit in 0..lane {
                let slots = (0..self.slots).filter(|slot| set >> slot & 1 == 1);
                check(slots.map(|slot| 1 << (code + slot * lane + bit)).sum());
            }
        }
        for number in 0..1 << code {
            for occupied in 0..=self.slots {
                // The slots may fill the word, and a shift by 64 overflows.
                let highs = !u64::MAX.checked_shl(occupied * lane).unwrap_or(0);
                check(number | highs << code);
            }
        }
    }

    /// Checks that of any two words the one with fewer fingerprints is the emptier one.
    fn check_emptier(self) {
        let words: Vec<(u64, usize)> = (0..1_u64 << self.oracle.width)
            .filter_map(|word| Some((word, self.oracle.read(word)?.len())))
            .collect();
        for &(word, held) in &words {
            for &(other, others) in words.iter().filter(|(_, others)| *others != held) {
                assert_eq!((self.is_emptier)(word, other), held < others, "{word:#x}, {other:#x}");
            }
        }
    }

    /// Checks that the code of every sequence of nibbles is its rank.
    fn check_codes(self) {
        for (code, sequence) in (0..).zip(sequences(self.slots)) {
            let fingerprints: Vec<u32> = sequence.iter().map(|nibble| 16 + nibble).collect();
            let word = fingerprints
                .iter()
                .rev()
                .fold(0, |word, &value| (self.with)(word, value).expect("an empty slot"));
            assert_eq!(word & ((1 << code_bits(self.slots)) - 1), code);
            assert_eq!((self.fingerprints)(word), fingerprints);
        }
    }
}

/// Returns the list without one copy of `value`, or `None` if it has none.
fn without(held: &[u32], value: u32) -> Option<Vec<u32>> {
    let position = held.iter().position(|&other| other == value)?;
    let mut rest = held.to_vec();
    rest.remove(position);
    Some(rest)
}

/// Defines a module with one test per layout of a family, which calls a method of [`Subject`].
macro_rules! for_layouts {
    ($check:ident in $module:ident of $family:ident:
     $($name:ident: $slots:literal x $bits:literal),* $(,)?) => {
        mod $module {
            use super::*;
            $(#[test]
            fn $name() {
                Subject::of::<$family<$slots, $bits>>().$check();
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

for_layouts! {
    check_lanes in lanes_of_plain_words of Plain:
    of_8x8: 8 x 8, of_6x10: 6 x 10, of_5x12: 5 x 12, of_4x16: 4 x 16, of_1x8: 1 x 8, of_3x16: 3 x 16,
}

for_layouts! {
    check_lanes in lanes_of_semi_sorted_words of SemiSorted:
    of_6x12: 6 x 12, of_5x14: 5 x 14, of_4x17: 4 x 17, of_3x22: 3 x 22,
    of_2x20: 2 x 20, of_5x12: 5 x 12, of_6x5: 6 x 5,
}

#[test]
fn the_emptier_word_has_fewer_fingerprints() {
    Subject::of::<Plain<3, 3>>().check_emptier();
    Subject::of::<SemiSorted<2, 6>>().check_emptier();
    Subject::of::<SemiSorted<3, 5>>().check_emptier();
}

/// Compares all pairs of words.
fn check_pairs<L: Checkable>(values: &[u32]) {
    let oracle = L::oracle();
    let words: Vec<u64> =
        (0..1_u64 << oracle.width).filter(|&word| oracle.read(word).is_some()).collect();
    for &value in values {
        let pattern = L::pattern(Fingerprint::new(value));
        let has_value = |&word: &u64| (word, Subject::of::<L>().decode(word).contains(&value));
        let words: Vec<(u64, bool)> = words.iter().map(has_value).collect();
        for &(first, in_first) in &words {
            for &(second, in_second) in &words {
                assert_eq!(L::either_contains([first, second], pattern), in_first || in_second);
            }
        }
    }
}

#[test]
fn comparisons_of_two_words() {
    check_pairs::<Plain<3, 3>>(&[1, 2, 7]);
    check_pairs::<SemiSorted<2, 6>>(&[16, 17, 35, 63]);
}

/// The code of every sequence of nibbles, up to the longest ones, is its rank.
#[test]
fn every_code_is_the_rank_of_its_sequence() {
    Subject::of::<SemiSorted<1, 8>>().check_codes();
    Subject::of::<SemiSorted<2, 8>>().check_codes();
    Subject::of::<SemiSorted<3, 22>>().check_codes();
    Subject::of::<SemiSorted<4, 17>>().check_codes();
    Subject::of::<SemiSorted<5, 14>>().check_codes();
    Subject::of::<SemiSorted<6, 12>>().check_codes();
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "empty slot")]
fn zero_is_no_fingerprint() {
    let _ = Fingerprint::new(0);
}
