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
//!              fingerprint p    fingerprint p            fingerprint p00 .. p11 (2 bits longer)
//!
//!              all segments use the stripe that x's fingerprint in segment 0 selects
//! ```
//!
//! - **Segments.** Each is a table. Its number of buckets is that of the one before it times a
//!   power of two, at least 2. The factor is the same throughout unless the chain was shrunk; the
//!   argument does not need that. A thread that knows a segment knows all earlier ones from then
//!   on.
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
//!    empty slot, append another segment, without holding a stripe. (If copies of the item take
//!    half of its slots in the last segment, the insert fails: see *Growth*.)
//! 2. **Remove**: acquire the item's stripe, go through the segments *from the finest to the
//!    first*, and clear the first copy of the item's fingerprint that is found, after bumping the
//!    version.
//! 3. **Look up**: read the version; read the item's two words in every segment; read the version
//!    again. A match in any segment is a hit. Without a match, the item is absent if the version is
//!    unchanged; otherwise retry. (No branch depends on a word before the words of all segments are
//!    read. If a quick probe of semi-sorted words leaves the answer open, a full probe reads the
//!    words of that segment again, before the second read of the version.)
//! 4. **`insert_unique`, `count`**: under the stripe, over all segments that exist once it is
//!    acquired.
//! 5. **Clear**: acquire all stripes in order, bump all versions, swap every word of all segments
//!    with 0. The segments stay.
//!
//! # Why removal starts with the finest segment
//!
//! A removal takes a copy, and cannot know whose copy it is. Say that the copies *cover* the items
//! if each item can be assigned a copy of its own that matches it in that copy's segment. At first,
//! each item is assigned the copy that its insert added. If that copy is moved, the item is
//! assigned the moved one.
//!
//! `remove(x)` takes a copy u, in segment s. If u was assigned to x, the others still cover their
//! items. The same is true if u was assigned to no item, such as a copy of a move that was never
//! finished. Otherwise u was assigned to some y, which is an alias of x in s; and x has a copy v of
//! its own, in a segment t. **t is not finer than s**, because removal takes the finest copy that
//! matches x. So by nesting y is an alias of x in t as well, and can be assigned v, which x no
//! longer needs. The copies cover the items that are left. (If removal started with the first
//! segment, t could be finer, and y no alias of x in t. Then y would be lost, although as many
//! copies are left as items. `tests/chain/` removes in that order to show the failure.)
//!
//! So the copy assigned to an item changes only to one in the same segment, by a move, or to one in
//! the same or an earlier segment, by a removal.
//!
//! # Why a miss is correct
//!
//! The contracts are those of a table, with *an equal item* in place of an item of the pair: each
//! removal is paid for by an insert of an equal item that happened before it and pays for no other
//! one. (Aliases cannot pay for one another: aliases in one segment need not be aliases in the
//! next.)
//!
//! Suppose that a lookup misses x although x is in the table (here: in the chain). The last round
//! read the version e, then words without a match, then e again. As in a table:
//! - No word showed a clearing with a number above e.
//! - The last `clear` with a number up to e, call it k, happened before the insert of x.
//! - What happened before the bump to e, or to a lower version, happened before the loads.
//!
//! Let c1, c2, ..., cn be the clearings of the stripe after k with numbers up to e, in the order in
//! which they held the lock. All but the last one happened before the loads. If cn is the second
//! half of a move, the first half, which added the copy, happened before the loads too. (The loads
//! need not show cn itself. If they do not, they show one copy more, which does no harm.)
//!
//! Go through c1 to cn, and maintain a cover of the items that were inserted after k. By the
//! contract of `clear`, the removals among c1 to cn remove only such items. (Copies of one
//! fingerprint in one bucket are alike, so we may choose which of them a clearing takes: let it be
//! one whose addition happened before the clearing.) We claim: *if an item's insert happened before
//! a clearing c, then so did the addition of the copy that is assigned to the item just before c.*
//! An item gets its copy in one of three ways:
//! 1. Its own insert adds it.
//! 2. A move assigns it a copy that was added under the lock, before all later clearings.
//! 3. A removal of some item z assigns it the copy v of z. The insert that pays for the removal
//!    happened before it. So, by the claim for z, the addition of v happened before the removal
//!    too, and hence before all later clearings.
//!
//! So when a clearing c removes an item z, the addition of z's copy v happened before c's loads,
//! which showed v. Among the copies that c was shown, it took the finest: t is not finer than s,
//! and the argument of the previous section applies, with z in place of its x. (Copies that c was
//! not shown play no part.)
//!
//! After cn, x has a copy in the cover, because its removal comes after the lookup. The addition of
//! this copy happened before the loads: the copy was added by the insert of x, or by a move among
//! c1 to cn; or a removal among them assigned it to x, and then its addition happened before that
//! removal. No clearing that the loads showed has taken it. It is in the segment of x's insert,
//! which happened before the lookup, or in an earlier one. So the lookup read its word, and there
//! was a match: a contradiction. An item that is in the table is always found.
//!
//! The argument needs the segments that existed when the lookup began, and no others. It sets no
//! order for the loads of the words between the two reads of the version, and no limit to the time
//! between them. So it holds for each item of a batch that lists the segments first, reads the
//! versions of a group or of a round of items, then their words in all segments, and then the
//! versions again. Where words are read twice, the second loads are the ones without a match.
//!
//! # Limits on copies
//!
//! An insert with a limit executes a full fence, counts the copies in all segments between two
//! reads of the version, and then decides as in a table. A copy that is removed or moved meanwhile
//! changes the version, because all segments share the stripe. The count reads the segment of every
//! copy that the argument requires it to see. Such a copy was added before the fence of this
//! insert, or before another fence that precedes it. Its segment was appended even earlier, so the
//! count finds the segment.
//!
//! # Copies of the chain
//!
//! A clone lists the segments, and then copies them while it holds all stripes. An item that is in
//! the table throughout the call was inserted before it, and the copy assigned to it only changes
//! to one in the same segment or in an earlier one. So that copy is in a segment that the clone
//! listed. All clearings before the locks were acquired are seen, and there are none while they are
//! held. So the argument above, with the copied words in place of the loads, and with all clearings
//! since the last `clear` as c1 to cn, shows that the copies in the clone cover every such item.
//!
//! # Merging
//!
//! A merge copies the other chain, and then adds each copy c of it by an insert of its own. Let the
//! *level of knowledge* of such an insert be the segment k in which c was: the item is not at hand,
//! but its pair in k is, and by nesting so are its pairs in all segments that are not finer than k.
//! The copy is added to one of these.
//!
//! If the merge succeeds, every item that the other chain held throughout the call has a copy c of
//! its own there that matches it (see *Copies of the chain*). What is added for c, in a segment
//! that is not finer, matches the item too, and is assigned to it. From then on the item is one
//! like any other: it was inserted by the merge, and that insert pays for one removal.
//!
//! If a copy cannot be added, the merge removes as many as it has added. Take each of its inserts
//! as that of a *provisional item*, which is known at level k and assigned the copy that was added.
//! Nobody looks up provisional items, or removes them, except for the merge itself. For other
//! removals a provisional item is an item y like any other: its copy is in segment k or in an
//! earlier one, and there its pair is known, so it is well defined which items are its aliases.
//!
//! To remove a provisional item x, the merge goes through the segments *from k to the first*, under
//! the item's stripe, and clears the first copy u that matches x. (In segments finer than k, there
//! are many pairs that x may have, and nothing may be removed.) Say that u is in segment s, and x's
//! own copy v in segment t. An item's copy changes only to one in the same or an earlier segment,
//! so t is not finer than k, and the merge sees v unless it finds another copy first. So again **t
//! is not finer than s**, and s is not finer than k. If u was assigned to some y, then y is an
//! alias of x in s, hence in t, and can be assigned v. So the copies cover the items that are left,
//! and the two arguments above hold: the insert that pays for the removal happened before it, and
//! among the copies that the removal was shown in the segments up to k, it took the finest. (If it
//! started with the first segment, it could take the copy of an item that is an alias of x there
//! and nowhere else.)
//!
//! A clear that overlaps the merge is treated as in a table: see `table/merge.rs`.
//!
//! # Shrinking
//!
//! With exclusive access, copies are moved from a segment that is to be dropped to earlier ones.
//! By nesting, a copy still matches every item that it matched before, so it stays assigned to the
//! same item. So the copies cover the items after each step, and it does no harm to stop half way.
//! The segments that are left, in the same order, are a chain: each of them determines what the
//! earlier ones keep. The false-positive rates of a part of the planned segments add up to no more
//! than those of all of them.
//!
//! # Values
//!
//! In a chain with values, a slot holds a fingerprint and a value, which has the same number of
//! bits in all segments. Pair, alternate bucket and stripe follow from the fingerprint alone, and
//! nest as before. So a pair and a value in a segment determine the pair and the value in every
//! earlier one. Let an item be a key *with its value*, and let aliases have equal pairs *and equal
//! values*. Then all of the above holds for `remove` and `contains_value`, which name the value,
//! and for copies of the chain, merging and shrinking, which keep a value with its pair.
//!
//! **Replace** (x, old) by (x, new): acquire the stripe, go through the segments *from the finest
//! to the first*, bump the version, and replace the value in the first copy of (x, old) that is
//! found, by one compare-and-swap. This is a removal of (x, old) and an insert of (x, new), whose
//! copy is in the slot that the removal clears. It must start with the finest segment because a
//! removal must: the copy that it takes, in segment s, may be assigned to an alias (y, old), which
//! then gets x's own copy, in segment t. If t were finer than s, y might be no alias of x there,
//! and y's value would be lost. In the claim about additions, the replace is a fourth way to get a
//! copy: the insert of (x, new) is itself the addition.
//!
//! A replace pays for one removal or replace of (x, new), as an insert does, and uses up the
//! payment for (x, old).
//!
//! **By key.** `get`, `contains`, `count` and `values` ask for x with any value. Suppose that x is
//! in the chain throughout the lookup, though its value may be replaced, and that a `get` misses x,
//! or that a `values` lists none of the values that x has during the call. Its last round read the
//! version e, then the words, then e again. Go through c1 to cn as above, and let (x, v) be the
//! item that they leave.
//! 1. *cn is not a replace of x.* Then (x, v) was inserted before the lookup, or by a replace among
//!    the other clearings, which happened before the loads. After cn it has a copy, whose addition
//!    happened before the loads, as above. If its word was read, it matched, with the value v.
//! 2. *cn replaces (x, old) by (x, v).* In the slot that cn changes, the loads show the old value
//!    or v. Both match the key. If they show the old value, the replace did not happen before the
//!    lookup, so the lookup is ordered before it.
//!
//! **Was the word read?** Until its value is replaced, the copy of an item goes to earlier segments
//! only. But a replace of x may take the copy of an alias in a later segment, even in one that was
//! appended after the lookup began. From then on that copy is the one assigned to x, and a removal
//! of the alias may take x's former copy. The replace bumped the version, to e at most. So the
//! segment was appended before the version was read.
//! **Therefore a round lists the segments after it has read the version**, and a batch looks up one
//! key after the other. For the same reason a copy of a chain with values lists the segments again
//! once it holds all stripes, and starts over if there are more. (While it holds them, nothing is
//! replaced.)
//!
//! `get` returns the value of any match: a match is an item of the pair that was in the table.
//! `values` validates the version even if it found matches. Otherwise it could return an alias's
//! value without that of x, if x moved or its slot was taken between the loads.
//!
//! # Growth
//!
//! No thread waits for another one to append a segment. Threads that find the last one full at the
//! same time each allocate one; the first sets the place, and the others drop theirs. If an
//! `insert_unique` added to a segment that another thread does not know yet, the segment was
//! published before the stripe was released. The other thread looks for segments after it acquires
//! the stripe, so it finds this one. So of two calls with the same item exactly one adds it, even
//! if they know different segments. (Lookups and removals need only the segments of inserts that
//! happened before them.)
//!
//! An `insert` fails if copies of its item take half of the slots of its buckets in the last
//! segment. Only inserts and moves of the same item at the same moment can defeat this limit. Apart
//! from such races, copies of one item never fill both of its buckets in the last segment, so a
//! search there can always go on to other buckets. So a segment is appended because the last one is
//! full, and not because a few buckets are. (In a simulation without this limit, 2,000 items with a
//! hundred copies each, among a million others, caused segments to be appended while the last one
//! was 3 % full.)

