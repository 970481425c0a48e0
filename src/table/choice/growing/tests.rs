//! Tests of the choice of a layout and of sizes.

#![expect(clippy::float_cmp, reason = "the numbers are passed on, or computed in the same way")]

use super::{
    BuildError, Choice, DEFAULT_SLOTS, Layout, MAX_DOUBLINGS, MAX_GROWN_BUCKETS, MIN_BUCKETS,
    MIN_SLOTS, UNBOUNDED, Wanted, buckets_for, choose, full_rate, ghosts_per_item, target_load,
};
use crate::table::split::Limits;

use Layout::{Growing2x30, Growing3x20, Growing4x15, Growing5x12};

fn items_at_target_load(layout: Layout, buckets: u64) -> u64 {
    let slots = layout.slots_per_bucket();
    Limits { buckets, load: target_load(slots) as u32, copies: 1 }
        .items_in(buckets * u64::from(slots))
}

const ANY: Wanted = Wanted {
    capacity: None,
    max_capacity: None,
    target: None,
    layout: None,
    value_bits: None,
    copies: 1,
};

#[test]
fn buckets_are_the_fewest_for_so_many_items() {
    for &layout in Layout::GROWING {
        for items in (1..5_000).chain([1 << 20, 12_345_678, 9_999_999_999]) {
            let buckets = buckets_for(layout, items, 1);
            assert!(u128::from(items_at_target_load(layout, buckets)) >= items);
            assert!(u128::from(items_at_target_load(layout, buckets - 1)) < items);
        }
        assert_eq!(buckets_for(layout, 0, 1), 0);
        assert!(buckets_for(layout, u128::from(u64::MAX), 1) > MAX_GROWN_BUCKETS);
    }
}

#[test]
fn every_choice_keeps_its_promises() {
    let capacities = [1, 2, 3, 100, 819, 820, 1_000, 4_097, 60_000, 12_345_678, 5_000_000_000];
    let targets = [0.2, 0.05, 0.03, 0.01, 0.004, 0.003, 0.001, 1e-4, 5e-5, 1e-5, 1e-6, 1e-7];
    let mut chosen = [0; 4];
    for capacity in capacities.map(Some).into_iter().chain([None]) {
        let factors = [1.0, 1.01, 1.9, 2.0, 3.7, 200.0, 32_768.0, 1e5].map(Some);
        for factor in factors.into_iter().chain([None]) {
            let of = capacity.unwrap_or(1_000) as f64;
            let max_capacity = factor.map(|factor: f64| (of * factor) as usize);
            let Some(max_capacity) = max_capacity.map(|max| (max < 1 << 32).then_some(max)) else {
                continue;
            };
            for target in targets {
                let wanted = Wanted { capacity, max_capacity, target: Some(target), ..ANY };
                let choice = choose(&wanted).unwrap();
                check(&wanted, &choice);
                let number = Layout::GROWING.iter().position(|&layout| layout == choice.layout);
                for &layout in Layout::GROWING {
                    let other = choose(&Wanted { layout: Some(layout), ..wanted });
                    let is_larger = |other: Choice| other.first_buckets >= choice.first_buckets;
                    assert!(other.is_ok_and(is_larger) || other.is_err(), "{wanted:?} {other:?}");
                }
                chosen[number.unwrap()] += 1;
            }
        }
    }
    assert!(chosen.iter().all(|&times| times > 0), "{chosen:?}");
}

