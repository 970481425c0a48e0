//! Readers that must never miss an item, beside writers that keep a filter at 95 % load. Copies
//! that are made meanwhile hold every item, too.

use std::{
    hash::BuildHasher,
    sync::atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
};

use guira::{InsertError, Layout};
use rand::{RngExt, rngs::SmallRng};

use super::{
    build,
    kind::{Kind, Maker, Of},
    positions, rng,
};

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub layout: Layout,
    pub buckets: usize,
    pub readers: usize,
    pub writers: usize,
    /// Lookups of keys that are always present, by all readers together.
    pub reads: u64,
    /// Inserts and removals that must happen meanwhile.
    pub changes: u64,
    /// Copies of the filter to make meanwhile.
    pub copies: u64,
    pub seed: u64,
}

/// Copies a filter: as a clone, or by a snapshot. The number is that of the copy.
pub type Copy<'a, K, S> = &'a (dyn Fn(&Of<K, S>, u64) -> Of<K, S> + Sync);

/// The longest batch of lookups.
const MOST: usize = 1_100;

/// The state that the threads of a run share.
struct Run<'a, K: Kind, S> {
    plan: &'a Plan,
    filter: &'a Of<K, S>,
    copy: Copy<'a, K, S>,
    /// Keys that are present from the first lookup to the last, some of them twice.
    permanent: &'a [u64],
    /// Keys whose number of copies no thread changes, and that number.
    counted: &'a [(u64, usize)],
    /// Keys that are present throughout, and whose tags writers change, if there are tags.
    changing: &'a [u64],
    /// Keys to insert and remove: new ones, duplicates and aliases of the permanent ones.
    pool: &'a [u64],
    changes: AtomicU64,
    /// Inserts and removals that were tried.
    attempts: AtomicU64,
    stop: AtomicBool,
}

/// Stops the other threads when its thread panics, so that the test ends and the panic is reported.
pub struct StopOnPanic<'a>(pub &'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Release);
        }
    }
}

/// Runs the plan on a kind of filter, and checks the filter at its end. Returns how many of the
/// keys that the writers used were aliases.
pub fn churn<K, S>(make: Maker<K, S>, plan: &Plan, copy: Copy<K, S>) -> usize
where
    K: Kind,
    S: BuildHasher + Send + Sync,
{
    let empty = || build::<K, S>(make, plan.buckets, plan.layout, plan.seed);
    let filter = empty();
    let slots = filter.slots();
    let mut rng = rng(plan.seed);
    let mut permanent: Vec<u64> = Vec::new();
    // With bad hashes, most keys are refused long before.
    for _ in 0..4 * slots {
        let key = rng.random();
        // A table that splits takes no more copies once half of its slots have them.
        let may_add = !K::GROWS || filter.count(&key) < 2;
        if may_add && filter.len() * 10 < slots * 7 && K::add(&filter, key).is_ok() {
            permanent.push(key);
        }
    }
    let fixed = permanent.len().min(8);
    for key in &permanent[..fixed] {
        // A second copy, with another tag, for half of those that will be counted; it may not fit.
        let want = K::usual_want(&filter, !key);
        let _ = key.is_multiple_of(2) && K::insert(&filter, key, want).is_ok();
    }
    let counted: Vec<(u64, usize)> =
        permanent[..fixed].iter().map(|key| (*key, filter.count(key))).collect();

    let changing = permanent.split_off(permanent.len() - permanent.len() / 8);
    let (pool, aliases) = pool::<K, S>(&filter, &permanent, &empty, &permanent[..fixed], &mut rng);
    let run = Run::<K, S> {
        plan,
        filter: &filter,
        copy,
        permanent: &permanent,
        counted: &counted,
        changing: &changing,
        pool: &pool,
        changes: AtomicU64::new(0),
        attempts: AtomicU64::new(0),
        stop: AtomicBool::new(false),
    };
    let share = (slots * 95 / 100).saturating_sub(filter.len()) / plan.writers;
    let before = filter.len();
    let owned = run.all(share.max(2));
    let copy = copy(&filter, 0);
    assert_eq!((copy.len(), copy.slots()), (filter.len(), filter.slots()), "{plan:?}");
    permanent.extend(changing);
    for filter in [copy, filter] {
        check_at_end::<K, S>(plan, &filter, before, owned.clone(), &permanent);
    }
    aliases
}

