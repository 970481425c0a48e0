//! The operations of a table against a multiset of (fingerprint, pair of buckets) that knows
//! exactly what fits.

use arbitrary::{Arbitrary, Result, Unstructured};
use guira::raw::{Addressing, BucketLayout, Merged, Pair, Table, mix};

use crate::{common::oracle::Oracle, with_some_layout};

/// Largest number of buckets. A search visits up to 500 buckets, so it finds every empty slot that
/// is reachable in such a table.
const MAX_BUCKETS: u64 = 300;

/// A table and the operations on it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    layout: u8,
    buckets: u16,
    seed: u64,
    operations: Operations,
}

/// Operations up to the end of the input. (A `Vec` ends after each one with probability one half.)
#[derive(Debug)]
struct Operations(Vec<Operation>);

impl<'a> Arbitrary<'a> for Operations {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let mut operations = Vec::new();
        while !input.is_empty() {
            operations.push(input.arbitrary()?);
        }
        Ok(Self(operations))
    }
}

/// An operation on the table.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Operation {
    Insert(Item),
    InsertUnique(Item),
    Remove(Item),
    /// Inserts consecutive items, given the first and their number.
    Fill(u16, u8),
    /// Removes consecutive items, given the first and their number.
    Drain(u16, u8),
    Clear,
    Clone,
    /// Merges the table with itself.
    Merge,
}

/// A hash of few bits, so that items recur, and whether its pair starts with the alternate bucket.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Item {
    number: u16,
    reversed: bool,
}

/// Runs an input.
///
/// # Panics
/// If the table and the oracle disagree.
pub fn run(input: &Input) {
    // A third of the tables are tiny: many items there have only one bucket.
    let buckets = match u64::from(input.buckets) {
        buckets if buckets % 3 == 0 => 1 + buckets / 3 % 4,
        buckets => 1 + buckets / 3 % MAX_BUCKETS,
    };
    with_some_layout!(input.layout, L => {
        Checker::new::<L>(buckets, input.seed).run::<L>(&input.operations.0);
    });
}

/// A table beside the oracle.
struct Checker {
    table: Table,
    seed: u64,
    oracle: Oracle,
}

impl Checker {
    fn new<L: BucketLayout>(buckets: u64, seed: u64) -> Self {
        let table = Table::new(Addressing::new(buckets), false).expect("a small table");
        Self { table, seed, oracle: Oracle::new(buckets, L::SLOTS) }
    }

    fn run<L: BucketLayout>(&mut self, operations: &[Operation]) {
        for &operation in operations {
            match operation {
                Operation::Insert(item) => self.insert::<L>(item),
                Operation::InsertUnique(item) => self.insert_unique::<L>(item),
                Operation::Remove(item) => self.remove::<L>(item),
                Operation::Fill(start, length) => {
                    consecutive(start, length).for_each(|item| self.insert::<L>(item));
                }
                Operation::Drain(start, length) => {
                    consecutive(start, length).for_each(|item| self.remove::<L>(item));
                }
                Operation::Clear => {
                    assert_eq!(self.table.clear::<L>(), self.oracle.len() as u64, "clear");
                    self.oracle.clear();
                }
                Operation::Clone => {
                    let (clone, occupied) = self.table.try_clone::<L>(false).expect("memory");
                    assert_eq!(occupied, self.oracle.len() as u64, "clone");
                    self.table = clone;
                }
                Operation::Merge => self.merge::<L>(operations),
            }
        }
        // Check all items once more: an operation on one item must not affect others.
        for &operation in operations {
            match operation {
                Operation::Insert(item)
                | Operation::InsertUnique(item)
                | Operation::Remove(item) => self.check::<L>(item),
                Operation::Fill(start, length) | Operation::Drain(start, length) => {
                    consecutive(start, length).for_each(|item| self.check::<L>(item));
                }
                Operation::Clear | Operation::Clone | Operation::Merge => {}
            }
        }
    }

    /// Merges the table with itself. If that is refused, nothing may change.
    fn merge<L: BucketLayout>(&mut self, operations: &[Operation]) {
        let items = self.oracle.len() as i64;
        let Merged { change, outcome } = self.table.merge::<L>(&self.table, None);
        if outcome.is_ok() {
            assert_eq!(change, items, "merge");
            self.oracle.double();
        } else {
            assert_eq!(change, 0, "merge");
        }
        for &operation in operations {
            if let Operation::Insert(item) = operation {
                self.check::<L>(item);
            }
        }
        let (_, occupied) = self.table.try_clone::<L>(false).expect("memory");
        assert_eq!(occupied, self.oracle.len() as u64, "merge");
    }

    fn insert<L: BucketLayout>(&mut self, item: Item) {
        let pair = self.pair::<L>(item);
        let expected = self.oracle.insert(pair);
        assert_eq!(self.table.insert::<L>(pair), expected, "insert of {pair:?}");
        self.check::<L>(item);
    }

    fn insert_unique<L: BucketLayout>(&mut self, item: Item) {
        let pair = self.pair::<L>(item);
        let expected = self.oracle.insert_unique(pair);
        assert_eq!(self.table.insert_unique::<L>(pair), expected, "insert_unique of {pair:?}");
        self.check::<L>(item);
    }

    fn remove<L: BucketLayout>(&mut self, item: Item) {
        let pair = self.pair::<L>(item);
        assert_eq!(self.table.remove::<L>(pair), self.oracle.remove(pair), "removal of {pair:?}");
        self.check::<L>(item);
    }

    /// Checks what the table returns for an item.
    fn check<L: BucketLayout>(&self, item: Item) {
        let pair = self.pair::<L>(item);
        let count = self.oracle.count(pair);
        assert_eq!(self.table.count::<L>(pair), count, "count of {pair:?}");
        assert_eq!(self.table.contains::<L>(pair), count > 0, "contains {pair:?}");
    }

    /// The pair of an item.
    fn pair<L: BucketLayout>(&self, item: Item) -> Pair {
        let mut pair = self.table.addressing().pair::<L>(mix(item.number.into(), self.seed));
        if item.reversed {
            pair.buckets.reverse();
        }
        pair
    }
}

/// Consecutive items, given the first and their number.
fn consecutive(start: u16, length: u8) -> impl Iterator<Item = Item> {
    let number = move |step| start.wrapping_add(u16::from(step));
    (0..length).map(move |step| Item { number: number(step), reversed: false })
}
