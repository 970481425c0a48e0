//! The table and its protocol: how threads share the buckets so that no lookup waits and none
//! misses an item.
//!
//! # State
//!
//! ```text
//!            slot 3   slot 2   slot 1   slot 0
//!          +--------+--------+--------+--------+
//! bucket i |  0000  |  7c1e  |  b402  |  19aa  |   one atomic u64, here 4 slots of 16 bits;
//!          +--------+--------+--------+--------+   0 is an empty slot
//!                        |
//!                        |  fingerprint 7c1e alone selects ...
//!                        |
//!                        +--> its alternate bucket: j = t(7c1e) - i, and back: i = t(7c1e) - j
//!                        |
//!                        +--> its stripe  +---------+------+
//!                                         | version | lock |   at most 2048 of these
//!                                         +---------+------+
//! ```
//!
//! - **Words.** Each bucket is one atomic `u64` that holds a few fingerprints. Every change
//!   replaces the whole word by a read-modify-write: a compare-and-swap, or the swap of `clear`. (A
//!   table that is being loaded or shrunk is not shared.)
//! - **Stripes.** A fingerprint and the two buckets that may hold it form a *pair*. Items with the
//!   same pair are *aliases*: the table cannot distinguish them. Every pair belongs to a stripe,
//!   which consists of a lock and a *version*, a counter that only grows. The fingerprint alone
//!   selects the stripe, so both buckets lead to the same stripe.
//! - **Values.** In a table with values, a fingerprint ends in a value: see `steps/values.rs`.
//!
//! # Steps
//!
//! 1. **Add** a fingerprint to a bucket with an empty slot: one compare-and-swap, without a lock.
//! 2. **Clear** a slot: only a thread that holds the stripe's lock does this, and only after it has
//!    bumped the stripe's version. (Sweeps of expired slots are an exception: see `expiry/mod.rs`.)
//! 3. **Move** a fingerprint to its alternate bucket: acquire the lock, check that the fingerprint
//!    is still there, add it to the destination, bump the version, clear the source, release the
//!    lock. When an insert makes room this way, the clearing stores the incoming fingerprint in the
//!    slot by the same compare-and-swap, so that no other thread can take the slot.
//!    (`insert_unique` only makes room, and then looks again.)
//! 4. **Look up**: read the version, both words, and the version again. A match is a hit, whatever
//!    the versions are. Without a match, the item is absent if the version is unchanged; if it
//!    changed, retry. (A batch does this for each item of a block, and then compares all their
//!    words at once: see `block.rs`.)
//! 5. **Clear the table**: acquire all stripes in order, bump all versions, swap every word with 0,
//!    release the locks.
//!
//! A lookup that overlaps a move of the fingerprint x from bucket j to bucket i:
//!
//! ```text
//! mover    lock   check j   add to i     bump 7 -> 8     clear in j   unlock
//! ---------+--------+---------+--------------+---------------+----------+------->  time
//!
//! lookup A     | version 7 | i: no x |                   | j: no x | version 8 |
//!                saw a clearing, so it also sees the bump that preceded it: retry
//!
//! lookup B     | version 7 | i: no x | j: x |
//!                a match is a hit
//!
//! lookup C                                     | version 8 | i: x |
//!                the bump publishes the copy that preceded it: a hit
//! ```
//!
//! No thread holds two stripe locks, so no lock order is needed, and no deadlock is possible. (A
//! clear and a copy of the whole table are the exception: they take all stripes, in order.) No lock
//! is held over user code or over a search for room.
//!
//! # Why a miss is correct
//!
//! The contract of `remove`: each removal that succeeds is *paid for* by an insert of an item of
//! the same pair (an `insert` that returned `Ok`, or an `insert_unique` that added), which happened
//! before the removal and pays for no other one. Fix one such assignment.
//!
//! The contract of `clear`: for every clear and every removal, either the removal happened before
//! the clear, or the clear happened before the insert that pays for the removal. In short, no clear
//! overlaps an insert that pays, a removal, or the time between them.
//!
//! An item is *in the table* during a lookup if
//! - its insert happened before the lookup;
//! - the lookup happened before the removal that the insert pays for, if there is one; and
//! - every clear happened before the insert or happens after the lookup.
//!
//! (A table that is loaded or cloned starts with one insert for each copy in it.)
//!
//! A *clearing* takes a fingerprint out of a word: a removal, the second half of a move, or a swap
//! of `clear`. The clearings of a stripe are ordered by its lock. The *number* of a clearing is the
//! version to which its thread bumped the stripe for it. (The clearings of one `clear` share a
//! number.) A load of a word returns the result of a prefix of that word's modification order: the
//! changes in this prefix are *seen*.
//!
//! Consider the last round of a lookup that misses: it read the version e, then both words without
//! a match, then the version e again. (Nothing limits the time between these reads, nor what the
//! thread reads meanwhile. So the argument holds for each item of a batch whose rounds are made
//! side by side.)
//!
//! 1. *A clearing with a number above e was seen.* All changes are read-modify-writes. So the load,
//!    an Acquire, synchronizes with that clearing, a Release, even if it returned a later change.
//!    So the bump before that clearing happened before the second read of the version. Stores of
//!    the version are ordered by the lock and increase, so by coherence that read returned more
//!    than e, a contradiction.
//! 2. *No such clearing was seen.* Suppose that an item of this pair is in the table during the
//!    lookup. What happened before a bump to e, or to a lower version, also happened before the
//!    loads of the words: the first read of the version, an Acquire, synchronizes with the bump to
//!    e, a Release, and the lock orders the earlier bumps before it.
//!    - *The last clear.* Let k be the last `clear` with a number up to e, if there is one. Its
//!      bump happened before the loads, so k did not happen after the lookup. So it happened before
//!      the item's insert, and all its swaps happened before the loads. Earlier clears happened
//!      before k. From here on, consider only what comes after k.
//!    - *Copies that were seen to go.* Among the clearings after k with numbers up to e that took
//!      this fingerprint out of these two words, let R be the number of removals, and M the number
//!      of second halves of moves. No other clearing was seen. So at most R + M copies were seen to
//!      go.
//!    - *Copies that were seen to come.* Each of the M moves added a copy before its bump, hence
//!      before the loads. Let I be the number of inserts of this pair that happened after k and
//!      before the loads. So at least M + I copies were seen to come. There was no match, so M + I
//!      is at most R + M, and I is at most R.
//!    - *Payment.* Each of the R removals is paid for by an insert of its own. The removal did not
//!      happen before k, so by the contract of `clear` the insert happened after k. It happened
//!      before the removal, hence before the removal's bump and before the loads. So these R
//!      inserts are among the I, and I is at most R: there are no others.
//!    - *The item.* Its insert happened after k and before the lookup, so it is one of the I, and
//!      pays for one of the R removals. That removal bumped before the loads. But the item's
//!      removal happens after the lookup: a contradiction. So no item of this pair is in the table,
//!      and the miss is correct.
//!
//! An insert that overlaps k may leave a copy behind, or not. It pays for no removal. A copy that
//! it leaves is one more than was counted above, and the argument holds.
//!
//! Where both buckets are the same one, the argument holds for its word alone. Copies of other
//! pairs play no part: from a given bucket a fingerprint has only one alternate bucket.
//!
//! Weaker rules fail. Without a version, a reader misses an item that moves from j to i between its
//! load of i and its load of j. Reading the words twice fails when the item moves from j to i and
//! back. Bumping for moves alone fails: an item is stored in j; a reader loads i; an alias is
//! inserted into i and removed again, but the removal takes the copy in j; the reader loads j. The
//! first item was in the table throughout.
//!
//! # Why `clear` is one moment for a pair
//!
//! Suppose that no insert of a pair overlaps a `clear`, whose number is k. Once a lookup of the
//! pair has missed, later lookups miss until the pair is inserted again. The lookup that missed
//! either read a version below k, and then saw none of k's swaps (case 1 above): its miss is right
//! for the moment before k. Or it read its words after the bump to k. From that bump until the
//! clear has made its last swap, the copies of the pair only go, because moves wait for the lock.
//! So a word without a copy has none until k ends, and then there is none at all. (The bump is
//! needed. Say that the word of bucket i holds a copy. A lookup reads the word of bucket j, a
//! second copy is inserted there, and the clear begins and swaps the word of i. If the lookup reads
//! the word of i only now, then without the bump it misses, while a later lookup finds the second
//! copy in j, which is not yet swapped.)
//!
//! # Why a lookup never waits
//!
//! Every retry of a lookup requires that another thread bumped the stripe's version after the
//! previous round began (or began a generation, if slots expire, or split a bucket, if the table
//! grows). A thread that stopped or died in the middle of a move, lock
//! held, does none of these: lookups proceed, and so do inserts into buckets with an empty slot.
//! (Lookups are lock-free: each of these retries means that a writer made progress. They are not
//! wait-free.)
//!
//! Operations that take a lock do wait for it: `remove`, `count`, `insert_unique`, inserts that
//! must make room (move, sweep, or split) or that seem to find too many copies (see
//! `steps/copies.rs`), and operations on the whole table, which need all locks. (While an operation
//! on the whole table waits for one lock, it holds others. So a thread that is suspended with a
//! lock held can delay every operation that needs a lock.)
//!
//! Two inserts whose eviction paths cross at the last empty slot can invalidate each other's plans.
//! Each time, one of them has moved something, and nothing is lost, but there is no bound on the
//! number of retries. Only threads that run in lockstep keep retrying. (The pending inserts of one
//! batch do run in lockstep, so an insert among them whose plan went stale is completed alone,
//! while the others pause.) A half-done move occupies two slots, even if its thread has stopped. A
//! search that overlaps it may return `Full` because the second of these slots would have been the
//! only empty one within reach.
//!
//! # Hits publish
//!
//! A lookup that finds a fingerprint happens after the insert of one of its copies. Adding is a
//! Release, also when a clearing stores an incoming fingerprint. Every load that can lead to a hit
//! is an Acquire. A move reads the source by an Acquire before it adds by a Release, so it passes
//! on what it acquired. Changes by other threads to the same word are read-modify-writes, which
//! continue the release sequence. `remove`, `insert_unique` and `count` promise the same for what
//! they find.
//!
//! Between the two halves of a move both copies exist, and the version does not show it, because
//! the bump comes somewhere in between. So every operation that depends on the number of copies
//! holds the lock: `remove` (of two racing removals of one copy exactly one succeeds),
//! `insert_unique`, `count`, and the decision `TooManyCopies`. Under the lock, apart from the
//! holder's own changes, the copies of a pair only grow, one by one, by inserts of other threads.
//! So `count`, which reads one word after the other, returns a number that was right at some moment
//! in between. A `remove` or an `insert_unique` that found nothing was right when it read the first
//! word, and `TooManyCopies` was right when the second word was read (in a table that grows, where
//! fewer copies are too many, each of the two words was full when it was read). If another thread's
//! insert comes between the check and the addition of an `insert_unique`, it is ordered after the
//! call.
//!
//! # Copies of the table
//!
//! A snapshot or a clone copies all words while it holds all stripes. A thread that holds one
//! stripe never waits for another one, and operations on the whole table take the stripes in the
//! same order. So no cycle of waiting threads forms, and if holders proceed and the locks are fair
//! enough, all locks are acquired eventually.
//!
//! While all locks are held no slot is cleared and no move is in progress: words only gain
//! fingerprints. The loads return at least all changes that happened before them: those of earlier
//! moves, removals and clears, which held one of the stripes, and those of inserts that happened
//! before the call. So for each pair, the copy holds at least as many fingerprints as the number of
//! its inserts that were seen, minus the number of its removals before the copying (both counted
//! since the last clear). Each of these removals is paid for by an insert of its own, which
//! happened before it and was seen. The insert of an item that is in the table throughout was seen
//! too, and pays for none of them. So at least as many copies are left as there are such items of
//! the pair.
//!
//! Lookups continue, because they take no lock, and so do inserts into buckets with an empty slot.
//! An insert that overlaps the copying is in the copy or not. If it is, a hit in a clone happens
//! after it: an Acquire fence follows the loads of the words, and stands for an Acquire of each.
//!
//! Whoever needs a lock waits while the words are copied, so nothing else is done under the locks.
//! The memory of the copy is allocated and touched before, and the copied items are counted after.
//!
//! # Order across pairs
//!
//! The calls on one pair take effect in one order. Across pairs there is happens-before, and no
//! single order of all calls: if two threads each insert one item and then look up the other's, the
//! memory model lets both lookups miss. (On x86-64 at least one of them hits, because locked
//! instructions are fences.)

