//! What a filter tells about itself: items, capacity, memory, rates and statistics.

use core::fmt;

use super::{
    Filter,
    engine::Engine,
    kind::{Contents, Growth, name},
};
use crate::Layout;

impl<C: Contents, G: Growth, S> Filter<C, G, S> {
    /// Returns the number of items in the filter, duplicates counted.
    ///
    /// Exact if no writer runs. While writers run, it may miss what they are doing. Reads one cache
    /// line for each of up to 64 shards of the counter, and no bucket. In an
    /// [`ExpiringFilter`](crate::ExpiringFilter), items that have expired are not counted, and
    /// there are counters for each generation of the window. In a
    /// [`GrowingExpiringFilter`](crate::GrowingExpiringFilter), the number is an upper bound:
    /// [slots that know too little](crate::docs::design#slots-that-know-too-little) count, too.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert_batch(&[1, 2, 2]).unwrap();
    /// assert_eq!(filter.len(), 3);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        // While writers run, the sum can be negative, or more than there ever were at once.
        let len = self.engine.table().clock().visible_slots().unwrap_or_else(|| self.items.sum());
        usize::try_from(len).unwrap_or(0).min(self.slots())
    }

    /// Returns whether the filter holds no item. Exact if no writer runs.
    ///
    /// ```
    /// assert!(guira::CuckooFilter::with_capacity(10).is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of distinct items for which the filter was built, or has grown.
    ///
    /// At most one [`CuckooFilter`](crate::CuckooFilter) in 10,000 refuses an item before it holds
    /// that many; most hold a few more. A filter that grows holds about as many before it splits
    /// the next buckets, so this follows the number of items. Each copy of an item counts as one.
    /// In an [`ExpiringFilter`](crate::ExpiringFilter#capacity), so do items that have expired and
    /// were not swept yet.
    ///
    /// ```
    /// assert_eq!(guira::CuckooFilter::with_capacity(1_000).capacity(), 1_000);
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.engine.capacity()
    }

    /// Returns the number of slots: an upper bound on the number of items.
    ///
    /// ```
    /// assert!(guira::CuckooFilter::with_capacity(1_000).slots() > 1_000);
    /// ```
    #[must_use]
    pub fn slots(&self) -> usize {
        (self.engine.buckets() * u64::from(self.layout().slots_per_bucket())) as usize
    }

    /// Returns the memory of the filter in bytes: the filter itself and all that it has allocated.
    /// Most of it is taken by the buckets and their alignment, by the stripes, and by the counters.
    ///
    /// The system provides pages for the buckets only as they come into use. In a filter that
    /// grows, memory counts from the moment at which it was committed, and reserved addresses do
    /// not count.
    ///
    /// ```
    /// assert!(guira::CuckooFilter::with_capacity(1_000_000).size_in_bytes() * 8 < 17_300_000);
    /// ```
    #[doc(alias = "memory_usage")]
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        self.engine.size_in_bytes() + self.size_in_bytes_beside_engine()
    }

    /// The bytes of the filter itself and of the counter of items.
    pub(super) fn size_in_bytes_beside_engine(&self) -> usize {
        size_of_val(self) + self.items.size_in_bytes()
    }

    /// Returns an upper bound on the false-positive rate at the present size.
    ///
    /// In a [`CuckooFilter`](crate::CuckooFilter) the bound is valid while the filter has at most
    /// [`capacity`](Self::capacity) items. With fewer items the rate is lower, in proportion. With
    /// more items, which the slots may allow, it is at most [`Layout::false_positive_rate`].
    ///
    /// In a filter that grows the bound rises with each doubling by about three quarters of what it
    /// was at first, because items keep the bits that they were inserted with. It is valid at the
    /// load at which the filter grows. If the filter may not grow and fills up, the rate can be
    /// higher, and still does not exceed the target, which is that of the builder, or the rate of
    /// its layout after the last doubling. The bound takes no account of [merges](Filter::merge).
    ///
    /// In an [`ExpiringFilter`](crate::ExpiringFilter) it is the probability that a lookup finds an
    /// item that was not inserted within the window. Expired items do not match, so the rate is
    /// lower while they take part of the capacity.
    ///
    /// ```
    /// assert!(guira::CuckooFilter::with_capacity(1_000_000).false_positive_rate() < 0.000_12);
    /// ```
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.engine.false_positive_rate()
    }

    /// Returns the layout of the buckets.
    ///
    /// ```
    /// assert_eq!(guira::CuckooFilter::with_capacity(10).layout(), guira::Layout::Plain4x16);
    /// ```
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.engine.layout()
    }

    /// How batches are looked up. For tests and measurements.
    #[doc(hidden)]
    #[cfg(feature = "raw")]
    #[must_use]
    pub fn kernel(&self) -> crate::table::Kernel {
        self.engine.kernel()
    }

    /// Returns the statistics of the filter since it was built, loaded or cloned: relocations,
    /// retries, waits. [`clear`](Self::clear) does not reset them. See [`Stats`](crate::Stats).
    ///
    /// ```
    /// assert_eq!(guira::CuckooFilter::with_capacity(10).stats().inserts, 0);
    /// ```
    #[cfg(feature = "stats")]
    #[must_use]
    pub fn stats(&self) -> crate::Stats {
        self.engine.table().stats()
    }

    /// Returns the hasher of the items.
    ///
    /// ```
    /// use std::hash::BuildHasher;
    ///
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// assert_eq!(filter.hash_key("ani").0, filter.hasher().hash_one("ani"));
    /// ```
    #[must_use]
    pub fn hasher(&self) -> &S {
        &self.hasher
    }
}

impl<C: Contents, G: Growth, S> fmt::Debug for Filter<C, G, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct(name::<C, G>());
        fields
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("slots", &self.slots())
            .field("layout", &self.layout())
            .field("false_positive_rate", &self.false_positive_rate());
        #[cfg(feature = "stats")]
        fields.field("stats", &self.stats());
        fields.finish_non_exhaustive()
    }
}
