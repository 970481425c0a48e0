//! Merging: adding the slots of another table, all of them or none.
//!
//! As in a table of a fixed size, the other table is copied first, and then each slot of the copy
//! is inserted while nothing else is held: see `table/steps/merge.rs`, also for the count of
//! clears. The two tables have the same buckets at level 0, and may have grown differently.
//!
//! # Slots that know less
//!
//! A slot of the other table knows some bits of its item's extension, and stands for all items that
//! agree with it. If it knows the location on one of its sides, it is stored there *whole*, as far
//! as it fits into a tail. If it knows neither location, because the buckets here have been split
//! more often, or only the second one, which is full, it is stored *in halves*: as two slots, each
//! of which knows one bit more, and so on. Room for each of them is made as for an item. Together
//! the halves stand for the same items. One of them is the item's, and the others are ghosts. So is
//! any slot that is a ghost in the other table; which ones these are is not known, but their number
//! is, and that is enough.
//!
//! # Why a merge can be undone
//!
//! The contract of removal says that each item present has a slot that stands for it, of its own.
//! An undo must leave one for each item that is still present, apart from the merged one. Let s be
//! what the merged slot knew, k bits. All levels in the table are at least that of the size and at
//! most one more, and no slot knows less than the level of its bucket.
//!
//! 1. *There is a slot that stands for all items of s:* it knows at most k bits, and they agree.
//!    The undo takes the one of these that knows most. If s was stored whole and still is, what was
//!    stored is such a slot, and knows no more than the one that is taken. An item that had the one
//!    that is taken now has what was stored, which stands for it, too. If s is in halves, some
//!    level is above k. So no slot knows less than k bits, and the one that is taken stands for the
//!    items of s alone. Its item now has the half that stands for it.
//! 2. *There is none.* Then s is in halves, since a removal, too, leaves the slots that know least.
//!    The undo takes from each half of s what it would take if it had been merged by itself. (So it
//!    does not take two slots that may belong to two items while s is stored whole.)
//!
//! All slots that an undo takes have the same stripe, which it holds. Where a split runs at the
//! same time, it only turns a whole slot into halves.

use core::cell::Cell;

use super::{
    GrowingSpace, GrowingTable, Item, Seen, Side,
    alike::may_be_one,
    room::{Outcome, Search},
};
use crate::{
    InsertError,
    bucket::{Code, GrowingLayout, leveled::level},
    sync::{Acquire, Relaxed, Release},
    table::{MergeRefusal, Merged, Payload, StripeGuard, stats::RelocationCount},
};

/// An attempt to add all slots of another table.
#[derive(Debug)]
struct Attempt {
    /// The number of clears when it began.
    clears: u64,
    /// The change of the number of items.
    change: Cell<i64>,
}

impl Attempt {
    fn new(clears: u64) -> Self {
        Self { clears, change: Cell::new(0) }
    }

    fn count(&self, change: i64) {
        self.change.set(self.change.get() + change);
    }
}

impl<P: Payload> GrowingTable<P> {
    /// Adds all slots of another table, or none. `limit` is the largest number of copies of an
    /// item, if there is one. The layout and the number of buckets at level 0 must be the same, and
    /// the hashes of items mixed alike.
    ///
    /// Where a slot leaves open which items it stands for, all of them count against the limit.
    ///
    /// # Panics
    /// If the numbers of buckets at level 0 differ.
    pub fn merge<L: GrowingLayout>(&self, other: &Self, limit: Option<usize>) -> Merged {
        assert_eq!(self.growth.first(), other.growth.first(), "other first buckets");
        let Some((copy, items)) = other.try_clone::<L>() else { return Merged::out_of_memory() };
        let clears = self.stripes.clears();
        // As many slots as there are ghosts are added as ghosts, the last ones.
        let is_ghost = |number: u64| number >= items;
        let attempt = Attempt::new(clears);
        let merged = Merged::all_or_none(
            items + copy.occupancy.ghosts() as u64,
            |each| copy.for_each_known::<L>(each),
            |number, item| {
                if limit.is_some_and(|limit| self.may_hold::<L>(limit, &item)) {
                    return Err(InsertError::TooManyCopies);
                }
                self.insert_known::<L>(&attempt, &item, is_ghost(number))?;
                if !is_ghost(number) {
                    attempt.count(1);
                    self.counters.inserted();
                    self.count_added::<L>();
                }
                Ok(())
            },
            |number, item| {
                let undone = self.undo::<L>(&attempt, &item, is_ghost(number));
                if undone && !is_ghost(number) {
                    attempt.count(-1);
                    // A removal makes no table grow.
                    let _ = self.occupancy.count(-1);
                }
                undone
            },
        );
        let outcome = merged.outcome.map_err(|refusal| match refusal {
            MergeRefusal::Full { fitted, .. } => {
                MergeRefusal::Full { fitted: fitted.min(items), items }
            }
            refusal => refusal,
        });
        Merged { change: attempt.change.get(), outcome }
    }

