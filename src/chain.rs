//! A chain of segments: how a filter grows while threads use it.
//!
//! This goes on from [`protocol`](crate::protocol), which argues for one table, with its own words.
//!
//! # State
//!
//! - **Segments.** Each is a table as in `protocol`, with twice the buckets of the one before it. Its place in the chain is
//!   set once, by a compare-and-swap that publishes the table, and emptied only by who has the chain for itself. So
//!   whoever knows a segment knows all before it, for good.
//! - **Nesting.** What a segment keeps of an item (fingerprint and pair of buckets) determines what each segment before
//!   it keeps: see [`nested`](self::nested). So items that are aliases in a segment are aliases in all before it. We call a later
//!   segment *finer*.
//! - **One stripe.** The stripes belong to the chain, and an item's follows from its fingerprint in the first segment. So
//!   all that is ever an alias of an item, in any segment, shares its stripe.
//!
//! # Steps
//!
//! 1. **Adding**, by `insert`: one compare-and-swap in any segment that has room, the last one first; else room is
//!    made within the last segment, by moves as in `protocol`; and where a search finds none, another segment is
//!    appended. No stripe is held over that. (An item whose copies take half of its lanes in the last segment is refused: see
//!    *Growth*.)
//! 2. **Removing**: take the item's stripe, go through the segments *from the finest to the first*, and clear the
//!    first copy of the item's fingerprint that there is, after advancing the epoch.
//! 3. **Looking up**: read the epoch; read the item's two words in every segment; read the epoch again. A match anywhere is a
//!    hit; without one, the item is absent if the epoch is unchanged; else start again.
//! 4. `insert_unique`, `count`: under the stripe, over all segments that are there once it has been taken.
//!
//! # Why removal goes from the finest
//!
//! A removal takes a copy, and cannot know whose. Say that the copies *cover* the items: each item can be given a
//! copy of its own, one that matches it in that copy's segment. To begin with each item has the copy that its
//! insert added, wherever it was moved since.
//!
//! `remove(x)` takes copy k, in segment s. If k was x's, fine, and so it is if k was nobody's, as the copy of a move
//! that was never finished. Else it was that of some y, which is an alias of x in s; and x has
//! a copy k' of its own, in a segment s'. **s' is not finer than s**, for removal takes the finest that matches. So by nesting y
//! is an alias of x in s' as well, and may have k', which x needs no more. The copies cover the items that are left. (Taken
//! from the first segment on, s' could be finer, where y may be no alias of x: then y is lost, although as many copies are left as
//! items. `tests/growing.rs` keeps that order, to see it fail.)
//!
//! Note what the rule does to copies: an item's changes only for one in the same segment or one before it.
//!
//! # Why a miss is right
//!
//! The contract is that of `protocol`, with *an equal item* for an item of the pair: each removal is paid for by an
//! insert of an equal item that happened before it and pays for no other. (Aliases cannot pay for one another: what is an alias in
//! one segment need not be one in the next.)
//!
//! Let a look-up of x miss, x being in the table: inserted before, and removed, if at all, after. Its last round read the epoch e,
//! then words without a match, then e again. As in `protocol`, no word showed a clearing with a number above e, and what
//! happened before the advance to e happened before the loads: all clearings before that one, in the order c1, c2 ...
//! that they took the stripe's lock in, and the addition that ce itself made, if it is half of a move. (That the loads may not
//! show the clearing of ce leaves a copy more. If there was no advance yet, there are no clearings to go through.)
//!
//! Go through c1 to ce, and keep the cover up for the items whose additions the loads showed. (Copies of one
//! fingerprint in one bucket are alike: say that a clearing takes one whose addition happened before it.) We claim that
//! *of every item whose insert happened before a clearing c, so did the addition of the copy that it has before c.* For its own
//! copy that is plain. A move gives it a copy that was added under the lock, before all later clearings. And where c, a
//! removal of x, hands y the copy k' of x: the insert that pays for c happened before c, so by the claim the addition of
//! k' did, and before all later clearings too. The converse holds as well, by the same steps: if the addition of a copy happened
//! before c, then so did the insert of the item that has it.
//!
//! So when c removes x, the addition of k' happened before c's loads of that word, which showed it; c took the finest copy
//! that it was shown; and the argument above applies, also where finer copies had been added meanwhile that c was not
//! shown: those belong to items whose inserts did not happen before c, so not to x.
//!
//! After ce every item of the cover that is not removed by then has a copy of its own, and x, whose removal comes
//! after the look-up, is one of them. The addition of its copy happened before the loads: it is x's own, or it happened
//! before one of the clearings. The copy is in the segment of x's insert, which happened before the look-up, or in one before
//! that: so the look-up read its word, and there was a match.
//!
//! In all cases an item that is in the table is found.
//!
//! # Growth
//!
//! Nobody waits for another thread to append a segment. Threads that find the last one full at the same time each make one; the first
//! puts it in place, and the others drop theirs. An `insert_unique` that added to a segment which another does not know
//! yet published that segment before it gave the stripe back: the other, which looks for segments once it has the stripe,
//! then knows it. So of two calls with one item one adds it, on whichever segments. (Look-ups and removals need no more than the
//! segments of what happened before them.)
//!
//! Copies of one item never take more than half of the lanes of its buckets in the last segment (but for what inserts of it at
//! the same moment add): more are refused. So, but for such a race, they fill no pair of buckets, and from every bucket a search goes on to others: a
//! segment is appended because the last one is full, and not because a few buckets are. (Without that bound, with 2 000 items in
//! a hundred copies each among a million others, segments were appended that were 3 % full: found in review, by simulation.)

