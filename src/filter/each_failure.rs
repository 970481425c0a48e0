//! Batches of inserts that pass each failure to a function and allocate nothing: the C interface
//! writes them to arrays of the caller.
//!
//! They are hidden, and exempt from semantic versioning.

use core::{hash::BuildHasher, ops::ControlFlow};

use super::{
    Filter, Key,
    batch::{check_lengths, check_values},
    kind::{Expiring, Growth, Map, Set},
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

impl<G: Growth, S: BuildHasher> Filter<Set, G, S> {
    /// As `insert_batch`. Returns the number of items that were added.
    #[doc(hidden)]
    pub fn insert_batch_with<K: Key>(
        &self,
        keys: &[K],
        failed: impl FnMut(usize, InsertError),
    ) -> usize {
        self.insert_each(self.keys(keys), &mut pass_on(failed))
    }

    /// As `insert_unique_batch`.
    #[doc(hidden)]
    #[track_caller]
    pub fn insert_unique_batch_with<K: Key>(
        &self,
        keys: &[K],
        added: &mut [bool],
        failed: impl FnMut(usize, InsertError),
    ) -> usize {
        check_lengths(keys.len(), added.len());
        added.fill(false);
        self.insert_unique_each(self.keys(keys), added, &mut pass_on(failed))
    }
}

impl<G: Growth, S: BuildHasher> Filter<Map, G, S> {
    /// As `insert_batch`. Returns the number of items that were added.
    #[doc(hidden)]
    #[track_caller]
    pub fn insert_batch_with<K: Key>(
        &self,
        keys: &[K],
        values: &[u16],
        failed: impl FnMut(usize, InsertError),
    ) -> usize {
        check_values(keys.len(), values.len());
        self.insert_each(self.keys(keys), values, &mut pass_on(failed))
    }
}

impl<G: Growth, S: BuildHasher> Filter<Expiring, G, S> {
    /// As `insert_batch`. Returns the generation of the items, and the number of those that were
    /// added.
    #[doc(hidden)]
    pub fn insert_batch_with<K: Key>(
        &self,
        keys: &[K],
        failed: impl FnMut(usize, InsertError),
    ) -> (u64, usize) {
        let generation = self.generation();
        (generation, self.insert_each_at(self.keys(keys), generation, &mut pass_on(failed)))
    }

    /// As `insert_unique_batch`.
    #[doc(hidden)]
    #[track_caller]
    pub fn insert_unique_batch_with<K: Key>(
        &self,
        keys: &[K],
        added: &mut [bool],
        failed: impl FnMut(usize, InsertError),
    ) -> usize {
        check_lengths(keys.len(), added.len());
        added.fill(false);
        self.insert_unique_each(self.keys(keys), added, &mut pass_on(failed))
    }
}
