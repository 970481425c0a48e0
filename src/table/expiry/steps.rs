//! The steps of tables whose slots expire, written once for tables of a fixed size and for those
//! that grow: see `mod.rs`, which has the protocol.

use super::{MarkedSlot, Seen, Space, Start, Table, Words, marked};
use crate::{
    InsertError,
    table::{Attempts, StripeGuard},
};

/// What a write does with an item under its lock.
#[derive(Clone, Copy)]
struct Wish {
    /// Whether it refreshes a visible copy.
    refreshes: bool,
    /// Whether it adds a copy if there is no visible one, and how old that is.
    adds: Option<u32>,
}

/// What a write has done.
enum Done {
    /// There is a visible copy, which was refreshed if the write refreshes.
    Found,
    /// A copy was added, with the stamp of this generation.
    Added(u64),
    /// There is no visible copy.
    Absent,
    /// There is no visible copy, and no room.
    NoRoom,
}

impl<S: Space> Table<S> {
    /// Returns whether a visible slot matches an item.
    #[inline]
    pub(in crate::table) fn look_for_visible<L: Words<S>>(&self, item: &S::Item) -> bool {
        // First: what is visible at this time and found no longer later was refreshed since, or has
        // expired by the return.
        let time = self.clock.time();
        loop {
            let now = self.clock.look();
            let ages = self.clock.visible_ages(now, time);
            let (words, reading) = self.read::<L>(item);
            if self.visible_in::<L>(now, ages, item, words) != [0; 2] {
                return true;
            }
            if reading.is_valid() & self.clock.validate(now) {
                return false;
            }
            self.counters.lookup_retried();
        }
    }

    /// Adds a copy of an item that is this old, at most the window. Returns the generation of its
    /// stamp.
    ///
    /// # Errors
    /// As `insert`, where slots that have expired count as empty.
    #[inline]
    pub fn insert_aged<L: Words<S>>(
        &self,
        start: Start,
        item: S::Item,
        age: u32,
    ) -> Result<u64, InsertError> {
        // Before it is added: a thread can be stopped until the word means another generation.
        let generation = self.clock.number(start.word) - u64::from(age);
        self.insert::<L>(self.stamped(item, generation))?;
        Ok(generation)
    }

    /// Adds a copy of an item that is found for `life` generations after this one, at most the
    /// window, in a table without a time to live. Returns the generation of its stamp.
    ///
    /// # Errors
    /// As [`insert_aged`](Self::insert_aged).
    #[cfg(feature = "raw")]
    pub fn insert_for<L: Words<S>>(&self, item: S::Item, life: u32) -> Result<u64, InsertError> {
        let start = self.start::<L>();
        self.insert_aged::<L>(start, item, self.clock.window() - life)
    }

    /// Adds a copy of an item, this old, if there is no visible one. Returns the generation of its
    /// stamp if it was added.
    ///
    /// # Errors
    /// Why there is no room, if there is no visible copy.
    pub fn insert_unseen_from<L: Words<S>>(
        &self,
        start: Start,
        item: S::Item,
        age: u32,
    ) -> Result<Option<u64>, InsertError> {
        self.write_and_make_room::<L>(start, item, Wish { refreshes: false, adds: Some(age) })
    }

    /// Gives the stamp of the current generation to the oldest visible copy of an item, or adds a
    /// copy if there is none. Returns the generation of its stamp if it was added.
    ///
    /// # Errors
    /// Why there is no room, if there is no visible copy.
    pub fn insert_or_refresh_from<L: Words<S>>(
        &self,
        start: Start,
        item: S::Item,
    ) -> Result<Option<u64>, InsertError> {
        self.write_and_make_room::<L>(start, item, Wish { refreshes: true, adds: Some(0) })
    }

    /// Gives the stamp of the current generation to the oldest visible copy of an item. Returns
    /// whether there was one.
    #[must_use]
    pub fn refresh_from<L: Words<S>>(&self, start: Start, item: S::Item) -> bool {
        matches!(self.write::<L>(start, &item, Wish { refreshes: true, adds: None }), Done::Found)
    }

    /// As [`insert_unseen_from`](Self::insert_unseen_from), from now on.
    ///
    /// # Errors
    /// As there.
    pub fn insert_unseen<L: Words<S>>(&self, item: S::Item) -> Result<Option<u64>, InsertError> {
        self.insert_unseen_from::<L>(self.start::<L>(), item, 0)
    }

    /// As [`insert_or_refresh_from`](Self::insert_or_refresh_from), from now on.
    ///
    /// # Errors
    /// As there.
    pub fn insert_or_refresh<L: Words<S>>(
        &self,
        item: S::Item,
    ) -> Result<Option<u64>, InsertError> {
        self.insert_or_refresh_from::<L>(self.start::<L>(), item)
    }

    /// As [`refresh_from`](Self::refresh_from), from now on.
    #[must_use]
    pub fn refresh<L: Words<S>>(&self, item: S::Item) -> bool {
        self.refresh_from::<L>(self.start::<L>(), item)
    }

