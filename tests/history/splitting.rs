//! Tables that grow by splitting, from one or two buckets.

use std::ops::RangeInclusive;

use guira::raw::{Code, GrowingLayout, GrowingTable, Growth, Item, Leveled, Limits, Side};
use rand::{RngExt, rngs::SmallRng};

use super::{
    Action, Answer, CLASSES, Class, Target,
    target::{Placement, Slot},
};

/// A table.
pub struct Splitting<P: Slot>(GrowingTable<P>);

/// A layout, a number of first buckets, and the two orders of the sides of each class.
#[derive(Clone, Debug)]
pub struct SplittingWorld<P: Slot> {
    first: u64,
    slots_per_bucket: u8,
    make: fn(&Self) -> GrowingTable<P>,
    call: fn(&Self, &GrowingTable<P>, usize, Item, Action) -> Answer,
    copies: fn(&GrowingTable<P>, Item, usize) -> usize,
    /// Each class with either side first, and the value zero.
    items: [[Item; 2]; CLASSES],
    /// For each class those that a slot may be taken for whose tail has run out.
    aliases: [[bool; CLASSES]; CLASSES],
    /// Whether tails can run out, so that ghosts are left.
    ghosts: bool,
}

/// How often the first buckets double at most.
const DOUBLINGS: u32 = 4;

fn make<P: Slot, L: GrowingLayout>(world: &SplittingWorld<P>) -> GrowingTable<P> {
    let limits = Limits { buckets: world.first << DOUBLINGS, load: 205 };
    let table = GrowingTable::holding::<L>(P::splitting(), world.first, limits, 8, (false, false));
    table.expect("a tiny table")
}

fn call<P: Slot, L: GrowingLayout>(
    world: &SplittingWorld<P>,
    table: &GrowingTable<P>,
    class: usize,
    key: Item,
    action: Action,
) -> Answer {
    let item = if P::VALUED { key.with_value(class as u16) } else { key };
    match action {
        Action::Contains => Answer::Contains(table.contains::<L>(key)),
        Action::Count => Answer::Count(table.count::<L>(key)),
        Action::Insert => Answer::Insert(table.insert::<L>(item)),
        Action::InsertUnique if P::VALUED => {
            let found = table.get_or_insert::<L>(item);
            Answer::GetOrInsert(found.map(|value| value.map(usize::from)))
        }
        Action::InsertUnique => Answer::InsertUnique(table.insert_unique::<L>(item)),
        Action::Remove => Answer::Remove(table.remove::<L>(item)),
        Action::Get => Answer::Get(table.get::<L>(key).map(usize::from)),
        Action::Values => {
            let mut found = [false; CLASSES];
            for &value in table.candidates::<L>(key).as_slice() {
                found[usize::from(value)] = true;
            }
            Answer::Values(found)
        }
        Action::ContainsValue => Answer::Holds(class, table.contains_value::<L>(item)),
        Action::Replace(from) => {
            let new = world.class(class).same_from(from);
            Answer::Replace(new, table.replace::<L>(item, new as u16))
        }
    }
}

/// Counts the copies of an item with its own value, at a quiet moment.
fn copies<P: Slot, L: GrowingLayout>(table: &GrowingTable<P>, key: Item, class: usize) -> usize {
    if !P::VALUED {
        return table.count::<L>(key);
    }
    let found = table.candidates::<L>(key);
    found.as_slice().iter().filter(|&&other| usize::from(other) == class).count()
}

