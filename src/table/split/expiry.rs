//! Expiry in a table that grows: lookups, and what `table/expiry.rs` needs.
//!
//! `table/clock.rs` has the protocol and its argument. This is what is particular to buckets that
//! are split.
//!
//! # Splits
//!
//! A split reads the generation under its lock, and carries over nothing that has expired: it is a
//! sweep of the parent and its child. The next sweep of all buckets begins after the splitter's
//! lock was passed, and finds what has expired since.
//!
//! # Sweeps of all buckets
//!
//! A sweep of all buckets ends at the bucket at which the table ended when the generation began.
//! When it has swept a bucket below the end, it sweeps those buckets from the end on that were split
//! off from it, and what was split off from them: the levels in their words tell. Say that a bucket
//! from the end on exists when the sweep is complete. It descends from one below the end. Follow the
//! line from there. Where the sweep reached a bucket of the line, it found the next one as its
//! child, unless that was split off later. In that case, all that came to it came from a word that
//! had been swept in this generation, and nothing more expires in it.
//!
//! # Moves
//!
//! If the original is swept between the two halves of a move, the copy remains, as in a table of a
//! fixed size. If its bucket was also split, and its tail ran out, some of its copies may have been
//! swept and others not. Those that are left are cleared. The copy on the other side counts as one
//! slot more only if all were swept.
//!
//! # Ghosts
//!
//! A ghost expires like any other slot, and a sweep cannot tell it from one. So ghosts are counted
//! for each stamp. When a generation begins, those that expire with it no longer count as ghosts: a
//! sweep will count them as gone. This happens once all stripes have been passed, so that no split
//! adds more of them, and before the next sweep of all buckets begins.
//!
//! The number of items that follows is exact, with two exceptions until the slots in question
//! expire: an eviction may replace a ghost, and a refresh may restamp one.

use core::hint::select_unpredictable;

use super::{
    GrowingTable, Item, Seen,
    search::{Outcome, Search},
};
use crate::{
    InsertError,
    bucket::{
        Code, GrowingLayout, Lanes,
        leveled::{level, slots},
    },
    sync::{Acquire, Relaxed, Release},
    table::{
        Aged, Aging, Clock, Counters, Expires, Generations, Payload, Stripe, StripeGuard, Stripes,
        stats::RelocationCount,
    },
};

/// What an insert remembers of its attempts to make room: the moves, and the buckets split.
#[derive(Debug)]
pub struct Attempts {
    relocations: RelocationCount,
    splits: u32,
}

impl Default for Attempts {
    fn default() -> Self {
        Self { relocations: RelocationCount::zero(), splits: 0 }
    }
}

impl GrowingTable<Aged> {
    /// Returns whether a visible slot matches the item.
    #[inline]
    #[must_use]
    pub fn is_visible<L: GrowingLayout>(&self, item: &Item) -> bool {
        // mutant: split-age-wrong-stripe
        let stripe = self.stripe::<L>(item);
        loop {
            // mutant: split-age-late-now, split-age-now-relaxed
            let now = self.clock.generation();
            // mutant: split-age-late-version, split-age-version-relaxed
            let version = stripe.version();
            // mutant: split-age-words-relaxed, split-age-first-only
            let seen = self.load_both(item);
            if self.visible_in::<L>(now, item, seen) != [0; 2] {
                return true;
            }
            // mutant: split-age-no-now-validation, split-age-no-version-validation
            if stripe.validate(version) & self.clock.validate(now) {
                return false;
            }
            self.counters.lookup_retried();
        }
    }
}

impl Expires for GrowingTable<Aged> {
    type Item = Item;
    const GROWS: bool = true;

    #[inline]
    fn generations(&self) -> &Generations {
        &self.clock
    }

    fn all_stripes(&self) -> &Stripes {
        &self.stripes
    }

    fn statistics(&self) -> &Counters {
        &self.counters
    }

    #[inline]
    fn stamped(item: Item, stamp: u16) -> Item {
        item.with_value(stamp)
    }

    fn end_of_sweep(&self) -> u64 {
        self.clock.end()
    }

