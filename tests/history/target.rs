//! What the programs on sets and maps run on.

use std::{fmt::Debug, ops::RangeInclusive};

use guira::{
    Layout,
    raw::{Chain, Entries, Nested, Plain, SemiSorted, Single, Valued},
};
use rand::{RngExt, rngs::SmallRng};

use super::{Action, Answer, CLASSES, Class, Kind, TableWorld};

/// Which bucket each copy of a class is in: copies in the first one, and in the second one.
pub type Placement = [[usize; 2]; CLASSES];

/// A tiny filter in a world of five classes.
pub trait Target: Sized + Send + Sync {
    /// The size of the filter, and the classes.
    type World: Clone + Debug + Send + Sync + 'static;

    /// Whether it grows instead of being full.
    const GROWS: bool;

    /// What a slot holds.
    type Slot: Slot;

    fn world(rng: &mut SmallRng) -> Self::World;

    /// The slots (of the first segment).
    fn slots(world: &Self::World) -> u32;

    fn class(world: &Self::World, index: usize) -> Class;

    /// Whether a class has two buckets (in the first segment).
    fn has_two_buckets(world: &Self::World, class: usize) -> bool;

    /// How many items to insert first, if it grows, and has so many slots.
    fn fillings(slots: u32) -> RangeInclusive<u32> {
        // It is to append a segment.
        slots..=slots + 2
    }

    fn new(world: &Self::World) -> Self;

    /// Makes one call. `way` is the bucket that the pair names first.
    fn call(&self, world: &Self::World, class: usize, way: usize, action: Action) -> Answer;

    /// The placement of all copies, at a quiet moment. Zeros if the target cannot tell.
    fn placement(&self, world: &Self::World) -> Placement;

    fn segments(&self) -> usize;
}

/// What a slot holds: a fingerprint alone, or with a value. In a map, each class has a value of its
/// own, which is its place.
pub trait Slot: Entries {
    /// Kinds of threads. The first one mostly reads.
    const KINDS: [Kind; 4];

    /// A world of one table.
    fn table(rng: &mut SmallRng) -> TableWorld<Self>;

    /// The layout of the segments of a chain, and the bits of their fingerprints.
    fn segments(rng: &mut SmallRng) -> (Layout, u32);

    /// For each class the number of its key.
    fn keys(rng: &mut SmallRng) -> [usize; CLASSES];

    /// The nesting of a segment, given the one without values.
    fn nesting(nested: Nested) -> Nested<Self>;

    /// What a chain stores of an item with this hash.
    fn item(hash: u64, class: usize) -> Self::Item;

    /// Makes a call that chains of the other kind do not have. `new` is the class to replace by.
    fn call(chain: &Chain<Self>, item: Self::Item, action: Action, new: usize) -> Answer;

    /// Counts the copies of an item in a chain, at a quiet moment.
    fn copies(chain: &Chain<Self>, item: Self::Item) -> usize;
}

impl Slot for Single {
    const KINDS: [Kind; 4] = [
        [80, 20, 0, 0, 0, 0, 0, 0, 0],
        [10, 5, 35, 15, 35, 0, 0, 0, 0],
        [0, 0, 50, 0, 50, 0, 0, 0, 0],
        [35, 15, 20, 15, 15, 0, 0, 0, 0],
    ];

    fn table(rng: &mut SmallRng) -> TableWorld<Self> {
        let keys = Self::keys(rng);
        match rng.random_range(0..5) {
            0 => TableWorld::of::<Plain<4, 16>>(rng, Self, 2, keys),
            1 => TableWorld::of::<Plain<2, 8>>(rng, Self, 3, keys),
            4 => TableWorld::of::<SemiSorted<2, 8>>(rng, Self, 2, keys),
            buckets => TableWorld::of::<Plain<2, 4>>(rng, Self, 2 * buckets - 2, keys),
        }
    }

    fn segments(rng: &mut SmallRng) -> (Layout, u32) {
        ([Layout::Plain4x16, Layout::SemiSorted3x22][rng.random_range(0..2)], 13)
    }

    fn keys(_: &mut SmallRng) -> [usize; CLASSES] {
        std::array::from_fn(|class| class)
    }

    fn nesting(nested: Nested) -> Nested {
        nested
    }

    fn item(hash: u64, _: usize) -> u64 {
        hash
    }

    fn call(chain: &Chain, item: u64, action: Action, _: usize) -> Answer {
        match action {
            Action::InsertUnique => Answer::InsertUnique(chain.insert_unique(item)),
            _ => unreachable!("only in maps"),
        }
    }

    fn copies(chain: &Chain, item: u64) -> usize {
        chain.count(item)
    }
}

/// Bits of a value in a chain.
const VALUE_BITS: u32 = 3;

impl Slot for Valued {
    const KINDS: [Kind; 4] = [
        [20, 10, 0, 0, 0, 30, 25, 15, 0],
        [5, 5, 25, 10, 30, 5, 0, 0, 20],
        [0, 0, 30, 0, 30, 0, 0, 0, 40],
        [5, 10, 20, 15, 10, 10, 5, 5, 20],
    ];

    fn table(rng: &mut SmallRng) -> TableWorld<Self> {
        let keys = Self::keys(rng);
        match rng.random_range(0..4) {
            0 => TableWorld::of::<Plain<4, 16>>(rng, Self::new(8), 2, keys),
            1 => TableWorld::of::<Plain<2, 8>>(rng, Self::new(3), 3, keys),
            buckets => TableWorld::of::<Plain<2, 16>>(rng, Self::new(4), 2 * buckets - 2, keys),
        }
    }

    fn segments(_: &mut SmallRng) -> (Layout, u32) {
        (Layout::with_values(4, VALUE_BITS).expect("a layout"), 10)
    }

    fn keys(rng: &mut SmallRng) -> [usize; CLASSES] {
        [[0, 0, 0, 1, 1], [0, 1, 0, 1, 2], [0, 1, 1, 2, 2]][rng.random_range(0..3)]
    }

    fn nesting(nested: Nested) -> Nested<Self> {
        nested.with_values(VALUE_BITS)
    }

    fn item(hash: u64, class: usize) -> (u64, u16) {
        (hash, class as u16)
    }

    fn call(chain: &Chain<Self>, item: (u64, u16), action: Action, new: usize) -> Answer {
        let (hash, class) = item;
        match action {
            Action::InsertUnique => {
                let found = chain.get_or_insert(item);
                Answer::GetOrInsert(found.map(|value| value.map(usize::from)))
            }
            Action::Get => Answer::Get(chain.get(hash).map(usize::from)),
            Action::Values => {
                let all = chain.values(hash);
                let is_found = |class| (0..all.len()).any(|place| all.get(place) == Some(class));
                Answer::Values(std::array::from_fn(|class| is_found(class as u16)))
            }
            Action::ContainsValue => Answer::Holds(class.into(), chain.contains_value(item)),
            Action::Replace(_) => Answer::Replace(new, chain.replace(item, new as u16)),
            _ => unreachable!("in every chain"),
        }
    }

    fn copies(chain: &Chain<Self>, (hash, class): (u64, u16)) -> usize {
        let all = chain.values(hash);
        (0..all.len()).filter(|&place| all.get(place) == Some(class)).count()
    }
}
