//! Addressing: the pairs that hashes lead to, and how well keys of every shape spread over them.

mod common;

use common::{core, for_every_layout, rng, scaled};
use guira::raw::{Fingerprint, Addressing, MAX_BUCKETS, Plain, BucketLayout};
use rand::RngExt;
use std::collections::HashSet;

/// Table sizes too large for trying every bucket.
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

/// Checks that two steps from a bucket lead back, without leaving the table.
fn check_other(geometry: &Addressing, value: u32, bucket: u32) {
    let fingerprint = Fingerprint::new(value);
    let other = geometry.alt_bucket(fingerprint, bucket);
    let buckets = geometry.buckets();
    assert!(u64::from(other) < buckets, "{value} of {bucket} in {buckets}: {other}");
    let back = geometry.alt_bucket(fingerprint, other);
    assert_eq!(back, bucket, "{value} in {buckets} buckets: {bucket} -> {other} -> {back}");
}

#[test]
fn other_is_an_involution_in_small_tables() {
    let mut rng = rng(1);
    for buckets in 1..=200 {
        let geometry = Addressing::new(buckets);
        for bucket in 0..buckets as u32 {
            let random = [(); 8].map(|()| rng.random_range(1..=u32::MAX >> 1));
            for value in (1..=16).chain([254, 255, 1023, 4095, 65_535]).chain(random) {
                check_other(&geometry, value, bucket);
            }
        }
    }
}

#[test]
fn other_is_an_involution_in_large_tables() {
    let mut rng = rng(2);
    for buckets in LARGE {
        let geometry = Addressing::new(buckets);
        let last = (buckets - 1) as u32;
        for value in (1..=300).chain([4095, 65_535, u32::MAX >> 1]) {
            for bucket in [0, 1, last / 2, last / 2 + 1, last - 1, last] {
                check_other(&geometry, value, bucket);
            }
            check_other(&geometry, value, rng.random_range(0..=last));
        }
    }
}

/// Pairs of random hashes lie in the table, hold a fingerprint, and know each other.
fn check_pairs<L: BucketLayout>() {
    let mut rng = rng(3);
    for buckets in [1, 2, 3, 7, 8].into_iter().chain(LARGE) {
        let geometry = Addressing::new(buckets);
        let edges = [0, 1, u64::MAX, 1 << 63, u64::from(u32::MAX)];
        let random = [(); 500].map(|()| rng.random());
        for hash in edges.into_iter().chain(random) {
            let pair = geometry.pair::<L>(hash);
            assert!((L::MIN_FINGERPRINT..=L::MAX_FINGERPRINT).contains(&pair.fingerprint.get()));
            assert!(pair.buckets.iter().all(|&bucket| u64::from(bucket) < buckets));
            assert_eq!(geometry.alt_bucket(pair.fingerprint, pair.buckets[0]), pair.buckets[1]);
            assert_eq!(geometry.alt_bucket(pair.fingerprint, pair.buckets[1]), pair.buckets[0]);
        }
    }
}

#[test]
fn pairs_lie_in_the_table() {
    for_every_layout!(check_pairs());
    check_pairs::<Plain<1, 1>>();
    check_pairs::<Plain<2, 31>>();
}

#[test]
#[should_panic(expected = "1 to 2^32 buckets")]
fn no_bucket_is_too_few() {
    let _ = Addressing::new(0);
}

#[test]
#[should_panic(expected = "1 to 2^32 buckets")]
fn more_than_2_to_the_32_buckets_are_too_many() {
    let _ = Addressing::new(MAX_BUCKETS + 1);
}

/// Checks counts that ought to be equal: chi-square within six standard deviations of its mean.
fn check_even(what: &str, counts: &[u32]) {
    let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    let square = |&count: &u32| (f64::from(count) - expected).powi(2) / expected;
    let chi: f64 = counts.iter().map(square).sum();
    let freedom = counts.len() as f64 - 1.0;
    assert!(chi < freedom + 6.0 * (2.0 * freedom).sqrt(), "{what}: {chi:.0} of {freedom:.0}");
}

#[test]
fn every_part_of_a_pair_is_even() {
    let mut rng = rng(4);
    let geometry = Addressing::new(1_000));
    let mut fingerprints = vec![0; 255];
    let mut buckets = [vec![0; 1_000], vec![0; 1_000]];
    let mut joint = vec![0; 256];
    for _ in 0..scaled(200_000, 2_000_000) {
        let pair = geometry.pair::<Plain<8, 8>>(rng.random());
        let value = pair.fingerprint.get() as usize - 1;
        fingerprints[value] += 1;
        buckets[0][pair.buckets[0] as usize] += 1;
        joint[value * 16 / 255 * 16 + pair.buckets[0] as usize * 16 / 1_000] += 1;
        // The second bucket is the first one's image under 255 reflections, each onto.
        buckets[1][pair.buckets[1] as usize] += 1;
    }
    check_even("fingerprints", &fingerprints);
    check_even("first buckets", &buckets[0]);
    check_even("second buckets", &buckets[1]);
    // Its cells differ by a fingerprint in sixteen at most; they are compared in rows and columns.
    let rows = joint.chunks(16);
    rows.for_each(|row| check_even("buckets of some fingerprints", row));
}

