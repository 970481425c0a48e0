//! The settings of the builder that concern the engine itself: its kernel, its memory, its locks,
//! and its limit on copies.

use super::FilterBuilder;
use crate::filter::kind::{Contents, Growing, Growth, Map, Permanent};

impl<C: Contents, G: Growth, S> FilterBuilder<C, G, S> {
    /// Sets how batches are looked up, if the processor can. For tests and measurements.
    #[doc(hidden)]
    #[cfg(feature = "raw")]
    pub fn kernel(mut self, kernel: crate::table::Kernel) -> Self {
        self.settings.kernel = Some(kernel);
        self
    }

    /// Sets whether a table of 2 MiB and more requests huge pages from the system (on Linux, by
    /// `madvise`). On by default. Such a table is aligned to 2 MiB, for which 2 MiB more of
    /// addresses are allocated, and no memory. A table that stays sparse takes less memory without:
    /// the first insert into a huge page takes all of its 2 MiB.
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().capacity(10_000_000).huge_pages(false);
    /// ```
    pub fn huge_pages(mut self, enabled: bool) -> Self {
        self.settings.huge_pages = enabled;
        self
    }

    /// Sets a cap on the memory of the filter, in bytes. [`build`](Self::build) checks it before it
    /// allocates. Without a cap, a filter grows until the system refuses memory.
    ///
    /// A filter takes no memory beyond the cap to grow, and neither do its clones: where
    /// [`size_in_bytes`](crate::Filter::size_in_bytes) would exceed it, an insert without room
    /// fails with [`Full`](crate::InsertError::Full), and all items stay.
    ///
    /// The cap does not cover what operations allocate while they run: merges, snapshots, lists of
    /// failures, and memory that several threads request for the same step, of which the filter
    /// keeps one.
    ///
    /// [`set_max_bytes`](crate::Filter::set_max_bytes) changes the cap later. A snapshot does not
    /// contain it, so set it again after loading.
    ///
    /// ```
    /// let seen = guira::GrowingFilter::builder().max_bytes(100_000).build().unwrap();
    /// let refused = (0..).find_map(|key: u64| seen.insert(&key).err());
    /// assert_eq!(refused, Some(guira::InsertError::Full));
    /// assert!(seen.size_in_bytes() <= 100_000 && seen.len() > 10_000);
    /// ```
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_bytes = Some(bytes);
        self
    }

    /// Sets the number of threads that are expected to write to the filter at the same time, from 1
    /// up. Any number of threads may write, whatever this is. The setting decides how much memory
    /// is spent so that they seldom wait for one another.
    ///
    /// A filter has a stripe (a lock and a version, 16 bytes) for every 64 to 128 buckets, at most
    /// 2,048; if that is less than 32, one for every 8 to 16 buckets, up to 32 and at least 4. If
    /// several writers are expected, it has at least 64 stripes for each
    /// of them, within these limits; if one is, at most 64. For every 16 stripes it has a shard of
    /// the counter of items: at most 64 shards of 128 bytes. (A filter that grows has two such
    /// counters.) The number of processors plays no part.
    ///
    /// In a filter that grows, the number of stripes follows from eight times the buckets of its
    /// first size, and stays the same however far it grows. **So set this if a
    /// filter starts small, grows large, and has several writers.** Clones and snapshots keep it.
    ///
    /// ```
    /// let builder = guira::GrowingFilter::builder().capacity(1_000);
    /// let (few, many) = (builder.clone().build().unwrap(), builder.writers(32).build().unwrap());
    /// assert!(few.size_in_bytes() < 15_000 && many.size_in_bytes() > 50_000);
    /// ```
    pub fn writers(mut self, threads: usize) -> Self {
        self.settings.writers = Some(threads);
        self
    }
}

