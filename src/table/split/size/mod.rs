//! How large a table is, and what limits it. `grow.rs` and `shrink.rs` change that.

pub(super) mod grow;
mod occupancy;
mod shrink;

pub(super) use occupancy::Occupancy;
pub use shrink::Shrinking;

use super::{GrowingSpace, GrowingTable, Place, Seen, Size, room::Victim};
use crate::{
    sync::{Acquire, Relaxed},
    table::{ShardedCounter, choice::growing::FULL_LOAD, try_boxed},
};

/// What limits a table that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest number of buckets.
    pub buckets: u64,
    /// The share of slots that are occupied when the next bucket is split, in 256ths.
    pub load: u32,
    /// Number of equal items that are expected.
    pub copies: u32,
}

impl Limits {
    /// The number of occupied slots, of this many, above which the next bucket is split.
    pub(crate) fn items_in(&self, slots: u64) -> u64 {
        slots * u64::from(self.load) / FULL_LOAD
    }
}

impl GrowingSpace {
    /// The limits.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// How far the table has grown.
    #[must_use]
    pub fn size(&self) -> Size {
        // Acquire: pairs with the Release in `advance_size`. So the memory of all buckets of this
        // size is there.
        // mutant-ok: models have all memory from the start, and splits check the level in the word
        Size::unpack(self.sizes.size.load(Acquire))
    }

    /// The number of buckets, without those that were split ahead of their turn.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.addressing.buckets(self.size())
    }

    /// Sets the number of bytes to which the table may grow.
    pub fn set_max_bytes(&self, max_bytes: usize) {
        // Relaxed: a limit that publishes nothing.
        self.max_bytes.store(max_bytes as u64, Relaxed);
    }
}

impl GrowingTable {
    /// Sets the size of a table that is not shared. The levels of its words must be those that
    /// follow from the size.
    pub(super) fn set_size(&mut self, size: Size) {
        let hint = self.hint_for(size);
        self.sizes.size.set(size.pack());
        self.hint.set(hint.pack());
    }

    /// The bytes of the next step in which the table uses more memory, without regard to the limit
    /// on bytes. `None` if the table cannot grow any further.
    #[must_use]
    pub fn next_growth(&self) -> Option<usize> {
        let size = self.size();
        let end = self.addressing.buckets(size);
        if self.check_level(size.level).is_err() || end >= self.limits.buckets {
            return None;
        }
        // The first bucket from the end on that is not committed.
        let next = self
            .buckets
            .committed()
            .fold(end, |next, chunk| if chunk.contains(&next) { chunk.end } else { next });
        // If none is left, the last buckets that may be split need no more memory.
        let next = next..(next + 1).min(self.limits.buckets);
        Some(self.buckets.bytes_to_commit(next))
    }
}
