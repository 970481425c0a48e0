//! Shrinking: buckets are joined with their children, the last ones first, and memory is released.
//!
//! The reverse of growth, with exclusive access, in any number of calls. First the children of
//! buckets that were split ahead of their turn are taken back, and then the last bucket of the
//! table, again and again. Between two calls the table is one like any other. What a call does
//! follows from the words and the size alone, so tables with equal histories shrink alike, also if
//! one of them was saved and loaded.

use arrayvec::ArrayVec;

use super::{FULL_LOAD, GrowingTable, Place, Seen, Size, Victim};
use crate::table::split::GrowingWords;
use crate::{
    bucket::leveled::{empty, level},
    sync::{Relaxed, Word},
};

/// Buckets beyond the end of the table that are looked at in the time of a step.
const PER_STEP: u64 = 64;
/// Largest number of slots that are followed to their other sides to make room.
const REACH: usize = 256;

/// A slot that could be moved to its other side.
#[derive(Clone, Copy, Debug)]
struct Displaced {
    victim: Victim,
    /// The move that can be made after this one.
    after: Option<usize>,
}

/// What [`shrink_step`](crate::Filter::shrink_step) has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shrinking {
    /// Nothing: the filter needs what it has, or its last two buckets cannot be joined.
    Unchanged,
    /// A part: the next step goes on.
    Unfinished,
    /// The rest. Nothing is left to do, unless items are removed or expire.
    Finished,
}

impl GrowingTable {
    /// Joins buckets with their children while the load is below the target, and releases the
    /// memory of the buckets that are no longer in use. Ends after this many steps, or a few more:
    /// a step is a bucket that is joined, or a slot that is moved to make this possible.
    ///
    /// A slot takes with it what the number of its bucket tells, as much as fits into a tail. A
    /// ghost remains one. Before the first step, what has expired is swept.
    pub fn shrink(&mut self, steps: u64) -> Shrinking {
        if self.clock.sweeps() {
            self.sweep::<GrowingWords>(u64::MAX);
        }
        let per_bucket = u64::from(self.limits.load * self.leveled().slots);
        let occupied = self.occupancy.occupied_alone().max(0) as u64;
        let needed = (occupied * FULL_LOAD).div_ceil(per_bucket).max(self.addressing.first());
        let (mut taken, mut below, mut is_blocked, mut has_changed) = (0, None, false, false);
        while self.in_use() > needed && taken < steps {
            let mut size = self.size();
            let bucket = if self.split_ahead(size) > 0 {
                let child = self.last_ahead(size, below.unwrap_or(u64::MAX));
                taken += below.map_or(0, |below| (below - child) / PER_STEP);
                below = Some(child);
                child - (self.addressing.first() << size.level)
            } else {
                if size.split == 0 {
                    let level = size.level - 1;
                    size = Size { level, split: self.addressing.first() << level };
                }
                size.split -= 1;
                size.split
            };
            if !self.join(bucket as u32, size.level, &mut taken, &mut has_changed) {
                // The child stays in use.
                below = below.map(|child| child + 1);
                is_blocked = true;
                break;
            }
            self.set_size(size);
        }
        if !has_changed {
            return Shrinking::Unchanged;
        }
        self.sizes.cursor.set(0);
        let size = self.size();
        self.clock.limit_sweep(self.addressing.buckets(size));
        let below = below.filter(|_| self.split_ahead(size) > 0);
        let end = below.unwrap_or(self.addressing.buckets(size));
        self.buckets.truncate(end);
        if is_blocked || self.in_use() <= needed {
            Shrinking::Finished
        } else {
            Shrinking::Unfinished
        }
    }

    /// The last child of a bucket that was split ahead of its turn. There is one below the bucket
    /// `below`, and none from there on.
    fn last_ahead(&self, size: Size, below: u64) -> u64 {
        let end = self.addressing.buckets(size);
        for chunk in self.buckets.committed().rev() {
            let (from, to) = (chunk.start.max(end), chunk.end.min(below));
            let mut last = None;
            if from < to {
                // One chunk is one run. Buckets that are not in use are zero.
                self.buckets.for_each_run(from..to, |words| {
                    last = words.iter().rposition(|word| load(word) != 0);
                });
            }
            if let Some(index) = last {
                return from + index as u64;
            }
        }
        unreachable!("some buckets are ahead of their turn")
    }

