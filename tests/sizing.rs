//! Capacities are kept: that many distinct items fit, but for one table in 10 000.

mod common;

use common::{rng, scaled};
use guira::{CuckooFilter, Layout};
use rand::RngExt;

/// The share of tables that may refuse an item.
const REFUSING: f64 = 1e-4;

/// How many of `tables` tables refuse one of `capacity` items.
fn refusing(layout: Layout, capacity: usize, tables: u64) -> u64 {
    let refuses = |table: &u64| {
        let builder = CuckooFilter::builder().capacity(capacity).layout(layout).seed(*table);
        let filter = builder.build().expect("a small filter");
        let mut rng = rng(*table << 20 | capacity as u64);
        (0..capacity).any(|_| filter.insert(&rng.random::<u64>()).is_err())
    };
    (0..tables).filter(refuses).count() as u64
}

/// The most refusals to be put down to chance: more have a probability below one in a million.
fn tolerable(tables: u64) -> u64 {
    let mean = tables as f64 * REFUSING;
    let (mut term, mut below, mut number) = ((-mean).exp(), 0.0, 0);
    while below + term < 1.0 - 1e-6 {
        below += term;
        number += 1;
        term *= mean / number as f64;
    }
    number
}

/// Checks each of some capacities, and all of them together.
fn check(layout: Layout, capacities: impl IntoIterator<Item = usize>, tables: u64) {
    let (mut all, mut refused, mut worst) = (0, 0, Vec::new());
    for capacity in capacities {
        let number = refusing(layout, capacity, tables);
        all += tables;
        refused += number;
        if number > tolerable(tables) {
            worst.push((capacity, number));
        }
    }
    assert!(
        worst.is_empty(),
        "{layout:?}: of {tables} tables refused (capacity, tables) {worst:?}"
    );
    assert!(refused <= tolerable(all), "{layout:?}: {refused} of {all} tables refused");
}

#[test]
fn every_small_capacity_is_kept() {
    for &layout in Layout::ALL {
        check(layout, 1..=100, scaled(40, 400));
    }
}

#[test]
fn capacities_in_between_are_kept() {
    for &layout in Layout::ALL {
        check(layout, (101..2_000).step_by(scaled(97, 17)), scaled(20, 100));
    }
}

#[test]
fn large_capacities_are_kept() {
    for &layout in Layout::ALL {
        check(layout, [1_000, 3_000, 10_000, 30_000], scaled(10, 100));
        check(layout, [100_000], scaled(2, 20));
    }
}

#[test]
#[ignore = "long: tables by the thousand; in release mode"]
fn long_every_capacity_is_kept() {
    for &layout in Layout::ALL {
        check(layout, 1..=300, 10_000);
        check(layout, [1_000, 3_000, 10_000], 2_000);
        check(layout, [100_000, 1_000_000], 50);
    }
}
