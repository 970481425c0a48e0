//! Addressing: the formulas that lead from hashes to pairs. `screening/` has how keys of every shape
//! spread.

mod common;

use std::collections::HashSet;

use common::{rng, scaled};
use guira::{
    Layout,
    raw::{Addressing, Fingerprint, MAX_BUCKETS, Pair, Slots},
};
use rand::RngExt;

/// Slots where it makes no difference which.
const PLAIN: Slots = Slots::plain(4, 16, 0);

/// Numbers of buckets that are too large to try every bucket.
const LARGE: [u64; 12] = [
    1_000,
    1 << 16,
    (1 << 16) + 1,
    1_000_003,
    (1 << 31) - 1,
    1 << 31,
    (1 << 31) + 1,
    3 << 30,
    MAX_BUCKETS - 5,
    MAX_BUCKETS - 2,
    MAX_BUCKETS - 1,
    MAX_BUCKETS,
];

/// Checks that the alternate bucket is in the table, and that its alternate bucket is `bucket`.
fn check_involution(addressing: &Addressing, value: u32, bucket: u32) {
    let fingerprint = Fingerprint::new(value);
    let alternate = addressing.alt_bucket(fingerprint, bucket);
    let back = addressing.alt_bucket(fingerprint, alternate);
    assert!(u64::from(alternate) < addressing.buckets(), "{value}: {alternate} in {addressing:?}");
    assert_eq!(back, bucket, "{value}: {bucket} -> {alternate} -> {back} in {addressing:?}");
}

#[test]
fn alt_bucket_is_an_involution_in_small_tables() {
    let mut rng = rng(1);
    for buckets in 1..=200 {
        let addressing = Addressing::new(buckets, &PLAIN);
        for bucket in 0..buckets as u32 {
            let random = [(); 8].map(|()| rng.random_range(1..=u32::MAX >> 1));
            for value in (1..=16).chain([254, 255, 1023, 4095, 65_535]).chain(random) {
                check_involution(&addressing, value, bucket);
            }
        }
    }
}

#[test]
fn alt_bucket_is_an_involution_in_large_tables() {
    let mut rng = rng(2);
    for buckets in LARGE {
        let addressing = Addressing::new(buckets, &PLAIN);
        let last = (buckets - 1) as u32;
        for value in (1..=300).chain([4095, 65_535, u32::MAX >> 1]) {
            for bucket in [0, 1, last / 2, last / 2 + 1, last - 1, last] {
                check_involution(&addressing, value, bucket);
            }
            check_involution(&addressing, value, rng.random_range(0..=last));
        }
    }
}

/// Checks that the pairs of random hashes are in the table, hold a fingerprint of the layout, and
/// that each bucket is the alternate bucket of the other one.
fn check_pairs(slots: Slots) {
    let mut rng = rng(3);
    for buckets in [1, 2, 3, 7, 8].into_iter().chain(LARGE) {
        let addressing = Addressing::new(buckets, &slots);
        let edges = [0, 1, u64::MAX, 1 << 63, u64::from(u32::MAX)];
        let random = [(); 500].map(|()| rng.random());
        for mixed in edges.into_iter().chain(random) {
            let Pair { fingerprint, value, buckets: [first, second] } = addressing.pair(mixed);
            assert_eq!(value, 0);
            let max = u32::MAX >> (32 - slots.key_bits());
            assert!((slots.min_key()..=max).contains(&fingerprint.get()));
            assert!([first, second].iter().all(|&bucket| u64::from(bucket) < buckets));
            assert_eq!(addressing.alt_bucket(fingerprint, first), second);
            assert_eq!(addressing.alt_bucket(fingerprint, second), first);
        }
    }
}

#[test]
fn pairs_are_in_the_table() {
    for layout in Layout::ALL {
        check_pairs(layout.slots());
    }
    check_pairs(Slots::plain(2, 2, 1));
    check_pairs(Slots::plain(4, 16, 4));
    check_pairs(Slots::plain(2, 31, 0));
    check_pairs(Slots::plain(2, 32, 0));
}

