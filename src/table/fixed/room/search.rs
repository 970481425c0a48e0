//! The search for an empty slot: breadth first, over copies of the words. It moves nothing.
//!
//! The plan is made of the words as they were read. Anything may have changed by the time its moves
//! are made, so each move is validated by the step that makes it.

use arrayvec::ArrayVec;

use super::{Addressing, FixedTable, Slots};
use crate::{
    bucket::{Fingerprint, MAX_SLOTS},
    table::visited::{first_place, free_place},
};

/// Largest number of buckets whose fingerprints are followed to their alternate buckets (Fan et al.
/// 2014 give up after 500 relocations). Few under loom, so that a few steps show that a table is
/// full.
const MAX_EXPANDED: usize = if cfg!(loom) { 4 } else { 500 };
/// Largest number of places in the set of visited buckets: twice as many as buckets in it.
const MAX_PLACES: usize = (2 * MAX_EXPANDED).next_power_of_two();
/// Number of visited buckets after which a search in a large table starts to deduplicate. Few
/// searches visit more, and up to that number deduplication costs more than the few repeated
/// visits.
const DEDUPLICATE_AFTER: usize = 256;
/// Smallest number of buckets of a large table. In smaller tables, searches that visit 256 buckets
/// often visit some of them twice.
const LARGE_TABLE: u64 = 1 << 16;
/// Smallest number of places in the set of visited buckets.
const MIN_PLACES: usize = 128;
/// Marks the two buckets that the search starts from.
const NO_PARENT: u16 = u16::MAX;

/// Prefetch distance of a lone search in a large table, in buckets. Larger values waste prefetches.
const LONE_PREFETCH_DISTANCE: usize = 12;
/// Largest number of buckets that are prefetched and not read. Fewer than the distance are when a
/// bucket is expanded.
const MAX_UNREAD: usize = LONE_PREFETCH_DISTANCE + MAX_SLOTS;

impl FixedTable {
    /// The prefetch distance of a lone search.
    pub(super) fn lone_prefetch_distance(&self) -> usize {
        // In a cache, a search need not look ahead.
        if self.is_in_memory() { LONE_PREFETCH_DISTANCE } else { 0 }
    }
}

/// A visited bucket. The fingerprint in slot `slot` of the parent leads to it.
///
/// Packed into one integer. The compiler would assemble a struct of these fields on the stack and
/// load it in one piece, and that load would wait until the stores have left the processor's store
/// buffer.
#[derive(Clone, Copy, Debug)]
struct Node(u64);

impl Node {
    #[inline]
    fn new(bucket: u32, parent: u16, slot: u16) -> Self {
        Self(u64::from(bucket) | u64::from(parent) << 32 | u64::from(slot) << 48)
    }

    #[inline]
    fn bucket(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    fn parent(self) -> usize {
        usize::from((self.0 >> 32) as u16)
    }

    #[inline]
    fn slot(self) -> usize {
        (self.0 >> 48) as usize
    }
}

/// One relocation: a fingerprint to be moved from one of its buckets to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The slot that moves.
    pub slot: u32,
    /// The bucket that it leaves.
    pub from: u32,
    /// Its alternate bucket, to which it moves.
    pub to: u32,
}

/// A search for an empty slot, which can be suspended while the lines that it prefetched arrive.
///
/// Several interleaved searches keep more lines in flight than a lone one can, because a bucket's
/// fingerprints must be known before their alternate buckets can be prefetched.
pub(super) trait Plan: Default {
    /// Starts a search for room in one of the two buckets of a pair. The first step reads these.
    fn start(&mut self, addressing: &Addressing, roots: [u32; 2]);

    /// Reads the buckets that were prefetched, nearest first, up to one with an empty slot. Then
    /// prefetches at least `prefetch_distance` more, if that many are known. With the distance 0,
    /// the search does not wait for them: it may read them at once.
    fn advance(&mut self, table: &FixedTable, prefetch_distance: usize) -> Progress;

    /// The moves that make room in one of the pair's buckets once there is
    /// [`Room`](Progress::Room), *in the order in which they must be made*: the first one goes to
    /// the bucket with the empty slot, the last one leaves one of the pair's buckets. There are
    /// none if one of the two has an empty slot by now.
    fn moves(&self, slots: &Slots) -> impl Iterator<Item = Move>;
}

/// The state of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// More buckets have been prefetched. The next step reads them.
    Prefetched,
    /// A bucket with an empty slot was found. [`moves`](Plan::moves) lead to it.
    Room,
    /// There is no empty slot within reach.
    Exhausted,
}

/// A search that reaches far. It allocates nothing, and takes 10 KB of the stack.
///
/// In a large table the first few hundred buckets are not deduplicated, and neither are those that
/// are not expanded. A bucket that comes twice is then read twice, and a path can lead through it
/// twice; its moves are validated like any other. Other buckets are deduplicated: copies of one
/// fingerprint lead to the same few buckets again and again, and would use up the search.
#[derive(Debug)]
pub(super) struct Search {
    /// The visited buckets that can be expanded, in the order of their visits, which is that of
    /// their distance.
    nodes: ArrayVec<Node, MAX_EXPANDED>,
    /// The words of those that have been read, in the same order.
    words: ArrayVec<u64, MAX_EXPANDED>,
    /// Buckets that are too far away to be expanded and have not been read. All nodes come before
    /// them.
    leaves: ArrayVec<Node, MAX_UNREAD>,
    /// How many nodes have been expanded: their fingerprints' alternate buckets are known.
    expanded: usize,
    /// The bucket with an empty slot, once it was found.
    found: Option<Node>,
    /// An open-addressing set over `nodes`: the index of a node plus one, or zero. Empty until more
    /// than `deduplicate_after` buckets have been visited.
    visited: ArrayVec<u16, MAX_PLACES>,
    deduplicate_after: usize,
}

