//! Tests of what doublings cost.

use super::{Layout, bits_per_item, full_rate, ghosts_per_item, rate};
use crate::table::choice::growing::MAX_DOUBLINGS;

use Layout::{Growing2x30, Growing3x20, Growing4x15, Growing5x12};

/// Doublings, a rate, and ghosts per item.
type Simulated = (f64, f64, f64);

/// Filters that grew from the smallest sizes, at the target load. (The first row of each layout is
/// from 20,000 items on: where buckets are few, the load is above the target by up to 32 items.)
const SIMULATED: [(Layout, &[Simulated]); 4] = [
    (
        Growing5x12,
        &[
            (0.253, 4.8768e-3, 0.0),
            (1.0, 7.0447e-3, 0.0),
            (4.5, 1.7142e-2, 0.0),
            (7.75, 2.5816e-2, 0.06454),
            (12.0, 3.6256e-2, 0.17970),
            (15.0, 4.2897e-2, 0.27064),
        ],
    ),
    (
        Growing4x15,
        &[
            (0.253, 4.8285e-4, 0.0),
            (1.0, 7.0634e-4, 0.0),
            (4.5, 1.7233e-3, 0.0),
            (7.75, 2.6407e-3, 0.00468),
            (12.0, 3.8523e-3, 0.02842),
            (15.0, 4.6675e-3, 0.04620),
        ],
    ),
    (
        Growing3x20,
        &[
            (0.253, 1.1174e-5, 0.0),
            (1.0, 1.6396e-5, 0.0),
            (4.5, 3.9774e-5, 0.0),
            (7.75, 6.1925e-5, 0.0),
            (12.0, 9.0925e-5, 0.00035),
            (15.0, 1.0977e-4, 0.00140),
        ],
    ),
    (
        Growing2x30,
        &[
            (0.25, 6.4902e-9, 0.0),
            (1.0, 9.4369e-9, 0.0),
            (4.5, 2.3319e-8, 0.0),
            (7.75, 3.6211e-8, 0.0),
            (12.0, 5.3016e-8, 0.0),
            (15.0, 6.4890e-8, 0.0),
        ],
    ),
];

#[test]
fn rates_and_ghosts_are_bounds_of_simulated_ones() {
    for (layout, measured) in SIMULATED {
        for &(doublings, measured, ghosts) in measured {
            let bound = rate(layout, doublings);
            assert!(bound >= measured, "{layout:?} {doublings}: {bound}");
            assert!(bound <= measured * 1.12, "{layout:?} {doublings}: {bound}");
            let bound = ghosts_per_item(layout, doublings);
            assert!(bound >= ghosts, "{layout:?} {doublings}: {bound}");
            assert!(bound <= ghosts * 1.27 + 1e-9, "{layout:?} {doublings}: {bound}");
        }
    }
}

/// Maps that were filled from the smallest size on, with values of so many bits: doublings, a rate
/// (of 400,000 lookups), and ghosts per item.
const MEASURED_WITH_VALUES: [(u32, u32, Simulated); 10] = [
    (5, 1, (10.0, 5.8037e-2, 0.3492)),
    (5, 1, (13.0, 6.8366e-2, 0.5865)),
    (4, 2, (10.0, 1.2699e-2, 0.1244)),
    (4, 4, (10.0, 3.8794e-2, 1.2377)),
    (4, 4, (12.0, 4.1649e-2, 1.8880)),
    (4, 4, (14.0, 4.3902e-2, 2.7330)),
    (3, 5, (14.0, 3.232e-3, 0.0975)),
    (3, 8, (10.0, 1.4481e-2, 1.2553)),
    (2, 16, (10.0, 2.940e-3, 0.1259)),
    (2, 16, (14.0, 3.873e-3, 0.2454)),
];

