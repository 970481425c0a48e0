//! The functions on words of a table that grows, against a naive model: lists of bits.

mod common;

use common::{rng, scaled};
use guira::raw::{Code, Leveled, level};
use rand::{RngExt, rngs::SmallRng};

/// Number of bits of the slots of a word. The level is above them.
const SLOTS_BITS: u32 = 60;
const MAX_LEVEL: u32 = 15;

/// A slot: the core with the value below it, and the bits of the tail.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    core: u64,
    tail: Vec<bool>,
}

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Model {
    level: u32,
    value_bits: u32,
    slots: Vec<Slot>,
}

/// An item: its core, and its extension, lowest bit first.
#[derive(Clone, Debug)]
struct Item {
    core: u64,
    extension: Vec<bool>,
}

/// The number that has these bits, lowest first.
fn number(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |number, &bit| number << 1 | u64::from(bit))
}

/// The lowest bits of a number.
fn bits(number: u64, count: u32) -> Vec<bool> {
    (0..count).map(|bit| number >> bit & 1 == 1).collect()
}

impl Slot {
    fn drawn(leveled: &Leveled, rng: &mut SmallRng) -> Self {
        let length = rng.random_range(0..=leveled.max_tail);
        let core = rng.random_range(0..1 << (leveled.core + leveled.value_bits));
        Self { core, tail: bits(rng.random(), length) }
    }

    /// The bits of the slot: the value, the core, the tail, a marker.
    fn value(&self, leveled: &Leveled) -> u64 {
        let core = bits(self.core, leveled.core + leveled.value_bits);
        number(&[&core[..], &self.tail[..], &[true]].concat())
    }

    /// Whether the slot, in a bucket of this level, says nothing that is not true of the item. Any
    /// value matches.
    fn matches(&self, level: u32, item: &Item, value_bits: u32) -> bool {
        self.core >> value_bits == item.core >> value_bits
            && item.extension[level as usize..].starts_with(&self.tail)
    }
}

impl Model {
    fn drawn(leveled: &Leveled, rng: &mut SmallRng) -> Self {
        let slots = rng.random_range(0..=leveled.slots);
        Self {
            level: rng.random_range(0..=MAX_LEVEL),
            value_bits: leveled.value_bits,
            slots: (0..slots).map(|_| Slot::drawn(leveled, rng)).collect(),
        }
    }

    fn word(&self, leveled: &Leveled) -> u64 {
        let slot =
            |(lane, slot): (usize, &Slot)| slot.value(leveled) << (lane as u32 * leveled.width);
        let slots = self.slots.iter().enumerate().map(slot);
        slots.fold(u64::from(self.level) << SLOTS_BITS, |word, slot| word | slot)
    }

    /// An item that often matches a slot, or differs from one in a single bit.
    fn item(&self, leveled: &Leveled, rng: &mut SmallRng) -> Item {
        let mut item = Item {
            core: rng.random_range(0..1 << (leveled.core + leveled.value_bits)),
            extension: bits(rng.random(), leveled.extension),
        };
        if !self.slots.is_empty() && rng.random_bool(0.9) {
            let slot = &self.slots[rng.random_range(0..self.slots.len())];
            item.core = slot.core;
            let level = self.level as usize;
            item.extension[level..level + slot.tail.len()].copy_from_slice(&slot.tail);
        }
        if rng.random_bool(0.4) {
            let bit = rng.random_range(0..leveled.core + leveled.value_bits + leveled.max_tail);
            let below = leveled.core + leveled.value_bits;
            if bit < below {
                item.core ^= 1 << bit;
            } else {
                item.extension[(self.level + bit - below) as usize] ^= true;
            }
        }
        item
    }

    /// The lanes whose slots match.
    fn matching(&self, item: &Item) -> Vec<usize> {
        let matches = |&lane: &usize| self.slots[lane].matches(self.level, item, self.value_bits);
        (0..self.slots.len()).filter(matches).collect()
    }

    fn halves(&self) -> ([Self; 2], u32) {
        let empty = Self { level: self.level + 1, slots: Vec::new(), ..*self };
        let (mut halves, mut copied) = ([empty.clone(), empty], 0);
        for slot in &self.slots {
            if let Some((&next, rest)) = slot.tail.split_first() {
                let shorter = Slot { core: slot.core, tail: rest.to_vec() };
                halves[usize::from(next)].slots.push(shorter);
            } else {
                for half in &mut halves {
                    half.slots.push(slot.clone());
                }
                copied += 1;
            }
        }
        (halves, copied)
    }
}

