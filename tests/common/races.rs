//! Races for one copy, one key, or the last lane.

use std::{
    hash::BuildHasher,
    sync::atomic::{
        AtomicBool, AtomicU32, AtomicU64, AtomicUsize,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
    thread,
};

use guira::{CuckooFilter, InsertError, Layout};
use rand::{RngExt, rngs::SmallRng};

use super::{Maker, build, capacity_of, churn::StopOnPanic, rng, scaled};

/// A barrier that spins, so that the threads leave it at the same moment.
pub struct Gate {
    threads: usize,
    waiting: AtomicUsize,
    passed: AtomicUsize,
}

impl Gate {
    /// A gate that opens when this many threads stand before it.
    pub fn new(threads: usize) -> Self {
        Self { threads, waiting: AtomicUsize::new(0), passed: AtomicUsize::new(0) }
    }

    /// Waits for the others; `false` when one of them has failed.
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

/// Fills a filter up to a share of its slots, with keys that answer to `wanted`.
fn fill<S: BuildHasher>(
    filter: &CuckooFilter<S>,
    percent: usize,
    rng: &mut SmallRng,
    wanted: impl Fn(&u64) -> bool,
) -> Vec<u64> {
    let mut keys = Vec::new();
    for _ in 0..20 * filter.slots() {
        let key = rng.random();
        if filter.len() * 100 < filter.slots() * percent
            && wanted(&key)
            && filter.insert(&key).is_ok()
        {
            keys.push(key);
        }
    }
    keys
}

/// Of several threads that remove one copy at the same time, exactly one does; of two copies, two.
pub fn removals_of_one_copy<S: BuildHasher + Send + Sync>(make: Maker<S>, layout: Layout) {
    const THREADS: usize = 3;
    let rounds = 1_500;
    let filter = build(make, capacity_of(layout, 8), layout, 21);
    let mut rng = rng(21);
    let key: u64 = rng.random();
    let alone = build(make, capacity_of(layout, 8), layout, 21);
    alone.insert(&key).expect("room");
    fill(&filter, 60, &mut rng, |other| !alone.contains(other));
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
                        (0..copies).for_each(|_| filter.insert(key).expect("room at 60 % load"));
                    }
                    if !gate.pass(failed) {
                        return;
                    }
                    removed.fetch_add(filter.remove(key).into(), Relaxed);
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

/// One thread inserts, the others remove whatever there is: no copy is taken out twice.
pub fn removals_balance<S: BuildHasher + Send + Sync>(make: Maker<S>, layout: Layout) {
    let copies = 10_000;
    let filter = build(make, capacity_of(layout, 8), layout, 22);
    let key = rng(22).random::<u64>();
    let (removed, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let _stop = StopOnPanic(&done);
                while !done.load(Acquire) {
                    if filter.remove(&key) {
                        removed.fetch_add(1, Relaxed);
                    } else {
                        thread::yield_now();
                    }
                }
            });
        }
        let mut inserted = 0;
        while inserted < copies && !done.load(Acquire) {
            match filter.insert(&key) {
                Ok(()) => inserted += 1,
                // The removers are behind; both of its buckets are full of it.
                Err(reason) => {
                    assert_eq!(reason, InsertError::TooManyCopies);
                    thread::yield_now();
                }
            }
        }
        done.store(true, Release);
    });
    let left = filter.count(&key);
    assert_eq!(removed.load(Relaxed) + left, copies, "{layout:?}");
    assert_eq!(filter.len(), left);
}

/// `insert_unique` as a lock: whoever gets `Ok(true)` is alone until it removes the key again.
///
/// At 95 % load, beside a thread that inserts and removes other keys, so that room must be made;
/// with aliases of the keys, which are the same lock.
pub fn unique_excludes<S: BuildHasher + Send + Sync>(make: Maker<S>, layout: Layout) {
    const LOCKS: usize = 3;
    let empty = || build(make, capacity_of(layout, 16), layout, 23);
    let filter = empty();
    let mut rng = rng(23);
    let (keys, taken) = locks(&empty, LOCKS, &mut rng);
    fill(&filter, 90, &mut rng, |key| !taken.contains(key));
    let others: Vec<u64> =
        (0..4_000).map(|_| rng.random()).filter(|key| !taken.contains(key)).collect();
    let owners = [const { AtomicU32::new(0) }; LOCKS];
    let (wins, losses) = (AtomicU64::new(0), AtomicU64::new(0));
    let done = AtomicBool::new(false);
    let enough =
        || wins.load(Relaxed) >= scaled(2_000, 8_000) && losses.load(Relaxed) >= scaled(50, 100);
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
                    match filter.insert_unique(&key) {
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
                            assert!(filter.remove(&key), "{layout:?}: the copy is gone");
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
        scope.spawn(|| crowd(&filter, &others, &done));
    });
    assert!(keys.iter().all(|(key, _)| filter.count(key) == 0), "{layout:?}: a copy is left");
}