    /// Joins a bucket, which has this level afterwards, with its child. Returns whether it has: not
    /// if the slots of both do not fit, and too few of them can be moved elsewhere.
    fn join(&self, bucket: u32, at: u32, steps: &mut u64, has_changed: &mut bool) -> bool {
        let pair = [bucket, self.addressing.child(bucket, at)];
        let load_pair = || pair.map(|bucket| load(self.bucket(bucket)));
        let mut words = load_pair();
        // A path that meets a bucket twice may be left half-way. So the attempts are limited.
        for _ in 0..4 * self.leveled().slots {
            if words.map(|word| self.leveled().occupied(word)).iter().sum::<u32>()
                <= self.leveled().slots
                || !self.move_elsewhere(pair, steps)
            {
                break;
            }
            *has_changed = true;
            words = load_pair();
        }
        *steps += 1;
        if words.map(|word| self.leveled().occupied(word)).iter().sum::<u32>()
            > self.leveled().slots
        {
            return false;
        }
        let low = u64::from(bucket) / self.addressing.first();
        let mut joined = empty(at);
        for (word, low) in words.into_iter().zip([low, low | 1 << at]) {
            debug_assert_eq!(level(word), at + 1);
            for slot in self.leveled().occupied_slots(word) {
                let code = self.leveled().decode(slot, at + 1, low);
                let slot = self.leveled().encode(code, at);
                joined = self.leveled().with(joined, slot).expect("the slots fit");
            }
        }
        // Relaxed: `&mut self` of the caller makes the access exclusive.
        self.bucket(pair[0]).store(joined, Relaxed);
        self.bucket(pair[1]).store(0, Relaxed);
        self.occupancy.count_join();
        *has_changed = true;
        true
    }

    /// Moves a slot from one of two buckets to a third one, after others have made room there if
    /// need be. Returns whether anything was moved.
    ///
    /// The search is breadth first, as that of an insert. But it must not find its room in the two
    /// buckets themselves.
    fn move_elsewhere(&self, pair: [u32; 2], steps: &mut u64) -> bool {
        let mut moves = ArrayVec::<Displaced, REACH>::new();
        // Those of the child first.
        for bucket in pair.into_iter().rev() {
            let word = load(self.bucket(bucket));
            moves.extend(self.moves(Seen { bucket, word }, None));
        }
        let mut next = 0;
        while let Some(&Displaced { victim: Victim { side, place, .. }, .. }) = moves.get(next) {
            *steps += 1;
            let other = self.addressing.other(side);
            let to = self.addressing.place(other, self.hint());
            let to = to.and_then(|to| self.follow(other, to, |bucket| load(self.bucket(bucket))));
            if let Some(to) = to
                && to.bucket != place.bucket
                && !pair.contains(&to.bucket)
            {
                if !self.leveled().is_full(to.word) {
                    let mut last = Some(next);
                    while let Some(Displaced { victim, after }) = last.map(|last| moves[last]) {
                        // It is not if the path meets a bucket twice.
                        let is_moved = self.relocate::<GrowingWords>(victim, None);
                        last = after.filter(|_| is_moved);
                    }
                    return true;
                }
                let room = moves.remaining_capacity();
                moves.extend(self.moves(to, Some(next)).take(room));
            }
            next += 1;
        }
        false
    }

    /// The moves of the slots of a bucket, after which another one can be made.
    fn moves(
        &self,
        Seen { bucket, word }: Seen,
        after: Option<usize>,
    ) -> impl Iterator<Item = Displaced> {
        let place = Place { bucket, level: level(word) };
        self.leveled().occupied_slots(word).map(move |slot| {
            let [side, _] = self.known(bucket, place.level, slot).sides;
            Displaced { victim: Victim { side, place, slot }, after }
        })
    }
}

/// Loads a word.
fn load(word: &Word) -> u64 {
    // Relaxed: `&mut self` of the caller makes the access exclusive.
    word.load(Relaxed)
}