impl Item {
    /// What is known of it if so many bits of the extension are.
    fn code(&self, known: usize) -> Code {
        let extension = number(&[&self.extension[..known], &[true]].concat());
        Code { core: self.core, extension }
    }

    fn full(&self) -> Code {
        self.code(self.extension.len())
    }
}

/// Checks matches of an item.
fn check_matches(leveled: &Leveled, model: &Model, item: &Item) {
    let (word, code) = (model.word(leveled), item.full());
    let matching = model.matching(item);
    let highest = |lane: usize| 1_u64 << ((lane as u32 + 1) * leveled.width - 1);
    let marks: u64 = matching.iter().map(|&lane| highest(lane)).sum();
    assert_eq!(leveled.matches(word, code), marks, "{model:?}, {item:?}");
    let has_value = |lane: &&usize| model.slots[**lane].core == item.core;
    let with_value: u64 = matching.iter().filter(has_value).map(|&lane| highest(lane)).sum();
    assert_eq!(leveled.matches_with_value(word, code), with_value, "{model:?}, {item:?}");
    // The longest of them, and of equal ones any.
    let longest = matching.iter().map(|&lane| model.slots[lane].tail.len()).max();
    let found = leveled.longest(word, marks);
    assert_eq!(
        found.map(|found| model.slots[(found.at / leveled.width) as usize].tail.len()),
        longest
    );
    if let Some(found) = found {
        assert!(matching.contains(&((found.at / leveled.width) as usize)));
        assert_eq!(found.slot, model.slots[(found.at / leveled.width) as usize].value(leveled));
    }
}

/// Checks everything that one word tells, and what it becomes.
fn check_word(leveled: &Leveled, model: &Model, rng: &mut SmallRng) {
    let word = model.word(leveled);
    assert_eq!(level(word), model.level);
    assert!(leveled.is_valid(word));
    assert_eq!(leveled.occupied(word) as usize, model.slots.len(), "{model:?}");
    assert_eq!(leveled.is_full(word), model.slots.len() == leveled.slots as usize);
    let values: Vec<u64> = model.slots.iter().map(|slot| slot.value(leveled)).collect();
    assert!(leveled.occupied_slots(word).eq(values.iter().copied()), "{model:?}");
    for lane in 0..leveled.slots {
        let value = values.get(lane as usize).copied().unwrap_or(0);
        assert_eq!(leveled.slot(word, lane), value);
        if value != 0 {
            let found = leveled.find(word, value).expect("it is there");
            assert_eq!(values[(found / leveled.width) as usize], value, "{model:?}");
        }
    }
    let other = Slot::drawn(leveled, rng);
    let is_there = model.slots.contains(&other);
    assert_eq!(
        leveled.find(word, other.value(leveled)).is_some(),
        is_there,
        "{model:?}, {other:?}"
    );

    let mut more = model.clone();
    more.slots.push(other.clone());
    let fits = more.slots.len() <= leveled.slots as usize;
    assert_eq!(leveled.with(word, other.value(leveled)), fits.then(|| more.word(leveled)));
    for lane in 0..model.slots.len() {
        let (mut less, mut replaced) = (model.clone(), model.clone());
        less.slots.remove(lane);
        assert_eq!(
            leveled.without(word, lane as u32 * leveled.width),
            less.word(leveled),
            "{model:?} without {lane}"
        );
        replaced.slots[lane] = other.clone();
        let new = leveled.replace(word, lane as u32 * leveled.width, other.value(leveled));
        assert_eq!(new, replaced.word(leveled), "{model:?}, {other:?} in lane {lane}");
    }
    if model.level < MAX_LEVEL {
        let (halves, (expected, copied)) = (leveled.halves(word), model.halves());
        let expected = expected.map(|half| half.word(leveled));
        assert_eq!([halves.stays, halves.child], expected, "{model:?}");
        assert_eq!(halves.copied, copied, "{model:?}");
    }
}

/// An item is encoded with as long a tail as fits, and decoded to what the slot and the number of
/// the bucket tell.
fn check_code(leveled: &Leveled, level: u32, item: &Item) {
    for known in level as usize..=item.extension.len() {
        let length = (known - level as usize).min((leveled.max_tail) as usize);
        let tail = item.extension[level as usize..][..length].to_vec();
        let slot = leveled.encode(item.code(known), level);
        let expected = Slot { core: item.core, tail }.value(leveled);
        assert_eq!(slot, expected, "level {level}, {item:?}");
        let low = number(&item.extension[..level as usize]);
        let code = leveled.decode(slot, level, low);
        assert_eq!(code, item.code(level as usize + length));
        assert_eq!(code.known() as usize, level as usize + length);
    }
}

