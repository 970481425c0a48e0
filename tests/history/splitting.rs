//! Tables that grow by splitting, from one or two buckets.

use std::ops::RangeInclusive;

use guira::raw::{Code, GrowingLayout, GrowingTable, Growth, Item, Leveled, Limits, Side, Single};
use rand::{RngExt, rngs::SmallRng};

use super::{
    Action, Answer, CLASSES, Class, Target,
    target::{Placement, Slot},
};

/// A table.
pub struct Splitting(GrowingTable);

/// A layout, a number of first buckets, and the two orders of the sides of each class.
#[derive(Clone, Debug)]
pub struct SplittingWorld {
    first: u64,
    slots_per_bucket: u8,
    make: fn(&Self) -> GrowingTable,
    call: fn(&GrowingTable, &Item, Action) -> Answer,
    items: [[Item; 2]; CLASSES],
    /// For each class those that a slot may be taken for whose tail has run out.
    aliases: [[bool; CLASSES]; CLASSES],
    /// Whether tails can run out, so that ghosts are left.
    ghosts: bool,
}

/// How often the first buckets double at most.
const DOUBLINGS: u32 = 4;

fn make<L: GrowingLayout>(world: &SplittingWorld) -> GrowingTable {
    let limits = Limits { buckets: world.first << DOUBLINGS, load: 205 };
    GrowingTable::new::<L>(world.first, limits, 8, (false, false)).expect("a tiny table")
}

fn call<L: GrowingLayout>(table: &GrowingTable, item: &Item, action: Action) -> Answer {
    match action {
        Action::Contains => Answer::Contains(table.contains::<L>(item)),
        Action::Count => Answer::Count(table.count::<L>(item)),
        Action::Insert => Answer::Insert(table.insert::<L>(item)),
        Action::InsertUnique => Answer::InsertUnique(table.insert_unique::<L>(item)),
        Action::Remove => Answer::Remove(table.remove::<L>(item)),
        _ => unreachable!("only in maps"),
    }
}

impl SplittingWorld {
    /// A world of random classes with this layout.
    fn of<L: GrowingLayout>(rng: &mut SmallRng) -> Self {
        let first = rng.random_range(1..=2);
        let growth = Growth::new::<L>(first).expect("a small table");
        let mut hashes: [u64; CLASSES] = std::array::from_fn(|_| rng.random());
        // Often some differ in a single bit of the extension: aliases of slots that do not know it,
        // because their tails were cut, or ran out. Now and then two classes have one core, so that
        // they share a stripe.
        for (class, of) in [(1, 0), (3, 2), (4, 2)] {
            if rng.random_bool(0.6) {
                let bit = rng.random_range(0..L::MAX_TAIL + DOUBLINGS + 1);
                hashes[class] = hashes[of] ^ 1 << (32 + bit);
            }
        }
        let both = |item: Item| [item, Item { sides: [item.sides[1], item.sides[0]] }];
        let items = hashes.map(|hash| both(growth.item::<L>(hash)));
        // What a slot knows at least: the longest tail in a bucket of level 0. A split takes nothing
        // of it, a move only what does not fit.
        let known = |side: Side| {
            let Side { start, code: Code { core, extension } } = side;
            (start, core, extension & ((1 << L::MAX_TAIL) - 1))
        };
        let sides = items.map(|[item, _]| item.sides.map(known));
        let is_alias = |a: [_; 2], b: [_; 2]| a == b || a == [b[1], b[0]];
        let aliases = sides.map(|one| sides.map(|other| is_alias(one, other)));
        let (make, call) = (make::<L>, call::<L>);
        let (slots_per_bucket, ghosts) = (L::SLOTS as u8, L::MAX_TAIL <= DOUBLINGS);
        Self { first, slots_per_bucket, make, call, items, aliases, ghosts }
    }
}

impl Target for Splitting {
    type World = SplittingWorld;
    type Slot = Single;

    const GROWS: bool = true;

    fn world(rng: &mut SmallRng) -> SplittingWorld {
        match rng.random_range(0..8) {
            0 => SplittingWorld::of::<Leveled<5, 6>>(rng),
            1 => SplittingWorld::of::<Leveled<4, 7>>(rng),
            2 => SplittingWorld::of::<Leveled<3, 8>>(rng),
            3 => SplittingWorld::of::<Leveled<2, 8>>(rng),
            // Slots with tails of one to three bits, so that they run out.
            4 => SplittingWorld::of::<Leveled<5, 8>>(rng),
            5 | 6 => SplittingWorld::of::<Leveled<5, 9>>(rng),
            _ => SplittingWorld::of::<Leveled<5, 10>>(rng),
        }
    }

    fn slots(world: &SplittingWorld) -> u32 {
        world.first as u32 * u32::from(world.slots_per_bucket)
    }

    fn class(world: &SplittingWorld, index: usize) -> Class {
        let same = std::array::from_fn(|other| world.items[other] == world.items[index]);
        let beside = [[true; CLASSES]; 2];
        let (slots_per_bucket, aliases) = (world.slots_per_bucket, world.aliases[index]);
        let ghosts = world.ghosts;
        Class { index, most: None, slots_per_bucket, beside, aliases, same, ghosts }
    }

    fn has_two_buckets(world: &SplittingWorld, class: usize) -> bool {
        let [here, there] = world.items[class][0].sides;
        here.start != there.start
    }

    fn fillings(slots: u32) -> RangeInclusive<u32> {
        // So that the threads find some room, or none.
        slots * 3 / 4..=slots + 2
    }

    fn new(world: &SplittingWorld) -> Self {
        Self((world.make)(world))
    }

    fn call(&self, world: &SplittingWorld, class: usize, way: usize, action: Action) -> Answer {
        (world.call)(&self.0, &world.items[class][way], action)
    }

    fn placement(&self, world: &SplittingWorld) -> Placement {
        let count = |class: usize| (world.call)(&self.0, &world.items[class][0], Action::Count);
        std::array::from_fn(|class| match count(class) {
            Answer::Count(copies) => [copies, 0],
            answer => unreachable!("{answer:?}"),
        })
    }

    fn segments(&self) -> usize {
        // Buckets that were split out of turn count once it was their turn.
        (self.0.buckets() - self.0.growth().first()) as usize + 1
    }
}