/// Keys to insert and remove, and how many of them are aliases of permanent keys.
fn pool<K: Kind, S: BuildHasher>(
    filter: &Of<K, S>,
    permanent: &[u64],
    empty: &dyn Fn() -> Of<K, S>,
    counted: &[u64],
    rng: &mut SmallRng,
) -> (Vec<u64>, usize) {
    let fixed = empty();
    for key in counted {
        // Two of them may be aliases, and the copies of one key may be enough to fill its buckets.
        let _ = K::add(&fixed, *key);
    }
    let probes: Vec<u64> = (0..200_000).map(|_| rng.random()).collect();
    let is_alias = |key: &&u64| filter.contains(*key);
    let aliases: Vec<u64> = probes.iter().filter(is_alias).copied().take(200).collect();
    let fresh = probes.iter().rev().take(2 * filter.slots()).copied();
    let duplicates = permanent.iter().copied().take(200);
    let mut pool: Vec<u64> = fresh.chain(duplicates).chain(aliases.iter().copied()).collect();
    pool.retain(|key| !fixed.contains(key));
    (pool, aliases.len())
}

impl<K: Kind, S: BuildHasher + Send + Sync> Run<'_, K, S> {
    /// Runs all threads. Returns the keys that the writers still own.
    fn all(&self, share: usize) -> Vec<u64> {
        thread::scope(|scope| {
            let writers: Vec<_> =
                (0..self.plan.writers).map(|i| scope.spawn(move || self.write(i, share))).collect();
            let mut readers: Vec<_> =
                (0..self.plan.readers).map(|i| scope.spawn(move || self.read(i))).collect();
            readers.push(scope.spawn(|| self.copy()));
            let outcomes: Vec<_> =
                readers.into_iter().map(thread::ScopedJoinHandle::join).collect();
            self.stop.store(true, Release);
            for outcome in outcomes {
                outcome.expect("a reader missed something");
            }
            let owned = writers.into_iter().map(|writer| writer.join().expect("a writer failed"));
            owned.flatten().collect()
        })
    }

    /// Looks up permanent keys, one by one and in batches: none may be missing.
    fn read(&self, number: usize) {
        let _stop = StopOnPanic(&self.stop);
        let mut rng = rng(self.plan.seed ^ (1000 + number as u64));
        let share = self.plan.reads / self.plan.readers as u64;
        let mut reads = 0;
        while reads < share || self.changes.load(Relaxed) < self.plan.changes {
            if self.stop.load(Acquire) {
                return;
            }
            let start = rng.random_range(0..self.permanent.len());
            let batch = [6, 13, 64, 65, 100, 200, 700, MOST][rng.random_range(0..8)];
            let is_batch = rng.random_ratio(1, 4);
            let most = if is_batch { batch } else { 64 };
            let keys = &self.permanent[start..self.permanent.len().min(start + most)];
            if is_batch {
                assert!(K::finds_all(self.filter, keys), "false negative; {:?}", self.plan);
            } else {
                for &key in keys {
                    let is_found = K::holds(self.filter, key, &[K::tag_of(self.filter, key)]);
                    assert!(is_found, "false negative: {key}; {:?}", self.plan);
                }
            }
            for &key in self.changing {
                let tags = [key, !key].map(|key| K::tag_of(self.filter, key));
                let is_found = K::holds(self.filter, key, &tags);
                assert!(is_found, "false negative: {key} with either tag; {:?}", self.plan);
            }
            reads += keys.len() as u64;
            let (key, copies) = self.counted[rng.random_range(0..self.counted.len())];
            assert_eq!(self.filter.count(&key), copies, "copies of {key}; {:?}", self.plan);
            assert!(self.filter.len() <= self.filter.slots());
        }
    }

    /// Copies the filter beside changes. Each copy has what is there throughout, as often.
    fn copy(&self) {
        let _stop = StopOnPanic(&self.stop);
        for number in 1..=self.plan.copies {
            let before = self.attempts.load(Relaxed);
            while self.attempts.load(Relaxed) < before + 50 && !self.stop.load(Acquire) {
                thread::yield_now();
            }
            let copy = (self.copy)(self.filter, number);
            for keys in [self.permanent, self.changing] {
                let missing = keys.iter().filter(|key| !copy.contains(key)).count();
                assert_eq!(missing, 0, "missing in copy {number}; {:?}", self.plan);
            }
            for (key, copies) in self.counted {
                assert_eq!(copy.count(key), *copies, "in copy {number}; {:?}", self.plan);
            }
            let range = self.permanent.len() + self.changing.len()..=self.filter.slots();
            assert!(range.contains(&copy.len()) && copy.slots() <= self.filter.slots());
            copy.clear();
            assert!(copy.is_empty(), "{} items after a clear", copy.len());
        }
    }

    /// Inserts and removes keys of the pool, and keeps about `share` of them. Returns the present
    /// ones.
    fn write(&self, number: usize, share: usize) -> Vec<u64> {
        let _stop = StopOnPanic(&self.stop);
        let mut rng = rng(self.plan.seed ^ (2000 + number as u64));
        let mut mine: Vec<u64> = Vec::new();
        let of_writer = self.changing.iter().skip(number).step_by(self.plan.writers);
        let changing: Vec<u64> = of_writer.copied().collect();
        while !self.stop.load(Acquire) {
            self.attempts.fetch_add(1, Relaxed);
            let fits = if mine.len() < share + rng.random_range(0..=share / 4) {
                self.insert(&mut mine, &mut rng)
            } else {
                false
            };
            if !fits && !mine.is_empty() {
                self.remove(&mut mine, &mut rng);
            }
            // To another tag and back.
            if !changing.is_empty() {
                let key = changing[rng.random_range(0..changing.len())];
                for (from, to) in [(key, !key), (!key, key)] {
                    let [old, new] = [from, to].map(|key| K::tag_of(self.filter, key));
                    let retagged = K::retag(self.filter, key, old, K::usual_want(self.filter, to));
                    assert!(retagged.is_none_or(|retagged| retagged == new));
                }
            }
        }
        mine
    }

    /// Inserts by one of the operations. Returns whether everything fitted.
    fn insert(&self, mine: &mut Vec<u64>, rng: &mut SmallRng) -> bool {
        let start = rng.random_range(0..self.pool.len() - 4);
        let keys = &self.pool[start..start + 4];
        let key = keys[0];
        let old = mine.len();
        let fits = match rng.random_range(0..8) {
            0 => match K::add_batch(self.filter, keys) {
                Ok(()) => {
                    mine.extend(keys);
                    true
                }
                Err(error) => {
                    let rejected = positions(&error);
                    let fitted = (0..keys.len()).filter(|position| !rejected.contains(position));
                    mine.extend(fitted.map(|position| keys[position]));
                    false
                }
            },
            1 => {
                let mut added = [false; 4];
                let outcome = K::insert_unique_batch(self.filter, keys, &mut added);
                mine.extend(
                    keys.iter().zip(added).filter(|(_, added)| *added).map(|(key, _)| *key),
                );
                // Maps have no such method.
                outcome.is_none_or(|outcome| outcome.is_ok())
            }
            2 | 3 => match K::add_unique(self.filter, key) {
                // A copy that was found belongs to another insert.
                Ok(false) => true,
                Ok(true) => {
                    mine.push(key);
                    true
                }
                Err(reason) => {
                    assert!(
                        matches!(reason, InsertError::Full | InsertError::Crowded),
                        "{reason:?}"
                    );
                    false
                }
            },
            _ => {
                let outcome = K::add(self.filter, key);
                mine.extend(outcome.is_ok().then_some(key));
                outcome.is_ok()
            }
        };
        for key in &mine[old..] {
            assert!(self.filter.contains(key), "missing: {key}; {:?}", self.plan);
        }
        self.changes.fetch_add((mine.len() - old) as u64, Relaxed);
        fits
    }

    /// Removes one or a few of the keys that this writer owns: all must be present.
    fn remove(&self, mine: &mut Vec<u64>, rng: &mut SmallRng) {
        if rng.random_ratio(1, 8) {
            let keys = mine.split_off(mine.len().saturating_sub(4));
            assert_eq!(K::take_batch(self.filter, &keys), keys.len());
            self.changes.fetch_add(keys.len() as u64, Relaxed);
            return;
        }
        let key = mine.swap_remove(rng.random_range(0..mine.len()));
        assert!(self.filter.contains(&key), "false negative: own {key}; {:?}", self.plan);
        assert!(K::take(self.filter, key), "own {key} cannot be removed; {:?}", self.plan);
        self.changes.fetch_add(1, Relaxed);
    }
}

/// After all threads ended: the number of items is right, and every owned item can be removed.
fn check_at_end<K: Kind, S: BuildHasher>(
    plan: &Plan,
    filter: &Of<K, S>,
    before: usize,
    owned: Vec<u64>,
    permanent: &[u64],
) {
    assert_eq!(filter.len(), before + owned.len(), "{plan:?}");
    for key in owned {
        assert!(K::take(filter, key), "{plan:?}: {key} is owned, but missing");
    }
    assert_eq!(filter.len(), before, "{plan:?}");
    assert!(permanent.iter().all(|key| filter.contains(key)), "{plan:?}");
    for key in permanent {
        while K::take(filter, *key) {}
        while K::remove(filter, key, K::tag_of(filter, !key)) {}
    }
    // Every copy belonged to a permanent key.
    assert_eq!(filter.len(), 0, "{plan:?}");
}