mod answers;
mod batch;
mod block;
pub(crate) mod choice;
mod counter;
mod expiry;
mod fixed;
mod kernel;
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "parts of it serve loading"))]
mod memory;
mod mix;
mod payload;
mod prefetch;
mod space;
pub mod split;
mod stats;
mod steps;
mod stripes;
#[cfg(all(test, guira_vectors, target_os = "linux", feature = "std"))]
mod tests;
mod visited;

use core::ops::{Deref, DerefMut};

pub(crate) use answers::Answers;
pub(crate) use batch::{Hashes, MAX_BURST, Source, for_each_in_stages};
pub(crate) use block::{BLOCK, Blocks, Lookups};
pub use counter::ShardedCounter;
#[cfg(feature = "std")]
pub(crate) use expiry::MAX_GENERATION;
pub use expiry::{Clock, ClockState, Start, TimeSource, TimeState};
pub(crate) use expiry::{TIMES_TO_LIVE, WINDOW_OF_TTL, stamp_bits};
#[cfg(feature = "raw")]
pub use fixed::Move;
pub(crate) use fixed::table_bytes;
pub use fixed::{
    Addressing, FixedSpace, FixedTable, FixedWords, MAX_BUCKETS, Pair, PendingInserts,
};
pub use kernel::Kernel;
#[cfg(guira_in_place)]
pub(crate) use memory::Borrowed;
pub(crate) use memory::{Buckets, GrowingBuckets, bucket_bytes, try_boxed};
#[cfg(feature = "std")]
pub(crate) use memory::{
    LOADED_CHUNK, LoaderMemory, LoaderPosition, TableLoader, advise_huge_pages, swap_if_big_endian,
};
pub use mix::Mixer;
#[cfg(any(test, feature = "raw"))]
pub use mix::mix;
pub(crate) use mix::{GAMMA, finalize};
pub use payload::Payload;
use prefetch::prefetch;
pub use space::{Attempts, Seen, Space, Words};
pub(crate) use stats::Counters;
#[cfg(feature = "stats")]
pub use stats::Stats;
pub use steps::{Candidates, MergeRefusal, Merged};
#[cfg(feature = "std")]
pub(crate) use stripes::MAX_STRIPES;
#[cfg(loom)]
pub use stripes::Version;
pub use stripes::{AllStripes, Stripe, StripeGuard, Stripes};

