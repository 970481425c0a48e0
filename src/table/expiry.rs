//! The steps of tables whose slots expire, written once for tables of a fixed size and for those
//! that grow: see `clock.rs`, which has the protocol.

use super::{
    Aging, Clock, Counters, Generations, Seen, StripeGuard, Stripes,
    aging::{MarkedSlot, marked},
};
use crate::InsertError;

/// The operations of tables whose slots expire. Items are passed with the stamp zero.
pub trait Expires: Sized {
    /// An item, and where it may be.
    type Item: Copy;
    /// Whether slots can know different parts of their items.
    const GROWS: bool;

    /// The clock.
    fn generations(&self) -> &Generations;

    /// The stripes.
    fn all_stripes(&self) -> &Stripes;

    /// The statistics.
    fn statistics(&self) -> &Counters;

    /// The item with a stamp.
    fn stamped(item: Self::Item, stamp: u16) -> Self::Item;

    /// The number of buckets to be swept in this generation, for a holder of `sweeping`.
    fn end_of_sweep(&self) -> u64;

    /// The buckets of the next sweep, in a table that grows.
    fn next_sweep(&self) -> Option<u64>;

    /// What has expired in the generation `now` no longer counts as ghosts.
    fn retire_ghosts(&self, now: u64);

    /// Marks the visible slots that match an item.
    #[inline]
    fn visible_in<L>(&self, now: u64, item: &Self::Item, words: [Seen; 2]) -> [u64; 2]
    where
        Self: Aging<L>,
    {
        let marks = self.marks_in(item, words);
        let visible = |index: usize| {
            let slots = Self::slots_in(words[index].word);
            marks[index] & self.generations().visible(Self::LANES, now, slots)
        };
        [visible(0), visible(1)]
    }

    /// Counts the visible copies of an item.
    #[must_use]
    fn count_visible<L>(&self, item: Self::Item) -> usize
    where
        Self: Aging<L>,
    {
        // mutant: age-count-no-lock, age-count-wrong-lock
        let _guard = self.stripe_of(&item).lock();
        loop {
            let now = self.generations().now();
            let words = self.words_of(&item);
            // A sweep of the next generation may have cleared one copy and not yet the other.
            // mutant: age-count-no-validation
            if self.generations().validate(now) {
                let marks = self.visible_in::<L>(now, &item, words);
                return marks.map(|marks| marks.count_ones() as usize).into_iter().sum();
            }
        }
    }

    /// Adds a copy of an item that is visible for `life` generations, at most the window. Returns
    /// the generation of its stamp.
    ///
    /// # Errors
    /// As `insert`, where slots that have expired count as empty.
    #[inline]
    fn insert_for<L>(&self, item: Self::Item, life: u32) -> Result<u64, InsertError>
    where
        Self: Aging<L>,
    {
        let clock = self.generations();
        let generation = clock.generation() - u64::from(clock.window() - life);
        self.try_insert(&Self::stamped(item, clock.stamp(generation)))?;
        Ok(generation)
    }

    /// Adds a copy of an item if there is no visible one. Returns the present generation if it was
    /// added.
    ///
    /// # Errors
    /// Why there is no room, if there is no visible copy.
    fn insert_unseen<L>(&self, item: Self::Item) -> Result<Option<u64>, InsertError>
    where
        Self: Aging<L>,
    {
        let (mut made_room, mut attempts) = (Ok(()), Self::Attempts::default());
        loop {
            // mutant: unseen-no-lock, unseen-wrong-lock
            let guard = self.stripe_of(&item).lock();
            let now = self.generations().now();
            match self.add_if_unseen::<L>(&guard, now, item) {
                Some(Unseen::Found) => return Ok(None),
                Some(Unseen::Added) => {
                    // No stripe is held while a table grows.
                    drop(guard);
                    self.added(&attempts);
                    return Ok(Some(now));
                }
                Some(Unseen::NoRoom) => {}
                None => continue,
            }
            drop(guard);
            made_room?;
            // Without the lock: the slots to be moved may have the same one. The clock may tick
            // meanwhile.
            // mutant: unseen-kept-now, unseen-no-second-scan
            made_room = self.try_make_room(&item, &mut attempts);
        }
    }

