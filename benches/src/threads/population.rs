//! The keys of a filter that threads work on.

use std::{
    ops::Range,
    sync::{Mutex, MutexGuard},
};

use guira_harness::{BATCH, Keys, Pick};

use super::shared::{Ring, Shared};
use crate::stop;

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
