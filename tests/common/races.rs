//! Races for one copy, one key, or the last slot.

use std::{
    hash::BuildHasher,
    sync::atomic::{
        AtomicBool, AtomicU32, AtomicU64, AtomicUsize,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
    thread,
};

use guira::{InsertError, Layout};
use rand::{RngExt, rngs::SmallRng};

use super::{
    build,
    churn::StopOnPanic,
    kind::{Kind, Maker, Of},
    positions, rng, scaled,
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

/// The percentage of slots that can be occupied, with some effort.
fn high_load(layout: Layout) -> usize {
    match layout.slots_per_bucket() {
        ..=2 => 80,
        3 => 88,
        _ => 95,
    }
}

/// Fills a filter up to a share of its slots, with keys that satisfy `wanted`.
fn fill<K: Kind, S: BuildHasher>(
    filter: &Of<K, S>,
    percent: usize,
    rng: &mut SmallRng,
    wanted: impl Fn(&u64) -> bool,
) -> Vec<u64> {
    let most = filter.slots() * percent / 100;
    let mut keys = Vec::new();
    for _ in 0..20 * filter.slots() {
        let key = rng.random();
        if filter.len() < most && wanted(&key) && K::add(filter, key).is_ok() {
            keys.push(key);
        }
    }
    keys
}

/// If several threads remove one copy at the same time, exactly one of them succeeds; of two
/// copies, two.
pub fn removals_of_one_copy<K: Kind, S: BuildHasher + Send + Sync>(
    make: Maker<K, S>,
    layout: Layout,
) {
    const THREADS: usize = 3;
    let rounds = 1_000;
    let filter = build::<K, S>(make, 8, layout, 21);
    let mut rng = rng(21);
    let key: u64 = rng.random();
    let alone = build::<K, S>(make, 8, layout, 21);
    K::add(&alone, key).expect("room");
    fill::<K, S>(&filter, 60, &mut rng, |other| !alone.contains(other));
    let before = filter.len();
    let (gate, failed) = (Gate::new(THREADS), AtomicBool::new(false));
    let removed = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (filter, gate, failed, removed, key) = (&filter, &gate, &failed, &removed, &key);
            scope.spawn(move || {
                let _stop = StopOnPanic(failed);
                for round in 0..rounds {
                    let copies = 1 + round % 2;
                    if thread == 0 {
                        (0..copies).for_each(|_| K::add(filter, *key).expect("room at 60 % load"));
                    }
                    if !gate.pass(failed) {
                        return;
                    }
                    removed.fetch_add(K::take(filter, *key).into(), Relaxed);
                    if !gate.pass(failed) {
                        return;
                    }
                    if thread == 0 {
                        assert_eq!(removed.swap(0, Relaxed), copies, "{layout:?}, round {round}");
                        assert_eq!(filter.count(key), 0);
                        assert_eq!(filter.len(), before);
                    }
                }
            });
        }
    });
}

/// `insert_unique` as a lock: a thread that gets `Ok(true)` holds it until it removes the key.
///
/// The load is high, beside a thread that inserts and removes other keys, so that inserts must make
/// room. In a filter that cannot grow, aliases of the keys are the same lock.
pub fn unique_excludes<K: Kind, S: BuildHasher + Send + Sync>(make: Maker<K, S>, layout: Layout) {
    const LOCKS: usize = 3;
    let empty = || build::<K, S>(make, 16, layout, 23);
    let filter = empty();
    let mut rng = rng(23);
    let (keys, taken) = locks::<K, S>(&empty, LOCKS, &mut rng);
    fill::<K, S>(&filter, high_load(layout) - 5, &mut rng, |key| !taken.contains(key));
    let others: Vec<u64> =
        (0..4_000).map(|_| rng.random()).filter(|key| !taken.contains(key)).collect();
    let owners = [const { AtomicU32::new(0) }; LOCKS];
    let (wins, losses) = (AtomicU64::new(0), AtomicU64::new(0));
    let done = AtomicBool::new(false);
    let enough =
        || wins.load(Relaxed) >= scaled(1_000, 3_000) && losses.load(Relaxed) >= scaled(25, 50);
    thread::scope(|scope| {
        for thread in 0..3 {
            let (filter, keys, owners, wins, losses, done) =
                (&filter, &keys, &owners, &wins, &losses, &done);
            let enough = &enough;
            scope.spawn(move || {
                let _stop = StopOnPanic(done);
                let mut rng = super::rng(230 + thread);
                while !enough() && !done.load(Acquire) {
                    let (key, lock) = keys[rng.random_range(0..keys.len())];
                    match K::add_unique(filter, key) {
                        Ok(true) => {
                            assert_eq!(
                                owners[lock].fetch_add(1, AcqRel),
                                0,
                                "{layout:?}: two adds"
                            );
                            if rng.random_ratio(1, 16) {
                                thread::yield_now();
                            }
                            assert_eq!(filter.count(&key), 1, "{layout:?}");
                            assert_eq!(owners[lock].fetch_sub(1, AcqRel), 1);
                            assert!(K::take(filter, key), "{layout:?}: the copy is missing");
                            wins.fetch_add(1, Relaxed);
                        }
                        Ok(false) => {
                            losses.fetch_add(1, Relaxed);
                        }
                        Err(reason) => assert_eq!(reason, InsertError::Full),
                    }
                }
                done.store(true, Release);
            });
        }
        scope.spawn(|| crowd::<K, S>(&filter, &others, &done));
    });
    assert!(keys.iter().all(|(key, _)| filter.count(key) == 0), "{layout:?}: a copy is left");
}

/// Keys, each with the number of its lock, and a filter that holds them all.
fn locks<K: Kind, S: BuildHasher>(
    empty: &dyn Fn() -> Of<K, S>,
    locks: usize,
    rng: &mut SmallRng,
) -> (Vec<(u64, usize)>, Of<K, S>) {
    let taken = empty();
    let mut keys = Vec::new();
    while keys.len() < locks {
        let key: u64 = rng.random();
        if K::add_unique(&taken, key) == Ok(true) {
            keys.push((key, keys.len()));
        }
    }
    let probes: Vec<u64> = (0..scaled(20_000, 200_000)).map(|_| rng.random()).collect();
    // Splits distinguish aliases, and these would be different locks.
    for lock in if K::GROWS { 0..0 } else { 0..locks } {
        let one = empty();
        K::add(&one, keys[lock].0).expect("an empty filter");
        keys.extend(probes.iter().find(|key| one.contains(*key)).map(|&alias| (alias, lock)));
    }
    (keys, taken)
}

/// Keeps a filter at a high load of its present slots, until told to stop.
fn crowd<K: Kind, S: BuildHasher>(filter: &Of<K, S>, keys: &[u64], done: &AtomicBool) {
    let _stop = StopOnPanic(done);
    let most = filter.slots() * high_load(filter.layout()) / 100;
    let mut mine = Vec::new();
    let mut keys = keys.iter().cycle();
    while let (false, Some(key)) = (done.load(Acquire), keys.next()) {
        if filter.len() < most && K::add(filter, *key).is_ok() {
            mine.push(key);
        } else if !mine.is_empty() {
            assert!(K::take(filter, *mine.swap_remove(mine.len() / 2)));
        }
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
