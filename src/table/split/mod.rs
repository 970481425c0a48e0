//! The table that grows, and its protocol: how buckets are split one by one while threads use them.
//!
//! This extends the protocol of a table of a fixed size, `table/mod.rs`, and uses its terms.
//!
//! # State
//!
//! ```text
//!            n buckets at level 0          round 1: 2 n buckets, p of them split
//!          +-----------------------+-----------------------+-----------+
//! buckets  | 0 .. p   |  p .. n    |  n ..                 | 2n .. 2n+p|  --> grows at its end
//!          +-----------------------+-----------------------+-----------+
//! level      2           1           2 below p, then 1       2
//!
//! item x:    core c, and on each side a bucket at level 0 and an extension e, lowest bit first:
//!            level 0: bucket i        slot:  core | e0 e1 e2 ... | marker
//!            level 1: bucket i + n e0           core | e1 e2 ... | marker
//! ```
//!
//! - **Buckets.** The table is one array that grows at its end. No bucket moves, and none is freed.
//!   A bucket's word holds its *level*: how often it was split. The child of bucket b at level l is
//!   bucket b + n 2^l. See `address.rs` and `bucket/leveled.rs`.
//! - **Sides and locations.** An item has two sides. On each, the extension tells at every split
//!   whether the item stays or goes to the child. The *location* of a side is the bucket that holds
//!   it at present. A *load of a location* is the load of a word that is, by its level, that of the
//!   location: if the level is higher than expected, the next bits of the extension tell whether
//!   the load goes on to a child.
//! - **Slots** know a part of the extension: what the bucket's number tells, and the tail. A slot
//!   *matches* an item on a side if the item's location there is the slot's bucket, and all that
//!   the slot knows is true of the item. A slot that is a copy for another child, and so belongs to
//!   no item, is a *ghost*.
//! - **Values.** In a table with values, a slot begins with a value: see `values.rs`. The value may
//!   be a stamp: see `expiry.rs`.
//! - **Size.** It has a level and a number of buckets that have been split in this round. The
//!   *hint* is a size that the table has reached; lookups begin there, and the words decide.
//! - **Stripes.** The core and the two buckets at level 0 select the stripe. They are the same for
//!   both sides, and at every level. So all slots that match an item in either of its locations
//!   belong to its stripe.
//!
//! # Steps
//!
//! 1. **Add**, **look up**: as in a table of a fixed size, with locations in place of words. Every
//!    attempt of a compare-and-swap locates and encodes again: a slot has a meaning only together
//!    with the word that it was made for, and the level in the word makes the two one. (The first
//!    round of a lookup, and a block of a batch, follow no split: they read the words to which the
//!    hint leads, and compare them as if their levels were those that follow from the hint. A word
//!    of another level leaves the answer open. Then a round of `steps/lookup.rs` follows.)
//! 2. **Remove**: under the stripe's lock, load both locations, and take *the slot that matches and
//!    knows most bits*: bump the version, and clear it.
//! 3. **Move** a slot to its other side, if it knows enough to tell the bucket there: acquire the
//!    lock, check that the slot is in its bucket *at the level at which it was read*, add it to the
//!    other location (what does not fit of its tail is forgotten), bump, clear. If the bucket is
//!    split between the copy and the clear, the slot is cleared where it is now; if its tail ran
//!    out, both copies are. Then an incoming item is not stored, because it may belong elsewhere.
//! 4. **Split** a bucket, under the lock of a stripe that its number selects: load the word; write
//!    the child, which no other thread can reach, with the slots whose next bit is 1; replace the
//!    word by the other slots and the next level, by one compare-and-swap, the *switch*. A slot
//!    without a tail goes to both. Then advance the size over all buckets that have been split, in
//!    order, and now and then publish it as the hint.
//! 5. **Clear the table**, **copy** it: under all stripes. Levels never fall, and the size stays.
//!
//! Only with exclusive access are buckets joined and freed, and levels fall: see `size/shrink.rs`.
//!
//! A split takes no version, and moves no slot from one location to another: it moves locations.
//! All items whose next bit is 1 change theirs at one moment.
//!
//! # Loads of locations
//!
//! The *history* of a location is that of its bucket's word, as long as the location stays there,
//! up to the switch, which is the last change; then that of the child's word, from its first value
//! on, which has what the switch took away. (If the location stays at a switch, the history goes on
//! in the same word.) A load of a location returns the result of a prefix of this history, and
//! happens after every change in the prefix that is a Release:
//!
//! - *A load from the parent's word*: as for any word.
//! - *A load from the child's word.* The thread was sent there by the parent's word, which it
//!   loaded by an Acquire after the switch, or by the hint, or by a size. Whoever advances the size
//!   over a bucket has loaded its word after the switch by an Acquire, and the size and the hint
//!   are stored by a Release and loaded by an Acquire. So the switch happened before the load, and
//!   with it the first value of the child. The switch is an Acquire, too, and so happens after all
//!   changes of the parent's word before it, even if one of them has brought back the very value
//!   from which the child was made: the load of that value alone would not do. (An item moves away
//!   from the parent and back. The switch succeeds on the old value. A lookup that goes to the
//!   child without having seen the second clearing, in the other location, could miss the item in
//!   both.)
//!
//! While a thread sleeps, its bucket may be split any number of times. A value of a word may recur,
//! but not at another level, since levels only rise; so a compare-and-swap succeeds only at the
//! level for which its new word was made.
//!
//! # Why a miss is correct
//!
//! The contracts of `remove` and `clear` are those of `table/mod.rs`: each removal is paid for by
//! an insert of an item with the same core and sides. An item *is in the table* from its insert to
//! the removal that it pays for.
//!
//! **The cover.** Slots *cover* the items if each item in the table can be assigned a slot of its
//! own that matches it. The steps preserve this:
//!
//! 1. *Add.* The slot is assigned to the item.
//! 2. *Split.* A slot that knows the next bit goes with the location of the item to which it is
//!    assigned, because it matches it. Of a slot without a tail, the copy that goes with its item
//!    is assigned to it, and the other one is a ghost.
//! 3. *Move.* The other side's extension differs by bits that the core determines. So the slot
//!    knows as much there, and matches its item there, too. What is forgotten of the tail makes it
//!    match more items, not fewer. It is assigned to the copy from the clear on. While both copies
//!    exist, either can serve.
//! 4. *Remove x.* Let u be the slot that is cleared, and v the one that is assigned to x. If u is
//!    v, or assigned to no item, nothing is left to show. Else u is assigned to some y, and y takes
//!    v: u and v both match x, so x, y and u agree in all that u knows. v knows no more than u (see
//!    below), so v is true of y, and y's location on that side is the same bucket, whose number
//!    tells no more than v knows.
//!
//!    *v knows no more than u.* x's insert happened before, and no other thread clears a slot of
//!    this stripe. So v is in one of the two words that are loaded, and u is the slot that knows
//!    most of all that match. Later changes of u's word make the compare-and-swap fail, and both
//!    words are loaded again. (If slots expire, only u's word is: what was added meanwhile does not
//!    belong to x.) But v's bucket may be split after its word was loaded, and if v's
//!    tail runs out, v may know more afterwards, because the number of its bucket tells it. Then y
//!    takes the ghost that this very split has left on y's way. Nobody has cleared it: that would
//!    take the lock, too.
//! 5. *Clear one of several copies* in a move whose slot was copied by splits: they are one slot
//!    that was assigned to one item at most (to several if they were refreshed), and all of them
//!    are cleared.
//!
//! (If both sides of an item begin in one bucket, a slot may match it on either side. The argument
//! holds for each way to read the slot. As long as the next bits of both extensions are equal, both
//! sides have one location. Both loads of it return words of one level, so both are from the same
//! bucket.)
//!
//! **The lookup.** Consider the last round of a lookup of x that misses: version e, both locations,
//! version e. Suppose that x is in the table throughout the lookup.
//!
//! 1. *A clearing with a number above e was seen.* As in `table/mod.rs`: the load of the location
//!    happens after the clearing, hence after its bump, and the second read of the version returns
//!    more than e.
//! 2. *No such clearing was seen.* Let v be the slot that is assigned to x after the clearing with
//!    the number e (or the slot that x's insert added, if that came later). It came into one of
//!    x's locations before the bump to e: by x's own insert, which happened before the lookup; by
//!    the insert that pays for a removal with a number up to e; or by the first half of a move,
//!    under the lock, before such a bump. (A split changes the content of no location.) All this
//!    happened before the loads, because the lookup read the version e by an Acquire. No clearing
//!    with a number up to e took v. So the load of its location returns a prefix of the history
//!    that has v: a hit.
//!
//! An item whose tail ran out is found by what is left: ghosts and aliases add hits, and never take
//! one.
//!
//! # Copies
//!
//! `count`, `insert_unique` and the limits on copies look at the two locations of an item. Under
//! the lock, the slots that match only grow, by inserts; a split neither adds to them nor takes
//! from them, with one exception: if both locations are one bucket and it is split, a slot without
//! a tail can end up in both of them, and counts twice from then on. In one bucket, a slot that
//! matches on both sides counts once. To see it in two buckets, one word would have to be loaded
//! before the split of a bucket that both sides had, and the other one after it: then the levels of
//! the words differ, and at the lower one both buckets were one. Such words are loaded again.
//!
//! An insert whose locations are full adds no copy if as many slots match the item as one bucket
//! has (three of four). Splits cannot separate copies, and would be made for nothing.
//!
//! # Growth
//!
//! A thread checks after every few dozen inserts whether the load is above the target, and splits
//! the next buckets, a group of neighbours at a time. If another thread holds the lock of a group,
//! it takes the next one: nobody waits for another one's split. An insert that finds no room splits
//! one of the buckets that its search has read, though it is not its turn: in a large table the one
//! whose turn is next, otherwise the nearest one. The level in the word allows it, and the size
//! passes over it when its turn comes. If a search was long, the load is too high for what the
//! table holds, copies of items above all. Then the insert splits a few buckets in turn, too.
//!
//! A split holds one stripe, and no thread splits while it holds another one. Memory is committed
//! before the lock is taken.
//!
//! # What a thread that stops can hold up
//!
//! Lookups wait for nobody. Nor do inserts that find room, with one exception: one that must commit
//! memory waits for a thread that has stopped while it publishes some, or with a cap on memory,
//! while the system provides it. A thread that stops while it splits a bucket holds the stripe of a
//! group: until it goes on, operations that need this stripe wait (as for any thread that stops
//! with a lock held), the size does not pass this bucket, and once all others of the round are
//! split, no further round begins. Inserts then fill what room there is. The child that it may have
//! written is out of reach. In a table whose slots expire, a thread that stops while its insert
//! sweeps holds up other sweeps, and so the next generation and copies.

