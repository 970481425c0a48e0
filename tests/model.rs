//! The table, operation by operation, against an oracle that knows exactly which inserts must fail.

mod common;

use common::{Watchdog, rng, scaled, table::TableChecker};
use guira::raw::Slots;
use rand::RngExt;

/// Numbers of buckets. In all of these a search finds every empty slot.
const SIZES: [u64; 9] = [1, 2, 3, 4, 8, 9, 33, 100, 300];

/// Performs random sequences of operations in tables of every size.
fn check_random(slots: Slots) {
    let _watchdog = Watchdog::new("model");
    for case in 0..scaled(40, 1_000) {
        let mut rng = rng(u64::from(slots.key_bits()) << 32 | case);
        let buckets = SIZES[rng.random_range(0..SIZES.len())];
        // For the report of a failure.
        println!("{}x{}, {buckets} buckets, case {case}", slots.count(), slots.key_bits());
        let steps = rng.random_range(0..60);
        let mut checker = TableChecker::new(slots, buckets, case, rng);
        (0..steps).for_each(|_| checker.step());
        checker.check_all();
    }
}

macro_rules! models {
    ($module:ident of $slots:path: $($name:ident: $count:literal x $bits:literal),* $(,)?) => {
        mod $module {
            use super::*;
            $(#[test]
            fn $name() {
                check_random($slots($count, $bits));
            })*
        }
    };
}

fn plain_slots(count: u32, bits: u32) -> Slots {
    Slots::plain(count, bits, 0)
}

models! {
    plain of plain_slots:
    of_8x8: 8 x 8, of_6x10: 6 x 10, of_5x12: 5 x 12, of_4x16: 4 x 16,
    of_2x5: 2 x 5, of_3x5: 3 x 5, of_4x5: 4 x 5, of_8x5: 8 x 5, of_2x16: 2 x 16, of_2x32: 2 x 32,
}

models! {
    semi_sorted of Slots::semi_sorted:
    of_6x12: 6 x 12, of_5x14: 5 x 14, of_4x17: 4 x 17, of_3x22: 3 x 22,
    of_2x5: 2 x 5, of_3x6: 3 x 6, of_6x5: 6 x 5,
}

/// Fills tables to the last slot that the oracle can fill, one item at a time.
#[test]
fn full_means_that_nothing_fits() {
    let _watchdog = Watchdog::new("full_means_that_nothing_fits");
    for seed in 0..scaled(3, 20) {
        for buckets in [1, 2, 3, 8, 50, 400] {
            let slots = Slots::plain(4, 16, 0);
            let mut checker = TableChecker::new(slots, buckets, seed, rng(seed));
            for pair in checker.pairs.clone() {
                checker.insert(pair);
            }
            let load = checker.oracle.len() as f64 / (buckets * 4) as f64;
            assert!(load > 0.9, "the oracle refuses an item at load {load}");
            checker.check_all();
        }
    }
}
