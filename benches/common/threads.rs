//! What several pinned threads do with one filter: mixes of reads and writes, and look-ups timed one
//! by one beside writers.

use std::{
    hint::black_box,
    ops::Range,
    sync::{
        Barrier, Mutex, MutexGuard, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use guira::CuckooFilter;
use hdrhistogram::Histogram;

use super::{BATCH, Cores, Keys, Pick};

/// A filter or set that threads share.
pub trait Shared: Sync {
    /// Whether the key seems to be there.
    fn contains(&self, key: u64) -> bool;

    /// Adds a key; `false` if it did not fit.
    fn insert(&self, key: u64) -> bool;

    /// Takes a key out; `None` where that cannot be done.
    fn remove(&self, key: u64) -> Option<bool>;

    /// Looks up one key after another; returns how many seem to be there.
    fn lookups(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.contains(key)).count()
    }

    /// Looks up keys in the fastest way there is for many, one by one where there is no other.
    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> usize {
        let _ = found;
        self.lookups(keys)
    }

    /// Adds one key after another; returns how many fitted.
    fn inserts(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.insert(key)).count()
    }

    /// Adds keys in the fastest way there is for many; returns how many fitted.
    fn insert_batch(&self, keys: &[u64]) -> usize {
        self.inserts(keys)
    }

    /// Takes out one key after another; returns how many were there.
    fn removes(&self, keys: &[u64]) -> Option<usize> {
        keys.iter().try_fold(0, |sum, &key| Some(sum + usize::from(self.remove(key)?)))
    }

    /// Takes keys out in the fastest way there is for many.
    fn remove_batch(&self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        let _ = removed;
        self.removes(keys)
    }

    /// One operation per step, reads of these keys and writes of this ring.
    fn mix(&self, reads: &[u64], ring: &mut Ring, steps: &Steps) -> usize {
        let contains = |key| self.contains(key);
        steps.run(reads, ring, contains, |key| self.insert(key), |key| self.remove(key))
    }

    /// Whether keys can be taken out.
    fn can_remove(&self) -> bool {
        true
    }
}

impl Shared for CuckooFilter {
    fn contains(&self, key: u64) -> bool {
        self.contains_hash(key)
    }

    fn insert(&self, key: u64) -> bool {
        self.insert_hash(key).is_ok()
    }

    fn remove(&self, key: u64) -> Option<bool> {
        Some(self.remove_hash(key))
    }

    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> usize {
        self.contains_hash_batch(keys, &mut found[..keys.len()])
    }

    fn insert_batch(&self, keys: &[u64]) -> usize {
        keys.len() - self.insert_hash_batch(keys).err().map_or(0, |error| error.rejected().len())
    }

    fn remove_batch(&self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        Some(self.remove_hash_batch(keys, &mut removed[..keys.len()]))
    }
}

/// A thread's own keys. A write takes the oldest one in the filter out, or puts a new one in, in turn, so
/// the load stays.
///
/// No key comes back: one that was taken out a moment ago would find the lane that it left still empty,
/// and an insert would cost less than it does in use.
#[derive(Clone, Debug)]
pub struct Ring {
    keys: Keys,
    oldest: u64,
    next: u64,
    removal_is_next: bool,
    /// Writes that failed: no room, or nothing to remove.
    pub failures: u64,
}

impl Ring {
    /// The keys of these indices are in the filter; new ones come from the indices after them.
    pub fn new(keys: Keys, present: Range<u64>) -> Self {
        Self { keys, oldest: present.start, next: present.end, removal_is_next: true, failures: 0 }
    }

    /// One write.
    #[inline]
    fn write(&mut self, insert: impl Fn(u64) -> bool, remove: impl Fn(u64) -> Option<bool>) {
        let index = if self.removal_is_next { &mut self.oldest } else { &mut self.next };
        let key = self.keys.key(*index);
        *index += 1;
        let done = if self.removal_is_next { remove(key) == Some(true) } else { insert(key) };
        self.removal_is_next = !self.removal_is_next;
        self.failures += u64::from(!done);
    }
}

/// The order of reads and writes in a block of operations, evenly spread.
#[derive(Clone, Debug)]
pub struct Steps(Vec<bool>);

impl Steps {
    /// A block with as many per cent of reads.
    pub fn new(reads_percent: u32) -> Self {
        let writes = |until: usize| until * (100 - reads_percent as usize) / 100;
        Self((0..BATCH).map(|step| writes(step + 1) > writes(step)).collect())
    }

