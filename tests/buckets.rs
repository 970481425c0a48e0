//! Buckets: every function on words, in every layout, against a list of slots. Exhaustive for
//! narrow words, with random words of the full width.

mod common;
mod oracles;

use common::runner;
use guira::{
    Layout,
    raw::{Census, Fingerprint, Slots},
};
use oracles::{Oracle, code_bits, sequences};
use proptest::prelude::*;
use rand::RngExt;

/// Fewest bits of a plain lane in which copies can be counted: two words have up to 16.
const BITS_OF_COUNT: u32 = 5;

/// A layout beside its oracle.
#[derive(Clone, Copy)]
struct Subject {
    slots: Slots,
    /// The bits of a slot, its value included.
    bits: u32,
    /// The smallest slot and the largest one.
    min: u32,
    max: u32,
    oracle: Oracle,
}

impl Subject {
    /// Plain words with this many slots and bits of a slot, of which the last ones are a value.
    fn plain(count: u32, bits: u32, value_bits: u32) -> Self {
        Self::new(Slots::plain(count, bits, value_bits), Oracle::plain(count, bits), value_bits)
    }

    /// Semi-sorted words with this many slots and bits of a slot.
    fn semi_sorted(count: u32, bits: u32) -> Self {
        Self::new(Slots::semi_sorted(count, bits), Oracle::semi_sorted(count, bits), 0)
    }

    /// The words of a layout by its name.
    fn of(layout: Layout) -> Self {
        let (count, value_bits) = (layout.slots_per_bucket(), layout.value_bits());
        let bits = layout.fingerprint_bits() + value_bits;
        let is_semi_sorted = layout.is_semi_sorted();
        let oracle = if is_semi_sorted { Oracle::semi_sorted } else { Oracle::plain };
        Self::new(layout.slots(), oracle(count, bits), value_bits)
    }

    /// Checks the constants of a layout.
    fn new(slots: Slots, oracle: Oracle, value_bits: u32) -> Self {
        let Oracle { slots: count, bits, is_semi_sorted, .. } = oracle;
        let min_key = if is_semi_sorted { 16 } else { 1 };
        assert_eq!([slots.count(), slots.key_bits()], [count, bits - value_bits]);
        assert_eq!([slots.value_bits(), slots.min_key()], [value_bits, min_key]);
        assert_eq!(slots.is_semi_sorted(), is_semi_sorted);
        let (min, max) = (min_key << value_bits, u32::MAX >> (32 - bits));
        for slot in [min, min + 1, max - 1, max] {
            let (key, value) = (slot >> value_bits, slot & ((1 << value_bits) - 1));
            assert_eq!((slots.key(slot), slots.slot(key, value as u16)), (key, slot));
        }
        Self { slots, bits, min, max, oracle }
    }

    /// For the report of a failure.
    fn name(self) -> String {
        let family = if self.slots.is_semi_sorted() { "semi-sorted" } else { "plain" };
        let (count, value_bits) = (self.slots.count(), self.slots.value_bits());
        format!("{family} {count}x{}, values of {value_bits} bits", self.bits)
    }

    /// Returns the slots in a valid word.
    fn decode(self, word: u64) -> Vec<u32> {
        let held = self.oracle.read(word);
        held.unwrap_or_else(|| panic!("{word:#x} is invalid: {}", self.name()))
    }

    /// Checks that the word, if one is expected, holds exactly these slots.
    fn expect(self, what: &str, word: Option<u64>, mut expected: Option<Vec<u32>>) {
        if let Some(expected) = &mut expected {
            expected.sort_unstable();
        }
        let found = word.map(|word| self.oracle.read(word).ok_or(word));
        assert_eq!(found, expected.map(Ok), "{what}: {}", self.name());
    }

    /// Checks the functions that take a word alone. Returns its slots.
    fn check_word(self, word: u64) -> Vec<u32> {
        let (slots, held) = (self.slots, self.decode(word));
        let full = held.len() == slots.count() as usize;
        assert_eq!(slots.is_full(word), full, "is_full({word:#x}): {}", self.name());
        let mut listed: Vec<u32> = slots.each(word).collect();
        for place in 0..slots.count() {
            let slot = listed.get(place as usize).copied().unwrap_or(0);
            let at = slots.slot_at(word, place);
            assert_eq!(at, slot, "slot_at({word:#x}, {place}): {}", self.name());
        }
        listed.sort_unstable();
        assert_eq!(listed, held, "each({word:#x}): {}", self.name());
        let census = Census { occupied: held.len() as u64, valid: true };
        assert_eq!(slots.census(&[word]), census, "census({word:#x}): {}", self.name());
        held
    }

    /// Checks the functions that take a word, which holds `held`, and a slot.
    fn check_slot(self, word: u64, held: &[u32], slot: u32) {
        self.check_slot_by::<false>(word, held, slot);
        if !self.slots.is_semi_sorted() {
            self.check_slot_by::<true>(word, held, slot);
        }
    }

