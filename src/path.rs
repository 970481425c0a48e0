//! The search for a free lane: breadth first, over words as values, moving nothing.
//!
//! The search is planned on whatever the words were when they were read. By the time its moves
//! are made anything may have changed; they are validated one by one, by whoever makes them.

use alloc::vec::Vec;

use crate::{
    geometry::Placement,
    stats::Made,
    word::{Fingerprint, WordLayout},
};

/// Most buckets whose fingerprints are followed to their other buckets (Fan et al. 2014 give up
/// after 500 relocations). Under loom few, so that a full table is known as full in a few steps.
const MOST_EXPANDED: usize = if cfg!(loom) { 4 } else { 500 };
/// Marks the two buckets that the search starts from.
const NO_PARENT: u16 = u16::MAX;
/// Buckets that a search in a large table meets before it begins to tell them apart: few searches meet more,
/// and until then it costs more than the few buckets met twice.
const MET_UNTOLD: usize = 256;
/// Buckets from which on a table is large.
const LARGE: u64 = 1 << 16;
/// Buckets that there is memory for when a search starts.
const FIRST_NODES: usize = 64;

/// A bucket that the search has met, and how it came there: by the fingerprint that comes `lane`-th in the
/// parent's word.
#[derive(Clone, Copy, Debug)]
struct Node {
    bucket: u32,
    parent: u16,
    lane: u16,
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

/// How a search stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More buckets have been asked for, and are to be read next.
    Asked,
    /// A bucket with a free lane was found; [`moves`](Search::moves) lead to it.
    Room,
    /// No free lane is within reach.
    Exhausted,
}

/// A search that can be left and taken up again while the lines that it asked for are on their way.
///
/// Several searches side by side keep more lines under way than one of them could: a bucket's
/// fingerprints must be known before their other buckets can be asked for.
#[derive(Debug, Default)]
pub struct Search {
    /// Buckets in the order in which they were met, which is that of their distance.
    nodes: Vec<Node>,
    /// The words of as many of them as have been read.
    words: Vec<u64>,
    /// How many of these have been expanded: their fingerprints' other buckets are in `nodes`.
    expanded: usize,
    /// An open-addressing set over `nodes`: the index of a node plus one, or zero. Empty as long as buckets
    /// are not told apart, which they are as soon as so many have been met.
    seen: Vec<u16>,
    untold: usize,
    /// What the insert that searches has made of moves, over all its searches.
    pub(crate) made: Made,
}

impl Search {
    /// Starts a search for room in one of the two buckets of a pair, which are read first.
    pub fn start(&mut self, geometry: &impl Placement, roots: [u32; 2]) {
        self.nodes.clear();
        self.words.clear();
        self.seen.clear();
        self.expanded = 0;
        self.untold = if geometry.buckets() < LARGE { 0 } else { MET_UNTOLD };
        self.nodes.reserve(FIRST_NODES);
        self.words.reserve(FIRST_NODES);
        let both = if roots[0] == roots[1] { &roots[..1] } else { &roots };
        self.nodes.extend(both.iter().map(|&bucket| Node { bucket, parent: NO_PARENT, lane: 0 }));
        self.tell_apart();
    }

    /// Reads the buckets that were asked for, nearest first, up to one with a free lane; asks for at
    /// least `ahead` more where so many are known.
    ///
    /// `read` returns a bucket's word. `prefetch` is called for every bucket but the first two, in the call
    /// before the one that reads it, and for some that turn out to have been met before.
    ///
    /// In a large table a bucket can come twice at first. Then it is read twice, and a path can lead through
    /// it twice; the moves are as valid or stale as any. Later on it is met once: copies of a fingerprint
    /// lead to the same few buckets again and again, and would use up the search.
    #[inline]
    pub fn go_on<L: WordLayout>(
        &mut self,
        geometry: &impl Placement,
        ahead: usize,
        read: impl Fn(u32) -> u64,
        prefetch: impl Fn(u32),
    ) -> Progress {
        while let Some(node) = self.nodes.get(self.words.len()) {
            let word = read(node.bucket);
            self.words.push(word);
            if !L::is_full(word) {
                return Progress::Room;
            }
        }
        while self.nodes.len() < self.words.len() + ahead && self.expanded < MOST_EXPANDED {
            let Some(&word) = self.words.get(self.expanded) else { break };
            let (bucket, parent) = (self.nodes[self.expanded].bucket, self.expanded as u16);
            self.expanded += 1;
            let children = L::fingerprints(word).zip(0..).map(|(fingerprint, lane)| {
                let bucket = geometry.other(fingerprint, bucket);
                prefetch(bucket);
                Node { bucket, parent, lane }
            });
            let children = children.filter(|child| child.bucket != bucket);
            if self.seen.is_empty() {
                self.nodes.extend(children);
                self.tell_apart();
            } else {
                children.for_each(|child| self.meet(child));
            }
        }
        if self.nodes.len() > self.words.len() { Progress::Asked } else { Progress::Exhausted }
    }

    /// The moves that make room in one of the pair's buckets, once there is [`Room`](Progress::Room),
    /// *in the order in which they are to be made*: the first goes into the bucket with the free lane,
    /// the last leaves one of the pair's buckets. None at all: one of the two has room by now.
    pub fn moves<L: WordLayout>(&self) -> impl Iterator<Item = Move> {
        let mut node = self.words.len().checked_sub(1).map(|last| self.nodes[last]);
        core::iter::from_fn(move || {
            let child = node?;
            let parent = *self.nodes.get(usize::from(child.parent))?;
            let word = self.words[usize::from(child.parent)];
            let fingerprint = L::fingerprints(word).nth(child.lane.into())?;
            node = Some(parent);
            Some(Move { fingerprint, from: parent.bucket, to: child.bucket })
        })
    }

    /// Appends a node, unless its bucket was met before.
    fn meet(&mut self, node: Node) {
        let mask = self.seen.len() - 1;
        let mut slot = seen_slot(node.bucket, mask);
        while let Some(index) = usize::from(self.seen[slot]).checked_sub(1) {
            if self.nodes[index].bucket == node.bucket {
                return;
            }
            slot = (slot + 1) & mask;
        }
        self.nodes.push(node);
        self.seen[slot] = self.nodes.len() as u16;
        if self.nodes.len() * 2 > self.seen.len() {
            self.rehash(self.seen.len() * 2);
        }
    }

    /// Begins to tell buckets apart, if it is time.
    #[inline]
    fn tell_apart(&mut self) {
        if self.nodes.len() > self.untold {
            self.rehash((4 * self.nodes.len()).next_power_of_two().max(2 * FIRST_NODES));
        }
    }

    /// Makes the set of buckets met anew, with so many slots, a power of two.
    fn rehash(&mut self, slots: usize) {
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
}

/// Where the set of buckets met looks for a bucket first.
fn seen_slot(bucket: u32, mask: usize) -> usize {
    (bucket.wrapping_mul(0x9e37_79b1) >> 16) as usize & mask
}
