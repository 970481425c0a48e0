//! Refusals: what they change (nothing), when they come, and how a batch reports them.

use std::hash::BuildHasher;

use guira::{InsertError, Layout};
use rand::RngExt;

use super::SIZES;
use crate::common::{
    Subject, build,
    kind::{Kind, Maker, Of},
    positions, rng,
};

/// Keys of which as many copies are inserted as fit.
const HOT: [u64; 4] = [1, 2, 3, 4];

/// Fills a filter with random keys, until it is full or has grown, and with copies of hot keys.
/// Returns the keys that were accepted.
fn overfill<K: Kind, S: BuildHasher>(filter: &Of<K, S>, seed: u64) -> Vec<u64> {
    let mut rng = rng(seed);
    let attempts = 3 * filter.slots() + 50;
    let keys = (0..attempts).map(|attempt| match HOT.get(attempt % 8) {
        Some(&hot) => hot,
        None => rng.random(),
    });
    // At the end the copies have reached their limit at the last size as well.
    let keys: Vec<u64> = keys.chain(HOT.repeat(40)).collect();
    keys.into_iter().filter(|key| K::add(filter, *key).is_ok()).collect()
}

/// `Full` and `TooManyCopies` change nothing: every item keeps its copies, and each of them can be
/// removed.
pub fn refusals_change_nothing<K: Kind, S: BuildHasher>(make: Maker<K, S>) {
    for layout in K::layouts() {
        for buckets in SIZES {
            let filter = build::<K, S>(make, buckets, layout, 12);
            let mut accepted = overfill::<K, S>(&filter, 12);
            let counts = |accepted: &[u64]| -> Vec<usize> {
                accepted.iter().map(|key| filter.count(key)).collect()
            };
            let mut before = counts(&accepted);
            let mut refusals = 0;
            let mut rng = rng(13);
            for key in HOT.into_iter().chain((0..30).map(|_| rng.random())) {
                // Another copy may still fit here or there.
                if K::add(&filter, key).is_ok() {
                    accepted.push(key);
                    before = counts(&accepted);
                } else {
                    refusals += 1;
                    assert_eq!(counts(&accepted), before, "{layout:?}, {buckets} buckets");
                }
            }
            assert!(refusals >= HOT.len(), "{layout:?}: nothing was refused");
            assert_eq!(filter.len(), accepted.len());
            assert!(accepted.iter().all(|key| K::take(&filter, *key)), "{layout:?}, {buckets}");
            assert!(filter.is_empty());
        }
    }
}

/// One item is inserted until its copies reach the limit of the engine. `insert_unique` finds it
/// throughout.
pub fn copies_are_limited<K: Kind, S: BuildHasher>(make: Maker<K, S>) {
    for layout in K::layouts() {
        for buckets in SIZES {
            let filter = build::<K, S>(make, buckets, layout, 13);
            let (key, slots) = (0x0123_4567_89ab_cdef_u64, filter.slots());
            let mut copies = 0;
            while K::add(&filter, key).is_ok() {
                copies += 1;
            }
            assert!(
                K::Growth::copy_limits_alone(layout).contains(&copies),
                "{copies} copies of {layout:?}"
            );
            assert_eq!(filter.slots(), slots, "copies made the filter grow");
            assert_eq!(K::add(&filter, key), Err(InsertError::TooManyCopies));
            assert_eq!(K::add_unique(&filter, key), Ok(false));
            assert_eq!((filter.count(&key), filter.len()), (copies, copies));

            let error = K::add_batch(&filter, &[key; 50]).expect_err("too many copies");
            assert!(error.failures().eq((0..50).map(|at| (at, InsertError::TooManyCopies))));
            (0..copies).for_each(|_| assert!(K::take(&filter, key)));
            assert!(!K::take(&filter, key) && filter.is_empty());

            let error = K::add_batch(&filter, &[key; 50]).expect_err("too many copies");
            assert_eq!((error.added(), error.failures().len()), (copies, 50 - copies));
            assert_eq!(filter.count(&key), copies);
            assert_eq!(K::take_batch(&filter, &[key; 50]), copies);
        }
    }
}

/// The positions that a batch error lists are those of the items that were not added.
pub fn batch_errors_list_positions<K: Kind, S: BuildHasher>(make: Maker<K, S>) {
    for (layout, unique) in
        K::layouts().into_iter().flat_map(|layout| [(layout, false), (layout, true)])
    {
        let filter = build::<K, S>(make, 30, layout, 14);
        let distinct = build::<K, S>(make, 120, layout, 14);
        let mut rng = rng(14);
        // Most of them are no aliases. Every eighth one is a copy of the same key.
        let mut keys: Vec<u64> = (0..20 * filter.slots())
            .map(|_| rng.random())
            .filter(|key| K::add_unique(&distinct, *key) == Ok(true))
            .take(3 * filter.slots() / 2)
            .collect();
        let copied = keys[0];
        keys.resize(keys.len().max(200), copied);
        keys.iter_mut().step_by(8).for_each(|key| *key = copied);
        let mut added = vec![false; keys.len()];
        let outcome = if unique {
            // Maps have no such method.
            let Some(outcome) = K::insert_unique_batch(&filter, &keys, &mut added) else {
                continue;
            };
            outcome.map(drop)
        } else {
            K::add_batch(&filter, &keys)
        };
        assert!(unique || outcome.is_err(), "{layout:?}: all copies fit");
        let rejected = outcome.as_ref().map_or_else(positions, |()| vec![]);
        let mut accepted = Vec::new();
        for (position, key) in keys.iter().enumerate() {
            if !rejected.contains(&position) && (!unique || added[position]) {
                accepted.push(*key);
                assert!(filter.contains(key), "{layout:?}: position {position} is missing");
            }
        }
        assert_eq!(filter.len(), accepted.len(), "{layout:?}");
        // Each removal takes a copy of its own, and nothing is left.
        assert!(accepted.iter().all(|key| K::take(&filter, *key)), "{layout:?}: a wrong position");
        assert!(filter.is_empty());
    }
}