mod append;
mod batch;
mod coarse;
mod copy;
mod entries;
mod merge;
mod plan;
mod planning;
mod segment;
mod shrink;
mod size;
mod steps;
mod values;

use core::iter;

#[cfg(feature = "stats")]
use crate::table::Stats;
use crate::{
    Layout,
    sync::{SetOnce, Shared, Word},
    table::{
        Addressing, Counters, MAX_BUCKETS, Nested, Nesting, Single, Stripe, StripeGuard, Stripes,
    },
};
pub use entries::Entries;
pub use plan::Plan;
pub(crate) use planning::{Wanted, plan};
use segment::Segment;
pub(crate) use size::bytes;
pub use values::AllCandidates;

/// Largest number of segments after the first one, each with at least twice the buckets of the one
/// before it. (Models have chains of at most three.)
const MAX_LATER: usize = if cfg!(any(loom, shuttle)) { 2 } else { MAX_BUCKETS.ilog2() as usize };

/// Segments that are filled one after the other and looked up together.
///
/// A chain knows hashes, once they are [mixed](crate::table::mix), but no items. What its slots
/// hold beside fingerprints is `V`.
#[derive(Debug)]
pub struct Chain<V: Entries = Single> {
    first: Segment<V>,
    /// Places for the other segments, set from the front. They are allocated when the second
    /// segment is, so that a small filter does without them.
    later: SetOnce<[SetOnce<Segment<V>>; MAX_LATER]>,
    plan: Plan<V>,
    /// The addressing of the last segment that the plan allows.
    finest: Addressing<Nested<V>>,
    stripes: Shared<Stripes>,
    counters: Counters,
    huge_pages: bool,
    /// The largest number of bytes to which the chain may grow.
    max_bytes: Word,
}

