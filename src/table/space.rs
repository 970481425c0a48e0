//! What the steps of the protocol need of a table, so that they are written once: where its words
//! are, what they hold, and how items map to them.
//!
//! There are two spaces, and a table has one of them at compile time: that of a fixed size (see
//! `fixed/`), and the one that grows (see `split/`).

use super::{Stripe, StripeGuard, Stripes, Table, stats::RelocationCount};
use crate::{InsertError, bucket::Lanes, sync::Word};

/// A word, as it was loaded from a bucket.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub(super) bucket: u32,
    pub(super) word: u64,
}

/// What an insert remembers of its attempts to make room: the relocations, and how often it had
/// buckets split.
#[derive(Debug)]
pub struct Attempts {
    pub(super) relocations: RelocationCount,
    pub(super) splits: u32,
}

impl Default for Attempts {
    #[inline]
    fn default() -> Self {
        Self { relocations: RelocationCount::zero(), splits: 0 }
    }
}

/// The buckets of a table, and the addressing.
pub trait Space: Sized {
    /// An item, and where it may be.
    type Item: Copy;
    /// A slot that is to be moved to its other side.
    type Move: Copy;
    /// What takes the place of a slot that is moved, on the side of its bucket.
    type Incoming: Copy;
    /// Whether buckets are split, so that slots can know different parts of their items.
    const GROWS: bool;

    /// The bits of a value.
    fn value_mask(&self) -> u32;

    /// The item with a value, given the item with the value zero.
    fn with_value(item: Self::Item, value: u16) -> Self::Item;

    /// Prefetches both buckets of an item: all that an insert without a limit on copies reads if
    /// one of them has an empty slot.
    fn prefetch(&self, item: &Self::Item);

    /// A bucket that an item or a plan leads to.
    fn bucket(&self, bucket: u32) -> &Word;

    /// Loads the words of both locations of an item, by Acquire.
    ///
    /// A fingerprint that is found in them is present. One that is not found may have moved between
    /// the two loads, unless the version is validated or the stripe is held.
    fn load_both(&self, item: &Self::Item) -> [Seen; 2];

    /// As [`load_both`](Self::load_both), for a thread that may change one of the words next.
    fn load_both_to_change(&self, item: &Self::Item) -> [Seen; 2];

    /// As [`load_both_to_change`](Self::load_both_to_change), for an insert that only adds a slot:
    /// by any ordering.
    #[inline]
    fn load_both_to_add(&self, item: &Self::Item) -> [Seen; 2] {
        self.load_both_to_change(item)
    }

    /// The level of a bucket, which is in its word. A slot has a meaning at one level only.
    fn level(word: u64) -> u32;

    /// The slots of a word, without what is beside them.
    fn slots(word: u64) -> u64;

    /// Changes the number of items by which a table grows. It does not grow here.
    fn count(&self, change: i64);

    /// The number of buckets, without those that were split ahead of their turn.
    fn buckets(&self) -> u64;
}

/// What the steps need of a layout: the words of a table with the space `S`.
pub trait Words<S: Space> {
    /// The slots of a word.
    fn lanes(space: &S) -> &Lanes;

    /// What comparisons of words with an item need.
    type Sought: Copy;

    /// Computes what comparisons need, before a lock is acquired: what is loaded after a locked
    /// instruction waits for it.
    fn sought(space: &S, item: &S::Item) -> Self::Sought;

    /// The item with this mixed hash, and the value zero.
    fn item(space: &S, mixed: u64) -> S::Item;

