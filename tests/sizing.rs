//! Capacities: at most one table in 10 000 refuses an item before it holds that many.

mod common;

use common::{rng, scaled};
use guira::{CuckooFilter, Layout};
use rand::RngExt;

/// Largest share of tables that may refuse an item.
const REFUSING: f64 = 1e-4;

/// Counts the tables, of `tables`, that refuse one of `capacity` items.
fn count_refusing(layout: Layout, capacity: usize, tables: u64) -> u64 {
    let refuses = |table: &u64| {
        let builder = CuckooFilter::builder().capacity(capacity).layout(layout).seed(*table);
        let filter = builder.build().expect("a small filter");
        let mut rng = rng(*table << 20 | capacity as u64);
        (0..capacity).any(|_| filter.insert(&rng.random::<u64>()).is_err())
    };
    (0..tables).filter(refuses).count() as u64
}

/// Returns the largest number of refusals that chance explains: the probability of more, which are
/// Poisson distributed, is below one in a million.
fn max_refusing(tables: u64) -> u64 {
    let mean = tables as f64 * REFUSING;
    let (mut term, mut sum, mut number) = ((-mean).exp(), 0.0, 0);
    while sum + term < 1.0 - 1e-6 {
        sum += term;
        number += 1;
        term *= mean / number as f64;
    }
    number
}

/// Checks each capacity by itself, and all of them together.
fn check(layout: Layout, capacities: impl IntoIterator<Item = usize>, tables: u64) {
    let (mut all_tables, mut all_refusing, mut failures) = (0, 0, Vec::new());
    for capacity in capacities {
        let number = count_refusing(layout, capacity, tables);
        all_tables += tables;
        all_refusing += number;
        if number > max_refusing(tables) {
            failures.push((capacity, number));
        }
    }
    assert!(
        failures.is_empty(),
        "{layout:?}: too many of {tables} tables refuse an item (capacity, tables): {failures:?}"
    );
    assert!(
        all_refusing <= max_refusing(all_tables),
        "{layout:?}: {all_refusing} of {all_tables} tables refuse an item"
    );
}

#[test]
fn small_tables_hold_their_capacity() {
    for &layout in Layout::ALL {
        check(layout, 1..=100, scaled(40, 200));
    }
}

#[test]
fn medium_tables_hold_their_capacity() {
    for &layout in Layout::ALL {
        check(layout, (101..2_000).step_by(scaled(97, 17)), scaled(20, 50));
    }
}

#[test]
fn large_tables_hold_their_capacity() {
    for &layout in Layout::ALL {
        check(layout, [1_000, 3_000, 10_000, 30_000], scaled(10, 50));
        check(layout, [100_000], scaled(2, 10));
    }
}

#[test]
#[ignore = "long: thousands of tables per capacity; run it in release mode"]
fn long_tables_hold_their_capacity() {
    for &layout in Layout::ALL {
        check(layout, 1..=300, 10_000);
        check(layout, [1_000, 3_000, 10_000], 2_000);
        check(layout, [100_000, 1_000_000], 50);
    }
}