    /// Adds an item with the stamp of the generation `now` if there is no visible copy. `now` was
    /// read under the lock. Returns `None` if it is no longer the present generation.
    fn add_if_unseen<L>(&self, _guard: &StripeGuard, now: u64, item: Self::Item) -> Option<Unseen>
    where
        Self: Aging<L>,
    {
        let stamped = Self::stamped(item, self.generations().stamp(now));
        loop {
            // Presence and room are decided by the same words.
            let words = self.words_to_change(&item);
            if self.visible_in::<L>(now, &item, words) != [0; 2] {
                return Some(Unseen::Found);
            }
            // A sweep of the next generation may have cleared a copy that is visible in this one.
            // mutant: unseen-no-now-validation
            if !self.generations().validate(now) {
                return None;
            }
            // mutant: unseen-add-relaxed
            match self.try_add_swept(now, &stamped, words) {
                Some(true) => return Some(Unseen::Added),
                Some(false) => {}
                None => return Some(Unseen::NoRoom),
            }
        }
    }

    /// Gives the stamp of the present generation to the oldest visible copy of an item. Returns
    /// whether there was one.
    ///
    /// The copy must also know most of the item. If the oldest one does not, all copies get the
    /// stamp: see "Refreshing" in `clock.rs`.
    #[must_use]
    fn refresh<L>(&self, item: Self::Item) -> bool
    where
        Self: Aging<L>,
    {
        // mutant: refresh-no-lock, refresh-wrong-lock
        let guard = self.stripe_of(&item).lock();
        loop {
            let now = self.generations().now();
            let words = self.words_to_change(&item);
            // A sweep of the next generation may have cleared the caller's copy, and the copy that
            // is left may be an alias's.
            // mutant: refresh-no-now-validation
            if !self.generations().validate(now) {
                continue;
            }
            let marks = self.visible_in::<L>(now, &item, words);
            // mutant: refresh-any, refresh-longest
            let Some(oldest) = self.oldest::<L>(now, words, marks) else { return false };
            let stamped = self.restamped(now, oldest.slot);
            let is_longest = !Self::GROWS || oldest.knowledge == self.longest::<L>(words, marks);
            if is_longest && oldest.slot == stamped {
                return true;
            }
            if Self::GROWS {
                // mutant: refresh-unnoted
                self.generations().note_refresh(now);
            }
            // mutant: refresh-oldest
            if !is_longest {
                if self.restamp_all::<L>(&guard, now, words, marks) {
                    return true;
                }
                continue;
            }
            // mutant: refresh-no-bump
            guard.bump();
            // mutant: refresh-ignores-sweep
            if self.change_slot(&guard, words[oldest.place], oldest.slot, Some(stamped)) {
                // mutant: refresh-uncounted
                self.count_restamped(oldest.slot, stamped);
                return true;
            }
            // The clock has ticked since, and the copy was swept; or its bucket was split.
        }
    }

    /// Gives the stamp of the present generation to all these copies of an item. Returns `false` if
    /// one of them is no longer there.
    fn restamp_all<L>(
        &self,
        guard: &StripeGuard,
        now: u64,
        words: [Seen; 2],
        marks: [u64; 2],
    ) -> bool
    where
        Self: Aging<L>,
    {
        // mutant: refresh-all-no-bump
        guard.bump();
        marked::<Self, L>(words, marks).all(|MarkedSlot { place, slot, .. }| {
            let stamped = self.restamped(now, slot);
            // mutant: refresh-all-ignores-change
            if !self.change_slot(guard, words[place], slot, Some(stamped)) {
                return false;
            }
            // mutant: refresh-all-uncounted
            self.count_restamped(slot, stamped);
            true
        })
    }

    /// Removes one copy of an item with the stamp of a generation, if that is visible: the one that
    /// knows most. Returns whether there was one.
    ///
    /// Also returns `false` if a newer copy knows more, and may have got its stamp by a refresh:
    /// see "Refreshing" in `clock.rs`.
    #[must_use]
    fn remove_of<L>(&self, item: Self::Item, generation: u64) -> bool
    where
        Self: Aging<L>,
    {
        // mutant: age-remove-no-lock, age-remove-wrong-lock, age-remove-early-now
        let guard = self.stripe_of(&item).lock();
        let now = self.generations().now();
        // mutant: age-remove-expired
        if !self.generations().is_visible(now, generation) {
            return false;
        }
        loop {
            let words = self.words_to_change(&item);
            let (mut found, mut newer) = (None, 0);
            let marks = self.visible_in::<L>(now, &item, words);
            for copy in marked::<Self, L>(words, marks) {
                let age = self.generations().age(now, copy.slot);
                let (of, knowledge) = (now - u64::from(age), copy.knowledge);
                if of == generation {
                    // mutant: age-remove-shortest
                    found = found.max(Some((knowledge, copy.place, copy.slot)));
                } else if of > generation {
                    newer = newer.max(knowledge);
                }
            }
            let Some((knowledge, place, slot)) = found else { return false };
            // mutant: age-remove-despite-newer, age-remove-newer-refused
            if knowledge < newer && self.generations().has_refreshed(now) {
                return false;
            }
            // mutant: age-remove-no-bump, age-remove-bump-relaxed
            guard.bump();
            // mutant: age-remove-ignores-change, age-remove-clear-relaxed
            if self.change_slot(&guard, words[place], slot, None) {
                // mutant: age-remove-uncounted
                self.generations().count_removed(slot);
                self.removed();
                return true;
            }
        }
    }

