//! The core, operation by operation, against an oracle that knows exactly what fits.

mod common;

use common::{Checked, Watchdog, core, oracle::Oracle, rng, runner, scaled};
use guira::raw::{BucketLayout, Pair, Plain, SemiSorted, Table};
use proptest::prelude::*;
use rand::RngExt;

/// Numbers of buckets to try; the search visits 500, so in all of these it misses no free lane.
const SIZES: [u64; 9] = [1, 2, 3, 4, 8, 9, 33, 100, 300];

/// Something done to a core; the numbers stand for pairs.
#[derive(Clone, Debug)]
enum Op {
    Insert(usize),
    InsertUnique(usize),
    Remove(usize),
    /// So many insertions, from this pair on.
    Fill(usize, usize),
    /// So many removals, from this pair on.
    Drain(usize, usize),
    Clear,
}

fn op() -> impl Strategy<Value = Op> {
    // A third of the draws go to four pairs, so that copies pile up.
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

/// A core beside the oracle.
struct Checker<L> {
    core: Table,
    oracle: Oracle,
    pairs: Vec<Pair>,
    layout: std::marker::PhantomData<L>,
}

impl<L: BucketLayout> Checker<L> {
    fn new(buckets: u64, seed: u64) -> Self {
        let core = table(buckets, seed);
        let mut rng = rng(seed);
        let number = buckets * u64::from(L::SLOTS) * 3 / 2 + 4;
        let pairs = (0..number).map(|_| core.addressing().pair::<L>(rng.random())).collect();
        let oracle = Oracle::new(buckets, L::SLOTS);
        Self { core, oracle, pairs, layout: std::marker::PhantomData }
    }

    fn insert(&mut self, pair: Pair) -> Checked {
        let expected = self.oracle.insert(pair);
        prop_assert_eq!(self.core.insert::<L>(pair), expected, "insert of {:?}", pair);
        self.look(pair)
    }

    fn insert_unique(&mut self, pair: Pair) -> Checked {
        let expected = self.oracle.insert_unique(pair);
        prop_assert_eq!(self.core.insert_unique::<L>(pair), expected, "{:?}", pair);
        self.look(pair)
    }

    fn remove(&mut self, pair: Pair) -> Checked {
        let expected = self.oracle.remove(pair);
        prop_assert_eq!(self.core.remove::<L>(pair), expected, "removal of {:?}", pair);
        self.look(pair)
    }

    /// Checks what the core says of a pair, named from either of its buckets.
    fn look(&self, pair: Pair) -> Checked {
        let [first, second] = pair.buckets;
        let reversed = Pair { buckets: [second, first], ..pair };
        for pair in [pair, reversed] {
            let count = self.oracle.count(pair);
            prop_assert_eq!(self.core.count::<L>(pair), count, "count of {:?}", pair);
            prop_assert_eq!(self.core.contains::<L>(pair), count > 0, "{:?}", pair);
        }
        Ok(())
    }

    /// Checks every pair in the game, which also shows that nothing else was touched.
    fn look_at_all(&self) -> Checked {
        self.pairs.iter().try_for_each(|&pair| self.look(pair))
    }

    /// The pair of this number, or of this number as seen from its other bucket.
    fn pair(&self, number: usize) -> Pair {
        let mut pair = self.pairs[number % self.pairs.len()];
        if number / self.pairs.len() % 2 == 1 {
            pair.buckets.reverse();
        }
        pair
    }

    fn apply(&mut self, op: &Op) -> Checked {
        match *op {
            Op::Insert(number) => self.insert(self.pair(number)),
            Op::InsertUnique(number) => self.insert_unique(self.pair(number)),
            Op::Remove(number) => self.remove(self.pair(number)),
            Op::Fill(start, length) => {
                (0..length).try_for_each(|i| self.insert(self.pair(start.wrapping_add(i))))
            }
            Op::Drain(start, length) => {
                (0..length).try_for_each(|i| self.remove(self.pair(start.wrapping_add(i))))
            }
            Op::Clear => {
                self.core.clear();
                self.oracle.clear();
                Ok(())
            }
        }
    }
}

/// Random sequences of operations in tables of every size.
fn check<L: BucketLayout>() {
    let _watchdog = Watchdog::new("model");
    let ops = prop::collection::vec(op(), 0..60);
    let strategy = (prop::sample::select(&SIZES[..]), any::<u64>(), ops);
    let cases = scaled(40, 1_000);
    let outcome = runner(cases, L::BITS.into()).run(&strategy, |(buckets, seed, ops)| {
        let mut checker = Checker::<L>::new(buckets, seed);
        for op in &ops {
            checker.apply(op)?;
        }
        checker.look_at_all()
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

macro_rules! models {
    ($module:ident of $layout:ident: $($name:ident: $lanes:literal x $bits:literal),* $(,)?) => {
        mod $module {
            use super::*;
            $(#[test]
            fn $name() {
                check::<$layout<$lanes, $bits>>();
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

/// Fills tables to the very last lane that the oracle can fill, one item at a time.
#[test]
fn full_means_that_nothing_fits() {
    let _watchdog = Watchdog::new("full_means_that_nothing_fits");
    for seed in 0..scaled(3, 20) {
        for buckets in [1, 2, 3, 8, 50, 400] {
            let mut checker = Checker::<Plain<4, 16>>::new(buckets, seed);
            for number in 0..checker.pairs.len() {
                checker.insert(checker.pairs[number]).unwrap_or_else(|failure| panic!("{failure}"));
            }
            let load = checker.oracle.len() as f64 / (buckets * 4) as f64;
            assert!(load > 0.9, "the oracle itself stopped at {load}");
            checker.look_at_all().unwrap_or_else(|failure| panic!("{failure}"));
        }
    }
}