mod nested;
mod plan;
mod segment;

use alloc::{boxed::Box, vec::Vec};

#[cfg(feature = "stats")]
use crate::Stats;
use crate::{
    InsertError, Layout,
    geometry::Placement,
    stats::{Counters, Made},
    stripes::{Held, Stripes},
    sync::SetOnce,
};
pub use nested::{Nested, mixed};
use plan::rate_of;
pub(crate) use plan::{Plan, plan};
use segment::Segment;

/// Buckets that the stripes are made for, as a multiple of the first segment's: stripes cannot be added later.
const EXPECTED_GROWTH: u64 = 32;
/// The same for the smallest chains: 64 stripes, 4 KiB.
const LEAST_EXPECTED: u64 = if cfg!(any(loom, shuttle)) { 1 } else { 1 << 15 };

/// Segments that are filled one after the other, and looked up all together. Knows hashes, once they are
/// [`mixed`], but no items.
#[derive(Debug)]
pub struct Chain {
    /// A place for every segment that there may be; filled from the front, the first one always.
    segments: Box<[SetOnce<Segment>]>,
    plan: Plan,
    stripes: Stripes,
    counters: Counters,
    huge_pages: bool,
}

impl Chain {
    /// A chain of one empty segment that can grow as planned, or `None` when the system refuses the memory.
    ///
    /// # Panics
    /// If the plan is empty.
    #[must_use]
    pub fn new(plan: Vec<(Layout, Nested)>, huge_pages: bool) -> Option<Self> {
        let buckets = plan[0].1.buckets();
        let stripes = Stripes::new((EXPECTED_GROWTH * buckets).max(LEAST_EXPECTED));
        let segments = plan.iter().map(|_| SetOnce::new()).collect();
        let chain = Self { segments, plan, stripes, counters: Counters::new(), huge_pages };
        chain.append(0).ok()?;
        Some(chain)
    }

    /// The segments there are, from the first to the finest.
    #[inline]
    fn segments(&self) -> impl DoubleEndedIterator<Item = &Segment> + ExactSizeIterator + Clone {
        let there = self.segments.iter().take_while(|place| place.get().is_some()).count();
        self.segments[..there].iter().map(|place| place.get().expect("never emptied beside us"))
    }

    /// The last segment, and those before it, from the finest to the first.
    #[inline]
    fn last_and_rest(&self) -> (usize, &Segment, impl Iterator<Item = &Segment> + Clone) {
        let mut segments = self.segments().rev();
        let number = segments.len() - 1;
        let last = segments.next().expect("there is always the first segment");
        (number, last, segments)
    }

    /// What has been counted, in all segments.
    #[cfg(feature = "stats")]
    pub(crate) fn stats(&self) -> Stats {
        self.counters.read(self.stripes.waits())
    }

    /// Makes a segment and puts it in its place, unless another thread does so first.
    ///
    /// # Errors
    /// `Full` when there is no place left, or no memory.
    #[cold]
    fn append(&self, number: usize) -> Result<(), InsertError> {
        let place = self.segments.get(number).ok_or(InsertError::Full)?;
        if place.get().is_none() {
            let (layout, nested) = self.plan[number];
            let stripes = &self.stripes;
            match Segment::new(layout, nested, self.huge_pages, stripes, &self.counters) {
                Some(segment) => place.set(segment),
                // The memory may be what another thread has just made this very segment of.
                None if place.get().is_none() => return Err(InsertError::Full),
                None => {}
            }
        }
        Ok(())
    }

