//! The steps of tables whose slots expire, written once for tables of a fixed size and for those
//! that grow: see `mod.rs`, which has the protocol.

use super::{MarkedSlot, Seen, Space, Table, Words, marked};
use crate::InsertError;

impl<S: Space> Table<S> {
    /// Returns whether a visible slot matches an item.
    #[inline]
    pub(in crate::table) fn look_for_visible<L: Words<S>>(&self, item: &S::Item) -> bool {
        loop {
            let now = self.clock.generation();
            let (words, reading) = self.read::<L>(item);
            if self.visible_in::<L>(now, item, words) != [0; 2] {
                return true;
            }
            if reading.is_valid() & self.clock.validate(now) {
                return false;
            }
            self.counters.lookup_retried();
        }
    }

    /// Adds a copy of an item that is visible for `life` generations, at most the window. Returns
    /// the generation of its stamp.
    ///
    /// # Errors
    /// As `insert`, where slots that have expired count as empty.
    #[inline]
    pub fn insert_for<L: Words<S>>(&self, item: S::Item, life: u32) -> Result<u64, InsertError> {
        let clock = &self.clock;
        let generation = clock.generation() - u64::from(clock.window() - life);
        self.insert::<L>(S::with_value(item, clock.stamp(generation)))?;
        Ok(generation)
    }

    /// Adds a copy of an item if there is no visible one. Returns the present generation if it was
    /// added.
    ///
    /// # Errors
    /// Why there is no room, if there is no visible copy.
    pub fn insert_unseen<L: Words<S>>(&self, item: S::Item) -> Result<Option<u64>, InsertError> {
        Ok(self.insert_if_absent::<L, true>(&item, 0)?.ok())
    }

    /// As [`insert_unseen`](Self::insert_unseen), for a copy that is visible for `life`
    /// generations, at most the window. Returns the generation of its stamp.
    ///
    /// # Errors
    /// As `insert_unseen`.
    pub fn insert_unseen_for<L: Words<S>>(
        &self,
        item: S::Item,
        life: u32,
    ) -> Result<Option<u64>, InsertError> {
        let age = u64::from(self.clock.window() - life);
        Ok(self.insert_if_absent::<L, true>(&item, age)?.ok())
    }

    /// Gives the stamp of the present generation to the oldest visible copy of an item. Returns
    /// whether there was one.
    #[must_use]
    pub fn refresh<L: Words<S>>(&self, item: S::Item) -> bool {
        let guard = self.stripe::<L>(&item).lock();
        loop {
            let now = self.clock.now();
            let words = self.space.load_both_to_change(&item);
            // A sweep of the next generation may have cleared the caller's copy, and the copy that
            // is left may be an alias's.
            if !self.clock.validate(now) {
                continue;
            }
            let marks = self.visible_in::<L>(now, &item, words);
            let Some(oldest) = self.oldest::<L>(now, words, marks) else { return false };
            let stamped = self.restamped(now, oldest.slot);
            if oldest.slot == stamped {
                return true;
            }
            if S::GROWS {
                self.clock.note_refresh(now);
            }
            guard.bump();
            let changed =
                self.change_slot::<L>(&guard, words[oldest.place], oldest.slot, Some(stamped));
            if changed.is_ok() {
                self.count_restamped(oldest.slot, stamped);
                return true;
            }
            // The clock has ticked since, and the copy was swept; or its bucket was split.
        }
    }

    /// Removes one copy of an item with the stamp of a generation, if that is visible: the one that
    /// knows most. Returns whether there was one.
    ///
    /// Also returns `false` if a newer copy knows more, and something was refreshed within the
    /// window: that copy may be this item's. See "Refreshing" in `mod.rs`.
    #[must_use]
    pub fn remove_of<L: Words<S>>(&self, item: S::Item, generation: u64) -> bool {
        let guard = self.stripe::<L>(&item).lock();
        let now = self.clock.now();
        if !self.clock.is_visible(now, generation) {
            return false;
        }
        loop {
            let words = self.space.load_both_to_change(&item);
            let (mut found, mut newer) = (None, 0);
            let marks = self.visible_in::<L>(now, &item, words);
            for copy in marked::<L, S>(&self.space, words, marks) {
                let age = self.clock.age(now, copy.slot);
                let (of, knowledge) = (now - u64::from(age), copy.knowledge);
                if of == generation {
                    found = found.max(Some((knowledge, copy.place, copy.slot)));
                } else if of > generation {
                    newer = newer.max(knowledge);
                }
            }
            let Some((knowledge, place, slot)) = found else { return false };
            if knowledge < newer && self.clock.has_refreshed(now) {
                return false;
            }
            guard.bump();
            if self.change_slot::<L>(&guard, words[place], slot, None).is_ok() {
                self.clock.count_removed(slot);
                self.space.count(-1);
                return true;
            }
        }
    }

    /// Returns the oldest marked slot, and of several the one that knows most.
    fn oldest<L: Words<S>>(
        &self,
        now: u64,
        words: [Seen; 2],
        marks: [u64; 2],
    ) -> Option<MarkedSlot> {
        // The order of slots as one number, so that no comparison takes a branch.
        let mut oldest = 0;
        for (place, (Seen { word, .. }, mut left)) in words.into_iter().zip(marks).enumerate() {
            while left != 0 {
                let slot = L::lanes(&self.space).slot(word, left & left.wrapping_neg());
                left &= left - 1;
                // An empty slot may be marked, too.
                if slot != 0 {
                    let age = u64::from(self.clock.age(now, slot));
                    let knowledge = u64::from(L::knowledge(&self.space, word, slot));
                    let key = age << 48 | knowledge << 40 | (place as u64) << 32 | u64::from(slot);
                    oldest = oldest.max(key);
                }
            }
        }
        let [knowledge, place] = [40, 32].map(|shift| (oldest >> shift) as u8);
        let (knowledge, place) = (knowledge.into(), place.into());
        (oldest != 0).then_some(MarkedSlot { knowledge, place, slot: oldest as u32 })
    }

    /// A slot with the stamp of a generation.
    #[inline]
    fn restamped(&self, now: u64, slot: u32) -> u32 {
        let clock = &self.clock;
        slot - u32::from(clock.stamp(slot.into())) + u32::from(clock.stamp(now))
    }

    /// Counts a slot whose stamp was replaced.
    fn count_restamped(&self, old: u32, new: u32) {
        self.clock.count_removed(old);
        self.clock.count_added(new);
    }
}
