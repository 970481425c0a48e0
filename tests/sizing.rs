//! Capacities: at most one table in 10 000 refuses an item before it holds that many.

mod common;

use common::{
    kind::{Kind, Maps, Of, Sets, new},
    rng, scaled,
};
use guira::{
    BuildError, CuckooFilter, CuckooMap, FilterBuilder, GrowingFilter, Layout,
    kind::{Fixed, Set},
};
use rand::{RngExt, rngs::SmallRng};

/// Largest share of tables that may refuse an item.
const REFUSING: f64 = 1e-4;

/// Returns a filter for so many items, of which `copies` are equal, or `None` if the layout cannot
/// hold them.
fn build<K: Kind>(layout: Layout, capacity: usize, copies: usize, seed: u64) -> Option<Of<K>> {
    let builder = new::<K>().capacity(capacity).copies(copies).layout(layout).seed(seed);
    match builder.build() {
        Ok(filter) => Some(filter),
        Err(BuildError::CopiesTooMany { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Inserts copies of random keys until one is refused, at most so many. Returns how many were not.
fn fill<K: Kind>(filter: &Of<K>, copies: usize, most: usize, rng: &mut SmallRng) -> usize {
    let keys = std::iter::repeat_with(|| rng.random::<u64>());
    let mut items = keys.flat_map(|key| (0..copies).map(move |copy| (key, copy))).take(most);
    let values = 1 << filter.layout().value_bits();
    let refused =
        items.position(|(key, copy)| K::insert(filter, &key, (copy % values) as u16).is_err());
    refused.unwrap_or(most)
}

/// Counts the tables, of `tables`, that refuse one of `capacity` items that all come in so many
/// copies. `None` if the layout cannot hold them.
fn count_refusing<K: Kind>(
    layout: Layout,
    capacity: usize,
    copies: usize,
    tables: u64,
) -> Option<u64> {
    build::<K>(layout, capacity, copies, 0)?;
    let refuses = |table: &u64| {
        let filter = build::<K>(layout, capacity, copies, *table).expect("as before");
        let mut rng = rng(*table << 20 | capacity as u64);
        fill::<K>(&filter, copies, capacity, &mut rng) < capacity
    };
    Some((0..tables).filter(refuses).count() as u64)
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
        let number = count_refusing::<Sets>(layout, capacity, 1, tables).expect("one copy");
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

/// Of the layouts of maps, those with the shortest fingerprints.
fn of_maps() -> [Layout; 5] {
    let valued = [(6, 2), (5, 4), (4, 8), (3, 13), (2, 16)];
    valued.map(|(slots, bits)| Layout::with_values(slots, bits).expect("a layout"))
}

/// As [`check`], for every number of copies that a layout holds. All layouts hold some.
fn check_copies(capacities: &[usize], tables: u64) {
    check_copies_of::<Sets>(Layout::ALL, capacities, tables);
    check_copies_of::<Maps>(&of_maps(), capacities, tables);
}

fn check_copies_of<K: Kind>(layouts: &[Layout], capacities: &[usize], tables: u64) {
    for &layout in layouts {
        let slots = layout.slots_per_bucket() as usize;
        let (mut held, mut all_tables, mut all_refusing) = (0, 0, 0);
        for (&capacity, copies) in
            capacities.iter().flat_map(|capacity| (1..=slots).map(move |copies| (capacity, copies)))
        {
            let Some(number) = count_refusing::<K>(layout, capacity, copies, tables) else {
                assert!(2 * copies > slots, "{layout:?} rejects {copies} copies");
                continue;
            };
            held = held.max(copies);
            (all_tables, all_refusing) = (all_tables + tables, all_refusing + number);
            assert!(
                number <= max_refusing(tables),
                "{layout:?}: {number} of {tables} tables refuse one of {capacity} items in \
                 {copies} copies"
            );
        }
        let smallest = capacities.iter().min().is_some_and(|&capacity| capacity < 100);
        assert!(held == slots || !smallest, "{layout:?} holds {held} copies in a small table");
        assert!(
            all_refusing <= max_refusing(all_tables),
            "{layout:?}: {all_refusing} of {all_tables} tables refuse an item"
        );
    }
}

#[test]
fn tables_hold_their_capacity_of_copies() {
    check_copies(&[12, 100, 1_000], scaled(300, 3_000));
    check_copies(&[10_000], scaled(6, 300));
}

/// A map with two values for each key, by the name that maps have for it.
#[test]
fn two_values_a_key_fit() {
    for seed in 0..50 {
        let map = CuckooMap::builder().capacity(1_000).values_per_key(2).seed(seed);
        let map = map.build().expect("a small map");
        let items = (0..500_u32).flat_map(|key| [(key, 1), (key, 2)]);
        assert_eq!(items.filter(|(key, value)| map.insert(key, *value).is_err()).count(), 0);
    }
}

/// What no layout holds is rejected, with the number that one holds. A limit implies as many
/// copies, unless they are named.
#[test]
fn too_many_copies_are_rejected() {
    let error = |builder: FilterBuilder<Set, Fixed>| builder.capacity(10_000).build().err();
    let sets = || CuckooFilter::builder().layout(Layout::Plain4x16);
    let rejected = |copies: usize, most: usize| {
        move |error: Option<BuildError>| match error {
            Some(BuildError::CopiesTooMany { copies: c, most: m, .. }) => (c, m) == (copies, most),
            _ => false,
        }
    };
    assert!(rejected(5, 4)(error(sets().copies(5))));
    assert!(rejected(usize::MAX, 4)(error(sets().copies(usize::MAX))));
    assert!(rejected(5, 4)(error(sets().max_copies(5))));
    assert_eq!(error(sets().copies(1).max_copies(5)), None);
    assert_eq!(error(sets().copies(4)), None);
    assert_eq!(error(sets().copies(0)), Some(BuildError::ZeroCopies));
    // Among all layouts, one with more slots; and with a target, one that meets it.
    assert_eq!(error(CuckooFilter::builder().copies(5)), None);
    assert!(rejected(9, 6)(error(CuckooFilter::builder().copies(9))));
    let precise = CuckooFilter::builder().false_positive_rate(1e-6).copies(4);
    assert!(matches!(error(precise), Some(BuildError::RateTooLow { .. })));
    // Short fingerprints, in a large table.
    let short = CuckooFilter::builder().capacity(10_000_000).layout(Layout::Plain8x8).copies(6);
    assert!(rejected(6, 4)(short.build().err()));
    let growing = GrowingFilter::builder().layout(Layout::Growing4x15).copies(5).build().err();
    assert!(rejected(5, 4)(growing));
    assert!((1..=5).all(|copies| GrowingFilter::builder().copies(copies).build().is_ok()));
}

/// Sizes do not fall where more is wanted, but for a few buckets: of the layouts of the same size,
/// some are rounded differently.
#[test]
fn who_asks_for_more_gets_no_less() {
    let bytes = |capacity: usize, copies: usize, rate: f64| {
        let builder = CuckooFilter::builder().capacity(capacity).copies(copies);
        Some(builder.false_positive_rate(rate).huge_pages(false).build().ok()?.size_in_bytes())
    };
    for copies in 1..=4 {
        for step in 0..400_u32 {
            let capacity = 100 + (1.022_f64.powf(step.into()) * 20.0) as usize;
            for rate in [0.2, 0.05, 0.03, 0.01, 0.002, 1e-4] {
                let Some(size) = bytes(capacity, copies, rate) else { continue };
                for more in [
                    bytes(capacity + 1, copies, rate),
                    bytes(capacity + capacity / 50, copies, rate),
                    bytes(capacity, copies, rate * 0.98),
                ] {
                    // None, if the rate is too low.
                    let Some(more) = more else { continue };
                    let least = size - size / 50 - 32;
                    assert!(more >= least, "{copies} copies, {capacity}, {rate}: {size}, {more}");
                }
            }
        }
    }
}

/// No builder goes on for ever, whatever is asked for.
#[test]
fn absurd_sizes_are_errors() {
    for capacity in [1 << 40, 1 << 50, 1 << 62, usize::MAX / 2, usize::MAX] {
        for copies in 1..=8 {
            let builder = CuckooFilter::builder().capacity(capacity).copies(copies);
            let error = builder.max_bytes(1 << 30).build().expect_err("too large");
            let is_one = matches!(
                error,
                BuildError::CapacityTooLarge { .. } | BuildError::CopiesTooMany { .. }
            );
            assert!(is_one, "{error}");
            let map = CuckooMap::builder().capacity(capacity).values_per_key(copies);
            assert!(map.build().is_err());
        }
    }
}

/// The load at the first refusal exceeds the allowed one by 0.4 percentage points.
#[test]
#[ignore = "long: fills large tables; run it in release mode"]
fn long_tables_are_sized_with_a_margin() {
    for capacity in [1_000_000, 10_000_000] {
        for &layout in Layout::ALL {
            check_margin::<Sets>(layout, capacity);
        }
        for layout in of_maps() {
            check_margin::<Maps>(layout, capacity);
        }
    }
}

fn check_margin<K: Kind>(layout: Layout, capacity: usize) {
    for copies in 1..=layout.slots_per_bucket() as usize {
        let Some(filter) = build::<K>(layout, capacity, copies, 0) else { continue };
        let allowed = capacity as f64 / filter.slots() as f64;
        drop(filter);
        for seed in 0..10 {
            let filter = build::<K>(layout, capacity, copies, seed).expect("as before");
            let filled = fill::<K>(&filter, copies, filter.slots(), &mut rng(seed));
            let load = filled as f64 / filter.slots() as f64;
            assert!(
                load >= allowed + 0.004,
                "{layout:?}, {capacity} items in {copies} copies: {load}, allowed {allowed}"
            );
        }
    }
}

#[test]
#[ignore = "long: thousands of tables per capacity; run it in release mode"]
fn long_tables_hold_their_capacity_of_copies() {
    check_copies(&[12, 30, 100, 300, 1_000, 3_000, 10_000], 30_000);
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