/// Checks the sizes and the rate of a choice.
fn check(wanted: &Wanted, choice: &Choice) {
    let &Choice { layout, first_buckets, max_buckets, max_rate, target } = choice;
    let slots = u64::from(layout.slots_per_bucket());
    assert!(max_rate <= target && wanted.target.is_none_or(|t| t == target), "{wanted:?}");
    let doublings = (max_buckets as f64 / first_buckets as f64).log2();
    assert!((max_rate / full_rate(layout, doublings) - 1.0).abs() < 1e-12, "{wanted:?}");
    assert!(first_buckets >= MIN_BUCKETS && first_buckets * slots >= MIN_SLOTS, "{wanted:?}");
    assert!(items_at_target_load(layout, first_buckets) >= wanted.capacity.unwrap_or(0) as u64);
    assert!((0.0..=15.0).contains(&doublings) && max_buckets <= MAX_GROWN_BUCKETS, "{wanted:?}");
    let Some(max_capacity) = wanted.max_capacity else {
        let named = wanted.capacity.is_some();
        assert!(named || first_buckets * slots >= DEFAULT_SLOTS);
        let full = full_rate(layout, doublings + 1e-4);
        assert!(doublings >= UNBOUNDED || max_buckets == MAX_GROWN_BUCKETS, "{wanted:?}");
        let far = full > target || doublings > 14.9999 || max_buckets == MAX_GROWN_BUCKETS;
        return assert!(far, "{wanted:?} {choice:?}");
    };
    let whole = (0..=MAX_DOUBLINGS).find(|&d| first_buckets << d >= max_buckets).unwrap();
    let with_ghosts = |d: f64| max_capacity as f64 * (1.0 + ghosts_per_item(layout, d));
    let (holds, less) = (
        items_at_target_load(layout, max_buckets) as f64,
        items_at_target_load(layout, max_buckets - 1) as f64,
    );
    assert!(holds >= with_ghosts(doublings), "{wanted:?} {choice:?}");
    let most = with_ghosts(whole.into()) + 1.0;
    assert!(less < most || max_buckets == first_buckets, "{wanted:?}");
}

#[test]
fn the_first_size_is_small_and_exact() {
    let first = |capacity, layout| {
        choose(&Wanted { capacity, layout: Some(layout), ..ANY }).unwrap().first_buckets
    };
    let smallest = [256, 256, 342, 512];
    let unnamed = [820, 1_024, 1_366, 2_048];
    // 4.26, 3.38, 2.46 and 1.48 items per bucket, rounded up.
    let of_ten_thousand = [2_349, 2_963, 4_064, 6_737];
    for (number, &layout) in Layout::GROWING.iter().enumerate() {
        assert_eq!(first(Some(0), layout), smallest[number]);
        assert_eq!(first(Some(1), layout), smallest[number]);
        assert_eq!(first(None, layout), unnamed[number]);
        assert_eq!(first(Some(10_000), layout), of_ten_thousand[number]);
    }
    // No more without a name than it ever needs.
    let max_capacity = Some(1_500);
    let small = choose(&Wanted { max_capacity, layout: Some(Growing4x15), ..ANY }).unwrap();
    assert_eq!((small.first_buckets, small.max_buckets), (445, 445));
}

#[test]
fn the_target_decides_the_layout() {
    let layout = |target, max_capacity| {
        choose(&Wanted { capacity: Some(4_000), max_capacity, target, ..ANY }).unwrap().layout
    };
    assert_eq!(layout(None, None), Growing3x20);
    assert_eq!(layout(Some(0.2), None), Growing5x12);
    assert_eq!(layout(Some(0.01), None), Growing4x15);
    assert_eq!(layout(Some(0.01), Some(8_000_000)), Growing4x15);
    assert_eq!(layout(Some(0.01), Some(12_000)), Growing5x12);
    assert_eq!(layout(None, Some(8_000_000)), Growing3x20);
    assert_eq!(layout(None, Some(12_000)), Growing4x15);
    assert_eq!(layout(Some(1e-4), None), Growing3x20);
    assert_eq!(layout(Some(0.01), Some(16_000)), Growing5x12);
    assert_eq!(layout(Some(1e-4), Some(8_000_000)), Growing3x20);
    assert_eq!(layout(Some(1e-7), None), Growing2x30);
    assert_eq!(choose(&ANY).unwrap().target, 0.001);
}

/// The table on the page of `GrowingFilter`.
#[test]
fn a_largest_capacity_saves_memory() {
    let table = [
        (0.03, [15.0, 15.0, 15.0, 15.0, 15.0, 19.0]),
        (0.01, [15.0, 15.0, 15.0, 19.0, 19.0, 19.0]),
        (0.003, [19.0, 19.0, 19.0, 19.0, 19.0, 26.0]),
        (0.001, [19.0, 19.0, 19.0, 26.0, 26.0, 26.0]),
        (0.0001, [26.0; 6]),
    ];
    for (target, bits) in table {
        for capacity in [20_000, 100_000, 5_000_000] {
            let growth = [Some(1), Some(2), Some(4), Some(16), Some(64), None];
            for (factor, bits) in growth.into_iter().zip(bits) {
                let wanted = Wanted {
                    capacity: Some(capacity),
                    max_capacity: factor.map(|factor| capacity * factor),
                    target: Some(target),
                    ..ANY
                };
                let found = super::bits_per_item(choose(&wanted).unwrap().layout, 0.0);
                assert!((found - bits).abs() < 0.06, "{wanted:?}: {found}");
            }
        }
    }
}