    fn next_sweep(&self) -> Option<u64> {
        Some(self.buckets())
    }

    fn retire_ghosts(&self, now: u64) {
        let retired = self.clock.retire_ghosts(now);
        self.occupancy.retire_ghosts(retired);
    }
}

impl<L: GrowingLayout> Aging<L> for GrowingTable<Aged> {
    const LANES: Lanes = L::LANES;
    type Attempts = Attempts;

    #[inline]
    fn stripe_of(&self, item: &Item) -> &Stripe {
        self.stripe::<L>(item)
    }

    fn stripe_of_slot(&self, Seen { bucket, word }: Seen, slot: u32) -> &Stripe {
        self.stripe::<L>(&self.known::<L>(bucket, level(word), slot.into()))
    }

    #[inline]
    fn words_of(&self, item: &Item) -> [Seen; 2] {
        self.load_both(item)
    }

    #[inline]
    fn words_to_change(&self, item: &Item) -> [Seen; 2] {
        self.load_both_to_change(item)
    }

    #[inline]
    fn slots_in(word: u64) -> u64 {
        slots(word)
    }

    #[inline]
    fn marks_in(&self, item: &Item, words: [Seen; 2]) -> [u64; 2] {
        self.marks_of::<L>(item, words)
    }

    #[inline]
    fn knowledge(word: u64, slot: u32) -> u32 {
        // The bits that the number of the bucket tells, and the length of the slot.
        level(word) + slot.ilog2()
    }

    fn slot_of(&self, item: &Item, place: usize, word: u64) -> u32 {
        L::encode(item.sides[place].code, level(word), self.value_bits()) as u32
    }