    /// As above, by the functions that know whether words are plain.
    fn check_slot_by<const PLAIN: bool>(self, word: u64, held: &[u32], slot: u32) {
        let (slots, sought) = (self.slots, self.slots.sought(slot));
        let what = || format!("{slot} in {word:#x}: {}", self.name());
        assert_eq!(slots.holds::<PLAIN>(word, sought), held.contains(&slot), "holds {}", what());
        // Whatever the values are.
        let copies = self.copies(held, slot);
        for words in [[word, 0], [0, word], [word, word]] {
            assert_eq!(
                slots.either_holds::<PLAIN>(words, sought),
                copies > 0,
                "either_holds {}",
                what()
            );
        }
        if self.can_count() {
            for (words, copies) in
                [([word, 0], copies), ([0, word], copies), ([word; 2], 2 * copies)]
            {
                assert_eq!(slots.count_in::<PLAIN>(words, sought), copies, "count_in {}", what());
            }
        }
        let more = (held.len() < slots.count() as usize).then(|| [held, &[slot]].concat());
        let with = slots.with::<PLAIN>(word, slot);
        if let Some(with) = with {
            let is_emptier = slots.is_emptier(word, with) && !slots.is_emptier(with, word);
            assert!(is_emptier, "is_emptier of {with:#x}, {}", what());
        }
        self.expect("with", with, more);
        self.expect("without", slots.without::<PLAIN>(word, sought), without(held, slot));
    }

    /// The number of slots with the key of a slot.
    fn copies(self, held: &[u32], slot: u32) -> u32 {
        let key = |slot| slot >> self.slots.value_bits();
        held.iter().filter(|&&other| key(other) == key(slot)).count() as u32
    }

    /// Whether copies can be counted in these words.
    fn can_count(self) -> bool {
        self.slots.is_semi_sorted() || self.bits >= BITS_OF_COUNT
    }

    /// Checks `replaced`.
    fn check_replaced(self, word: u64, held: &[u32], old: u32, new: u32) {
        let expected = without(held, old).map(|rest| [&rest[..], &[new]].concat());
        let old = self.slots.sought(old);
        if !self.slots.is_semi_sorted() {
            self.expect("replaced", self.slots.replaced::<true>(word, old, new), expected.clone());
        }
        self.expect("replaced", self.slots.replaced::<false>(word, old, new), expected);
    }

    /// Checks every word with every slot and every replacement (in debug builds, every third).
    fn check_every_word(self) {
        // Two bits more than are in use, if the word has them.
        for number in 0..1 << (self.oracle.width + 2).min(64) {
            let valid = self.slots.census(&[number]).valid;
            assert_eq!(valid, self.oracle.read(number).is_some(), "census({number:#x})");
        }
        for (word, held) in self.every_word() {
            self.check_word(word);
            for slot in self.min..=self.max {
                self.check_slot(word, &held, slot);
                for new in (self.min..=self.max).step_by(common::scaled(3, 1)) {
                    self.check_replaced(word, &held, slot, new);
                }
            }
        }
    }

    /// Every word whose slots have keys, and its slots.
    fn every_word(self) -> impl Iterator<Item = (u64, Vec<u32>)> {
        let slots = move |word| Some((word, self.oracle.read(word)?));
        let words = (0..1 << self.oracle.width).filter_map(slots);
        words.filter(move |(_, held)| held.iter().all(|&slot| slot >= self.min))
    }

    /// Checks all functions with random words.
    fn check_random_words(self, cases: u32) {
        let outcome = runner(cases, u64::from(self.bits)).run(&self.confusing(), |drawn| {
            let (word, slot, new) = drawn;
            let held = self.check_word(word);
            self.check_slot(word, &held, slot);
            self.check_replaced(word, &held, slot, new);
            self.check_replaced(word, &held, slot, slot);
            Ok(())
        });
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
    }

    /// Draws a word, a slot and a replacement. The slots of the word are likely to confuse SWAR
    /// tests: empty, equal to the slot, one bit or one step away from it (where the subtraction of
    /// the short test borrows), the largest one, or random.
    fn confusing(self) -> impl Strategy<Value = (u64, u32, u32)> {
        let Self { slots, bits, min, max, oracle } = self;
        let slot = prop_oneof![min..=max, Just(min), Just(max)];
        (slot, min..=max).prop_flat_map(move |(slot, new)| {
            let other = prop_oneof![
                2 => Just(0),
                4 => Just(slot),
                2 => (0..bits).prop_map(move |bit| slot ^ 1 << bit),
                1 => Just(slot.wrapping_add(1) & max),
                1 => Just(slot.wrapping_sub(1)),
                1 => Just(max),
                2 => 0..=max,
            ];
            let word = prop::collection::vec(other, slots.count() as usize);
            let word = word.prop_map(move |mut slots| {
                slots.retain(|&slot| slot >= min);
                oracle.write(&slots)
            });
            (word, Just(slot), Just(new))
        })
    }

