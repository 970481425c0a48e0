//! The keys in a filter that threads work on.

use std::{
    ops::Range,
    sync::{Mutex, MutexGuard},
};

use super::{Ring, Shared};
use crate::common::{BATCH, Keys, Pick};

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
