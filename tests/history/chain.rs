//! Chains that grow, without values and with them.

use guira::{
    Layout,
    raw::{Addressing, Chain, Nested, Plan},
};
use rand::{RngExt, rngs::SmallRng};

use super::{
    Action, Answer, CLASSES, Class, Target,
    target::{Placement, Slot},
};

/// The segments of a chain.
const SEGMENTS: u32 = 3;

/// A layout and a number of buckets of the first segment, and two hashes of each class, which are
/// aliases in all segments and start from different buckets. In a map, classes may share them.
#[derive(Clone, Debug)]
pub struct ChainWorld {
    layout: Layout,
    first_buckets: u64,
    /// Bits of a hash from which the fingerprint of the first segment follows.
    fingerprint_bits: u32,
    items: [[u64; 2]; CLASSES],
}

impl ChainWorld {
    /// A world with a layout, so many bits for fingerprints, and random classes.
    fn new(rng: &mut SmallRng, layout: Layout, fingerprint_bits: u32) -> Self {
        let first_buckets = rng.random_range(1..=2);
        // The fingerprint comes from the low half. Its highest bits differ.
        let mut first: [u64; CLASSES] = std::array::from_fn(|item| {
            let (high, low) = (rng.random::<u32>(), rng.random::<u32>() >> 3);
            u64::from(high) << 32 | (item as u64) << 29 | u64::from(low)
        });
        // Often some are aliases in the first segment, or in the first two, and not in the last:
        // the next bit above those of which the first segment keeps nothing is the last one of its
        // fingerprint.
        for (item, of, segments) in [(1, 0, 1), (3, 2, 2), (4, 2, 1)] {
            if rng.random_bool(0.5) {
                first[item] = first[of] ^ 1 << (32 - fingerprint_bits - segments);
            }
        }
        let mut world = Self { layout, first_buckets, fingerprint_bits, items: [[0; 2]; CLASSES] };
        let last = world.addressing(SEGMENTS - 1);
        world.items = first.map(|item| {
            let [_, alternate] = last.pair(item).buckets;
            // The lowest high half from which this bucket follows.
            let high = (u64::from(alternate) << 32).div_ceil(last.buckets());
            let alias = high << 32 | item & u64::from(u32::MAX);
            assert_eq!(last.pair(alias).buckets[0], alternate);
            [item, alias]
        });
        world
    }

    fn nesting(&self, level: u32) -> Nested {
        Nested::new(level, (16, 1 << self.fingerprint_bits), level)
    }

    /// The addressing of a segment, without values.
    fn addressing(&self, level: u32) -> Addressing<Nested> {
        Addressing::nested(self.first_buckets, self.nesting(level))
    }

    fn class(&self, index: usize) -> Class {
        let first = self.addressing(0);
        let kept = |class: usize| {
            let pair = first.pair(self.items[class][0]);
            let [one, other] = pair.buckets;
            (pair.fingerprint, one.min(other), one.max(other))
        };
        let aliases = std::array::from_fn(|other| kept(other) == kept(index));
        let same = std::array::from_fn(|other| self.items[other] == self.items[index]);
        let last = self.addressing(SEGMENTS - 1);
        let buckets = |class: usize| last.pair(self.items[class][0]).buckets;
        let beside = buckets(index)
            .map(|bucket| std::array::from_fn(|other| buckets(other).contains(&bucket)));
        let slots_per_bucket = self.layout.slots_per_bucket() as u8;
        Class { index, most: None, slots_per_bucket, beside, aliases, same, ghosts: false }
    }
}

impl<V: Slot> Target for Chain<V>
where
    Self: Send + Sync,
{
    type World = ChainWorld;
    type Slot = V;

    const GROWS: bool = true;

    fn world(rng: &mut SmallRng) -> ChainWorld {
        let (layout, fingerprint_bits) = V::segments(rng);
        let world = ChainWorld::new(rng, layout, fingerprint_bits);
        ChainWorld { items: V::keys(rng).map(|key| world.items[key]), ..world }
    }

    fn slots(world: &ChainWorld) -> u32 {
        world.first_buckets as u32 * world.layout.slots_per_bucket()
    }

    fn class(world: &ChainWorld, index: usize) -> Class {
        world.class(index)
    }

    fn has_two_buckets(world: &ChainWorld, class: usize) -> bool {
        let [here, there] = world.addressing(0).pair(world.items[class][0]).buckets;
        here != there
    }

    fn new(world: &ChainWorld) -> Self {
        let segment = |level| {
            let nesting = V::nesting(world.nesting(level));
            (world.layout, Addressing::nested(world.first_buckets, nesting))
        };
        let plan: Vec<_> = (0..SEGMENTS).map(segment).collect();
        Chain::new(Plan::new(&plan), false).expect("a tiny table")
    }

    fn call(&self, world: &ChainWorld, class: usize, way: usize, action: Action) -> Answer {
        let hash = world.items[class][way];
        let item = V::item(hash, class);
        match action {
            Action::Contains => Answer::Contains(self.contains(hash)),
            Action::Count => Answer::Count(self.count(hash)),
            Action::Insert => Answer::Insert(self.insert(item)),
            Action::Remove => Answer::Remove(self.remove(item)),
            Action::Replace(from) => {
                V::call(self, item, action, world.class(class).same_from(from))
            }
            _ => V::call(self, item, action, class),
        }
    }

    fn placement(&self, world: &ChainWorld) -> Placement {
        std::array::from_fn(|class| [V::copies(self, V::item(world.items[class][0], class)), 0])
    }

    fn segments(&self) -> usize {
        self.layouts().len()
    }
}
