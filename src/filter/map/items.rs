//! The operations that only maps have.

use core::hash::BuildHasher;

use super::Values;
use crate::{
    FilterBuilder, InsertError, Insertion, Key,
    filter::{Filter, engine::Engine},
    kind::{Growth, Map},
};

impl<G: Growth, S: BuildHasher> Filter<Map, G, S> {
    /// Inserts an item: a key with a value. Duplicates count: a key can have several values, and
    /// the same value several times.
    ///
    /// Locks and costs are those of [`insert`](crate::CuckooFilter#method.insert) in a
    /// `CuckooFilter`: no lock if one of the key's two buckets has an empty slot.
    ///
    /// # Errors
    /// [`InsertError::ValueTooLarge`] if the value has more than
    /// [`value_bits`](crate::Layout::value_bits) bits. Otherwise as
    /// [`insert`](crate::CuckooFilter#method.insert) in a `CuckooFilter`, where all items of a key
    /// and its aliases are copies, with whatever values. To insert a key at most once, use
    /// [`insert_unique`](Self::insert_unique). On an error the map holds the same items as before.
    ///
    /// ```
    /// let map = guira::CuckooMap::with_capacity(100);
    /// map.insert("ani", 7).unwrap();
    /// map.insert("ani", 8).unwrap();
    /// assert!(map.contains_value("ani", 7) && map.contains_value("ani", 8));
    /// assert_eq!(map.len(), 2);
    /// ```
    #[doc(alias = "add")]
    pub fn insert<K: Key + ?Sized>(&self, key: &K, value: u16) -> Result<(), InsertError> {
        self.check(value)?;
        self.engine.insert(self.mixed(key), value)?;
        self.items.add(1);
        Ok(())
    }

    /// Inserts an item if its key is absent: returns [`New`](Insertion::New) if it was inserted,
    /// and otherwise [`Found`](Insertion::Found) with a value that was found for the key.
    ///
    /// If calls with the same absent key overlap, exactly one of them inserts its item, and the
    /// others return that item's value. A value that is found can be due to an alias, with the
    /// probability of a false positive. **If this returns `Found`, you own no item and must not
    /// call [`remove`](crate::CuckooMap#method.remove) or [`replace`](Self::replace).**
    /// [`max_copies`](crate::FilterBuilder::max_copies) has no effect.
    ///
    /// So if several keys come and go, a key for which a value of an alias was found has none of
    /// its own, and loses that one when the alias is removed. A caller that has to own an item
    /// calls [`insert`](Self::insert) with the value that was found, and later removes this item.
    ///
    /// Acquires the lock of the key's stripe. Reads two cache lines, and writes one and the stripe.
    ///
    /// # Errors
    /// [`InsertError::Full`] if the key is absent and no empty slot is within reach; in a
    /// [`GrowingMap`](crate::GrowingMap) also
    /// [those of growth](crate::GrowingFilter#errors), but for `TooManyCopies`;
    /// [`InsertError::ValueTooLarge`] if the value does not fit, even if the key is present.
    ///
    /// ```
    /// let workers = guira::CuckooMap::with_capacity(100);
    /// assert!(workers.insert_unique("flow 17", 3).unwrap().is_new());
    /// assert_eq!(workers.insert_unique("flow 17", 4), Ok(guira::Insertion::Found(3)));
    /// assert_eq!(workers.len(), 1);
    /// ```
    #[doc(alias = "get_or_insert")]
    #[doc(alias = "check_and_set")]
    pub fn insert_unique<K: Key + ?Sized>(
        &self,
        key: &K,
        value: u16,
    ) -> Result<Insertion<(), u16>, InsertError> {
        self.check(value)?;
        let found = self.engine.insert_unique(self.mixed(key), value)?;
        if found.is_none() {
            self.items.add(1);
        }
        Ok(found.map_or(Insertion::New(()), Insertion::Found))
    }

    /// Returns a value of a key, or `None` if the key is not in the map.
    ///
    /// If the key has several [`values`](Self::values), or an alias in the map, it is [any one of
    /// them](crate::CuckooMap#what-a-lookup-may-return). Acquires no lock, writes nothing, and
    /// reads what [`contains`](crate::CuckooMap#method.contains) reads. A call that returns a value
    /// happens after the insert or the replacement that it found.
    ///
    /// ```
    /// let map = guira::CuckooMap::with_capacity(100);
    /// map.insert("ani", 7).unwrap();
    /// assert_eq!(map.get("ani"), Some(7));
    /// ```
    #[inline]
    #[must_use]
    pub fn get<K: Key + ?Sized>(&self, key: &K) -> Option<u16> {
        self.engine.get(self.mixed(key))
    }

    /// Returns all values that a key may have: its own, and those of its aliases.
    ///
    /// The value of an item that is in the map throughout the call is always among them. The order
    /// is arbitrary. A value comes once for each item that has it, and possibly once more if
    /// another thread is in the middle of moving such an item. (In a map that grows, a slot that
    /// [belongs to no item](crate::docs::design#slots-that-know-too-little) can add a value.)
    ///
    /// Acquires no lock and writes nothing. Reads three cache lines, and retries if another thread
    /// moved, replaced or removed an item of the same stripe meanwhile.
    ///
    /// ```
    /// let runs = guira::CuckooMap::with_capacity(1_000);
    /// runs.insert("ani", 7).unwrap();
    /// for run in runs.values("ani") {
    ///     assert_eq!(run, 7); // Search this run of the store for the key.
    /// }
    /// ```
    #[must_use]
    pub fn values<K: Key + ?Sized>(&self, key: &K) -> Values {
        self.engine.values(self.mixed(key))
    }

