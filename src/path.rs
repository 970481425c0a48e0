//! The search for a free lane: breadth first, over words as values, moving nothing.
//!
//! The search is planned on whatever the words were when they were read. By the time its moves
//! are made anything may have changed; they are validated one by one, by whoever makes them.

use crate::{
    geometry::Geometry,
    word::{Fingerprint, WordLayout},
};

/// Most buckets whose fingerprints are followed to their other buckets (Fan et al. 2014 give up
/// after 500 relocations). Under loom few, so that a full table is known as full in a few steps.
const MOST_EXPANDED: usize = if cfg!(loom) { 4 } else { 500 };
/// Marks the two buckets that the search starts from.
const NO_PARENT: u16 = u16::MAX;
/// Slots of the set of buckets seen, at the start of a search; it doubles when half full.
const FIRST_SEEN: usize = 128;

/// A bucket that the search has read, and how it came there.
#[derive(Clone, Copy, Debug)]
struct Node {
    bucket: u32,
    /// The fingerprint that would move here, of those in the parent's bucket.
    fingerprint: u32,
    parent: u16,
}

/// One relocation: a fingerprint to be taken from one of its buckets to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// What moves.
    pub fingerprint: Fingerprint,
    /// The bucket that it leaves.
    pub from: u32,
    /// The bucket that it goes to.
    pub to: u32,
}

/// The state of a search; [`find`](Search::find) runs it.
#[derive(Debug, Default)]
pub struct Search {
    nodes: Vec<Node>,
    /// An open-addressing set over `nodes`: the index of a node plus one, or zero.
    seen: Vec<u16>,
}

impl Search {
    /// Looks for the shortest way to make room in one of the two buckets of a pair.
    ///
    /// `read` returns a bucket's word; it is called once for every bucket met. `prefetch` is called
    /// for every bucket ahead of its `read`. Returns the moves *in the order in which they are to
    /// be made*: the first goes into the bucket with the free lane, the last leaves one of the
    /// pair's buckets. No moves at all: one of the two has room by now. `None`: no free lane within
    /// reach.
    pub fn find<L: WordLayout>(
        mut self,
        geometry: &Geometry,
        roots: [u32; 2],
        read: impl Fn(u32) -> u64,
        prefetch: impl Fn(u32),
    ) -> Option<impl Iterator<Item = Move>> {
        self.seen.resize(FIRST_SEEN, 0);
        let mut words = Vec::with_capacity(FIRST_SEEN / 2);
        self.nodes.reserve(FIRST_SEEN / 2);
        for bucket in roots {
            if self.meet(Node { bucket, fingerprint: 0, parent: NO_PARENT }) {
                words.push(read(bucket));
                if !L::is_full(words[self.nodes.len() - 1]) {
                    return Some(self.path(0));
                }
            }
        }
        for parent in 0..MOST_EXPANDED {
            let &word = words.get(parent)?;
            let bucket = self.nodes[parent].bucket;
            let first_child = self.nodes.len();
            for fingerprint in L::fingerprints(word) {
                let child = geometry.other(fingerprint, bucket);
                let fingerprint = fingerprint.get();
                if self.meet(Node { bucket: child, fingerprint, parent: parent as u16 }) {
                    prefetch(child);
                }
            }
            for child in first_child..self.nodes.len() {
                let word = read(self.nodes[child].bucket);
                if !L::is_full(word) {
                    return Some(self.path(child));
                }
                words.push(word);
            }
        }
        None
    }

    /// Appends a node, unless its bucket was met before.
    fn meet(&mut self, node: Node) -> bool {
        let mask = self.seen.len() - 1;
        let mut slot = seen_slot(node.bucket, mask);
        while let Some(index) = usize::from(self.seen[slot]).checked_sub(1) {
            if self.nodes[index].bucket == node.bucket {
                return false;
            }
            slot = (slot + 1) & mask;
        }
        self.nodes.push(node);
        self.seen[slot] = self.nodes.len() as u16;
        if self.nodes.len() * 2 > self.seen.len() {
            self.grow_seen();
        }
        true
    }

    /// Doubles the set of buckets met.
    fn grow_seen(&mut self) {
        let slots = self.seen.len() * 2;
        self.seen.clear();
        self.seen.resize(slots, 0);
        for (index, node) in self.nodes.iter().enumerate() {
            let mut slot = seen_slot(node.bucket, slots - 1);
            while self.seen[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            self.seen[slot] = index as u16 + 1;
        }
    }

    /// The moves from a node with room up to its root, last bucket first.
    fn path(self, end: usize) -> impl Iterator<Item = Move> {
        let mut node = self.nodes[end];
        std::iter::from_fn(move || {
            let parent = *self.nodes.get(usize::from(node.parent))?;
            let fingerprint = Fingerprint::new(node.fingerprint);
            let step = Move { fingerprint, from: parent.bucket, to: node.bucket };
            node = parent;
            Some(step)
        })
    }
}

/// Where the set of buckets met looks for a bucket first.
fn seen_slot(bucket: u32, mask: usize) -> usize {
    (bucket.wrapping_mul(0x9e37_79b1) >> 16) as usize & mask
}
