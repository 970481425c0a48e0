//! Replays a trace with several threads: through the cache, past the mirror, to the store.
//!
//! The mirror must know every key of the store at every moment. A key is therefore inserted into
//! the mirror before the store commits its creation, and removed after the store has committed its
//! deletion. The store's transaction reports whether the key existed: an overwritten key is not
//! inserted again, and deleting an absent key removes nothing.
//!
//! A reader fills the cache under the key's lock, and a writer invalidates its entry under the same
//! lock. Otherwise a reader could cache a row that was deleted after it had read it.
//!
//! A key's lock also guards its exact state. A reader looks at it before and after a lookup in the
//! cache or in the mirror, and does not wait for the lock. If it got the same state both times, no
//! change was in progress, because a writer holds the lock from before its change until after it.
//! Then exactly one answer is right.

use std::{
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use derive_more::Add;
use moka::sync::Cache;

use crate::{
    mirror::Mirror,
    store::{Row, Store},
    trace::{Action, Trace},
};

/// Number of accesses that a thread takes at a time.
const BLOCK: usize = 1024;

/// Counts of one thread, or of all threads together.
#[derive(Add, Default)]
pub struct Tally {
    /// Reads that the cache answered.
    pub hits: u64,
    /// Reads that the cache could not answer.
    pub misses: u64,
    /// Reads that went to the store.
    pub store_lookups: u64,
    /// Reads that went to the store and found no row.
    pub fruitless_lookups: u64,
    /// Reads that the mirror answered.
    pub avoided_lookups: u64,
    /// Checked lookups of an absent key in the mirror.
    pub absent_lookups: u64,
    /// Those of the absent lookups that took the key for present.
    pub false_positives: u64,
    /// Writes of an absent key.
    pub created: u64,
    /// Writes of a present key.
    pub overwritten: u64,
    /// Deletions of a present key.
    pub deleted: u64,
    /// Answers that overlapped a change of their key and could not be checked.
    pub unchecked: u64,
}

/// The result of one replay.
pub struct Outcome {
    pub tally: Tally,
    pub elapsed: Duration,
    /// Memory of the mirror in bytes, with the keys that the store has at the start.
    pub mirror_bytes: usize,
    /// Keys in the store at the end.
    pub present: u64,
    /// Keys of the trace that are not in the store at the end.
    pub absent: u64,
    /// Those of the absent keys that the mirror takes for present.
    pub false_positives: u64,
}

/// The exact state of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    /// Number of changes so far.
    version: u64,
    is_present: bool,
}

impl State {
    /// Returns the version of the key's row, if it has one.
    fn row(self) -> Option<u64> {
        self.is_present.then_some(self.version)
    }
}

/// Replays a trace with a mirror, which must be empty and is emptied again.
pub fn replay(trace: &Trace, mirror: &Mirror, entries: u64, threads: usize) -> Result<Outcome> {
    let replay = Replay::new(trace, mirror, entries)?;
    let mirror_bytes = mirror.size_in_bytes();
    let start = Instant::now();
    let tally = replay.run(threads)?;
    let elapsed = start.elapsed();
    let [present, absent, false_positives] = replay.finish()?;
    Ok(Outcome { tally, elapsed, mirror_bytes, present, absent, false_positives })
}

/// What the threads of one replay share.
struct Replay<'a> {
    trace: &'a Trace,
    mirror: &'a Mirror,
    store: Store,
    cache: Cache<u32, Row>,
    /// The state of each key of the trace.
    states: Vec<Mutex<State>>,
    /// Index of the first access of the next block.
    next: AtomicUsize,
}

impl<'a> Replay<'a> {
    /// Creates a store with the initial keys and inserts them into the mirror.
    fn new(trace: &'a Trace, mirror: &'a Mirror, entries: u64) -> Result<Self> {
        let keys = trace.keys.iter().zip(&trace.present);
        let present = keys.filter_map(|(&key, &present)| present.then_some(key));
        present.clone().try_for_each(|key| mirror.insert(key))?;
        let first = |&is_present: &bool| Mutex::new(State { version: 0, is_present });
        Ok(Self {
            trace,
            mirror,
            store: Store::new(present)?,
            cache: Cache::new(entries),
            states: trace.present.iter().map(first).collect(),
            next: AtomicUsize::new(0),
        })
    }

