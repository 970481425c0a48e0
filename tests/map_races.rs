//! Values beside the two changes that could hide them: an item that is relocated back and forth,
//! and values that change places.

mod common;

use common::{Watchdog, ping_pong::FAR, races::run, rng, scaled};
use guira::raw::{Addressing, BucketLayout, Pair, Plain, Table, Valued};
use rand::{RngExt, rngs::SmallRng};

/// Calls a generic function once for each layout of maps, `$L` being that of whole slots.
macro_rules! for_every_layout {
    ($function:ident) => {
        $function::<Plain<2, 32>>();
        $function::<Plain<3, 21>>();
        $function::<Plain<4, 16>>();
        $function::<Plain<5, 12>>();
        $function::<Plain<6, 10>>();
    };
}

/// Bits of a value. Every layout has room for them.
const VALUE_BITS: u32 = 2;

/// A table of two distinguished buckets, and a pair that has both of them.
struct Scene {
    table: Table<Valued>,
    /// The pair with the value zero, and the same one with its buckets exchanged.
    pair: Pair,
    exchanged: Pair,
    rng: SmallRng,
}

impl Scene {
    fn new<L: BucketLayout>() -> Self {
        let addressing = Addressing::nested(16, Valued::new(VALUE_BITS));
        let table = Table::new(addressing, false).expect("a small table");
        let mut rng = rng(5);
        let pair = find::<L>(&table, &mut rng, |pair| pair.buckets == FAR);
        let exchanged = Pair { buckets: [FAR[1], FAR[0]], ..pair };
        Self { table, pair, exchanged, rng }
    }

    /// Looks up a value from either bucket, in every way.
    fn check<L: BucketLayout>(&self, value: u16) {
        for pair in [self.pair, self.exchanged] {
            let candidates = self.table.candidates::<L>(pair);
            assert!(candidates.as_slice().contains(&value), "{candidates:?} without {value}");
            assert!(self.table.contains_value::<L>(pair.with_value(value)), "{value} is not found");
            assert!(self.table.get::<L>(pair).is_some(), "nothing is found");
        }
    }
}

/// A pair that satisfies `wanted`, found by trying hashes.
fn find<L: BucketLayout>(
    table: &Table<Valued>,
    rng: &mut SmallRng,
    wanted: impl Fn(Pair) -> bool,
) -> Pair {
    (0..10_000_000)
        .map(|_| table.addressing().pair::<L>(rng.random()))
        .find(|&pair| wanted(pair))
        .expect("such a pair exists")
}

/// An item that is relocated back and forth keeps its value, and is always found with it.
fn relocated_back_and_forth<L: BucketLayout>() {
    let _watchdog = Watchdog::new("relocated_back_and_forth");
    let mut scene = Scene::new::<L>();
    // Items with a single bucket: to insert one evicts the item from that bucket.
    let drivers = FAR.map(|bucket| {
        let alone = |pair: Pair| pair.buckets == [bucket; 2];
        let driver = find::<L>(&scene.table, &mut scene.rng, alone);
        for value in 1..L::SLOTS {
            let is_other = |pair: Pair| alone(pair) && pair.fingerprint != driver.fingerprint;
            let filler = find::<L>(&scene.table, &mut scene.rng, is_other);
            scene.table.insert::<L>(filler.with_value((value % 4) as u16)).expect("a slot");
        }
        driver.with_value(1)
    });
    scene.table.insert::<L>(scene.pair.with_value(3)).expect("a slot");
    let read = || (0..8).for_each(|_| scene.check::<L>(3));
    let drive = |driver: Pair| {
        scene.table.insert::<L>(driver).expect("the item can be moved");
        assert!(scene.table.remove::<L>(driver));
    };
    let write = || {
        drivers.into_iter().for_each(drive);
        true
    };
    run(scaled(5_000, 50_000), scaled(10_000, 50_000), &[&write], &[&read, &read, &read]);
    assert_eq!(scene.table.candidates::<L>(scene.pair).as_slice(), [3]);
}

#[test]
fn a_relocated_value_is_always_found() {
    for_every_layout!(relocated_back_and_forth);
}

/// Two items that are aliases have the values 1 and 2, in different buckets. The first gets the
/// value 2, then the second one the value 1. So the value 2 is there at every moment, but not always
/// in the same bucket.
fn values_change_places<L: BucketLayout>() {
    let _watchdog = Watchdog::new("values_change_places");
    let scene = Scene::new::<L>();
    scene.table.insert::<L>(scene.pair.with_value(1)).expect("a slot");
    scene.table.insert::<L>(scene.pair.with_value(2)).expect("a slot");
    let replace = |pair: Pair, old, new| {
        assert!(scene.table.replace::<L>(pair.with_value(old), new), "{old} is missing");
    };
    let write = || {
        for pair in [scene.exchanged, scene.pair] {
            replace(scene.pair, 1, 2);
            // Of the two, the one in the pair's first bucket. The next time it is the other one.
            replace(pair, 2, 1);
        }
        true
    };
    let read = || (0..8).for_each(|_| scene.check::<L>(2));
    run(scaled(5_000, 50_000), scaled(10_000, 50_000), &[&write], &[&read, &read, &read]);
    let mut values = scene.table.candidates::<L>(scene.pair).as_slice().to_vec();
    values.sort_unstable();
    assert_eq!(values, [1, 2]);
}

#[test]
fn a_value_that_changes_places_is_always_found() {
    for_every_layout!(values_change_places);
}
