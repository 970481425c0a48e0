//! Merging: adding the slots of another table, all of them or none.
//!
//! As in a table of a fixed size, the other table is copied first, and then each slot of the copy
//! is inserted while nothing else is held: see `table/steps/merge.rs`, also for the count of
//! clears. The two tables have the same buckets at level 0, and may have grown differently.
//!
//! A slot of the other table knows some bits of its item's extension, and stands for any item that
//! agrees with it. It is stored in one of its locations here, as far as it fits into a tail. If it
//! knows neither location, because the buckets here have been split more often, the merge is
//! refused.
//!
//! # Why a merge can be undone
//!
//! An undo removes the slot's *representative*: the item that agrees with it, and whose unknown
//! bits are zero. The merge added a slot that matches both, this item and the one to which the slot
//! belongs in the other table. So there are two ways to read what the merge did. If it succeeds, it
//! inserted the items. If it is refused, it inserted the representatives, and removed them again.
//! In either reading, each of its steps is one of those of which `split/mod.rs` shows that they
//! preserve the cover. (An undo takes the slot that knows most. So a slot that knows less may stay
//! in its place.)
//!
//! The other table's ghosts cannot be told from slots of items, but their number is known. As many
//! slots are counted as ghosts here.

use super::{
    GrowingSpace, GrowingTable, GrowingWords, Item, Seen, Side,
    room::{Outcome, Search},
};
use crate::{
    bucket::{Code, leveled::level},
    sync::{Acquire, Relaxed, Release, full_fence},
    table::{MergeRefusal, Merged, stats::RelocationCount},
};

impl GrowingTable {
    /// Adds all slots of another table, or none. `limit` is the largest number of copies of an
    /// item, if there is one. The layout and the number of buckets at level 0 must be the same, and
    /// the hashes of items mixed alike.
    ///
    /// # Panics
    /// If the numbers of buckets at level 0 differ.
    pub fn merge(&self, other: &Self, limit: Option<usize>) -> Merged {
        assert_eq!(self.addressing.first(), other.addressing.first(), "other first buckets");
        let Some((copy, items)) = other.try_clone() else { return Merged::out_of_memory() };
        let clears = self.stripes.clears();
        Merged::all_or_none(
            items,
            |each| copy.for_each_known(items, each),
            |is_ghost, item| {
                if limit.is_some_and(|limit| self.may_hold(limit, &item)) {
                    return Err(MergeRefusal::TooManyCopies);
                }
                self.insert_known(&item, is_ghost)?;
                if !is_ghost {
                    self.counters.inserted();
                    self.count_added();
                }
                Ok(())
            },
            |is_ghost, item| {
                let whole = self.representative(&item);
                let guard = self.stripe::<GrowingWords>(&whole).lock();
                let undone = self.stripes.clears_locked(&guard) == clears
                    && self.clear_one::<GrowingWords>(&guard, &whole, (), None);
                if undone && is_ghost {
                    self.occupancy.count_ghosts(-1);
                } else if undone {
                    // A removal makes no table grow.
                    let _ = self.occupancy.count(-1);
                }
                undone && !is_ghost
            },
        )
    }

    /// Calls a function for each slot, until it returns `false`: whether the slot counts as a
    /// ghost, which all after the first `items` do, and what it knows, the side of its bucket
    /// first. Meanwhile no other thread may use the table.
    fn for_each_known(&self, items: u64, each: &mut dyn FnMut(bool, Item) -> bool) {
        let (mut number, mut go_on) = (0, true);
        self.for_each_in_use(|bucket, word| {
            if go_on {
                // Relaxed: no other thread uses the table.
                let word = word.load(Relaxed);
                for slot in self.leveled().occupied_slots(word) {
                    let known = self.known(bucket, level(word), slot);
                    go_on = go_on && each(number >= items, known);
                    number += 1;
                }
            }
        });
    }

    /// The item that agrees with what is known, and whose other bits are zero.
    fn representative(&self, known: &Item) -> Item {
        let Side { start, code: Code { core, extension } } = known.sides[0];
        let extension = extension ^ (1 << extension.ilog2()) | 1 << self.leveled().extension;
        let side = Side { start, code: Code { core, extension } };
        Item { sides: [side, self.addressing.other(side)] }
    }

