//! Merging tables of a fixed size: see `table/steps/merge.rs`.

use super::{FixedTable, FixedWords, Pair, Words};
use crate::{
    sync::Relaxed,
    table::{MergeRefusal, Merged},
};

impl FixedTable {
    /// Adds all fingerprints of another table with the same addressing, or none. `limit` is the
    /// largest number of copies of an item, if there is one.
    pub fn merge(&self, other: &Self, limit: Option<usize>) -> Merged {
        let Some((copy, items)) = other.try_clone() else {
            return Merged::out_of_memory();
        };
        let clears = self.stripes.clears();
        Merged::all_or_none(
            items,
            |each| copy.for_each_copy(|pair| each((), pair)),
            |(), pair| {
                if limit.is_some_and(|limit| self.holds::<FixedWords>(limit, pair)) {
                    return Err(MergeRefusal::TooManyCopies);
                }
                if !self.add_in_place(pair) {
                    self.insert_by_relocating(pair)?;
                }
                Ok(())
            },
            |(), pair| {
                let sought = <FixedWords>::sought(&self.space, &pair);
                let guard = self.stripe::<FixedWords>(&pair).lock();
                self.stripes.clears_locked(&guard) == clears
                    && self.clear_one::<FixedWords>(&guard, &pair, sought, None)
            },
        )
    }

    /// Adds the fingerprint to the first bucket of the pair, or to the other one. Returns `false`
    /// if both are full.
    ///
    /// The first bucket is where the fingerprint is in the other table. So a table that is empty
    /// takes all fingerprints of another one, which may be so full that they would not fit in
    /// another arrangement. And the buckets are written in order.
    fn add_in_place(&self, pair: Pair) -> bool {
        let [first, _] = pair.buckets;
        self.add::<FixedWords>(&Pair { buckets: [first; 2], ..pair })
            || self.add::<FixedWords>(&pair)
    }

    /// Calls `each` with the pairs of all fingerprints, bucket by bucket, until it returns `false`.
    /// The first bucket of a pair is the one that holds the fingerprint. Meanwhile no other thread
    /// may use the table.
    fn for_each_copy(&self, mut each: impl FnMut(Pair) -> bool) {
        for (word, bucket) in self.buckets.as_slice().iter().zip(0..) {
            // Relaxed: no other thread uses the table.
            for slot in self.slots.each(word.load(Relaxed)) {
                let fingerprint = self.fingerprint_of(slot);
                let value = (slot & self.slots.value_mask()) as u16;
                let alternate = self.addressing.alt_bucket(fingerprint, bucket);
                if !each(Pair { fingerprint, value, buckets: [bucket, alternate] }) {
                    return;
                }
            }
        }
    }
}
