//! Replays a trace from several threads: through the cache, past the mirror, to the store.
//!
//! The order is the contract. A key is inserted into the mirror before the store's write is committed, and
//! removed after its deletion is: so the mirror knows every key that the store has, at every
//! moment, and who is told "absent" need not look. The store's own transaction says whether a key was
//! there, so overwriting inserts nothing and deleting what is absent removes nothing.
//!
//! The cache is filled, and an entry withdrawn, under the key's lock. Otherwise a reader could put in a
//! row that it had read before the row was deleted. Asking the mirror takes no lock.

use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use indicatif::ProgressBar;
use moka::sync::Cache;

use crate::{
    Failure, broken,
    ledger::{Ledger, State},
    mirror::Mirror,
    store::{Row, Store},
    trace::{Access, Action, Trace},
};

/// Accesses that a thread takes at a time.
const BLOCK: usize = 1024;

/// What is counted.
#[derive(Default)]
pub struct Tally {
    /// Reads that the cache answered, and all others.
    pub hits: u64,
    pub misses: u64,
    /// Look-ups in the store that a reader made, and those that found nothing.
    pub lookups: u64,
    pub in_vain: u64,
    /// Reads that the mirror answered.
    pub spared: u64,
    /// Times the mirror was asked for a key that was absent all the while, and said otherwise.
    pub asked_absent: u64,
    pub false_positives: u64,
    /// Keys that were created, overwritten and deleted.
    pub created: u64,
    pub overwritten: u64,
    pub deleted: u64,
    /// Answers that overlapped a change of their key, and were not checked.
    pub unchecked: u64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.lookups += other.lookups;
        self.in_vain += other.in_vain;
        self.spared += other.spared;
        self.asked_absent += other.asked_absent;
        self.false_positives += other.false_positives;
        self.created += other.created;
        self.overwritten += other.overwritten;
        self.deleted += other.deleted;
        self.unchecked += other.unchecked;
    }
}

/// How one variant did.
pub struct Outcome {
    pub tally: Tally,
    pub elapsed: Duration,
    /// Bytes of the mirror with the keys in that the store has at the start.
    pub bytes: usize,
    /// Absent keys at the end, and how many of them the mirror takes for present.
    pub absent: usize,
    pub mistaken: usize,
    /// Keys in the store at the end, all of which the mirror knew.
    pub left: usize,
    /// What the mirror takes to answer for the key of one access, with nothing else between.
    pub answer: Duration,
}

/// One variant: everything that the threads share.
struct Replay<'a> {
    trace: &'a Trace,
    mirror: &'a Mirror,
    store: Store,
    cache: Cache<u32, Row>,
    ledger: Ledger,
    /// Where the next block of accesses starts.
    next: AtomicUsize,
}

/// Replays a trace with a mirror, which must be empty and is in the end.
pub fn replay(
    trace: &Trace,
    mirror: &Mirror,
    entries: u64,
    threads: usize,
    bar: &ProgressBar,
) -> Result<Outcome, Failure> {
    let present = || trace.keys.iter().zip(&trace.present).filter(|&(_, &present)| present);
    present().try_for_each(|(&key, _)| mirror.insert(key))?;
    let replay = Replay {
        trace,
        mirror,
        store: Store::new(present().map(|(&key, _)| key))?,
        cache: Cache::new(entries),
        ledger: Ledger::new(&trace.present),
        next: AtomicUsize::new(0),
    };
    let bytes = mirror.bytes();
    let start = Instant::now();
    let tally = replay.run(threads, bar)?;
    let elapsed = start.elapsed();
    let answer = replay.time_answers();
    let (left, absent, mistaken) = replay.clear()?;
    Ok(Outcome { tally, elapsed, bytes, absent, mistaken, left, answer })
}

