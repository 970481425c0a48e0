//! The view of a map by hash, which also implements every operation on items.

use super::{MapSteps, Mappable, Mapped, Values};
use crate::{InsertError, filter::ByHash};

#[expect(clippy::missing_errors_doc, reason = "`Filter` has the documentation")]
#[expect(clippy::must_use_candidate, reason = "as in `Filter`")]
impl<E: Mappable> ByHash<'_, Mapped<E>> {
    /// `CuckooMap::insert` by hash.
    pub fn insert(self, hash: u64, value: u16) -> Result<(), InsertError> {
        self.check(value)?;
        self.store().insert(self.mix(hash), value)?;
        // mutant: map-insert-uncounted
        self.core.items.add(1);
        Ok(())
    }

    /// `CuckooMap::get_or_insert` by hash.
    pub fn get_or_insert(self, hash: u64, value: u16) -> Result<Option<u16>, InsertError> {
        self.check(value)?;
        let found = self.store().get_or_insert(self.mix(hash), value)?;
        // mutant: map-unique-counts-always
        if found.is_none() {
            self.core.items.add(1);
        }
        Ok(found)
    }

    /// `CuckooMap::get` by hash.
    #[inline]
    #[must_use]
    pub fn get(self, hash: u64) -> Option<u16> {
        self.store().get(self.mix(hash))
    }

    /// `CuckooMap::values` by hash.
    #[must_use]
    pub fn values(self, hash: u64) -> Values {
        self.store().values(self.mix(hash))
    }

    /// `CuckooMap::contains` by hash.
    #[inline]
    #[must_use]
    pub fn contains(self, hash: u64) -> bool {
        self.store().contains(self.mix(hash))
    }

    /// `CuckooMap::contains_value` by hash.
    #[must_use]
    pub fn contains_value(self, hash: u64, value: u16) -> bool {
        self.fits(value) && self.store().contains_value(self.mix(hash), value)
    }

    /// `CuckooMap::replace` by hash.
    pub fn replace(self, hash: u64, old: u16, new: u16) -> bool {
        self.fits(old | new) && self.store().replace(self.mix(hash), old, new)
    }

    /// `CuckooMap::remove` by hash.
    pub fn remove(self, hash: u64, value: u16) -> bool {
        let removed = self.fits(value) && self.store().remove(self.mix(hash), value);
        // mutant: map-remove-counts-always
        if removed {
            self.core.items.add(-1);
        }
        removed
    }

    /// `CuckooMap::count` by hash.
    #[must_use]
    pub fn count(self, hash: u64) -> usize {
        self.store().count(self.mix(hash))
    }

    fn store(&self) -> &E::Store {
        &self.core.engine.0
    }

    /// Returns whether a value has no more bits than the values of the map.
    #[inline]
    fn fits(&self, value: u16) -> bool {
        u32::from(value) >> self.store().value_bits() == 0
    }

    fn check(&self, value: u16) -> Result<(), InsertError> {
        if self.fits(value) { Ok(()) } else { Err(InsertError::ValueTooLarge) }
    }
}
