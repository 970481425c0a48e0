//! The operations on one key that only expiring filters have.

use core::hash::BuildHasher;

use crate::{
    InsertError, Insertion, Key, Life,
    filter::{Filter, engine::Engine},
    kind::{Expiring, Growth},
};

impl<G: Growth, S: BuildHasher> Filter<Expiring, G, S> {
    /// Inserts an item, for the time to live or the whole window. Returns its generation, which
    /// [`remove`](Self::remove) takes. Duplicates count.
    ///
    /// Acquires no lock if one of the item's two buckets has an empty slot. Otherwise, frees what
    /// has expired in one of the two, under the lock of the item's stripe. If nothing has expired
    /// in either bucket, it relocates other items, which concurrent lookups do not notice. With a
    /// [`ttl`](crate::FilterBuilder::ttl), it reads the clock, and may do
    /// [a part of the sweep](crate::docs::expiry#sweeps), for which it waits for nobody.
    ///
    /// Inserting an item again does not replace its former copies, which take room until they
    /// expire: use [`insert_or_refresh`](Self::insert_or_refresh) or
    /// [`insert_unique`](Self::insert_unique) for items that come often.
    ///
    /// # Errors
    /// [`InsertError::Full`] if no slot within reach is empty or has expired, and
    /// [`InsertError::TooManyCopies`] if the item's two buckets hold only copies of it and its
    /// aliases that have not expired (in a filter that grows: if they are full, and hold as many of
    /// these as one bucket has slots, or three if it has two). The filter holds the same items as
    /// before.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(13).build().unwrap();
    /// assert_eq!(seen.insert("nonce").unwrap(), seen.generation());
    /// assert!(seen.contains("nonce"));
    /// ```
    #[doc(alias = "add")]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Result<u64, InsertError> {
        self.engine.insert_for(self.mixed(key), None)
    }

    /// Inserts an item for a shorter [`Life`]: a time up to the
    /// [`ttl`](crate::FilterBuilder::ttl), or in a filter without one, a number of generations
    /// after the current one, from 1 up to the [`window`](Self::window). Returns the generation
    /// that [`remove`](Self::remove) takes.
    ///
    /// The item is as old as if it had been inserted earlier, in the generation that is returned.
    /// It is found for at least its life. With a time to live, it may be found as long as if it
    /// had been inserted by [`insert`](Self::insert): after a time without writes, no earlier
    /// generation is left that expires sooner. The costs are those of `insert`.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and [`InsertError::InvalidLife`] for a longer life, for 0
    /// generations, for a time in a filter without a time to live, and for generations in one with
    /// a time to live.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(5).build().unwrap();
    /// seen.insert_for("short-lived", 1).unwrap();
    /// seen.advance();
    /// assert!(seen.contains("short-lived"));
    /// seen.advance();
    /// assert!(!seen.contains("short-lived"));
    /// ```
    pub fn insert_for<K: Key + ?Sized>(
        &self,
        key: &K,
        life: impl Into<Life>,
    ) -> Result<u64, InsertError> {
        self.engine.insert_for(self.mixed(key), Some(life.into()))
    }

    /// Inserts an item if it is not found. Returns [`New`](Insertion::New) with its generation if
    /// it was inserted, and [`Found`](Insertion::Found) otherwise.
    ///
    /// If calls with the same item overlap, at most one of them inserts it, until that insert
    /// expires, or is removed or cleared. An item that is found is not refreshed. `Found`
    /// can be due to an alias, with the probability of a false positive. **If this returns `Found`,
    /// you own no copy and must not call [`remove`](Self::remove).**
    ///
    /// Acquires the lock of the item's stripe. Reads two cache lines, and writes one and the
    /// stripe.
    ///
    /// # Errors
    /// [`InsertError::Full`] if the item was not found, and no slot within reach is empty or has
    /// expired. In a full filter, the call still returns `Found` for an item that is found.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(13).build().unwrap();
    /// assert!(seen.insert_unique("nonce").unwrap().is_new());
    /// assert!(!seen.insert_unique("nonce").unwrap().is_new()); // a replay
    /// ```
    #[doc(alias = "check_and_set")]
    #[doc(alias = "test_and_add")]
    pub fn insert_unique<K: Key + ?Sized>(&self, key: &K) -> Result<Insertion<u64>, InsertError> {
        self.engine.insert_unseen(self.mixed(key), None).map(insertion)
    }

    /// Inserts an item for a shorter [`Life`] if it is not found, and changes none that is.
    ///
    /// # Errors
    /// As [`insert_unique`](Self::insert_unique) and [`insert_for`](Self::insert_for).
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3600);
    /// let builder = guira::ExpiringFilter::builder().capacity(1_000);
    /// let seen = builder.ttl(24 * hour).build().unwrap();
    /// assert!(seen.insert_unique_for("a token that ends in an hour", hour).unwrap().is_new());
    /// assert!(seen.contains("a token that ends in an hour"));
    /// # }
    /// ```
    pub fn insert_unique_for<K: Key + ?Sized>(
        &self,
        key: &K,
        life: impl Into<Life>,
    ) -> Result<Insertion<u64>, InsertError> {
        self.engine.insert_unseen(self.mixed(key), Some(life.into())).map(insertion)
    }

    /// Inserts an item if it is not found, and [refreshes](Self::refresh) it if it is, in one step.
    /// Returns [`New`](Insertion::New) with its generation if it was inserted, and
    /// [`Found`](Insertion::Found) otherwise.
    ///
    /// If calls with the same item overlap, at most one of them inserts it, until that insert
    /// expires, or is cleared. The item is found for the time to live or the whole window from now
    /// on. What [`refresh`](Self::refresh) says holds here, too: **nobody may
    /// [`remove`](Self::remove) the item.** `Found` can be due to an alias, with the probability of
    /// a false positive: then this item is found only as long as the alias's copy stays.
    ///
    /// Acquires the lock of the item's stripe. Reads two cache lines. Writes the stripe, and one of
    /// the lines unless the copy is of this generation.
    ///
    /// # Errors
    /// As [`insert_unique`](Self::insert_unique). In a full filter, an item that is found is
    /// refreshed.
    ///
    /// ```
    /// let live = guira::ExpiringFilter::builder().capacity(1_000).window(1).build().unwrap();
    /// assert!(live.insert_or_refresh("session").unwrap().is_new());
    /// for _ in 0..5 {
    ///     live.advance();
    ///     assert!(!live.insert_or_refresh("session").unwrap().is_new());
    /// }
    /// assert!(live.contains("session") && live.len() == 1);
    /// ```
    #[doc(alias = "upsert")]
    #[doc(alias = "refresh_or_insert")]
    pub fn insert_or_refresh<K: Key + ?Sized>(
        &self,
        key: &K,
    ) -> Result<Insertion<u64>, InsertError> {
        self.engine.insert_or_refresh(self.mixed(key)).map(insertion)
    }

    /// Makes an item as young as if it were inserted now, if it is found. Returns whether it was
    /// found.
    ///
    /// The item is found for the time to live or the whole window from now on, even if it was
    /// inserted for a shorter life. Of several copies (its own, or those of its aliases), the
    /// oldest is refreshed: one of this generation may be that of an alias, whose removal would
    /// take it. **Nobody may [`remove`](Self::remove) an item that is refreshed: it is left to
    /// expire.** `true` can be due to an alias: then this item is found only as long as the alias's
    /// copy stays.
    ///
    /// To insert an item that is not found, too, call
    /// [`insert_or_refresh`](Self::insert_or_refresh): two calls of this method, each followed by
    /// an insert, may both insert.
    ///
    /// Acquires the lock of the item's stripe. Reads two cache lines. Writes the stripe, and one of
    /// the lines unless the copy is of this generation. Lookups find the item meanwhile.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(1).build().unwrap();
    /// seen.insert("session").unwrap();
    /// for _ in 0..5 {
    ///     seen.advance();
    ///     assert!(seen.refresh("session"));
    /// }
    /// ```
    #[doc(alias = "touch")]
    pub fn refresh<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.engine.refresh(self.mixed(key))
    }

    /// Removes one copy of an item that was inserted in `generation`, before it expires. Returns
    /// whether there was one.
    ///
    /// **Remove only what you inserted, with the generation that the insert returned, once, and
    /// after it returned.** Any other removal can take the copy of another item: see the
    /// [contract](crate::ExpiringFilter#the-contract-of-removal). Returns `false`, and removes
    /// nothing, if the item has expired and is swept.
    ///
    /// Acquires the lock of the item's stripe. Reads two cache lines, and writes one and the
    /// stripe.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(13).build().unwrap();
    /// let generation = seen.insert("nonce").unwrap();
    /// assert!(seen.remove("nonce", generation));
    /// assert!(!seen.contains("nonce"));
    /// ```
    #[doc(alias = "delete")]
    pub fn remove<K: Key + ?Sized>(&self, key: &K, generation: u64) -> bool {
        self.engine.remove_of(self.mixed(key), generation)
    }
}

/// The outcome of an insert that returned a generation if the item was not found.
fn insertion(generation: Option<u64>) -> Insertion<u64> {
    generation.map_or(Insertion::Found(()), Insertion::New)
}
