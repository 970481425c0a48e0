//! The functions of a layout on one word against a list of numbers.
//!
//! All words come from the functions themselves, starting with the empty one, so the checks hold
//! for any encoding of fingerprints.

use arbitrary::Arbitrary;
use guira::raw::{BucketLayout, Fingerprint};

use crate::with_some_layout;

/// A layout and changes to a word.
#[derive(Arbitrary, Debug)]
pub struct Input {
    layout: u8,
    changes: Vec<Change>,
}

/// A change to a word.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Change {
    With(Number),
    Without(Number),
    Replace(Number, Number),
}

/// The source of a fingerprint.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Number {
    /// An arbitrary fingerprint.
    Any(u32),
    /// A fingerprint in the word with at most one bit flipped, which faulty code may confuse with
    /// it.
    Near { item: u8, bit: u8 },
}

/// Runs an input.
///
/// # Panics
/// If a function and the list disagree.
pub fn run(input: &Input) {
    with_some_layout!(input.layout, L => run_on::<L>(&input.changes));
}

/// Applies the changes to a word and to a list, and compares them after each change.
fn run_on<L: BucketLayout>(changes: &[Change]) {
    let mut word = 0;
    let mut list = Vec::new();
    check::<L>(word, &list);
    for change in changes {
        match *change {
            Change::With(number) => {
                let value = fingerprint::<L>(number, &list);
                let room = list.len() < L::SLOTS as usize;
                let new = L::with(word, Fingerprint::new(value));
                assert_eq!(new.is_some(), room, "with {value}: {list:?}");
                list.extend(room.then_some(value));
                word = new.unwrap_or(word);
                check_one::<L>(word, &list, value);
            }
            Change::Without(number) => {
                let value = fingerprint::<L>(number, &list);
                let place = list.iter().position(|&held| held == value);
                let new = L::without(word, L::pattern(Fingerprint::new(value)));
                assert_eq!(new.is_some(), place.is_some(), "without {value}: {list:?}");
                place.map(|place| list.swap_remove(place));
                word = new.unwrap_or(word);
                check_one::<L>(word, &list, value);
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
                check_one::<L>(word, &list, old);
                check_one::<L>(word, &list, new);
            }
        }
        check::<L>(word, &list);
    }
}

/// Returns the fingerprint of a number.
fn fingerprint<L: BucketLayout>(number: Number, list: &[u32]) -> u32 {
    let value = match number {
        Number::Any(number) => number & L::MAX_FINGERPRINT,
        Number::Near { item, bit } => {
            let near = list.get(usize::from(item) % list.len().max(1)).copied().unwrap_or(1);
            // One value more than there are bits: it flips none.
            let bit = u32::from(bit) % (L::BITS + 1);
            near ^ (1 << bit & L::MAX_FINGERPRINT)
        }
    };
    value.max(L::MIN_FINGERPRINT)
}

/// Checks what the functions return for a word and a fingerprint.
fn check_one<L: BucketLayout>(word: u64, list: &[u32], value: u32) {
    let pattern = L::pattern(Fingerprint::new(value));
    let count = list.iter().filter(|&&held| held == value).count();
    assert_eq!(L::count(word, pattern) as usize, count, "count of {value}: {list:?}");
    assert_eq!(L::contains(word, pattern), count > 0, "contains {value}: {list:?}");
    for words in [[word, 0], [0, word]] {
        let found = L::either_contains(words, pattern);
        assert_eq!(found, count > 0, "either_contains {value}: {list:?}");
    }
}

/// Checks what the functions return for a word and all fingerprints in it.
fn check<L: BucketLayout>(word: u64, list: &[u32]) {
    assert_eq!(L::is_emptier(0, word), !list.is_empty(), "is_emptier: {list:?}");
    assert_eq!(L::is_full(word), list.len() == L::SLOTS as usize, "is_full: {list:?}");
    let mut listed: Vec<u32> = L::fingerprints(word).map(Fingerprint::get).collect();
    let mut expected = list.to_vec();
    listed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(listed, expected, "fingerprints");
    assert_eq!(word == 0, list.is_empty(), "only the empty word is zero");
    for &value in list {
        check_one::<L>(word, list, value);
    }
}
