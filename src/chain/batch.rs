//! Batches of lookups in all segments.

use super::{Chain, Entries};
use crate::table::{Answers, Hashes, for_each_prefetched};

impl<V: Entries> Chain<V> {
    /// Looks up the hashes of a batch. Returns the number of items that were found.
    pub(crate) fn contains_each(&self, hashes: &mut Hashes<'_>, mut answers: Answers<'_>) -> usize {
        let mut count = 0;
        self.for_each(hashes, |position, mixed| {
            let found = self.contains(mixed);
            answers.set(position, found.then_some(0));
            count += usize::from(found);
        });
        count
    }

    /// Calls `operation` with each item's position and mixed hash, in order. The item's buckets in
    /// all segments were prefetched one batch window earlier.
    pub(crate) fn for_each(&self, hashes: &mut Hashes<'_>, operation: impl FnMut(usize, u64)) {
        let prefetch = |mixed| {
            self.prefetch_all(mixed);
            mixed
        };
        for_each_prefetched(hashes, 0, prefetch, operation);
    }
}
