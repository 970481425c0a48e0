//! Counters of slots by their stamps.

use alloc::boxed::Box;

use super::{ShardedCounter, try_boxed};
use crate::sync::{Tally, number_of_this_thread};

/// Stamps whose counters share two cache lines.
const STAMPS_PER_LINE: usize = 16;
/// Largest number of counters: 32 KiB of them.
const MAX_COUNTERS: usize = 4096;

/// The number of slots with each stamp, in shards: threads that run at once seldom write to the
/// same cache line.
#[derive(Debug)]
pub(super) struct StampCounts {
    /// The lines of the first shard, then those of the next one. A power of two.
    lines: Box<[Line]>,
    /// Also a power of two, at most 16.
    lines_per_shard: u32,
    /// The number of shards, less one.
    last_shard: u32,
}

/// Counters of consecutive stamps, on two cache lines, because processors fetch these in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Line([Tally; STAMPS_PER_LINE]);

impl StampCounts {
    pub(super) fn new(stamp_bits: u32, stripes: usize) -> Option<Self> {
        let lines_per_shard = (1 << stamp_bits) / STAMPS_PER_LINE.min(1 << stamp_bits);
        let most = MAX_COUNTERS / STAMPS_PER_LINE / lines_per_shard;
        let shards = ShardedCounter::shards_beside(stripes).min(most);
        let line = |_| Line([(); STAMPS_PER_LINE].map(|()| Tally::new()));
        let lines = try_boxed((0..shards * lines_per_shard).map(line))?;
        let [lines_per_shard, last_shard] = [lines_per_shard as u32, shards as u32 - 1];
        Some(Self { lines, lines_per_shard, last_shard })
    }

    /// No counters.
    pub(super) fn none() -> Self {
        Self { lines: Box::default(), lines_per_shard: 1, last_shard: 0 }
    }

    /// Adds to the counter of a stamp.
    #[inline]
    pub(super) fn add(&self, stamp: u16, change: i64) {
        let shard = number_of_this_thread() & self.last_shard as usize;
        let first = shard * self.lines_per_shard as usize;
        self.of(first, stamp).add(change);
    }

    /// The sum of a stamp's counters.
    pub(super) fn sum(&self, stamp: u16) -> i64 {
        let firsts = (0..self.lines.len()).step_by(self.lines_per_shard as usize);
        firsts.map(|first| self.of(first, stamp).get()).sum()
    }

    /// Bytes of the counters.
    pub(super) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.lines)
    }

    /// The counter of a stamp in the shard that begins with this line.
    #[inline]
    fn of(&self, first: usize, stamp: u16) -> &Tally {
        let stamp = usize::from(stamp);
        &self.lines[first + stamp / STAMPS_PER_LINE].0[stamp % STAMPS_PER_LINE]
    }
}
