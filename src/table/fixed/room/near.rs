//! The search for an empty slot among the nearest buckets, where most inserts near capacity find
//! one: breadth first, over copies of the words. It moves nothing.
//!
//! A bucket's place tells what leads to it: the alternate buckets of the slots of the first bucket
//! come first, then those of the second one, and so on. So a search stores nothing but buckets and
//! words. Buckets are not deduplicated: among so few, hardly any comes twice, and the moves of a
//! path are validated.

use core::iter::from_fn;

use arrayvec::ArrayVec;

use super::{Addressing, FixedTable, Move, Progress, Slots, search::Plan};
use crate::bucket::Fingerprint;

/// Largest number of visited buckets. All interleaved searches together take 32 KB of the stack.
const MAX_VISITED: usize = if cfg!(loom) { 2 + 4 * 8 } else { 160 };
/// Largest number of buckets whose fingerprints are followed to their alternate buckets, as far as
/// these fit.
const REACH: usize = if cfg!(loom) { 4 } else { MAX_VISITED };

/// A search among the nearest buckets.
#[derive(Debug, Default)]
pub(super) struct Near {
    /// The visited buckets, in the order of their distance: the two buckets of the pair, and then
    /// the alternate buckets of all slots of each of them.
    buckets: ArrayVec<u32, MAX_VISITED>,
    /// How many have been read. They were full.
    read: usize,
    /// The words of those that have been expanded, as they were then: their fingerprints' alternate
    /// buckets are known.
    expanded: ArrayVec<u64, MAX_VISITED>,
    /// The place of a bucket with an empty slot, once it was found.
    found: usize,
}

impl Plan for Near {
    fn start(&mut self, _addressing: &Addressing, roots: [u32; 2]) {
        self.buckets.clear();
        self.expanded.clear();
        self.read = 0;
        self.buckets.extend(roots);
    }

    #[inline]
    fn advance(&mut self, table: &FixedTable, prefetch_distance: usize) -> Progress {
        let (now, slots) = (table.clock.now(), &table.slots);
        loop {
            let has_room = |&bucket: &u32| !slots.is_full(table.planned(now, bucket));
            if let Some(place) = self.buckets[self.read..].iter().position(has_room) {
                self.found = self.read + place;
                return Progress::Room;
            }
            self.read = self.buckets.len();
            let (reach, count) = (self.read.min(REACH), slots.count() as usize);
            let until = (self.read + prefetch_distance.max(1)).min(MAX_VISITED + 1 - count);
            while self.buckets.len() < until && self.expanded.len() < reach {
                let place = self.expanded.len();
                let bucket = self.buckets[place];
                let word = table.planned(now, bucket);
                // A slot was cleared since the bucket was read.
                if !slots.is_full(word) {
                    self.found = place;
                    return Progress::Room;
                }
                slots.for_each_key(word, |key| {
                    let alternate = table.addressing.alt_bucket(Fingerprint::new(key), bucket);
                    table.buckets.prefetch(alternate);
                    self.buckets.push(alternate);
                });
                self.expanded.push(word);
                debug_assert_eq!(self.buckets.len(), 2 + self.expanded.len() * count, "full");
            }
            if self.buckets.len() == self.read {
                return Progress::Exhausted;
            }
            if prefetch_distance > 0 {
                return Progress::Prefetched;
            }
        }
    }

    fn moves(&self, slots: &Slots) -> impl Iterator<Item = Move> {
        let mut place = self.found;
        from_fn(move || {
            let (count, to) = (slots.count() as usize, self.buckets[place]);
            let child = place.checked_sub(2)?;
            place = child / count;
            let slot = slots.slot_at(self.expanded[place], (child % count) as u32);
            Some(Move { slot, from: self.buckets[place], to })
        })
    }
}
