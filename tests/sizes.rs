//! The memory of filters that start small: exact numbers of bytes, which are the same on every
//! 64-bit machine.
#![cfg(all(target_pointer_width = "64", feature = "std", not(feature = "stats")))]

use guira::{BuildError, CuckooFilter, GrowingFilter, StableHashBuilder};

/// The bytes of a growing filter for 1,000 items at this target rate.
fn bytes_for_a_thousand(rate: f64) -> usize {
    let builder = GrowingFilter::builder().capacity(1_000).false_positive_rate(rate);
    builder.build().unwrap().size_in_bytes()
}

/// The first buckets take one page, and the value of the filter 1,536.
#[test]
fn a_growing_filter_for_a_thousand_items_is_small() {
    let sizes = [0.03, 0.01, 0.003, 0.001].map(bytes_for_a_thousand);
    assert_eq!(sizes, [6_744, 6_744, 6_776, 6_776]);
    assert_eq!(GrowingFilter::with_capacity(1_000).size_in_bytes(), sizes[3]);
    assert_eq!(size_of::<GrowingFilter>(), 1_536);
}

#[test]
fn the_smallest_growing_filter_takes_little_less() {
    assert_eq!(GrowingFilter::with_capacity(1).size_in_bytes(), 6_760);
    // Without a page of its own.
    let builder = GrowingFilter::builder().capacity(1).reserve_address_space(false);
    assert_eq!(builder.build().unwrap().size_in_bytes(), 6_416);
}

/// What a server with one thread pays, per filter and per item.
#[test]
fn a_filter_for_one_writer_is_small() {
    let growing = |capacity| {
        let builder = GrowingFilter::builder().capacity(capacity).false_positive_rate(0.01);
        let builder = builder.writers(1);
        builder.build().unwrap().size_in_bytes()
    };
    let fixed = |capacity| {
        let builder = CuckooFilter::builder().capacity(capacity).false_positive_rate(0.01);
        let builder = builder.writers(1);
        builder.build().unwrap().size_in_bytes()
    };
    assert_eq!([growing(1_024), fixed(1_024)], [6_744, 2_312]);
    // The target load of a table that splits is lower, and its slots are wider.
    assert!(growing(1_000_000) <= 2_600_000 && fixed(1_000_000) <= 1_400_000);
}

/// Stripes, counters, plan and value together, beside the buckets.
#[test]
fn what_is_not_buckets_is_a_small_part() {
    let cases =
        [(10_000, [35, 75]), (100_000, [20, 20]), (1_000_000, [3; 2]), (10_000_000, [2; 2])];
    for (capacity, percents) in cases {
        for writers in [None, Some(1)] {
            let fixed = CuckooFilter::builder().capacity(capacity).huge_pages(false);
            let growing = GrowingFilter::builder().capacity(capacity).huge_pages(false);
            let (fixed, growing) = match writers {
                None => (fixed.build().unwrap(), growing.build().unwrap()),
                Some(writers) => (
                    fixed.writers(writers).build().unwrap(),
                    growing.writers(writers).build().unwrap(),
                ),
            };
            let sizes = [
                (fixed.size_in_bytes(), fixed.slots() * 2),
                (growing.size_in_bytes(), growing.slots() / 3 * 8),
            ];
            for ((bytes, buckets), percent) in sizes.into_iter().zip(percents) {
                let share = 100 * (bytes - buckets) / buckets;
                assert!(share < percent, "{capacity}: {bytes} of {buckets}, {share} %");
            }
        }
    }
}

/// More expected writers get more stripes and counters, up to 2,048 stripes and 64 counters. A
/// single one gets at most 64 stripes.
#[test]
fn expected_writers_take_memory() {
    let growing = |writers| {
        let builder = GrowingFilter::builder().capacity(1_000).writers(writers);
        builder.build().unwrap().size_in_bytes()
    };
    let without = GrowingFilter::with_capacity(1_000).size_in_bytes();
    let beside = without - 32 * (16 + 2 * 128 / 16);
    assert_eq!(growing(1), without, "a lone writer waits for nobody");
    for (writers, stripes) in [(2, 128), (3, 256), (16, 1_024), (32, 2_048)] {
        // Two counters: of the items, and of the occupied slots.
        assert_eq!(growing(writers), beside + 16 * stripes + 2 * 128 * (stripes / 16).min(64));
    }
    assert!([33, 1_000, usize::MAX].iter().all(|&writers| growing(writers) == growing(32)));
    let fixed = |capacity, writers| {
        let builder = CuckooFilter::builder().capacity(capacity).huge_pages(false).writers(writers);
        builder.build().unwrap().size_in_bytes()
    };
    let few = CuckooFilter::with_capacity(1_000).size_in_bytes();
    assert_eq!(fixed(1_000, 2), few + 16 * (128 - 16) + 128 * 8 - 16);
    assert_eq!(fixed(3_000_000, 2), fixed(3_000_000, 1_000), "as many as there can be");
    let saved = 16 * (2_048 - 64) + 128 * (64 - 4);
    assert_eq!(fixed(3_000_000, 1), fixed(3_000_000, 2) - saved);
    for builder in [GrowingFilter::builder().capacity(1).writers(0).build().err(), {
        CuckooFilter::builder().capacity(1).writers(0).build().err()
    }] {
        assert_eq!(builder, Some(BuildError::ZeroWriters));
    }
}

/// Clones have as many stripes and counters, and so have what they append.
#[test]
fn clones_keep_the_setting() {
    let growing = GrowingFilter::builder().capacity(1_000).writers(9).seed(1).build().unwrap();
    assert_eq!(growing.clone().size_in_bytes(), growing.size_in_bytes());
    growing.insert_batch(0..5_000).unwrap();
    assert_eq!(growing.clone().size_in_bytes(), growing.size_in_bytes());
    let fixed = CuckooFilter::builder().capacity(1_000).writers(9).build().unwrap();
    assert_eq!(fixed.clone().size_in_bytes(), fixed.size_in_bytes());
}