    /// Does what a write wishes. Makes room if it adds and both locations are full. Returns the
    /// generation of the stamp of a copy that was added.
    #[inline]
    fn write_and_make_room<L: Words<S>>(
        &self,
        start: Start,
        item: S::Item,
        wish: Wish,
    ) -> Result<Option<u64>, InsertError> {
        match self.write::<L>(start, &item, wish) {
            Done::Added(generation) => {
                L::count_added(self);
                Ok(Some(generation))
            }
            Done::Found | Done::Absent => Ok(None),
            Done::NoRoom => self.make_room_and_write::<L>(item, wish),
        }
    }

    /// The rest of `write_and_make_room`, once both locations were full.
    #[cold]
    fn make_room_and_write<L: Words<S>>(
        &self,
        item: S::Item,
        wish: Wish,
    ) -> Result<Option<u64>, InsertError> {
        let mut attempts = Attempts::default();
        loop {
            // The lock is released while making room: the slots to be moved may belong to the same
            // stripe, and the thread would wait for itself.
            let made_room = L::make_room(self, &item, &mut attempts);
            // A search takes time.
            let start = self.start::<L>();
            match self.write::<L>(start, &item, wish) {
                Done::Added(generation) => {
                    self.counters.insert_relocated(&attempts.relocations);
                    L::count_added(self);
                    return Ok(Some(generation));
                }
                Done::Found | Done::Absent => return Ok(None),
                // Not earlier: another call may have added the item during the failed search.
                Done::NoRoom => made_room?,
            }
        }
    }

    /// Does what a write wishes, under the lock of the item's stripe, if there is room.
    ///
    /// Presence and room are decided by the same words, as in `add_if_absent`.
    #[inline]
    fn write<L: Words<S>>(&self, start: Start, item: &S::Item, wish: Wish) -> Done {
        let (clock, guard) = (&self.clock, self.stripe::<L>(item).lock());
        loop {
            let now = clock.look();
            let ages = clock.visible_ages(now, start.time);
            let words = self.space.load_both_to_change(item);
            // A sweep of the next generation may have cleared the item's copy, and one that is left
            // may be an alias's.
            if !clock.validate(now) {
                continue;
            }
            let marks = self.visible_in::<L>(now, ages, item, words);
            let is_found = marks != [0; 2];
            match wish {
                Wish { refreshes: true, .. } if is_found => {
                    match self.restamp::<L>(&guard, now, words, marks) {
                        Some(true) => return Done::Found,
                        // The clock has ticked since, and the copy was swept; or its bucket was
                        // split.
                        Some(false) => {}
                        // Only empty slots were marked.
                        None => return Done::Absent,
                    }
                }
                _ if is_found => return Done::Found,
                Wish { adds: None, .. } => return Done::Absent,
                Wish { adds: Some(age), .. } => {
                    let stamped = self.stamped(*item, now.wrapping_sub(age.into()));
                    match self.try_add::<L>(&stamped, words, Some(now)) {
                        Some(true) => return Done::Added(clock.number(now) - u64::from(age)),
                        Some(false) => {}
                        None => return Done::NoRoom,
                    }
                }
            }
        }
    }

    /// Gives the stamp of the current generation to the oldest marked slot. Returns whether it was
    /// still there, or `None` if only empty slots are marked.
    #[inline]
    fn restamp<L: Words<S>>(
        &self,
        guard: &StripeGuard<'_>,
        now: u64,
        words: [Seen; 2],
        marks: [u64; 2],
    ) -> Option<bool> {
        let oldest = self.oldest::<L>(now, words, marks)?;
        let stamped = self.restamped(now, oldest.slot);
        if oldest.slot == stamped {
            return Some(true);
        }
        if S::GROWS {
            self.clock.note_refresh(self.clock.number(now));
        }
        guard.bump();
        let word = words[oldest.place];
        let changed = self.change_slot::<L>(guard, word, oldest.slot, Some(stamped)).is_ok();
        if changed {
            self.count_restamped(oldest.slot, stamped);
        }
        Some(changed)
    }

    /// Removes one copy of an item with the stamp of a generation, if that is visible: the one that
    /// knows most. Returns whether there was one.
    ///
    /// Also returns `false` if a newer copy knows more, and something was refreshed within the
    /// window: that copy may be this item's. See "Refreshing" in `mod.rs`.
    #[must_use]
    pub fn remove_of<L: Words<S>>(&self, item: S::Item, generation: u64) -> bool {
        let guard = self.stripe::<L>(&item).lock();
        let now = self.clock.look();
        let number = self.clock.number(now);
        let Some(age) = number.checked_sub(generation) else { return false };
        if age > self.clock.window().into() {
            return false;
        }
        loop {
            let words = self.space.load_both_to_change(&item);
            let (mut found, mut newer) = (None, 0);
            let marks = self.visible_in::<L>(now, self.clock.window() + 1, &item, words);
            for copy in marked::<L, S>(&self.space, words, marks) {
                let of = u64::from(self.clock.age(now, copy.slot));
                if of == age {
                    found = found.max(Some((copy.knowledge, copy.place, copy.slot)));
                } else if of < age {
                    newer = newer.max(copy.knowledge);
                }
            }
            let Some((knowledge, place, slot)) = found else { return false };
            if knowledge < newer && self.clock.has_refreshed(number) {
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
