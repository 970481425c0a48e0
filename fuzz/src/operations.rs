//! The core, operation by operation, against a multiset of (fingerprint, pair of buckets) that knows
//! exactly what fits.

use arbitrary::Arbitrary;
use guira::raw::{Core, Geometry, Pair, WordLayout};

use crate::{oracle::Oracle, with_some_layout};

/// Most buckets of a table: the search for room visits 500, so in all of these it misses no lane.
const MOST_BUCKETS: u64 = 300;

/// A table, and what to do to it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    layout: u8,
    buckets: u16,
    seed: u64,
    operations: Vec<Operation>,
}

/// Something done to the table. Numbers stand for hashes.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Operation {
    Insert(Item),
    InsertUnique(Item),
    Remove(Item),
    /// So many insertions, of consecutive items.
    Fill(u16, u8),
    /// So many removals, of consecutive items.
    Drain(u16, u8),
    Clear,
}

/// A number of few bits, so that items come again, and the bucket that the pair is named from.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Item {
    number: u16,
    reversed: bool,
}

/// Runs an input.
///
/// # Panics
/// If the core and the oracle disagree.
pub fn run(input: &Input) {
    // A third of the tables are tiny: there the two buckets of many items are one.
    let buckets = match u64::from(input.buckets) {
        buckets if buckets % 3 == 0 => 1 + buckets / 3 % 4,
        buckets => 1 + buckets / 3 % MOST_BUCKETS,
    };
    with_some_layout!(input.layout, L => {
        Checker::new::<L>(buckets, input.seed).run::<L>(&input.operations);
    });
}

/// A core beside the oracle.
struct Checker {
    core: Core,
    oracle: Oracle,
}

impl Checker {
    fn new<L: WordLayout>(buckets: u64, seed: u64) -> Self {
        let core = Core::new(Geometry::new(buckets, seed), false).expect("a small table");
        Self { core, oracle: Oracle::new(buckets, L::LANES) }
    }

    fn run<L: WordLayout>(&mut self, operations: &[Operation]) {
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
                    self.core.clear();
                    self.oracle.clear();
                }
            }
        }
        // Every pair that was ever in the game, which shows that nothing else was touched.
        for &operation in operations {
            match operation {
                Operation::Insert(item)
                | Operation::InsertUnique(item)
                | Operation::Remove(item) => self.look::<L>(item),
                Operation::Fill(start, length) | Operation::Drain(start, length) => {
                    consecutive(start, length).for_each(|item| self.look::<L>(item));
                }
                Operation::Clear => {}
            }
        }
    }

    fn insert<L: WordLayout>(&mut self, item: Item) {
        let pair = self.pair::<L>(item);
        let expected = self.oracle.insert(pair);
        assert_eq!(self.core.insert::<L>(pair), expected, "insert of {pair:?}");
        self.look::<L>(item);
    }

    fn insert_unique<L: WordLayout>(&mut self, item: Item) {
        let pair = self.pair::<L>(item);
        let expected = self.oracle.insert_unique(pair);
        assert_eq!(self.core.insert_unique::<L>(pair), expected, "insert_unique of {pair:?}");
        self.look::<L>(item);
    }

    fn remove<L: WordLayout>(&mut self, item: Item) {
        let pair = self.pair::<L>(item);
        assert_eq!(self.core.remove::<L>(pair), self.oracle.remove(pair), "removal of {pair:?}");
        self.look::<L>(item);
    }

    /// Checks what the core says of a pair.
    fn look<L: WordLayout>(&self, item: Item) {
        let pair = self.pair::<L>(item);
        let count = self.oracle.count(pair);
        assert_eq!(self.core.count::<L>(pair), count, "count of {pair:?}");
        assert_eq!(self.core.contains::<L>(pair), count > 0, "contains {pair:?}");
    }

    /// The pair of an item, perhaps as seen from its other bucket.
    fn pair<L: WordLayout>(&self, item: Item) -> Pair {
        let mut pair = self.core.geometry().pair::<L>(item.number.into());
        if item.reversed {
            pair.buckets.reverse();
        }
        pair
    }
}

/// So many items from this one on.
fn consecutive(start: u16, length: u8) -> impl Iterator<Item = Item> {
    let number = move |step| start.wrapping_add(u16::from(step));
    (0..length).map(move |step| Item { number: number(step), reversed: false })
}
