//! The table, operation by operation, against an oracle that knows exactly which inserts must fail.

mod common;

use common::{Checked, Watchdog, operations::Operations, oracle::Oracle, rng, runner, scaled};
use guira::raw::{Addressing, Pair, Plain, SemiSorted, Table};
use proptest::prelude::*;
use rand::RngExt;

/// Numbers of buckets. A search expands up to 500, so in all of these it finds every empty slot.
const SIZES: [u64; 9] = [1, 2, 3, 4, 8, 9, 33, 100, 300];

/// An operation on a table. Indices select pairs.
#[derive(Clone, Debug)]
enum Op {
    Insert(usize),
    InsertUnique(usize),
    Remove(usize),
    /// Inserts of consecutive pairs: the index of the first one, and their number.
    Fill(usize, usize),
    /// Removals of consecutive pairs: the index of the first one, and their number.
    Drain(usize, usize),
    Clear,
}

fn op() -> impl Strategy<Value = Op> {
    // A third of the draws select one of four pairs, so that these get many copies.
    let pair = || prop_oneof![2 => any::<usize>(), 1 => 0..4_usize];
    let run = || (pair(), 0..150_usize);
    prop_oneof![
        6 => pair().prop_map(Op::Insert),
        4 => pair().prop_map(Op::InsertUnique),
        6 => pair().prop_map(Op::Remove),
        6 => run().prop_map(|(pair, length)| Op::Fill(pair, length)),
        2 => run().prop_map(|(pair, length)| Op::Drain(pair, length / 2)),
        1 => Just(Op::Clear),
    ]
}

/// A table beside the oracle.
struct Checker {
    operations: Operations,
    table: Table,
    oracle: Oracle,
    pairs: Vec<Pair>,
}

impl Checker {
    fn new(operations: Operations, buckets: u64, seed: u64) -> Self {
        let table = Table::new(Addressing::new(buckets), false).expect("a small table");
        let mut rng = rng(seed);
        let count = buckets * u64::from(operations.slots) * 3 / 2 + 4;
        let pair = |_| (operations.pair)(table.addressing(), rng.random());
        let pairs = (0..count).map(pair).collect();
        let oracle = Oracle::new(buckets, operations.slots);
        Self { operations, table, oracle, pairs }
    }

    fn insert(&mut self, pair: Pair) -> Checked {
        let expected = self.oracle.insert(pair);
        prop_assert_eq!(
            (self.operations.insert)(&self.table, pair),
            expected,
            "insert of {:?}",
            pair
        );
        self.check(pair)
    }

    fn insert_unique(&mut self, pair: Pair) -> Checked {
        let expected = self.oracle.insert_unique(pair);
        let outcome = (self.operations.insert_unique)(&self.table, pair);
        prop_assert_eq!(outcome, expected, "insert_unique of {:?}", pair);
        self.check(pair)
    }

    fn remove(&mut self, pair: Pair) -> Checked {
        let expected = self.oracle.remove(pair);
        prop_assert_eq!(
            (self.operations.remove)(&self.table, pair),
            expected,
            "removal of {:?}",
            pair
        );
        self.check(pair)
    }

    /// Compares the copies of a pair, with its buckets in both orders.
    fn check(&self, pair: Pair) -> Checked {
        let Operations { count, contains, .. } = self.operations;
        let [first, second] = pair.buckets;
        let reversed = Pair { buckets: [second, first], ..pair };
        for pair in [pair, reversed] {
            let copies = self.oracle.count(pair);
            prop_assert_eq!(count(&self.table, pair), copies, "count of {:?}", pair);
            prop_assert_eq!(contains(&self.table, pair), copies > 0, "contains of {:?}", pair);
        }
        Ok(())
    }

    /// Compares the copies of all pairs, so that a change of an unrelated pair is found.
    fn check_all(&self) -> Checked {
        self.pairs.iter().try_for_each(|&pair| self.check(pair))
    }

    /// Returns the pair at this index, in every other round of indices with its buckets exchanged.
    fn pair(&self, index: usize) -> Pair {
        let mut pair = self.pairs[index % self.pairs.len()];
        if index / self.pairs.len() % 2 == 1 {
            pair.buckets.reverse();
        }
        pair
    }

    fn apply(&mut self, op: &Op) -> Checked {
        match *op {
            Op::Insert(index) => self.insert(self.pair(index)),
            Op::InsertUnique(index) => self.insert_unique(self.pair(index)),
            Op::Remove(index) => self.remove(self.pair(index)),
            Op::Fill(start, length) => {
                (0..length).try_for_each(|i| self.insert(self.pair(start.wrapping_add(i))))
            }
            Op::Drain(start, length) => {
                (0..length).try_for_each(|i| self.remove(self.pair(start.wrapping_add(i))))
            }
            Op::Clear => {
                let occupied = self.oracle.len() as u64;
                prop_assert_eq!((self.operations.clear)(&self.table), occupied, "clear");
                self.oracle.clear();
                Ok(())
            }
        }
    }
}

/// Runs random sequences of operations in tables of every size.
fn check_random(operations: Operations) {
    let _watchdog = Watchdog::new("model");
    let ops = prop::collection::vec(op(), 0..60);
    let strategy = (prop::sample::select(&SIZES[..]), any::<u64>(), ops);
    let cases = scaled(40, 1_000);
    let outcome = runner(cases, operations.bits.into()).run(&strategy, |(buckets, seed, ops)| {
        let mut checker = Checker::new(operations, buckets, seed);
        for op in &ops {
            checker.apply(op)?;
        }
        checker.check_all()
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

macro_rules! models {
    ($module:ident of $layout:ident: $($name:ident: $slots:literal x $bits:literal),* $(,)?) => {
        mod $module {
            use super::*;
            $(#[test]
            fn $name() {
                check_random(Operations::of::<$layout<$slots, $bits>>());
            })*
        }
    };
}

models! {
    plain of Plain:
    of_8x8: 8 x 8, of_6x10: 6 x 10, of_5x12: 5 x 12, of_4x16: 4 x 16,
    of_1x1: 1 x 1, of_2x1: 2 x 1, of_2x2: 2 x 2, of_3x2: 3 x 2, of_2x3: 2 x 3, of_4x3: 4 x 3,
    of_1x16: 1 x 16, of_2x16: 2 x 16,
}

models! {
    semi_sorted of SemiSorted:
    of_6x12: 6 x 12, of_5x14: 5 x 14, of_4x17: 4 x 17, of_3x22: 3 x 22,
    of_1x5: 1 x 5, of_2x5: 2 x 5, of_3x6: 3 x 6, of_6x5: 6 x 5,
}

/// Fills tables to the last slot that the oracle can fill, one item at a time.
#[test]
fn full_means_that_nothing_fits() {
    let _watchdog = Watchdog::new("full_means_that_nothing_fits");
    for seed in 0..scaled(3, 20) {
        for buckets in [1, 2, 3, 8, 50, 400] {
            let mut checker = Checker::new(Operations::of::<Plain<4, 16>>(), buckets, seed);
            for index in 0..checker.pairs.len() {
                checker.insert(checker.pairs[index]).unwrap_or_else(|failure| panic!("{failure}"));
            }
            let load = checker.oracle.len() as f64 / (buckets * 4) as f64;
            assert!(load > 0.9, "the oracle refuses an item at load {load}");
            checker.check_all().unwrap_or_else(|failure| panic!("{failure}"));
        }
    }
}
