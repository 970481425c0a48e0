//! Operations on the whole filter, `clear` and `try_clone`, while other threads use it.

use std::{
    collections::HashSet,
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

/// Inserts random keys until a share of the slots is occupied. Returns those that were accepted.
fn fill<K: Kind, S: BuildHasher>(
    filter: &Of<K, S>,
    percent: usize,
    rng: &mut SmallRng,
) -> Vec<u64> {
    let most = filter.slots() * percent / 100;
    let keys: Vec<u64> = (0..4 * most).map(|_| rng.random()).collect();
    keys.into_iter().filter(|key| filter.len() < most && K::add(filter, *key).is_ok()).collect()
}

/// Evicts other items: inserts keys of its own, and removes them, until told to stop. Everything
/// that it inserted is removed at the end.
fn evict<K: Kind, S: BuildHasher>(
    filter: &Of<K, S>,
    most: usize,
    stop: &AtomicBool,
    changes: &AtomicU64,
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
        changes.fetch_add(1, Relaxed);
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
        let changes = AtomicU64::new(0);
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
            scope
                .spawn(|| evict::<K, S>(&filter, slots * 9 / 10, &stop, &changes, &mut rng(round)));
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

/// Clones that are made while items move at a high load contain every item that is present
/// throughout, and count exactly what they contain.
pub fn clone_beside_movers<K: Kind, S>(make: Maker<K, S>, layout: Layout)
where
    S: BuildHasher + Clone + Send + Sync,
{
    let filter = build::<K, S>(make, 6_000, layout, 42);
    let slots = filter.slots();
    let mut random = rng(42);
    let always = fill::<K, S>(&filter, 85, &mut random);
    let (stop, changes) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let (filter, stop, changes) = (&filter, &stop, &changes);
        scope.spawn(move || evict::<K, S>(filter, slots * 95 / 100, stop, changes, &mut rng(43)));
        let _stop = StopOnPanic(stop);
        for round in 0..scaled(10, 20) {
            // The other thread is running at this moment, so the clone overlaps its changes.
            let before = changes.load(Relaxed);
            while changes.load(Relaxed) < before + 200 && !stop.load(Relaxed) {
                std::hint::spin_loop();
            }
            let copy = filter.try_clone().expect("a small filter");
            let missing = always.iter().filter(|key| !copy.contains(key)).count();
            assert_eq!(missing, 0, "{layout:?}, round {round}: missing in the copy");
            assert!(copy.len() >= always.len() && copy.len() <= copy.slots());
            assert!(copy.slots() <= filter.slots());
            copy.clear();
            assert!(copy.is_empty(), "{layout:?}: {} items after a clear", copy.len());
        }
        stop.store(true, Release);
    });
    assert_eq!(filter.len(), always.len(), "{layout:?}");
    let copy = filter.try_clone().expect("a small filter");
    assert_eq!((copy.len(), copy.slots()), (filter.len(), filter.slots()));
    assert_eq!((copy.capacity(), copy.layout()), (filter.capacity(), filter.layout()));
    assert!(copy.false_positive_rate().to_bits() == filter.false_positive_rate().to_bits());
    let strangers = (0..2_000).map(|_| random.random::<u64>());
    for key in always.iter().copied().chain(strangers).collect::<HashSet<_>>() {
        assert_eq!(copy.count(&key), filter.count(&key), "{layout:?}: the copy differs");
    }
    assert!(always.iter().all(|key| K::take(&copy, *key)), "{layout:?}: the copy lacks a copy");
    assert!(copy.is_empty() && filter.len() == always.len());
}
