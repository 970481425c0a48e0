//! This library's placement: any number of buckets, a reflection, the emptier bucket first, and a
//! breadth-first search.

use std::{collections::HashSet, hint::black_box};

use guira::raw::{Fingerprint, Geometry};

use super::{Placement, Shape, Slot, reduce, table::Table};

/// Buckets that a search expands before it gives up, as in the library.
const MOST_EXPANDED: usize = 500;

/// A bucket that a search has met: by the fingerprint in a slot of an earlier one.
#[derive(Clone, Copy)]
struct Node {
    bucket: u32,
    parent: Option<(u32, u32)>,
}

/// The library's rules, with its own function from a bucket to the other.
pub struct Library<T> {
    table: Table<T>,
    shape: Shape,
    geometry: Geometry,
    nodes: Vec<Node>,
    seen: HashSet<u32>,
}

impl<T: Slot> Library<T> {
    pub fn new(shape: Shape, seed: u64) -> Self {
        Self {
            table: Table::new(shape.buckets, shape.slots),
            shape,
            geometry: Geometry::new(shape.buckets.into(), seed),
            nodes: Vec::new(),
            seen: HashSet::new(),
        }
    }

    fn pair(&self, hash: u64) -> (u32, [u32; 2]) {
        let fingerprint = 1 + reduce(hash as u32, (1 << self.shape.bits) - 1);
        let first = reduce((hash >> 32) as u32, self.geometry.buckets());
        (fingerprint, [first, self.other(fingerprint, first)])
    }

    fn other(&self, fingerprint: u32, bucket: u32) -> u32 {
        self.geometry.other(Fingerprint::new(fingerprint), bucket)
    }

    /// Finds the nearest bucket with a free slot, by its index in the nodes.
    fn search(&mut self, roots: [u32; 2]) -> Option<usize> {
        self.nodes.clear();
        self.seen.clear();
        for bucket in roots {
            self.meet(bucket, None);
        }
        let mut read = 0;
        for expanded in 0..MOST_EXPANDED {
            // All buckets known are read before the next is expanded.
            while read < self.nodes.len() {
                if !self.table.is_full(self.nodes[read].bucket) {
                    return Some(read);
                }
                read += 1;
            }
            let bucket = self.nodes.get(expanded)?.bucket;
            for slot in 0..self.shape.slots {
                let fingerprint = self.table.bucket(bucket)[slot].into();
                let parent = (expanded as u32, slot as u32);
                self.meet(self.other(fingerprint, bucket), Some(parent));
            }
        }
        (read..self.nodes.len()).find(|&node| !self.table.is_full(self.nodes[node].bucket))
    }

    /// Appends a bucket that was not met before.
    fn meet(&mut self, bucket: u32, parent: Option<(u32, u32)>) {
        if self.seen.insert(bucket) {
            self.nodes.push(Node { bucket, parent });
        }
    }
}

impl<T: Slot> Placement for Library<T> {
    fn insert(&mut self, hash: u64) -> Option<u32> {
        let (fingerprint, buckets) = self.pair(hash);
        let [first, second] = buckets;
        let second_is_emptier = self.table.occupied(second) < self.table.occupied(first);
        let emptier = if second_is_emptier { second } else { first };
        if self.table.push(emptier, fingerprint) {
            return None;
        }
        let Some(free) = self.search(buckets) else { return Some(fingerprint) };
        let mut to = self.nodes[free];
        // Each fingerprint on the way moves one bucket on, the last of them first.
        let mut hole = None;
        while let Some((parent, slot)) = to.parent {
            let from = self.nodes[parent as usize];
            let moved = self.table.bucket(from.bucket)[slot as usize].into();
            match hole {
                None => assert!(self.table.push(to.bucket, moved), "the search found room"),
                Some(slot) => _ = self.table.swap(to.bucket, slot, moved),
            }
            hole = Some(slot as usize);
            to = from;
        }
        self.table.swap(to.bucket, hole.expect("both buckets were full"), fingerprint);
        None
    }

    fn contains(&self, hash: u64) -> bool {
        let (fingerprint, buckets) = self.pair(hash);
        buckets.into_iter().any(|bucket| self.table.holds(bucket, fingerprint))
    }

    fn warm(&self, hashes: &[u64]) {
        for &hash in hashes {
            let (_, [first, second]) = self.pair(hash);
            black_box((self.table.bucket(first)[0], self.table.bucket(second)[0]));
        }
    }

    #[cfg(test)]
    fn fingerprints(&self) -> Vec<u32> {
        self.table.fingerprints()
    }
}