impl<V: Entries> Chain<V> {
    /// The segments that exist, from the first to the finest, without counting them first.
    #[inline]
    fn each_segment(&self) -> impl Iterator<Item = &Segment<V>> {
        let later = self.later.get().into_iter().flatten();
        iter::once(&self.first).chain(later.map_while(SetOnce::get))
    }

    /// The segments that exist, from the first to the finest.
    #[inline]
    fn segments(&self) -> impl DoubleEndedIterator<Item = &Segment<V>> + ExactSizeIterator + Clone {
        (0..self.each_segment().count()).map(|number| self.segment(number))
    }

    /// The segment with this number, which exists.
    #[inline]
    fn segment(&self, number: usize) -> &Segment<V> {
        let place = number.checked_sub(1).map(|index| &self.later.get().expect("places")[index]);
        place.map_or(&self.first, |place| place.get().expect("places are never emptied"))
    }

    /// The number of the last segment, the segment, and the earlier ones from the finest to the
    /// first.
    #[inline]
    fn last_and_rest(&self) -> (usize, &Segment<V>, impl Iterator<Item = &Segment<V>> + Clone) {
        let mut segments = self.segments().rev();
        let number = segments.len() - 1;
        let last = segments.next().expect("the first segment always exists");
        (number, last, segments)
    }

    /// The addressing of the first segment.
    #[inline]
    fn first(&self) -> Addressing<Nested<V>> {
        self.plan.first()
    }

    /// Bits of a value.
    #[inline]
    pub(crate) fn value_bits(&self) -> u32 {
        self.finest.nesting().value_bits()
    }

    /// The stripe of a mixed hash.
    #[inline]
    fn stripe(&self, mixed: u64) -> &Stripe {
        let first = self.first();
        self.stripes.of(first.stripe_fingerprint(first.fingerprint(mixed)))
    }

    /// Locks the stripe of a mixed hash.
    #[inline]
    fn lock(&self, mixed: u64) -> StripeGuard<'_> {
        self.stripe(mixed).lock()
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
        self.plan.rate(self.segments().len())
    }
}