    /// Adds a copy of an item, with the stamp of the present generation. If there is no room,
    /// replaces the oldest slot in its two locations: see "Evicting" in `clock.rs`. Returns the
    /// generation, and whether a visible slot was replaced.
    fn insert_evicting<L>(&self, item: Self::Item) -> (u64, bool)
    where
        Self: Aging<L>,
    {
        loop {
            if let Ok(generation) = self.insert_for::<L>(item, self.generations().window()) {
                return (generation, false);
            }
            // Without a lock, only to learn whose lock to acquire.
            let now = self.generations().generation();
            let words = self.words_to_change(&item);
            let every = [Self::LANES.highs(); 2];
            let Some(likely) = self.oldest::<L>(now, words, every) else { continue };
            let MarkedSlot { place, slot: victim, .. } = likely;
            // mutant: evict-no-lock, evict-wrong-lock
            let guard = self.stripe_of_slot(words[place], victim).lock();
            // The generation comes after the words, so no slot in them has a later one.
            let words = self.words_to_change(&item);
            let now = self.generations().now();
            // There was no room, but there may be now.
            // mutant: evict-despite-room
            if words.iter().any(|seen| Self::LANES.zeros(Self::slots_in(seen.word)) != 0) {
                continue;
            }
            // mutant: evict-early-choice
            if self.oldest::<L>(now, words, every) != Some(likely) {
                continue;
            }
            let stamped = Self::stamped(item, self.generations().stamp(now));
            let stamped = self.slot_of(&stamped, place, words[place].word);
            // mutant: evict-no-bump
            guard.bump();
            // mutant: evict-ignores-sweep, evict-relaxed
            if self.change_slot(&guard, words[place], victim, Some(stamped)) {
                self.statistics().inserted();
                // mutant: evict-uncounted
                self.count_restamped(victim, stamped);
                // mutant: evict-reports-nothing
                return (now, self.generations().shows(now, victim));
            }
        }
    }

    /// Returns the oldest marked slot, and of several the one that knows most.
    fn oldest<L>(&self, now: u64, words: [Seen; 2], marks: [u64; 2]) -> Option<MarkedSlot>
    where
        Self: Aging<L>,
    {
        // The order of slots as one number, so that no comparison takes a branch.
        let mut oldest = 0;
        for (place, (Seen { word, .. }, mut left)) in words.into_iter().zip(marks).enumerate() {
            while left != 0 {
                let slot = Self::LANES.slot(word, left & left.wrapping_neg());
                left &= left - 1;
                // An empty slot may be marked, too.
                if slot != 0 {
                    let age = u64::from(self.generations().age(now, slot));
                    let knowledge = u64::from(Self::knowledge(word, slot));
                    let key = age << 48 | knowledge << 40 | (place as u64) << 32 | u64::from(slot);
                    oldest = oldest.max(key);
                }
            }
        }
        let [knowledge, place] = [40, 32].map(|shift| (oldest >> shift) as u8);
        let (knowledge, place) = (knowledge.into(), place.into());
        (oldest != 0).then_some(MarkedSlot { knowledge, place, slot: oldest as u32 })
    }

    /// Returns the largest number of bits that a marked slot knows.
    fn longest<L>(&self, words: [Seen; 2], marks: [u64; 2]) -> u32
    where
        Self: Aging<L>,
    {
        marked::<Self, L>(words, marks).map(|copy| copy.knowledge).max().unwrap_or(0)
    }

    /// A slot with the stamp of a generation.
    #[inline]
    fn restamped(&self, now: u64, slot: u32) -> u32 {
        let clock = self.generations();
        slot - u32::from(clock.stamp(slot.into())) + u32::from(clock.stamp(now))
    }

    /// Counts a slot whose stamp was replaced.
    fn count_restamped(&self, old: u32, new: u32) {
        self.generations().count_removed(old);
        self.generations().count_added(new);
    }
}

/// The outcome of adding an item under its lock if there is no visible copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// It was added.
    Added,
    /// There is a visible copy.
    Found,
    /// There is none, and both buckets are full.
    NoRoom,
}
