//! A sharded counter of items: threads that run at once seldom write to the same cache line.

use alloc::boxed::Box;

use super::try_boxed;
use crate::sync::{Tally, number_of_this_thread};

/// Largest number of shards. (Without std, threads cannot be distinguished, and use the same
/// shard.)
const MAX_SHARDS: usize = if cfg!(loom) {
    2
} else if cfg!(any(feature = "std", shuttle)) {
    64
} else {
    1
};
/// Distance between shards in use, in elements of `shards`: 128 bytes, because some processors
/// fetch cache lines in pairs. The elements between them are not used.
const GAP: usize = if cfg!(loom) { 1 } else { 8 };
/// Stripes for each shard. So `STRIPES_PER_WRITER` gives each writer four shards, and shards take
/// half as much memory as stripes.
const STRIPES_PER_SHARD: usize = 16;

/// A counter in shards, each on cache lines of its own, unless there is only one. A thread always
/// adds to the same shard.
///
/// A thread whose number is that of a shard owns the shard, and adds to it
/// by a load and a store. Other threads share the shards, and add by a locked instruction.
#[derive(Debug)]
pub struct ShardedCounter {
    /// One shard, or a power of two of them at multiples of [`GAP`].
    shards: Box<[Shard]>,
}

#[derive(Debug)]
#[repr(align(16))]
struct Shard {
    /// What the owners added, one after the other. What the last owner did happened before the next
    /// one got its number: see `Leases`.
    owned: Tally,
    /// What other threads added.
    shared: Tally,
}

impl ShardedCounter {
    /// Returns a counter at zero, or `None` if the system refuses the memory. It has `limit`
    /// shards, rounded up to a power of two, but at most `MAX_SHARDS`.
    #[must_use]
    pub fn new(limit: usize) -> Option<Self> {
        let shard = || Shard { owned: Tally::new(), shared: Tally::new() };
        Some(Self { shards: try_boxed((0..places_for(limit)).map(|_| shard()))? })
    }

    /// Bytes of the shards of a counter with this `limit`.
    pub(crate) fn bytes_for(limit: usize) -> usize {
        places_for(limit) * size_of::<Shard>()
    }

    /// The largest useful number of shards beside this many stripes.
    pub(crate) fn limit_beside(stripes: usize) -> usize {
        stripes / STRIPES_PER_SHARD
    }

    /// The number of shards of a counter beside this many stripes.
    pub(crate) fn shards_beside(stripes: usize) -> usize {
        shards_for(Self::limit_beside(stripes))
    }

    /// Adds to the counter.
    #[inline]
    pub fn add(&self, change: i64) {
        self.add_as(number_of_this_thread(), change);
    }

    /// Adds to the counter, as the thread with this number.
    #[inline]
    pub fn add_as(&self, number: usize, change: i64) {
        // Of the numbers that threads have, only `usize::MAX`, which all of them have without std,
        // is so large that this wraps around. The result is at least `usize::MAX - 7`, and so is
        // not a place either.
        let place = number.wrapping_mul(GAP);
        match self.shards.get(place) {
            Some(shard) => shard.owned.add_alone(change),
            None => self.shards[place & (self.shards.len() - 1)].shared.add(change),
        }
    }

    /// Returns the sum. It is exact if every call of `add` happened before this one.
    ///
    /// While threads run, it can miss any of their changes, so it can even be negative.
    #[must_use]
    pub fn sum(&self) -> i64 {
        let shards = self.shards.iter().step_by(GAP);
        shards.map(|shard| shard.owned.get() + shard.shared.get()).sum()
    }

    /// Bytes of the shards.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.shards)
    }
}

/// The number of shards to allocate, unused ones included, given the largest useful number.
fn places_for(limit: usize) -> usize {
    match shards_for(limit) {
        1 => 1,
        shards => shards * GAP,
    }
}

/// The number of shards, given the largest useful one.
fn shards_for(limit: usize) -> usize {
    limit.clamp(1, MAX_SHARDS).next_power_of_two()
}

#[cfg(all(test, feature = "std", not(any(loom, shuttle))))]
mod tests {
    use std::thread;

    use super::{GAP, MAX_SHARDS, ShardedCounter};

    #[test]
    fn a_thread_that_owns_no_shard_changes_no_shard_as_its_owner() {
        let counter = ShardedCounter::new(2).expect("memory");
        for number in [0, 1, 2, 3, MAX_SHARDS, usize::MAX] {
            counter.add_as(number, 1);
        }
        let of_shards = |part: fn(&super::Shard) -> i64| {
            counter.shards.iter().step_by(GAP).map(part).collect::<Vec<_>>()
        };
        assert_eq!(of_shards(|shard| shard.owned.get()), [1, 1]);
        assert_eq!(of_shards(|shard| shard.shared.get()), [2, 2]);
        assert_eq!(counter.sum(), 6);
    }

    #[test]
    fn a_single_shard_is_not_padded() {
        let counter = ShardedCounter::new(1).expect("memory");
        assert_eq!(counter.size_in_bytes(), 16);
        for number in [0, 0, 1, 7, 8, MAX_SHARDS, usize::MAX] {
            counter.add_as(number, 1);
        }
        assert_eq!((counter.shards[0].owned.get(), counter.sum()), (2, 7));
        for limit in [2, 3, 1_000, usize::MAX] {
            let counter = ShardedCounter::new(limit).expect("memory");
            let shards = limit.min(MAX_SHARDS).next_power_of_two();
            assert_eq!(counter.size_in_bytes(), 128 * shards);
            assert_eq!(counter.size_in_bytes(), ShardedCounter::bytes_for(limit));
        }
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
