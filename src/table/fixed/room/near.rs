//! The search for an empty slot among the nearest buckets, where most inserts near capacity find
//! one: breadth first, over copies of the words. It moves nothing.
//!
//! A bucket's place tells what leads to it: the alternate buckets of the slots of the first bucket
//! come first, then those of the second one, and so on. So a search stores nothing but buckets and
//! words. Buckets are not deduplicated: among so few, hardly any comes twice, and the moves of a
//! path are validated.

use core::iter::from_fn;

use arrayvec::ArrayVec;

use super::{Addressing, Clock, FixedTable, Move, Payload, Progress, Slots, search::Plan};
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
    /// The words of those that have been read. All but the last one are full.
    words: ArrayVec<u64, MAX_VISITED>,
    /// How many have been expanded: their fingerprints' alternate buckets are known.
    expanded: usize,
}

impl<P: Payload> Plan<P> for Near {
    fn start(&mut self, _addressing: &Addressing, roots: [u32; 2]) {
        self.buckets.clear();
        self.words.clear();
        self.expanded = 0;
        self.buckets.extend(roots);
    }

    #[inline]
    fn advance(&mut self, table: &FixedTable<P>, prefetch_distance: usize) -> Progress {
        let (now, slots) = (table.clock.now(), &table.slots);
        for &bucket in &self.buckets[self.words.len()..] {
            let word = table.planned(now, bucket);
            self.words.push(word);
            if !slots.is_full(word) {
                return Progress::Room;
            }
        }
        let read = self.words.len();
        let until = (read + prefetch_distance).min(MAX_VISITED + 1 - slots.count() as usize);
        while self.buckets.len() < until && self.expanded < read.min(REACH) {
            let bucket = self.buckets[self.expanded];
            slots.for_each_key(self.words[self.expanded], |key| {
                let alternate = table.addressing.alt_bucket(Fingerprint::new(key), bucket);
                table.buckets.prefetch(alternate);
                self.buckets.push(alternate);
            });
            self.expanded += 1;
            debug_assert_eq!(
                self.buckets.len(),
                2 + self.expanded * slots.count() as usize,
                "full"
            );
        }
        if self.buckets.len() > read { Progress::Prefetched } else { Progress::Exhausted }
    }

    fn moves(&self, slots: &Slots) -> impl Iterator<Item = Move> {
        // The last bucket that was read is the one with an empty slot.
        let mut place = self.words.len() - 1;
        from_fn(move || {
            let (count, to) = (slots.count() as usize, self.buckets[place]);
            let child = place.checked_sub(2)?;
            place = child / count;
            let slot = slots.slot_at(self.words[place], (child % count) as u32);
            Some(Move { slot, from: self.buckets[place], to })
        })
    }
}
