//! What the programs run on: a single table, or a chain that grows.

use std::fmt::Debug;

use guira::{
    Layout,
    raw::{
        Addressing, BucketLayout, Chain, Fingerprint, Nested, Pair, Plain, Plan, SemiSorted, Table,
    },
};
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
            Class { index, most, slots_per_bucket, beside, aliases, has_values: false }
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

/// The segments of a chain.
const SEGMENTS: u32 = 3;
/// The low bits of a hash of which the first segment keeps nothing: the next bit above them is the
/// last one of its fingerprint.
const BELOW_FIRST: u32 = 32 - 13;

/// A layout and a number of buckets of the first segment, and two items of each class, which are
/// aliases in all segments and start from different buckets.
#[derive(Clone, Debug)]
pub struct ChainWorld {
    layout: Layout,
    first_buckets: u64,
    items: [[u64; 2]; CLASSES],
}

impl ChainWorld {
    /// The addressing of a segment.
    fn addressing(first_buckets: u64, level: u32) -> Addressing<Nested> {
        Addressing::nested(first_buckets, Nested::new(level, (16, 1 << 13), level))
    }
}

impl Target for Chain {
    type World = ChainWorld;

    const GROWS: bool = true;

    fn world(rng: &mut SmallRng) -> ChainWorld {
        let layout = [Layout::Plain4x16, Layout::SemiSorted3x22][rng.random_range(0..2)];
        let first_buckets = rng.random_range(1..=2);
        // The fingerprint comes from the low half. Its highest bits differ.
        let mut first: [u64; CLASSES] = std::array::from_fn(|item| {
            let (high, low) = (rng.random::<u32>(), rng.random::<u32>() >> 3);
            u64::from(high) << 32 | (item as u64) << 29 | u64::from(low)
        });
        // Often some are aliases in the first segment, or in the first two, and not in the last.
        for (item, of, segments) in [(1, 0, 1), (3, 2, 2), (4, 2, 1)] {
            if rng.random_bool(0.5) {
                first[item] = first[of] ^ 1 << (BELOW_FIRST - segments);
            }
        }
        let last = ChainWorld::addressing(first_buckets, SEGMENTS - 1);
        let items = first.map(|item| {
            let [_, alternate] = last.pair(item).buckets;
            // The lowest high half from which this bucket follows.
            let high = (u64::from(alternate) << 32).div_ceil(last.buckets());
            let alias = high << 32 | item & u64::from(u32::MAX);
            assert_eq!(last.pair(alias).buckets[0], alternate);
            [item, alias]
        });
        ChainWorld { layout, first_buckets, items }
    }

    fn slots(world: &ChainWorld) -> u32 {
        world.first_buckets as u32 * world.layout.slots_per_bucket()
    }

    fn class(world: &ChainWorld, index: usize) -> Class {
        let first = ChainWorld::addressing(world.first_buckets, 0);
        let kept = |class: usize| {
            let pair = first.pair(world.items[class][0]);
            let [one, other] = pair.buckets;
            (pair.fingerprint, one.min(other), one.max(other))
        };
        let aliases = std::array::from_fn(|other| kept(other) == kept(index));
        let last = ChainWorld::addressing(world.first_buckets, SEGMENTS - 1);
        let buckets = |class: usize| last.pair(world.items[class][0]).buckets;
        let beside = buckets(index)
            .map(|bucket| std::array::from_fn(|other| buckets(other).contains(&bucket)));
        let slots_per_bucket = world.layout.slots_per_bucket() as u8;
        Class { index, most: None, slots_per_bucket, beside, aliases, has_values: false }
    }

    fn new(world: &ChainWorld) -> Self {
        let segment = |level| ChainWorld::addressing(world.first_buckets, level);
        let plan: Vec<_> = (0..SEGMENTS).map(|level| (world.layout, segment(level))).collect();
        Chain::new(Plan::new(&plan), false).expect("a tiny table")
    }

    fn call(&self, world: &ChainWorld, class: usize, way: usize, action: Action) -> Answer {
        let item = world.items[class][way];
        match action {
            Action::Contains => Answer::Contains(self.contains(item)),
            Action::Count => Answer::Count(self.count(item)),
            Action::Insert => Answer::Insert(self.insert(item)),
            Action::InsertUnique => Answer::InsertUnique(self.insert_unique(item)),
            Action::Remove => Answer::Remove(self.remove(item)),
            _ => unreachable!("only in maps"),
        }
    }

    fn placement(&self, world: &ChainWorld) -> Placement {
        world.items.map(|[item, _]| [self.count(item), 0])
    }

    fn segments(&self) -> usize {
        self.layouts().len()
    }
}