    /// Calls a function with the number of each slot and with what it knows, the first side being
    /// that of its bucket, until the function returns `false`. Meanwhile no other thread may use
    /// the table.
    fn for_each_known<L: GrowingLayout>(&self, each: &mut dyn FnMut(u64, Item) -> bool) {
        let (mut number, mut go_on) = (0, true);
        self.for_each_in_use(|bucket, word| {
            if go_on {
                // Relaxed: no other thread uses the table.
                let word = word.load(Relaxed);
                for slot in L::occupied_slots(word) {
                    go_on = go_on && each(number, self.known::<L>(bucket, level(word), slot));
                    number += 1;
                }
            }
        });
    }

    /// Inserts what is known of an item, whole if it knows one of its locations, and otherwise in
    /// halves. `is_ghost` tells whether all of it counts as ghosts.
    ///
    /// The first side comes first. It is where the slot is in the other table. So a table that is
    /// empty takes all slots of another one of its size, which may be so full that they would not
    /// fit in another arrangement.
    ///
    /// # Errors
    /// As [`insert`](Self::insert). Nothing was added then, unless a clear overlapped the call.
    fn insert_known<L: GrowingLayout>(
        &self,
        attempt: &Attempt,
        item: &Item,
        is_ghost: bool,
    ) -> Result<(), InsertError> {
        let (relocations, mut splits) = (RelocationCount::zero(), 0);
        loop {
            match self.add_known::<L>(item, is_ghost) {
                Some(true) => {
                    self.counters.insert_relocated(&relocations);
                    return Ok(());
                }
                Some(false) => continue,
                None => {}
            }
            let seen = self.locate(item);
            if seen[0].is_none() {
                // The other side is not known, or has no room.
                return self.insert_halves::<L>(attempt, item, is_ghost);
            }
            self.check_copies::<L>(item)?;
            // Room is made as for an item of which more is known, and which has the same locations.
            // If only one of them is known, that one stands for both.
            let [first, second] = item.sides.map(|side| Self::complete::<L>(side));
            let second = if seen[1].is_some() { second } else { first };
            let mut search = Search::default();
            let whole = Item { sides: [first, second] };
            match self.search::<L>(&whole, None, &mut search, &relocations) {
                Outcome::Exhausted => {
                    self.counters.search_failed();
                    self.split_within_reach::<L>(&search, &mut splits)?;
                }
                // Located again, whether or not all moves were made.
                Outcome::Stored | Outcome::Stale | Outcome::Copies => {}
            }
        }
    }

    /// Inserts both halves of an item, or none.
    fn insert_halves<L: GrowingLayout>(
        &self,
        attempt: &Attempt,
        item: &Item,
        is_ghost: bool,
    ) -> Result<(), InsertError> {
        let [first, second] = self.halves(item);
        self.insert_known::<L>(attempt, &first, is_ghost)?;
        self.insert_known::<L>(attempt, &second, true).inspect_err(|_| {
            if !self.undo::<L>(attempt, &first, is_ghost) && !is_ghost {
                // It stays, or the clear has counted it.
                let _ = self.occupancy.count(1);
                attempt.count(1);
            }
        })
    }

    /// Adds a slot to the first location of an item if it is known and has room, or else to the
    /// second one. Returns `Some(false)` if the word has changed, and `None` if there is no room.
    fn add_known<L: GrowingLayout>(&self, item: &Item, is_ghost: bool) -> Option<bool> {
        // A holder of all stripes must find each ghost stored and counted, or neither.
        let _guard = is_ghost.then(|| self.stripe::<L>(item).lock());
        let seen = self.locate(item);
        let (Seen { bucket, word }, new) =
            seen.into_iter().zip(item.sides).find_map(|(seen, side)| {
                let seen = seen?;
                Some((
                    seen,
                    L::with(seen.word, L::encode(side.code, level(seen.word), self.value_bits()))?,
                ))
            })?;
        // Release: pairs with the Acquire of whoever loads the word, as in `try_add`.
        let added = self.bucket(bucket).compare_exchange(word, new, Release, Relaxed).is_ok();
        if added && is_ghost {
            self.occupancy.count_ghosts(1);
        }
        Some(added)
    }