/// Buckets, stripes, and the protocol's steps on them. The space decides at compile time whether
/// the table grows.
///
/// A table knows items by their hashes alone. The layout is a value of its space.
#[derive(Debug)]
pub struct Table<S: Space> {
    space: S,
    stripes: Stripes,
    counters: Counters,
    clock: Clock,
    /// The instructions for batches. The processor has them.
    kernel: Kernel,
}

/// The space of a table is its own: what concerns buckets and the addressing alone is there.
impl<S: Space> Deref for Table<S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        &self.space
    }
}

impl<S: Space> DerefMut for Table<S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.space
    }
}

impl<S: Space> Table<S> {
    /// What the table knows about the age of its slots.
    #[inline]
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The kernel of batches.
    #[cfg(feature = "raw")]
    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Sets the instructions for batches: those of a kernel that is available.
    ///
    /// # Panics
    /// If it is not.
    pub(crate) fn set_kernel(&mut self, kernel: Kernel) {
        assert!(kernel.is_available(), "{kernel:?} on this processor");
        self.kernel = kernel;
    }

    /// Sets the clock of a table that is not shared, if slots expire. Returns `None` if the system
    /// refuses the memory.
    #[must_use]
    pub(crate) fn set_clock(&mut self, state: Option<&ClockState>) -> Option<()> {
        state.map_or(Some(()), |state| self.clock.set(state))
    }