mod address;
mod block;
mod expiry;
mod lookup;
mod merge;
mod room;
mod saved;
mod size;
mod steps;
#[cfg(all(test, guira_vectors, feature = "std", not(any(loom, shuttle))))]
mod tests;
mod values;
mod whole;
mod words;

use crossbeam_utils::CachePadded;

pub use address::{GrowingAddressing, Item, Place, Side, Size};
#[cfg(any(feature = "std", feature = "raw"))]
pub use saved::Grown;
#[cfg(feature = "std")]
pub use saved::ImageLoader;
use size::Occupancy;
pub use size::{Limits, Shrinking};

use super::{
    Counters, GrowingBuckets, Kernel, Payload, Seen, Space, Stripe, StripeGuard, Stripes, Table,
    Words,
};
use crate::{
    bucket::Leveled,
    sync::{Lock, Word},
};

/// The buckets of a table that grows.
#[derive(Debug)]
pub struct GrowingSpace {
    addressing: GrowingAddressing,
    payload: Payload,
    buckets: GrowingBuckets,
    limits: Limits,
    /// Whether address space is reserved, and huge pages are requested.
    memory: (bool, bool),
    /// A size that the table has reached, for lookups. It lags behind the size, so that its cache
    /// line seldom changes.
    hint: Word,
    sizes: CachePadded<Sizes>,
    occupancy: Occupancy,
    /// Bytes to which the table may grow.
    max_bytes: Word,
    /// Held while memory is committed, if there is such a limit.
    committing: Lock,
}