impl Default for Search {
    #[inline]
    fn default() -> Self {
        Self {
            nodes: ArrayVec::new(),
            words: ArrayVec::new(),
            leaves: ArrayVec::new(),
            expanded: 0,
            found: None,
            visited: ArrayVec::new(),
            deduplicate_after: 0,
        }
    }
}

impl Plan for Search {
    fn start(&mut self, addressing: &Addressing, roots: [u32; 2]) {
        self.nodes.clear();
        self.words.clear();
        self.leaves.clear();
        self.visited.clear();
        (self.expanded, self.found) = (0, None);
        let large = addressing.buckets() >= LARGE_TABLE;
        self.deduplicate_after = if large { DEDUPLICATE_AFTER } else { 0 };
        let roots = if roots[0] == roots[1] { &roots[..1] } else { &roots };
        self.nodes.extend(roots.iter().map(|&bucket| Node::new(bucket, NO_PARENT, 0)));
        self.deduplicate_if_due();
    }

    #[inline]
    fn advance(&mut self, table: &FixedTable, prefetch_distance: usize) -> Progress {
        let (now, slots) = (table.clock.now(), &table.slots);
        for &node in &self.nodes[self.words.len()..] {
            let word = table.planned(now, node.bucket());
            self.words.push(word);
            if !slots.is_full(word) {
                self.found = Some(node);
                return Progress::Room;
            }
        }
        let has_room = |leaf: &Node| !slots.is_full(table.planned(now, leaf.bucket()));
        self.found = self.leaves.iter().copied().find(has_room);
        if self.found.is_some() {
            return Progress::Room;
        }
        self.leaves.clear();
        let mut unread = 0;
        while unread < prefetch_distance.max(1) && self.expanded < self.words.len() {
            let (bucket, word) = (self.nodes[self.expanded].bucket(), self.words[self.expanded]);
            let parent = self.expanded as u16;
            self.expanded += 1;
            let mut place = 0;
            slots.for_each_key(word, |key| {
                let child = table.addressing.alt_bucket(Fingerprint::new(key), bucket);
                table.buckets.prefetch(child);
                if child != bucket {
                    unread += usize::from(self.visit(Node::new(child, parent, place)));
                }
                place += 1;
            });
            if self.visited.is_empty() {
                self.deduplicate_if_due();
            }
        }
        if unread > 0 { Progress::Prefetched } else { Progress::Exhausted }
    }

    fn moves(&self, slots: &Slots) -> impl Iterator<Item = Move> {
        let mut node = self.found;
        core::iter::from_fn(move || {
            let child = node?;
            let parent = *self.nodes.get(child.parent())?;
            let word = self.words[child.parent()];
            let slot = slots.slot_at(word, child.slot() as u32);
            node = Some(parent);
            Some(Move { slot, from: parent.bucket(), to: child.bucket() })
        })
    }
}

impl Search {
    /// Appends a node, unless the search deduplicates and has visited its bucket. Returns whether
    /// it was appended.
    #[inline]
    fn visit(&mut self, node: Node) -> bool {
        if !self.visited.is_empty() {
            return self.visit_once(node);
        }
        self.append(node);
        true
    }

    /// Appends a node, behind all others.
    #[inline]
    fn append(&mut self, node: Node) {
        if let Err(full) = self.nodes.try_push(node) {
            self.leaves.push(full.element());
        }
    }

    /// Appends a node unless its bucket has been visited.
    fn visit_once(&mut self, node: Node) -> bool {
        let bucket_of = |index: usize| self.nodes[index].bucket();
        let Some(place) = free_place(&self.visited, node.bucket(), bucket_of) else {
            return false;
        };
        if self.nodes.is_full() {
            self.leaves.push(node);
            return true;
        }
        self.nodes.push(node);
        self.visited[place] = self.nodes.len() as u16;
        if self.nodes.len() * 2 > self.visited.len() {
            self.rehash(self.visited.len() * 2);
        }
        true
    }

    /// Starts to deduplicate if enough buckets have been visited.
    #[inline]
    fn deduplicate_if_due(&mut self) {
        if self.nodes.len() > self.deduplicate_after {
            self.rehash((4 * self.nodes.len()).next_power_of_two().max(MIN_PLACES));
        }
    }

    /// Rebuilds the set of visited buckets with this many places, a power of two, or with as many
    /// as there may be.
    fn rehash(&mut self, places: usize) {
        static ZEROS: [u16; MAX_PLACES] = [0; MAX_PLACES];
        self.visited.clear();
        // One copy of memory, and not a loop over the places.
        let fits = self.visited.try_extend_from_slice(&ZEROS[..places.min(MAX_PLACES)]);
        debug_assert!(fits.is_ok(), "there are at most `MAX_PLACES` of them");
        let mask = self.visited.len() - 1;
        for (index, node) in self.nodes.iter().enumerate() {
            let mut place = first_place(node.bucket(), mask);
            while self.visited[place] != 0 {
                place = (place + 1) & mask;
            }
            self.visited[place] = index as u16 + 1;
        }
    }
}
