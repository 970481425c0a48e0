//! The functions on one word, in any layout, against a list of slots.
//!
//! All words come from the functions themselves, starting with the empty one, so the checks hold
//! for any encoding of slots.

use arbitrary::Arbitrary;
use guira::raw::Slots;

use crate::some_slots;

/// A layout and changes to a word.
#[derive(Arbitrary, Debug)]
pub struct Input {
    layout: u8,
    value_bits: u8,
    changes: Vec<Change>,
}

/// A change to a word.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Change {
    With(Number),
    Without(Number),
    Replace(Number, Number),
}

/// The source of a slot.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Number {
    /// An arbitrary slot.
    Any(u32),
    /// A slot in the word with at most one bit flipped, which faulty code may confuse with
    /// it.
    Near { item: u8, bit: u8 },
}

/// Runs an input.
///
/// # Panics
/// If a function and the list disagree.
pub fn run(input: &Input) {
    let mut slots = some_slots(input.layout);
    if !slots.is_semi_sorted() {
        let value_bits = u32::from(input.value_bits) % slots.key_bits().min(17);
        slots = Slots::plain(slots.count(), slots.key_bits(), value_bits);
    }
    run_on(&slots, &input.changes);
}

/// Applies the changes to a word and to a list, and compares them after each change.
fn run_on(slots: &Slots, changes: &[Change]) {
    let mut word = 0;
    let mut list = Vec::new();
    check(slots, word, &list);
    for change in changes {
        match *change {
            Change::With(number) => {
                let slot = slot(slots, number, &list);
                let room = list.len() < slots.count() as usize;
                let new = slots.with::<false>(word, slot);
                assert_eq!(new.is_some(), room, "with {slot}: {list:?}");
                list.extend(room.then_some(slot));
                word = new.unwrap_or(word);
                check_one(slots, word, &list, slot);
            }
            Change::Without(number) => {
                let slot = slot(slots, number, &list);
                let place = list.iter().position(|&held| held == slot);
                let new = slots.without::<false>(word, slots.sought(slot));
                assert_eq!(new.is_some(), place.is_some(), "without {slot}: {list:?}");
                place.map(|place| list.swap_remove(place));
                word = new.unwrap_or(word);
                check_one(slots, word, &list, slot);
            }
            Change::Replace(old, new) => {
                let [old, new] = [old, new].map(|number| slot(slots, number, &list));
                let place = list.iter().position(|&held| held == old);
                let replaced = slots.replaced::<false>(word, slots.sought(old), new);
                assert_eq!(replaced.is_some(), place.is_some(), "replaced {old}: {list:?}");
                if let Some(place) = place {
                    list[place] = new;
                }
                word = replaced.unwrap_or(word);
                check_one(slots, word, &list, old);
                check_one(slots, word, &list, new);
            }
        }
        check(slots, word, &list);
    }
}

/// Returns the slot of a number.
fn slot(slots: &Slots, number: Number, list: &[u32]) -> u32 {
    let bits = slots.key_bits() + slots.value_bits();
    let max = u32::MAX >> (32 - bits);
    let slot = match number {
        Number::Any(number) => number & max,
        Number::Near { item, bit } => {
            let near = list.get(usize::from(item) % list.len().max(1)).copied().unwrap_or(1);
            // One value more than there are bits: it flips none.
            let bit = u32::from(bit) % (bits + 1);
            near ^ (1_u32.checked_shl(bit).unwrap_or(0) & max)
        }
    };
    slot.max(slots.slot(slots.min_key(), 0))
}

/// Checks what the functions return for a word and a slot.
fn check_one(slots: &Slots, word: u64, list: &[u32], slot: u32) {
    let sought = slots.sought(slot);
    assert_eq!(slots.holds::<false>(word, sought), list.contains(&slot), "holds {slot}: {list:?}");
    // Whatever the values are.
    let has_key = |&&held: &&u32| slots.key(held) == slots.key(slot);
    let count = list.iter().filter(has_key).count() as u32;
    for words in [[word, 0], [0, word]] {
        assert_eq!(slots.count_in::<false>(words, sought), count, "count_in of {slot}: {list:?}");
        let found = slots.either_holds::<false>(words, sought);
        assert_eq!(found, count > 0, "either_holds {slot}: {list:?}");
    }
}

/// Checks what the functions return for a word and all slots in it.
fn check(slots: &Slots, word: u64, list: &[u32]) {
    assert_eq!(slots.is_emptier(0, word), !list.is_empty(), "is_emptier: {list:?}");
    assert_eq!(slots.is_full(word), list.len() == slots.count() as usize, "is_full: {list:?}");
    let mut listed: Vec<u32> = slots.each(word).collect();
    let mut expected = list.to_vec();
    listed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(listed, expected, "each");
    assert_eq!(word == 0, list.is_empty(), "only the empty word is zero");
    for &slot in list {
        check_one(slots, word, list, slot);
    }
}
