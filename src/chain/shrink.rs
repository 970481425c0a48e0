//! Shrinking: the items of some segments are folded into coarser ones, and the empty segments
//! dropped.

use super::{Chain, Entries, Segment, coarse::Known, entries::with_layout_of};
use crate::{
    bucket::{with_layout, with_valued_layout},
    sync::SetOnce,
    table::{Pair, PerSegment, capacity_of},
};

/// A set of segments, by their numbers. There are at most 33.
#[derive(Clone, Copy, Debug)]
struct Set(u64);

impl Set {
    fn contains(self, number: usize) -> bool {
        self.0 >> number & 1 == 1
    }

    fn with(self, number: usize) -> Self {
        Self(self.0 | 1 << number)
    }

    fn without(self, number: usize) -> Self {
        Self(self.0 & !(1 << number))
    }

    /// The number of the last segment of the set, which is not empty.
    fn last(self) -> usize {
        self.0.ilog2() as usize
    }
}

impl<V: Entries> Chain<V> {
    /// Drops as many segments as it can, the largest ones first, after moving their items to
    /// coarser segments. The first segment stays. Returns the number of bytes that were released.
    ///
    /// See "Shrinking" in `chain/mod.rs` for the argument.
    pub fn shrink_to_fit(&mut self) -> usize {
        let bytes = self.size_in_bytes();
        let kept = self.fold_segments();
        self.retain(kept);
        bytes - self.size_in_bytes()
    }

    /// Moves the items of as many segments as it can to coarser ones. Returns the segments that
    /// hold all items then.
    fn fold_segments(&mut self) -> Set {
        let segments: PerSegment<&Segment<V>> = self.segments().collect();
        let mut kept = smallest_that_fits(&segments);
        let mut folded = 0;
        // The first segments first: their items fit into the fewest others.
        for number in 1..segments.len() {
            if kept.contains(number) {
                continue;
            }
            let all = segments[number].fold_away(|known| {
                while !fold(&segments[..number], kept, &known) {
                    let Some(more) = (1..number).find(|&coarser| !kept.contains(coarser)) else {
                        return false;
                    };
                    kept = kept.with(more);
                }
                folded += 1;
                true
            });
            if !all {
                kept = kept.with(number);
            }
        }
        // Moved, and not inserted.
        self.counters.uninserted(folded);
        kept
    }

    /// Drops the segments that are not in `kept`, which must contain the first one.
    fn retain(&mut self, kept: Set) {
        if let Some(places) = self.later.get_mut() {
            let mut stay = 0;
            for index in 0..places.len() {
                if kept.contains(index + 1) {
                    places.swap(stay, index);
                    stay += 1;
                }
            }
            places[stay..].iter_mut().for_each(SetOnce::clear);
        }
        if self.segments().len() == 1 {
            self.later.clear();
        }
        // What was planned to follow the last segment that is kept may still follow it. So the
        // finest segment of the plan stays the same, and with it the segments' probes.
        self.plan = self.plan.retained(|number| number > kept.last() || kept.contains(number));
    }
}

/// Returns segments that have room for the items of all segments, given that an item can only move
/// to a coarser segment.
fn smallest_that_fits<V: Entries>(segments: &[&Segment<V>]) -> Set {
    let rooms: PerSegment<(u64, u64)> = segments
        .iter()
        .map(|segment| {
            let items = segment.count_occupied();
            (items, capacity_of(segment.layout(), segment.buckets()).max(items))
        })
        .collect();
    let all = Set(u64::MAX >> (64 - segments.len()));
    (1..segments.len()).rev().fold(all, |kept, number| {
        let fewer = kept.without(number);
        if fits(&rooms, fewer) { fewer } else { kept }
    })
}

/// Returns whether the items fit into these segments, given the number of items and the capacity of
/// each segment.
///
/// An item may stay in its segment, or move to any coarser one. So there is room for all items if
/// the following holds for each segment: among it and all coarser ones, those that are kept have
/// room for the items of all. (This follows from Hall's theorem: take, for each item, the set of
/// segments that it may be in. Of any two such sets, one contains the other.)
fn fits(rooms: &[(u64, u64)], kept: Set) -> bool {
    let (mut items, mut room) = (0, 0);
    rooms.iter().enumerate().all(|(number, &(more, capacity))| {
        items += more;
        room += if kept.contains(number) { capacity } else { 0 };
        items <= room
    })
}

/// Adds a copy of an item to one of the segments that are kept, the finest one first, if necessary
/// by relocating others. Returns `false` if there is no room.
fn fold<V: Entries>(coarser: &[&Segment<V>], kept: Set, known: &Known<V>) -> bool {
    let candidates = || (0..coarser.len()).rev().filter(|&number| kept.contains(number));
    // As in an insert, copies of the item must not fill its buckets in the last segment.
    let add = |number: usize| match coarser[number] {
        segment if number == kept.last() => segment.add_known_up_to_half(known),
        segment => Ok(segment.add_known(known)),
    };
    let relocate = |number: usize| loop {
        match add(number) {
            Ok(false) if coarser[number].make_room_for_known(known).is_ok() => {}
            added => return added == Ok(true),
        }
    };
    candidates().any(|number| add(number) == Ok(true)) || candidates().any(relocate)
}

impl<V: Entries> Segment<V> {
    /// Counts the occupied slots.
    fn count_occupied(&self) -> u64 {
        with_layout_of!(V, self.layout(), L => self.table().count_occupied::<L>())
    }

    /// Passes every copy to `fold`, and removes those for which it returns `true`. Stops and
    /// returns `false` as soon as `fold` does.
    fn fold_away(&self, mut fold: impl FnMut(Known<V>) -> bool) -> bool {
        let finest = *self.addressing();
        let fold = |pair: Pair| fold(Known { finest, pair });
        with_layout_of!(V, self.layout(), L => self.table().fold_away::<L>(fold))
    }
}
