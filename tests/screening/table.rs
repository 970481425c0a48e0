//! A cuckoo table whose formulas are arguments, so that it can be filled by others than the
//! library's.

use super::Side;

/// A table of buckets with this many slots each. Zero is an empty slot.
pub struct Table {
    slots: usize,
    words: Vec<u32>,
    /// The search that has last visited each bucket.
    visited: Vec<u32>,
    searches: u32,
}

impl Table {
    pub fn new(buckets: u64, slots: usize) -> Self {
        let buckets = buckets as usize;
        Self { slots, words: vec![0; buckets * slots], visited: vec![0; buckets], searches: 0 }
    }

    fn bucket(&self, bucket: u32) -> &[u32] {
        &self.words[bucket as usize * self.slots..][..self.slots]
    }

    /// The number of occupied slots, which are the first ones.
    fn occupied(&self, bucket: u32) -> usize {
        self.bucket(bucket).iter().take_while(|&&slot| slot != 0).count()
    }

    fn put(&mut self, bucket: u32, slot: usize, fingerprint: u32) {
        self.words[bucket as usize * self.slots + slot] = fingerprint;
    }

    pub fn contains(&self, sides: [Side; 2]) -> bool {
        sides.iter().any(|&(fingerprint, bucket)| self.bucket(bucket).contains(&fingerprint))
    }

    /// Adds an item, given the other side of each. Returns `false` if a breadth-first search of 500
    /// buckets finds no room.
    pub fn insert(&mut self, sides: [Side; 2], other: &dyn Fn(Side) -> Side) -> bool {
        let [first, second] = sides.map(|(_, bucket)| self.occupied(bucket));
        let emptier = sides[usize::from(second < first)];
        if first.min(second) < self.slots {
            self.put(emptier.1, first.min(second), emptier.0);
            return true;
        }
        self.searches += 1;
        // Each visited bucket, with the fingerprint that would come there, and the place of the
        // bucket and the slot that it would come from.
        let mut queue = Vec::new();
        for (fingerprint, bucket) in sides {
            if self.visit(bucket) {
                queue.push((fingerprint, bucket, usize::MAX, 0));
            }
        }
        let mut place = 0;
        while place < queue.len().min(500) {
            let (_, bucket, ..) = queue[place];
            for slot in 0..self.slots {
                let (fingerprint, next) = other((self.bucket(bucket)[slot], bucket));
                if !self.visit(next) {
                    continue;
                }
                queue.push((fingerprint, next, place, slot));
                if self.occupied(next) < self.slots {
                    self.relocate(&queue);
                    return true;
                }
            }
            place += 1;
        }
        false
    }

    /// Moves the fingerprints on the path to the last bucket of the queue, which has room.
    fn relocate(&mut self, queue: &[(u32, u32, usize, usize)]) {
        let (mut fingerprint, mut bucket, mut place, mut from) = queue[queue.len() - 1];
        let mut slot = self.occupied(bucket);
        loop {
            self.put(bucket, slot, fingerprint);
            if place == usize::MAX {
                return;
            }
            slot = from;
            (fingerprint, bucket, place, from) = queue[place];
        }
    }

    /// Returns whether this search has not visited the bucket before.
    fn visit(&mut self, bucket: u32) -> bool {
        let last = std::mem::replace(&mut self.visited[bucket as usize], self.searches);
        last != self.searches
    }
}
