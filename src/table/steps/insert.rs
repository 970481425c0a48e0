//! Inserts: one compare-and-swap where a location has an empty slot; otherwise room is made first.

use core::hint::select_unpredictable;

use super::{Attempts, Seen, Space, StripeGuard, Table, Words};
use crate::{
    InsertError,
    sync::{Relaxed, Release},
};

/// The outcome of adding an item under its lock if it is absent.
enum Addition {
    /// It was added.
    Added,
    /// There is a copy, which has this value.
    Found(u16),
    /// It is absent, and both locations are full.
    NoRoom,
}

impl<S: Space> Table<S> {
    /// Adds a copy of an item. Makes room if both locations are full: by relocations, and in a
    /// table that grows by splits where these do not help.
    ///
    /// # Errors
    /// `TooManyCopies` if both locations are full, and hold only copies of this item (if the table
    /// grows: as many as `copies.rs` says). If no empty slot is within reach: `Full`, or
    /// why the table cannot grow. In all cases the table holds the same multiset as without the
    /// call.
    #[inline]
    pub fn insert<L: Words<S>>(&self, item: S::Item) -> Result<(), InsertError> {
        if !self.add::<L>(&item) {
            L::insert_by_making_room(self, &item)?;
        }
        L::count_added(self);
        Ok(())
    }

    /// Adds a copy of an item unless there is one. Returns whether it was added.
    ///
    /// # Errors
    /// As [`get_or_insert`](Self::get_or_insert).
    #[expect(clippy::inline_always, reason = "as below")]
    #[inline(always)]
    pub fn insert_unique<L: Words<S>>(&self, item: S::Item) -> Result<bool, InsertError> {
        self.get_or_insert::<L>(item).map(|found| found.is_none())
    }