    /// The side of an item of which all is known, and which agrees with this one.
    pub(super) fn complete<L: GrowingLayout>(side: Side) -> Side {
        let extension = side.code.extension ^ (1 << side.code.known()) | 1 << L::EXTENSION;
        Side { code: Code { extension, ..side.code }, ..side }
    }

    /// Removes what [`insert_known`](Self::insert_known) added, or as much of other slots, unless
    /// the table was cleared since the merge began. Returns whether a slot was
    /// removed.
    fn undo<L: GrowingLayout>(&self, attempt: &Attempt, item: &Item, is_ghost: bool) -> bool {
        let guard = self.stripe::<L>(item).lock();
        if self.stripes.clears_locked(&guard) != attempt.clears {
            return false;
        }
        // Before any slot is cleared.
        guard.bump();
        let removed = self.remove_known::<L>(&guard, item);
        let of_item = i64::from(removed > 0 && !is_ghost);
        self.occupancy.count_ghosts(of_item - removed);
        removed > 0
    }

    /// Clears a slot that stands for all items that agree with this one, the one that knows most.
    /// If there is none, does so for both halves. Returns the number of slots that were cleared.
    #[expect(clippy::only_used_in_recursion, reason = "shows that the lock is held")]
    fn remove_known<L: GrowingLayout>(&self, guard: &StripeGuard, item: &Item) -> i64 {
        loop {
            let seen = self.locate(item);
            let Some((Seen { bucket, word }, lane)) = self.longest_whole::<L>(item, seen) else {
                if seen.iter().all(Option::is_some) {
                    return 0;
                }
                let halves = self.halves(item).map(|half| self.remove_known::<L>(guard, &half));
                return halves[0] + halves[1];
            };
            let new = L::without(word, lane);
            // Release: pairs with the Acquire of whoever loads the word: a lookup that sees the
            // slot cleared sees the version bumped.
            if self.bucket(bucket).compare_exchange(word, new, Release, Relaxed).is_ok() {
                return 1;
            }
        }
    }

    /// Of the slots that know no more than the item, and agree with it, the one that knows most.
    fn longest_whole<L: GrowingLayout>(
        &self,
        item: &Item,
        seen: [Option<Seen>; 2],
    ) -> Option<(Seen, u32)> {
        let found = seen.into_iter().zip(item.sides).filter_map(|(seen, side)| Some((seen?, side)));
        let slots = found.flat_map(|(seen, Side { code, .. })| {
            let at = level(seen.word);
            (0..).zip(L::occupied_slots(seen.word)).filter_map(move |(lane, slot)| {
                let low = code.extension & ((1 << at) - 1);
                let known = L::decode(slot, at, low, self.value_bits());
                // The value, too: it is another item's otherwise.
                let same = known.core == code.core && may_be_one(known, code);
                let whole = known.known() <= code.known() && same;
                whole.then_some((known.known(), (seen, lane)))
            })
        });
        slots.max_by_key(|&(known, _)| known).map(|(_, found)| found)
    }
}

impl<P: Payload> GrowingSpace<P> {
    /// What a slot of a bucket of this level knows of its item. The first side is that of the
    /// bucket.
    pub(super) fn known<L: GrowingLayout>(&self, bucket: u32, level: u32, slot: u64) -> Item {
        let first = self.growth.first();
        let (low, start) = (u64::from(bucket) / first, u64::from(bucket) % first);
        let side =
            Side { start: start as u32, code: L::decode(slot, level, low, self.value_bits()) };
        Item { sides: [side, self.growth.other(side)] }
    }

    /// The two halves of what is known of an item: each knows one bit more.
    pub(super) fn halves(&self, item: &Item) -> [Item; 2] {
        let side = item.sides[0];
        let marker = 1 << side.code.known();
        [marker, 2 * marker].map(|more| {
            // The marker moves up, and the bit in its place is 0 or 1.
            let extension = if more == marker {
                side.code.extension ^ (3 * marker)
            } else {
                side.code.extension | more
            };
            let side = Side { code: Code { extension, ..side.code }, ..side };
            Item { sides: [side, self.growth.other(side)] }
        })
    }

    /// Loads the words of an item's locations, as far as it knows them. If both are one bucket,
    /// both words have the same level.
    pub(super) fn locate(&self, item: &Item) -> [Option<Seen>; 2] {
        let size = self.hint();
        loop {
            let seen = item.sides.map(|side| {
                let place = self.growth.place(side, size)?;
                // Acquire: pairs with the Release of whoever changed the word.
                self.follow(side, place, |bucket| self.bucket(bucket).load_to_change(Acquire))
            });
            let [Some(first), Some(second)] = seen else { return seen };
            if first.bucket != second.bucket || level(first.word) == level(second.word) {
                return seen;
            }
        }
    }
}
