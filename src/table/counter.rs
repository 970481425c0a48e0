//! A sharded counter of items: threads that run at once seldom write to the same cache line.

use alloc::boxed::Box;

use crossbeam_utils::CachePadded;

use super::try_boxed;
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
    /// Returns a counter at zero with at most `limit` shards, rounded up to a power of two, or
    /// `None` if the system refuses the memory.
    #[must_use]
    pub fn new(limit: usize) -> Option<Self> {
        let shards = (0..shards_for(limit)).map(|_| CachePadded::new(Tally::new()));
        Some(Self { shards: try_boxed(shards)? })
    }

    /// Bytes of the shards of a counter with this `limit`.
    pub(crate) fn bytes_for(limit: usize) -> usize {
        shards_for(limit) * size_of::<CachePadded<Tally>>()
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

/// The number of shards, given the largest useful one.
fn shards_for(limit: usize) -> usize {
    // More shards than processors, so that threads that run at once seldom share one.
    let shards = (4 * processors()).next_power_of_two().min(MAX_SHARDS);
    shards.min(limit.max(1).next_power_of_two())
}
