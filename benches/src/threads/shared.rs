//! The operations of a filter or set that threads share; the order of reads and writes, and the
//! keys that the threads work on.

use std::{
    hint::black_box,
    ops::Range,
    sync::{Mutex, MutexGuard},
};

use guira::{CuckooFilter, Hashed};
use guira_harness::{BATCH, Keys, Pick};

use crate::stop;

/// A filter or set that threads share.
pub trait Shared: Sync {
    /// Returns whether the key seems present.
    fn contains(&self, key: u64) -> bool;

    /// Inserts a key. Returns `false` if it does not fit.
    fn insert(&self, key: u64) -> bool;

    /// Removes a key. Returns `None` if the type cannot remove.
    fn remove(&self, key: u64) -> Option<bool>;

    /// Looks up single keys. Returns how many seem present.
    fn lookups(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.contains(key)).count()
    }

    /// Looks up keys in batches, or single keys if the type has no batches.
    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> usize {
        let _ = found;
        self.lookups(keys)
    }

    /// Inserts single keys. Returns how many fit.
    fn inserts(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.insert(key)).count()
    }

    /// Inserts keys in batches, or single keys. Returns how many fit.
    fn insert_batch(&self, keys: &[u64]) -> usize {
        self.inserts(keys)
    }

    /// Removes single keys. Returns how many were present.
    fn removes(&self, keys: &[u64]) -> Option<usize> {
        keys.iter().try_fold(0, |sum, &key| Some(sum + usize::from(self.remove(key)?)))
    }

    /// Removes keys in batches, or single keys.
    fn remove_batch(&self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        let _ = removed;
        self.removes(keys)
    }

    /// Executes one operation per step: reads of these keys, and writes of this ring.
    fn mix(&self, reads: &[u64], ring: &mut Ring, steps: &Steps) -> usize {
        let contains = |key| self.contains(key);
        steps.run(reads, ring, contains, |key| self.insert(key), |key| self.remove(key))
    }

    /// Returns whether the type can remove.
    fn can_remove(&self) -> bool {
        true
    }

    /// Returns whether the type has batches.
    fn has_batches(&self) -> bool {
        false
    }
}

impl Shared for CuckooFilter {
    fn contains(&self, key: u64) -> bool {
        self.contains(&Hashed(key))
    }

    fn insert(&self, key: u64) -> bool {
        self.insert(&Hashed(key)).is_ok()
    }

    fn remove(&self, key: u64) -> Option<bool> {
        Some(self.remove(&Hashed(key)))
    }

    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> usize {
        self.contains_batch(Hashed::slice(keys), &mut found[..keys.len()])
    }

    fn insert_batch(&self, keys: &[u64]) -> usize {
        keys.len()
            - self.insert_batch(Hashed::slice(keys)).err().map_or(0, |error| error.failures().len())
    }

    fn remove_batch(&self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        Some(self.remove_batch(Hashed::slice(keys), &mut removed[..keys.len()]))
    }

    fn has_batches(&self) -> bool {
        true
    }
}

/// A thread's own keys. A write removes the oldest one or inserts a new one, alternately, so the
/// load stays the same.
///
/// No key returns: it would find its old slot still empty, which makes its insert cheaper than
/// usual.
#[derive(Clone, Debug)]
pub struct Ring {
    keys: Keys,
    oldest: u64,
    next: u64,
    removal_is_next: bool,
}

impl Ring {
    /// Starts with the keys at these indices in the filter; new ones have the next indices.
    pub fn new(keys: Keys, present: Range<u64>) -> Self {
        Self { keys, oldest: present.start, next: present.end, removal_is_next: true }
    }

    /// Takes the oldest keys, which the caller removes.
    #[inline]
    pub fn take_oldest<const N: usize>(&mut self) -> [u64; N] {
        self.oldest += N as u64;
        std::array::from_fn(|i| self.keys.key(self.oldest - N as u64 + i as u64))
    }

