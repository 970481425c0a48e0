//! Tables whose slots expire, on which the programs of [`super::aging`] run.

use guira::raw::{
    Addressing, Aged, Clock as _, Fingerprint, FixedSpace, GrowingLayout, GrowingSpace, Item,
    Leveled, Limits, Pair, Plain, Space, Table, Words,
};
use rand::RngExt;

use super::{
    ages::{START, WINDOW},
    aging::CLASSES,
};
use crate::common::rng;

/// Bits of a stamp.
pub const STAMP_BITS: u32 = 2;
/// The generation in which a table is made. What is inserted in it has expired in that in which a
/// program starts, and has not been swept.
pub const FIRST: u64 = START - WINDOW as u64 - 1;

/// What the slots of a table hold.
fn payload() -> Aged {
    Aged::new(STAMP_BITS, WINDOW, FIRST)
}

/// The space of a tiny table, empty at first.
pub trait Lasting: Space<Payload = Aged> + Words<Self::Layout> + Send + Sync {
    type Layout;

    /// The table of the program with this number, and an item of each class.
    fn make(number: u64) -> (Table<Self>, [Self::Item; CLASSES]);

    fn is_visible(table: &Table<Self>, item: Self::Item) -> bool;

    /// Splits the next bucket, in a table that grows. Returns whether there was one.
    fn split(table: &Table<Self>) -> bool;

    /// How often buckets were split.
    fn splits(table: &Table<Self>) -> u64;

    /// The slots that are occupied, by whatever.
    fn occupied(table: &Table<Self>) -> u32;
}

impl Lasting for FixedSpace<Aged> {
    type Layout = Plain<2, 16>;

    fn make(number: u64) -> (Table<Self>, [Pair; CLASSES]) {
        let table =
            Table::<Self>::new(Addressing::holding(2, payload()), false).expect("a tiny table");
        // The first two classes have different stripes.
        let key = |key: u32| Fingerprint::new(key << STAMP_BITS);
        // The last class has a single bucket in half of the programs.
        let alternate = |class| u32::from(class < CLASSES - 1 || number.is_multiple_of(2));
        let pairs = std::array::from_fn(|class| {
            let fingerprint = (1..)
                .map(|nth| key(2 * nth + class as u32 % 2))
                .filter(|&key| table.addressing().alt_bucket(key, 0) == alternate(class))
                .nth(class)
                .expect("a fingerprint for these buckets");
            Pair { fingerprint, buckets: [0, alternate(class)] }
        });
        (table, pairs)
    }

    fn is_visible(table: &Table<Self>, pair: Pair) -> bool {
        table.is_visible::<Self::Layout>(pair)
    }

    fn split(_table: &Table<Self>) -> bool {
        false
    }

    fn splits(_table: &Table<Self>) -> u64 {
        0
    }

    fn occupied(table: &Table<Self>) -> u32 {
        let words = table.copy_words().expect("memory for a few words");
        words.into_iter().map(|word| u32::from(word != 0)).sum()
    }
}

/// How often the first buckets double at most.
const DOUBLINGS: u32 = 4;

impl Lasting for GrowingSpace<Aged> {
    /// The tails never run out, so there are no ghosts, but slots of one item know different parts
    /// of it: those that were added or moved before its bucket was split know less.
    type Layout = Leveled<2, 8>;

    fn make(number: u64) -> (Table<Self>, [Item; CLASSES]) {
        let mut rng = rng(!number);
        let first = rng.random_range(1..=2);
        let limits = Limits { buckets: first << DOUBLINGS, load: 205 };
        let table =
            Table::<Self>::holding::<Self::Layout>(payload(), first, limits, 8, (false, false));
        let table = table.expect("a tiny table");
        let mut items: Vec<Item> = Vec::new();
        while items.len() < CLASSES {
            let item = table.growth().item::<Self::Layout>(rng.random());
            let core = |item: &Item| item.sides[0].code.core;
            if items.iter().all(|other| core(other) != core(&item)) {
                items.push(item);
            }
        }
        (table, items.try_into().expect("as many as there are classes"))
    }

    fn is_visible(table: &Table<Self>, item: Item) -> bool {
        table.is_visible::<Self::Layout>(item)
    }

    fn split(table: &Table<Self>) -> bool {
        table.split_one::<Self::Layout>()
    }

    fn splits(table: &Table<Self>) -> u64 {
        table.in_use() - table.growth().first()
    }

    fn occupied(table: &Table<Self>) -> u32 {
        let (grown, _, words) = table.copy_words().expect("memory for a few words");
        let numbers = grown.numbers(words.len() as u64);
        let buckets = (0..).zip(words).filter(|(place, _)| !numbers.contains(place));
        buckets.map(|(_, word)| <Self::Layout as GrowingLayout>::occupied(word)).sum()
    }
}