impl<C: Contents, S> FilterBuilder<C, Growing, S> {
    /// Sets the number of items up to which the filter must be able to grow. Without it, the filter
    /// grows as far as its target rate allows: to 4,096 to 32,768 times its first size, or to 2^32
    /// buckets, if that is less. At most one filter in 10,000 refuses one of so many distinct
    /// items.
    ///
    /// - *Size.* The filter starts larger than its [`capacity`](Self::capacity) needs if it could
    ///   not grow as far from there, or if a slightly larger start saves bits per item in the end.
    ///   If no capacity is named, it starts no larger than it ever needs to be.
    /// - *Layout.* A filter that need not grow far may meet its target with [fewer bits per
    ///   item](crate::GrowingFilter#what-it-costs).
    /// - *Errors.* The filter stops growing once it has room for this many items. When it is full,
    ///   inserts fail with [`FullyGrown`](crate::InsertError::FullyGrown).
    ///   [`build`](Self::build) fails if this is smaller than the capacity, or needs more than 2^32
    ///   buckets.
    /// - *Addresses.* Fewer are [reserved](Self::reserve_address_space).
    ///
    /// ```
    /// use guira::{GrowingFilter, Layout};
    ///
    /// let builder = GrowingFilter::builder().capacity(4_000).false_positive_rate(0.002);
    /// assert_eq!(builder.clone().build().unwrap().layout(), Layout::Growing3x20);
    /// assert_eq!(builder.max_capacity(60_000).build().unwrap().layout(), Layout::Growing4x15);
    /// ```
    pub fn max_capacity(mut self, items: usize) -> Self {
        self.settings.max_capacity = Some(items);
        self
    }

    /// Sets whether address space is reserved for all buckets that the filter may ever have.
    /// Default: `true`.
    ///
    /// On 64-bit Linux the filter reserves addresses, 8 bytes for each bucket that there may ever
    /// be (see [`max_capacity`](Self::max_capacity)), and commits memory in steps of at most a 64th
    /// of its size, or of a page. Reserved addresses take no memory. With `false`, on other
    /// systems, in a process whose addresses are limited (`RLIMIT_AS`), and where the system
    /// refuses the addresses, the filter takes its memory from the allocator, in blocks of that
    /// size. Then lookups do not use vector instructions, so batches are looked up one item after
    /// the other, and single lookups take longer. Use it where the allocator accounts for the
    /// memory, as that of a server does, and for tens of thousands of filters, whose
    /// [mappings](crate::docs::limits#memory) would exceed what the system allows.
    ///
    /// ```
    /// let seen = guira::GrowingFilter::builder().reserve_address_space(false).build().unwrap();
    /// ```
    pub fn reserve_address_space(mut self, reserve: bool) -> Self {
        self.settings.reserve = reserve;
        self
    }
}

impl<G: Growth, S> FilterBuilder<Map, G, S> {
    /// Sets the number of values, equal or not, that a key may have at a time, from 1 up:
    /// [`copies`](Self::copies), by the name that fits a map. Each of them counts as an item of the
    /// [`capacity`](Self::capacity).
    ///
    /// ```
    /// let map = guira::CuckooMap::builder().capacity(1_000).values_per_key(2).build()?;
    /// for key in 0..500 {
    ///     map.insert(&key, 1)?;
    ///     map.insert(&key, 2)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn values_per_key(self, values: usize) -> Self {
        self.copies(values)
    }
}

impl<C: Permanent, G: Growth, S> FilterBuilder<C, G, S> {
    /// Sets a limit on the copies of an item, from 1 up. Without one, copies may fill both buckets
    /// of an item, and then no other item finds room there: see
    /// [`docs::limits`](crate::docs::limits).
    ///
    /// With a limit, [`insert`](crate::Filter::insert) also fails with
    /// [`TooManyCopies`](crate::InsertError::TooManyCopies) if it finds that at least this many
    /// copies of the item (or its aliases) were in the filter at one moment of the call, as
    /// [`count`](crate::Filter::count) counts them. A sequence of inserts, each of which happens
    /// before the next, never exceeds the limit. If k threads insert an item (or its aliases)
    /// concurrently, there are at most `limit + k - 1` copies.
    ///
    /// An insert also executes a full fence and reads the item's stripe. It acquires the lock only
    /// if it finds that many copies. Batches do not interleave their searches for room. A snapshot
    /// contains the limit. The size is chosen for as many copies of each item as the limit allows,
    /// unless [`copies`](Self::copies) says how many to expect. If most items are distinct, and the
    /// limit only keeps a few of them from taking all the room, call `copies(1)`, too.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().capacity(100).max_copies(1).build().unwrap();
    /// assert_eq!(filter.insert("ani"), Ok(()));
    /// assert_eq!(filter.insert("ani"), Err(guira::InsertError::TooManyCopies));
    /// ```
    pub fn max_copies(mut self, limit: usize) -> Self {
        self.settings.max_copies = Some(limit);
        self
    }
}
