//! Inserts: one compare-and-swap where a bucket has an empty slot; otherwise a search for room.

use core::{hint::select_unpredictable, mem::take};

use super::{
    BothWords, Clock, Pair, Payload, Progress, Search, StripeGuard, Table,
    search::lone_prefetch_distance, stats::RelocationCount,
};
use crate::{
    InsertError,
    bucket::{BucketLayout, Fingerprint},
    sync::{Acquire, Relaxed, Release},
};

/// The state of an insert that searches for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchStep {
    /// The next buckets have been prefetched.
    Prefetched,
    /// The plan went stale: the table changed before the moves were made.
    Stale,
    /// There is no empty slot within reach of the search.
    Exhausted,
    /// The insert is complete.
    Done,
}

/// The outcome of adding a fingerprint under its lock if it is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Addition {
    /// It was added.
    Added,
    /// There is a copy, possibly with another value. This is one.
    Found(Fingerprint),
    /// It is absent, and both buckets are full.
    NoRoom,
}

impl<P: Payload> Table<P> {
    /// Adds a copy of the pair's fingerprint. Relocates other fingerprints if both buckets are
    /// full.
    ///
    /// # Errors
    /// `TooManyCopies` if both buckets hold only this fingerprint; `Full` if a search found no
    /// empty slot. In both cases the table holds the same multiset as without the call.
    #[inline]
    pub fn insert<L: BucketLayout>(&self, pair: Pair) -> Result<(), InsertError> {
        // mutant: insert-relaxed
        if self.add::<L>(pair) {
            return Ok(());
        }
        self.insert_by_relocating::<L>(pair)
    }

