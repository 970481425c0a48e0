//! The search for an empty slot: breadth first, over copies of the words, and the moves that lead
//! to it.

use core::iter::successors;

use arrayvec::ArrayVec;

#[cfg(guira_vectors)]
use super::Kernel;
use super::{
    GrowingAddressing, GrowingTable, GrowingWords, Item, Place, RelocationCount, Root, Seen, Side,
    Size, Space, mask,
};
use crate::{
    bucket::{Leveled, leveled::level},
    sync::{Acquire, Word},
    table::visited::free_place,
};

/// Largest number of buckets whose slots are followed to their other sides.
const REACH: usize = if cfg!(any(loom, shuttle)) { 4 } else { 128 };
/// Most buckets of a few whose items have no other place: splits elsewhere do not help them.
const FEW: usize = 16;
/// Number of places in the set of buckets that were read: twice as many as there are.
const PLACES: usize = 2 * REACH;
/// Number of neighbours that are prefetched: most searches read no more.
const MAX_PREFETCHED: usize = 3;
/// Number of slots whose buckets are prefetched before the next one is read, in a large table.
const LOOKAHEAD: usize = 8;
/// Smallest number of buckets of a large table. A smaller one stays in a second-level cache, and
/// looking ahead takes more time there than it saves.
const LARGE: u64 = 1 << 16;
/// Largest number of leaves: those of a bucket are added when fewer than `LOOKAHEAD` are left.
const MAX_LEAVES: usize = LOOKAHEAD + 8;
/// Marks the buckets from which a search starts.
const NO_PARENT: u16 = u16::MAX;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum Outcome {
    /// The moves were made, and the incoming item is stored, if there is one.
    Stored,
    /// The table has changed before all moves were made.
    Stale,
    /// No empty slot is within reach.
    Exhausted,
    /// There may be too many copies of the item.
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

/// The buckets on the other sides of the slots in both locations of an item.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::table) struct Neighbours {
    /// The buckets, those of the second location from [`STRIDE`](Self::STRIDE) on.
    pub(in crate::table) buckets: [u32; 2 * Self::STRIDE],
    /// One bit for each of them that has been split in this round, and for each of the others, if
    /// the slot can be moved there.
    pub(in crate::table) split: u32,
    pub(in crate::table) unsplit: u32,
}

impl Neighbours {
    /// Places for each location, more than a bucket has slots.
    pub(in crate::table) const STRIDE: usize = 8;

    /// The slots and these buckets, those that have been split in this round first.
    #[inline]
    pub(in crate::table) fn in_order(&self) -> impl Iterator<Item = (usize, u32)> {
        let (mut rest, mut next) = (self.split, self.unsplit);
        core::iter::from_fn(move || {
            if rest == 0 {
                rest = core::mem::take(&mut next);
            }
            let index = rest.trailing_zeros() as usize;
            let bucket = self.buckets.get(index)?;
            rest &= rest - 1;
            Some((index, *bucket))
        })
    }
}

/// What a search has read: every bucket once. Copies of one item lead to the same few buckets again
/// and again, and would use up the search.
#[derive(Debug)]
pub(in crate::table) struct Search {
    nodes: ArrayVec<Node, REACH>,
    /// Whether the path to the empty slot is long or was found late, or there is none among more
    /// than a few buckets.
    pub(super) is_long: bool,
}

/// The buckets of the nodes of a search: see `visited.rs`.
struct Visited([u8; PLACES]);

impl Visited {
    /// Adds a node behind the others, unless its bucket is there, or the search has reached as far
    /// as it may.
    #[inline]
    fn push(&mut self, nodes: &mut ArrayVec<Node, REACH>, node: Node) {
        let place = free_place(&self.0, node.bucket, |index| nodes[index].bucket);
        if let Some(place) = place
            && nodes.try_push(node).is_ok()
        {
            self.0[place] = nodes.len() as u8;
        }
    }
}

/// A slot that is to be moved.
#[derive(Clone, Copy, Debug)]
pub struct Victim {
    /// The side of the slot, as far as it is known.
    pub(in crate::table) side: Side,
    /// The bucket that holds it, and the level at which it was read.
    pub(in crate::table) place: Place,
    /// The slot.
    pub(in crate::table) slot: u64,
}

impl Search {
    /// Nothing yet.
    #[inline]
    pub(in crate::table) fn new() -> Self {
        Self { nodes: ArrayVec::new(), is_long: false }
    }

    /// Whether it has read all buckets that moves can reach.
    pub(super) fn is_closed(&self) -> bool {
        !self.nodes.is_full()
    }

