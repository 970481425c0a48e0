//! What only growing filters have: a cap on memory, the next growth, and shrinking.

use super::{
    Filter,
    engine::Engine,
    kind::{Contents, Growing},
};
use crate::table::split::Shrinking;

impl<C: Contents, S> Filter<C, Growing, S> {
    /// Sets a cap on the memory of the filter, in bytes, in place of the builder's
    /// ([`max_bytes`](crate::FilterBuilder::max_bytes)), or removes it with `None`.
    ///
    /// A cap below the present size is no error: nothing is released. An insert that overlaps this
    /// call may observe the old cap or the new one.
    ///
    /// ```
    /// let seen = guira::GrowingFilter::with_capacity(1_000);
    /// seen.set_max_bytes(Some(seen.size_in_bytes()));
    /// assert!(seen.insert_batch(0..10_000).is_err());
    /// seen.set_max_bytes(None);
    /// assert!(seen.insert_batch(10_000..20_000).is_ok());
    /// ```
    pub fn set_max_bytes(&self, max_bytes: Option<usize>) {
        let beside = self.size_in_bytes_beside_engine();
        let of_engine = |max_bytes: usize| max_bytes.saturating_sub(beside);
        self.engine.set_max_bytes(max_bytes.map_or(usize::MAX, of_engine));
    }

    /// Returns the bytes by which [`size_in_bytes`](Filter::size_in_bytes) will grow in the next
    /// step, or `None` if the filter cannot grow any further: see
    /// [`FullyGrown`](crate::InsertError::FullyGrown). This reads no bucket.
    ///
    /// The filter takes the step when it has split as many buckets as its memory has room for, so
    /// many inserts later or at once. The cap is not considered. A bucket that is split ahead of
    /// its turn may need a step elsewhere, of about the same size.
    ///
    /// ```
    /// let seen = guira::GrowingFilter::builder().capacity(1_000).seed(1).build().unwrap();
    /// let (before, growth) = (seen.size_in_bytes(), seen.next_growth().unwrap());
    /// let keys = (0..).take_while(|_| seen.size_in_bytes() == before);
    /// keys.for_each(|key| seen.insert(&key).unwrap());
    /// assert_eq!(seen.size_in_bytes(), before + growth);
    /// ```
    #[must_use]
    pub fn next_growth(&self) -> Option<usize> {
        self.engine.next_growth()
    }

    /// Releases memory that the filter does not need for the items that it holds: about this many
    /// steps, in each of which a bucket is given up, or an item is moved to make that possible.
    /// With `u64::MAX`, all of it.
    ///
    /// Every item stays, and so does every copy of it, and the target rate still holds. Items have
    /// more aliases afterwards, and a slot that a split had copied can match its item twice. So
    /// [`count`](Self::count) may rise, and an item may be found after its removal, as an alias of
    /// itself.
    ///
    /// Gives up buckets, down to as many as the items need at the load at which the filter grows,
    /// but no fewer than it had at first. (Copies that splits have made take room, too, and some
    /// remain when their items are removed. [`clear`](Self::clear) removes them. It stops earlier
    /// if it comes to two buckets that hold so many copies of few items that one bucket has no room
    /// for them.) This takes no other memory. It takes the time of a lookup for each bucket that is
    /// given up, and that of an insert for each item that then must move.
    ///
    /// Between two calls, the filter is like any other: a server can serve requests. Any numbers of
    /// steps lead to the same filter. If items expire, the first call also does the rest of the
    /// [`sweep`](Filter::sweep): call that before to bound its time.
    ///
    /// ```
    /// let mut filter = guira::GrowingFilter::with_capacity(100);
    /// filter.insert_batch(0..100_000).unwrap();
    /// let before = filter.size_in_bytes();
    /// assert!((1_000..100_000).all(|key| filter.remove(&key)));
    /// while filter.shrink_step(1_000) == guira::Shrinking::Unfinished {
    ///     // Serve requests.
    /// }
    /// assert!(before > 9 * filter.size_in_bytes());
    /// assert!((0..1_000).all(|key| filter.contains(&key)));
    /// ```
    #[doc(alias = "compact")]
    #[doc(alias = "shrink_to_fit")]
    pub fn shrink_step(&mut self, steps: u64) -> Shrinking {
        self.engine.shrink(steps.max(1))
    }
}
