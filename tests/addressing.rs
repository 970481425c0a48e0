//! Addressing: the formulas that lead from hashes to pairs, and how evenly keys of every shape
//! spread.

mod common;

use std::collections::HashSet;

use common::{for_every_layout, rng, scaled};
use guira::raw::{
    Addressing, Bare, BucketLayout, Fingerprint, FixedTable, MAX_BUCKETS, Pair, Payload, Plain, mix,
};
use rand::RngExt;

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
fn check_involution(addressing: &Addressing<impl Payload>, value: u32, bucket: u32) {
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
        let addressing = Addressing::new(buckets, Bare);
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
        let addressing = Addressing::new(buckets, Bare);
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
fn check_pairs<L: BucketLayout>() {
    let mut rng = rng(3);
    for buckets in [1, 2, 3, 7, 8].into_iter().chain(LARGE) {
        let addressing = Addressing::new(buckets, Bare);
        let edges = [0, 1, u64::MAX, 1 << 63, u64::from(u32::MAX)];
        let random = [(); 500].map(|()| rng.random());
        for mixed in edges.into_iter().chain(random) {
            let Pair { fingerprint, buckets: [first, second] } = addressing.pair::<L>(mixed);
            assert!((L::MIN_FINGERPRINT..=L::MAX_FINGERPRINT).contains(&fingerprint.get()));
            assert!([first, second].iter().all(|&bucket| u64::from(bucket) < buckets));
            assert_eq!(addressing.alt_bucket(fingerprint, first), second);
            assert_eq!(addressing.alt_bucket(fingerprint, second), first);
        }
    }
}

#[test]
fn pairs_are_in_the_table() {
    for_every_layout!(check_pairs());
    check_pairs::<Plain<1, 1>>();
    check_pairs::<Plain<2, 31>>();
}

#[test]
#[should_panic(expected = "1 to 2^32 buckets")]
fn no_bucket_is_too_few() {
    let _ = Addressing::new(0, Bare);
}

#[test]
#[should_panic(expected = "1 to 2^32 buckets")]
fn more_than_2_to_the_32_buckets_are_too_many() {
    let _ = Addressing::new(MAX_BUCKETS + 1, Bare);
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
    let addressing = Addressing::new(1_000, Bare);
    let mut fingerprints = vec![0; 255];
    let mut buckets = [vec![0; 1_000], vec![0; 1_000]];
    let mut joint = vec![0; 256];
    for _ in 0..scaled(200_000, 2_000_000) {
        let pair = addressing.pair::<Plain<8, 8>>(rng.random());
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
        let addressing = Addressing::new(buckets.into(), Bare);
        let mut distances = vec![0; buckets as usize];
        for _ in 0..scaled(100_000, 1_000_000) {
            let [first, second] = addressing.pair::<Plain<4, 16>>(rng.random()).buckets;
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
    let addressing = Addressing::new(1 << 20, Bare);
    let next = |value, bucket| addressing.alt_bucket(Fingerprint::new(value), bucket);
    let reached: HashSet<u32> = (1..=255)
        .flat_map(|first| (1..=255).map(move |second| (first, second)))
        .map(|(first, second)| next(second, next(first, 12_345)))
        .collect();
    assert!(reached.len() > 55_000, "two relocations reach only {} buckets", reached.len());
}

/// A sequence of keys: its name, and the key at each index.
type Shape = (String, Box<dyn Fn(u64) -> u64>);

/// Keys as they occur in practice, before any hashing.
fn shapes() -> Vec<Shape> {
    let mut shapes: Vec<Shape> = vec![
        ("sequential".into(), Box::new(|i| i)),
        ("sequential from a high start".into(), Box::new(|i| 0x7fff_1234_5678_9abc + i)),
        ("downward".into(), Box::new(|i| u64::MAX - i)),
        ("bits reversed".into(), Box::new(u64::reverse_bits)),
        ("equal halves".into(), Box::new(|i| i << 32 | i)),
        ("squares".into(), Box::new(|i| i * i)),
        ("decimal steps".into(), Box::new(|i| i * 1_000_000)),
        ("floating point".into(), Box::new(|i| (i as f64).to_bits())),
        ("two coordinates".into(), Box::new(|i| (i & 0x1ff) << 32 | i >> 9)),
        ("multiples of the golden ratio".into(), {
            Box::new(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        }),
    ];
    for shift in (1..=44).step_by(scaled(4, 2)).chain([32, 40, 44]) {
        shapes.push((format!("multiples of 2^{shift}"), Box::new(move |i| i << shift)));
    }
    shapes
}

/// Fills a table with mixed keys. Returns its load factor when the first one is refused, and the
/// rate of false positives among the keys that follow.
fn outcome<L: BucketLayout>(seed: u64, queries: u64, key: &dyn Fn(u64) -> u64) -> (f64, f64) {
    const BUCKETS: u64 = 3_000;
    let table = FixedTable::new(Addressing::new(BUCKETS, Bare), false).expect("a small table");
    let mixing_seed = rng(seed).random();
    let pair = |index| table.addressing().pair::<L>(mix(key(index), mixing_seed));
    let slots = BUCKETS * u64::from(L::SLOTS);
    let inserted = (0..slots).find(|&i| table.insert::<L>(pair(i)).is_err()).unwrap_or(slots);
    let positives = (slots..slots + queries).filter(|&i| table.contains::<L>(pair(i))).count();
    // As if the table were full, so that a low load does not hide a high rate.
    let load = inserted as f64 / slots as f64;
    (load, positives as f64 / queries as f64 / load)
}

/// Checks that unhashed keys of every shape fill a table as far as random ones do, and that the
/// keys that follow cause no more false positives than expected.
fn check_shapes<L: BucketLayout>(queries: u64) {
    let fingerprints = f64::from(L::FINGERPRINTS);
    let expected = 1.0 - (1.0 - 1.0 / fingerprints).powf(f64::from(2 * L::SLOTS));
    let tables = scaled(2, 4);
    // Six standard deviations of the number of false positives, and 5 % between tables.
    let noise = 6.0 / (expected * (tables * queries) as f64).sqrt() + 0.05;
    let mut random = rng(6);
    let random_keys: Vec<u64> =
        (0..3_000 * u64::from(L::SLOTS) + queries).map(|_| random.random()).collect();
    let mut failures = Vec::new();
    let random_shape: Shape = ("random".into(), Box::new(move |i| random_keys[i as usize]));
    for (name, key) in std::iter::once(random_shape).chain(shapes()) {
        let outcomes = (0..tables).map(|seed| outcome::<L>(seed, queries, &key));
        let (loads, rates): (Vec<f64>, Vec<f64>) = outcomes.unzip();
        let load = loads.iter().sum::<f64>() / tables as f64;
        let rate = rates.iter().sum::<f64>() / tables as f64;
        // Every one of these layouts reaches 95 % with random keys in 3 000 buckets.
        if load < 0.95 || rate > expected * (1.0 + noise) {
            failures.push(format!("{name}: load {load:.3}, rate {rate:.6}, not {expected:.6}"));
        }
    }
    assert!(failures.is_empty(), "{}x{}:\n{}", L::SLOTS, L::BITS, failures.join("\n"));
}

#[test]
fn raw_keys_of_every_shape_spread_in_8x8() {
    check_shapes::<Plain<8, 8>>(20_000);
}

#[test]
fn raw_keys_of_every_shape_spread_in_5x12() {
    check_shapes::<Plain<5, 12>>(50_000);
}

#[test]
fn raw_keys_of_every_shape_spread_in_4x16() {
    check_shapes::<Plain<4, 16>>(scaled(80_000, 200_000));
}
