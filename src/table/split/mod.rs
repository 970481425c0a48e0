//! A table that grows by splitting.

mod address;
mod copies;
mod grow;
mod insert;
mod lookup;
mod merge;
mod occupancy;
mod relocate;
mod remove;
mod saved;
mod search;
mod shrink;
mod whole;

use crossbeam_utils::CachePadded;

pub use address::{Growth, Item, Place, Side, Size};
use occupancy::Occupancy;
pub use saved::Grown;

use super::{Counters, GrowingBuckets, Stripe, Stripes};
use crate::{
    bucket::GrowingLayout,
    sync::{Acquire, Relaxed, Word},
};

/// What limits a table that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest number of buckets.
    pub buckets: u64,
    /// The share of slots that are occupied when the next bucket is split, in 256ths.
    pub load: u32,
}

/// Buckets, stripes, and the protocol's steps on them, in a table that grows.
#[derive(Debug)]
pub struct GrowingTable {
    growth: Growth,
    buckets: GrowingBuckets,
    stripes: Stripes,
    counters: Counters,
    limits: Limits,
    /// Whether address space is reserved, and huge pages are requested.
    memory: (bool, bool),
    /// A size that the table has reached, for lookups. It lags behind `size`, so that its cache
    /// line seldom changes.
    hint: CachePadded<Word>,
    /// The size.
    size: CachePadded<Word>,
    occupancy: Occupancy,
    /// Bytes to which the table may grow.
    max_bytes: Word,
}

/// A word, as it was loaded from a bucket.
#[derive(Clone, Copy, Debug)]
struct Seen {
    bucket: u32,
    word: u64,
}

impl GrowingTable {
    /// Returns an empty table, or `None` if the system refuses the memory. With `reserve`, address
    /// space is reserved for all buckets that there may ever be, if the system can do that.
    #[must_use]
    pub fn new<L: GrowingLayout>(
        first: u64,
        limits: Limits,
        stripes: usize,
        memory: (bool, bool),
    ) -> Option<Self> {
        let (reserve, huge_pages) = memory;
        let buckets = GrowingBuckets::new(first, limits.buckets, reserve, huge_pages)?;
        let start = Size { level: 0, split: 0 }.pack();
        Some(Self {
            growth: Growth::new::<L>(first)?,
            buckets,
            stripes: Stripes::with_count(stripes)?,
            counters: Counters::new()?,
            limits,
            memory,
            hint: CachePadded::new(Word::new(start)),
            size: CachePadded::new(Word::new(start)),
            occupancy: Occupancy::new(stripes)?,
            max_bytes: Word::new(u64::MAX),
        })
    }

    /// The addressing.
    #[inline]
    #[must_use]
    pub fn growth(&self) -> &Growth {
        &self.growth
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// How far the table has grown.
    #[must_use]
    pub fn size(&self) -> Size {
        // Acquire: pairs with the Release in `advance`.
        Size::unpack(self.size.load(Acquire))
    }

    /// A size that the table has reached. The words of its buckets have at least the levels that
    /// follow from it.
    #[inline]
    fn hint(&self) -> Size {
        // Acquire: pairs with the Release in `publish`. So the splits up to this size happened
        // before, and their buckets are committed.
        // mutant: hint-relaxed
        Size::unpack(self.hint.load(Acquire))
    }

    /// The number of buckets, without those that were split ahead of their turn.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.growth.buckets(self.size())
    }

    /// Bytes on the heap, or committed for buckets.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        let beside = Stripes::bytes_for(self.stripes.count()) + Counters::bytes();
        let tables = self.growth.size_in_bytes() + self.occupancy.size_in_bytes();
        self.buckets.size_in_bytes() + beside + tables
    }

    /// The number of stripes.
    #[must_use]
    pub fn stripes(&self) -> usize {
        self.stripes.count()
    }

    /// Sets the number of bytes to which the table may grow.
    pub fn set_max_bytes(&self, max_bytes: usize) {
        // Relaxed: a limit that publishes nothing.
        self.max_bytes.store(max_bytes as u64, Relaxed);
    }

    /// Prefetches both buckets of an item.
    #[inline]
    pub fn prefetch(&self, item: &Item) {
        let size = self.hint();
        for side in item.sides {
            if let Some(place) = self.growth.place(side, size) {
                self.buckets.prefetch(place.bucket);
            }
        }
    }

    /// Prefetches both buckets of an item, and its stripe.
    #[inline]
    pub fn prefetch_with_stripe<L: GrowingLayout>(&self, item: &Item) {
        self.prefetch(item);
        self.stripe::<L>(item).prefetch();
    }

    /// The stripe of an item.
    #[inline]
    fn stripe<L: GrowingLayout>(&self, item: &Item) -> &Stripe {
        self.stripe_of::<L>(item.sides)
    }

    /// The stripe of the item, or the slot, that has these sides.
    #[inline]
    fn stripe_of<L: GrowingLayout>(&self, sides: [Side; 2]) -> &Stripe {
        let starts = sides.map(|side| side.start);
        self.stripes.at(Growth::stripe::<L>(sides[0].code.core, starts))
    }

    /// A bucket.
    ///
    /// Every number that is passed here comes from `Growth::place` with a size that was loaded by
    /// Acquire, from the level in a word that was loaded by Acquire, or from the commit of its
    /// memory by this thread.
    #[inline]
    fn bucket(&self, bucket: u32) -> &Word {
        // SAFETY: the memory of a bucket is committed before a size or a level is published that
        // leads to it.
        unsafe { self.buckets.bucket(bucket) }
    }
}
