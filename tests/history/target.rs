//! What the programs run on, and a single table as the first of these.

use std::fmt::Debug;

use guira::raw::{Addressing, BucketLayout, Fingerprint, Pair, Plain, SemiSorted, Table};
use rand::{RngExt, rngs::SmallRng};

use super::{Action, Answer, CLASSES, Class, Kind};

/// Which bucket each copy of a class is in: copies in the first one, and in the second one.
pub type Placement = [[usize; 2]; CLASSES];

/// A tiny filter in a world of five classes.
pub trait Target: Sized + Send + Sync {
    /// The size of the filter, and the classes.
    type World: Clone + Debug + Send + Sync + 'static;

    /// Whether it grows instead of being full.
    const GROWS: bool;

    /// Whether it is a map.
    const HAS_VALUES: bool = false;

    /// Kinds of threads. The first one mostly reads.
    const KINDS: [Kind; 4] = [
        [80, 20, 0, 0, 0, 0, 0, 0, 0],
        [10, 5, 35, 15, 35, 0, 0, 0, 0],
        [0, 0, 50, 0, 50, 0, 0, 0, 0],
        [35, 15, 20, 15, 15, 0, 0, 0, 0],
    ];

    fn world(rng: &mut SmallRng) -> Self::World;

    /// The slots (of the first segment).
    fn slots(world: &Self::World) -> u32;

    fn class(world: &Self::World, index: usize) -> Class;

    fn new(world: &Self::World) -> Self;

    /// Makes one call. `way` is the bucket that the pair names first.
    fn call(&self, world: &Self::World, class: usize, way: usize, action: Action) -> Answer;

    /// The placement of all copies, at a quiet moment. Zeros if the target cannot tell.
    fn placement(&self, world: &Self::World) -> Placement;

    fn segments(&self) -> usize;
}

/// A single table.
pub struct OneTable(Table);

/// A layout and a number of buckets, and the classes.
#[derive(Clone, Debug)]
pub struct TableWorld {
    buckets: u32,
    slots_per_bucket: u8,
    call: fn(&Table, Pair, Action) -> Answer,
    /// Each class with either bucket first.
    pairs: [[Pair; 2]; CLASSES],
    classes: [Class; CLASSES],
}

/// Makes one call.
fn call<L: BucketLayout>(table: &Table, pair: Pair, action: Action) -> Answer {
    match action {
        Action::Contains => Answer::Contains(table.contains::<L>(pair)),
        Action::Count => Answer::Count(table.count::<L>(pair)),
        Action::Insert => Answer::Insert(table.insert::<L>(pair)),
        Action::InsertUnique => Answer::InsertUnique(table.insert_unique::<L>(pair)),
        Action::Remove => Answer::Remove(table.remove::<L>(pair)),
        _ => unreachable!("only in maps"),
    }
}

impl TableWorld {
    /// A world with this layout and this many buckets, and random classes.
    pub fn of<L: BucketLayout>(rng: &mut SmallRng, buckets: u32) -> Self {
        let addressing = Addressing::new(buckets.into());
        let mut pairs: Vec<[Pair; 2]> = Vec::new();
        while pairs.len() < CLASSES {
            let value = rng.random_range(L::MIN_FINGERPRINT..=L::MAX_FINGERPRINT);
            let fingerprint = Fingerprint::new(value);
            let bucket = rng.random_range(0..buckets);
            let alternate = addressing.alt_bucket(fingerprint, bucket);
            let pair = |buckets| Pair { fingerprint, buckets };
            // In a table of two buckets, classes with a single one evict the others.
            if bucket == alternate && buckets > 2 && rng.random_bool(0.8) {
                continue;
            }
            if pairs.iter().flatten().all(|&known| known != pair([bucket, alternate])) {
                pairs.push([pair([bucket, alternate]), pair([alternate, bucket])]);
            }
        }
        let slots_per_bucket = L::SLOTS as u8;
        let class = |index: usize| {
            let [here, there] = pairs[index][0].buckets;
            let beside = |bucket| std::array::from_fn(|c| pairs[c][0].buckets.contains(&bucket));
            let most = Some(if here == there { slots_per_bucket } else { 2 * slots_per_bucket });
            let aliases = std::array::from_fn(|other| other == index);
            let beside = [beside(here), beside(there)];
            Class { index, most, slots_per_bucket, beside, aliases, same: aliases }
        };
        let classes = std::array::from_fn(class);
        let pairs = std::array::from_fn(|index| pairs[index]);
        Self { buckets, slots_per_bucket, call: call::<L>, pairs, classes }
    }
}

impl Target for OneTable {
    type World = TableWorld;

    const GROWS: bool = false;

    fn world(rng: &mut SmallRng) -> TableWorld {
        match rng.random_range(0..5) {
            0 => TableWorld::of::<Plain<4, 16>>(rng, 2),
            1 => TableWorld::of::<Plain<2, 8>>(rng, 3),
            4 => TableWorld::of::<SemiSorted<2, 8>>(rng, 2),
            buckets => TableWorld::of::<Plain<2, 4>>(rng, 2 * buckets - 2),
        }
    }

    fn slots(world: &TableWorld) -> u32 {
        world.buckets * u32::from(world.slots_per_bucket)
    }

    fn class(world: &TableWorld, index: usize) -> Class {
        world.classes[index]
    }

    fn new(world: &TableWorld) -> Self {
        Self(Table::new(Addressing::new(world.buckets.into()), false).expect("a tiny table"))
    }

    fn call(&self, world: &TableWorld, class: usize, way: usize, action: Action) -> Answer {
        (world.call)(&self.0, world.pairs[class][way], action)
    }

    fn placement(&self, world: &TableWorld) -> Placement {
        world.pairs.map(|[pair, _]| {
            let [first, second] = pair.buckets.map(|bucket| {
                let alone = Pair { buckets: [bucket; 2], ..pair };
                match (world.call)(&self.0, alone, Action::Count) {
                    Answer::Count(copies) => copies,
                    _ => unreachable!("a count counts"),
                }
            });
            if pair.buckets[0] == pair.buckets[1] { [first, 0] } else { [first, second] }
        })
    }

    fn segments(&self) -> usize {
        1
    }
}
