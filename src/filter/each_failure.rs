//! Batches of inserts that pass each failure to a function and allocate nothing: the C interface
//! writes them to arrays of the caller.
//!
//! They are hidden, and exempt from semantic versioning.

use core::ops::ControlFlow;

use super::{
    ByHash, Expiring, Mappable, Mapped, Membership,
    outcome::{check_lengths, check_values},
};
use crate::InsertError;

/// Passes failures on. A batch whose failures take no memory does not end early.
fn pass_on(
    mut failed: impl FnMut(usize, InsertError),
) -> impl FnMut(usize, InsertError) -> ControlFlow<()> {
    move |position, error| {
        failed(position, error);
        ControlFlow::Continue(())
    }
}

impl<E: Membership> ByHash<'_, E> {
    /// As `insert_batch`. Returns the number of items that were added.
    #[doc(hidden)]
    pub fn insert_batch_with(
        self,
        hashes: &[u64],
        failed: impl FnMut(usize, InsertError),
    ) -> usize {
        self.insert_each(hashes, &mut pass_on(failed))
    }

    /// As `insert_unique_batch`.
    #[doc(hidden)]
    #[track_caller]
    pub fn insert_unique_batch_with(
        self,
        hashes: &[u64],
        added: &mut [bool],
        failed: impl FnMut(usize, InsertError),
    ) -> usize {
        check_lengths(hashes.len(), added.len());
        added.fill(false);
        self.insert_unique_each(hashes, added, &mut pass_on(failed))
    }
}

impl<E: Mappable> ByHash<'_, Mapped<E>> {
    /// As `insert_batch`. Returns the number of items that were added.
    #[doc(hidden)]
    #[track_caller]
    pub fn insert_batch_with(
        self,
        hashes: &[u64],
        values: &[u16],
        failed: impl FnMut(usize, InsertError),
    ) -> usize {
        check_values(hashes.len(), values.len());
        self.insert_each(hashes, values, &mut pass_on(failed))
    }
}

impl ByHash<'_, Expiring> {
    /// As `insert_batch`. Returns the generation of the items, and the number of those that were
    /// added.
    #[doc(hidden)]
    pub fn insert_batch_with(
        self,
        hashes: &[u64],
        failed: impl FnMut(usize, InsertError),
    ) -> (u64, usize) {
        let generation = self.expiring().generation();
        (generation, self.insert_each_at(hashes, generation, &mut pass_on(failed)))
    }

    /// As `insert_unique_batch`.
    #[doc(hidden)]
    #[track_caller]
    pub fn insert_unique_batch_with(
        self,
        hashes: &[u64],
        added: &mut [bool],
        failed: impl FnMut(usize, InsertError),
    ) -> usize {
        check_lengths(hashes.len(), added.len());
        added.fill(false);
        self.insert_unique_each(hashes, added, &mut pass_on(failed));
        added.iter().filter(|&&added| added).count()
    }
}
