//! The search for an empty slot: breadth first, over copies of the words, and the moves that lead
//! to it.

use arrayvec::ArrayVec;

use super::{GrowingTable, Item, Place, Seen, Side, address::mask};
use crate::{
    bucket::{GrowingLayout, leveled::level},
    table::stats::RelocationCount,
};

/// Largest number of buckets whose slots are followed to their other sides.
const REACH: usize = if cfg!(any(loom, shuttle)) { 4 } else { 128 };
/// Largest number of buckets that are prefetched before the next one is read.
const AHEAD: usize = 16;
/// Marks the buckets from which a search starts.
const NO_PARENT: u16 = u16::MAX;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The moves were made, and the incoming item is stored, if there is one.
    Stored,
    /// The table has changed before all moves were made.
    Stale,
    /// No empty slot is within reach.
    Exhausted,
}

/// A bucket that was read.
#[derive(Clone, Copy, Debug)]
struct Node {
    word: u64,
    bucket: u32,
    /// The bucket at level 0.
    start: u32,
    /// The bits of the extension that the number of the bucket tells.
    low: u32,
    from: From,
}

/// The slot that leads to a bucket.
#[derive(Clone, Copy, Debug)]
struct From {
    node: u16,
    lane: u16,
}

/// A bucket that has been prefetched, and not read.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    side: Side,
    place: Place,
    from: From,
}

/// What a search has read.
#[derive(Debug, Default)]
pub(super) struct Search {
    nodes: ArrayVec<Node, REACH>,
}

/// A slot that is to be moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Victim {
    /// The side of the slot, as far as it is known.
    pub(super) side: Side,
    /// The bucket that holds it, and the level at which it was read.
    pub(super) place: Place,
    /// The slot.
    pub(super) slot: u64,
}

impl Search {
    /// The buckets that were read, in the order of their distance, and their levels.
    pub(super) fn buckets(&self) -> impl Iterator<Item = (u32, u32)> {
        self.nodes.iter().map(|node| (node.bucket, level(node.word)))
    }
}

impl Node {
    /// The slot in a lane.
    fn victim<L: GrowingLayout>(&self, lane: u32) -> Option<Victim> {
        let (slot, level) = (L::slot(self.word, lane), level(self.word));
        (slot != 0).then(|| Victim {
            side: Side { start: self.start, code: L::decode(slot, level, self.low.into()) },
            place: Place { bucket: self.bucket, level },
            slot,
        })
    }
}

impl GrowingTable {
    /// Searches for an empty slot, and moves slots so that one of the item's locations has room.
    /// The last move stores the incoming item, if there is one.
    pub(super) fn search<L: GrowingLayout>(
        &self,
        item: &Item,
        incoming: Option<&Item>,
        search: &mut Search,
        relocations: &RelocationCount,
    ) -> Outcome {
        let nodes = &mut search.nodes;
        let roots = self.load_both_to_change(item);
        for (index, (seen, side)) in roots.into_iter().zip(item.sides).enumerate() {
            // Stale: a slot has become empty.
            if !L::is_full(seen.word) {
                return Outcome::Stale;
            }
            if index == 0 || seen.bucket != roots[0].bucket {
                nodes.push(node(side, seen, From { node: NO_PARENT, lane: index as u16 }));
            }
        }
        let mut leaves = ArrayVec::<Leaf, { AHEAD + 8 }>::new();
        let (mut expanded, mut first) = (0, true);
        loop {
            while leaves.len() < AHEAD && expanded < nodes.len() {
                self.expand::<L>(nodes[expanded], expanded as u16, &mut leaves);
                expanded += 1;
            }
            if leaves.is_empty() {
                return Outcome::Exhausted;
            }
            if core::mem::take(&mut first) {
                self.youngest_first(&mut leaves);
            }
            for leaf in leaves.drain(..) {
                // This is a plan, and every move validates its own step of it.
                let load = |word: &crate::sync::Word| word.load_to_change(crate::sync::Acquire);
                let Some(seen) = self.follow(leaf.side, leaf.place, load) else { continue };
                let found = node(leaf.side, seen, leaf.from);
                if !L::is_full(seen.word) {
                    return self.make_moves::<L>(nodes, found, incoming, relocations);
                }
                // Buckets beyond the reach are read, and not expanded.
                let _ = nodes.try_push(found);
            }
        }
    }

    /// Prefetches the buckets on the other sides of a bucket's slots.
    #[inline]
    fn expand<L: GrowingLayout>(
        &self,
        node: Node,
        index: u16,
        leaves: &mut ArrayVec<Leaf, { AHEAD + 8 }>,
    ) {
        let size = self.hint();
        for lane in 0..L::SLOTS {
            let Some(victim) = node.victim::<L>(lane) else { return };
            let side = self.growth.other(victim.side);
            // A slot that does not know which bucket this is stays where it is.
            let Some(place) = self.growth.place(side, size) else { continue };
            if place.bucket != node.bucket {
                self.buckets.prefetch(place.bucket);
                leaves.push(Leaf { side, place, from: From { node: index, lane: lane as u16 } });
            }
        }
    }

    /// Moves the leaf whose bucket was split last to the front: it has the most room.
    #[inline]
    fn youngest_first(&self, leaves: &mut [Leaf]) {
        let size = self.hint();
        let age = |leaf: &Leaf| {
            let round = self.growth.first() << size.level;
            let bucket = u64::from(leaf.place.bucket) % round.max(1);
            if leaf.place.level > size.level {
                size.split.wrapping_sub(bucket)
            } else {
                // In the round before, the first half of the buckets was split.
                let half = (round / 2).max(1);
                size.split + half - bucket % half
            }
        };
        if let Some(youngest) = (0..leaves.len()).min_by_key(|&index| age(&leaves[index])) {
            leaves.swap(0, youngest);
        }
    }

    /// Makes the moves that lead from a bucket with an empty slot back to one of the item's
    /// locations, as far as they are still valid.
    fn make_moves<L: GrowingLayout>(
        &self,
        nodes: &[Node],
        found: Node,
        incoming: Option<&Item>,
        relocations: &RelocationCount,
    ) -> Outcome {
        let mut from = found.from;
        while from.node != NO_PARENT {
            let node = nodes[usize::from(from.node)];
            let Some(victim) = node.victim::<L>(from.lane.into()) else { return Outcome::Stale };
            // A root's lane is the item's side.
            let is_root = node.from.node == NO_PARENT;
            let incoming = incoming.filter(|_| is_root);
            let incoming = incoming.map(|item| item.sides[usize::from(node.from.lane)]);
            if !self.relocate::<L>(victim, incoming) {
                return Outcome::Stale;
            }
            relocations.increment();
            from = node.from;
        }
        Outcome::Stored
    }
}

/// A bucket that was read on the way of a side.
#[inline]
fn node(side: Side, seen: Seen, from: From) -> Node {
    let low = side.code.extension & mask(level(seen.word));
    let Seen { bucket, word } = seen;
    Node { word, bucket, start: side.start, low: low as u32, from }
}
