//! Tables that grow by splitting their buckets: from few first buckets to the last level, and
//! corner cases, which random sequences hardly reach.

// Models and runs under steps have tests of their own.
#![cfg(not(any(loom, shuttle)))]

mod common;

use common::{for_every_growing_layout, rng};
use guira::{
    InsertError, Shrinking,
    raw::{Code, GrowingTable, GrowingWords, Item, Leveled, Limits, Payload, Place, Side, mix},
};
use rand::RngExt;

/// Most doublings of a table.
const DOUBLINGS: u32 = 15;
/// Number of buckets below which searches reach too few of them.
const SMALL: u64 = 64;
/// A load at which searches succeed in every layout, in 256ths.
const LOAD: u32 = 190;

/// A table with the keys that it must hold.
struct Held {
    table: GrowingTable,
    keys: Vec<u64>,
}

impl Held {
    fn new(leveled: &Leveled, first: u64, buckets: u64) -> Self {
        let limits = Limits { buckets, load: LOAD, copies: 1 };
        let table = GrowingTable::new(*leveled, Payload::NONE, first, limits, 64, (true, false));
        Self { table: table.expect("a small table"), keys: Vec::new() }
    }

    fn item(&self, key: u64) -> Item {
        self.table.addressing().item(mix(key, 42))
    }

    fn insert(&mut self, key: u64) -> Result<(), InsertError> {
        let outcome = self.table.insert::<GrowingWords>(self.item(key));
        self.keys.extend(outcome.is_ok().then_some(key));
        outcome
    }

    fn occupied(&self) -> u64 {
        let (grown, _, words) = self.table.copy_words().expect("memory");
        let numbers = grown.numbers(words.len() as u64);
        let buckets = (0..).zip(&words).filter(|(place, _)| !numbers.contains(place));
        buckets.map(|(_, &word)| u64::from(self.table.leveled().occupied(word))).sum()
    }

    /// Checks that no key is missed, and the number of items.
    fn check(&self) {
        let size = self.table.size();
        for &key in &self.keys {
            assert!(self.table.contains(self.item(key)), "{key} is missing at {size:?}");
        }
        let (grown, occupied) = (self.table.grown(), self.occupied());
        assert_eq!(grown.items(occupied), self.keys.len() as u64, "{grown:?}, {occupied} occupied");
    }

    /// Removes all keys in a random order. Just the ghosts are left.
    fn drain(&mut self) {
        let mut rng = rng(7);
        let checks = self.keys.len() / 2;
        while !self.keys.is_empty() {
            let key = self.keys.swap_remove(rng.random_range(0..self.keys.len()));
            assert!(self.table.remove::<GrowingWords>(self.item(key)), "key {key}");
            if self.keys.len() == checks {
                self.check();
            }
        }
        assert_eq!(self.occupied(), self.table.grown().ghosts);
    }
}

/// Inserts items from this one on until one is refused, and checks all of them after every
/// doubling. Returns why the last one was refused.
///
/// In tables of fewer buckets than the library makes, a search does not always reach one that has
/// not been split in this round. Then other items follow.
fn fill(held: &mut Held) -> InsertError {
    let (mut level, mut unlucky) = (held.table.size().level, 0);
    for key in 0.. {
        match held.insert(key) {
            Ok(()) => {}
            Err(InsertError::Full) if held.table.buckets() < SMALL => unlucky += 1,
            Err(error) => {
                // A refused insert changes nothing.
                assert_eq!(held.insert(key), Err(error));
                held.check();
                return error;
            }
        }
        if held.table.size().level > level {
            level = held.table.size().level;
            held.check();
        }
        assert!(unlucky < 1_000, "{:?}", held.table.size());
    }
    unreachable!("no table takes every item")
}

/// Fills tables of a few first buckets until their sixteenth doubling is due.
fn to_the_sixteenth_doubling(leveled: &Leveled) {
    for first in [1, 2, 3] {
        let mut held = Held::new(leveled, first, first << DOUBLINGS);
        let error = fill(&mut held);
        let size = held.table.size();
        assert_eq!((error, size.level, size.split), (InsertError::FullyGrown, DOUBLINGS, 0));
        assert_eq!(held.table.buckets(), first << DOUBLINGS);
        let slots = held.table.buckets() * u64::from(leveled.slots);
        let share = |held: &Held| held.keys.len() as f64 / slots as f64;
        assert!(share(&held) > 0.6, "{first}: {}", share(&held));
        held.drain();
        // Only ghosts are left. They take room, and nothing else is wrong with the table.
        assert_eq!(fill(&mut held), InsertError::FullyGrown);
        assert!(share(&held) > 0.5, "{first}: {} again", share(&held));
        held.drain();
    }
}