    /// Returns whether an item is in the map, that is, a key with this value: never `false` for one
    /// that is in it. `false` if the value does not fit.
    ///
    /// On `true`, the value is one of the key's [`values`](Self::values). Reads what
    /// [`contains`](crate::CuckooMap#method.contains) reads, and acquires no lock.
    ///
    /// ```
    /// let map = guira::CuckooMap::with_capacity(100);
    /// map.insert("ani", 7).unwrap();
    /// assert!(map.contains_value("ani", 7) && !map.contains_value("ani", 8));
    /// ```
    #[must_use]
    pub fn contains_value<K: Key + ?Sized>(&self, key: &K, value: u16) -> bool {
        self.fits(value) && self.engine.contains_value(self.mixed(key), value)
    }

    /// Replaces the value `old` of one item with this key by `new`. Returns whether there was one.
    /// If one of the values does not fit, returns `false` and changes nothing.
    ///
    /// **Replace only what you inserted, with the value that you inserted or set last**, never with
    /// one that a lookup returned: see the
    /// [contract](crate::CuckooMap#the-contract-of-removal-and-replacement). From then on, remove
    /// or replace the item with the value `new`.
    ///
    /// The item never seems absent meanwhile: a lookup finds the old value or the new one. If
    /// replacements of one item overlap, exactly one of them returns `true`. Acquires the lock of
    /// the key's stripe. Reads two cache lines, and writes one and the stripe.
    ///
    /// ```
    /// let workers = guira::CuckooMap::with_capacity(100);
    /// workers.insert("flow 17", 3).unwrap();
    /// assert!(workers.replace("flow 17", 3, 5));
    /// assert_eq!(workers.get("flow 17"), Some(5));
    /// ```
    #[doc(alias = "compare_exchange")]
    #[doc(alias = "update")]
    pub fn replace<K: Key + ?Sized>(&self, key: &K, old: u16, new: u16) -> bool {
        self.fits(old | new) && self.engine.replace(self.mixed(key), old, new)
    }

    /// Removes one item with this key and this value. Returns whether there was one. `false` if the
    /// value does not fit.
    ///
    /// **Remove only what you inserted, with the value that you inserted or set last**, once, and
    /// never with one that a lookup returned. Any other removal can take the only item of another
    /// key: see the [contract](crate::CuckooMap#the-contract-of-removal-and-replacement).
    ///
    /// If removals of one item overlap, exactly one of them returns `true`. Acquires the lock of
    /// the key's stripe. Reads two cache lines, and writes one and the stripe.
    ///
    /// ```
    /// let map = guira::CuckooMap::with_capacity(100);
    /// map.insert("ani", 7).unwrap();
    /// assert!(map.remove("ani", 7));
    /// assert!(map.is_empty());
    /// ```
    #[doc(alias = "delete")]
    pub fn remove<K: Key + ?Sized>(&self, key: &K, value: u16) -> bool {
        let removed = self.fits(value) && self.engine.remove(self.mixed(key), value);
        if removed {
            self.items.add(-1);
        }
        removed
    }
}

impl<G: Growth, S> Filter<Map, G, S> {
    /// Returns whether a value has no more bits than slots have room for.
    #[inline]
    pub(super) fn fits(&self, value: u16) -> bool {
        u32::from(value) >> self.layout().value_bits() == 0
    }

    pub(super) fn check(&self, value: u16) -> Result<(), InsertError> {
        if self.fits(value) { Ok(()) } else { Err(InsertError::ValueTooLarge) }
    }
}

impl<G: Growth, S> FilterBuilder<Map, G, S> {
    /// Sets the number of bits of a value, from 0 to 16. The default is 8, or with a
    /// [`layout`](Self::layout) the bits of its values.
    ///
    /// A slot has 64 / (slots per bucket) bits, rounded down, with 2 to 6 slots per bucket (in a
    /// [`GrowingMap`](crate::GrowingMap) 60, with 2 to 5: see
    /// [`Layout::growing`](crate::Layout::growing)). What the value leaves is the fingerprint. In a
    /// map that does not grow, an item takes as many bits as in a filter with plain buckets of as
    /// many slots. ([`fastest`](Self::fastest) has no effect: all of these layouts are plain.)
    ///
    /// [`build`](Self::build) fails with
    /// [`InvalidValueBits`](crate::BuildError::InvalidValueBits) for more than 16 bits, and with
    /// [`RateTooLow`](crate::BuildError::RateTooLow) if no layout with values of this many bits
    /// meets the target.
    ///
    /// ```
    /// let small = guira::CuckooMap::builder().capacity(1_000_000).value_bits(4).build().unwrap();
    /// assert_eq!(small.layout(), guira::Layout::with_values(4, 4).unwrap());
    /// assert!(small.size_in_bytes() * 8 < 17_300_000); // as `CuckooFilter::with_capacity`
    /// ```
    pub fn value_bits(mut self, bits: u32) -> Self {
        self.settings.value_bits = Some(bits);
        self
    }
}
