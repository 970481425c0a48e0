//! The operations of a map on items. Each hashes its items and hands them to the view by hash.

use core::hash::{BuildHasher, Hash};

use super::{Mappable, Mapped, Values};
use crate::{FilterBuilder, InsertError, filter::Filter};

impl<E: Mappable, S: BuildHasher> Filter<Mapped<E>, S> {
    /// Inserts an item with a value.
    pub fn insert<T: Hash + ?Sized>(&self, item: &T, value: u16) -> Result<(), InsertError> {
        self.by_hash().insert(self.hasher.hash_one(item), value)
    }

    /// Returns a value of the item.
    pub fn get<T: Hash + ?Sized>(&self, item: &T) -> Option<u16> {
        self.by_hash().get(self.hasher.hash_one(item))
    }

    /// Returns all values that the item may have.
    pub fn values<T: Hash + ?Sized>(&self, item: &T) -> Values {
        self.by_hash().values(self.hasher.hash_one(item))
    }

    /// Removes one copy of an item with this value.
    pub fn remove<T: Hash + ?Sized>(&self, item: &T, value: u16) -> bool {
        self.by_hash().remove(self.hasher.hash_one(item), value)
    }
}

impl<E: Mappable, S> FilterBuilder<Mapped<E>, S> {
    /// Sets the number of bits of a value, from 0 to 16.
    pub fn value_bits(mut self, bits: u32) -> Self {
        self.settings.value_bits = Some(bits);
        self
    }
}
