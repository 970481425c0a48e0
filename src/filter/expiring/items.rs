//! The operations on one key that only expiring filters have.

use core::hash::BuildHasher;

use crate::{
    InsertError, Insertion, Key, Life,
    filter::{Filter, engine::Engine},
    kind::{Expiring, Growth},
};

impl<G: Growth, S: BuildHasher> Filter<Expiring, G, S> {
    /// Inserts an item, for the whole window. Returns its generation, which
    /// [`remove`](Self::remove) takes. Duplicates count.
    ///
    /// Acquires no lock if one of the item's two buckets has an empty slot, except to let time pass
    /// with a [`ttl`](crate::FilterBuilder::ttl). Otherwise, frees what has expired in one of the
    /// two, under the lock of the item's stripe. If nothing has expired in either bucket, it
    /// relocates other items, which concurrent lookups do not notice.
    ///
    /// Inserting an item again does not replace its former copies, which take room until they
    /// expire: use [`refresh`](Self::refresh) or [`insert_unique`](Self::insert_unique) for items
    /// that come often.
    ///
    /// # Errors
    /// [`InsertError::Full`] if no slot within reach is empty or has expired, and
    /// [`InsertError::TooManyCopies`] if the item's two buckets hold only copies of it and its
    /// aliases that have not expired (in a filter that grows: if they are full, and hold as many of
    /// these as one bucket has slots, or three if it has two). The filter holds the same items as
    /// before.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::with_capacity(1_000);
    /// assert_eq!(seen.insert("nonce").unwrap(), seen.generation());
    /// assert!(seen.contains("nonce"));
    /// ```
    #[doc(alias = "add")]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Result<u64, InsertError> {
        self.on_time().insert_for(self.mixed(key), self.window())
    }

    /// Inserts an item for a shorter [`Life`]: a time, in a filter with a time to live, or a number
    /// of generations after the present one, from 1 up to the [`window`](Self::window). Returns the
    /// generation that [`remove`](Self::remove) takes.
    ///
    /// The item is as old as if it had been inserted earlier: for n generations, in the generation
    /// `generation() - (window() - n)`, which is returned. It is found for at least n
    /// [intervals](Self::interval), less the [lag](crate::docs::expiry#a-time-to-live) of its clock
    /// if the filter keeps time itself. A time counts as the next whole number of them, with that
    /// lag. The costs are those of [`insert`](Self::insert).
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and [`InsertError::InvalidLife`] for a longer life than the
    /// window, for 0 generations, and for a time in a filter without a time to live.
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
        let life = life.into().generations(self.engine.clock())?;
        self.on_time().insert_for(self.mixed(key), life)
    }

    /// Inserts an item if it has not been seen within the window. Returns
    /// [`New`](Insertion::New) with its generation if it was inserted, and
    /// [`Found`](Insertion::Found) otherwise.
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
    /// let seen = guira::ExpiringFilter::with_capacity(1_000);
    /// assert!(seen.insert_unique("nonce").unwrap().is_new());
    /// assert!(!seen.insert_unique("nonce").unwrap().is_new()); // a replay
    /// ```
    #[doc(alias = "check_and_set")]
    #[doc(alias = "test_and_add")]
    pub fn insert_unique<K: Key + ?Sized>(&self, key: &K) -> Result<Insertion<u64>, InsertError> {
        let generation = self.on_time().insert_unseen(self.mixed(key), self.window())?;
        Ok(generation.map_or(Insertion::Found(()), Insertion::New))
    }

    /// Inserts an item for a shorter [`Life`] if it has not been seen, and changes none that was.
    ///
    /// # Errors
    /// As [`insert_unique`](Self::insert_unique) and [`insert_for`](Self::insert_for).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3600);
    /// let builder = guira::ExpiringFilter::builder().capacity(1_000).window(24);
    /// let seen = builder.time_to_live(24 * hour).build().unwrap();
    /// assert!(seen.insert_unique_for("a token that ends in an hour", hour).unwrap().is_new());
    /// assert!(seen.contains("a token that ends in an hour"));
    /// ```
    pub fn insert_unique_for<K: Key + ?Sized>(
        &self,
        key: &K,
        life: impl Into<Life>,
    ) -> Result<Insertion<u64>, InsertError> {
        let life = life.into().generations(self.engine.clock())?;
        let generation = self.on_time().insert_unseen(self.mixed(key), life)?;
        Ok(generation.map_or(Insertion::Found(()), Insertion::New))
    }

    /// Makes an item as young as if it were inserted now, if it is found. Returns whether it was
    /// found.
    ///
    /// The item is found for a whole window from now on, even if it was inserted for a shorter
    /// life. Of several copies (its own, or those of its aliases), the oldest is refreshed: one of
    /// this generation may be that of an alias, whose removal would take it. **Nobody may
    /// [`remove`](Self::remove) an item that is refreshed: it is left to expire.** `true` can be
    /// due to an alias: then this item is found only as long as the alias's copy stays.
    ///
    /// Acquires the lock of the item's stripe. Reads two cache lines. Writes the stripe, and one of
    /// the lines unless the copy is of this generation. Lookups find the item meanwhile.
    ///
    /// To insert an item that is absent and refresh one that is present:
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(1).build().unwrap();
    /// for _ in 0..5 {
    ///     assert!(seen.refresh("session") || seen.insert("session").is_ok());
    ///     seen.advance();
    /// }
    /// assert!(seen.contains("session") && seen.len() == 1);
    /// ```
    #[doc(alias = "touch")]
    pub fn refresh<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.on_time().refresh(self.mixed(key))
    }

    /// Removes one copy of an item that was inserted in `generation`, before it expires. Returns
    /// whether there was one.
    ///
    /// **Remove only what you inserted, with the generation that the insert returned, once, and
    /// after it returned.** Any other removal can take the copy of another item: see the
    /// [contract](crate::ExpiringFilter#the-contract-of-removal). Returns `false`, and removes
    /// nothing, if the item has expired.
    ///
    /// Acquires the lock of the item's stripe. Reads two cache lines, and writes one and the
    /// stripe.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::with_capacity(1_000);
    /// let generation = seen.insert("nonce").unwrap();
    /// assert!(seen.remove("nonce", generation));
    /// assert!(!seen.contains("nonce"));
    /// ```
    #[doc(alias = "delete")]
    pub fn remove<K: Key + ?Sized>(&self, key: &K, generation: u64) -> bool {
        self.engine.remove_of(self.mixed(key), generation)
    }
}

impl<G: Growth, S> Filter<Expiring, G, S> {
    /// The engine, for a write that takes the stamp of a generation next. If the filter keeps time,
    /// the generation that is due has begun, or ends later because of this write.
    #[inline]
    pub(super) fn on_time(&self) -> &G::Engine {
        if self.engine.clock().has_work() {
            self.engine.keep_time();
        }
        &self.engine
    }
}