    fn change_slot(&self, _guard: &StripeGuard, seen: Seen, slot: u32, new: Option<u32>) -> bool {
        let (at, mut word) = (level(seen.word), seen.word);
        // A slot has a meaning at one level only.
        // mutant: split-change-level-ignored
        while level(word) == at {
            let Some(lane) = L::find(word, slot.into()) else { return false };
            let changed = match new {
                None => L::without(word, lane),
                Some(new) => L::replace(word, lane, new.into()),
            };
            // Release: pairs with the Acquire of whoever loads the word: a lookup that sees the
            // slot cleared sees the version bumped. It also publishes an incoming item.
            // mutant: split-change-plain-store
            match self.bucket(seen.bucket).compare_exchange(word, changed, Release, Relaxed) {
                Ok(()) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    #[inline]
    fn try_add_swept(&self, now: u64, item: &Item, words: [Seen; 2]) -> Option<bool> {
        self.try_add_to_swept::<L>(now, item, words)
    }

    fn try_make_room(&self, item: &Item, attempts: &mut Attempts) -> Result<(), InsertError> {
        let mut search = Search::default();
        match self.search::<L>(item, None, &mut search, &attempts.relocations) {
            Outcome::Exhausted => self.split_within_reach::<L>(&search, &mut attempts.splits),
            // The caller looks again, whether or not all moves were made.
            Outcome::Stored | Outcome::Stale | Outcome::Copies => Ok(()),
        }
    }

    fn added(&self, attempts: &Attempts) {
        self.counters.insert_relocated(&attempts.relocations);
        // mutant: split-unseen-uncounted
        self.count_added::<L>();
    }

    #[inline]
    fn try_insert(&self, item: &Item) -> Result<(), InsertError> {
        self.insert::<L>(item)
    }

    fn removed(&self) {
        // A removal makes no table grow, so nothing has to be checked.
        // mutant: split-age-remove-uncounted
        let _ = self.occupancy.count(-1);
    }

    fn sweep_bucket(&self, now: u64, bucket: u32, end: u64) {
        self.sweep_family::<L>(now, bucket, end);
    }
}

impl<P: Payload> GrowingTable<P> {
    /// Marks the slots of a word that had expired in the generation `now`.
    #[inline]
    pub(super) fn expired<L: GrowingLayout>(&self, now: u64, word: u64) -> u64 {
        self.clock.expired(L::LANES, now, slots(word))
    }

    /// A word without the slots that had expired in the generation `now`.
    #[inline]
    pub(super) fn unexpired<L: GrowingLayout>(&self, now: u64, word: u64) -> u64 {
        if P::Clock::SWEEPS { L::without_all(word, self.expired::<L>(now, word)) } else { word }
    }

    /// Counts slots that were marked in this word, and have been swept.
    #[inline]
    pub(super) fn count_swept<L: GrowingLayout>(&self, word: u64, marks: u64) {
        if P::Clock::SWEEPS && marks != 0 {
            self.clock.count_swept(L::LANES, slots(word), marks);
            let _ = self.occupancy.count(-i64::from(marks.count_ones()));
        }
    }

    /// Adds an item under its lock to a slot that is empty or has expired. Returns `false` if there
    /// is none, or if slots do not expire.
    pub(super) fn add_swept<L: GrowingLayout>(&self, item: &Item) -> bool {
        if !P::Clock::SWEEPS {
            return false;
        }
        // mutant: split-add-swept-no-lock, split-add-swept-early-now
        let _guard = self.stripe::<L>(item).lock();
        let now = self.clock.now();
        loop {
            let seen = self.load_both_to_change(item);
            // mutant: split-add-swept-relaxed
            match self.try_add_to_swept::<L>(now, item, seen) {
                Some(true) => return true,
                Some(false) => {}
                None => return false,
            }
        }
    }

    /// As [`try_add`](Self::try_add), where slots that had expired in the generation `now` count as
    /// empty. They are swept by the same change. `now` was read under a lock that is still held.
    #[inline]
    fn try_add_to_swept<L: GrowingLayout>(
        &self,
        now: u64,
        item: &Item,
        words: [Seen; 2],
    ) -> Option<bool> {
        let expired = words.map(|seen| self.expired::<L>(now, seen.word));
        let [first, second] = [0, 1].map(|place| L::without_all(words[place].word, expired[place]));
        let place = usize::from(slots(second) < slots(first));
        let word = select_unpredictable(place == 0, first, second);
        let Code { core, .. } = item.sides[0].code;
        let code = Code { core, ..item.sides[place].code };
        let slot = L::encode(code, level(word), self.value_bits());
        let new = L::with(word, slot)?;
        let Seen { bucket, word } = words[place];
        // Release: as in `try_add`, and in `sweep_family`.
        // mutant: split-add-swept-plain-store
        let added = self.bucket(bucket).compare_exchange(word, new, Release, Relaxed).is_ok();
        if added {
            self.counters.inserted();
            // mutant: split-add-swept-uncounted
            self.count_swept::<L>(word, expired[place]);
            // mutant: split-add-swept-stamp-uncounted
            self.clock.count_added(slot as u32);
        }
        Some(added)
    }

    /// Sweeps a bucket in the generation `now`, which was read under a lock that is still held, and
    /// those buckets from `end` on that were split off from it.
    pub(super) fn sweep_family<L: GrowingLayout>(&self, now: u64, bucket: u32, end: u64) {
        let place = self.bucket(bucket);
        let word = loop {
            // Acquire: pairs with the Release of a switch, so that the memory of a child is there.
            // mutant-ok: models have all memory from the start, and a child's word is loaded anew
            let word = place.load_to_change(Acquire);
            let expired = self.expired::<L>(now, word);
            if expired == 0 {
                break word;
            }
            let new = L::without_all(word, expired);
            // Release: pairs with the Acquire of `load_both`: a lookup that sees the slot cleared
            // sees the generation in which it expired.
            // mutant: split-sweep-plain-store
            if place.compare_exchange(word, new, Release, Relaxed).is_ok() {
                // mutant: split-sweep-uncounted
                self.count_swept::<L>(word, expired);
                break new;
            }
        };
        for at in (0..level(word)).rev() {
            let (bucket, round) = (u64::from(bucket), self.growth.first() << at);
            // The child of this level is below the end, or the bucket itself is not older.
            // mutant: split-sweep-no-children
            if bucket >= round || bucket + round < end {
                break;
            }
            self.sweep_family::<L>(now, (bucket + round) as u32, end);
        }
    }
}