impl Replay<'_> {
    /// Lets the threads replay the trace.
    fn run(&self, threads: usize, bar: &ProgressBar) -> Result<Tally, Failure> {
        let outcomes: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..threads).map(|_| scope.spawn(|| self.take_blocks(bar))).collect();
            let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
            joined.map(|outcome| outcome.unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        let mut tally = Tally::default();
        for outcome in outcomes {
            tally.add(&outcome?);
        }
        Ok(tally)
    }

    /// Takes block after block, as long as there are any.
    fn take_blocks(&self, bar: &ProgressBar) -> Result<Tally, Failure> {
        let mut tally = Tally::default();
        loop {
            // Relaxed: it only deals out the blocks.
            let from = self.next.fetch_add(BLOCK, Ordering::Relaxed);
            let Some(rest) = self.trace.accesses.get(from..).filter(|rest| !rest.is_empty()) else {
                return Ok(tally);
            };
            let block = &rest[..BLOCK.min(rest.len())];
            for &access in block {
                self.take(access, &mut tally).inspect_err(|_| {
                    // The others have nothing more to do.
                    self.next.store(self.trace.accesses.len(), Ordering::Relaxed);
                })?;
            }
            bar.inc(block.len() as u64);
        }
    }

    /// Replays one access.
    fn take(&self, access: Access, tally: &mut Tally) -> Result<(), Failure> {
        let at = access.at as usize;
        match access.action {
            Action::Read => self.read(at, tally),
            Action::Write => self.write(at, tally),
            Action::Delete => self.delete(at, tally),
        }
    }

    /// Reads a key: from the cache, or else from the store, unless the mirror says that it is absent.
    fn read(&self, at: usize, tally: &mut Tally) -> Result<(), Failure> {
        let (key, before) = (self.trace.keys[at], self.ledger.look(at));
        if let Some(row) = self.cache.get(&key) {
            tally.hits += 1;
            return self.check_row(at, before, &row, tally);
        }
        tally.misses += 1;
        let may_hold = self.mirror.may_hold(key);
        self.check_answer(at, before, may_hold, tally)?;
        if !may_hold {
            tally.spared += 1;
            return Ok(());
        }
        let held = self.ledger.hold(at);
        let row = self.store.read(key)?;
        tally.lookups += 1;
        if row.as_ref().and_then(Row::version) != held.state().row() {
            return Err(broken(format!("the store has another row of the key {key}")));
        }
        match row {
            Some(row) => self.cache.insert(key, row),
            None => tally.in_vain += 1,
        }
        Ok(())
    }

    /// Checks a row that the cache had: it must be the one that was written last.
    fn check_row(
        &self,
        at: usize,
        before: State,
        row: &Row,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        if !self.ledger.is_still(at, before) {
            tally.unchecked += 1;
        } else if before.row() != row.version() {
            let key = self.trace.keys[at];
            return Err(broken(format!("the cache has an old row of the key {key}")));
        }
        Ok(())
    }

    /// Checks what the mirror said of a key: it may be wrong about one that is absent.
    fn check_answer(
        &self,
        at: usize,
        before: State,
        may_hold: bool,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        if !self.ledger.is_still(at, before) {
            tally.unchecked += 1;
        } else if !before.is_present() {
            tally.asked_absent += 1;
            tally.false_positives += u64::from(may_hold);
        } else if !may_hold {
            return Err(self.missed(at));
        }
        Ok(())
    }

    /// Creates a key, or overwrites it.
    fn write(&self, at: usize, tally: &mut Tally) -> Result<(), Failure> {
        let (key, held) = (self.trace.keys[at], self.ledger.hold(at));
        self.store.write(key, held.state().version() + 1, |was_there| {
            held.mark();
            if was_there {
                tally.overwritten += 1;
                return Ok(());
            }
            tally.created += 1;
            self.mirror.insert(key)
        })?;
        self.cache.invalidate(&key);
        held.settle(true);
        Ok(())
    }

    /// Deletes a key, if it is there.
    fn delete(&self, at: usize, tally: &mut Tally) -> Result<(), Failure> {
        let (key, held) = (self.trace.keys[at], self.ledger.hold(at));
        if self.store.delete(key, || held.mark())? {
            tally.deleted += 1;
            self.cache.invalidate(&key);
            self.remove(key)?;
        }
        held.settle(false);
        Ok(())
    }

    /// Takes out a key that the store had, which must be in.
    fn remove(&self, key: u32) -> Result<(), Failure> {
        if self.mirror.remove(key) {
            return Ok(());
        }
        Err(broken(format!("there is nothing to remove for the key {key} of the store")))
    }

    /// The failure of a mirror that does not know a key of the store.
    fn missed(&self, at: usize) -> Failure {
        broken(format!("false negative: key {} is in the store", self.trace.keys[at]))
    }

    /// How long one answer takes, for the keys of all accesses one after another.
    fn time_answers(&self) -> Duration {
        let start = Instant::now();
        let keys = self.trace.accesses.iter().map(|access| self.trace.keys[access.at as usize]);
        let count = keys.filter(|&key| self.mirror.may_hold(key)).count();
        std::hint::black_box(count);
        start.elapsed() / self.trace.accesses.len() as u32
    }

    /// Asks for every key, and removes those that the store has, whereupon the mirror must be empty.
    /// Returns how many keys are present, absent, and absent but taken for present.
    fn clear(&self) -> Result<(usize, usize, usize), Failure> {
        let keys = &self.trace.keys;
        let (present, absent): (Vec<usize>, Vec<usize>) =
            (0..keys.len()).partition(|&at| self.ledger.look(at).is_present());
        if let Some(&at) = present.iter().find(|&&at| !self.mirror.may_hold(keys[at])) {
            return Err(self.missed(at));
        }
        let mistaken = absent.iter().filter(|&&at| self.mirror.may_hold(keys[at])).count();
        let known = self.mirror.len().unwrap_or(present.len());
        if known != present.len() {
            return Err(broken(format!("{known} keys are in, of {} in the store", present.len())));
        }
        present.iter().try_for_each(|&at| self.remove(keys[at]))?;
        match self.mirror.len().unwrap_or(0) {
            0 => Ok((present.len(), absent.len(), mistaken)),
            left => Err(broken(format!("all keys are removed, and {left} are left"))),
        }
    }
}
