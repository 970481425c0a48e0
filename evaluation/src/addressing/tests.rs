//! Checks that no scheme loses items, and that the simulated library fills as the library does.

use guira::{CuckooFilter, Hashed, InsertError, Layout};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::{
    Guira, Papers, Scheme, Shape, Simulation, Zero, false_positives, load_at_first_refusal,
};

/// All schemes.
const ALL: [Scheme; 4] = [Scheme::PAPER, Scheme::UNIFORM, Scheme::Unhashed, Scheme::Guira];

/// The fingerprint of a hash by a scheme's definition.
fn fingerprint(scheme: Scheme, bits: u32, hash: u64) -> u32 {
    let low = u64::from(hash as u32);
    match scheme {
        Scheme::PAPER | Scheme::Unhashed => ((low << bits >> 32) as u32).max(1),
        _ => 1 + ((low * ((1 << bits) - 1)) >> 32) as u32,
    }
}

#[test]
fn a_table_holds_all_items_except_those_left_over() {
    for (buckets, slots, bits) in [(1, 4, 8), (2, 1, 3), (64, 1, 12), (256, 4, 6), (32, 8, 20)] {
        for scheme in ALL {
            let shape = Shape { buckets, slots, bits };
            let mut rng = SmallRng::seed_from_u64(bits.into());
            with_simulation!(scheme, shape, 7, simulation => {
                let (mut expected, mut left_over) = (Vec::new(), Vec::new());
                for _ in 0..shape.total_slots() + 3 {
                    let hash = rng.next_u64();
                    expected.push(fingerprint(scheme, bits, hash));
                    match simulation.insert(hash) {
                        None => assert!(simulation.contains(hash), "{scheme:?} {shape:?}"),
                        Some(fingerprint) => left_over.push(fingerprint),
                    }
                }
                assert!(left_over.len() >= 3, "more items than slots");
                let mut stored = simulation.fingerprints();
                stored.extend(left_over);
                stored.sort_unstable();
                expected.sort_unstable();
                assert_eq!(stored, expected, "{scheme:?} {shape:?}");
            });
        }
    }
}

#[test]
fn items_stay_present_while_others_are_relocated() {
    for scheme in ALL {
        let shape = Shape { buckets: 512, slots: 4, bits: 12 };
        let mut rng = SmallRng::seed_from_u64(3);
        with_simulation!(scheme, shape, 7, simulation => {
            let count = shape.total_slots() * 9 / 10;
            let hashes: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
            for &hash in &hashes {
                assert_eq!(simulation.insert(hash), None);
            }
            assert!(hashes.iter().all(|&hash| simulation.contains(hash)), "{scheme:?}");
        });
    }
}

#[test]
fn false_positive_rates_match_the_formula() {
    // Without hashing, tables do not reach this load.
    for scheme in Scheme::ALL {
        for (slots, bits) in [(2, 7), (4, 8), (8, 9)] {
            let shape = Shape { buckets: 1 << 12, slots, bits };
            let (load, rate) = false_positives(scheme, shape, 0.8, 400_000, 5);
            assert!((load - 0.8).abs() < 0.001);
            let compared = 2.0 * slots as f64 * load;
            let expected = 1.0 - (1.0 - 1.0 / f64::from((1 << bits) - 1)).powf(compared);
            assert!((rate / expected - 1.0).abs() < 0.08, "{scheme:?} {rate} not {expected}");
        }
    }
}

/// Fills a filter of the library, and returns its load at the first refusal and its slots.
fn fill_library(layout: Layout, capacity: usize, seed: u64) -> (f64, usize) {
    let filter =
        CuckooFilter::builder().capacity(capacity).layout(layout).seed(seed).build().unwrap();
    let mut rng = SmallRng::seed_from_u64(!seed);
    while filter.insert(&Hashed(rng.next_u64())) != Err(InsertError::Full) {}
    (filter.load_factor(), filter.slots())
}

#[test]
fn the_simulated_library_fills_as_the_library_does() {
    const RUNS: u64 = 12;
    for layout in [Layout::Plain4x16, Layout::Plain5x12] {
        let mean = |load: &dyn Fn(u64) -> f64| (0..RUNS).map(load).sum::<f64>() / RUNS as f64;
        let (_, slots) = fill_library(layout, 60_000, 0);
        let shape = Shape {
            buckets: slots as u32 / layout.slots_per_bucket(),
            slots: layout.slots_per_bucket() as usize,
            bits: layout.fingerprint_bits(),
        };
        let library = mean(&|seed| fill_library(layout, 60_000, seed).0);
        let simulated = mean(&|seed| load_at_first_refusal(Scheme::Guira, shape, seed));
        assert!((library - simulated).abs() < 0.002, "{layout:?}: {library}, {simulated}");
    }
}