    /// The stripe of a mixed hash, held.
    #[inline]
    fn lock(&self, mixed: u64) -> Held<'_> {
        let (_, first) = self.plan[0];
        self.stripes.of(first.pair(mixed).fingerprint).lock()
    }

    /// Asks for what an insert reads first.
    #[inline]
    pub(crate) fn prefetch_last(&self, mixed: u64) {
        self.last_and_rest().1.prefetch(mixed);
    }

    /// Asks for all that a look-up reads.
    #[inline]
    pub(crate) fn prefetch_all(&self, mixed: u64) {
        self.segments().for_each(|segment| segment.prefetch(mixed));
    }

    /// Whether a copy that matches the hash is in one of the segments.
    #[inline]
    #[must_use]
    pub fn contains(&self, mixed: u64) -> bool {
        let (_, first) = self.plan[0];
        let stripe = self.stripes.of(first.pair(mixed).fingerprint);
        loop {
            let epoch = stripe.epoch();
            // The finest first: it holds most of the items.
            if self.segments().rev().any(|segment| segment.contains(mixed)) {
                return true;
            }
            if stripe.is_still(epoch) {
                return false;
            }
            self.counters.retried();
        }
    }

    /// How many copies that match the hash there are, in all segments together.
    #[must_use]
    pub fn count(&self, mixed: u64) -> usize {
        let held = self.lock(mixed);
        self.segments().map(|segment| segment.count(&held, mixed)).sum()
    }

    /// Adds a copy, and a segment where there is no room for it.
    ///
    /// # Errors
    /// `TooManyCopies` when copies of the item take half of the lanes of its two buckets in the last segment. `Full` when no
    /// segment can be added.
    #[inline]
    pub fn insert(&self, mixed: u64) -> Result<(), InsertError> {
        let (_, last, _) = self.last_and_rest();
        if last.add_within_half(mixed)? { Ok(()) } else { self.insert_crowded(mixed) }
    }

    /// The rest of `insert`, once both buckets in the last segment were seen full.
    #[cold]
    fn insert_crowded(&self, mixed: u64) -> Result<(), InsertError> {
        loop {
            let (number, last, mut rest) = self.last_and_rest();
            if last.add_within_half(mixed)? || rest.any(|segment| segment.add(mixed)) {
                return Ok(());
            }
            match last.insert_crowded(mixed) {
                Err(InsertError::Full) => self.append(number + 1)?,
                outcome => return outcome,
            }
        }
    }

    /// Adds a copy unless there is one: `true` if it was added.
    ///
    /// # Errors
    /// `Full` when there is none, no room for one, and no segment can be added.
    pub fn insert_unique(&self, mixed: u64) -> Result<bool, InsertError> {
        let (mut room_was_made, mut made) = (Ok(()), Made::none());
        loop {
            let held = self.lock(mixed);
            // Only now: whoever held the stripe before may have added the item to a segment of its own.
            let (number, last, mut rest) = self.last_and_rest();
            if rest.clone().any(|segment| segment.contains(mixed)) {
                return Ok(false);
            }
            let added = last.add_absent(&held, mixed);
            let added = added.or_else(|| rest.find_map(|segment| segment.add_absent(&held, mixed)));
            if let Some(added) = added {
                if added {
                    self.counters.settled(&made);
                }
                return Ok(added);
            }
            drop(held);
            // As in `protocol`: `Full` only now, and room is made without the lock.
            room_was_made?;
            room_was_made = last.make_room(mixed, &mut made).or_else(|_| self.append(number + 1));
        }
    }

    /// Takes out one copy that matches the hash: `true` if there was one.
    #[must_use]
    pub fn remove(&self, mixed: u64) -> bool {
        let held = self.lock(mixed);
        // From the finest: the argument stands above.
        self.segments().rev().any(|segment| segment.remove(&held, mixed))
    }

    /// Drops all segments but the first, and empties that.
    pub fn clear(&mut self) {
        // From the end, so that the segments there are stay the first ones even if this panics.
        self.segments.iter_mut().skip(1).rev().for_each(SetOnce::clear);
        if let Some(first) = self.segments[0].get_mut() {
            first.clear();
        }
    }

    /// The layouts of the segments there are, and their numbers of buckets.
    #[must_use]
    pub fn layouts(&self) -> impl ExactSizeIterator<Item = (Layout, u64)> {
        self.segments().map(|segment| (segment.layout(), segment.nested().buckets()))
    }

    /// The sum of the segments' rates, each full.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.segments().map(|segment| rate_of(segment.layout(), segment.nested())).sum()
    }

    /// Bytes of buckets, stripes and places.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        let segments: usize = self.segments().map(Segment::size_in_bytes).sum();
        let places = size_of_val(&*self.segments) + size_of_val(&*self.plan);
        segments + places + self.stripes.size_in_bytes() + self.counters.size_in_bytes()
    }
}
