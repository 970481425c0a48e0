//! A table, operation by operation, against an oracle that knows exactly which inserts must fail.

use guira::raw::{FixedTable, FixedWords, Merged, Pair, Payload, Slots};
use rand::{Rng, RngExt};

use super::oracle::Oracle;

/// A table beside the oracle.
pub struct TableChecker<R> {
    table: FixedTable,
    pub oracle: Oracle,
    /// The pairs that are inserted, half as many more as there are slots.
    pub pairs: Vec<Pair>,
    /// Decides what is done.
    pub rng: R,
}

impl<R: Rng> TableChecker<R> {
    /// An empty table of so many buckets. A search expands up to 500, so it finds every empty slot
    /// of a smaller table.
    pub fn new(slots: Slots, buckets: u64, seed: u64, rng: R) -> Self {
        let table = FixedTable::new(slots, buckets, Payload::NONE, false).expect("a small table");
        let mut hashes = super::rng(seed);
        let count = buckets * u64::from(slots.count()) * 3 / 2 + 4;
        let pair = |_| table.addressing().pair(hashes.random());
        let pairs = (0..count).map(pair).collect();
        let oracle = Oracle::new(buckets, slots.count());
        Self { table, oracle, pairs, rng }
    }

    /// The number of a pair. A third of the draws go to four pairs, so that they get many copies.
    fn index(&mut self) -> usize {
        let most = if self.rng.random_ratio(1, 3) { 4 } else { self.pairs.len() };
        self.rng.random_range(0..most)
    }

    /// The pair with this number, in every other round of numbers.
    fn pair(&self, index: usize) -> Pair {
        self.pairs[index % self.pairs.len()]
    }

    /// A pair, with its buckets in either order.
    fn any_pair(&mut self) -> Pair {
        let index = self.index();
        let mut pair = self.pair(index);
        if self.rng.random() {
            pair.buckets.reverse();
        }
        pair
    }

    pub fn insert(&mut self, pair: Pair) {
        let expected = self.oracle.insert(pair);
        assert_eq!(self.table.insert::<FixedWords>(pair), expected, "insert of {pair:?}");
        self.check(pair);
    }

    fn insert_unique(&mut self, pair: Pair) {
        let expected = self.oracle.insert_unique(pair);
        let outcome = self.table.insert_unique::<FixedWords>(pair);
        assert_eq!(outcome, expected, "insert_unique of {pair:?}");
        self.check(pair);
    }

    fn remove(&mut self, pair: Pair) {
        let expected = self.oracle.remove(pair);
        assert_eq!(self.table.remove::<FixedWords>(pair), expected, "removal of {pair:?}");
        self.check(pair);
    }

    /// Compares the copies of a pair, with its buckets in both orders.
    fn check(&self, pair: Pair) {
        let [first, second] = pair.buckets;
        let reversed = Pair { buckets: [second, first], ..pair };
        for pair in [pair, reversed] {
            let copies = self.oracle.count(pair);
            assert_eq!(self.table.count::<FixedWords>(pair), copies, "count of {pair:?}");
            assert_eq!(self.table.contains(pair), copies > 0, "contains {pair:?}");
        }
    }

    /// Compares the copies of all pairs, so that a change of an unrelated pair is found, and the
    /// number of items.
    pub fn check_all(&self) {
        self.pairs.iter().for_each(|&pair| self.check(pair));
        let (_, occupied) = self.table.try_clone().expect("memory");
        assert_eq!(occupied, self.oracle.len() as u64);
    }

    /// Merges the table with itself. If that is refused, nothing may change.
    fn merge(&mut self) {
        let items = self.oracle.len() as i64;
        let Merged { change, outcome } = self.table.merge(&self.table, None);
        assert_eq!(change, if outcome.is_ok() { items } else { 0 }, "merge");
        if outcome.is_ok() {
            self.oracle.double();
        }
        self.check_all();
    }

    /// Performs an operation. Few are on the whole table, and many on a run of pairs.
    pub fn step(&mut self) {
        let (pair, start) = (self.any_pair(), self.index());
        match self.rng.random_range(0..27) {
            0..6 => self.insert(pair),
            6..10 => self.insert_unique(pair),
            10..16 => self.remove(pair),
            16..22 => {
                let end = start + self.rng.random_range(0..150);
                (start..end).for_each(|index| self.insert(self.pair(index)));
            }
            22..24 => {
                let end = start + self.rng.random_range(0..75);
                (start..end).for_each(|index| self.remove(self.pair(index)));
            }
            24 => {
                let occupied = self.oracle.len() as u64;
                assert_eq!(self.table.clear(), occupied, "clear");
                self.oracle.clear();
            }
            25 => {
                let (clone, occupied) = self.table.try_clone().expect("memory");
                assert_eq!(occupied, self.oracle.len() as u64, "clone");
                self.table = clone;
            }
            _ => self.merge(),
        }
    }
}
