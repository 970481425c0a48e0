//! Merging tables of a fixed size: see `table/steps/merge.rs`.

use super::{FixedTable, Pair, Payload};
use crate::{
    bucket::BucketLayout,
    sync::Relaxed,
    table::{MergeRefusal, Merged},
};

impl<P: Payload> FixedTable<P> {
    /// Adds all fingerprints of another table with the same addressing, or none. `limit` is the
    /// largest number of copies of an item, if there is one.
    pub fn merge<L: BucketLayout>(&self, other: &Self, limit: Option<usize>) -> Merged {
        let Some((copy, items)) = other.try_clone::<L>(false) else {
            return Merged::out_of_memory();
        };
        let clears = self.stripes.clears();
        Merged::all_or_none(
            items,
            |each| copy.for_each_copy::<L>(|pair| each((), pair)),
            |(), pair| {
                if limit.is_some_and(|limit| self.holds::<L>(limit, pair)) {
                    return Err(MergeRefusal::TooManyCopies);
                }
                if !self.add_in_place::<L>(pair) {
                    self.insert_by_relocating::<L>(pair)?;
                }
                Ok(())
            },
            |(), pair| {
                let guard = self.stripe::<L>(&pair).lock();
                self.stripes.clears_locked(&guard) == clears
                    && self.clear_one::<L>(&guard, &pair, None)
            },
        )
    }

    /// Adds the fingerprint to the first bucket of the pair, or to the other one. Returns `false`
    /// if both are full.
    ///
    /// The first bucket is where the fingerprint is in the other table. So a table that is empty
    /// takes all fingerprints of another one, which may be so full that they would not fit in
    /// another arrangement. And the buckets are written in order.
    fn add_in_place<L: BucketLayout>(&self, pair: Pair) -> bool {
        let [first, _] = pair.buckets;
        self.add::<L>(&Pair { buckets: [first; 2], ..pair }) || self.add::<L>(&pair)
    }

    /// Calls `each` with the pairs of all fingerprints, bucket by bucket, until it returns `false`.
    /// The first bucket of a pair is the one that holds the fingerprint. Meanwhile no other thread
    /// may use the table.
    fn for_each_copy<L: BucketLayout>(&self, mut each: impl FnMut(Pair) -> bool) {
        for (word, bucket) in self.buckets.as_slice().iter().zip(0..) {
            // Relaxed: no other thread uses the table.
            for fingerprint in L::fingerprints(word.load(Relaxed)) {
                let alternate = self.addressing.alt_bucket(fingerprint, bucket);
                if !each(Pair { fingerprint, buckets: [bucket, alternate] }) {
                    return;
                }
            }
        }
    }
}