/// The second bucket says nothing about the first: the distances between the two are even.
#[test]
fn distances_are_even() {
    let mut rng = rng(5);
    for buckets in [64_u32, 100] {
        let geometry = Addressing::new(buckets.into()));
        let mut distances = vec![0; buckets as usize];
        for _ in 0..scaled(100_000, 1_000_000) {
            let [a, b] = geometry.pair::<Plain<4, 16>>(rng.random()).buckets;
            distances[((a + buckets - b) % buckets) as usize] += 1;
        }
        // About one item in `buckets` has one bucket only; with an even modulus some have twice
        // as many chances as others, by the parity of `t`.
        let alone = f64::from(distances[0]) / f64::from(distances.iter().sum::<u32>());
        assert!((0.5..1.5).contains(&(alone * f64::from(buckets))), "{alone} alone of {buckets}");
        let halves: Vec<u32> = distances.chunks(2).map(|pair| pair.iter().sum()).collect();
        check_even("distances", &halves);
    }
}

/// Two relocations lead from one bucket to nearly as many as there are pairs of fingerprints. Where
/// the reflections are multiples of one another, it would be to about 500.
#[test]
fn two_relocations_reach_far() {
    let geometry = Addressing::new(1 << 20);
    let other = |value, bucket| geometry.alt_bucket(Fingerprint::new(value), bucket);
    let reached: HashSet<u32> = (1..=255)
        .flat_map(|first| (1..=255).map(move |second| (first, second)))
        .map(|(first, second)| other(second, other(first, 12_345)))
        .collect();
    assert!(reached.len() > 55_000, "only {} buckets in two steps", reached.len());
}

/// A way of making keys: its name, and the key of each number.
type Shape = (String, Box<dyn Fn(u64) -> u64>);

/// Keys as they come in practice, before any hash.
fn shapes() -> Vec<Shape> {
    let mut shapes: Vec<Shape> = vec![
        ("sequential".into(), Box::new(|i| i)),
        ("sequential from a high start".into(), Box::new(|i| 0x7fff_1234_5678_9abc + i)),
        ("downward".into(), Box::new(|i| u64::MAX - i)),
        ("bits reversed".into(), Box::new(u64::reverse_bits)),
        ("high half twice".into(), Box::new(|i| i << 32 | i)),
        ("squares".into(), Box::new(|i| i * i)),
        ("decimal steps".into(), Box::new(|i| i * 1_000_000)),
        ("floating point".into(), Box::new(|i| (i as f64).to_bits())),
        ("two coordinates".into(), Box::new(|i| (i & 0x1ff) << 32 | i >> 9)),
        ("multiples of the golden ratio".into(), {
            Box::new(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        }),
    ];
    for shift in (1..=44).step_by(scaled(4, 1)).chain([32, 40, 44]) {
        shapes.push((format!("multiples of 2^{shift}"), Box::new(move |i| i << shift)));
    }
    shapes
}

/// What becomes of a table: items in it when the first did not fit, and false positives beyond.
fn outcome<L: BucketLayout>(seed: u64, queries: u64, key: &dyn Fn(u64) -> u64) -> (f64, f64) {
    const BUCKETS: u64 = 3_000;
    let core = table(BUCKETS, rng(seed).random());
    let pair = |number| core.addressing().pair::<L>(key(number));
    let slots = BUCKETS * u64::from(L::SLOTS);
    let full = (0..slots).find(|&number| core.insert::<L>(pair(number)).is_err()).unwrap_or(slots);
    let positives = (slots..slots + queries).filter(|&n| core.contains::<L>(pair(n))).count();
    // As if the table were full, so that a low load does not hide a high rate.
    let share = full as f64 / slots as f64;
    (share, positives as f64 / queries as f64 / share)
}

/// Raw keys of every shape fill a table as far as random ones, and their neighbours are mistaken
/// for them no more often.
fn check_shapes<L: BucketLayout>(queries: u64) {
    let values = f64::from(L::FINGERPRINTS);
    let expected = 1.0 - (1.0 - 1.0 / values).powf(f64::from(2 * L::SLOTS));
    let tables = scaled(2, 6);
    // Six standard deviations of the number of false positives, and 5 % for the tables' own.
    let noise = 6.0 / (expected * (tables * queries) as f64).sqrt() + 0.05;
    let mut random = rng(6);
    let random_keys: Vec<u64> =
        (0..3_000 * u64::from(L::SLOTS) + queries).map(|_| random.random()).collect();
    let mut worse = Vec::new();
    let random_shape: Shape = ("random".into(), Box::new(move |i| random_keys[i as usize]));
    for (name, key) in std::iter::once(random_shape).chain(shapes()) {
        let outcomes = (0..tables).map(|seed| outcome::<L>(seed, queries, &key));
        let (loads, rates): (Vec<f64>, Vec<f64>) = outcomes.unzip();
        let load = loads.iter().sum::<f64>() / tables as f64;
        let rate = rates.iter().sum::<f64>() / tables as f64;
        // 95 % is what the sparsest layout surely reaches with random keys in 3 000 buckets.
        if load < 0.95 || rate > expected * (1.0 + noise) {
            worse.push(format!("{name}: load {load:.3}, rate {rate:.6} of {expected:.6}"));
        }
    }
    assert!(worse.is_empty(), "{}x{}:\n{}", L::SLOTS, L::BITS, worse.join("\n"));
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
