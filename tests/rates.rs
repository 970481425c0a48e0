//! Measured false-positive rates against the promised ones, and the builder's choice of a layout.

mod common;

use std::{cmp::Reverse, collections::HashSet, hash::BuildHasher};

use common::{Maker, hashers, rng, scaled};
use guira::{CuckooFilter, FilterBuilder, Layout, kind::Fixed, kind::Set};
use rand::RngExt;

/// Fills filters to their capacity and looks up absent keys. Returns the number of positives and of
/// lookups.
fn measure<S: BuildHasher>(
    builder: &FilterBuilder<Set, Fixed, S>,
    capacity: usize,
    tables: u64,
    queries: u64,
) -> (u64, u64)
where
    FilterBuilder<Set, Fixed, S>: Clone,
{
    let mut positives = 0;
    for table in 0..tables {
        let filter =
            builder.clone().capacity(capacity).seed(table).build().expect("a small filter");
        let mut rng = rng(table);
        // Odd keys are inserted, even ones are looked up.
        for _ in 0..capacity {
            // One table in 10 000 may refuse an item.
            let _ = filter.insert(&(rng.random::<u64>() | 1));
        }
        let positive = |_: &u64| filter.contains(&(rng.random::<u64>() & !1));
        positives += (0..queries).filter(positive).count() as u64;
    }
    (positives, tables * queries)
}

/// Checks a measurement against a bound, with a tolerance of five standard deviations, and of 2 %
/// for the differences between tables.
fn check(what: &str, (positives, queries): (u64, u64), bound: f64) {
    let expected = bound * queries as f64;
    let max = expected * 1.02 + 5.0 * expected.sqrt();
    assert!(positives as f64 <= max, "{what}: {positives} positives, expected {expected:.0}");
}

/// Returns the number of lookups per table for a few thousand positives in all, or for a few dozen
/// at the lowest rates. (In debug builds, fewer.)
fn queries(rate: f64, tables: u64) -> u64 {
    (scaled(150.0, 4_000.0) / rate).min(scaled(1e6, 3e7)) as u64 / tables + 1
}

/// Checks filters of several sizes, in every layout of one family.
fn check_at_capacity(semi_sorted: bool) {
    for &layout in Layout::ALL.iter().filter(|layout| layout.is_semi_sorted() == semi_sorted) {
        for (capacity, tables) in [(1, 200), (7, 100), (100, 40), (1_000, 10), (20_000, 3)] {
            let builder = CuckooFilter::builder().layout(layout);
            let filter = builder.clone().capacity(capacity).build().expect("a small filter");
            let bound = filter.false_positive_rate();
            let measured = measure(&builder, capacity, tables, queries(bound, tables));
            check(&format!("{layout:?}, {capacity} items"), measured, bound);
            // The bound is tight. (Not for tables of one bucket, where a lookup compares half as
            // many fingerprints as the bound assumes.)
            let expected = bound * measured.1 as f64;
            let share = measured.0 as f64 / expected;
            assert!(
                capacity < 100 || share > 0.9 - 5.0 / expected.sqrt(),
                "{layout:?}, {capacity} items: {share} of the bound"
            );
        }
    }
}

#[test]
fn plain_rates_at_capacity_are_the_promised_ones() {
    check_at_capacity(false);
}

#[test]
fn semi_sorted_rates_at_capacity_are_the_promised_ones() {
    check_at_capacity(true);
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
        check(&format!("{layout:?}, full"), (positives, queries), layout.false_positive_rate());
    }
}

/// Measures filters with a target rate, and any layout that the builder chooses.
fn check_targets<S: BuildHasher>(make: Maker<S>)
where
    FilterBuilder<Set, Fixed, S>: Clone,
{
    for target in [0.5, 0.1, 0.05, 0.012, 0.01, 0.003, 0.001, 0.0005, 0.00013] {
        for (capacity, tables) in [(30, 60), (3_000, 5)] {
            let builder = make(CuckooFilter::builder().false_positive_rate(target));
            let measured = measure(&builder, capacity, tables, queries(target, tables));
            check(&format!("target {target}, {capacity} items"), measured, target);
        }
    }
}

#[test]
fn rates_do_not_exceed_their_targets() {
    check_targets(hashers::default);
    check_targets(hashers::identity);
}

/// The builder chooses the layout with the smallest table among those that meet the target, or
/// among the plain ones of them if the user prefers the fastest.
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
                // In order of weight: plain if the fastest is preferred, few buckets, many slots per
                // bucket, plain.
                let cost = |filter: &CuckooFilter| {
                    let semi_sorted = filter.layout().is_semi_sorted();
                    let slots_per_bucket = filter.layout().slots_per_bucket();
                    let buckets = filter.slots() / slots_per_bucket as usize;
                    (fastest && semi_sorted, buckets, Reverse(slots_per_bucket), semi_sorted)
                };
                let best = meeting.iter().map(cost).min();
                let choice = builder.build().ok();
                assert_eq!(choice.as_ref().map(cost), best, "{target} for {capacity} items");
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
