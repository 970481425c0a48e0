//! Values beside the two changes that could hide them: an item that is relocated back and forth,
//! and values that change places.

mod common;

use common::{Watchdog, ping_pong::FAR, races::run, rng, scaled};
use guira::raw::{Addressing, BucketLayout, Pair, Plain, Table, Valued};
use rand::{RngExt, rngs::SmallRng};

/// Bits of a value.
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

    /// Runs a writer beside readers that look up this value, each in one way, from either bucket.
    fn always_holds<L: BucketLayout>(&self, value: u16, write: &(dyn Fn() -> bool + Sync)) {
        let each = |check: &dyn Fn(Pair) -> bool| {
            for _ in 0..16 {
                let found = check(self.pair) & check(self.exchanged);
                assert!(found, "{value} is missed");
            }
        };
        let lists = |pair| self.table.candidates::<L>(pair).as_slice().contains(&value);
        let gets = |pair| self.table.get::<L>(pair).is_some();
        let contains = |pair: Pair| self.table.contains_value::<L>(pair.with_value(value));
        let readers: [&(dyn Fn() + Sync); 3] =
            [&|| each(&lists), &|| each(&gets), &|| each(&contains)];
        run(scaled(20_000, 200_000), scaled(20_000, 200_000), &[write], &readers);
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
    let drive = |driver: Pair| {
        scene.table.insert::<L>(driver).expect("the item can be moved");
        assert!(scene.table.remove::<L>(driver));
    };
    let write = || {
        drivers.into_iter().for_each(drive);
        true
    };
    scene.always_holds::<L>(3, &write);
    assert_eq!(scene.table.candidates::<L>(scene.pair).as_slice(), [3]);
}

#[test]
fn a_relocated_value_is_always_found() {
    relocated_back_and_forth::<Plain<2, 32>>();
    relocated_back_and_forth::<Plain<4, 16>>();
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
    scene.always_holds::<L>(2, &write);
    let mut values = scene.table.candidates::<L>(scene.pair).as_slice().to_vec();
    values.sort_unstable();
    assert_eq!(values, [1, 2]);
}

#[test]
fn a_value_that_changes_places_is_always_found() {
    values_change_places::<Plain<2, 32>>();
    values_change_places::<Plain<4, 16>>();
}