    /// Runs the block; returns how many keys were found.
    #[inline]
    pub fn run(
        &self,
        reads: &[u64],
        ring: &mut Ring,
        contains: impl Fn(u64) -> bool,
        insert: impl Fn(u64) -> bool,
        remove: impl Fn(u64) -> Option<bool>,
    ) -> usize {
        let mut found = 0;
        for (&write, &key) in self.0.iter().zip(reads) {
            if write {
                ring.write(&insert, &remove);
            } else {
                found += usize::from(contains(key));
            }
        }
        found
    }
}

/// What a filter holds while threads work on it: for each thread keys of its own, of which the first
/// half is never changed.
#[derive(Debug)]
pub struct Population {
    keys: Keys,
    /// Keys of each thread in the filter.
    share: u64,
    /// The other half of each thread's keys, as the last run left them.
    rings: Vec<Mutex<Ring>>,
}

/// Indices of different threads' keys are so far apart.
const APART: u64 = 1 << 40;

impl Population {
    /// So many keys for all threads together.
    pub fn new(keys: Keys, items: u64, threads: usize) -> Self {
        let share = (items / threads as u64).max(2);
        let ring = |thread| {
            let first = thread * APART;
            Ring::new(keys, first + share / 2..first + share).into()
        };
        Self { keys, share, rings: (0..threads as u64).map(ring).collect() }
    }

    /// Calls with all keys that are in at first, a block at a time, one thread's after another's.
    pub fn blocks(&self, mut call: impl FnMut(&[u64])) {
        for thread in 0..self.rings.len() {
            self.keys.blocks(self.indices(thread), &mut call);
        }
    }

    /// Inserts all keys; returns how many did not fit.
    pub fn fill(&self, filter: &dyn Shared) -> u64 {
        let mut refused = 0;
        self.blocks(|block| refused += (block.len() - filter.insert_batch(block)) as u64);
        refused
    }

    /// Indices of a thread's keys that are in at first.
    pub fn indices(&self, thread: usize) -> Range<u64> {
        let first = thread as u64 * APART;
        first..first + self.share
    }

    /// Keys to look up: of the half of a thread's share that is never changed, and absent ones.
    pub fn reads(&self, thread: usize, present_percent: u32) -> Vec<u64> {
        let first = thread as u64 * APART;
        let pick = Pick { present: present_percent, inserted: (first, first + self.share / 2) };
        // Enough to use a large table's lines, and not so many that they push a small one out.
        let reads = (self.share as usize).next_multiple_of(BATCH).clamp(8 * BATCH, 1024 * BATCH);
        self.keys.pick(reads, pick, thread as u64)
    }

    /// The half of a thread's share that it changes.
    pub fn ring(&self, thread: usize) -> MutexGuard<'_, Ring> {
        self.rings[thread].lock().expect("no panic in a run")
    }
}

/// What one run of several threads came to.
#[derive(Clone, Debug)]
pub struct Throughput {
    /// Millions of operations a second, of each thread.
    pub per_thread: Vec<f64>,
    /// Writes that failed.
    pub failures: u64,
}

impl Throughput {
    /// Millions of operations a second, of all threads together.
    pub fn total(&self) -> f64 {
        self.per_thread.iter().sum()
    }
}

/// What the threads of a run do.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Per cent of operations that are look-ups; the others are writes.
    pub reads: u32,
    /// Per cent of look-ups whose key is present.
    pub present: u32,
    /// Look-ups in batches, which is for look-ups alone.
    pub batches: bool,
}

impl Work {
    /// A share of reads, one by one, half of them of keys that are present.
    pub const fn mix(reads: u32) -> Self {
        Self { reads, present: 50, batches: false }
    }
}

/// Operations a second of as many pinned threads, all in the same span of time.
pub fn throughput(
    filter: &dyn Shared,
    cores: &Cores,
    population: &Population,
    threads: usize,
    work: Work,
    time: Duration,
) -> Throughput {
    let steps = Steps::new(work.reads);
    let (barrier, start) = (Barrier::new(threads), OnceLock::new());
    let run = |thread: usize| {
        cores.pin(thread);
        let reads = population.reads(thread, work.present);
        let mut ring = population.ring(thread);
        let failures = ring.failures;
        let mut found = [false; BATCH];
        barrier.wait();
        let started = *start.get_or_init(Instant::now);
        let mut operations = 0;
        for reads in reads.chunks_exact(BATCH).cycle() {
            black_box(match (work.reads, work.batches) {
                (100, true) => filter.lookup_batch(reads, &mut found),
                (100, false) => filter.lookups(reads),
                _ => filter.mix(reads, &mut ring, &steps),
            });
            operations += BATCH;
            if started.elapsed() >= time {
                break;
            }
        }
        (operations, started.elapsed(), ring.failures - failures)
    };
    let results: Vec<(usize, Duration, u64)> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move_into(&run, thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread of a run")).collect()
    });
    // Threads that share a core take turns, so only the span of all of them tells their speed.
    let span = results.iter().map(|(_, span, _)| *span).max().unwrap_or_default().as_secs_f64();
    let speed = |&(operations, ..): &(usize, _, _)| operations as f64 / span / 1e6;
    Throughput {
        per_thread: results.iter().map(speed).collect(),
        failures: results.iter().map(|&(.., failures)| failures).sum(),
    }
}

