//! Words: every function of a layout against a list of numbers.
//!
//! Words are only ever made by the functions themselves, from the empty one, so this holds for any
//! layout, however it stores its fingerprints.

use arbitrary::Arbitrary;
use guira::raw::{Fingerprint, WordLayout};

use crate::with_some_layout;

/// A layout, and what to do to a word of it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    layout: u8,
    changes: Vec<Change>,
}

/// Something done to a word. Numbers stand for fingerprints.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Change {
    With(Number),
    Without(Number),
    Replace(Number, Number),
}

/// A number that a fingerprint is made of.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Number {
    /// Any.
    Any(u32),
    /// That of an item in the word, with one bit flipped or none: likely to be mistaken for it.
    Near { item: u8, bit: u8 },
}

/// Runs an input.
///
/// # Panics
/// If a function and the list disagree.
pub fn run(input: &Input) {
    with_some_layout!(input.layout, L => run_on::<L>(&input.changes));
}

/// Makes the changes to a word and to a list, and compares after each.
fn run_on<L: WordLayout>(changes: &[Change]) {
    let mut word = 0;
    let mut list = Vec::new();
    check::<L>(word, &list);
    for change in changes {
        match *change {
            Change::With(number) => {
                let value = fingerprint::<L>(number, &list);
                let room = list.len() < L::LANES as usize;
                let new = L::with(word, Fingerprint::new(value));
                assert_eq!(new.is_some(), room, "with {value}: {list:?}");
                list.extend(room.then_some(value));
                word = new.unwrap_or(word);
                look::<L>(word, &list, value);
            }
            Change::Without(number) => {
                let value = fingerprint::<L>(number, &list);
                let place = list.iter().position(|&held| held == value);
                let new = L::without(word, L::pattern(Fingerprint::new(value)));
                assert_eq!(new.is_some(), place.is_some(), "without {value}: {list:?}");
                place.map(|place| list.swap_remove(place));
                word = new.unwrap_or(word);
                look::<L>(word, &list, value);
            }
            Change::Replace(old, new) => {
                let [old, new] = [old, new].map(|number| fingerprint::<L>(number, &list));
                let place = list.iter().position(|&held| held == old);
                let pattern = L::pattern(Fingerprint::new(old));
                let replaced = L::replace(word, pattern, Fingerprint::new(new));
                assert_eq!(replaced.is_some(), place.is_some(), "replace {old}: {list:?}");
                if let Some(place) = place {
                    list[place] = new;
                }
                word = replaced.unwrap_or(word);
                look::<L>(word, &list, old);
                look::<L>(word, &list, new);
            }
        }
        check::<L>(word, &list);
    }
}

/// The fingerprint that a number stands for.
fn fingerprint<L: WordLayout>(number: Number, list: &[u32]) -> u32 {
    let value = match number {
        Number::Any(number) => number & L::MOST_FINGERPRINT,
        Number::Near { item, bit } => {
            let near = list.get(usize::from(item) % list.len().max(1)).copied().unwrap_or(1);
            // One bit in as many as there are and one more, so that sometimes none is flipped.
            let bit = u32::from(bit) % (L::BITS + 1);
            near ^ (1 << bit & L::MOST_FINGERPRINT)
        }
    };
    value.max(L::LEAST_FINGERPRINT)
}

/// Checks what a word says of a fingerprint.
fn look<L: WordLayout>(word: u64, list: &[u32], value: u32) {
    let pattern = L::pattern(Fingerprint::new(value));
    let count = list.iter().filter(|&&held| held == value).count();
    assert_eq!(L::count(word, pattern) as usize, count, "count of {value}: {list:?}");
    assert_eq!(L::contains(word, pattern), count > 0, "contains {value}: {list:?}");
}

/// Checks what a word says of itself, and of all that it holds.
fn check<L: WordLayout>(word: u64, list: &[u32]) {
    assert_eq!(L::is_emptier(0, word), !list.is_empty(), "is_emptier: {list:?}");
    assert_eq!(L::is_full(word), list.len() == L::LANES as usize, "is_full: {list:?}");
    let mut listed: Vec<u32> = L::fingerprints(word).map(Fingerprint::get).collect();
    let mut expected = list.to_vec();
    listed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(listed, expected, "fingerprints");
    assert_eq!(word == 0, list.is_empty(), "only the empty word is zero");
    for &value in list {
        look::<L>(word, list, value);
    }
}
