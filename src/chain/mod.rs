//! The segment chain and its protocol: how a filter grows while threads use it.
//!
//! This extends the protocol of one [`table`](crate::table), and uses its terms.
//!
//! # State
//!
//! ```text
//!              segment 0        segment 1                segment 2
//! chain   -->  n buckets   -->  2 n buckets         -->  4 n buckets           --> (empty place)
//!              12 bits          12 bits                  14 bits
//!
//! item x:      bucket 5         bucket 10 or 11          bucket 20 .. 23
//!              fingerprint p    fingerprint p            fingerprint p'00 .. p'11, where p' = p
//!
//!              all segments use the stripe that x's fingerprint in segment 0 selects
//! ```
//!
//! - **Segments.** Each is a table with twice the buckets of the one before it. Its place in the
//!   chain is set once, by a compare-and-swap that publishes the table, and never emptied. So a
//!   thread that knows a segment knows all earlier ones, for good.
//! - **Nesting.** What a segment keeps of an item (fingerprint and pair of buckets) determines what
//!   each earlier segment keeps of it: see [`addressing`](crate::table::Addressing). So items that
//!   are aliases in a segment are aliases in all earlier ones. A later segment is *finer*.
//! - **One stripe.** The stripes belong to the chain, and an item's stripe follows from its
//!   fingerprint in the first segment. So everything that is an alias of an item in any segment
//!   shares its stripe.
//!
//! # Steps
//!
//! 1. **Add**, by `insert`: one compare-and-swap in any segment that has room, the last one first.
//!    Otherwise make room within the last segment, by moves as in a table. If a search finds no
//!    empty slot, append another segment. No stripe is held meanwhile. (If copies of the item take
//!    half of its slots in the last segment, the insert fails: see *Growth*.)
//! 2. **Remove**: acquire the item's stripe, go through the segments *from the finest to the
//!    first*, and clear the first copy of the item's fingerprint that is found, after bumping the
//!    version.
//! 3. **Look up**: read the version; read the item's two words in every segment; read the version
//!    again. A match in any segment is a hit. Without a match, the item is absent if the version is
//!    unchanged; otherwise retry.
//! 4. **`insert_unique`, `count`**: under the stripe, over all segments that exist once it is
//!    acquired.
//! 5. **Clear**: acquire all stripes in order, bump all versions, swap every word of all segments
//!    with 0. The segments stay.
//!
//! # Why removal starts with the finest segment
//!
//! A removal takes a copy, and cannot know whose copy it is. Say that the copies *cover* the items
//! if each item can be assigned a copy of its own that matches it in that copy's segment. At first,
//! each item is assigned the copy that its insert added, wherever it was moved since.
//!
//! `remove(x)` takes a copy k in segment s. If k was assigned to x, the others still cover their
//! items. The same is true if k was assigned to no item, such as a copy of a move that was never
//! finished. Otherwise k was assigned to some y, which is an alias of x in s; and x has a copy k'
//! of its own, in a segment s'. **s' is not finer than s**, because removal takes the finest copy
//! that matches. So by nesting y is an alias of x in s' as well, and can be assigned k', which x no
//! longer needs. The copies cover the items that are left. (If removal started with the first
//! segment, s' could be finer, and y not an alias of x in s'. Then y is lost, although as many
//! copies are left as items. `tests/growing.rs` removes in that order to show the failure.)
//!
//! By this rule the copy assigned to an item changes only to one in the same segment or an earlier
//! one.
//!
//! # Why a miss is correct
//!
//! The contracts are those of a table, with *an equal item* in place of an item of the pair: each
//! removal is paid for by an insert of an equal item that happened before it and pays for no other
//! one. (Aliases cannot pay for one another: aliases in one segment need not be aliases in the
//! next.)
//!
//! Suppose that a lookup misses x although x is in the table. The last round read the version e,
//! then words without a match, then e again. As in a table, no word showed a clearing with a number
//! above e, and the last `clear` with a number up to e, call it k, happened before the insert of x.
//! What happened before the bump to e happened before the loads: all clearings before that one, and
//! the addition that the clearing with number e made itself, if it is half of a move. Call the
//! clearings after k, in the order in which they held the stripe's lock, c1, c2, ... ce. (The loads
//! need not show the clearing of ce; that leaves one more copy. Without a bump there are no
//! clearings to consider.)
//!
//! Go through c1 to ce, and maintain the cover for the items that were inserted after k and whose
//! additions the loads showed. (Copies of one fingerprint in one bucket are alike: say that a
//! clearing takes one whose addition happened before it.) We claim: *if an item's insert happened
//! before a clearing c, then so did the addition of the copy that it is assigned before c.* For its
//! own copy that is the insert itself. A move assigns it a copy that was added under the lock,
//! before all later clearings. And if c, a removal of x, assigns to y the copy k' of x: the insert
//! that pays for c happened before c, so by the claim the addition of k' did too, and before all
//! later clearings. The converse follows by the same steps: if the addition of a copy happened
//! before c, then so did the insert of the item that it is assigned to.
//!
//! So when c removes x, the addition of k' happened before c's loads of that word, which showed it.
//! c took the finest copy that it was shown, and the argument above applies. It also applies if
//! finer copies had been added that c was not shown: these are assigned to items whose inserts did
//! not happen before c, so not to x.
//!
//! After ce every item of the cover that has not been removed has a copy of its own. x is one of
//! these items, because its removal comes after the lookup. The addition of its copy happened
//! before the loads: it is x's own copy, or it happened before one of the clearings. The copy is in
//! the segment of x's insert, which happened before the lookup, or in an earlier one. So the lookup
//! read its word, and there was a match: a contradiction. An item that is in the table is always
//! found.
//!
//! # Copies of the chain
//!
//! A clone copies all segments while it holds all stripes. It knows every segment that held an item
//! before the call, since it reads the chain after it has acquired the stripes. All clearings
//! before it are seen. So the argument above, with the copied words in place of the loads and all
//! earlier clearings as c1 to ce, shows that the copy covers every item that is in the table
//! throughout.
//!
//! # Growth
//!
//! No thread waits for another one to append a segment. Threads that find the last one full at the
//! same time each allocate one; the first sets the place, and the others drop theirs. An
//! `insert_unique` that added to a segment which another thread does not know yet published that
//! segment before it released the stripe. The other thread looks for segments after it acquires the
//! stripe, so it finds it. So of two calls with the same item exactly one adds it, in whatever
//! segments. (Lookups and removals need only the segments of inserts that happened before them.)
//!
//! Copies of one item never take more than half of the slots of its buckets in the last segment,
//! apart from inserts of it at the same moment. So, apart from such a race, they fill no pair of
//! buckets, and a search gets from every bucket to others: a segment is appended because the last
//! one is full, and not because a few buckets are. (Without this limit, 2 000 items in a hundred
//! copies each among a million others caused appends to segments that were 3 % full, in a
//! simulation.)