/// A closure that calls another one with a number.
fn move_into<T>(work: &(impl Fn(usize) -> T + Sync), number: usize) -> impl FnOnce() -> T {
    move || work(number)
}

/// How a reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As fast as it can, one key after another.
    Single,
    /// As fast as it can, in batches.
    Batch,
    /// One key at a time, each look-up timed.
    SingleTimed,
    /// Bursts of 32 keys in one call, each timed.
    BurstTimed,
}

/// Nanoseconds of the longest call that is told from longer ones: ten seconds.
const LONGEST: u64 = 10_000_000_000;

/// Keys of a timed burst.
pub const BURST: usize = 32;

/// What a reader beside writers came to.
pub struct Beside {
    /// Millions of look-ups a second, of the one reader.
    pub reads: f64,
    /// Millions of removals and inserts a second, of all writers together.
    pub writes: f64,
    /// Look-ups that did not find a key that was there all the time.
    pub misses: u64,
    /// Nanoseconds of each timed look-up or burst, the clock's own share included.
    pub latency: Histogram<u64>,
}

/// One pinned reader of keys that are always there, beside writers on the cores after its own. The
/// writers change `written`, which is the same filter or, to see what the machine alone takes, another.
pub fn beside(
    (filter, population): (&dyn Shared, &Population),
    (written, changing): (&dyn Shared, &Population),
    cores: &Cores,
    writers: usize,
    reading: Reading,
    time: Duration,
) -> Beside {
    let (start, stop) = (Barrier::new(writers + 1), AtomicBool::new(false));
    let steps = Steps::new(0);
    let write = |writer: usize| {
        cores.pin(writer + 1);
        let mut ring = changing.ring(writer);
        let unread = [0; BATCH];
        start.wait();
        let (started, mut writes) = (Instant::now(), 0_u64);
        while !stop.load(Relaxed) {
            written.mix(&unread, &mut ring, &steps);
            writes += BATCH as u64;
        }
        writes as f64 / started.elapsed().as_secs_f64() / 1e6
    };
    let read = || {
        cores.pin(0);
        let keys = population.reads(0, 100);
        let mut latency = Histogram::new_with_bounds(1, LONGEST, 3).expect("bounds in order");
        let mut found = [false; BATCH];
        start.wait();
        let (started, mut reads, mut hits) = (Instant::now(), 0, 0);
        for keys in keys.chunks_exact(BATCH).cycle() {
            hits += match reading {
                Reading::Single => filter.lookups(keys),
                Reading::Batch => filter.lookup_batch(keys, &mut found),
                Reading::SingleTimed => timed(filter, keys, 1, &mut latency),
                Reading::BurstTimed => timed(filter, keys, BURST, &mut latency),
            };
            reads += BATCH;
            if started.elapsed() >= time {
                break;
            }
        }
        let speed = reads as f64 / started.elapsed().as_secs_f64() / 1e6;
        stop.store(true, Relaxed);
        (speed, (reads - hits) as u64, latency)
    };
    thread::scope(|scope| {
        let writers: Vec<_> =
            (0..writers).map(|writer| scope.spawn(move_into(&write, writer))).collect();
        let reader = scope.spawn(read);
        let (reads, misses, latency) = reader.join().expect("the reader");
        let writes =
            writers.into_iter().fold(0.0, |sum, writer| sum + writer.join().expect("a writer"));
        Beside { reads, writes, misses, latency }
    })
}

/// Looks keys up so many at a time, and notes how long each call takes.
fn timed(
    filter: &dyn Shared,
    keys: &[u64],
    at_a_time: usize,
    latency: &mut Histogram<u64>,
) -> usize {
    let (mut hits, mut found) = (0, [false; BURST]);
    for keys in keys.chunks(at_a_time) {
        let start = Instant::now();
        hits += match keys {
            &[key] => usize::from(filter.contains(key)),
            keys => filter.lookup_batch(keys, &mut found),
        };
        latency.saturating_record(start.elapsed().as_nanos() as u64);
    }
    hits
}
