//! Nothing is lost by either rule, and the simulated library fills as the library does.

use guira::{CuckooFilter, InsertError, Layout};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::{
    Library, Papers, Placement, Rule, Shape, Zero, false_positives, load_at_first_refusal,
};

const RULES: [Rule; 3] =
    [Rule::Papers(Zero::BecomesOne), Rule::Papers(Zero::IsLeftOut), Rule::Library];

/// The fingerprint of a hash, as the rules say it.
fn fingerprint(rule: Rule, bits: u32, hash: u64) -> u32 {
    let low = u64::from(hash as u32);
    match rule {
        Rule::Papers(Zero::BecomesOne) => ((low << bits >> 32) as u32).max(1),
        _ => 1 + ((low * ((1 << bits) - 1)) >> 32) as u32,
    }
}

#[test]
fn what_was_put_in_is_there_but_for_what_is_left_over() {
    for (buckets, slots, bits) in [(1, 4, 8), (2, 1, 3), (64, 1, 12), (256, 4, 6), (32, 8, 20)] {
        for rule in RULES {
            let shape = Shape { buckets, slots, bits };
            let mut rng = SmallRng::seed_from_u64(bits.into());
            with_placement!(rule, shape, 7, placement => {
                let (mut expected, mut left_over) = (Vec::new(), Vec::new());
                for _ in 0..shape.room() + 3 {
                    let hash = rng.next_u64();
                    expected.push(fingerprint(rule, bits, hash));
                    match placement.insert(hash) {
                        None => assert!(placement.contains(hash), "{rule:?} {shape:?}"),
                        Some(fingerprint) => left_over.push(fingerprint),
                    }
                }
                assert!(left_over.len() >= 3, "more than there is room for");
                let mut stored = placement.fingerprints();
                stored.extend(left_over);
                stored.sort_unstable();
                expected.sort_unstable();
                assert_eq!(stored, expected, "{rule:?} {shape:?}");
            });
        }
    }
}

#[test]
fn present_items_stay_present_while_others_move() {
    for rule in RULES {
        let shape = Shape { buckets: 512, slots: 4, bits: 12 };
        let mut rng = SmallRng::seed_from_u64(3);
        with_placement!(rule, shape, 7, placement => {
            let hashes: Vec<u64> = (0..shape.room() * 9 / 10).map(|_| rng.next_u64()).collect();
            for &hash in &hashes {
                assert_eq!(placement.insert(hash), None);
            }
            assert!(hashes.iter().all(|&hash| placement.contains(hash)), "{rule:?}");
        });
    }
}

#[test]
fn rates_are_those_of_the_formula() {
    for rule in RULES {
        for (slots, bits) in [(2, 7), (4, 8), (8, 9)] {
            let shape = Shape { buckets: 1 << 12, slots, bits };
            let (load, rate) = false_positives(rule, shape, 0.8, 400_000, 5);
            assert!((load - 0.8).abs() < 0.001);
            let compared = 2.0 * slots as f64 * load;
            let expected = 1.0 - (1.0 - 1.0 / f64::from((1 << bits) - 1)).powf(compared);
            assert!((rate / expected - 1.0).abs() < 0.08, "{rule:?} {rate} not {expected}");
        }
    }
}

/// The load at which the library itself first refuses an item.
fn library_itself(layout: Layout, capacity: usize, seed: u64) -> (f64, usize) {
    let filter =
        CuckooFilter::builder().capacity(capacity).layout(layout).seed(seed).build().unwrap();
    let mut rng = SmallRng::seed_from_u64(!seed);
    while filter.insert_hash(rng.next_u64()) != Err(InsertError::Full) {}
    (filter.load_factor(), filter.slots())
}

#[test]
fn the_simulated_library_fills_as_the_library_does() {
    const RUNS: u64 = 12;
    for layout in [Layout::Plain4x16, Layout::Plain5x12] {
        let mean = |load: &dyn Fn(u64) -> f64| (0..RUNS).map(load).sum::<f64>() / RUNS as f64;
        let (_, slots) = library_itself(layout, 60_000, 0);
        let shape = Shape {
            buckets: slots as u32 / layout.lanes(),
            slots: layout.lanes() as usize,
            bits: layout.bits(),
        };
        let library = mean(&|seed| library_itself(layout, 60_000, seed).0);
        let simulated = mean(&|seed| load_at_first_refusal(Rule::Library, shape, seed));
        assert!((library - simulated).abs() < 0.002, "{layout:?}: {library}, {simulated}");
    }
}
