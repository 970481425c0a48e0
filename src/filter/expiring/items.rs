//! The operations of an expiring filter on items, and on its clock.

use core::hash::{BuildHasher, Hash};

use super::Expiring;
use crate::{FilterBuilder, InsertError, bucket::with_layout, filter::Filter};

impl<S: BuildHasher> Filter<Expiring, S> {
    /// Inserts an item. Returns the generation.
    pub fn insert<T: Hash + ?Sized>(&self, item: &T) -> Result<u64, InsertError> {
        self.by_hash().insert(self.hasher.hash_one(item))
    }

    /// Returns whether the item was inserted within the window.
    #[must_use]
    pub fn contains<T: Hash + ?Sized>(&self, item: &T) -> bool {
        self.by_hash().contains(self.hasher.hash_one(item))
    }
}

impl<S> Filter<Expiring, S> {
    /// Begins the next generation. Returns it.
    pub fn advance(&self) -> u64 {
        let Expiring { table, layout, .. } = &self.core.engine;
        with_layout!(layout, L => table.advance::<L>())
    }

    /// Frees what has expired in the next buckets. Returns the number of buckets that are left.
    pub fn sweep(&self, buckets: u64) -> u64 {
        let Expiring { table, layout, .. } = &self.core.engine;
        with_layout!(layout, L => table.sweep::<L>(buckets))
    }
}

impl<S> FilterBuilder<Expiring, S> {
    /// Sets the window, in generations.
    pub fn window(mut self, generations: u32) -> Self {
        self.settings.window = Some(generations);
        self
    }
}
