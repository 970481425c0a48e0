//! Replays a trace with several threads: through the cache, past the mirror, to the store.
//!
//! The mirror must know every key of the store at every moment. A key is therefore inserted into
//! the mirror before the store commits its creation, and removed after the store has committed its
//! deletion. The store's transaction reports whether the key existed: an overwritten key is not
//! inserted again, and deleting an absent key removes nothing.
//!
//! A reader fills the cache under the key's lock, and a writer invalidates its entry under the same
//! lock. Otherwise a reader could cache a row that was deleted after it had read it. Lookups in the
//! mirror take no lock.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use derive_more::Add;
use moka::sync::Cache;

use crate::{
    WrongAnswer,
    ledger::{Ledger, State},
    mirror::Mirror,
    store::{Row, Store},
    trace::{Access, Action, Trace},
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
    pub end: End,
}

/// The state after the last access.
pub struct End {
    /// Keys in the store.
    pub present: usize,
    /// Keys of the trace that are not in the store.
    pub absent: usize,
    /// Those of the absent keys that the mirror takes for present.
    pub false_positives: usize,
}

/// Replays a trace with a mirror, which must be empty and is emptied again.
pub fn replay(trace: &Trace, mirror: &Mirror, entries: u64, threads: usize) -> Result<Outcome> {
    let replay = Replay::new(trace, mirror, entries)?;
    let mirror_bytes = mirror.size_in_bytes();
    let start = Instant::now();
    let tally = replay.run(threads)?;
    let elapsed = start.elapsed();
    let end = replay.finish()?;
    Ok(Outcome { tally, elapsed, mirror_bytes, end })
}

/// What the threads of one replay share.
struct Replay<'a> {
    trace: &'a Trace,
    mirror: &'a Mirror,
    store: Store,
    cache: Cache<u32, Row>,
    ledger: Ledger,
    /// Index of the first access of the next block.
    next: AtomicUsize,
}

