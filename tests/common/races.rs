//! Threads that leave a barrier together, and threads that race for the last slots.

use std::{
    hash::BuildHasher,
    sync::atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
    thread,
};

use guira::Layout;
use rand::RngExt;

use super::{
    build,
    kind::{Kind, Maker, Of},
    positions, rng,
};

/// A barrier that spins, so that the threads leave it at the same moment.
pub struct Gate {
    threads: usize,
    waiting: AtomicUsize,
    passed: AtomicUsize,
}

impl Gate {
    /// A gate that opens when this many threads wait at it.
    pub fn new(threads: usize) -> Self {
        Self { threads, waiting: AtomicUsize::new(0), passed: AtomicUsize::new(0) }
    }

    /// Waits for the others. Returns `false` if one of them has failed.
    pub fn pass(&self, failed: &AtomicBool) -> bool {
        let passed = self.passed.load(Acquire);
        if self.waiting.fetch_add(1, AcqRel) + 1 == self.threads {
            self.waiting.store(0, Relaxed);
            self.passed.store(passed + 1, Release);
            return true;
        }
        let mut spins = 0_u32;
        while self.passed.load(Acquire) == passed {
            if failed.load(Acquire) {
                return false;
            }
            spins += 1;
            if spins.is_multiple_of(64) { thread::yield_now() } else { std::hint::spin_loop() }
        }
        true
    }
}

/// Threads that fill a filter together.
const FILLERS: usize = 6;

/// Many threads insert keys of their own until nothing fits, or until the filter has grown twice.
/// All accepted keys are found, and can be removed by many threads. Returns the load.
pub fn fill_on<K: Kind, S: BuildHasher + Send + Sync>(
    make: Maker<K, S>,
    layout: Layout,
    buckets: usize,
) -> f64 {
    let filter = build::<K, S>(make, buckets, layout, 24);
    let most = if K::GROWS { 4 * filter.slots() / FILLERS } else { usize::MAX };
    let accepted: Vec<Vec<u64>> = thread::scope(|scope| {
        let filter = &filter;
        let threads: Vec<_> = (0..FILLERS)
            .map(|thread| scope.spawn(move || fill_share::<K, S>(filter, thread, most)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread failed")).collect()
    });
    let items: usize = accepted.iter().map(Vec::len).sum();
    let load = filter.len() as f64 / filter.slots() as f64;
    assert_eq!(filter.len(), items, "{layout:?}");
    let keys: Vec<u64> = accepted.concat();
    let missing = keys.iter().filter(|key| !filter.contains(key)).count();
    assert_eq!(missing, 0, "{layout:?}: accepted, but missing");
    assert_eq!(filter.contains_batch(&keys, &mut vec![false; items]), items);
    thread::scope(|scope| {
        for keys in &accepted {
            let filter = &filter;
            scope.spawn(move || {
                for key in keys {
                    assert!(K::take(filter, *key), "{layout:?}: accepted, but cannot be removed");
                }
            });
        }
    });
    assert!(filter.is_empty());
    assert!(keys.iter().all(|key| !filter.contains(key)), "{layout:?}: removed, but found");
    load
}

/// Inserts new keys, by one of three operations, until a hundred in a row are refused or `most`
/// are accepted.
fn fill_share<K: Kind, S: BuildHasher>(filter: &Of<K, S>, thread: usize, most: usize) -> Vec<u64> {
    let mut rng = rng(240 + thread as u64);
    let mut accepted = Vec::new();
    let mut refused = 0;
    while refused < 100 && accepted.len() < most {
        let keys: [u64; 40] = rng.random();
        let old = accepted.len();
        match thread % 3 {
            0 => {
                let rejected =
                    K::add_batch(filter, &keys).map_or_else(|error| positions(&error), |()| vec![]);
                let fitted = (0..keys.len()).filter(|position| !rejected.contains(position));
                accepted.extend(fitted.map(|position| keys[position]));
            }
            1 => {
                accepted.extend(keys.iter().filter(|key| K::add_unique(filter, **key) == Ok(true)));
            }
            _ => accepted.extend(keys.iter().filter(|key| K::add(filter, **key).is_ok())),
        }
        refused = if accepted.len() == old { refused + keys.len() } else { 0 };
    }
    accepted
}
