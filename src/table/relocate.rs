//! Relocation: making room for an insert by moving fingerprints along an eviction path.

use core::mem::take;

use super::{
    Clock, Move, Pair, Payload, Progress, Search, Table, search::lone_prefetch_distance,
    stats::RelocationCount,
};
use crate::{
    InsertError,
    bucket::{BucketLayout, Fingerprint},
    sync::{Acquire, Relaxed, Release},
};

impl<P: Payload> Table<P> {
    /// Searches for an empty slot and moves fingerprints so that one of the pair's buckets may have
    /// room.
    ///
    /// # Errors
    /// `Full` if no empty slot was found.
    pub(crate) fn make_room<L: BucketLayout>(
        &self,
        pair: Pair,
        relocations: &mut RelocationCount,
    ) -> Result<(), InsertError> {
        let mut search = <Search>::default();
        search.relocations = take(relocations);
        search.start(&self.addressing, pair.buckets);
        let distance = lone_prefetch_distance(self.addressing.buckets());
        let outcome = loop {
            match self.search_on::<L, _, _>(&mut search, distance) {
                Progress::Prefetched => {}
                Progress::Exhausted => {
                    self.counters.search_failed();
                    break Err(InsertError::Full);
                }
                Progress::Room => {
                    // The caller looks again, so it does not matter whether all moves were made.
                    let _ = self.follow_path::<L, _, _>(pair, None, &search);
                    break Ok(());
                }
            }
        };
        *relocations = search.relocations;
        outcome
    }

    /// Advances a search for room by one step.
    #[inline]
    pub(super) fn search_on<L: BucketLayout, const REACH: usize, const PLACES: usize>(
        &self,
        search: &mut Search<REACH, PLACES>,
        prefetch_distance: usize,
    ) -> Progress {
        // Relaxed: this is a plan, and every move validates its own step of it. `Exhausted` is not
        // validated: the search misses a slot that is emptied after its bucket was read, and a slot
        // that only the second copy of a half-done move occupies. A slot that has expired counts as
        // empty, because the moves will sweep it.
        let now = self.clock.now();
        let read = |bucket| {
            let word = self.buckets.bucket(bucket).load_to_change(Relaxed);
            L::LANES.without(word, self.clock.expired(L::LANES, now, word))
        };
        let prefetch = |bucket| self.buckets.prefetch(bucket);
        let progress = search.step::<L>(&self.addressing, prefetch_distance, read, prefetch);
        if progress == Progress::Room {
            self.counters.found_path(search.moves::<L>());
        }
        progress
    }

    /// Makes the moves of an eviction path as far as they are still valid. Returns `true` if one of
    /// them left one of the pair's buckets and stored `incoming` there.
    pub(super) fn follow_path<L: BucketLayout, const REACH: usize, const PLACES: usize>(
        &self,
        pair: Pair,
        incoming: Option<Fingerprint>,
        search: &Search<REACH, PLACES>,
    ) -> bool {
        for step in search.moves::<L>() {
            let incoming = incoming.filter(|_| pair.buckets.contains(&step.from));
            if !self.relocate::<L>(step, incoming) {
                // mutant: path-failed-move
                return false;
            }
            search.relocations.increment();
            if incoming.is_some() {
                return true;
            }
        }
        false
    }

    /// Makes one move, and stores `incoming` in the slot that it leaves. `step.to` must be the
    /// fingerprint's alternate bucket, and must not be the same bucket as `step.from`.
    ///
    /// Returns `false` if the plan is stale: the fingerprint is no longer there, or the destination
    /// has no empty slot. Then `incoming` was not stored, and no item was moved (but if a sweep
    /// took the fingerprint meanwhile, there is a copy of it in the destination).
    ///
    /// A slot that has expired is not copied: it is cleared, or takes `incoming`. In the
    /// destination, such slots count as empty.
    #[must_use]
    pub fn relocate<L: BucketLayout>(&self, step: Move, incoming: Option<Fingerprint>) -> bool {
        let pattern = L::pattern(step.fingerprint);
        let [from, to] = [step.from, step.to].map(|bucket| self.buckets.bucket(bucket));
        // mutant: relocate-no-lock, relocate-unlocked-validation
        // mutant: relocate-wrong-lock, move-early-now
        let guard = self.stripe(step.fingerprint).lock();
        let now = self.clock.now();
        // Acquire: pairs with the Release of `try_add`. The copy passes on what its original
        // published.
        let seen = from.load_to_change(Acquire);
        // mutant: relocate-stale-plan
        if !L::contains(seen, pattern) {
            return false;
        }
        // mutant: move-copies-expired
        if self.is_expired::<L>(now, step.fingerprint) {
            let swept = self.clear_slot::<L>(&guard, step.from, seen, pattern, incoming);
            if swept {
                // mutant: move-drop-uncounted
                self.count_replaced(step.fingerprint, incoming);
            }
            // mutant: move-drop-ignores-sweep
            return swept;
        }
        // mutant: relocate-early-bump
        loop {
            // Relaxed: as in `add`.
            let word = to.load_to_change(Relaxed);
            let expired = self.clock.expired(L::LANES, now, word);
            let room = L::LANES.without(word, expired);
            let Some(new) = L::with(room, step.fingerprint) else { return false };
            // Release: pairs with the Acquire loads of `BothWords::load` and the others, as in
            // `try_add`.
            // mutant: relocate-no-copy, relocate-plain-store
            if to.compare_exchange(word, new, Release, Relaxed).is_ok() {
                // mutant: move-sweep-uncounted
                self.clock.count_swept(L::LANES, word, expired);
                break;
            }
        }
        // mutant: relocate-no-bump, relocate-late-bump, relocate-bump-relaxed
        // mutant: relocate-no-bump-incoming, relocate-lock-gap
        guard.bump();
        // mutant: relocate-clear-relaxed, relocate-not-cleared, relocate-by-key
        // mutant: move-ignores-sweep
        if !self.clear_slot::<L>(&guard, step.from, seen, pattern, incoming) {
            // The original was swept, and counted as gone. The copy is one more.
            // mutant: move-uncounted-copy
            self.clock.count_added(step.fingerprint.get());
            return false;
        }
        self.counters.relocated();
        if let Some(incoming) = incoming {
            self.counters.inserted();
            // mutant: move-incoming-uncounted
            self.clock.count_added(incoming.get());
        }
        true
    }

    /// Returns whether a slot with this fingerprint has expired.
    #[inline]
    fn is_expired<L: BucketLayout>(&self, now: u64, fingerprint: Fingerprint) -> bool {
        P::Clock::SWEEPS && self.clock.expired(L::LANES, now, fingerprint.get().into()) != 0
    }

    /// Counts an expired slot that was cleared, or now holds `incoming`.
    fn count_replaced(&self, expired: Fingerprint, incoming: Option<Fingerprint>) {
        self.clock.count_removed(expired.get());
        if let Some(incoming) = incoming {
            self.counters.inserted();
            self.clock.count_added(incoming.get());
        }
    }
}
