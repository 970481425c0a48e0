//! Measured false-positive rates against the promised ones, and the builder's choice of a layout.

mod common;

use std::{cmp::Reverse, collections::HashSet, hash::BuildHasher};

use common::{
    hashers::{self, Part},
    kind::{Kind, Maker, Of, Sets, new},
    rng, scaled, settings,
    suite::{on_all_kinds, on_kinds},
};
use guira::{CuckooFilter, Layout};
use rand::RngExt;

on_all_kinds! {
    rates_do_not_exceed_their_targets,
}

on_kinds! {
    [
        splitting: GrowingSets,
        map: Maps,
        splitting_maps: GrowingMaps,
        stamped: ExpiringSets,
        splitting_stamped: GrowingExpiringSets,
    ]
    {rates_at_capacity_are_the_promised_ones}
}

/// What lookups of absent keys found.
#[derive(Default)]
struct Measured {
    positives: u64,
    /// Values, where there are any.
    values: u64,
    queries: u64,
}

/// Fills filters to their capacity and looks up absent keys.
fn measure<K: Kind, S: BuildHasher>(
    build: impl Fn(u64) -> Of<K, S>,
    tables: u64,
    queries: u64,
) -> Measured {
    let mut measured = Measured { queries: tables * queries, ..Measured::default() };
    for table in 0..tables {
        let (filter, mut rng) = (build(table), rng(table));
        // Odd keys are inserted, even ones are looked up.
        for _ in 0..filter.capacity() {
            // One table in 10 000 may refuse an item.
            let _ = K::add(&filter, rng.random::<u64>() | 1);
        }
        for _ in 0..queries {
            let key = rng.random::<u64>() & !1;
            if filter.contains(&key) {
                measured.positives += 1;
                measured.values += K::tags(&filter, &key).map_or(1, |tags| tags.len()) as u64;
            }
        }
    }
    measured
}

/// Checks a measurement against a bound, with a tolerance of five standard deviations, and of 2 %
/// for the differences between tables.
fn check(what: &str, measured: &Measured, bound: f64) {
    let Measured { positives, values, queries } = *measured;
    let expected = bound * queries as f64;
    let spread = 5.0 * expected.sqrt();
    let most = expected * 1.02 + spread;
    assert!(positives as f64 <= most, "{what}: {positives} positives, expected {expected:.0}");
    assert!(values as f64 <= expected * 1.1 + spread, "{what}: {values} values, {expected:.0}");
}

/// Returns the number of lookups per table for two thousand positives in all, or for two dozen
/// at the lowest rates. (In debug builds, fewer.)
fn queries(rate: f64, tables: u64) -> u64 {
    (scaled(150.0, 2_000.0) / rate).min(scaled(1e6, 1e7)) as u64 / tables + 1
}

/// Checks filters of several sizes in these layouts.
fn check_at_capacity<K: Kind>(layouts: impl Iterator<Item = Layout>, sizes: &[(usize, u64)]) {
    for layout in layouts {
        for &(capacity, tables) in sizes {
            let build = |seed| settings::<K>(capacity, layout, seed).build().expect("small");
            let bound = build(0).false_positive_rate();
            let measured = measure::<K, _>(build, tables, queries(bound, tables));
            let what = format!("{layout:?}, {capacity} items");
            check(&what, &measured, bound);
            // The bound is tight, in a filter that grows at its target load. (Not for tables of one
            // bucket, where a lookup compares half as many fingerprints as the bound assumes.)
            let expected = bound * measured.queries as f64;
            let share = measured.positives as f64 / expected;
            let full = build(0);
            let load = if K::GROWS { capacity as f64 / full.slots() as f64 } else { 1.0 };
            let is_tight = share > 0.9 * load - 5.0 / expected.sqrt();
            assert!(capacity < 100 || is_tight, "{what}: {share} of the bound");
        }
    }
}

/// Capacities, and numbers of tables.
const SIZES: [(usize, u64); 5] = [(1, 200), (7, 100), (100, 40), (1_000, 10), (20_000, 3)];

/// Sets are measured by the tests below.
fn rates_at_capacity_are_the_promised_ones<K: Kind>() {
    check_at_capacity::<K>(K::layouts().into_iter(), &[(100, 20), (20_000, 1)]);
}

#[test]
fn plain_rates_at_capacity_are_the_promised_ones() {
    let plain = Layout::ALL.iter().copied().filter(|layout| !layout.is_semi_sorted());
    check_at_capacity::<Sets>(plain, &SIZES);
}

