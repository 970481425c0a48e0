//! The search for an empty slot: breadth first, over copies of the words, and the moves that lead
//! to it.

use arrayvec::ArrayVec;

use super::{GrowingTable, Item, Place, Seen, Side, Size, address::mask};
use crate::{
    bucket::{GrowingLayout, leveled::level},
    sync::{Acquire, Word},
    table::stats::RelocationCount,
};

/// Largest number of buckets whose slots are followed to their other sides.
const REACH: usize = if cfg!(any(loom, shuttle)) { 4 } else { 128 };
/// Number of young buckets that are read before the search goes on in breadth.
const MAX_TRIED: u32 = 3;
/// Largest number of slots of a bucket.
const MAX_SLOTS: usize = 5;
/// Number of slots whose buckets are prefetched before the next one is read, in a large table.
const AHEAD: usize = 8;
/// Smallest number of buckets of a large table. A smaller one stays in a second-level cache, and
/// looking ahead takes more time there than it saves.
const LARGE: u64 = 1 << 16;
/// Largest number of leaves: those of a bucket are added when fewer than `AHEAD` are left.
const MAX_LEAVES: usize = AHEAD + 8;
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
    /// Half of the slots of both locations may be copies of the item.
    Copies,
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
    /// The lane of the slot. For a bucket from which the search starts, the side of the item.
    lane: u16,
}

/// A bucket that has not been read.
#[derive(Clone, Copy, Debug)]
struct Leaf {
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
    /// A bucket that was read on the way of a side.
    #[inline]
    fn new(side: Side, Seen { bucket, word }: Seen, from: From) -> Self {
        let low = side.code.extension & mask(level(word));
        Self { word, bucket, start: side.start, low: low as u32, from }
    }

    /// The side of a slot.
    #[inline]
    fn side<L: GrowingLayout>(&self, slot: u64) -> Side {
        let code = L::decode(slot, level(self.word), self.low.into());
        Side { start: self.start, code }
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
        let roots = self.load_both_to_change(item);
        // Stale: a slot has become empty.
        if !(L::is_full(roots[0].word) && L::is_full(roots[1].word)) {
            return Outcome::Stale;
        }
        // mutant: split-copies-ignored
        if incoming.is_some() && Self::copies_in::<L>(item, roots) >= Self::half_of_slots::<L>(item)
        {
            return Outcome::Copies;
        }
        if let Some(victim) = self.youngest::<L>(item, roots) {
            let root = usize::from(victim.place.bucket != roots[0].bucket);
            // mutant: split-youngest-failed-move
            if self.relocate::<L>(victim, incoming.map(|item| item.sides[root])) {
                relocations.increment();
                return Outcome::Stored;
            }
        }
        self.search_on::<L>(item, roots, incoming, search, relocations)
    }

    /// A slot in one of the locations of an item whose other bucket has an empty slot, if one of
    /// the few has that were split last.
    ///
    /// In a round most of the buckets that have not been split are full, and the room is in those
    /// that were split last. So most searches end here.
    #[inline]
    fn youngest<L: GrowingLayout>(&self, item: &Item, roots: [Seen; 2]) -> Option<Victim> {
        let size = self.hint();
        let round = self.growth.first() << size.level;
        let mut candidates = [(u64::MAX, 0); 2 * MAX_SLOTS];
        for (root, (Seen { bucket, word }, side)) in roots.into_iter().zip(item.sides).enumerate() {
            let level = level(word);
            let low = side.code.extension & mask(level);
            for lane in 0..L::SLOTS as usize {
                let code = L::decode(L::slot(word, lane as u32), level, low);
                let (to, known) = self.growth.other_unmarked(Side { start: side.start, code });
                let place = self.growth.place_of_item(to, size);
                if known >> place.level != 0 && place.bucket != bucket {
                    candidates[root * MAX_SLOTS + lane] = (age(place, size, round), place.bucket);
                }
            }
        }
        for _ in 0..MAX_TRIED {
            let ages = candidates.iter().enumerate().map(|(index, &(age, _))| (age, index));
            let (age, index) = ages.min()?;
            if age == u64::MAX {
                return None;
            }
            // The word may be that of another level than expected. Then the move finds the right
            // bucket, or fails.
            if !L::is_full(load(self.bucket(candidates[index].1))) {
                let (root, lane) = (index / MAX_SLOTS, index % MAX_SLOTS);
                let (Seen { bucket, word }, side) = (roots[root], item.sides[root]);
                let (level, slot) = (level(word), L::slot(word, lane as u32));
                let code = L::decode(slot, level, side.code.extension & mask(level));
                let side = Side { start: side.start, code };
                return Some(Victim { side, place: Place { bucket, level }, slot });
            }
            candidates[index].0 = u64::MAX;
        }
        None
    }

