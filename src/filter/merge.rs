//! Merging a filter into another one.

use core::hash::BuildHasher;

use super::{
    Filter,
    engine::{Engine, bytes_of},
    hasher::HasherChecks,
    kind::{Growth, Permanent},
};
use crate::{
    MergeError,
    table::{MergeRefusal, Merged},
};

impl<C: Permanent, G: Growth, S: BuildHasher> Filter<C, G, S> {
    /// Adds the items of another filter to this one, while other threads use both.
    ///
    /// Adds every copy, so that the [`count`](Filter::count) of each item is the sum of its counts
    /// in the two filters. (Merging a filter with itself doubles every count. An item whose slot a
    /// split has copied may count twice in a filter that has grown less.) Nothing is added if the
    /// call returns an error.
    ///
    /// The filters must hash and place items alike: both need the same layout and number of
    /// buckets, the same [`seed`](crate::FilterBuilder::seed), and the same hasher. Filters that
    /// were built with the same settings and seed qualify, and so does a clone.
    ///
    /// # Growing filters
    ///
    /// Two [`GrowingFilter`](crate::GrowingFilter)s need to have begun alike: with the same layout
    /// and the same first number of buckets, which follow from the settings. They can be merged at
    /// any two sizes, and this one grows if need be. But a merge inserts what the other filter
    /// keeps of its items, which is less than an insert knows:
    ///
    /// - **The rates add.** After the merge the false-positive rate can be as high as the sum of
    ///   the rates of both filters. [`false_positive_rate`](Self::false_positive_rate) does not
    ///   show that, and the target can be exceeded.
    /// - If this filter has grown much further, the other one may not tell in which of several
    ///   buckets here an item belongs. Then the merge is refused with [`MergeError::Unknown`].
    ///   Merge the filter that has grown more into the other one. (If that has grown very little,
    ///   the merge may be refused for copies, since few bits tell items apart in a small filter.)
    /// - A slot that could stand for many items counts against the limit on copies of each of them.
    ///
    /// **If filters are to be merged, give each of them the capacity of all of them together.**
    ///
    /// # What overlapping calls may observe
    ///
    /// The other filter is copied first, as [`try_clone`](Self::try_clone) does: an item that is in
    /// it from before the call until it returns is merged. Items that are inserted into it or
    /// removed meanwhile may be merged or not, each on its own. Then the items are added one by
    /// one, each at one moment, as by `insert`. If a merge is refused, overlapping lookups may find
    /// items that are removed again, `insert_unique` may take such an item for present, and an
    /// insert may be refused because of them. [`len`](Self::len) counts the new items when the call
    /// returns.
    ///
    /// The [contract of removal](Self#the-contract-of-removal) has an addition. A caller who,
    /// from before the merge until it returned `Ok(())`, was entitled to remove an item of the
    /// other filter, may after that remove it from this filter as well, once. No other caller may.
    /// If a [`clear`](Self::clear) of this filter overlaps the call, merged items may remain or
    /// not, and nobody may remove them.
    ///
    /// A filter that has grown for a merge keeps its size, even if the merge is refused. What a
    /// refused merge removes from a growing filter may have known more than what it added, and a
    /// split may have copied what it added. Then an absent item that was not found before can be a
    /// false positive.
    ///
    /// Takes as much memory as a clone of the other filter until it returns, and the time of an
    /// insert for each item. The locks of the other filter are held while its buckets are copied.
    ///
    /// # Errors
    /// [`MergeError`]: what differs, or why there is no room. With
    /// [`max_copies`](crate::FilterBuilder::max_copies) in this filter, a merge is refused if an
    /// item would have more copies than that. Copies of aliases count, as always. (In a filter that
    /// grows, these are all items that cannot be distinguished from the merged one by what the
    /// other filter keeps of it.)
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().capacity(10_000).seed(7);
    /// let (morning, evening) = (builder.clone().build().unwrap(), builder.build().unwrap());
    /// evening.insert_batch(0..3_000).unwrap();
    /// morning.merge(&evening).unwrap();
    /// assert!(morning.len() == 3_000 && morning.contains(&2_999));
    /// ```
    #[doc(alias = "union")]
    pub fn merge(&self, other: &Self) -> Result<(), MergeError> {
        let (layout, buckets) = self.engine.first();
        let (other_layout, other_buckets) = other.engine.first();
        if layout != other_layout {
            return Err(MergeError::Layout { this: layout, other: other_layout });
        }
        if buckets != other_buckets {
            return Err(MergeError::Buckets { this: buckets, other: other_buckets });
        }
        if self.seed != other.seed {
            return Err(MergeError::Seed);
        }
        if HasherChecks::of(&self.hasher) != HasherChecks::of(&other.hasher) {
            return Err(MergeError::Hasher);
        }
        let Merged { change, outcome } = self.engine.merge(&other.engine);
        self.items.add(change);
        outcome.map_err(|refusal| match refusal {
            MergeRefusal::OutOfMemory => {
                MergeError::OutOfMemory { bytes: bytes_of(other.engine.buckets()) }
            }
            MergeRefusal::Full { fitted, items } => MergeError::Full { fitted, items },
            MergeRefusal::TooManyCopies => MergeError::TooManyCopies,
            MergeRefusal::Unknown => MergeError::Unknown,
        })
    }
}