impl<P: Slot> SplittingWorld<P> {
    /// A world of random classes with this layout.
    fn of<L: GrowingLayout>(rng: &mut SmallRng) -> Self {
        let first = rng.random_range(1..=2);
        let payload = P::splitting();
        let growth = Growth::holding::<L>(first, payload).expect("a small table");
        let longest_tail = L::MAX_TAIL - payload.value_bits();
        let mut hashes: [u64; CLASSES] = std::array::from_fn(|_| rng.random());
        // Often some differ in a single bit of the extension: aliases of slots that do not know it,
        // because their tails were cut, or ran out. Now and then two classes have one core, so that
        // they share a stripe.
        for (class, of) in [(1, 0), (3, 2), (4, 2)] {
            if rng.random_bool(0.6) {
                let bit = rng.random_range(0..longest_tail + DOUBLINGS + 1);
                hashes[class] = hashes[of] ^ 1 << (32 + bit);
            }
        }
        let hashes = P::keys(rng).map(|key| hashes[key]);
        let both = |item: Item| [item, Item { sides: [item.sides[1], item.sides[0]] }];
        let items = hashes.map(|hash| both(growth.item::<L>(hash)));
        // What a slot knows at least: the longest tail in a bucket of level 0. A split takes nothing
        // of it, a move only what does not fit.
        let known = |side: Side| {
            let Side { start, code: Code { core, extension } } = side;
            (start, core, extension & ((1 << longest_tail) - 1))
        };
        let sides = items.map(|[item, _]| item.sides.map(known));
        let is_alias = |a: [_; 2], b: [_; 2]| a == b || a == [b[1], b[0]];
        let aliases = sides.map(|one| sides.map(|other| is_alias(one, other)));
        let (make, call, copies) = (make::<P, L>, call::<P, L>, copies::<P, L>);
        let (slots_per_bucket, ghosts) = (L::SLOTS as u8, longest_tail <= DOUBLINGS);
        Self { first, slots_per_bucket, make, call, copies, items, aliases, ghosts }
    }

    fn class(&self, index: usize) -> Class {
        let same = std::array::from_fn(|other| self.items[other] == self.items[index]);
        let beside = [[true; CLASSES]; 2];
        let Self { slots_per_bucket, ghosts, .. } = *self;
        let aliases = self.aliases[index];
        Class { index, most: None, slots_per_bucket, beside, aliases, same, ghosts }
    }
}

impl<P: Slot> Target for Splitting<P>
where
    GrowingTable<P>: Send + Sync,
{
    type World = SplittingWorld<P>;
    type Slot = P;

    const GROWS: bool = true;

    fn world(rng: &mut SmallRng) -> SplittingWorld<P> {
        if P::VALUED {
            // Slots with tails of one to eight bits beside a value of three.
            return match rng.random_range(0..6) {
                0 => SplittingWorld::of::<Leveled<5, 6>>(rng),
                1 => SplittingWorld::of::<Leveled<4, 7>>(rng),
                2 => SplittingWorld::of::<Leveled<3, 8>>(rng),
                3 => SplittingWorld::of::<Leveled<4, 9>>(rng),
                _ => SplittingWorld::of::<Leveled<5, 7>>(rng),
            };
        }
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

    fn slots(world: &SplittingWorld<P>) -> u32 {
        world.first as u32 * u32::from(world.slots_per_bucket)
    }

    fn class(world: &SplittingWorld<P>, index: usize) -> Class {
        world.class(index)
    }

    fn has_two_buckets(world: &SplittingWorld<P>, class: usize) -> bool {
        let [here, there] = world.items[class][0].sides;
        here.start != there.start
    }

    fn fillings(slots: u32) -> RangeInclusive<u32> {
        // So that the threads find some room, or none.
        slots * 3 / 4..=slots + 2
    }

    fn new(world: &SplittingWorld<P>) -> Self {
        Self((world.make)(world))
    }

    fn call(&self, world: &SplittingWorld<P>, class: usize, way: usize, action: Action) -> Answer {
        (world.call)(world, &self.0, class, world.items[class][way], action)
    }

    fn placement(&self, world: &SplittingWorld<P>) -> Placement {
        let copies = |class: usize| (world.copies)(&self.0, world.items[class][0], class);
        std::array::from_fn(|class| [copies(class), 0])
    }

    fn growth(&self) -> usize {
        // Buckets that were split out of turn count once it was their turn.
        (self.0.buckets() - self.0.growth().first()) as usize
    }
}