mod append;
mod plan;
mod segment;
mod steps;

use alloc::boxed::Box;

#[cfg(feature = "stats")]
use crate::table::Stats;
use crate::{
    Layout,
    sync::SetOnce,
    table::{Addressing, Counters, Nested, StripeGuard, Stripes},
};
use plan::rate_of;
pub(crate) use plan::{Plan, plan};
use segment::Segment;

/// Segments that are filled one after the other and looked up together.
///
/// A chain knows hashes, once they are [mixed](crate::table::mix), but no items.
#[derive(Debug)]
pub struct Chain {
    /// A place for every segment that the plan allows. They are set from the front, the first one
    /// always.
    places: Box<[SetOnce<Segment>]>,
    plan: Plan,
    stripes: Stripes,
    counters: Counters,
    huge_pages: bool,
}

impl Chain {
    /// The segments that exist, from the first to the finest.
    #[inline]
    fn segments(&self) -> impl DoubleEndedIterator<Item = &Segment> + ExactSizeIterator + Clone {
        let count = self.places.iter().take_while(|place| place.get().is_some()).count();
        self.places[..count].iter().map(|place| place.get().expect("places are never emptied"))
    }

    /// The number of the last segment, the segment, and the earlier ones from the finest to the
    /// first.
    #[inline]
    fn last_and_rest(&self) -> (usize, &Segment, impl Iterator<Item = &Segment> + Clone) {
        let mut segments = self.segments().rev();
        let number = segments.len() - 1;
        let last = segments.next().expect("the first segment always exists");
        (number, last, segments)
    }

    /// The addressing of the first segment.
    #[inline]
    fn first(&self) -> &Addressing<Nested> {
        &self.plan[0].1
    }

    /// Locks the stripe of a mixed hash.
    #[inline]
    fn lock(&self, mixed: u64) -> StripeGuard<'_> {
        self.stripes.of(self.first().fingerprint(mixed)).lock()
    }

    /// The statistics of all segments together.
    #[cfg(feature = "stats")]
    pub(crate) fn stats(&self) -> Stats {
        self.counters.read(self.stripes.waits())
    }

    /// The layouts of the segments that exist, and their numbers of buckets.
    #[must_use]
    pub fn layouts(&self) -> impl ExactSizeIterator<Item = (Layout, u64)> {
        self.segments().map(|segment| (segment.layout(), segment.buckets()))
    }

    /// The sum of the false-positive rates of the segments that exist, each of them full.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.plan[..self.segments().len()].iter().map(rate_of).sum()
    }

    /// Bytes of buckets, stripes, statistics and places.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        let segments: usize = self.segments().map(Segment::size_in_bytes).sum();
        let places = size_of_val(&*self.places) + size_of_val(&*self.plan);
        segments + places + self.stripes.size_in_bytes() + self.counters.size_in_bytes()
    }
}
