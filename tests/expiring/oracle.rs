//! Random operations, compared with a multiset of keys and generations.

use guira::Insertion;
use guira::{ExpiringFilter, InsertBatchError, InsertError};
use rand::{RngExt, rngs::SmallRng, seq::IndexedRandom};

use super::{
    WINDOWS, builder,
    common::{rng, scaled},
    keys, layouts,
    multiset::Multiset,
    occupied,
};

/// A filter, what it should hold, and how often an insert was refused.
struct Pair {
    filter: ExpiringFilter,
    model: Multiset,
    refused: usize,
}

impl Pair {
    /// One operation.
    fn step(&mut self, keys: &[u64], rng: &mut SmallRng) {
        let Self { filter, model, refused } = self;
        let key = *keys.choose(rng).expect("some keys");
        let generation = model.now - rng.random_range(0..=model.window + 2).min(model.now);
        match rng.random_range(0..100) {
            0..25 => match filter.insert(&key) {
                Ok(generation) => {
                    assert_eq!(generation, model.now);
                    model.items.push((key, generation));
                }
                Err(error) => *refused += usize::from(error == InsertError::Full),
            },
            25..35 => {
                let life = rng.random_range(1..=model.window);
                if let Ok(generation) = filter.insert_for(&key, life as u32) {
                    assert_eq!(generation, model.now - (model.window - life));
                    model.items.push((key, generation));
                }
            }
            35..50 => match filter.insert_unique(&key) {
                Ok(Insertion::Found(())) => assert!(model.contains(key)),
                Ok(Insertion::New(generation)) => {
                    assert!(!model.contains(key) && generation == model.now);
                    model.items.push((key, generation));
                }
                Err(error) => assert!(!model.contains(key) && error == InsertError::Full),
            },
            50..55 => assert_eq!(filter.refresh(&key), model.refresh(key)),
            55..60 => {
                // Some of them twice.
                let count = rng.random_range(0..20);
                let some: Vec<u64> = (0..count).filter_map(|_| keys.choose(rng).copied()).collect();
                let mask = filter.refresh_mask(&some);
                for (place, &key) in some.iter().enumerate() {
                    assert_eq!(mask >> place & 1 == 1, model.refresh(key));
                }
                assert_eq!(mask >> some.len(), 0);
            }
            60..75 => {
                assert_eq!(filter.remove(&key, generation), model.remove((key, generation)));
            }
            75..80 => {
                let count = rng.random_range(0..20);
                let some: Vec<u64> = keys.sample(rng, count).copied().collect();
                let error = filter.insert_batch(&some).err();
                let rejected = error.iter().flat_map(InsertBatchError::failures);
                let rejected: Vec<usize> = rejected.map(|(position, _)| position).collect();
                let fitted = (0..some.len()).filter(|place| !rejected.contains(place));
                model.items.extend(fitted.map(|place| (some[place], model.now)));
            }
            80..85 => {
                let count = rng.random_range(0..20);
                let some: Vec<u64> = keys.sample(rng, count).copied().collect();
                let outcome = filter.insert_unique_mask(&some);
                for (place, &key) in some.iter().enumerate() {
                    let [added, refused] = [outcome.added, outcome.refused].map(|m| m >> place & 1);
                    assert_eq!(added + refused == 0, model.contains(key));
                    if added > 0 {
                        model.items.push((key, model.now));
                    }
                }
            }
            85..94 => {
                model.advance();
                assert_eq!(filter.advance(), model.now);
            }
            94..98 => {
                let left = filter.sweep(rng.random_range(0..100));
                assert!(left > 0 || occupied(filter) == model.items.len() as u64);
            }
            98 => *filter = filter.clone(),
            _ if rng.random_ratio(1, 20) => {
                filter.clear();
                model.items.clear();
            }
            #[cfg(feature = "std")]
            _ => *filter = ExpiringFilter::loader().bytes(&filter.to_bytes()).expect("a snapshot"),
            #[cfg(not(feature = "std"))]
            _ => {}
        }
    }

    /// Compares all answers.
    fn compare(&self, keys: &[u64]) {
        let Self { filter, model, .. } = self;
        assert_eq!((filter.generation(), filter.len()), (model.now, model.items.len()));
        let mut found = vec![false; keys.len()];
        let expected: Vec<bool> = keys.iter().map(|&key| model.contains(key)).collect();
        let count = filter.contains_batch(keys, &mut found);
        assert_eq!((&found, count), (&expected, expected.iter().filter(|&&found| found).count()));
        for (&key, expected) in keys.iter().zip(expected) {
            assert_eq!(filter.contains(&key), expected);
            assert_eq!(filter.contains_mask(&[key]), u64::from(expected));
            assert_eq!(filter.count(&key), model.generations(key).len());
        }
    }
}

#[test]
fn random_operations_have_the_outcomes_of_a_multiset_of_generations() {
    let mut refused = 0;
    for window in WINDOWS {
        for layout in layouts(window) {
            for capacity in [1, 30, 200] {
                let builder = builder(capacity, window).layout(layout);
                let keys = keys(builder.clone(), capacity.min(40));
                let filter = builder.build().expect("a small filter");
                let window = window.into();
                let model = Multiset { window, now: filter.generation(), items: Vec::new() };
                let mut pair = Pair { filter, model, refused: 0 };
                let mut rng = rng(window);
                for step in 0..scaled(400, 10_000) {
                    pair.step(&keys, &mut rng);
                    if step % 10 == 0 {
                        pair.compare(&keys);
                    }
                }
                refused += pair.refused;
                // What has expired has left no slot behind.
                for _ in 0..window + 2 {
                    pair.model.advance();
                    pair.filter.advance();
                }
                pair.compare(&keys);
                assert_eq!(occupied(&pair.filter), 0);
            }
        }
    }
    assert!(refused > 100, "{refused} refused");
}