    /// Adds a copy of an item unless there is one, with this or another value. Returns `None` if it
    /// was added, and otherwise the value that was found.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), but for `TooManyCopies`.
    #[expect(
        clippy::inline_always,
        reason = "a call takes a tenth of the time of an insert in cache"
    )]
    #[inline(always)]
    pub fn get_or_insert<L: Words<S>>(&self, item: S::Item) -> Result<Option<u16>, InsertError> {
        self.insert_if_absent::<L>(&item)
    }

    /// As [`get_or_insert`](Self::get_or_insert), by reference.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn insert_if_absent<L: Words<S>>(&self, item: &S::Item) -> Result<Option<u16>, InsertError> {
        let sought = L::sought(&self.space, item);
        let guard = self.stripe::<L>(item).lock();
        let addition = self.add_if_absent::<L>(&guard, item, sought);
        // No stripe is held while a table grows.
        drop(guard);
        match addition {
            Addition::Found(value) => Ok(Some(value)),
            Addition::Added => {
                L::count_added(self);
                Ok(None)
            }
            // (By a reference, the item would be stored before the lock is acquired.)
            Addition::NoRoom => self.make_room_and_insert_if_absent::<L>(*item),
        }
    }

    /// The rest of `insert_if_absent`, once both locations were full.
    #[cold]
    fn make_room_and_insert_if_absent<L: Words<S>>(
        &self,
        item: S::Item,
    ) -> Result<Option<u16>, InsertError> {
        let (sought, mut attempts) = (L::sought(&self.space, &item), Attempts::default());
        loop {
            // The lock is released while making room: the slots to be moved may belong to the same
            // stripe, and the thread would wait for itself.
            let made_room = L::make_room(self, &item, &mut attempts);
            let guard = self.stripe::<L>(&item).lock();
            let addition = self.add_if_absent::<L>(&guard, &item, sought);
            drop(guard);
            match addition {
                Addition::Found(value) => return Ok(Some(value)),
                Addition::Added => {
                    self.counters.insert_relocated(&attempts.relocations);
                    L::count_added(self);
                    return Ok(None);
                }
                // Not earlier: another call may have added the item during the failed search.
                Addition::NoRoom => made_room?,
            }
        }
    }

    /// Adds an item under its lock unless there is a copy. Only where slots do not expire.
    ///
    /// Presence and room are decided by the same words. Between two separate reads a plain insert
    /// could put this very item into the last slot, and it would seem absent and without room.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn add_if_absent<L: Words<S>>(
        &self,
        _guard: &StripeGuard,
        item: &S::Item,
        sought: L::Sought,
    ) -> Addition {
        loop {
            // Nobody clears a slot of this item meanwhile, so one load of each word is enough.
            let words = self.space.load_both_to_change(item);
            let found = L::value_in(&self.space, item, sought, words);
            if let Some(value) = found {
                return Addition::Found(value);
            }
            match self.try_add::<L>(item, words, None) {
                Some(true) => return Addition::Added,
                Some(false) => {}
                None => return Addition::NoRoom,
            }
        }
    }

    /// The item with the stamp of a generation.
    #[inline]
    pub(in crate::table) fn stamped(&self, item: S::Item, generation: u64) -> S::Item {
        S::with_value(item, self.clock.stamp(generation))
    }

    /// Marks the slots that match an item and whose age is less than a number.
    #[inline]
    pub(in crate::table) fn visible_in<L: Words<S>>(
        &self,
        now: u64,
        ages: u32,
        item: &S::Item,
        words: [Seen; 2],
    ) -> [u64; 2] {
        let marks = L::marks(&self.space, item, words);
        let visible = |place: usize| {
            let (lanes, word) = (*L::lanes(&self.space), S::slots(words[place].word));
            marks[place] & self.clock.younger(lanes, now, ages, word)
        };
        [visible(0), visible(1)]
    }

    /// Adds a slot to the location with more empty slots. Returns `false` if both are full.
    #[inline]
    pub(crate) fn add<L: Words<S>>(&self, item: &S::Item) -> bool {
        loop {
            let words = self.space.load_both_to_add(item);
            match self.try_add::<L>(item, words, None) {
                Some(true) => return true,
                // The locations are found again, and the slot is encoded again: a bucket may have
                // been split.
                Some(false) => {}
                None => return false,
            }
        }
    }

    /// Adds an item under its lock to a slot that is empty or has expired. Returns `false` if there
    /// is none, or if slots do not expire.
    #[inline]
    pub(in crate::table) fn add_swept<L: Words<S>>(&self, item: &S::Item) -> bool {
        self.clock.sweeps() && self.sweep_and_add::<L>(*item)
    }

    /// As [`add_swept`](Self::add_swept), where slots expire.
    #[inline(never)]
    fn sweep_and_add<L: Words<S>>(&self, item: S::Item) -> bool {
        let item = &item;
        let _guard = self.stripe::<L>(item).lock();
        let now = self.clock.now();
        loop {
            let words = self.space.load_both_to_change(item);
            match self.try_add::<L>(item, words, Some(now)) {
                Some(true) => return true,
                Some(false) => {}
                None => return false,
            }
        }
    }

    /// Adds a slot to the emptier one of two words. Returns `Some(false)` if that word has changed
    /// since, and `None` if both are full.
    ///
    /// Given the generation `now`, slots that had expired in it count as empty. They are swept by
    /// the same change. `now` was read under a lock that is still held.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(in crate::table) fn try_add<L: Words<S>>(
        &self,
        item: &S::Item,
        words: [Seen; 2],
        now: Option<u64>,
    ) -> Option<bool> {
        let [first, second] = [words[0].word, words[1].word];
        let expired = match now {
            None => [0; 2],
            Some(now) => [first, second]
                .map(|word| self.clock.past(*L::lanes(&self.space), now, S::slots(word))),
        };
        let [first, second] = match now {
            None => [first, second],
            Some(_) => [
                L::without_all(&self.space, first, expired[0]),
                L::without_all(&self.space, second, expired[1]),
            ],
        };
        // No branches: the words may still be on their way from memory. A misprediction would be
        // discovered only when they arrive, and would discard the work begun meanwhile on later
        // operations. (The bucket is found by its number for the same reason: if references to both
        // were kept, the compiler would make the choice between them a branch, and an insert in
        // cache would take 1.5 times as long.)
        let is_second = L::is_emptier(&self.space, second, first);
        let word = select_unpredictable(is_second, words[1].word, words[0].word);
        let room = match now {
            None => word,
            Some(_) => select_unpredictable(is_second, second, first),
        };
        let bucket = select_unpredictable(is_second, words[1].bucket, words[0].bucket);
        let slot = L::slot_of(&self.space, item, is_second, room);
        let new = L::with(&self.space, room, slot)?;
        // Release: pairs with the Acquire of whoever loads the word, so that a hit happens after
        // the insert, and a lookup that sees a slot swept sees the generation in which it expired.
        // Relaxed on failure: the word is loaded again.
        let added = self.space.bucket(bucket).compare_exchange(word, new, Release, Relaxed).is_ok();
        if added {
            self.counters.inserted();
            if now.is_some() {
                self.count_swept::<L>(word, expired[usize::from(is_second)]);
            }
            self.clock.count_added(slot);
        }
        Some(added)
    }

    /// Marks the slots of a word that had expired in the generation `now`.
    #[inline]
    pub(in crate::table) fn expired<L: Words<S>>(&self, now: u64, word: u64) -> u64 {
        self.clock.expired(L::lanes(&self.space), now, S::slots(word))
    }

    /// A word without the slots that had expired in the generation `now`.
    #[inline]
    pub(in crate::table) fn unexpired<L: Words<S>>(&self, now: u64, word: u64) -> u64 {
        if self.clock.sweeps() {
            L::without_all(&self.space, word, self.expired::<L>(now, word))
        } else {
            word
        }
    }

    /// Words without the slots that had expired in the generation `now`.
    #[inline]
    pub(in crate::table) fn all_unexpired<L: Words<S>>(
        &self,
        now: u64,
        words: [Seen; 2],
    ) -> [Seen; 2] {
        words.map(|Seen { bucket, word }| Seen { bucket, word: self.unexpired::<L>(now, word) })
    }

    /// Counts slots that were marked in this word, and have been swept.
    #[inline]
    pub(in crate::table) fn count_swept<L: Words<S>>(&self, word: u64, marks: u64) {
        if marks != 0 {
            self.clock.count_swept(*L::lanes(&self.space), S::slots(word), marks);
            self.space.count(-i64::from(marks.count_ones()));
        }
    }
}
