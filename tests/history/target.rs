//! What the programs on sets and maps run on.

use std::{fmt::Debug, ops::RangeInclusive};

use guira::raw::{Bare, Payload, Plain, SemiSorted, Valued};
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

    /// The slots, before the filter grows.
    fn slots(world: &Self::World) -> u32;

    fn class(world: &Self::World, index: usize) -> Class;

    /// Whether a class has two buckets, before the filter grows.
    fn has_two_buckets(world: &Self::World, class: usize) -> bool;

    /// How many items to insert first, if it grows, and has so many slots.
    fn fillings(slots: u32) -> RangeInclusive<u32> {
        // It is to grow.
        slots..=slots + 2
    }

    fn new(world: &Self::World) -> Self;

    /// Makes one call. `way` is the bucket that the pair names first.
    fn call(&self, world: &Self::World, class: usize, way: usize, action: Action) -> Answer;

    /// The placement of all copies, at a quiet moment. Zeros if the target cannot tell.
    fn placement(&self, world: &Self::World) -> Placement;

    /// A number that rises when the filter grows.
    fn growth(&self) -> usize;
}

/// What a slot holds: a fingerprint alone, or with a value. In a map, each class has a value of its
/// own, which is its place.
pub trait Slot: Payload + Send + Sync + 'static {
    /// Whether there are values.
    const VALUED: bool;

    /// Kinds of threads. The first one mostly reads.
    const KINDS: [Kind; 4];

    /// A world of one table.
    fn table(rng: &mut SmallRng) -> TableWorld<Self>;

    /// What the slots of a table hold that grows.
    fn splitting() -> Self;

    /// For each class the number of its key.
    fn keys(rng: &mut SmallRng) -> [usize; CLASSES];
}

impl Slot for Bare {
    const VALUED: bool = false;

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

    fn splitting() -> Self {
        Self
    }

    fn keys(_: &mut SmallRng) -> [usize; CLASSES] {
        std::array::from_fn(|class| class)
    }
}

impl Slot for Valued {
    const VALUED: bool = true;

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

    fn splitting() -> Self {
        Self::new(3)
    }

    fn keys(rng: &mut SmallRng) -> [usize; CLASSES] {
        [[0, 0, 0, 1, 1], [0, 1, 0, 1, 2], [0, 1, 1, 2, 2]][rng.random_range(0..3)]
    }
}