    /// The buckets that were read, in the order of their distance, and their levels.
    pub(in crate::table) fn buckets(&self) -> impl Iterator<Item = (u32, u32)> {
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

    /// The side of a slot, of which the lowest bits are a value.
    #[inline]
    fn side(&self, leveled: &Leveled, slot: u64) -> Side {
        let code = leveled.decode(slot, level(self.word), self.low.into());
        Side { start: self.start, code }
    }
}

impl GrowingTable {
    /// Searches for an empty slot, and moves slots so that one of the item's locations has room.
    /// The last move stores the incoming item, if there is one.
    pub(in crate::table) fn search(
        &self,
        item: &Item,
        incoming: Option<&Item>,
        search: &mut Search,
        relocations: &RelocationCount,
    ) -> Outcome {
        let (now, roots) = self.load_unexpired(item);
        // Stale: a slot has become empty, or has expired.
        if !(self.leveled().is_full(roots[0].word) && self.leveled().is_full(roots[1].word)) {
            return Outcome::Stale;
        }
        if incoming.is_some() && self.are_too_many(item, roots) {
            return Outcome::Copies;
        }
        if let Some((root, victim)) = self.neighbour(now, item, roots) {
            self.counters.found_path(0..1);
            if self.relocate::<GrowingWords>(victim, incoming.map(|item| item.sides[root])) {
                relocations.increment();
                return Outcome::Stored;
            }
        }
        self.search_on(now, item, roots, incoming, search, relocations)
    }

    /// Loads the words of an item's locations, for a thread that may change them next, and then the
    /// generation, and returns the words without the slots that had expired in it.
    pub(in crate::table) fn load_unexpired(&self, item: &Item) -> (u64, [Seen; 2]) {
        let seen = self.load_both_to_change(item);
        let now = self.clock.now();
        (now, self.all_unexpired::<GrowingWords>(now, seen))
    }

    /// A slot in one of the locations of an item whose other bucket has an empty slot, if there is
    /// one, and the side of the item that has this location.
    ///
    /// In a round most of the buckets that have not been split are full, and the room is in the
    /// others. So these are read first, and most searches end here.
    #[inline]
    fn neighbour(&self, now: u64, item: &Item, roots: [Seen; 2]) -> Option<(usize, Victim)> {
        let neighbours = self.neighbours(item, roots);
        for (index, bucket) in neighbours.in_order() {
            // The word may be that of another level than expected. Then the move finds the right
            // bucket, or fails.
            if !self
                .leveled()
                .is_full(self.unexpired::<GrowingWords>(now, load(self.bucket(bucket))))
            {
                let (root, lane) = (index / Neighbours::STRIDE, index % Neighbours::STRIDE);
                let (Seen { bucket, word }, side) = (roots[root], item.sides[root]);
                let (level, slot) = (level(word), self.leveled().slot(word, lane as u32));
                let code = self.leveled().decode(slot, level, side.code.extension & mask(level));
                let side = Side { start: side.start, code };
                return Some((root, Victim { side, place: Place { bucket, level }, slot }));
            }
        }
        None
    }

    /// The buckets on the other sides of the slots in the locations of an item.
    #[inline]
    pub(in crate::table) fn neighbours(&self, item: &Item, roots: [Seen; 2]) -> Neighbours {
        let size = self.hint();
        let root = |index: usize| {
            let (Seen { bucket, word }, Side { start, code }) = (roots[index], item.sides[index]);
            Root { bucket, word, start, low: code.extension & mask(level(word)) }
        };
        let roots = [root(0), root(1)];
        match self.kernel {
            // SAFETY: the processor has the instructions of the kernel of a table.
            #[cfg(guira_vectors)]
            Kernel::Avx2 | Kernel::Avx512 => unsafe {
                by_bmi::neighbours(&self.addressing, roots, size)
            },
            _ => neighbours(&self.addressing, roots, size),
        }
    }

    /// Prefetches what [`search`](Self::search) will read first, if both locations of an item are
    /// full, and the table is large. The words of the locations have been prefetched.
    #[inline]
    pub fn prefetch_search(&self, item: &Item) {
        if self.addressing.buckets(self.hint()) < LARGE {
            return;
        }
        let roots = self.load_both(item);
        if self.leveled().is_full(roots[0].word) && self.leveled().is_full(roots[1].word) {
            let neighbours = self.neighbours(item, roots);
            for (_, bucket) in neighbours.in_order().take(MAX_PREFETCHED) {
                self.buckets.prefetch(bucket);
            }
        }
    }

