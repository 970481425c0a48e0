//! Steps of a segment by the pair of a finer segment, without the item: what merging and shrinking
//! need.

use super::{Entries, Segment, entries::with_layout_of};
use crate::{
    InsertError,
    bucket::{with_layout, with_valued_layout},
    table::{Addressing, Nested, Pair, RelocationCount, StripeGuard},
};

/// An item of which only the pair in one segment is known.
///
/// By nesting it is known which pair the item has in that segment and in every coarser one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<V: Entries> {
    /// The segment in which the pair is known.
    pub(super) finest: Addressing<Nested<V>>,
    /// The pair there, with its value.
    pub(super) pair: Pair,
}

/// The steps of [`table`](crate::table), for the pair of the known item in this segment. Except in
/// `count_possible`, this segment must not be finer than the one in which the item is known.
impl<V: Entries> Segment<V> {
    /// Returns whether this segment is not finer than the one with this addressing.
    pub(super) fn is_determined_by(&self, finest: &Addressing<Nested<V>>) -> bool {
        self.addressing().is_determined_by(finest)
    }

    fn pair_of(&self, known: &Known<V>) -> Pair {
        self.addressing().coarse_pair(&known.finest, known.pair)
    }

    pub(super) fn add_known(&self, known: &Known<V>) -> bool {
        let pair = self.pair_of(known);
        with_layout_of!(V, self.layout(), L => self.table().add::<L>(pair))
    }

    pub(super) fn add_known_up_to_half(&self, known: &Known<V>) -> Result<bool, InsertError> {
        let pair = self.pair_of(known);
        with_layout_of!(V, self.layout(), L => self.table().add_up_to_half::<L>(pair))
    }

    /// Adds a copy to the bucket that holds it in the other chain, if the segments are alike.
    pub(super) fn add_known_in_place(&self, known: &Known<V>) -> bool {
        if *self.addressing() != known.finest {
            return self.add_known(known);
        }
        with_layout_of!(V, self.layout(), L => self.table().add_in_place::<L>(known.pair))
    }

    pub(super) fn add_known_in_place_up_to_half(
        &self,
        known: &Known<V>,
    ) -> Result<bool, InsertError> {
        if *self.addressing() != known.finest {
            return self.add_known_up_to_half(known);
        }
        let (table, pair) = (self.table(), known.pair);
        with_layout_of!(V, self.layout(), L => table.add_in_place_up_to_half::<L>(pair))
    }

    pub(super) fn insert_known_by_relocating(&self, known: &Known<V>) -> Result<(), InsertError> {
        let pair = self.pair_of(known);
        with_layout_of!(V, self.layout(), L => self.table().insert_by_relocating::<L>(pair))
    }

    pub(super) fn make_room_for_known(&self, known: &Known<V>) -> Result<(), InsertError> {
        let pair = self.pair_of(known);
        let mut relocations = RelocationCount::zero();
        with_layout_of!(V, self.layout(), L => self.table().make_room::<L>(pair, &mut relocations))
    }

    /// Removes a copy that a merge added.
    pub(super) fn undo_known(&self, guard: &StripeGuard, clears: u64, known: &Known<V>) -> bool {
        let pair = self.pair_of(known);
        with_layout_of!(V, self.layout(), L => self.table().undo_locked::<L>(guard, clears, pair))
    }

    /// Counts the copies that may be copies of the item. The caller holds the stripe. In a finer
    /// segment, the item may have one of several pairs: copies of all of these count.
    pub(super) fn count_possible(&self, known: &Known<V>) -> usize {
        let common = self.addressing().common(&known.finest);
        let pair = common.coarse_pair(&known.finest, known.pair);
        with_layout_of!(V, self.layout(), L => self.table().count_possible::<L>(&common, pair))
    }
}