/// Keys to contend for, each with the number of its lock, and a filter that holds them all.
fn locks<S: BuildHasher>(
    empty: &dyn Fn() -> CuckooFilter<S>,
    locks: usize,
    rng: &mut SmallRng,
) -> (Vec<(u64, usize)>, CuckooFilter<S>) {
    let taken = empty();
    let mut keys = Vec::new();
    while keys.len() < locks {
        let key: u64 = rng.random();
        if taken.insert_unique(&key) == Ok(true) {
            keys.push((key, keys.len()));
        }
    }
    let probes: Vec<u64> = (0..scaled(20_000, 200_000)).map(|_| rng.random()).collect();
    for lock in 0..locks {
        let one = empty();
        one.insert(&keys[lock].0).expect("an empty filter");
        keys.extend(probes.iter().find(|key| one.contains(*key)).map(|&alias| (alias, lock)));
    }
    (keys, taken)
}

/// Keeps a filter as full as it gets, until told to stop.
fn crowd<S: BuildHasher>(filter: &CuckooFilter<S>, keys: &[u64], done: &AtomicBool) {
    let _stop = StopOnPanic(done);
    let mut mine = Vec::new();
    let mut keys = keys.iter().cycle();
    while let (false, Some(key)) = (done.load(Acquire), keys.next()) {
        if filter.len() * 100 < filter.slots() * 95 && filter.insert(key).is_ok() {
            mine.push(key);
        } else if !mine.is_empty() {
            assert!(filter.remove(mine.swap_remove(mine.len() / 2)));
        }
    }
}

/// Many threads insert keys of their own until nothing fits; whatever was accepted is there, and can
/// be taken out again by many threads, to the last item. Returns the load reached.
pub fn fill_from_many_threads<S: BuildHasher + Send + Sync>(
    make: Maker<S>,
    layout: Layout,
    buckets: usize,
) -> f64 {
    const THREADS: u64 = 6;
    let filter = build(make, capacity_of(layout, buckets), layout, 24);
    let accepted: Vec<Vec<u64>> = thread::scope(|scope| {
        let filter = &filter;
        let threads: Vec<_> =
            (0..THREADS).map(|thread| scope.spawn(move || fill_share(filter, thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread failed")).collect()
    });
    let items: usize = accepted.iter().map(Vec::len).sum();
    let load = filter.load_factor();
    assert_eq!(filter.len(), items, "{layout:?}");
    let keys: Vec<u64> = accepted.concat();
    let missing = keys.iter().filter(|key| !filter.contains(key)).count();
    assert_eq!(missing, 0, "{layout:?}: accepted, but not there");
    assert_eq!(filter.contains_batch(&keys, &mut vec![false; items]), items);
    thread::scope(|scope| {
        for keys in &accepted {
            let filter = &filter;
            scope.spawn(move || {
                for key in keys {
                    assert!(filter.remove(key), "{layout:?}: accepted, but not there to remove");
                }
            });
        }
    });
    assert!(filter.is_empty());
    assert!(keys.iter().all(|key| !filter.contains(key)), "{layout:?}: removed, but there");
    load
}

/// Inserts new keys, by this thread's own way, until a hundred in a row are refused.
fn fill_share<S: BuildHasher>(filter: &CuckooFilter<S>, thread: u64) -> Vec<u64> {
    let mut rng = rng(240 + thread);
    let mut accepted = Vec::new();
    let mut refused = 0;
    while refused < 100 {
        let keys: [u64; 40] = rng.random();
        let old = accepted.len();
        match thread % 3 {
            0 => {
                let rejected =
                    filter.insert_batch(&keys).map_or_else(|e| e.rejected().to_vec(), |()| vec![]);
                let fitted = (0..keys.len()).filter(|position| !rejected.contains(position));
                accepted.extend(fitted.map(|position| keys[position]));
            }
            1 => accepted.extend(keys.iter().filter(|key| filter.insert_unique(key) == Ok(true))),
            _ => accepted.extend(keys.iter().filter(|key| filter.insert(key).is_ok())),
        }
        refused = if accepted.len() == old { refused + keys.len() } else { 0 };
    }
    accepted
}
