//! Measured false-positive rates against those promised, and the builder's choice of a layout.

mod common;

use std::hash::BuildHasher;

use common::{Maker, hashers, rng, scaled};
use guira::{CuckooFilter, FilterBuilder, Layout};
use rand::RngExt;

/// Fills filters to their capacity and looks up keys that are not in: positives, and look-ups.
fn measure<S: BuildHasher>(
    builder: &FilterBuilder<S>,
    capacity: usize,
    tables: u64,
    queries: u64,
) -> (u64, u64)
where
    FilterBuilder<S>: Clone,
{
    let mut positives = 0;
    for table in 0..tables {
        let filter = builder.clone().capacity(capacity).seed(table).build().expect("small");
        let mut rng = rng(table);
        // Odd keys are in, even ones are not.
        for _ in 0..capacity {
            // One table in 10 000 may refuse an item.
            let _ = filter.insert(&(rng.random::<u64>() | 1));
        }
        let positive = |_: &u64| filter.contains(&(rng.random::<u64>() & !1));
        positives += (0..queries).filter(positive).count() as u64;
    }
    (positives, tables * queries)
}

/// Checks a measurement against a bound: within five standard deviations of what the bound would
/// give, and 2 % for what tables differ by.
fn check(what: &str, (positives, queries): (u64, u64), bound: f64) {
    let expected = bound * queries as f64;
    let most = expected * 1.02 + 5.0 * expected.sqrt();
    assert!(positives as f64 <= most, "{what}: {positives} positives, not {expected:.0}");
}

/// Queries enough for some hundred positives, or some thousand; for the lowest rates for some dozen.
fn queries(rate: f64, tables: u64) -> u64 {
    (scaled(150.0, 4_000.0) / rate).min(scaled(1e6, 3e7)) as u64 / tables + 1
}

#[test]
fn measured_rates_at_capacity_meet_the_bound() {
    for &layout in Layout::ALL {
        for (capacity, tables) in [(1, 200), (7, 100), (100, 40), (1_000, 10), (20_000, 3)] {
            let builder = CuckooFilter::builder().layout(layout);
            let bound = builder.clone().capacity(capacity).build().expect("small");
            let bound = bound.false_positive_rate();
            let measured = measure(&builder, capacity, tables, queries(bound, tables));
            check(&format!("{layout:?}, {capacity} items"), measured, bound);
            // The bound is no idle one, or the measurement would show nothing. (In a table of one
            // bucket a look-up meets half as many fingerprints as the bound allows for.)
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
fn overfilled_filters_stay_below_the_rate_of_their_layout() {
    for &layout in Layout::ALL {
        let filter = CuckooFilter::builder().layout(layout).capacity(5_000).seed(8);
        let filter = filter.build().expect("small");
        let mut rng = rng(8);
        while filter.insert(&(rng.random::<u64>() | 1)).is_ok() {}
        let queries = queries(layout.false_positive_rate(), 1);
        let positives =
            (0..queries).filter(|_| filter.contains(&(rng.random::<u64>() & !1))).count() as u64;
        check(
            &format!("{layout:?}, overfilled"),
            (positives, queries),
            layout.false_positive_rate(),
        );
    }
}

/// Measured as asked for, whatever layout that means, with good hashes and raw keys.
fn measured_as_asked<S: BuildHasher>(make: Maker<S>)
where
    FilterBuilder<S>: Clone,
{
    for rate in [0.5, 0.1, 0.05, 0.012, 0.01, 0.003, 0.001, 0.0005, 0.00013] {
        for (capacity, tables) in [(30, 60), (3_000, 5)] {
            let builder = make(CuckooFilter::builder().false_positive_rate(rate));
            let measured = measure(&builder, capacity, tables, queries(rate, tables));
            check(&format!("{rate} asked for, {capacity} items"), measured, rate);
        }
    }
}

#[test]
fn measured_rates_never_exceed_those_asked_for() {
    measured_as_asked(hashers::default);
    measured_as_asked(hashers::identity);
}

/// The builder's choice is the smallest table of all the layouts that meet the rate, or of the plain ones
/// if the fastest is asked for.
#[test]
fn the_builder_takes_the_fewest_bits_per_item() {
    let mut chosen = std::collections::HashSet::new();
    for capacity in [1, 2, 3, 5, 9, 20, 50, 100, 333, 1_000, 10_000, 100_000] {
        let mut rate = 0.9;
        while rate > 1e-6 {
            let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(rate);
            let meeting: Vec<_> = Layout::ALL
                .iter()
                .filter_map(|&layout| builder.clone().layout(layout).build().ok())
                .collect();
            for fastest in [false, true] {
                let builder = if fastest { builder.clone().fastest() } else { builder.clone() };
                // Lower is better: buckets, then no semi-sorting, then the rate.
                let cost = |filter: &CuckooFilter| {
                    let slow = filter.layout().is_semi_sorted();
                    let buckets = filter.slots() / filter.layout().slots_per_bucket() as usize;
                    (fastest && slow, buckets, slow, filter.false_positive_rate())
                };
                let best = meeting.iter().map(cost).min_by(|a, b| a.partial_cmp(b).expect("rates"));
                let choice = builder.build().ok();
                assert_eq!(choice.as_ref().map(cost), best, "{rate} for {capacity} items");
                if let Some(filter) = choice {
                    assert!(filter.false_positive_rate() <= rate, "{rate} for {capacity} items");
                    chosen.insert(filter.layout());
                }
            }
            rate *= 0.8;
        }
    }
    assert_eq!(chosen.len(), Layout::ALL.len(), "a layout is never chosen: {chosen:?}");
}

#[test]
fn without_a_rate_it_is_the_default_layout() {
    let filter = CuckooFilter::with_capacity(1_000);
    assert_eq!(filter.layout(), Layout::Plain4x16);
    let named = CuckooFilter::builder().capacity(1_000).layout(Layout::Plain6x10).build();
    assert_eq!(named.expect("small").layout(), Layout::Plain6x10);
}
