//! guira's scheme: any number of buckets, a reflection, the emptier bucket first, and a
//! breadth-first search.

use std::{collections::HashSet, hint::black_box};

use guira::raw::{Addressing, Fingerprint};

use super::{Shape, Simulation, Slot, reduce, table::Table};

/// Buckets that a search expands before it gives up; the value of the library.
const MAX_EXPANDED: usize = 500;

/// A bucket that a search has visited, with the node and the slot that it was reached from.
#[derive(Clone, Copy)]
struct Node {
    bucket: u32,
    parent: Option<(u32, u32)>,
}

/// A table with the library's scheme, which computes alternate buckets by the library's own code.
pub struct Guira<T> {
    table: Table<T>,
    shape: Shape,
    addressing: Addressing,
    nodes: Vec<Node>,
    visited: HashSet<u32>,
}

impl<T: Slot> Guira<T> {
    pub fn new(shape: Shape) -> Self {
        Self {
            table: Table::new(shape.buckets, shape.slots),
            shape,
            addressing: Addressing::new(shape.buckets.into()),
            nodes: Vec::new(),
            visited: HashSet::new(),
        }
    }

    fn pair(&self, hash: u64) -> (u32, [u32; 2]) {
        let fingerprint = 1 + reduce(hash as u32, (1 << self.shape.bits) - 1);
        let first = reduce((hash >> 32) as u32, self.addressing.buckets());
        (fingerprint, [first, self.alt_bucket(fingerprint, first)])
    }

    fn alt_bucket(&self, fingerprint: u32, bucket: u32) -> u32 {
        self.addressing.alt_bucket(Fingerprint::new(fingerprint), bucket)
    }

    /// Returns the index of the nearest node whose bucket has a free slot.
    fn search(&mut self, roots: [u32; 2]) -> Option<usize> {
        self.nodes.clear();
        self.visited.clear();
        for bucket in roots {
            self.visit(bucket, None);
        }
        let mut checked = 0;
        for expanded in 0..MAX_EXPANDED {
            // Check all visited buckets before expanding the next one.
            while checked < self.nodes.len() {
                if !self.table.is_full(self.nodes[checked].bucket) {
                    return Some(checked);
                }
                checked += 1;
            }
            let bucket = self.nodes.get(expanded)?.bucket;
            for slot in 0..self.shape.slots {
                let fingerprint = self.table.bucket(bucket)[slot].into();
                let parent = (expanded as u32, slot as u32);
                self.visit(self.alt_bucket(fingerprint, bucket), Some(parent));
            }
        }
        (checked..self.nodes.len()).find(|&node| !self.table.is_full(self.nodes[node].bucket))
    }

    /// Adds a node for a bucket that was not visited before.
    fn visit(&mut self, bucket: u32, parent: Option<(u32, u32)>) {
        if self.visited.insert(bucket) {
            self.nodes.push(Node { bucket, parent });
        }
    }
}

impl<T: Slot> Simulation for Guira<T> {
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
        // Relocate each fingerprint on the path by one bucket, starting with the last.
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
        buckets.into_iter().any(|bucket| self.table.contains(bucket, fingerprint))
    }

    fn prefetch(&self, hashes: &[u64]) {
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
