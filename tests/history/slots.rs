//! What the slots of tiny tables hold, and the worlds and the programs for it.

use std::sync::Arc;

use guira::raw::{
    Aged, Bare, BucketLayout, FixedSpace, GrowingLayout, GrowingSpace, Leveled, Payload, Plain,
    SemiSorted, Valued,
};
use rand::{RngExt, rngs::SmallRng};

use super::{
    program::Kind,
    spec::{CLASSES, START, WINDOW},
    world::{World, call, call_aged},
};

/// Bits of a stamp.
pub const STAMP_BITS: u32 = 2;
/// The generation in which a table is made. What is inserted in it has expired in that in which a
/// program starts, and has not been swept.
pub const FIRST: u64 = START - WINDOW as u64 - 1;

/// What a slot holds. In a map, each class has a value of its own, which is its place.
pub trait Slot: Payload + Send + Sync + 'static {
    /// Whether there are values.
    const VALUED: bool = false;
    /// Whether slots expire.
    const EXPIRES: bool = false;

    /// Kinds of threads. The first one mostly reads.
    const KINDS: [Kind; 4];

    /// A world of one table.
    fn fixed(rng: &mut SmallRng) -> World<FixedSpace<Self>>;

    /// A world of a table that grows.
    fn growing(rng: &mut SmallRng) -> World<GrowingSpace<Self>>;

    /// For each class the number of its key.
    fn keys(_rng: &mut SmallRng) -> [usize; CLASSES] {
        std::array::from_fn(|class| class)
    }
}

/// A world of a table whose slots do not expire.
fn fixed<P: Slot, L: BucketLayout>(
    rng: &mut SmallRng,
    payload: P,
    buckets: u32,
) -> World<FixedSpace<P>> {
    let keys = P::keys(rng);
    World::<FixedSpace<P>>::fixed::<L>(rng, (payload, buckets), keys, call::<FixedSpace<P>, L>)
}

/// A world with these keys, for the tests of the checker.
pub fn with_keys<P: Slot, L: BucketLayout>(
    payload: P,
    buckets: u32,
    keys: [usize; CLASSES],
) -> Arc<World<FixedSpace<P>>> {
    let (of, call) = ((payload, buckets), call::<FixedSpace<P>, L>);
    Arc::new(World::<FixedSpace<P>>::fixed::<L>(&mut crate::common::rng(0), of, keys, call))
}

fn growing<P: Slot, L: GrowingLayout>(rng: &mut SmallRng, payload: P) -> World<GrowingSpace<P>> {
    World::<GrowingSpace<P>>::growing::<L>(rng, payload, call::<GrowingSpace<P>, L>)
}

impl Slot for Bare {
    const KINDS: [Kind; 4] = [
        [80, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [10, 5, 35, 15, 35, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 50, 0, 50, 0, 0, 0, 0, 0, 0, 0, 0],
        [35, 15, 20, 15, 15, 0, 0, 0, 0, 0, 0, 0, 0],
    ];

    fn fixed(rng: &mut SmallRng) -> World<FixedSpace<Self>> {
        match rng.random_range(0..5) {
            0 => fixed::<Self, Plain<4, 16>>(rng, Self, 2),
            1 => fixed::<Self, Plain<2, 8>>(rng, Self, 3),
            4 => fixed::<Self, SemiSorted<2, 8>>(rng, Self, 2),
            buckets => fixed::<Self, Plain<2, 4>>(rng, Self, 2 * buckets - 2),
        }
    }

    fn growing(rng: &mut SmallRng) -> World<GrowingSpace<Self>> {
        match rng.random_range(0..8) {
            0 => growing::<Self, Leveled<5, 6>>(rng, Self),
            1 => growing::<Self, Leveled<4, 7>>(rng, Self),
            2 => growing::<Self, Leveled<3, 8>>(rng, Self),
            3 => growing::<Self, Leveled<2, 8>>(rng, Self),
            // Slots with tails of one to three bits, so that they run out.
            4 => growing::<Self, Leveled<5, 8>>(rng, Self),
            5 | 6 => growing::<Self, Leveled<5, 9>>(rng, Self),
            _ => growing::<Self, Leveled<5, 10>>(rng, Self),
        }
    }
}

impl Slot for Valued {
    const VALUED: bool = true;

    const KINDS: [Kind; 4] = [
        [20, 10, 0, 0, 0, 30, 25, 15, 0, 0, 0, 0, 0],
        [5, 5, 25, 10, 30, 5, 0, 0, 20, 0, 0, 0, 0],
        [0, 0, 30, 0, 30, 0, 0, 0, 40, 0, 0, 0, 0],
        [5, 10, 20, 15, 10, 10, 5, 5, 20, 0, 0, 0, 0],
    ];

    fn fixed(rng: &mut SmallRng) -> World<FixedSpace<Self>> {
        match rng.random_range(0..4) {
            0 => fixed::<Self, Plain<4, 16>>(rng, Self::new(8), 2),
            1 => fixed::<Self, Plain<2, 8>>(rng, Self::new(3), 3),
            buckets => fixed::<Self, Plain<2, 16>>(rng, Self::new(4), 2 * buckets - 2),
        }
    }

    /// Slots with tails of one to eight bits beside a value of three.
    fn growing(rng: &mut SmallRng) -> World<GrowingSpace<Self>> {
        let payload = Self::new(3);
        match rng.random_range(0..6) {
            0 => growing::<Self, Leveled<5, 6>>(rng, payload),
            1 => growing::<Self, Leveled<4, 7>>(rng, payload),
            2 => growing::<Self, Leveled<3, 8>>(rng, payload),
            3 => growing::<Self, Leveled<4, 9>>(rng, payload),
            _ => growing::<Self, Leveled<5, 7>>(rng, payload),
        }
    }

    fn keys(rng: &mut SmallRng) -> [usize; CLASSES] {
        [[0, 0, 0, 1, 1], [0, 1, 0, 1, 2], [0, 1, 1, 2, 2]][rng.random_range(0..3)]
    }
}

impl Slot for Aged {
    const EXPIRES: bool = true;

    const KINDS: [Kind; 4] = [
        [75, 25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 10, 0, 0, 0, 0, 20, 10, 20, 30],
        [30, 10, 20, 20, 10, 0, 0, 0, 0, 20, 10, 20, 30],
        [10, 10, 30, 30, 20, 0, 0, 0, 0, 10, 0, 10, 0],
    ];

    fn fixed(rng: &mut SmallRng) -> World<FixedSpace<Self>> {
        let (payload, keys) = (Self::new(STAMP_BITS, WINDOW, FIRST), Self::keys(rng));
        let call = call_aged::<FixedSpace<Self>, Plain<2, 16>>;
        World::<FixedSpace<Self>>::fixed::<Plain<2, 16>>(rng, (payload, 2), keys, call)
    }

    /// The tails never run out, so there are no ghosts, but slots of one item know different parts
    /// of it: those that were added or moved before its bucket was split know less.
    fn growing(rng: &mut SmallRng) -> World<GrowingSpace<Self>> {
        let payload = Self::new(STAMP_BITS, WINDOW, FIRST);
        let call = call_aged::<GrowingSpace<Self>, Leveled<2, 8>>;
        World::<GrowingSpace<Self>>::growing::<Leveled<2, 8>>(rng, payload, call)
    }
}