impl<'a> Replay<'a> {
    /// Creates a store with the initial keys and inserts them into the mirror.
    fn new(trace: &'a Trace, mirror: &'a Mirror, entries: u64) -> Result<Self> {
        let keys = trace.keys.iter().zip(&trace.present);
        let present = keys.filter_map(|(&key, &present)| present.then_some(key));
        present.clone().try_for_each(|key| mirror.insert(key))?;
        Ok(Self {
            trace,
            mirror,
            store: Store::new(present)?,
            cache: Cache::new(entries),
            ledger: Ledger::new(&trace.present),
            next: AtomicUsize::new(0),
        })
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
            for &access in &rest[..BLOCK.min(rest.len())] {
                self.replay_access(access, &mut tally).inspect_err(|_| {
                    // Leaves no block to the other threads, so that they end as well.
                    self.next.store(accesses.len(), Ordering::Relaxed);
                })?;
            }
        }
    }

    fn replay_access(&self, access: Access, tally: &mut Tally) -> Result<()> {
        let index = access.index as usize;
        match access.action {
            Action::Read => self.read(index, tally),
            Action::Write => self.write(index, tally),
            Action::Delete => self.delete(index, tally),
        }
    }

    /// Reads a key from the cache, or else from the store unless the mirror knows it to be absent.
    fn read(&self, index: usize, tally: &mut Tally) -> Result<()> {
        let (key, before) = (self.trace.keys[index], self.ledger.load(index));
        if let Some(row) = self.cache.get(&key) {
            tally.hits += 1;
            return self.check_row(index, before, &row, tally);
        }
        tally.misses += 1;
        let may_hold = self.mirror.may_hold(key);
        self.check_lookup(index, before, may_hold, tally)?;
        if !may_hold {
            tally.avoided_lookups += 1;
            return Ok(());
        }
        let locked = self.ledger.lock(index);
        let row = self.store.read(key)?;
        tally.store_lookups += 1;
        if row.as_ref().and_then(Row::version) != locked.state().row() {
            bail!(WrongAnswer(format!("wrong row of key {key} in the store")));
        }
        match row {
            Some(row) => self.cache.insert(key, row),
            None => tally.fruitless_lookups += 1,
        }
        Ok(())
    }

    /// Checks that a row from the cache is the one that was written last.
    fn check_row(&self, index: usize, before: State, row: &Row, tally: &mut Tally) -> Result<()> {
        if !self.ledger.is_still(index, before) {
            tally.unchecked += 1;
        } else if before.row() != row.version() {
            let key = self.trace.keys[index];
            bail!(WrongAnswer(format!("stale row of key {key} in the cache")));
        }
        Ok(())
    }

    /// Checks a lookup in the mirror, which may be wrong about absent keys only.
    fn check_lookup(
        &self,
        index: usize,
        before: State,
        may_hold: bool,
        tally: &mut Tally,
    ) -> Result<()> {
        if !self.ledger.is_still(index, before) {
            tally.unchecked += 1;
        } else if !before.is_present() {
            tally.absent_lookups += 1;
            tally.false_positives += u64::from(may_hold);
        } else if !may_hold {
            return Err(self.false_negative(index));
        }
        Ok(())
    }

    /// Creates a key or overwrites its row.
    fn write(&self, index: usize, tally: &mut Tally) -> Result<()> {
        let (key, locked) = (self.trace.keys[index], self.ledger.lock(index));
        self.store.write(key, locked.state().version() + 1, |existed| {
            locked.begin();
            if existed {
                tally.overwritten += 1;
                return Ok(());
            }
            tally.created += 1;
            self.mirror.insert(key)
        })?;
        self.cache.invalidate(&key);
        locked.finish(true);
        Ok(())
    }

    /// Deletes a key if it is present.
    fn delete(&self, index: usize, tally: &mut Tally) -> Result<()> {
        let (key, locked) = (self.trace.keys[index], self.ledger.lock(index));
        if self.store.delete(key, || locked.begin())? {
            tally.deleted += 1;
            self.cache.invalidate(&key);
            self.remove(key)?;
        }
        locked.finish(false);
        Ok(())
    }

    /// Removes a key of the store from the mirror.
    fn remove(&self, key: u32) -> Result<()> {
        if self.mirror.remove(key) {
            return Ok(());
        }
        bail!(WrongAnswer(format!("nothing to remove for key {key} of the store")))
    }

    /// The failure of a mirror that does not know a key of the store.
    fn false_negative(&self, index: usize) -> anyhow::Error {
        let key = self.trace.keys[index];
        WrongAnswer(format!("false negative: key {key} is in the store")).into()
    }

    /// Looks up every key in the mirror, then removes all keys of the store and checks that none is
    /// left.
    fn finish(&self) -> Result<End> {
        let keys = &self.trace.keys;
        let (present, absent): (Vec<usize>, Vec<usize>) =
            (0..keys.len()).partition(|&index| self.ledger.load(index).is_present());
        if let Some(&index) = present.iter().find(|&&index| !self.mirror.may_hold(keys[index])) {
            return Err(self.false_negative(index));
        }
        let false_positives =
            absent.iter().filter(|&&index| self.mirror.may_hold(keys[index])).count();
        let (stored, known) = (present.len(), self.mirror.len().unwrap_or(present.len()));
        if known != stored {
            bail!(WrongAnswer(format!("{known} keys in the mirror, {stored} in the store")));
        }
        present.iter().try_for_each(|&index| self.remove(keys[index]))?;
        match self.mirror.len().unwrap_or(0) {
            0 => Ok(End { present: stored, absent: absent.len(), false_positives }),
            left => bail!(WrongAnswer(format!("{left} keys left after removing all"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace that reads each of 1000 keys ten times.
    fn reads() -> Trace {
        let sequence: Vec<u32> = (0..10_000).map(|access| access % 1_000).collect();
        Trace::new(String::new(), &sequence, 0.0)
    }

    fn mirrors() -> [Mirror; 3] {
        [Mirror::Nothing, Mirror::filter(1_000, 0.01).expect("a valid rate"), Mirror::set()]
    }

    /// Checks that `action` fails with `message`. It gets a fresh replay, with the mirror of this
    /// number, and the index of a present key.
    ///
    /// A false positive or an eviction can hide a fault, so there are a few attempts.
    fn assert_fails(
        mirror: usize,
        action: impl Fn(&Replay<'_>, usize) -> Result<()>,
        message: &str,
    ) {
        let noticed = (0..6).any(|_| {
            let (trace, mirror) = (reads(), &mirrors()[mirror]);
            let index = trace.present.iter().position(|&present| present);
            let replay = Replay::new(&trace, mirror, 100).expect("a store");
            let outcome = action(&replay, index.expect("half are present"));
            let reason = outcome.err().and_then(|error| error.downcast::<WrongAnswer>().ok());
            reason.is_some_and(|WrongAnswer(reason)| reason.contains(message))
        });
        assert!(noticed, "mirror {mirror}: the replay did not notice");
    }

    #[test]
    fn changes_keep_every_mirror_right() {
        let sequence: Vec<u32> = (0..20_000).map(|access| access * access % 1_009).collect();
        let trace = Trace::new(String::new(), &sequence, 0.1);
        for mirror in mirrors() {
            let Outcome { tally, end, .. } = replay(&trace, &mirror, 50, 4).expect("right answers");
            let changes = tally.created + tally.overwritten + tally.deleted;
            assert!(changes > 500, "{mirror}: {changes} changes");
            assert_eq!(end.present + end.absent, trace.keys.len());
            assert_eq!(tally.misses, tally.store_lookups + tally.avoided_lookups);
            match mirror {
                Mirror::Nothing => assert_eq!(tally.avoided_lookups, 0),
                _ => assert!(tally.avoided_lookups > 1_000, "{}", tally.avoided_lookups),
            }
        }
    }

    #[test]
    fn a_lost_key_is_noticed_by_a_lookup() {
        let lose = |replay: &Replay<'_>, index| {
            assert!(replay.mirror.remove(replay.trace.keys[index]));
            replay.run(2).map(drop)
        };
        for mirror in [1, 2] {
            assert_fails(mirror, lose, "false negative");
        }
    }

    #[test]
    fn a_lost_key_is_noticed_at_the_end() {
        let lose = |replay: &Replay<'_>, index| {
            assert!(replay.mirror.remove(replay.trace.keys[index]));
            replay.finish().map(drop)
        };
        for mirror in [1, 2] {
            assert_fails(mirror, lose, "false negative");
        }
    }

    #[test]
    fn a_superfluous_copy_is_noticed() {
        let insert = |replay: &Replay<'_>, index| {
            replay.mirror.insert(replay.trace.keys[index]).expect("room");
            replay.finish().map(drop)
        };
        assert_fails(1, insert, "keys in the mirror");
    }

    #[test]
    fn a_removal_of_nothing_is_noticed() {
        let remove = |replay: &Replay<'_>, index| {
            assert!(replay.mirror.remove(replay.trace.keys[index]));
            replay.delete(index, &mut Tally::default())
        };
        for mirror in [1, 2] {
            assert_fails(mirror, remove, "nothing to remove");
        }
    }

    #[test]
    fn a_stale_row_is_noticed() {
        let cache = |replay: &Replay<'_>, index| {
            replay.cache.insert(replay.trace.keys[index], Row::new(7));
            replay.run(2).map(drop)
        };
        assert_fails(0, cache, "stale row");
    }
}