#[test]
#[should_panic(expected = "1 to 2^32 - 1 buckets")]
fn no_bucket_is_too_few() {
    let _ = Addressing::new(0, &PLAIN);
}

#[test]
#[should_panic(expected = "1 to 2^32 - 1 buckets")]
fn more_than_2_to_the_32_buckets_are_too_many() {
    let _ = Addressing::new(MAX_BUCKETS + 1, &PLAIN);
}

/// Checks counts whose expectations are equal: chi-square within six standard deviations of its
/// mean.
fn check_even(what: &str, counts: &[u32]) {
    let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    let square = |&count: &u32| (f64::from(count) - expected).powi(2) / expected;
    let chi_square: f64 = counts.iter().map(square).sum();
    let freedom = counts.len() as f64 - 1.0;
    let max = freedom + 6.0 * (2.0 * freedom).sqrt();
    assert!(
        chi_square < max,
        "{what}: chi-square {chi_square:.0}, {freedom:.0} degrees of freedom"
    );
}

#[test]
fn every_part_of_a_pair_is_even() {
    let mut rng = rng(4);
    let addressing = Addressing::new(1_000, &Slots::plain(8, 8, 0));
    let mut fingerprints = vec![0; 255];
    let mut buckets = [vec![0; 1_000], vec![0; 1_000]];
    let mut joint = vec![0; 256];
    for _ in 0..scaled(200_000, 2_000_000) {
        let pair = addressing.pair(rng.random());
        let value = pair.fingerprint.get() as usize - 1;
        fingerprints[value] += 1;
        buckets[0][pair.buckets[0] as usize] += 1;
        // Even as well, because it is the image of the first bucket under one of 255 bijections.
        buckets[1][pair.buckets[1] as usize] += 1;
        joint[value * 16 / 255 * 16 + pair.buckets[0] as usize * 16 / 1_000] += 1;
    }
    check_even("fingerprints", &fingerprints);
    check_even("first buckets", &buckets[0]);
    check_even("second buckets", &buckets[1]);
    // A row has 15 or 16 of the 255 fingerprints, so rows differ, but cells of one row do not.
    joint.chunks(16).for_each(|row| check_even("first buckets of some fingerprints", row));
}

/// The second bucket does not depend on the first one: the distances between the two are even.
#[test]
fn distances_are_even() {
    let mut rng = rng(5);
    for buckets in [64_u32, 100] {
        let addressing = Addressing::new(buckets.into(), &PLAIN);
        let mut distances = vec![0; buckets as usize];
        for _ in 0..scaled(100_000, 1_000_000) {
            let [first, second] = addressing.pair(rng.random()).buckets;
            distances[((first + buckets - second) % buckets) as usize] += 1;
        }
        // About one item in `buckets` has a single bucket. If the number of buckets is even, the
        // parity of `t` decides whether an item can have distance 0, so halves are compared.
        let single = f64::from(distances[0]) / f64::from(distances.iter().sum::<u32>());
        let share = single * f64::from(buckets);
        assert!((0.5..1.5).contains(&share), "{single} of the items have one of {buckets} buckets");
        let halves: Vec<u32> = distances.chunks(2).map(|pair| pair.iter().sum()).collect();
        check_even("distances", &halves);
    }
}

/// Two relocations lead from one bucket to nearly as many buckets as there are pairs of
/// fingerprints. If `t` were linear in the fingerprint, they would lead to about 500.
#[test]
fn two_relocations_reach_many_buckets() {
    let addressing = Addressing::new(1 << 20, &PLAIN);
    let next = |value, bucket| addressing.alt_bucket(Fingerprint::new(value), bucket);
    let reached: HashSet<u32> = (1..=255)
        .flat_map(|first| (1..=255).map(move |second| (first, second)))
        .map(|(first, second)| next(second, next(first, 12_345)))
        .collect();
    assert!(reached.len() > 50_000, "two relocations reach only {} buckets", reached.len());
}
