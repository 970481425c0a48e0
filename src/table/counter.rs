//! A sharded counter of items: threads that run at once seldom write to the same cache line.

use alloc::boxed::Box;

use crossbeam_utils::CachePadded;

use super::try_boxed;
use crate::sync::{Tally, number_of_this_thread, processors};

/// Largest number of shards, reached on machines with enough processors.
const MAX_SHARDS: usize = if cfg!(loom) { 2 } else { 64 };

/// A counter in shards, each on cache lines of its own. A thread always adds to the same shard.
///
/// A thread whose number is that of a shard owns the shard, and adds to it
/// by a load and a store. Other threads share the shards, and add by a locked instruction.
#[derive(Debug)]
pub struct ShardedCounter {
    /// A power of two.
    shards: Box<[CachePadded<Shard>]>,
}

#[derive(Debug)]
struct Shard {
    /// What the owners added, one after the other. What the last owner did happened before the next
    /// one got its number: see `Leases`.
    owned: Tally,
    /// What other threads added.
    shared: Tally,
}

impl ShardedCounter {
    /// Returns a counter at zero with at most `limit` shards, rounded up to a power of two, or
    /// `None` if the system refuses the memory.
    #[must_use]
    pub fn new(limit: usize) -> Option<Self> {
        let shard = || CachePadded::new(Shard { owned: Tally::new(), shared: Tally::new() });
        Some(Self { shards: try_boxed((0..shards_for(limit)).map(|_| shard()))? })
    }

    /// Bytes of the shards of a counter with this `limit`.
    pub(crate) fn bytes_for(limit: usize) -> usize {
        shards_for(limit) * size_of::<CachePadded<Shard>>()
    }

    /// Adds to the counter.
    #[inline]
    pub fn add(&self, change: i64) {
        self.add_as(number_of_this_thread(), change);
    }

    /// Adds to the counter, as the thread with this number.
    #[inline]
    pub fn add_as(&self, number: usize, change: i64) {
        match self.shards.get(number) {
            Some(shard) => shard.owned.add_alone(change),
            // mutant: tally-owned-by-two
            None => self.shards[number & (self.shards.len() - 1)].shared.add(change),
        }
    }

    /// Returns the sum. It is exact if every call of `add` happened before this one.
    ///
    /// Beside running threads it can miss any of their changes, so it can even be negative.
    #[must_use]
    pub fn sum(&self) -> i64 {
        self.shards.iter().map(|shard| shard.owned.get() + shard.shared.get()).sum()
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

#[cfg(all(test, feature = "std", not(any(loom, shuttle))))]
mod tests {
    use std::thread;

    use super::{MAX_SHARDS, ShardedCounter};

    #[test]
    fn a_thread_that_owns_no_shard_changes_no_shard_as_its_owner() {
        let counter = ShardedCounter::new(2).expect("memory");
        for number in [0, 1, 2, 3, MAX_SHARDS, usize::MAX] {
            counter.add_as(number, 1);
        }
        let of_shards = |part: fn(&super::Shard) -> i64| {
            counter.shards.iter().map(|shard| part(shard)).collect::<Vec<_>>()
        };
        assert_eq!(of_shards(|shard| shard.owned.get()), [1, 1]);
        assert_eq!(of_shards(|shard| shard.shared.get()), [2, 2]);
        assert_eq!(counter.sum(), 6);
    }

    /// Threads begin and end all the time, and more of them live at once than there are shards.
    #[test]
    fn the_sum_is_exact_when_the_threads_have_ended() {
        const THREADS: i64 = 200;
        const ADDS: i64 = 20_000;
        let counter = ShardedCounter::new(4).expect("memory");
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let counter = &counter;
                scope.spawn(move || (0..ADDS).for_each(|_| counter.add(thread % 3 - 1)));
            }
        });
        let expected: i64 = (0..THREADS).map(|thread| ADDS * (thread % 3 - 1)).sum();
        assert_eq!(counter.sum(), expected);
    }
}
