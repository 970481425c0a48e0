//! The number of occupied slots, as far as growth needs to know it.

use alloc::boxed::Box;

use crossbeam_utils::CachePadded;

use super::{ShardedCounter, try_boxed};
use crate::sync::{Tally, number_of_this_thread};

/// Number of inserts between two checks of whether the table must grow. A thread counts as many
/// for itself before it adds them to the sum, which all threads read.
pub(in crate::table) const STEP: i64 = if cfg!(any(loom, shuttle)) { 1 } else { 32 };
/// What a shard has at first. It is so large that the first change of the shard is noticed.
const FRESH: i64 = 1 << 40;

/// Counts items, each thread for itself, and ghosts.
///
/// **One thread checks the sum whenever an insert makes it a multiple of [`STEP`]**, and then the
/// sum is exact: what the thread has counted for itself is never negative, so it follows from the
/// number of items, however that was reached. What a loaded table has beyond a multiple of `STEP`
/// goes to the first thread that changes it. So tables with equal histories grow at the same calls,
/// also if one of them was saved and loaded, as long as one thread writes between two loads. It
/// need not be the same thread.
#[derive(Debug)]
pub(in crate::table) struct Occupancy {
    /// What threads have counted for themselves: `0 .. STEP`, but for shards that are unused.
    shards: Box<[CachePadded<Tally>]>,
    /// The sum without the shards.
    total: CachePadded<Tally>,
    /// What goes to the first shard that is changed.
    rest: Tally,
    /// Slots that belong to no item. In a table whose slots expire, they count as items.
    ghosts: Tally,
    /// Buckets in use beyond the first ones: each split adds one, and each join takes one.
    splits: Tally,
}

impl Occupancy {
    /// Returns counters at zero beside this many stripes, or `None` if the system refuses the
    /// memory.
    pub(in crate::table) fn new(stripes: usize) -> Option<Self> {
        let shard = || {
            let shard = Tally::new();
            shard.add(FRESH);
            CachePadded::new(shard)
        };
        let shards = ShardedCounter::shards_beside(stripes);
        Some(Self {
            shards: try_boxed((0..shards).map(|_| shard()))?,
            total: CachePadded::new(Tally::new()),
            rest: Tally::new(),
            ghosts: Tally::new(),
            splits: Tally::new(),
        })
    }

    /// Starts with this many items and ghosts, after this many splits. No thread has used the
    /// table.
    pub(in crate::table) fn start(&self, items: i64, ghosts: i64, splits: i64) {
        let rest = items.rem_euclid(STEP);
        self.total.add(items - rest);
        self.rest.add(rest);
        self.ghosts.add(ghosts);
        self.splits.add(splits);
    }

    /// Counts that all items and ghosts were cleared. The caller holds all stripes.
    ///
    /// Other threads keep what they have counted for themselves, and the sum is lower by as much.
    /// If there is no other thread, the counters are as in a new table.
    pub(in crate::table) fn clear(&self, items: i64, ghosts: i64) {
        // No table grows because it was cleared.
        let _ = self.count(-items);
        self.ghosts.add(-ghosts);
    }

    /// Counts items that were added, or removed if the change is negative. Returns whether the
    /// caller must check whether the table has to grow.
    #[inline]
    pub(in crate::table) fn count(&self, change: i64) -> bool {
        let Some(shard) = self.shards.get(number_of_this_thread()) else {
            return self.count_together(change);
        };
        shard.add_alone(change);
        let counted = shard.get();
        let within = (0..STEP).contains(&counted);
        !within && self.settle(shard)
    }

    /// Moves what a shard has counted to the sum. Returns whether the sum has risen.
    #[cold]
    fn settle(&self, shard: &Tally) -> bool {
        let mut counted = shard.get();
        if counted > FRESH / 2 {
            counted += self.rest.swap(0) - FRESH;
        }
        let left = counted.rem_euclid(STEP);
        let moved = counted - left;
        shard.swap(left);
        if moved != 0 {
            self.total.add(moved);
        }
        moved > 0
    }

