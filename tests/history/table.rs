//! A single table, without values and with them.

use guira::raw::{Addressing, BucketLayout, Fingerprint, FixedTable, Pair, Payload};
use rand::{RngExt, rngs::SmallRng};

use super::{
    Action, Answer, CLASSES, Class, Target,
    target::{Placement, Slot},
};

/// A table.
pub struct OneTable<P: Payload>(FixedTable<P>);

/// A layout, a width of values, and a number of buckets; and the classes.
#[derive(Clone, Debug)]
pub struct TableWorld<P: Payload> {
    addressing: Addressing<P>,
    slots_per_bucket: u8,
    call: fn(&Self, &FixedTable<P>, usize, Pair, Action) -> Answer,
    copies: fn(&FixedTable<P>, Pair, usize) -> usize,
    /// Each class with either bucket first, and with its value, which is its place.
    pairs: [[Pair; 2]; CLASSES],
    classes: [Class; CLASSES],
}

/// Makes one call on a class.
fn call<P: Slot, L: BucketLayout>(
    world: &TableWorld<P>,
    table: &FixedTable<P>,
    class: usize,
    pair: Pair,
    action: Action,
) -> Answer {
    let key = world.key(pair);
    match action {
        Action::Contains => Answer::Contains(table.contains::<L>(key)),
        Action::Count => Answer::Count(table.count::<L>(key)),
        Action::Insert => Answer::Insert(table.insert::<L>(pair)),
        Action::InsertUnique if P::VALUED => {
            let found = table.get_or_insert::<L>(pair);
            Answer::GetOrInsert(found.map(|value| value.map(usize::from)))
        }
        Action::InsertUnique => Answer::InsertUnique(table.insert_unique::<L>(pair)),
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
fn copies<P: Slot, L: BucketLayout>(table: &FixedTable<P>, key: Pair, value: usize) -> usize {
    if !P::VALUED {
        return table.count::<L>(key);
    }
    let found = table.candidates::<L>(key);
    found.as_slice().iter().filter(|&&other| usize::from(other) == value).count()
}

impl<P: Slot> TableWorld<P> {
    /// A world with this layout, this many buckets, and random pairs. Classes with the same number
    /// in `keys` have the same pair.
    pub fn of<L: BucketLayout>(
        rng: &mut SmallRng,
        payload: P,
        buckets: u32,
        keys: [usize; CLASSES],
    ) -> Self {
        let value_bits = payload.value_bits();
        let addressing = Addressing::holding(buckets.into(), payload);
        let mut known: Vec<[Pair; 2]> = Vec::new();
        while known.len() < CLASSES {
            let least = (L::MIN_FINGERPRINT >> value_bits).max(1);
            let key = rng.random_range(least..=L::MAX_FINGERPRINT >> value_bits);
            let fingerprint = Fingerprint::new(key << value_bits);
            let bucket = rng.random_range(0..buckets);
            let alternate = addressing.alt_bucket(fingerprint, bucket);
            // In a table of two buckets, classes with a single one evict the others.
            if bucket == alternate && buckets > 2 && rng.random_bool(0.8) {
                continue;
            }
            let pair = |buckets| Pair { fingerprint, buckets };
            if known.iter().flatten().all(|&other| other != pair([bucket, alternate])) {
                known.push([pair([bucket, alternate]), pair([alternate, bucket])]);
            }
        }
        let pairs: [[Pair; 2]; CLASSES] = std::array::from_fn(|class| {
            let value = if P::VALUED { class as u16 } else { 0 };
            known[keys[class]].map(|pair| pair.with_value(value))
        });
        let slots_per_bucket = L::SLOTS as u8;
        let class = |index: usize| {
            let [here, there] = pairs[index][0].buckets;
            let beside = |bucket| std::array::from_fn(|c| pairs[c][0].buckets.contains(&bucket));
            let most = Some(if here == there { slots_per_bucket } else { 2 * slots_per_bucket });
            let aliases = std::array::from_fn(|other| keys[other] == keys[index]);
            let beside = [beside(here), beside(there)];
            Class { index, most, slots_per_bucket, beside, aliases, same: aliases, ghosts: false }
        };
        let classes = std::array::from_fn(class);
        let (call, copies) = (call::<P, L>, copies::<P, L>);
        Self { addressing, slots_per_bucket, call, copies, pairs, classes }
    }

    /// The pair without its value.
    fn key(&self, pair: Pair) -> Pair {
        let mask = (1 << self.addressing.payload().value_bits()) - 1;
        Pair { fingerprint: Fingerprint::new(pair.fingerprint.get() & !mask), ..pair }
    }
}

impl<P: Slot> Target for OneTable<P>
where
    FixedTable<P>: Send + Sync,
{
    type World = TableWorld<P>;
    type Slot = P;

    const GROWS: bool = false;

    fn world(rng: &mut SmallRng) -> TableWorld<P> {
        P::table(rng)
    }

    fn slots(world: &TableWorld<P>) -> u32 {
        world.addressing.buckets() as u32 * u32::from(world.slots_per_bucket)
    }

    fn class(world: &TableWorld<P>, index: usize) -> Class {
        world.classes[index]
    }

    fn has_two_buckets(world: &TableWorld<P>, class: usize) -> bool {
        let [here, there] = world.pairs[class][0].buckets;
        here != there
    }

    fn new(world: &TableWorld<P>) -> Self {
        Self(FixedTable::new(world.addressing, false).expect("a tiny table"))
    }

    fn call(&self, world: &TableWorld<P>, class: usize, way: usize, action: Action) -> Answer {
        (world.call)(world, &self.0, class, world.pairs[class][way], action)
    }

    fn placement(&self, world: &TableWorld<P>) -> Placement {
        std::array::from_fn(|class| {
            let key = world.key(world.pairs[class][0]);
            let [first, second] = key.buckets.map(|bucket| {
                let alone = Pair { buckets: [bucket; 2], ..key };
                (world.copies)(&self.0, alone, class)
            });
            if key.buckets[0] == key.buckets[1] { [first, 0] } else { [first, second] }
        })
    }

    fn growth(&self) -> usize {
        0
    }
}
