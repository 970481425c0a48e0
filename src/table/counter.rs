//! A sharded counter of items: threads that run at once seldom write to the same cache line.

use alloc::boxed::Box;

use crossbeam_utils::CachePadded;

use crate::sync::{Tally, number_of_this_thread, processors};

/// Largest number of shards, reached on machines with enough processors.
const MAX_SHARDS: usize = if cfg!(loom) { 2 } else { 64 };

/// A counter in shards, each on cache lines of its own. A thread always adds to the same shard.
#[derive(Debug)]
pub struct ShardedCounter {
    /// A power of two.
    shards: Box<[CachePadded<Tally>]>,
}

impl ShardedCounter {
    /// Returns a counter at zero with at most `limit` shards, rounded up to a power of two.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        // More shards than processors, so that threads that run at once seldom share one.
        let shards = (4 * processors()).next_power_of_two().min(MAX_SHARDS);
        let shards = shards.min(limit.max(1).next_power_of_two());
        Self { shards: (0..shards).map(|_| CachePadded::new(Tally::new())).collect() }
    }

    /// Adds to the counter.
    #[inline]
    pub fn add(&self, change: i64) {
        self.shards[number_of_this_thread() & (self.shards.len() - 1)].add(change);
    }

    /// Returns the sum. It is exact if every call of `add` happened before this one.
    ///
    /// Beside running threads it can miss any of their changes, so it can even be negative.
    #[must_use]
    pub fn sum(&self) -> i64 {
        self.shards.iter().map(|shard| shard.get()).sum()
    }

    /// Bytes of the shards.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.shards)
    }
}
