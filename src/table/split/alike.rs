//! When an insert into a table that grows is refused because of copies of its item.

use super::{GrowingTable, Item, Seen};
use crate::{bucket::GrowingLayout, table::Payload};

impl<P: Payload> GrowingTable<P> {
    /// Returns whether an insert that found both locations full must be refused: they are full, and
    /// copies take as many of their slots as they may.
    pub(super) fn has_too_many<L: GrowingLayout>(&self, item: &Item) -> bool {
        let _guard = self.stripe::<L>(item).lock();
        let (_, seen) = self.load_unexpired::<L>(item);
        seen.iter().all(|seen| L::is_full(seen.word)) && self.are_too_many::<L>(item, seen)
    }

    /// As [`has_too_many`](Self::has_too_many), for words of both locations without expired slots.
    pub(super) fn are_too_many<L: GrowingLayout>(&self, item: &Item, seen: [Seen; 2]) -> bool {
        self.copies_in::<L>(item, seen) >= too_many::<L>(seen[0].bucket == seen[1].bucket)
    }
}

/// The number of copies to which no more are added if their locations are full: as many as a bucket
/// has slots. Many copies of few items would fill buckets that splits cannot relieve.
///
/// Of the four slots of two buckets it is three: with short fingerprints, two items out of a few
/// million that are no copies match two of four slots.
fn too_many<L: GrowingLayout>(is_one_bucket: bool) -> usize {
    (if is_one_bucket { L::SLOTS } else { L::SLOTS.max(3) }) as usize
}