    /// Adds what is known of an item to one of its locations.
    ///
    /// The first side comes first. It is where the slot is in the other table. So a table that is
    /// empty takes all slots of another one of its size, which may be so full that they would not
    /// fit in another arrangement.
    fn insert_known(&self, item: &Item, is_ghost: bool) -> Result<(), MergeRefusal> {
        let (relocations, mut splits) = (RelocationCount::zero(), 0);
        let whole = self.representative(item);
        loop {
            match self.add_known(item, is_ghost) {
                Some(true) => {
                    self.counters.insert_relocated(&relocations);
                    return Ok(());
                }
                Some(false) => continue,
                None => {}
            }
            // If only one location is known, that one stands for both.
            let sides = match self.locate(item).map(|seen| seen.is_some()) {
                [true, true] => whole.sides,
                [true, false] => [whole.sides[0]; 2],
                [false, true] => [whole.sides[1]; 2],
                [false, false] => return Err(MergeRefusal::Unknown),
            };
            let within_reach = Item { sides };
            if self.has_too_many(&whole, &within_reach) {
                return Err(MergeRefusal::TooManyCopies);
            }
            let mut search = Search::new();
            match self.search(&within_reach, None, &mut search, &relocations) {
                Outcome::Exhausted => {
                    self.counters.search_failed();
                    self.split_within_reach(&search, &mut splits)?;
                }
                // Located again, whether or not all moves were made.
                Outcome::Stored | Outcome::Stale | Outcome::Copies => {}
            }
        }
    }

    /// Adds a slot to the first location of an item if it is known and has room, or else to the
    /// second one. Returns `Some(false)` if the word has changed, and `None` if there is no room.
    fn add_known(&self, item: &Item, is_ghost: bool) -> Option<bool> {
        // A holder of all stripes must find each ghost stored and counted, or neither.
        let _guard = is_ghost.then(|| self.stripe::<GrowingWords>(item).lock());
        let seen = self.locate(item);
        let (Seen { bucket, word }, new) =
            seen.into_iter().zip(item.sides).find_map(|(seen, side)| {
                let seen = seen?;
                let slot = self.leveled().encode(side.code, level(seen.word));
                Some((seen, self.leveled().with(seen.word, slot)?))
            })?;
        // Release: pairs with the Acquire of whoever loads the word, as in `try_add`.
        let added = self.bucket(bucket).compare_exchange(word, new, Release, Relaxed).is_ok();
        if added && is_ghost {
            self.occupancy.count_ghosts(1);
        }
        Some(added)
    }

    /// Returns whether a merge must refuse a slot because of a limit on copies. All slots in its
    /// known locations count that agree with it, since each of them may be of its item.
    #[cold]
    fn may_hold(&self, limit: usize, item: &Item) -> bool {
        // As in `holds`, but always under the lock. Merges with a limit are rare.
        full_fence();
        let _guard = self.stripe::<GrowingWords>(item).lock();
        let seen = self.locate(item);
        let agree = |slot, word, side: Side| {
            let at = level(word);
            let low = side.code.extension & ((1 << at) - 1);
            let (slot, code) = (self.leveled().decode(slot, at, low), side.code);
            let both = (1 << slot.known().min(code.known())) - 1;
            slot.core >> self.value_bits() == code.core >> self.value_bits()
                && (slot.extension ^ code.extension) & both == 0
        };
        let [first, second] = item.sides;
        let is_one = seen[0].zip(seen[1]).is_some_and(|(one, other)| one.bucket == other.bucket);
        let in_first = seen[0].map_or(0, |Seen { word, .. }| {
            let on_either =
                |&slot: &u64| agree(slot, word, first) || is_one && agree(slot, word, second);
            self.leveled().occupied_slots(word).filter(on_either).count()
        });
        let in_second = seen[1].filter(|_| !is_one).map_or(0, |Seen { word, .. }| {
            self.leveled().occupied_slots(word).filter(|&slot| agree(slot, word, second)).count()
        });
        in_first + in_second >= limit
    }
}

impl GrowingSpace {
    /// What a slot of a bucket of this level knows of its item. The first side is that of the
    /// bucket.
    pub(super) fn known(&self, bucket: u32, level: u32, slot: u64) -> Item {
        let first = self.addressing.first();
        let (low, start) = (u64::from(bucket) / first, u64::from(bucket) % first);
        let side = Side { start: start as u32, code: self.leveled().decode(slot, level, low) };
        Item { sides: [side, self.addressing.other(side)] }
    }

    /// Loads the words of an item's locations, as far as it knows them. If it knows both, no bucket
    /// that both sides had is split between the two loads. (If such a split makes one side unknown,
    /// the other one may be the word before it. Then a merge may move other items needlessly, or be
    /// refused for another reason.)
    pub(super) fn locate(&self, item: &Item) -> [Option<Seen>; 2] {
        let size = self.hint();
        loop {
            let seen = item.sides.map(|side| {
                let place = self.addressing.place(side, size)?;
                // Acquire: pairs with the Release of whoever changed the word.
                self.follow(side, place, |bucket| self.bucket(bucket).load_to_change(Acquire))
            });
            if seen[0].zip(seen[1]).is_none_or(|both| !self.is_split_between(both.into())) {
                return seen;
            }
        }
    }
}
