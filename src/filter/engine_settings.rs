//! The settings of the builder that concern the engine itself: its kernel, its memory, its locks,
//! its limit on copies and its growth.

use super::{FilterBuilder, Growable, Permanent};
use crate::Kernel;

impl<E, S> FilterBuilder<E, S> {
    /// Sets the instructions by which batches are looked up, in place of the
    /// [best](Kernel::best) ones of the processor: for comparisons, or to turn vectors off with
    /// [`Kernel::Scalar`]. If the kernel is not available, [`build`](Self::build) fails.
    ///
    /// It applies to [`contains_batch`](crate::Filter::contains_batch) and to
    /// [`contains_mask`](crate::Filter::contains_mask), and in a [`CuckooMap`](crate::CuckooMap) to
    /// [`get_batch`](crate::CuckooMap#method.get_batch), `get_batch_into`, and `get_mask`. It has
    /// no effect in a [`GrowingMap`](crate::GrowingMap), which looks up one key after another.
    /// Clones use the same kernel. A snapshot does not contain it: a filter that is loaded uses the
    /// best one.
    ///
    /// ```
    /// use guira::{CuckooFilter, Kernel};
    ///
    /// let filter = CuckooFilter::builder().capacity(1_000).kernel(Kernel::Scalar).build()?;
    /// assert_eq!(filter.kernel(), Kernel::Scalar);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.settings.kernel = Some(kernel);
        self
    }

    /// Sets whether a table of 2 MiB and more requests huge pages from the system (on Linux, by
    /// `madvise`). On by default. Such a table is aligned to 2 MiB, for which 2 MiB more are
    /// allocated.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().capacity(10_000_000).huge_pages(false).build()?;
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn huge_pages(mut self, enabled: bool) -> Self {
        self.settings.huge_pages = enabled;
        self
    }

    /// Sets a cap on the memory of the filter, in bytes. [`build`](Self::build) checks it before it
    /// allocates. Without a cap, a [`GrowingFilter`](crate::GrowingFilter) grows until the system
    /// refuses memory.
    ///
    /// [`size_in_bytes`](crate::Filter::size_in_bytes) never exceeds the cap, in this filter or in
    /// its clones. If another segment would exceed it, an insert without room fails
    /// with [`Full`](crate::InsertError::Full), and all items stay. Each segment has at least twice
    /// the buckets of the one before it (see [`growth_factor`](Self::growth_factor)), so a filter
    /// may be full long before it takes this many bytes.
    ///
    /// The cap does not cover what operations allocate while they run: merges, snapshots, lists of
    /// failures, and, if several threads append a segment at the same moment, the segments of those
    /// that come too late.
    ///
    /// [`set_max_bytes`](crate::Filter::set_max_bytes) changes the cap later. A snapshot does not
    /// contain it, so set it again after loading.
    ///
    /// ```
    /// use guira::{GrowingFilter, InsertError};
    ///
    /// let seen = GrowingFilter::builder().capacity(1_000).max_bytes(100_000).build()?;
    /// let refused = (0..).find_map(|key: u64| seen.insert(&key).err());
    /// assert_eq!(refused, Some(InsertError::Full));
    /// assert!(seen.size_in_bytes() <= 100_000 && seen.len() > 10_000);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_bytes = Some(bytes);
        self
    }

    /// Sets the number of threads that are expected to write to the filter at the same time, from 1
    /// up. Any number of threads may write, whatever this is. The setting decides how much memory
    /// is spent so that they seldom wait for one another.
    ///
    /// A filter has a stripe (a lock and a version, 16 bytes) for every 64 to 128 buckets, at least
    /// 32 and at most 2,048. If several writers are expected, it has at least 64 stripes for each
    /// of them, within these limits; if one is, at most 64. For every 16 stripes it has a shard of
    /// the counter of items: at most 64 shards of 128 bytes. In a
    /// [`GrowingFilter`](crate::GrowingFilter), the number of stripes follows from eight times the
    /// buckets of the first segment, is at least 8, and stays the same however far the filter
    /// grows. **So set this if a `GrowingFilter` starts small, grows large, and has several
    /// writers.**
    ///
    /// The number of processors plays no part: a filter has the same
    /// [`size_in_bytes`](crate::Filter::size_in_bytes) on all 64-bit machines. Clones keep the
    /// setting, and so do snapshots.
    ///
    /// ```
    /// let builder = guira::GrowingFilter::builder().capacity(1_000);
    /// let (few, many) = (builder.clone().build()?, builder.writers(32).build()?);
    /// assert!(few.size_in_bytes() < 6_000 && many.size_in_bytes() > 32_000);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn writers(mut self, threads: usize) -> Self {
        self.settings.writers = Some(threads);
        self
    }
}

impl<E: Permanent, S> FilterBuilder<E, S> {
    /// Sets a limit on the copies of an item, from 1 up. Without one, copies may fill both buckets
    /// of an item, and then no other item finds room there: see
    /// [`docs::limits`](crate::docs::limits).
    ///
    /// With a limit, [`insert`](crate::Filter::insert) also fails with
    /// [`TooManyCopies`](crate::InsertError::TooManyCopies) if it finds that at least this many
    /// copies of the item (or its aliases) were in the filter at one moment of the call. The limits
    /// that exist without this setting remain. A sequence of inserts, each of which happens before
    /// the next, never exceeds the limit. If k threads insert an item (or its aliases)
    /// concurrently, there are at most `limit + k - 1` copies.
    ///
    /// An insert also executes a full fence and reads the item's stripe. It acquires the lock only
    /// if it finds that many copies. Batches do not interleave their searches for room. In a
    /// [`GrowingFilter`](crate::GrowingFilter) the limit is on all segments together, so an insert
    /// reads all of them. A snapshot contains the limit.
    ///
    /// ```
    /// use guira::{CuckooFilter, InsertError};
    ///
    /// let filter = CuckooFilter::builder().capacity(100).max_copies(2).build()?;
    /// assert_eq!(filter.insert("ani"), Ok(()));
    /// assert_eq!(filter.insert("ani"), Ok(()));
    /// assert_eq!(filter.insert("ani"), Err(InsertError::TooManyCopies));
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn max_copies(mut self, limit: usize) -> Self {
        self.settings.max_copies = Some(limit);
        self
    }
}

impl<E: Growable, S> FilterBuilder<E, S> {
    /// Sets the ratio of the buckets of each segment to those of the one before it: 2, 4, 8 or 16.
    /// The default is 2.
    ///
    /// With a larger factor, a filter that grows far has fewer segments: a hundredfold growth takes
    /// six more segments with factor 2, and two more with factor 16. A lookup reads all of them.
    /// But a segment that was just appended is nearly empty, and with factor 16 it takes up to
    /// 16/17 of the memory. Any factor but these four is an error of [`build`](Self::build).
    ///
    /// ```
    /// use guira::{BuildError, GrowingFilter};
    ///
    /// let builder = GrowingFilter::builder().capacity(1_000);
    /// let seen = builder.clone().growth_factor(8).build()?;
    /// seen.try_extend(0..20_000).unwrap();
    /// assert_eq!(seen.segments().len(), 3); // for 1,000, about 8,000 and about 64,000 items
    /// let error = builder.growth_factor(3).build().unwrap_err();
    /// assert_eq!(error, BuildError::InvalidGrowthFactor(3));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn growth_factor(mut self, factor: usize) -> Self {
        self.settings.growth_factor = Some(factor);
        self
    }
}