    /// The stripe of an item.
    fn stripe<'a>(space: &S, stripes: &'a Stripes, item: &S::Item) -> &'a Stripe;

    /// The stripe of a slot that is to be moved.
    fn stripe_of_move<'a>(space: &S, stripes: &'a Stripes, step: S::Move) -> &'a Stripe;

    /// Marks the slots that match an item, with any value. A bucket that comes twice is marked
    /// once. Only in layouts with values.
    fn marks(space: &S, item: &S::Item, words: [Seen; 2]) -> [u64; 2];

    /// Counts the slots that match an item, with any value.
    fn copies_in(space: &S, item: &S::Item, sought: Self::Sought, words: [Seen; 2]) -> usize;

    /// The value of a slot that matches the item, with any value, or `None` if there is none. Of
    /// several slots, it is one that knows most.
    fn value_in(space: &S, item: &S::Item, sought: Self::Sought, words: [Seen; 2]) -> Option<u16>;

    /// Finds a slot that matches the item and has its value, one that knows most. Returns the word
    /// that has it, and that word without the slot, or with this value in it.
    fn changed(
        space: &S,
        item: &S::Item,
        sought: Self::Sought,
        words: [Seen; 2],
        value: Option<u16>,
    ) -> Option<(Seen, u64)>;

    /// The number of bits that a slot knows of its item, if slots differ in that.
    fn knowledge(space: &S, word: u64, slot: u32) -> u32;

    /// The slot of an item, its value included, in the word of its first or second location.
    fn slot_of(space: &S, item: &S::Item, is_second: bool, word: u64) -> u32;

    /// Returns whether the word holds fewer slots than the other one. Both answers are allowed if
    /// they hold equally many.
    fn is_emptier(space: &S, word: u64, other: u64) -> bool;

    /// Returns the word with one more slot, or `None` if it is full.
    fn with(space: &S, word: u64, slot: u32) -> Option<u64>;

    /// Returns the word without the slots that are marked by their highest bits.
    fn without_all(space: &S, word: u64, marks: u64) -> u64;

    /// Returns the word without a slot, or with another one in its place. `None` if the slot is not
    /// there.
    fn with_changed(space: &S, word: u64, slot: u32, new: Option<u32>) -> Option<u64>;

    /// The word of the bucket that holds the slot of a move, loaded by Acquire, and the slot.
    /// `None` if the plan is stale.
    fn source(space: &S, step: S::Move) -> Option<(Seen, u32)>;

    /// The word of the bucket to which a slot moves, for a thread that will change it, and the slot
    /// there. `None` if there is no such bucket.
    fn destination(space: &S, step: S::Move) -> Option<(Seen, u32)>;

    /// The slot that takes the place of a slot that is moved.
    fn incoming_slot(space: &S, step: S::Move, incoming: S::Incoming) -> u32;

    /// Clears a slot that was copied to its other side, whose bucket was split since. Returns
    /// whether the slot was moved.
    fn clear_elsewhere(table: &Table<S>, guard: &StripeGuard, step: S::Move) -> bool;

    /// Tries to make room in one of the locations of an item. The caller holds no lock.
    ///
    /// # Errors
    /// Why there is none.
    fn make_room(
        table: &Table<S>,
        item: &S::Item,
        attempts: &mut Attempts,
    ) -> Result<(), InsertError>;

    /// The rest of an insert, once both locations were full.
    ///
    /// # Errors
    /// As [`Table::insert`].
    fn insert_by_making_room(table: &Table<S>, item: &S::Item) -> Result<(), InsertError>;

    /// Counts an item that was added, and lets the table grow if that is due. The caller holds no
    /// stripe.
    fn count_added(table: &Table<S>);

    /// Sweeps a bucket in the generation `now`, which was read under a lock that is still held, and
    /// those buckets from `end` on that were split off from it.
    fn sweep_bucket(table: &Table<S>, now: u64, bucket: u32, end: u64);
}

/// A slot of one of two words. Ordered by what it knows first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MarkedSlot {
    /// The number of bits that it knows of its item, if slots differ in that.
    pub(super) knowledge: u32,
    /// Which of the two words has it.
    pub(super) place: usize,
    pub(super) slot: u32,
}

/// The marked slots of two words, without empty ones.
pub(super) fn marked<L: Words<S>, S: Space>(
    space: &S,
    words: [Seen; 2],
    marks: [u64; 2],
) -> impl Iterator<Item = MarkedSlot> + use<'_, L, S> {
    [0, 1].into_iter().flat_map(move |place| {
        let (word, mut left) = (words[place].word, marks[place]);
        core::iter::from_fn(move || {
            let mark = left & left.wrapping_neg();
            left ^= mark;
            (mark != 0).then(|| L::lanes(space).slot(word, mark))
        })
        .filter(|&slot| slot != 0)
        .map(move |slot| MarkedSlot {
            knowledge: L::knowledge(space, word, slot),
            place,
            slot,
        })
    })
}