    /// Takes as many new keys, which the caller inserts.
    #[inline]
    pub fn take_next<const N: usize>(&mut self) -> [u64; N] {
        self.next += N as u64;
        std::array::from_fn(|i| self.keys.key(self.next - N as u64 + i as u64))
    }

    /// Removes the oldest keys, and inserts as many new ones, in two batches.
    pub fn write_batch<const N: usize>(&mut self, filter: &CuckooFilter) {
        let oldest = self.take_oldest::<N>();
        let removed = filter.remove_batch(Hashed::slice(&oldest), &mut [false; N]);
        assert_eq!(removed, N, "the thread's own keys");
        filter.insert_batch(Hashed::slice(&self.take_next::<N>())).expect("room");
    }

    /// Executes one write.
    #[inline]
    fn write(&mut self, insert: impl Fn(u64) -> bool, remove: impl Fn(u64) -> Option<bool>) {
        let index = if self.removal_is_next { &mut self.oldest } else { &mut self.next };
        let key = self.keys.key(*index);
        *index += 1;
        black_box(if self.removal_is_next { remove(key) } else { Some(insert(key)) });
        self.removal_is_next = !self.removal_is_next;
    }
}

/// The order of reads and writes in a block of operations, evenly spread.
#[derive(Clone, Debug)]
pub struct Steps(Vec<bool>);

impl Steps {
    /// Returns a block with this per cent of reads.
    pub fn new(reads_percent: u32) -> Self {
        let writes = |until: usize| until * (100 - reads_percent as usize) / 100;
        Self((0..BATCH).map(|step| writes(step + 1) > writes(step)).collect())
    }

    /// Executes the block. Returns how many keys were found.
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

/// The keys of a filter that threads work on. Each thread has keys of its own, and never changes
/// the first half of them.
#[derive(Debug)]
pub struct Population {
    keys: Keys,
    /// Number of keys of each thread in the filter.
    share: u64,
    /// The other half of each thread's keys, as the last run left them.
    rings: Vec<Mutex<Ring>>,
}

/// Distance between the indices of two threads' keys.
const APART: u64 = 1 << 40;

impl Population {
    /// Splits `items` keys among threads.
    pub fn new(keys: Keys, items: u64, threads: usize) -> Self {
        let share = (items / threads as u64).max(2);
        let ring = |thread| {
            let first = thread * APART;
            Ring::new(keys, first + share / 2..first + share).into()
        };
        Self { keys, share, rings: (0..threads as u64).map(ring).collect() }
    }

    /// Calls `call` with all keys that are present at first, in blocks, one thread's after
    /// another's.
    pub fn blocks(&self, mut call: impl FnMut(&[u64])) {
        for thread in 0..self.rings.len() {
            self.keys.blocks(self.indices(thread), &mut call);
        }
    }

    /// Inserts all keys. Returns how many do not fit.
    pub fn fill(&self, filter: &dyn Shared) -> u64 {
        let mut refused = 0;
        self.blocks(|block| {
            stop::point();
            refused += (block.len() - filter.insert_batch(block)) as u64;
        });
        refused
    }

    /// Returns the indices of a thread's keys that are present at first.
    pub fn indices(&self, thread: usize) -> Range<u64> {
        let first = thread as u64 * APART;
        first..first + self.share
    }

    /// Returns keys to look up: from the half of a thread's share that is never changed, and absent
    /// ones.
    pub fn reads(&self, thread: usize, present_percent: u32) -> Vec<u64> {
        let first = thread as u64 * APART;
        let pick = Pick { present: present_percent, inserted: (first, first + self.share / 2) };
        // Enough to reach most lines of a large table, and too few to evict a small one.
        let reads = (self.share as usize).next_multiple_of(BATCH).clamp(8 * BATCH, 1024 * BATCH);
        self.keys.pick(reads, pick, thread as u64)
    }

    /// Returns the half of a thread's share that it changes.
    pub fn ring(&self, thread: usize) -> MutexGuard<'_, Ring> {
        self.rings[thread].lock().expect("no panic in a run")
    }
}