    /// The rest of a search: breadth first.
    #[cold]
    fn search_on<L: GrowingLayout>(
        &self,
        item: &Item,
        roots: [Seen; 2],
        incoming: Option<&Item>,
        search: &mut Search,
        relocations: &RelocationCount,
    ) -> Outcome {
        let nodes = &mut search.nodes;
        for (index, (seen, side)) in roots.into_iter().zip(item.sides).enumerate() {
            if index == 0 || seen.bucket != roots[0].bucket {
                nodes.push(Node::new(side, seen, From { node: NO_PARENT, lane: index as u16 }));
            }
        }
        let size = self.hint();
        let is_large = self.growth.buckets(size) >= LARGE;
        let ahead = if is_large { AHEAD } else { 1 };
        let mut leaves = ArrayVec::<Leaf, MAX_LEAVES>::new();
        let mut expanded = 0;
        loop {
            while leaves.len() < ahead && expanded < nodes.len() {
                self.expand::<L>(&nodes[expanded], expanded as u16, size, is_large, &mut leaves);
                expanded += 1;
            }
            if leaves.is_empty() {
                return Outcome::Exhausted;
            }
            for Leaf { place, from } in leaves.drain(..) {
                // This is a plan, and every move validates its own step of it.
                let word = load(self.bucket(place.bucket));
                let mut seen = Seen { bucket: place.bucket, word };
                if L::is_full(word) && nodes.is_full() {
                    continue;
                }
                let parent = &nodes[usize::from(from.node)];
                let slot = L::slot(parent.word, from.lane.into());
                let side = self.growth.other(parent.side::<L>(slot));
                if level(word) != place.level {
                    let Some(now) = self.follow(side, place, load) else { continue };
                    seen = now;
                }
                if !L::is_full(seen.word) {
                    return self.make_moves::<L>(nodes, from, incoming, relocations);
                }
                // Buckets beyond the reach are read, and not expanded.
                let _ = nodes.try_push(Node::new(side, seen, from));
            }
        }
    }

    /// Adds the buckets on the other sides of a bucket's slots to the leaves.
    #[inline]
    fn expand<L: GrowingLayout>(
        &self,
        node: &Node,
        index: u16,
        size: Size,
        prefetch: bool,
        leaves: &mut ArrayVec<Leaf, MAX_LEAVES>,
    ) {
        for lane in 0..L::SLOTS {
            // The bucket was full.
            let side = self.growth.other_unmarked(node.side::<L>(L::slot(node.word, lane)));
            // A slot that does not know which bucket this is stays where it is.
            let place = self.growth.place_of_item(side.0, size);
            if side.1 >> place.level == 0 || place.bucket == node.bucket {
                continue;
            }
            if prefetch {
                self.buckets.prefetch(place.bucket);
            }
            leaves.push(Leaf { place, from: From { node: index, lane: lane as u16 } });
        }
    }

    /// Makes the moves that lead from a bucket with an empty slot back to one of the item's
    /// locations, as far as they are still valid.
    fn make_moves<L: GrowingLayout>(
        &self,
        nodes: &[Node],
        mut from: From,
        incoming: Option<&Item>,
        relocations: &RelocationCount,
    ) -> Outcome {
        while from.node != NO_PARENT {
            let node = &nodes[usize::from(from.node)];
            let slot = L::slot(node.word, from.lane.into());
            let place = Place { bucket: node.bucket, level: level(node.word) };
            let victim = Victim { side: node.side::<L>(slot), place, slot };
            let incoming = incoming.filter(|_| node.from.node == NO_PARENT);
            let incoming = incoming.map(|item| item.sides[usize::from(node.from.lane)]);
            // mutant: split-path-failed-move
            if !self.relocate::<L>(victim, incoming) {
                return Outcome::Stale;
            }
            relocations.increment();
            from = node.from;
        }
        Outcome::Stored
    }
}

/// The number of splits since the bucket was split, in the present round or in the one before.
#[inline]
fn age(place: Place, size: Size, round: u64) -> u64 {
    let bucket = u64::from(place.bucket);
    let bucket = if bucket < round { bucket } else { bucket - round };
    if bucket < size.split {
        return size.split - bucket;
    }
    // In the round before, the first half of the buckets was split.
    let half = round / 2;
    size.split + half - if bucket < half { bucket } else { bucket - half }
}

/// Loads a word for a plan, or for a thread that may change it next.
#[inline]
fn load(word: &Word) -> u64 {
    // Acquire: pairs with the Release of a switch, so that the memory of a child is there.
    // mutant-ok: models have all memory from the start, and each move reads its source again
    word.load_to_change(Acquire)
}
