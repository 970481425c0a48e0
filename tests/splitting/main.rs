//! Tables that grow by splitting their buckets: from the first bucket to the last, and operations
//! on whole tables: copy, clear, merge, shrink, save.

// Models and runs under steps have tests of their own.
#![cfg(not(any(loom, shuttle)))]

#[path = "../common/mod.rs"]
mod common;
mod corners;
mod growth;
mod whole;

use std::{marker::PhantomData, ops::Range};

use common::rng;
use guira::{
    InsertError,
    raw::{GrowingLayout, GrowingTable, Item, Limits, mix},
};
use rand::RngExt;

/// A table with the keys that it must hold.
struct Held<L> {
    table: GrowingTable,
    keys: Vec<u64>,
    layout: PhantomData<L>,
}

fn item<L: GrowingLayout>(table: &GrowingTable, key: u64) -> Item {
    table.growth().item::<L>(mix(key, 42))
}

fn contains<L: GrowingLayout>(table: &GrowingTable, key: u64) -> bool {
    table.contains::<L>(item::<L>(table, key))
}

fn occupied<L: GrowingLayout>(table: &GrowingTable) -> u64 {
    let (grown, _, words) = table.copy_words().expect("memory");
    let numbers = grown.numbers(words.len() as u64);
    let buckets = (0..).zip(&words).filter(|(place, _)| !numbers.contains(place));
    buckets.map(|(_, &word)| u64::from(L::occupied(word))).sum()
}

/// The number of buckets that were split ahead of their turn.
fn ahead(table: &GrowingTable) -> u64 {
    table.in_use() - table.buckets()
}

impl<L: GrowingLayout> Held<L> {
    /// An empty table, whose buckets are split if this share of the slots is occupied, in 256ths.
    fn new(first: u64, buckets: u64, load: u32, stripes: usize) -> Self {
        let limits = Limits { buckets, load };
        let table = GrowingTable::new::<L>(first, limits, stripes, (true, false));
        Self { table: table.expect("a small table"), keys: Vec::new(), layout: PhantomData }
    }

    fn insert(&mut self, key: u64) -> Result<(), InsertError> {
        let outcome = self.table.insert::<L>(item::<L>(&self.table, key));
        self.keys.extend(outcome.is_ok().then_some(key));
        outcome
    }

    /// Inserts keys, apart from those that the table refuses: small ones may.
    fn insert_all(&mut self, keys: Range<u64>) {
        keys.for_each(|key| _ = self.insert(key));
    }

    fn remove(&mut self, index: usize) {
        let key = self.keys.swap_remove(index);
        assert!(self.table.remove::<L>(item::<L>(&self.table, key)), "key {key}");
    }

    /// Checks that no key is missed, and the number of items.
    fn check(&self) {
        let size = self.table.size();
        for &key in &self.keys {
            assert!(contains::<L>(&self.table, key), "{key} is missing at {size:?}");
        }
        let (grown, occupied) = (self.table.grown(), occupied::<L>(&self.table));
        assert_eq!(grown.items(occupied), self.keys.len() as u64, "{grown:?}, {occupied} occupied");
    }

    /// Removes all keys in a random order. Just the ghosts are left.
    fn drain(&mut self) {
        let mut rng = rng(7);
        let checks = self.keys.len() / 2;
        while !self.keys.is_empty() {
            self.remove(rng.random_range(0..self.keys.len()));
            if self.keys.len() == checks {
                self.check();
            }
        }
        assert_eq!(occupied::<L>(&self.table), self.table.grown().ghosts);
    }
}