/// The first buckets are monotone in capacity, maximum, and the inverse of the target.
#[test]
fn who_asks_for_more_begins_with_no_less() {
    // Kronecker sequences: evenly spread, and without a generator of random numbers.
    let mut number = 0_u64;
    let mut below = |log: f64| {
        number += 1;
        let part = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11;
        libm::exp2(part as f64 / (1_u64 << 53) as f64 * log)
    };
    for _ in 0..10_000 {
        let capacity = below(30.0) as usize;
        let max_capacity = (capacity as f64 * below(15.0)) as usize;
        let target = 0.9 / below(22.0);
        let more = [1.0 + 1.0 / below(10.0), 1.0 + 1.0 / below(10.0), 1.0 + 1.0 / below(10.0)];
        for max_capacity in [None, Some(max_capacity)] {
            for value_bits in [None, Some(2)] {
                let wanted = Wanted {
                    capacity: Some(capacity),
                    max_capacity,
                    target: Some(target),
                    value_bits,
                    ..ANY
                };
                let larger = |number: usize, factor: f64| match number {
                    0 => {
                        let larger = (capacity as f64 * factor) as usize;
                        Wanted {
                            capacity: Some(larger.min(max_capacity.unwrap_or(larger))),
                            ..wanted
                        }
                    }
                    1 => Wanted {
                        max_capacity: max_capacity.map(|max| (max as f64 * factor) as usize),
                        ..wanted
                    },
                    _ => Wanted { target: Some(target / factor), ..wanted },
                };
                let Ok(choice) = choose(&wanted) else { continue };
                for (number, factor) in more.into_iter().enumerate() {
                    let Ok(other) = choose(&larger(number, factor)) else { continue };
                    assert!(
                        other.first_buckets >= choice.first_buckets,
                        "{wanted:?} {choice:?}, then {:?} {other:?}",
                        larger(number, factor)
                    );
                }
            }
        }
    }
}

/// With values, too, the layout is the one that begins with the fewest buckets of those that meet
/// the target.
#[test]
fn values_are_part_of_the_choice() {
    for value_bits in 0..=16 {
        for max_capacity in [None, Some(4_000), Some(100_000)] {
            for target in [0.5, 0.1, 0.01, 0.005, 0.001] {
                let wanted = Wanted {
                    capacity: Some(4_000),
                    max_capacity,
                    target: Some(target),
                    value_bits: Some(value_bits),
                    ..ANY
                };
                let all = Layout::growing_with_values(value_bits);
                let named = all.map(|layout| choose(&Wanted { layout: Some(layout), ..wanted }));
                let named: alloc::vec::Vec<Choice> = named.flatten().collect();
                match choose(&wanted) {
                    Ok(choice) => {
                        assert_eq!(choice.layout.value_bits(), value_bits);
                        let least = |other: &Choice| choice.first_buckets <= other.first_buckets;
                        assert!(named.contains(&choice) && named.iter().all(least), "{wanted:?}");
                    }
                    Err(BuildError::RateTooLow { .. }) => assert!(named.is_empty(), "{wanted:?}"),
                    Err(error) => panic!("{error}"),
                }
            }
        }
        // The default can always be met.
        let choice = choose(&Wanted { value_bits: Some(value_bits), ..ANY }).unwrap();
        assert_eq!(choice.target, 0.005);
        let layouts: usize = Layout::growing_with_values(value_bits).count();
        let expected = [(0..=2, 4), (3..=4, 3), (5..=8, 2), (9..=16, 1)];
        let expected = expected.into_iter().find(|(bits, _)| bits.contains(&value_bits)).unwrap();
        assert_eq!(layouts, expected.1);
    }
    assert_eq!(Layout::growing_with_values(17).count(), 0);
}