#[test]
fn tables_of_one_to_three_first_buckets_grow_to_the_last_level() {
    for_every_growing_layout!(to_the_sixteenth_doubling());
}

/// Tables that may have few buckets say so when they have as many, and never have more.
#[test]
fn the_largest_number_of_buckets_is_kept() {
    for (first, largest) in [(1, 1), (1, 5), (3, 3), (3, 100), (1_000, 1_999), (1_000, 2_001)] {
        let mut held = Held::new(&Leveled::new(4, 7, 0), first, largest);
        assert_eq!(fill(&mut held), InsertError::FullyGrown, "{first} to {largest}");
        assert!(held.table.buckets() <= largest);
        assert!(largest < 100 || held.table.buckets() == largest, "{largest}");
    }
}

/// Three slots of 20 bits. With stamps of 4 bits, tails have 7 bits at most.
const THREE: Leveled = Leveled::new(3, 8, 4);
/// Two slots of 30 bits.
const TWO: Leveled = Leveled::new(2, 8, 0);

/// The item with this core, bucket at level 0, and extension.
fn item_of(table: &GrowingTable, core: u64, start: u32, bits: u64) -> Item {
    let core = core << table.leveled().value_bits;
    let side =
        Side { start, code: Code { core, extension: 1 << table.leveled().extension | bits } };
    Item { sides: [side, table.addressing().other(side)] }
}

/// A false positive may be refreshed, and takes the only slot of another item with it. A removal of
/// that item must not take the slot of a third one, which knows less and has the stamp.
#[test]
fn a_removal_after_the_refresh_of_a_false_positive_takes_nothing() {
    const WINDOW: u32 = 13;
    let limits = Limits { buckets: 512, load: 256, copies: 1 };
    let aged = Payload::stamps(4, WINDOW, u64::from(WINDOW));
    let table = GrowingTable::new(THREE, aged, 16, limits, 8, (false, false));
    let table = table.expect("memory");
    // The first eight buckets are at level 1, the others at level 0.
    assert!(table.split_one());
    let of = |core, bits| item_of(&table, core, 0, bits);
    let core = (0..256).find(|&core| of(core, 0).sides[1].start >= 8).expect("one of many");
    // What a slot knows at level 1, and not at level 0, is the 8th bit.
    let (item, less, alias) = (of(core, 0), of(core, 1 << 7), of(core, 1 << 8));
    let generation = table.insert_for::<GrowingWords>(item, WINDOW).expect("room");
    assert_eq!(table.advance::<GrowingWords>(), generation + 1);
    assert!(table.refresh::<GrowingWords>(alias), "the slot knows 8 bits");
    // Into the emptier bucket, at level 0.
    assert_eq!(table.insert_for::<GrowingWords>(less, WINDOW - 1), Ok(generation));
    assert!(!table.remove_of::<GrowingWords>(item, generation));
    assert!(table.is_visible(less) && table.is_visible(item));
    // Once nothing that was refreshed is visible, a removal depends on the stamp alone.
    while table.clock().generation() < generation + 1 + u64::from(WINDOW) {
        table.advance::<GrowingWords>();
    }
    table.advance::<GrowingWords>();
    let generation = table.insert_for::<GrowingWords>(less, WINDOW).expect("room");
    assert!(table.remove_of::<GrowingWords>(less, generation) && !table.is_visible(less));
}

/// A bucket that was split ahead of its turn, and whose slots fit nowhere else, stays in use when
/// the table shrinks, and so does the memory of its child.
#[test]
fn a_child_that_cannot_be_given_up_keeps_its_memory() {
    for bucket in 1..256 {
        let limits = Limits { buckets: 1_024, load: 256, copies: 1 };
        let table = GrowingTable::new(TWO, Payload::NONE, 256, limits, 8, (false, false));
        let mut table = table.expect("memory");
        assert_eq!(table.split_early(Place { bucket, level: 0 }), Ok(true));
        let of = |core, bits| item_of(&table, core, bucket, bits);
        // Both sides of such an item begin in the bucket.
        let Some(core) = (0..256).find(|&core| of(core, 0).sides[1].start == bucket) else {
            continue;
        };
        let items: Vec<Item> = (0..64).map(|bits| of(core, bits)).collect();
        let kept: Vec<Item> = items
            .into_iter()
            .filter(|item| table.insert_unique::<GrowingWords>(*item) == Ok(true))
            .take(3)
            .collect();
        assert_eq!(kept.len(), 3, "{bucket}");
        assert_ne!(table.shrink(u64::MAX), Shrinking::Unfinished);
        assert_eq!(table.in_use(), 257);
        assert!(kept.iter().all(|item| table.contains(*item)), "{bucket}");
    }
}