    /// Checks the census of many words: empty, full and mixed ones, and with one damaged word among
    /// them.
    fn check_many(self) {
        let mut rng = common::rng(u64::from(self.bits));
        // Vectors have four words, and blocks have up to 512.
        for length in [0, 1, 2, 3, 4, 5, 63, 128, 129, 255, 511, 512, 513, 1027] {
            for min in [0, 0, self.slots.count()] {
                for max in [0, self.slots.count()] {
                    let (min, mut occupied) = (min.min(max), 0);
                    let mut words: Vec<u64> = (0..length)
                        .map(|_| {
                            let slots = rng.random_range(min..=max);
                            occupied += u64::from(slots);
                            let mut slot = || rng.random_range(self.min..=self.max);
                            self.oracle.write(&(0..slots).map(|_| slot()).collect::<Vec<_>>())
                        })
                        .collect();
                    assert_eq!(self.slots.census(&words), Census { occupied, valid: true });
                    for _ in 0..common::scaled(20, 100) {
                        if words.is_empty() {
                            break;
                        }
                        let index = rng.random_range(0..words.len());
                        let number = self.damage(words[index], &mut rng);
                        let before = std::mem::replace(&mut words[index], number);
                        let accepted = self.oracle.read(number).is_some();
                        let valid = self.slots.census(&words).valid;
                        assert_eq!(valid, accepted, "{number:#x} at {index}");
                        words[index] = before;
                    }
                }
            }
        }
    }

    /// Returns the number of bits of a SWAR lane, and the number of bits below the first lane.
    fn lanes(self) -> (u32, u32) {
        let lane = self.bits - self.slots.min_key().ilog2();
        (lane, self.oracle.width - self.slots.count() * lane)
    }

    /// Returns the word with one slot emptied, one bit flipped, or another code; or a random
    /// number.
    fn damage(self, word: u64, rng: &mut impl RngExt) -> u64 {
        let (lane, code) = self.lanes();
        match rng.random_range(0..4) {
            0 => {
                word & !(((1 << lane) - 1)
                    << (code + lane * rng.random_range(0..self.slots.count())))
            }
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
            let Census { occupied, valid } = self.slots.census(&[0, word, 0]);
            assert_eq!(valid, self.oracle.read(word).is_some(), "census({word:#x})");
            if valid {
                assert_eq!(occupied, self.slots.each(word).count() as u64, "census({word:#x})");
            }
        };
        for set in 0..1_u32 << self.slots.count() {
            for bit in 0..lane {
                let slots = (0..self.slots.count()).filter(|slot| set >> slot & 1 == 1);
                check(slots.map(|slot| 1 << (code + slot * lane + bit)).sum());
            }
        }
        for number in 0..1 << code {
            for occupied in 0..=self.slots.count() {
                // The slots may fill the word, and a shift by 64 overflows.
                let highs = !u64::MAX.checked_shl(occupied * lane).unwrap_or(0);
                check(number | highs << code);
            }
        }
    }

    /// Checks that of any two words the one with fewer slots is the emptier one.
    fn check_emptier(self) {
        let words: Vec<(u64, usize)> =
            self.every_word().map(|(word, held)| (word, held.len())).collect();
        for &(word, held) in &words {
            for &(other, others) in words.iter().filter(|(_, others)| *others != held) {
                let is_emptier = self.slots.is_emptier(word, other);
                assert_eq!(is_emptier, held < others, "{word:#x}, {other:#x}");
            }
        }
    }

    /// Compares all pairs of words with these slots.
    fn check_pairs(self, slots: &[u32]) {
        for &slot in slots {
            let sought = self.slots.sought(slot);
            let words: Vec<(u64, u32)> =
                self.every_word().map(|(word, held)| (word, self.copies(&held, slot))).collect();
            for &(first, in_first) in &words {
                for &(second, in_second) in &words {
                    let (words, copies) = ([first, second], in_first + in_second);
                    assert_eq!(self.slots.either_holds::<false>(words, sought), copies > 0);
                    if self.can_count() {
                        assert_eq!(self.slots.count_in::<false>(words, sought), copies);
                    }
                }
            }
        }
    }

    /// Checks that the code of every sequence of nibbles is its rank.
    fn check_codes(self) {
        let slots = self.slots;
        for (code, sequence) in (0..).zip(sequences(slots.count())) {
            let keys: Vec<u32> = sequence.iter().map(|nibble| 16 + nibble).collect();
            let with = |word, &key: &u32| slots.with::<false>(word, key).expect("an empty slot");
            let word = keys.iter().rev().fold(0, with);
            assert_eq!(word & ((1 << code_bits(slots.count())) - 1), code);
            assert_eq!(slots.each(word).collect::<Vec<u32>>(), keys);
        }
    }
}