#[test]
fn what_cannot_be_built_is_an_error() {
    let built = |wanted: Wanted| choose(&wanted).map(|choice| choice.layout);
    let Err(BuildError::RateTooLow { target, lowest }) =
        built(Wanted { target: Some(1e-9), ..ANY })
    else {
        panic!("a rate that no layout has");
    };
    assert_eq!(target, 1e-9);
    assert_eq!(built(Wanted { target: Some(lowest), ..ANY }), Ok(Growing2x30));
    assert!(built(Wanted { target: Some(lowest * 0.999), ..ANY }).is_err());

    let named = Wanted { layout: Some(Growing4x15), ..ANY };
    let Err(BuildError::LayoutMissesRate { layout, target, reached }) =
        built(Wanted { target: Some(0.001), ..named })
    else {
        panic!("a layout with a higher rate");
    };
    assert_eq!((layout, target), (Growing4x15, 0.001));
    assert_eq!(built(Wanted { target: Some(reached), ..named }), Ok(Growing4x15));
    // Without a target, the layout decides.
    let choice = choose(&named).unwrap();
    assert_eq!((choice.target, choice.max_rate), (choice.max_rate, full_rate(Growing4x15, 15.0)));
    assert_eq!(reached, full_rate(Growing4x15, UNBOUNDED));

    for &layout in Layout::ALL.iter().chain(&Layout::with_values(4, 4)) {
        let error = BuildError::LayoutUnsuitable { layout, value_bits: None };
        assert_eq!(built(Wanted { layout: Some(layout), ..ANY }), Err(error));
    }

    let error = BuildError::MaxCapacityTooLow { max_capacity: 999, capacity: 1_000 };
    let wanted = Wanted { capacity: Some(1_000), max_capacity: Some(999), ..ANY };
    assert_eq!(built(wanted), Err(error));
    assert!(built(Wanted { max_capacity: Some(1_000), ..wanted }).is_ok());
    assert!(built(Wanted { capacity: Some(0), max_capacity: Some(0), ..ANY }).is_ok());
}

#[test]
#[cfg(target_pointer_width = "64")]
fn there_are_at_most_four_billion_buckets() {
    for &layout in Layout::GROWING {
        let largest = items_at_target_load(layout, MAX_GROWN_BUCKETS - 1) as usize;
        let wanted = |capacity, max_capacity| {
            choose(&Wanted { capacity, max_capacity, layout: Some(layout), ..ANY })
        };
        // Nearly the whole table at once: one bucket is left.
        let choice = wanted(Some(largest), None).unwrap();
        assert_eq!(
            (choice.first_buckets, choice.max_buckets),
            (MAX_GROWN_BUCKETS - 1, MAX_GROWN_BUCKETS)
        );
        let choice = wanted(Some(largest), Some(largest)).unwrap();
        assert_eq!(
            (choice.first_buckets, choice.max_buckets),
            (MAX_GROWN_BUCKETS - 1, MAX_GROWN_BUCKETS - 1)
        );
        assert_eq!(choice.max_rate, full_rate(layout, 0.0));
        for capacity in [largest + 1, usize::MAX] {
            let error = Err(BuildError::CapacityTooLarge { capacity, layout });
            assert_eq!(wanted(Some(capacity), None), error);
        }
        let largest = items_at_target_load(layout, MAX_GROWN_BUCKETS) as usize;
        for capacity in [largest + 1, usize::MAX] {
            let error = Err(BuildError::CapacityTooLarge { capacity, layout });
            assert_eq!(wanted(Some(1), Some(capacity)), error, "{layout:?}");
        }
        // In between: not a power of two.
        let choice = wanted(Some(items_at_target_load(layout, 12_345_678) as usize), None).unwrap();
        assert_eq!((choice.first_buckets, choice.max_buckets), (12_345_678, MAX_GROWN_BUCKETS));
        // All that it can ever hold, from the fewest buckets that can grow as far.
        let most = (largest as f64 / (1.0 + ghosts_per_item(layout, 15.0))) as usize;
        let choice = wanted(None, Some(most)).unwrap();
        let more = (1 << 17) * (5 - u64::from(layout.slots_per_bucket())) / 10;
        assert_eq!(choice.first_buckets, (1 << 17) + more);
        assert!(choice.max_buckets > MAX_GROWN_BUCKETS - 3, "{choice:?}");
    }
}
