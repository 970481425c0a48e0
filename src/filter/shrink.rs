//! Shrinking a filter that grows.

use super::{Filter, Growable};

impl<E: Growable, S> Filter<E, S> {
    /// Releases the memory of segments that the filter does not need for the items that it holds.
    /// Returns the number of bytes that [`size_in_bytes`](Self::size_in_bytes) fell by.
    ///
    /// Keeps as few and as small segments as the items fill, and moves the items of the others into
    /// those, without the items at hand. Every item stays, and so does every copy of it. An item
    /// can only move to a smaller segment, so the first segment stays, and usually some of the
    /// next. If items with many copies do not fit, larger segments stay.
    ///
    /// The target rate holds, since it is that of the full segments. Aliases become more as items
    /// move to smaller segments: for an item that is present, [`count`](Self::count) may rise.
    ///
    /// Afterwards the filter grows by the same plan: the next segment is the one that would have
    /// followed the last one that is left. Segments before that one do not come back. Two filters
    /// with equal histories by one writer shrink to equal segments.
    ///
    /// Reads all buckets of the segments, and moves an item in the time of an insert.
    ///
    /// ```
    /// let mut filter = guira::GrowingFilter::with_capacity(100);
    /// filter.try_extend(0..100_000)?;
    /// for key in 1_000..100_000 {
    ///     assert!(filter.remove(&key));
    /// }
    /// let bytes = filter.size_in_bytes();
    /// assert_eq!(filter.shrink_to_fit(), bytes - filter.size_in_bytes());
    /// assert!(filter.size_in_bytes() < bytes / 10);
    /// assert!((0..1_000).all(|key| filter.contains(&key)) && filter.len() == 1_000);
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[doc(alias = "compact")]
    pub fn shrink_to_fit(&mut self) -> usize {
        self.core.engine.shrink_to_fit()
    }
}