/// Returns the list without one copy of `slot`, or `None` if it has none.
fn without(held: &[u32], slot: u32) -> Option<Vec<u32>> {
    let position = held.iter().position(|&other| other == slot)?;
    let mut rest = held.to_vec();
    rest.remove(position);
    Some(rest)
}

/// The words of all layouts of filters of a fixed size.
fn on_offer() -> impl Iterator<Item = Subject> {
    let sizes = (2..=6).flat_map(|slots| (0..=16).map(move |value_bits| (slots, value_bits)));
    let valued = sizes.filter_map(|(slots, value_bits)| Layout::with_values(slots, value_bits));
    Layout::ALL.iter().copied().chain(valued).map(Subject::of)
}

/// The numbers and the bits of slots of all plain words.
fn plain_sizes() -> impl Iterator<Item = (u32, u32)> {
    (2..=8).flat_map(|slots| (1..=32.min(64 / slots)).map(move |bits| (slots, bits)))
}

/// The numbers and the bits of slots of all semi-sorted words.
fn semi_sorted_sizes() -> impl Iterator<Item = (u32, u32)> {
    let sizes = (2..=6).flat_map(|slots| (5..=32).map(move |bits| (slots, bits)));
    sizes.filter(|&(slots, bits)| code_bits(slots) + slots * (bits - 4) <= 64)
}

#[test]
fn every_plain_word() {
    for (slots, bits) in plain_sizes() {
        if slots * bits <= 12 {
            (0..bits).for_each(|value| Subject::plain(slots, bits, value).check_every_word());
        }
    }
}

#[test]
fn every_semi_sorted_word() {
    for (slots, bits) in [(2, 5), (3, 5), (4, 5), (5, 5), (2, 6)] {
        Subject::semi_sorted(slots, bits).check_every_word();
    }
}

#[test]
fn random_words_on_offer() {
    on_offer().for_each(|subject| subject.check_random_words(common::scaled(1_000, 10_000)));
}

#[test]
fn random_plain_words() {
    for (slots, bits) in plain_sizes() {
        for value_bits in (0..bits.min(17)).step_by(3) {
            let subject = Subject::plain(slots, bits, value_bits);
            subject.check_random_words(common::scaled(100, 1_000));
        }
    }
}

#[test]
fn random_semi_sorted_words() {
    for (slots, bits) in semi_sorted_sizes() {
        let subject = Subject::semi_sorted(slots, bits);
        subject.check_random_words(common::scaled(200, 2_000));
    }
}

/// Values make no difference to the census.
#[test]
fn many_words() {
    for &layout in Layout::ALL {
        Subject::of(layout).check_many();
    }
    for (slots, bits) in [(8, 1), (7, 2), (6, 3), (5, 4), (7, 9), (3, 21), (2, 31), (2, 32)] {
        Subject::plain(slots, bits, 0).check_many();
    }
    for (slots, bits) in [(6, 5), (6, 8), (5, 10), (4, 6), (2, 31)] {
        Subject::semi_sorted(slots, bits).check_many();
    }
}

#[test]
fn lanes_of_plain_words() {
    for (slots, bits) in plain_sizes() {
        Subject::plain(slots, bits, 0).check_lanes();
    }
}

#[test]
fn lanes_of_semi_sorted_words() {
    for (slots, bits) in semi_sorted_sizes() {
        Subject::semi_sorted(slots, bits).check_lanes();
    }
}

#[test]
fn the_emptier_word_has_fewer_slots() {
    Subject::plain(3, 3, 0).check_emptier();
    Subject::plain(2, 5, 2).check_emptier();
    Subject::semi_sorted(2, 6).check_emptier();
    Subject::semi_sorted(3, 5).check_emptier();
}

#[test]
fn comparisons_of_two_words() {
    Subject::plain(3, 3, 0).check_pairs(&[1, 2, 7]);
    Subject::plain(2, 5, 0).check_pairs(&[1, 2, 31]);
    Subject::plain(2, 5, 2).check_pairs(&[4, 7, 15, 31]);
    Subject::semi_sorted(2, 6).check_pairs(&[16, 17, 35, 63]);
}

/// The code of every sequence of nibbles, up to the longest ones, is its rank.
#[test]
fn every_code_is_the_rank_of_its_sequence() {
    for (slots, bits) in [(2, 8), (3, 22), (4, 17), (5, 14), (6, 12)] {
        Subject::semi_sorted(slots, bits).check_codes();
    }
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "empty slot")]
fn zero_is_no_fingerprint() {
    let _ = Fingerprint::new(0);
}