    /// Returns the state of a key, unless it is locked.
    fn peek(&self, index: usize) -> Option<State> {
        self.states[index].try_lock().ok().map(|state| *state)
    }

    /// Locks a key against changes by other threads.
    fn lock(&self, index: usize) -> MutexGuard<'_, State> {
        self.states[index].lock().expect("no panic")
    }

    /// Replays all accesses and returns the sum of the threads' tallies.
    fn run(&self, threads: usize) -> Result<Tally> {
        thread::scope(|scope| {
            let threads: Vec<_> =
                (0..threads).map(|_| scope.spawn(|| self.replay_blocks())).collect();
            let mut outcomes = threads.into_iter().map(|thread| thread.join().expect("no panic"));
            outcomes.try_fold(Tally::default(), |sum, tally| Ok(sum + tally?))
        })
    }

    /// Replays blocks until none is left.
    fn replay_blocks(&self) -> Result<Tally> {
        let mut tally = Tally::default();
        let accesses = &self.trace.accesses;
        loop {
            // Relaxed: the counter only hands out blocks.
            let from = self.next.fetch_add(BLOCK, Ordering::Relaxed);
            let Some(rest) = accesses.get(from..).filter(|rest| !rest.is_empty()) else {
                return Ok(tally);
            };
            for &(index, action) in &rest[..BLOCK.min(rest.len())] {
                let index = index as usize;
                match action {
                    Action::Read => self.read(index, &mut tally),
                    Action::Write => self.write(index, &mut tally),
                    Action::Delete => self.delete(index, &mut tally),
                }
                .inspect_err(|_| {
                    // Leaves no block to the other threads, so that they end as well.
                    self.next.store(accesses.len(), Ordering::Relaxed);
                })?;
            }
        }
    }

    /// Reads a key from the cache, or else from the store unless the mirror knows it to be absent.
    fn read(&self, index: usize, tally: &mut Tally) -> Result<()> {
        let (key, before) = (self.trace.keys[index], self.peek(index));
        let unchanged = || before.filter(|_| self.peek(index) == before);
        if let Some(row) = self.cache.get(&key) {
            tally.hits += 1;
            match unchanged() {
                None => tally.unchecked += 1,
                Some(state) => {
                    ensure!(state.row() == row.version(), "stale row of key {key} in the cache");
                }
            }
            return Ok(());
        }
        tally.misses += 1;
        let may_hold = self.mirror.may_hold(key);
        // The mirror may be wrong about absent keys only.
        match unchanged() {
            None => tally.unchecked += 1,
            Some(state) if state.is_present => {
                ensure!(may_hold, "false negative: key {key} is in the store");
            }
            Some(_) => {
                tally.absent_lookups += 1;
                tally.false_positives += u64::from(may_hold);
            }
        }
        if !may_hold {
            tally.avoided_lookups += 1;
            return Ok(());
        }
        let state = self.lock(index);
        let row = self.store.read(key)?;
        tally.store_lookups += 1;
        let version = row.as_ref().and_then(Row::version);
        ensure!(version == state.row(), "wrong row of key {key} in the store");
        match row {
            Some(row) => self.cache.insert(key, row),
            None => tally.fruitless_lookups += 1,
        }
        Ok(())
    }

    /// Creates a key or overwrites its row.
    fn write(&self, index: usize, tally: &mut Tally) -> Result<()> {
        let (key, mut state) = (self.trace.keys[index], self.lock(index));
        let version = state.version + 1;
        self.store.change(key, Some(&Row::new(version)), |existed| {
            if existed {
                tally.overwritten += 1;
                return Ok(());
            }
            tally.created += 1;
            self.mirror.insert(key)
        })?;
        self.cache.invalidate(&key);
        *state = State { version, is_present: true };
        Ok(())
    }

    /// Deletes a key if it is present.
    fn delete(&self, index: usize, tally: &mut Tally) -> Result<()> {
        let (key, mut state) = (self.trace.keys[index], self.lock(index));
        if self.store.change(key, None, |_| Ok(()))? {
            tally.deleted += 1;
            self.cache.invalidate(&key);
            ensure!(self.mirror.remove(key), "nothing to remove for key {key} of the store");
            *state = State { version: state.version + 1, is_present: false };
        }
        Ok(())
    }

    /// Looks up every key in the mirror, then removes all keys of the store and checks that none is
    /// left. Returns the keys in the store, those that are not, and the false positives among
    /// these.
    fn finish(&self) -> Result<[u64; 3]> {
        let (mut present, mut absent, mut false_positives) = (Vec::new(), 0, 0);
        for (index, &key) in self.trace.keys.iter().enumerate() {
            let may_hold = self.mirror.may_hold(key);
            if self.lock(index).is_present {
                ensure!(may_hold, "false negative: key {key} is in the store");
                present.push(key);
            } else {
                absent += 1;
                false_positives += u64::from(may_hold);
            }
        }
        let stored = present.len();
        let known = self.mirror.len().unwrap_or(stored);
        ensure!(known == stored, "{known} keys in the mirror, {stored} in the store");
        for key in present {
            ensure!(self.mirror.remove(key), "nothing to remove for key {key} of the store");
        }
        let left = self.mirror.len().unwrap_or(0);
        ensure!(left == 0, "{left} keys left after removing all");
        Ok([stored as u64, absent, false_positives])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirrors() -> [Mirror; 3] {
        [Mirror::Nothing, Mirror::filter(1_000, 0.01).expect("a valid rate"), Mirror::set()]
    }

    /// Checks that `action` fails with `message`, with each of these mirrors. It gets a fresh
    /// replay, which reads each of 1000 keys ten times, and the index and name of a present key.
    ///
    /// A false positive or an eviction can hide a fault, so there are a few attempts.
    fn assert_fails(
        numbers: &[usize],
        message: &str,
        action: impl Fn(&Replay<'_>, usize, u32) -> Result<()>,
    ) {
        let sequence: Vec<u32> = (0..10_000).map(|access| access % 1_000).collect();
        let trace = Trace::new(&sequence, 0.0);
        let index = trace.present.iter().position(|&present| present).expect("half are present");
        for &number in numbers {
            let is_noticed = (0..6).any(|_| {
                let replay = Replay::new(&trace, &mirrors()[number], 100).map(|replay| {
                    let error = action(&replay, index, trace.keys[index]).err();
                    error.is_some_and(|error| error.to_string().contains(message))
                });
                replay.expect("a store")
            });
            assert!(is_noticed, "mirror {number}: the replay did not notice a {message}");
        }
    }

    #[test]
    fn changes_keep_every_mirror_right() {
        let sequence: Vec<u32> = (0..20_000).map(|access| access * access % 1_009).collect();
        let trace = Trace::new(&sequence, 0.1);
        for mirror in mirrors() {
            let Outcome { tally, present, absent, .. } =
                replay(&trace, &mirror, 50, 4).expect("right answers");
            let changes = tally.created + tally.overwritten + tally.deleted;
            assert!(changes > 500, "{mirror}: {changes} changes");
            assert_eq!(present + absent, trace.keys.len() as u64);
            assert_eq!(tally.misses, tally.store_lookups + tally.avoided_lookups);
            match mirror {
                Mirror::Nothing => assert_eq!(tally.avoided_lookups, 0),
                _ => assert!(tally.avoided_lookups > 1_000, "{}", tally.avoided_lookups),
            }
        }
    }

    #[test]
    fn faults_are_noticed() {
        assert_fails(&[1, 2], "false negative", |replay, _, key| {
            assert!(replay.mirror.remove(key));
            replay.run(2).map(drop)
        });
        assert_fails(&[1, 2], "false negative", |replay, _, key| {
            assert!(replay.mirror.remove(key));
            replay.finish().map(drop)
        });
        assert_fails(&[1], "keys in the mirror", |replay, _, key| {
            replay.mirror.insert(key).expect("room");
            replay.finish().map(drop)
        });
        assert_fails(&[1, 2], "nothing to remove", |replay, index, key| {
            assert!(replay.mirror.remove(key));
            replay.delete(index, &mut Tally::default())
        });
        assert_fails(&[0], "stale row", |replay, _, key| {
            replay.cache.insert(key, Row::new(7));
            replay.run(2).map(drop)
        });
    }
}