#[test]
fn rates_and_ghosts_are_bounds_of_measured_ones() {
    for (slots, value_bits, (doublings, measured, ghosts)) in MEASURED_WITH_VALUES {
        let layout = Layout::growing(slots, value_bits).unwrap();
        let bound = rate(layout, doublings);
        assert!((1.0..1.15).contains(&(bound / measured)), "{layout:?} {doublings}: {bound}");
        let bound = ghosts_per_item(layout, doublings);
        assert!((1.0..1.25).contains(&(bound / ghosts)), "{layout:?} {doublings}: {bound}");
    }
}

/// Prints a row of the table in the documents: a filter that grows from 4,000 to 8 million items.
#[cfg(feature = "std")]
fn print_growth<C: crate::kind::Contents>(
    name: &str,
    filter: &crate::Filter<C, crate::kind::Growing>,
    insert: impl Fn(u64, u64),
) {
    const FIRST: u64 = 4_000;
    const LOOKUPS: usize = 10_000_000;
    let (layout, first) = (filter.layout(), filter.slots() as f64);
    for doubling in [0, 4, 8, 11] {
        let items = FIRST << doubling;
        while (filter.len() as u64) < items {
            let next = filter.len() as u64;
            insert(next, items.min(next + items / 256 + 1));
        }
        let doublings = (filter.slots() as f64 / first).log2();
        let found = (1 << 50..).take(LOOKUPS).filter(|key: &u64| filter.contains(key)).count();
        std::println!(
            "| {name} | {layout:?} | {items} | {:.1} | {:.1} | {:.3} | {:.3} |",
            bits_per_item(layout, doublings),
            filter.size_in_bytes() as f64 * 8.0 / items as f64,
            100.0 * rate(layout, doublings),
            100.0 * found as f64 / LOOKUPS as f64,
        );
    }
}

/// The table in the documents, computed and measured:
/// `cargo test --release --lib bits_per_item_of -- --ignored --nocapture`.
#[cfg(feature = "std")]
#[test]
#[ignore = "prints a table; run it in release mode"]
fn bits_per_item_of_maps_and_expiring_filters_while_they_grow() {
    for value_bits in [2, 8, 16] {
        let map = crate::GrowingMap::builder().capacity(4_000).value_bits(value_bits);
        let map = map.seed(1).build().unwrap();
        print_growth(&std::format!("values of {value_bits} bits"), &map, |from, to| {
            (from..to).for_each(|key| map.insert(&key, 1).unwrap());
        });
    }
    for window in [1, 5, 13, 61] {
        let filter = crate::GrowingExpiringFilter::builder().capacity(4_000).window(window);
        let filter = filter.seed(1).build().unwrap();
        print_growth(&std::format!("window of {window}"), &filter, |from, to| {
            filter.insert_batch(from..to).unwrap();
        });
    }
}

#[test]
fn rates_rise_with_every_doubling_and_with_the_load() {
    for &layout in Layout::GROWING {
        let unused = layout.false_positive_rate();
        assert!((full_rate(layout, 0.0) / unused - 1.0).abs() < 0.003, "{layout:?}");
        let mut before = 0.0;
        for step in 0..=15 * 64 {
            let doublings = f64::from(step) / 64.0;
            let (rate, full) = (rate(layout, doublings), full_rate(layout, doublings));
            assert!(before < rate && rate < full, "{layout:?} {doublings}");
            before = rate;
        }
    }
}

#[test]
fn the_bars_on_bits_per_item_hold() {
    // With 1/64 of committed buckets that are not used yet, after 11 doublings: 4,000 to 8 million.
    for (layout, bar) in [(Growing4x15, 21.0), (Growing3x20, 28.0)] {
        let bits = bits_per_item(layout, 11.0) * 65.0 / 64.0;
        assert!(bits <= bar, "{layout:?}: {bits}");
    }
}

#[test]
fn growing_layouts_are_in_the_order_of_bits_per_item() {
    for pair in Layout::GROWING.windows(2) {
        for doublings in (0..=MAX_DOUBLINGS).map(f64::from) {
            let [bits, next] = [pair[0], pair[1]].map(|layout| bits_per_item(layout, doublings));
            assert!(bits < next, "{pair:?} {doublings}: {bits} {next}");
        }
    }
}