/// Changes one lane of a word to any bits. It is valid if each slot has a marker, and no empty one
/// is before an occupied one.
fn check_validity(leveled: &Leveled, model: &Model, rng: &mut SmallRng) {
    let lane = rng.random_range(0..leveled.slots);
    let width = rng.random_range(0..=leveled.width);
    let value = rng.random::<u64>() & ((1 << width) - 1);
    let word = leveled.replace(model.word(leveled), lane * leveled.width, value);
    let lanes =
        (0..leveled.slots).map(|lane| word >> (lane * leveled.width) & ((1 << leveled.width) - 1));
    let lanes: Vec<u64> = lanes.collect();
    let is_packed = !lanes.windows(2).any(|pair| pair[0] == 0 && pair[1] != 0);
    let below = leveled.core + leveled.value_bits;
    let have_markers = lanes.iter().all(|&slot| slot == 0 || slot >= 1 << below);
    assert_eq!(leveled.is_valid(word), is_packed && have_markers, "{word:#x}");
}

fn check_drawn(leveled: &Leveled) {
    let mut rng = rng(u64::from(leveled.slots));
    for _ in 0..scaled(5_000, 50_000) {
        let value_bits = rng.random_range(0..=leveled.max_tail.min(16));
        let value_bits = if rng.random() { value_bits } else { 0 };
        let leveled = &Leveled::new(leveled.slots, leveled.core, value_bits);
        let model = Model::drawn(leveled, &mut rng);
        check_word(leveled, &model, &mut rng);
        for _ in 0..4 {
            let item = model.item(leveled, &mut rng);
            check_matches(leveled, &model, &item);
        }
        check_code(leveled, model.level, &model.item(leveled, &mut rng));
        check_validity(leveled, &model, &mut rng);
    }
}

#[test]
fn drawn_words_of_every_layout() {
    check_drawn(&Leveled::new(5, 6, 0));
    check_drawn(&Leveled::new(4, 7, 0));
    check_drawn(&Leveled::new(3, 8, 0));
    check_drawn(&Leveled::new(2, 8, 0));
    // Short slots.
    check_drawn(&Leveled::new(10, 2, 0));
}

/// Every slot.
fn all_slots(leveled: &Leveled) -> Vec<Slot> {
    let cores = 0..1 << leveled.core;
    let slots = cores.flat_map(|core| {
        (0..=leveled.max_tail).flat_map(move |length| {
            (0..1 << length).map(move |tail| Slot { core, tail: bits(tail, length) })
        })
    });
    slots.collect()
}

/// Each slot is found by exactly the items that it may belong to. Neither its lane nor full
/// neighbours change that.
#[test]
fn every_slot_of_the_narrowest_layout_matches_the_right_items() {
    let leveled = &Leveled::new(5, 6, 0);
    let full = Slot { core: 63, tail: vec![true; 5] };
    for (number, slot) in all_slots(leveled).into_iter().enumerate() {
        let (at, lane) = (number as u32 % (MAX_LEVEL + 1), number % 5);
        let mut slots = vec![full.clone(); 5];
        slots[lane] = slot.clone();
        let model = Model { level: at, value_bits: 0, slots };
        for (core, tail) in [slot.core, slot.core ^ 1, 63 - slot.core, 63]
            .into_iter()
            .flat_map(|core| (0..1 << 5).map(move |tail| (core, tail)))
        {
            let extension = bits(tail << at, leveled.extension);
            check_matches(leveled, &model, &Item { core, extension });
        }
    }
}

/// All words of two slots in a layout of short ones, with all items, and split.
#[test]
fn all_pairs_of_short_slots() {
    let leveled = &Leveled::new(10, 2, 0);
    let all = all_slots(leveled);
    assert_eq!((all.len(), leveled.width, leveled.max_tail), (4 * 15, 6, 3));
    for (number, first) in all.iter().enumerate() {
        for second in &all {
            let at = number as u32 % MAX_LEVEL;
            let slots = vec![first.clone(), second.clone()];
            let model = Model { level: at, value_bits: 0, slots };
            for item in 0..1_u64 << (2 + 3) {
                let extension = bits(item >> 2 << at, leveled.extension);
                check_matches(leveled, &model, &Item { core: item & 3, extension });
            }
            let (halves, (expected, copied)) =
                (leveled.halves(model.word(leveled)), model.halves());
            assert_eq!([halves.stays, halves.child], expected.map(|half| half.word(leveled)));
            assert_eq!(halves.copied, copied);
        }
    }
}
