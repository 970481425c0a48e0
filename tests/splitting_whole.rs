//! Operations on whole tables that grow by splitting: copy, clear, merge, shrink, save.
#![allow(missing_docs)]
// Models and runs under steps have tests of their own.
#![cfg(not(any(loom, shuttle)))]

#[path = "splitting_whole/clones.rs"]
mod clones;
#[path = "splitting_whole/filters.rs"]
mod filters;
#[path = "splitting_whole/history.rs"]
mod history;
#[path = "splitting_whole/merges.rs"]
mod merges;
#[path = "splitting_whole/saves.rs"]
mod saves;
#[path = "splitting_whole/shrinks.rs"]
mod shrinks;

use guira::raw::*;

type Slots5 = Leveled<5, 6>;
type Slots4 = Leveled<4, 7>;
type Slots3 = Leveled<3, 8>;
type Slots2 = Leveled<2, 8>;

/// Numbers of first buckets: those that divide nothing, and one that groups of 8 divide.
const FIRST: [u64; 4] = [1, 2, 3, 1_000];
/// The share of slots that are occupied when the next bucket is split, in 256ths.
const LOAD: u32 = 205;

/// Random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// A table with the keys that it must hold.
struct Pair<L> {
    table: GrowingTable,
    keys: Vec<u64>,
    layout: core::marker::PhantomData<L>,
}

fn new<L: GrowingLayout>(first: u64, max: u64, stripes: usize) -> GrowingTable {
    GrowingTable::new::<L>(first, Limits { buckets: max, load: LOAD }, stripes, (true, false))
        .expect("memory")
}

fn item<L: GrowingLayout>(table: &GrowingTable, key: u64) -> Item {
    table.growth().item::<L>(mix(key, 42))
}

impl<L: GrowingLayout> Pair<L> {
    /// An empty table.
    fn new(first: u64) -> Self {
        Self::of(new::<L>(first, first << 15, 64))
    }

    fn of(table: GrowingTable) -> Self {
        Self { table, keys: Vec::new(), layout: core::marker::PhantomData }
    }

    /// A table with these keys, apart from those that it refuses: small tables may.
    fn with(first: u64, keys: core::ops::Range<u64>) -> Self {
        let mut pair = Self::new(first);
        for key in keys {
            pair.insert(key);
        }
        pair
    }

    /// A table that has also seen removals, so that buckets beyond the load's need are in use, and
    /// buckets that were split ahead of their turn.
    fn with_ahead(first: u64, keys: core::ops::Range<u64>) -> Self {
        let mut pair = Self::with(first, keys);
        pair.split_ahead();
        pair
    }

    fn insert(&mut self, key: u64) -> bool {
        let added = self.table.insert::<L>(&item::<L>(&self.table, key)).is_ok();
        if added {
            self.keys.push(key);
        }
        added
    }

    fn remove(&mut self, index: usize) {
        let key = self.keys.swap_remove(index);
        assert!(self.table.remove::<L>(&item::<L>(&self.table, key)), "key {key}");
    }

    /// Adds copies of keys, which take half of their buckets' slots at most, until buckets are split
    /// ahead of their turn: with the load unchanged, crowds in a few buckets find no room.
    fn split_ahead(&mut self) {
        for key in (1 << 50..).take(10_000) {
            if ahead(&self.table) > 3 {
                return;
            }
            // Removed again from elsewhere, so that the load does not grow.
            for _ in 0..4 {
                let _ = self.insert(key);
            }
            for _ in 0..4.min(self.keys.len() / 2) {
                self.remove(0);
            }
        }
    }

    fn check(&self) {
        for &key in &self.keys {
            assert!(self.table.contains::<L>(&item::<L>(&self.table, key)), "key {key}");
        }
        let (grown, occupied) = (self.table.grown(), self.occupied());
        assert_eq!(grown.items(occupied), self.keys.len() as u64, "{grown:?}, {occupied} occupied");
    }

    /// Removes all keys in a random order. Just the ghosts are left.
    fn drain(&mut self) {
        let mut random = Random(7);
        while !self.keys.is_empty() {
            self.remove(random.below(self.keys.len()));
            if self.keys.len().is_multiple_of(1_024) {
                self.check();
            }
        }
        assert_eq!(self.occupied(), self.table.grown().ghosts);
    }

    fn occupied(&self) -> u64 {
        let (grown, _, words) = self.table.copy_words().expect("memory");
        let numbers = grown.numbers(words.len() as u64);
        let buckets = (0..).zip(&words).filter(|(place, _)| !numbers.contains(place));
        buckets.map(|(_, &word)| u64::from(L::occupied(word))).sum()
    }
}

/// The number of buckets that were split ahead of their turn.
fn ahead(table: &GrowingTable) -> u64 {
    table.in_use() - table.buckets()
}

/// A table that is loaded from a snapshot of another one.
fn reloaded<L: GrowingLayout>(table: &GrowingTable, stripes: usize) -> GrowingTable {
    let (grown, _, words) = table.copy_words().expect("memory");
    load::<L>(&grown, &words, stripes).expect("a valid snapshot")
}

/// The table with these words, if they are valid.
fn load<L: GrowingLayout>(grown: &Grown, words: &[u64], stripes: usize) -> Option<GrowingTable> {
    let len = words.len() as u64;
    let read = |from: u64, copy: &mut [u64]| {
        let from = from as usize;
        copy.copy_from_slice(&words[from..from + copy.len()]);
    };
    if grown.invalid(len).is_some() || !grown.has_places(len, read) {
        return None;
    }
    Some(
        GrowingTable::restore::<L>(Bare, grown, None, len, stripes, (true, false), read)
            .expect("memory"),
    )
}