/// What each split changes.
#[derive(Debug)]
struct Sizes {
    /// The size.
    size: Word,
    /// A size that leaves out the groups that are being split, or were passed over.
    cursor: Word,
}

/// The words of a table that grows: see [`Words`]. Their layout is a value.
#[derive(Clone, Copy, Debug)]
pub struct GrowingWords;

/// A table that grows.
pub type GrowingTable = Table<GrowingSpace>;

impl GrowingTable {
    /// Returns an empty table, or `None` if the system refuses the memory. With `reserve`, address
    /// space is reserved for all buckets that there may ever be, if the system can do that.
    #[must_use]
    pub fn new(
        leveled: Leveled,
        payload: Payload,
        first: u64,
        limits: Limits,
        stripes: usize,
        memory: (bool, bool),
    ) -> Option<Self> {
        let buckets = GrowingBuckets::new(first, limits.buckets, memory)?;
        buckets.commit(0..first)?;
        Self::with_buckets((leveled, payload), first, buckets, limits, stripes, memory)
    }

    /// As [`new`](Self::new), with these buckets. Those of the first size may not be
    /// committed yet.
    fn with_buckets(
        (leveled, payload): (Leveled, Payload),
        first: u64,
        buckets: GrowingBuckets,
        limits: Limits,
        stripes: usize,
        memory: (bool, bool),
    ) -> Option<Self> {
        let start = || Word::new(Size { level: 0, split: 0 }.pack());
        assert_eq!(leveled.value_bits, payload.value_bits(), "the number of bits of a value");
        let clock = payload.clock(stripes)?;
        let space = GrowingSpace {
            addressing: GrowingAddressing::new(first, leveled),
            payload,
            buckets,
            limits,
            memory,
            hint: start(),
            sizes: CachePadded::new(Sizes { size: start(), cursor: start() }),
            occupancy: Occupancy::new(stripes)?,
            max_bytes: Word::new(u64::MAX),
            committing: Lock::new(),
        };
        let (stripes, counters) = (Stripes::with_count(stripes)?, Counters::new()?);
        Some(Self { space, stripes, counters, clock, kernel: Kernel::best() })
    }

    /// Bytes on the heap, or committed for buckets.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        let beside = Stripes::bytes_for(self.stripes.count()) + Counters::bytes();
        let beside = beside + self.occupancy.size_in_bytes() + self.clock.size_in_bytes();
        self.buckets.size_in_bytes() + beside
    }
}

impl GrowingSpace {
    /// The addressing.
    #[inline]
    #[must_use]
    pub fn addressing(&self) -> &GrowingAddressing {
        &self.addressing
    }

    /// The constants of a word.
    #[inline]
    #[must_use]
    pub fn leveled(&self) -> &Leveled {
        self.addressing.leveled()
    }

    /// What slots hold beside fingerprints.
    #[must_use]
    pub fn payload(&self) -> Payload {
        self.payload
    }

    /// The number of bits of a value.
    #[inline]
    fn value_bits(&self) -> u32 {
        self.addressing.value_bits()
    }

    /// The stripe of the item, or the slot, that has these sides.
    #[inline]
    fn stripe_of<'a>(&self, stripes: &'a Stripes, sides: [Side; 2]) -> &'a Stripe {
        let starts = sides.map(|side| side.start);
        stripes.at(self.addressing.stripe(sides[0].code.core, starts))
    }
}
