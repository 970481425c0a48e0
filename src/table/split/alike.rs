//! Copies of an item in a table that grows: their limits, and those of which a slot tells only a
//! part, as merges add them.

use arrayvec::ArrayVec;

use super::{GrowingTable, Item, Seen, Side};
use crate::{
    InsertError,
    bucket::{Code, GrowingLayout, MAX_SLOTS, leveled::level},
    sync::full_fence,
    table::{Payload, StripeGuard},
};

/// Slots of two words, each as its extension on the first side, or as those two that it may be if
/// both words are one bucket.
type Alike = ArrayVec<[Option<u64>; 2], { 2 * MAX_SLOTS }>;

impl<P: Payload> GrowingTable<P> {
    /// Returns whether an insert must be refused because of a limit on copies.
    #[cold]
    pub(super) fn may_hold<L: GrowingLayout>(&self, limit: usize, item: &Item) -> bool {
        // As in `holds`, but always under the lock. Merges with a limit are rare.
        full_fence();
        let guard = self.stripe::<L>(item).lock();
        self.most_copies::<L>(&guard, item) >= limit
    }

    /// The largest number of slots that match one item, among all items that agree with this one.
    #[expect(clippy::only_used_in_recursion, reason = "shows that the lock is held")]
    fn most_copies<L: GrowingLayout>(&self, guard: &StripeGuard, item: &Item) -> usize {
        let seen = self.locate(item);
        if seen.iter().all(Option::is_some) {
            return self.most_alike::<L>(item, seen);
        }
        let halves = self.halves(item).map(|half| self.most_copies::<L>(guard, &half));
        halves[0].max(halves[1])
    }

    /// Returns an error if there are too many copies of one item in those locations that are known,
    /// all of which are full: as in [`insert`](Self::insert).
    pub(super) fn check_copies<L: GrowingLayout>(&self, item: &Item) -> Result<(), InsertError> {
        let has_too_many = |seen: [Option<Seen>; 2]| {
            let buckets = seen.map(|seen| seen.map(|seen| seen.bucket));
            let is_one = buckets[0] == buckets[1] || buckets.contains(&None);
            seen.iter().flatten().all(|seen| L::is_full(seen.word))
                && self.most_alike::<L>(item, seen) >= too_many::<L>(is_one)
        };
        // An unlocked pre-check comes first, so that only likely failures take the lock.
        if has_too_many(self.locate(item)) {
            let _guard = self.stripe::<L>(item).lock();
            if has_too_many(self.locate(item)) {
                return Err(InsertError::TooManyCopies);
            }
        }
        Ok(())
    }

    /// The largest number of slots of these words that match one item, among all items that agree
    /// with this one.
    pub(super) fn most_alike<L: GrowingLayout>(
        &self,
        item: &Item,
        seen: [Option<Seen>; 2],
    ) -> usize {
        let mut alike = Alike::new();
        let in_one = seen[0].zip(seen[1]).is_some_and(|(one, other)| one.bucket == other.bucket);
        for (number, seen) in seen.into_iter().enumerate() {
            let Some(Seen { word, .. }) = seen else { continue };
            for slot in L::occupied_slots(word) {
                let on = |number: usize| {
                    let (at, side) = (level(word), item.sides[number]);
                    let low = side.code.extension & ((1 << at) - 1);
                    let here = Side { code: L::decode(slot, at, low, self.value_bits()), ..side };
                    let first = if number == 0 { here } else { self.growth.other(here) };
                    self.agree(here.code, side.code).then_some(first.code.extension)
                };
                // In one bucket, a slot may be on either side, and is one copy.
                if !in_one {
                    alike.push([on(number), None]);
                } else if number == 0 {
                    alike.push([on(0), on(1)]);
                }
            }
        }
        let is_prefix = |short: u64, long: u64| {
            short.ilog2() <= long.ilog2() && (short ^ long) & ((1 << short.ilog2()) - 1) == 0
        };
        let matches = |slot: &[Option<u64>; 2], long| {
            slot.iter().flatten().any(|&short| is_prefix(short, long))
        };
        let matching = |&long: &u64| alike.iter().filter(|slot| matches(slot, long)).count();
        alike.iter().flatten().flatten().map(matching).max().unwrap_or(0)
    }

    /// Returns whether an insert that found both locations full must be refused: they are full, and
    /// copies take as many of their slots as they may.
    pub(super) fn has_too_many<L: GrowingLayout>(&self, item: &Item) -> bool {
        let _guard = self.stripe::<L>(item).lock();
        let (_, seen) = self.load_unexpired::<L>(item);
        seen.iter().all(|seen| L::is_full(seen.word)) && self.are_too_many::<L>(item, seen)
    }

    /// As [`has_too_many`](Self::has_too_many), for words of both locations without expired slots.
    pub(super) fn are_too_many<L: GrowingLayout>(&self, item: &Item, seen: [Seen; 2]) -> bool {
        self.copies_in::<L>(item, seen) >= too_many::<L>(seen[0].bucket == seen[1].bucket)
    }

    /// Returns whether two codes may belong to one item: they differ in no bit that both know. With
    /// any values.
    fn agree(&self, one: Code, other: Code) -> bool {
        let value_bits = self.value_bits();
        one.core >> value_bits == other.core >> value_bits && may_be_one(one, other)
    }
}

/// Returns whether two extensions differ in no bit that both know.
pub(super) fn may_be_one(one: Code, other: Code) -> bool {
    let both = (1 << one.known().min(other.known())) - 1;
    (one.extension ^ other.extension) & both == 0
}

/// The number of copies to which no more are added if their locations are full: as many as a bucket
/// has slots. Many copies of few items would fill buckets that splits cannot relieve.
///
/// Of the four slots of two buckets it is three: with short fingerprints, two items out of a few
/// million that are no copies match two of four slots.
fn too_many<L: GrowingLayout>(is_one_bucket: bool) -> usize {
    (if is_one_bucket { L::SLOTS } else { L::SLOTS.max(3) }) as usize
}