    /// As [`count`](Self::count), for a thread that has no shard.
    #[cold]
    fn count_together(&self, change: i64) -> bool {
        let sum = self.total.add_and_get(change + self.rest.swap(0));
        change > 0 && sum % STEP == 0
    }

    /// Counts a split. The caller holds a stripe.
    pub(in crate::table) fn count_split(&self) {
        self.splits.add(1);
    }

    /// Counts that a bucket was joined with its child.
    pub(in crate::table) fn count_join(&self) {
        self.splits.add(-1);
    }

    /// The number of splits, less that of joins. Exact for a holder of all stripes.
    pub(in crate::table) fn splits(&self) -> i64 {
        self.splits.get()
    }

    /// Counts ghosts that were made, or cleared. The caller holds a stripe.
    pub(in crate::table) fn count_ghosts(&self, change: i64) {
        if change != 0 {
            self.ghosts.add(change);
        }
    }

    /// The number of ghosts. Exact for a holder of all stripes.
    pub(in crate::table) fn ghosts(&self) -> i64 {
        self.ghosts.get()
    }

    /// The number of occupied slots, without what threads have counted for themselves. The items
    /// are rounded down to a multiple of [`STEP`], so that it makes no difference which thread
    /// counts.
    pub(in crate::table) fn occupied(&self) -> i64 {
        let total = self.total.get();
        total - total.rem_euclid(STEP) + self.ghosts.get()
    }

    /// The number of occupied slots, for a caller that knows that nobody changes the table.
    pub(in crate::table) fn occupied_alone(&self) -> i64 {
        let counted = |shard: i64| if shard > FRESH / 2 { shard - FRESH } else { shard };
        let shards: i64 = self.shards.iter().map(|shard| counted(shard.get())).sum();
        self.total.get() + self.ghosts.get() + self.rest.get() + shards
    }

    /// Bytes on the heap.
    pub(in crate::table) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.shards)
    }
}

#[cfg(all(test, feature = "std", not(any(loom, shuttle))))]
mod tests {
    use alloc::vec::Vec;
    use std::thread;

    use super::{Occupancy, STEP};

    /// The number of items after each change, up and down around multiples of the step.
    fn changes() -> Vec<i64> {
        let mut number = 7_u64;
        let change = |_| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if number >> 33 & 3 < 1 { -1 } else { 1 }
        };
        let mut changes = std::vec![1; 10 * STEP as usize];
        changes.extend((0..40 * STEP).map(change));
        changes.extend(core::iter::repeat_n([-1, 1], 3 * STEP as usize).flatten());
        changes
    }

    /// When counters are checked, and the sums then. They are started again after each `segment`.
    fn checks(stripes: usize, segment: usize) -> Vec<Option<i64>> {
        let start = || Occupancy::new(stripes).expect("memory");
        let (mut occupancy, mut items) = (start(), 0);
        let mut checks = Vec::new();
        for changes in changes().chunks(segment) {
            for &change in changes {
                items += change;
                checks.push(occupancy.count(change).then(|| occupancy.occupied()));
            }
            occupancy = start();
            occupancy.start(items, 0, 0);
        }
        checks
    }

    #[test]
    fn growth_follows_from_the_number_of_items() {
        // This thread and the other one, of which at most one owns the only shard.
        let expected = checks(1_024, usize::MAX);
        let number = |checks: &[Option<i64>]| checks.iter().flatten().count();
        assert!(number(&expected) > 20);
        let all = || {
            for segment in [1, 2, 31, 32, 33, 1_000, usize::MAX] {
                for stripes in [8, 1_024] {
                    assert!(checks(stripes, segment) == expected, "{segment}, {stripes}");
                }
            }
        };
        all();
        thread::scope(|scope| scope.spawn(all).join()).expect("the same for another thread");
    }
}
