//! How many items there are, counted without a line that all threads write to.

use alloc::boxed::Box;

use crossbeam_utils::CachePadded;

use crate::sync::{Tally, number_of_this_thread, processors};

/// The most shards, where there are that many processors.
const MOST_SHARDS: usize = if cfg!(loom) { 2 } else { 64 };

/// A counter in shards, each on lines of its own; a thread always adds to the same shard.
#[derive(Debug)]
pub struct ShardedCounter {
    /// A power of two of them.
    shards: Box<[CachePadded<Tally>]>,
}

impl ShardedCounter {
    /// A counter at zero, with no more than `limit` shards, rounded up to a power of two.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        // More than processors, as far as that goes: threads that run at once seldom share a shard.
        let shards = (4 * processors()).next_power_of_two().min(MOST_SHARDS);
        let shards = shards.min(limit.max(1).next_power_of_two());
        Self { shards: (0..shards).map(|_| CachePadded::new(Tally::new())).collect() }
    }

    /// Adds to the counter.
    #[inline]
    pub fn add(&self, change: i64) {
        self.shards[number_of_this_thread() & (self.shards.len() - 1)].add(change);
    }

    /// The sum: exact once all threads that added have been synchronized with.
    ///
    /// Beside running threads it may miss any of their additions, so it can even be negative.
    #[must_use]
    pub fn sum(&self) -> i64 {
        self.shards.iter().map(|shard| shard.get()).sum()
    }

    /// Sets the counter to zero.
    pub fn reset(&mut self) {
        self.shards.iter_mut().for_each(|shard| shard.reset());
    }

    /// Bytes of the shards.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.shards)
    }
}