#[test]
fn semi_sorted_rates_at_capacity_are_the_promised_ones() {
    let semi_sorted = Layout::ALL.iter().copied().filter(|layout| layout.is_semi_sorted());
    check_at_capacity::<Sets>(semi_sorted, &SIZES);
}

#[test]
fn full_filters_stay_below_the_rate_of_their_layout() {
    for &layout in Layout::ALL {
        let filter = CuckooFilter::builder().layout(layout).capacity(5_000).seed(8);
        let filter = filter.build().expect("a small filter");
        let mut rng = rng(8);
        while filter.insert(&(rng.random::<u64>() | 1)).is_ok() {}
        let queries = queries(layout.false_positive_rate(), 1);
        let positives =
            (0..queries).filter(|_| filter.contains(&(rng.random::<u64>() & !1))).count() as u64;
        let measured = Measured { positives, queries, ..Measured::default() };
        check(&format!("{layout:?}, full"), &measured, layout.false_positive_rate());
    }
}

/// Measures filters with a target rate, and any layout that the builder chooses.
fn rates_do_not_exceed_their_targets<K: Kind>() {
    check_targets::<K>(hashers::good);
    check_targets::<K>(hashers::identity);
}

fn check_targets<K: Kind>(make: Maker<K, Part>) {
    for target in [0.5, 0.1, 0.05, 0.012, 0.01, 0.003, 0.001, 0.0005, 0.00013] {
        for (capacity, tables) in [(30, 60), (3_000, 5)] {
            let builder = new::<K>().capacity(capacity);
            let builder = make(builder.false_positive_rate(target));
            // Filters with values or stamps, and those that grow, cannot have the lowest rates.
            if builder.clone().build().is_err() {
                assert!(target < 0.003, "{target}");
                continue;
            }
            let build = |seed| builder.clone().seed(seed).build().expect("a small filter");
            let measured = measure::<K, _>(build, tables, queries(target, tables));
            check(&format!("target {target}, {capacity} items"), &measured, target);
        }
    }
}

/// The builder chooses a table that is no larger than the smallest one among the layouts that meet
/// the target, or among the plain ones of them if the user prefers the fastest. (It is smaller if a
/// few more buckets let another layout meet the target.)
#[test]
fn the_builder_chooses_the_fewest_bits_per_item() {
    let mut chosen = HashSet::new();
    for capacity in [1, 2, 3, 5, 9, 20, 50, 100, 333, 1_000, 10_000, 100_000] {
        let mut target = 0.9;
        while target > 1e-6 {
            let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(target);
            let meeting: Vec<_> = Layout::ALL
                .iter()
                .filter_map(|&layout| builder.clone().layout(layout).build().ok())
                .collect();
            for fastest in [false, true] {
                let builder = if fastest { builder.clone().fastest() } else { builder.clone() };
                // In order of weight: plain if the fastest is preferred, few buckets, many slots
                // per bucket, plain.
                let cost = |filter: &CuckooFilter| {
                    let semi_sorted = filter.layout().is_semi_sorted();
                    let slots_per_bucket = filter.layout().slots_per_bucket();
                    let buckets = filter.slots() / slots_per_bucket as usize;
                    (fastest && semi_sorted, buckets, Reverse(slots_per_bucket), semi_sorted)
                };
                let best = meeting.iter().map(cost).min();
                let choice = builder.build().ok();
                let cost = choice.as_ref().map(cost);
                assert_eq!(cost.is_some(), best.is_some(), "{target} for {capacity} items");
                assert!(cost <= best, "{target} for {capacity} items: {cost:?}, not {best:?}");
                if let Some(filter) = choice {
                    let rate = filter.false_positive_rate();
                    assert!(rate <= target, "{rate} > {target} for {capacity} items");
                    chosen.insert(filter.layout());
                }
            }
            target *= 0.8;
        }
    }
    assert_eq!(chosen.len(), Layout::ALL.len(), "a layout is never chosen: {chosen:?}");
}

#[test]
fn without_a_target_the_layout_is_the_default() {
    let filter = CuckooFilter::with_capacity(1_000);
    assert_eq!(filter.layout(), Layout::Plain4x16);
    let named = CuckooFilter::builder().capacity(1_000).layout(Layout::Plain6x10).build();
    assert_eq!(named.expect("a small filter").layout(), Layout::Plain6x10);
}
