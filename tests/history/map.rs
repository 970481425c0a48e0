//! A table with values: each class has a value of its own.

use guira::raw::{Addressing, BucketLayout, Fingerprint, Nesting, Pair, Plain, Table, Valued};
use rand::{RngExt, rngs::SmallRng};

use super::{Action, Answer, CLASSES, Class, Kind, Target, target::Placement};

/// The kinds of threads that use a map.
pub const KINDS: [Kind; 4] = [
    [20, 10, 0, 0, 0, 30, 25, 15, 0],
    [5, 5, 25, 10, 30, 5, 0, 0, 20],
    [0, 0, 30, 0, 30, 0, 0, 0, 40],
    [5, 10, 20, 15, 10, 10, 5, 5, 20],
];

/// For each class the number of its key, of which a value makes the class.
pub const KEYS: [[usize; CLASSES]; 3] = [[0, 0, 0, 1, 1], [0, 1, 0, 1, 2], [0, 1, 1, 2, 2]];

/// A table with values.
pub struct OneMap(Table<Valued>);

/// A layout, a width of values, and a number of buckets; and the classes.
#[derive(Clone, Debug)]
pub struct MapWorld {
    addressing: Addressing<Valued>,
    slots_per_bucket: u8,
    call: fn(&MapWorld, &Table<Valued>, usize, Pair, Action) -> Answer,
    copies: fn(&Table<Valued>, Pair, usize) -> usize,
    /// Each class with either bucket first, and with its value, which is its place.
    pairs: [[Pair; 2]; CLASSES],
    classes: [Class; CLASSES],
}

/// Makes one call on a class.
fn call<L: BucketLayout>(
    world: &MapWorld,
    table: &Table<Valued>,
    class: usize,
    pair: Pair,
    action: Action,
) -> Answer {
    let key = world.key(pair);
    match action {
        Action::Contains => Answer::Contains(table.contains::<L>(key)),
        Action::Count => Answer::Count(table.count::<L>(key)),
        Action::Insert => Answer::Insert(table.insert::<L>(pair)),
        Action::InsertUnique => {
            let found = table.get_or_insert::<L>(pair);
            Answer::GetOrInsert(found.map(|copy| Some(table.value_of(copy?).into())))
        }
        Action::Remove => Answer::Remove(table.remove::<L>(pair)),
        Action::Get => Answer::Get(table.get::<L>(key).map(usize::from)),
        Action::Values => {
            let mut found = [false; CLASSES];
            for &value in table.candidates::<L>(key).as_slice() {
                found[usize::from(value)] = true;
            }
            Answer::Values(found)
        }
        Action::ContainsValue => Answer::Holds(class, table.contains_value::<L>(pair)),
        Action::Replace(from) => {
            let new = world.classes[class].same_from(from);
            Answer::Replace(new, table.replace::<L>(pair, new as u16))
        }
    }
}

/// Counts the copies of a pair with its own value, at a quiet moment.
fn copies<L: BucketLayout>(table: &Table<Valued>, key: Pair, value: usize) -> usize {
    let found = table.candidates::<L>(key);
    found.as_slice().iter().filter(|&&other| usize::from(other) == value).count()
}

impl MapWorld {
    /// A world with this layout, this many buckets, and random pairs. Classes with the same number
    /// in `keys` have the same pair.
    pub fn of<L: BucketLayout>(
        rng: &mut SmallRng,
        value_bits: u32,
        buckets: u32,
        keys: [usize; CLASSES],
    ) -> Self {
        let addressing = Addressing::nested(buckets.into(), Valued::new(value_bits));
        let mut known: Vec<[Pair; 2]> = Vec::new();
        while known.len() < CLASSES {
            let key = rng.random_range(1..=L::MAX_FINGERPRINT >> value_bits);
            let fingerprint = Fingerprint::new(key << value_bits);
            let bucket = rng.random_range(0..buckets);
            let alternate = addressing.alt_bucket(fingerprint, bucket);
            // As for tables without values.
            if bucket == alternate && buckets > 2 && rng.random_bool(0.8) {
                continue;
            }
            let pair = |buckets| Pair { fingerprint, buckets };
            if known.iter().flatten().all(|&other| other != pair([bucket, alternate])) {
                known.push([pair([bucket, alternate]), pair([alternate, bucket])]);
            }
        }
        let pairs: [[Pair; 2]; CLASSES] = std::array::from_fn(|class| {
            known[keys[class]].map(|pair| pair.with_value(class as u16))
        });
        let slots_per_bucket = L::SLOTS as u8;
        let class = |index: usize| {
            let [here, there] = pairs[index][0].buckets;
            let beside = |bucket| std::array::from_fn(|c| pairs[c][0].buckets.contains(&bucket));
            let most = Some(if here == there { slots_per_bucket } else { 2 * slots_per_bucket });
            let aliases = std::array::from_fn(|other| keys[other] == keys[index]);
            let beside = [beside(here), beside(there)];
            Class { index, most, slots_per_bucket, beside, aliases, same: aliases }
        };
        let classes = std::array::from_fn(class);
        let (call, copies) = (call::<L>, copies::<L>);
        Self { addressing, slots_per_bucket, call, copies, pairs, classes }
    }

    /// Whether a class has two buckets.
    pub fn has_two_buckets(&self, class: usize) -> bool {
        let [here, there] = self.pairs[class][0].buckets;
        here != there
    }

    /// The pair without its value.
    fn key(&self, pair: Pair) -> Pair {
        let mask = (1 << self.addressing.nesting().value_bits()) - 1;
        Pair { fingerprint: Fingerprint::new(pair.fingerprint.get() & !mask), ..pair }
    }
}

impl Target for OneMap {
    type World = MapWorld;

    const GROWS: bool = false;
    const HAS_VALUES: bool = true;
    const KINDS: [Kind; 4] = KINDS;

    fn world(rng: &mut SmallRng) -> MapWorld {
        let keys = KEYS[rng.random_range(0..KEYS.len())];
        match rng.random_range(0..4) {
            0 => MapWorld::of::<Plain<4, 16>>(rng, 8, 2, keys),
            1 => MapWorld::of::<Plain<2, 8>>(rng, 3, 3, keys),
            buckets => MapWorld::of::<Plain<2, 16>>(rng, 4, 2 * buckets - 2, keys),
        }
    }

    fn slots(world: &MapWorld) -> u32 {
        world.addressing.buckets() as u32 * u32::from(world.slots_per_bucket)
    }

    fn class(world: &MapWorld, index: usize) -> Class {
        world.classes[index]
    }

    fn new(world: &MapWorld) -> Self {
        Self(Table::new(world.addressing, false).expect("a tiny table"))
    }

    fn call(&self, world: &MapWorld, class: usize, way: usize, action: Action) -> Answer {
        (world.call)(world, &self.0, class, world.pairs[class][way], action)
    }

    fn placement(&self, world: &MapWorld) -> Placement {
        std::array::from_fn(|class| {
            let key = world.key(world.pairs[class][0]);
            let [first, second] = key.buckets.map(|bucket| {
                let alone = Pair { buckets: [bucket; 2], ..key };
                (world.copies)(&self.0, alone, class)
            });
            if key.buckets[0] == key.buckets[1] { [first, 0] } else { [first, second] }
        })
    }

    fn segments(&self) -> usize {
        1
    }
}
