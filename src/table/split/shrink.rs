//! Shrinking: the slots move to a new table with fewer buckets.

use core::mem;

use super::{FULL_LOAD, GrowingTable, Size, insert::MAX_SPLITS, merge::Attempt, whole::Occupied};
use crate::{
    bucket::{
        GrowingLayout,
        leveled::{empty, level},
    },
    sync::Relaxed,
    table::{Clock, Payload, SweepState},
};

/// If the slots do not fit, the next attempt has as many more buckets, divided by this.
const STEP: u64 = 32;

impl<P: Payload> GrowingTable<P> {
    /// Moves all slots to a table with the fewest buckets that they need at the target load, and
    /// releases the other memory. Returns the number of bytes. It is zero, and nothing is changed,
    /// if the system refuses the memory for the new table.
    ///
    /// A slot takes with it what the number of its bucket tells, as much as fits into a tail. So it
    /// knows its bucket in the new table: its level there is no higher. A ghost remains one. (The
    /// ghosts that one slot has left return to one pair of buckets. If they are most of what is
    /// left, the table needs more buckets for them than for items.)
    pub fn shrink_to_fit<L: GrowingLayout>(&mut self) -> usize {
        self.clock.try_sweep(u64::MAX, |now, bucket, end| {
            self.sweep_family::<L>(now, bucket, end);
        });
        let mut occupied = 0;
        // Relaxed: `&mut self` makes the access exclusive.
        self.for_each_in_use(|_, word| occupied += u64::from(L::occupied(word.load(Relaxed))));
        let Occupied { items, ghosts } = Occupied::new(occupied, self.occupancy.ghosts());
        let per_bucket = u64::from(self.limits.load * L::SLOTS);
        let mut buckets = (occupied * FULL_LOAD).div_ceil(per_bucket).max(self.growth.first());
        while buckets < self.buckets() {
            let Some(mut smaller) = self.smaller::<L>(buckets) else { return 0 };
            let released = self.size_in_bytes().saturating_sub(smaller.size_in_bytes());
            if released == 0 {
                return 0;
            }
            if self.fill::<L>(&smaller) {
                smaller.occupancy.start(items as i64, ghosts as i64, 0);
                if let Some((clock, sweep)) = self.clock_state() {
                    let end = smaller.buckets();
                    smaller.start_clock::<L>(clock, &SweepState { swept: 0, end, ..sweep });
                }
                // The slots were moved, and not inserted.
                mem::swap(&mut smaller.counters, &mut self.counters);
                *self = smaller;
                return released;
            }
            buckets += buckets / STEP + 1;
        }
        0
    }

    /// Returns an empty table with this many buckets, no fewer than the first ones and no more than
    /// this table has, and otherwise like this one. `None` if the system refuses the memory.
    fn smaller<L: GrowingLayout>(&self, buckets: u64) -> Option<Self> {
        let Self { limits, memory, .. } = *self;
        let first = self.growth.first();
        let payload = self.growth.payload();
        let mut smaller = Self::holding::<L>(payload, first, limits, self.stripes(), memory)?;
        smaller.set_clock(self.clock.read(self.clock.now()));
        // Relaxed: `&mut self` of the caller makes the access exclusive.
        smaller.max_bytes.set(self.max_bytes.load(Relaxed));
        let at = (buckets / first).ilog2();
        let round = first << at;
        let size = Size { level: at, split: buckets - round };
        smaller.buckets.commit(0..buckets)?;
        // Buckets that were split, their siblings, and the others in between.
        for (places, level) in
            [(0..size.split, at + 1), (size.split..round, at), (round..buckets, at + 1)]
        {
            smaller.buckets.with_values(places, |words| words.fill(empty(level)));
        }
        smaller.set_size(size);
        smaller.occupancy.start(0, 0, (buckets - first) as i64);
        Some(smaller)
    }

    /// Adds all slots to a table that is not shared, without splits. Returns whether they fit.
    fn fill<L: GrowingLayout>(&self, smaller: &Self) -> bool {
        let (mut fits, attempt) = (true, Attempt::new(0));
        self.for_each_in_use(|bucket, word| {
            // Relaxed: `&mut self` of the caller makes the access exclusive.
            let word = word.load(Relaxed);
            for slot in L::occupied_slots(word) {
                let item = self.known::<L>(bucket, level(word), slot);
                let no_split = &mut { MAX_SPLITS };
                fits = fits && smaller.insert_known::<L>(&attempt, &item, false, no_split).is_ok();
            }
        });
        fits
    }
}