    /// Adds a copy of the pair's fingerprint unless there is one, with this or another value.
    /// Returns `None` if it was added, and otherwise the copy that was found.
    ///
    /// # Errors
    /// `Full` if the fingerprint is absent and a search found no empty slot.
    #[expect(
        clippy::inline_always,
        reason = "a call takes a tenth of the time of an insert in cache"
    )]
    #[inline(always)]
    pub fn get_or_insert<L: BucketLayout>(
        &self,
        pair: Pair,
    ) -> Result<Option<Fingerprint>, InsertError> {
        let (mut made_room, mut relocations) = (Ok(()), RelocationCount::zero());
        loop {
            // mutant: unique-no-lock
            // mutant: unique-wrong-lock
            let guard = self.stripe(pair.fingerprint).lock();
            // mutant: unique-lock-gap
            match self.add_if_absent::<L>(&guard, pair) {
                Addition::Found(copy) => return Ok(Some(copy)),
                Addition::Added => {
                    self.counters.insert_relocated(&relocations);
                    return Ok(None);
                }
                Addition::NoRoom => {}
            }
            // mutant: unique-lock-kept
            drop(guard);
            // Not earlier: another call may have added the item during the failed search.
            made_room?;
            // The lock is released while making room: the fingerprints to be moved may belong to
            // the same stripe, and the thread would wait for itself.
            // mutant: unique-no-second-scan, unique-no-last-scan
            // mutant: unique-relocate-wrong-lock, unique-relocate-no-bump
            // mutant: unique-relocate-early-bump, unique-relocate-late-bump
            // mutant: unique-relocate-bump-relaxed, unique-relocate-clear-relaxed
            // mutant: unique-relocate-read-relaxed, unique-relocate-copy-relaxed
            made_room = self.make_room::<L>(pair, &mut relocations);
        }
    }

    /// Adds a copy of the pair's fingerprint if there is none. Returns whether it was added.
    ///
    /// # Errors
    /// As [`get_or_insert`](Self::get_or_insert).
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub fn insert_unique<L: BucketLayout>(&self, pair: Pair) -> Result<bool, InsertError> {
        self.get_or_insert::<L>(pair).map(|found| found.is_none())
    }

    /// Adds the fingerprint to the bucket with more empty slots. Returns `false` if both are full.
    #[inline]
    pub(crate) fn add<L: BucketLayout>(&self, pair: Pair) -> bool {
        loop {
            // Relaxed: the compare-and-swap validates what was read, and nothing else depends on
            // it.
            let [first, second] = pair.buckets;
            // The buckets are found by index here, and again for the compare-and-swap. If
            // references to both were kept, the compiler would make the choice between them a
            // branch, and an insert in cache would take 1.5 times as long.
            let words = [
                self.buckets.bucket(first).load_to_change(Relaxed),
                self.buckets.bucket(second).load_to_change(Relaxed),
            ];
            match self.try_add::<L>(pair, words) {
                Some(true) => return true,
                Some(false) => {}
                None => return false,
            }
        }
    }

    /// Adds the fingerprint under its lock unless there is a copy, with this or another value.
    ///
    /// Presence and room are decided by the same words. Between two separate reads a plain insert
    /// could put this very fingerprint into the last slot, and it would seem absent and without
    /// room.
    #[inline]
    fn add_if_absent<L: BucketLayout>(&self, _guard: &StripeGuard, pair: Pair) -> Addition {
        let pattern = L::pattern(self.key(pair.fingerprint));
        loop {
            // Acquire: as in `BothWords::load`. No other thread clears this fingerprint meanwhile,
            // so one read of each word is enough.
            let words =
                pair.buckets.map(|bucket| self.buckets.bucket(bucket).load_to_change(Acquire));
            // mutant: unique-with-value
            let keys = words.without(self.values::<L>());
            if let Some(place) = keys.into_iter().position(|word| L::contains(word, pattern)) {
                // mutant: unique-own-value
                return Addition::Found(self.first_match::<L>(words[place], pair.fingerprint));
            }
            // mutant: unique-two-reads, unique-relaxed
            match self.try_add::<L>(pair, words) {
                Some(true) => return Addition::Added,
                Some(false) => {}
                None => return Addition::NoRoom,
            }
        }
    }

    /// Adds the fingerprint to the bucket with more empty slots, given the words that were read.
    /// Returns `Some(false)` if that word has changed since, and `None` if both buckets are full.
    #[inline]
    fn try_add<L: BucketLayout>(&self, pair: Pair, words: [u64; 2]) -> Option<bool> {
        let ([first, second], [first_word, second_word]) = (pair.buckets, words);
        // No branches, as in `clear_one`.
        let second_is_emptier = L::is_emptier(second_word, first_word);
        let seen = select_unpredictable(second_is_emptier, second_word, first_word);
        let bucket = select_unpredictable(second_is_emptier, second, first);
        let new = L::with(seen, pair.fingerprint)?;
        let word = self.buckets.bucket(bucket);
        // Release: pairs with the Acquire loads of `BothWords::load`, `clear_one`, `add_if_absent`,
        // `count_locked`, `relocate` and `expiry.rs`: whoever finds the fingerprint happens after
        // its insert. Relaxed on failure: the word is read again.
        // mutant: add-plain-store
        let added = word.compare_exchange(seen, new, Release, Relaxed).is_ok();
        if added {
            self.counters.inserted();
            // mutant: add-age-uncounted
            self.clock.count_added(pair.fingerprint.get());
        }
        Some(added)
    }

    /// The rest of `insert`, once both buckets were full.
    #[cold]
    #[inline(never)]
    pub(crate) fn insert_by_relocating<L: BucketLayout>(
        &self,
        pair: Pair,
    ) -> Result<(), InsertError> {
        self.insert_alone::<L>(pair, &mut RelocationCount::zero())
    }

    /// Completes one insert whose buckets were full, and which has made this many relocations.
    #[inline(never)]
    pub(super) fn insert_alone<L: BucketLayout>(
        &self,
        pair: Pair,
        relocations: &mut RelocationCount,
    ) -> Result<(), InsertError> {
        let mut search = <Search>::default();
        search.relocations = take(relocations);
        let distance = lone_prefetch_distance(self.addressing.buckets());
        loop {
            if self.add_swept::<L>(pair) {
                return Ok(());
            }
            self.start_search::<L, _, _>(pair, &mut search)?;
            loop {
                match self.step_search::<L, _, _>(pair, &mut search, distance) {
                    SearchStep::Prefetched => {}
                    SearchStep::Stale => break,
                    SearchStep::Exhausted => {
                        return self.add_at_last::<L>(pair, &search.relocations);
                    }
                    SearchStep::Done => return Ok(()),
                }
            }
        }
    }

    /// Starts the search of an insert whose buckets were full.
    ///
    /// # Errors
    /// `TooManyCopies` if they hold only copies of its fingerprint.
    pub(super) fn start_search<L: BucketLayout, const REACH: usize, const PLACES: usize>(
        &self,
        pair: Pair,
        search: &mut Search<REACH, PLACES>,
    ) -> Result<(), InsertError> {
        // mutant: first-copies-wrong-lock
        if self.holds_only_copies::<L>(pair) {
            return Err(InsertError::TooManyCopies);
        }
        search.start(&self.addressing, pair.buckets);
        Ok(())
    }

    /// Advances the search of an insert by one step, and completes the insert if the search has
    /// found room.
    #[inline]
    pub(super) fn step_search<L: BucketLayout, const REACH: usize, const PLACES: usize>(
        &self,
        pair: Pair,
        search: &mut Search<REACH, PLACES>,
        prefetch_distance: usize,
    ) -> SearchStep {
        match self.search_on::<L, _, _>(search, prefetch_distance) {
            Progress::Prefetched => return SearchStep::Prefetched,
            Progress::Exhausted => return SearchStep::Exhausted,
            Progress::Room => {}
        }
        // mutant: insert-relocate-wrong-lock, insert-relocate-no-bump
        // mutant: insert-relocate-early-bump, insert-relocate-late-bump
        // mutant: insert-relocate-bump-relaxed, insert-relocate-clear-relaxed
        // mutant: insert-relocate-read-relaxed, insert-relocate-copy-relaxed
        let stored = self.follow_path::<L, _, _>(pair, Some(pair.fingerprint), search);
        // mutant: search-add-relaxed
        if !stored && !self.add::<L>(pair) && !self.add_swept::<L>(pair) {
            return SearchStep::Stale;
        }
        self.counters.insert_relocated(&search.relocations);
        SearchStep::Done
    }

    /// The last attempt of an insert whose search found no empty slot. Since its buckets were read,
    /// a slot may have become empty, or more copies of its fingerprint may have been added.
    #[cold]
    fn add_at_last<L: BucketLayout>(
        &self,
        pair: Pair,
        relocations: &RelocationCount,
    ) -> Result<(), InsertError> {
        self.counters.search_failed();
        // mutant: last-add-missing, last-add-relaxed
        if self.add::<L>(pair) || self.add_swept::<L>(pair) {
            self.counters.insert_relocated(relocations);
            return Ok(());
        }
        // mutant: last-copies-ignored, last-copies-wrong-lock, last-full-is-too-many
        let only_copies = self.holds_only_copies::<L>(pair);
        Err(if only_copies { InsertError::TooManyCopies } else { InsertError::Full })
    }
}