    /// The rest of a search: breadth first.
    #[cold]
    fn search_on(
        &self,
        now: u64,
        item: &Item,
        roots: [Seen; 2],
        incoming: Option<&Item>,
        search: &mut Search,
        relocations: &RelocationCount,
    ) -> Outcome {
        let Search { nodes, is_long } = search;
        let mut visited = Visited([0; PLACES]);
        for (index, (seen, side)) in roots.into_iter().zip(item.sides).enumerate() {
            let from = From { node: NO_PARENT, lane: index as u16 };
            visited.push(nodes, Node::new(side, seen, from));
        }
        let size = self.hint();
        let is_large = self.addressing.buckets(size) >= LARGE;
        let ahead = if is_large { LOOKAHEAD } else { 1 };
        let mut leaves = ArrayVec::<Leaf, MAX_LEAVES>::new();
        let mut expanded = 0;
        loop {
            while leaves.len() < ahead && expanded < nodes.len() {
                self.expand(&nodes[expanded], expanded as u16, size, is_large, &mut leaves);
                expanded += 1;
            }
            if leaves.is_empty() {
                *is_long = nodes.len() > FEW;
                return Outcome::Exhausted;
            }
            for Leaf { place, from } in leaves.drain(..) {
                // This is a plan, and every move validates its own step of it.
                let word = self.unexpired::<GrowingWords>(now, load(self.bucket(place.bucket)));
                let mut seen = Seen { bucket: place.bucket, word };
                if self.leveled().is_full(word) && nodes.is_full() {
                    continue;
                }
                let parent = &nodes[usize::from(from.node)];
                let slot = self.leveled().slot(parent.word, from.lane.into());
                let side = self.addressing.other(parent.side(self.leveled(), slot));
                if level(word) != place.level {
                    let Some(found) = self.follow(side, place, |bucket| load(self.bucket(bucket)))
                    else {
                        continue;
                    };
                    seen = Seen { word: self.unexpired::<GrowingWords>(now, found.word), ..found };
                }
                if !self.leveled().is_full(seen.word) {
                    let long = long_path(self.leveled().slots);
                    let was_long = nodes.is_full() || path(nodes, from).count() >= long;
                    // Models reach few buckets, and split by themselves.
                    *is_long = was_long && !cfg!(any(loom, shuttle));
                    return self.make_moves(nodes, from, incoming, relocations);
                }
                // Buckets beyond the reach are read, and not expanded.
                visited.push(nodes, Node::new(side, seen, from));
            }
        }
    }

    /// Adds the buckets on the other sides of a bucket's slots to the leaves.
    #[inline]
    fn expand(
        &self,
        node: &Node,
        index: u16,
        size: Size,
        prefetch: bool,
        leaves: &mut ArrayVec<Leaf, MAX_LEAVES>,
    ) {
        let Node { word, bucket, start, low, .. } = *node;
        let root = Root { bucket, word, start, low: low.into() };
        self.addressing.for_each_other(root, size, |lane, place| {
            if prefetch {
                self.buckets.prefetch(place.bucket);
            }
            leaves.push(Leaf { place, from: From { node: index, lane: lane as u16 } });
        });
    }

    /// Makes the moves that lead from a bucket with an empty slot back to one of the item's
    /// locations, as far as they are still valid.
    fn make_moves(
        &self,
        nodes: &[Node],
        mut from: From,
        incoming: Option<&Item>,
        relocations: &RelocationCount,
    ) -> Outcome {
        self.counters.found_path(path(nodes, from));
        while from.node != NO_PARENT {
            let node = &nodes[usize::from(from.node)];
            let slot = self.leveled().slot(node.word, from.lane.into());
            let place = Place { bucket: node.bucket, level: level(node.word) };
            let victim = Victim { side: node.side(self.leveled(), slot), place, slot };
            let incoming = incoming.filter(|_| node.from.node == NO_PARENT);
            let incoming = incoming.map(|item| item.sides[usize::from(node.from.lane)]);
            if !self.relocate::<GrowingWords>(victim, incoming) {
                return Outcome::Stale;
            }
            relocations.increment();
            from = node.from;
        }
        Outcome::Stored
    }
}

/// Fewest moves of a long path. Without copies, paths at the target load are shorter. (With 2
/// slots, two of 400,000 inserts read `REACH` buckets; with more, none.)
fn long_path(slots: u32) -> usize {
    match slots {
        2 | 3 => 7,
        _ => 5,
    }
}

/// The slots on the way from an empty slot back to one of the item's locations.
fn path(nodes: &[Node], from: From) -> impl Iterator<Item = From> {
    // `NO_PARENT` is no number of a node.
    let next = |from: &From| nodes.get(usize::from(from.node)).map(|node| node.from);
    successors(Some(from), next).take_while(|from| from.node != NO_PARENT)
}

/// See [`GrowingTable::neighbours`].
#[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
#[inline(always)]
fn neighbours(addressing: &GrowingAddressing, roots: [Root; 2], size: Size) -> Neighbours {
    let (mut buckets, mut split, mut unsplit) = ([0; 2 * Neighbours::STRIDE], 0, 0);
    for (index, root) in roots.into_iter().enumerate() {
        addressing.for_each_other(root, size, |lane, place| {
            let index = index * Neighbours::STRIDE + lane as usize % Neighbours::STRIDE;
            buckets[index] = place.bucket;
            let is_split = place.level - size.level;
            split |= is_split << index;
            unsplit |= (1 - is_split) << index;
        });
    }
    Neighbours { buckets, split, unsplit }
}

/// With shifts by any number in one instruction.
#[cfg(guira_vectors)]
mod by_bmi {
    use super::{GrowingAddressing, Neighbours, Root, Size};

    #[target_feature(enable = "bmi1,bmi2")]
    pub(super) fn neighbours(
        addressing: &GrowingAddressing,
        roots: [Root; 2],
        size: Size,
    ) -> Neighbours {
        super::neighbours(addressing, roots, size)
    }
}

/// Loads a word for a plan, or for a thread that may change it next.
#[inline]
fn load(word: &Word) -> u64 {
    // Acquire: pairs with the Release of a switch, so that the memory of a child is there.
    // mutant-ok: models have all memory from the start, and each move reads its source again
    word.load_to_change(Acquire)
}
