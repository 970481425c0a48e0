//! `clear` while other threads use the filter.

use std::{
    hash::BuildHasher,
    sync::atomic::{
        AtomicBool, AtomicU64, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
};

use guira::Layout;
use rand::{RngExt, rngs::SmallRng};

use crate::common::{
    build,
    churn::StopOnPanic,
    kind::{Kind, Maker, Of},
    races::Gate,
    rng, scaled,
};

/// Evicts other items: inserts keys of its own, and removes them, until told to stop. Everything
/// that it inserted is removed at the end.
fn evict<K: Kind, S: BuildHasher>(
    filter: &Of<K, S>,
    most: usize,
    stop: &AtomicBool,
    rng: &mut SmallRng,
) {
    let _stop = StopOnPanic(stop);
    let mut own = Vec::new();
    while !stop.load(Acquire) {
        let key: u64 = rng.random();
        if filter.len() < most && K::add(filter, key).is_ok() {
            own.push(key);
        } else if !own.is_empty() {
            let key = own.swap_remove(rng.random_range(0..own.len()));
            assert!(K::take(filter, key), "an own item is missing");
        }
    }
    assert!(own.iter().all(|key| K::take(filter, *key)), "an own item is missing");
}

/// Several threads clear a filter at the same time, while readers look items up and another thread
/// inserts. Items that are inserted after all clears returned are never missed, also beside
/// evictions. The number of items is exact at every quiet moment.
pub fn clear_beside_readers<K: Kind, S>(make: Maker<K, S>, layout: Layout)
where
    S: BuildHasher + Clone + Send + Sync,
{
    let filter = build::<K, S>(make, 64, layout, 41);
    let (slots, rounds) = (filter.slots(), scaled(10, 60));
    let mut seeds = rng(41);
    for round in 0..rounds {
        // Before: anything, inserted beside the clears. Nobody removes it.
        let gate = Gate::new(3);
        let failed = AtomicBool::new(false);
        thread::scope(|scope| {
            for seed in 0..3 {
                let (filter, gate, failed) = (&filter, &gate, &failed);
                scope.spawn(move || {
                    let _stop = StopOnPanic(failed);
                    let mut rng = rng(round * 3 + seed);
                    if !gate.pass(failed) {
                        return;
                    }
                    if seed < 2 {
                        filter.clear();
                    } else {
                        for _ in 0..slots / 2 {
                            let _ = K::add(filter, rng.random::<u64>());
                        }
                    }
                });
            }
        });
        assert_eq!(filter.try_clone().expect("a small filter").len(), filter.len(), "{layout:?}");

        // After a further clear: items that must be found, beside evictions.
        filter.clear();
        assert!(filter.is_empty(), "{layout:?}: {} items after a clear", filter.len());
        let keys: Vec<u64> = (0..slots * 6 / 10).map(|_| seeds.random()).collect();
        let (present, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let accepted: Vec<AtomicU64> = keys.iter().map(|_| AtomicU64::new(0)).collect();
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let _stop = StopOnPanic(&stop);
                let mut passes = 0;
                while passes < 20 && !stop.load(Acquire) {
                    let present = present.load(Acquire);
                    for key in &accepted[..present] {
                        let key = key.load(Relaxed);
                        assert!(filter.contains(&key), "{layout:?}: missed after a clear");
                    }
                    passes += usize::from(present > 0);
                }
            });
            scope.spawn(|| evict::<K, S>(&filter, slots * 9 / 10, &stop, &mut rng(round)));
            for key in &keys {
                if K::add(&filter, *key).is_ok() {
                    let number = present.load(Relaxed);
                    accepted[number].store(*key, Relaxed);
                    present.store(number + 1, Release);
                }
            }
            let outcome = reader.join();
            stop.store(true, Release);
            outcome.expect("a reader missed an item");
        });
        assert_eq!(filter.len(), present.into_inner(), "{layout:?}");
    }
    filter.clear();
    assert!(filter.is_empty() && (0..1_000_u64).all(|key| !filter.contains(&key)));
}