    /// The number of stripes.
    #[must_use]
    pub fn stripes(&self) -> usize {
        self.stripes.count()
    }

    /// The statistics of this table and of all that share its counters.
    #[cfg(feature = "stats")]
    pub(crate) fn stats(&self) -> Stats {
        self.counters.read(self.stripes.waits())
    }

    /// The stripe of an item.
    #[inline]
    fn stripe<L: Words<S>>(&self, item: &S::Item) -> &Stripe {
        L::stripe(&self.space, &self.stripes, item)
    }

    /// The item with this mixed hash, whose buckets are prefetched.
    #[inline]
    pub(crate) fn fetched<L: Words<S>>(&self, mixed: u64) -> S::Item {
        let item = L::item(&self.space, mixed);
        self.space.prefetch(&item);
        item
    }

    /// As [`fetched`](Self::fetched), and its stripe.
    #[inline]
    pub(crate) fn fetched_with_stripe<L: Words<S>>(&self, mixed: u64) -> S::Item {
        let item = self.fetched::<L>(mixed);
        self.prefetch_stripe::<L>(&item);
        item
    }

    /// Prefetches the stripe of an item. Its value should be set: the stripe is the same without
    /// it, but the compiler would then find the stripe twice.
    #[inline]
    pub(crate) fn prefetch_stripe<L: Words<S>>(&self, item: &S::Item) {
        self.stripe::<L>(item).prefetch();
    }
}
