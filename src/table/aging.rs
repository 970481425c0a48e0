//! What the steps of expiry need of a table, so that they are written once: see `expiry.rs`.

use super::{Expires, Seen, Stripe, StripeGuard};
use crate::{InsertError, bucket::Lanes};

/// What the steps of expiry need of a table with words of the layout `L`.
pub trait Aging<L>: Expires {
    /// The slots of a word.
    const LANES: Lanes;
    /// What an insert that makes room remembers of earlier attempts.
    type Attempts: Default;

    /// The stripe of an item.
    fn stripe_of(&self, item: &Self::Item) -> &Stripe;

    /// The stripe of a slot in one of these words.
    fn stripe_of_slot(&self, seen: Seen, slot: u32) -> &Stripe;

    /// Loads the words of both locations of an item, by Acquire.
    fn words_of(&self, item: &Self::Item) -> [Seen; 2];

    /// As [`words_of`](Self::words_of), for a thread that may change one of the words next.
    fn words_to_change(&self, item: &Self::Item) -> [Seen; 2];

    /// The slots of a word, without what is beside them.
    fn slots_in(word: u64) -> u64;

    /// Marks the slots that match an item, with any stamp. A bucket that comes twice is marked once.
    fn marks_in(&self, item: &Self::Item, words: [Seen; 2]) -> [u64; 2];

    /// The number of bits that a slot knows of its item, if slots differ in that.
    fn knowledge(word: u64, slot: u32) -> u32;

    /// The slot of an item, its stamp included, in the word of its first or second location.
    fn slot_of(&self, item: &Self::Item, place: usize, word: u64) -> u32;

    /// Clears a slot that was in a word, or replaces it. Returns `false` if it is no longer there:
    /// it was swept, or its bucket was split. The caller holds its stripe, and has bumped the
    /// version since.
    fn change_slot(&self, guard: &StripeGuard, seen: Seen, slot: u32, new: Option<u32>) -> bool;

    /// Adds a slot to the emptier one of two words, where slots that had expired in the generation
    /// `now` count as empty. They are swept by the same change. Returns `Some(false)` if that word
    /// has changed since, and `None` if both are full. `now` was read under a lock that is still
    /// held.
    fn try_add_swept(&self, now: u64, item: &Self::Item, words: [Seen; 2]) -> Option<bool>;

    /// Tries to make room in one of the locations of an item. The caller holds no lock.
    ///
    /// # Errors
    /// Why there is none.
    fn try_make_room(
        &self,
        item: &Self::Item,
        attempts: &mut Self::Attempts,
    ) -> Result<(), InsertError>;

    /// Counts an item that was added. The caller holds no lock.
    fn added(&self, attempts: &Self::Attempts);

    /// Adds a copy of an item, its stamp included.
    ///
    /// # Errors
    /// Why it was not added.
    fn try_insert(&self, item: &Self::Item) -> Result<(), InsertError>;

    /// Counts items that were removed.
    fn removed(&self);

    /// Sweeps a bucket in the generation `now`, which was read under a lock that is still held, and
    /// those buckets from `end` on that were split off from it.
    fn sweep_bucket(&self, now: u64, bucket: u32, end: u64);
}

/// A slot of one of two words. Ordered by what it knows first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MarkedSlot {
    /// The number of bits that it knows of its item, if slots differ in that.
    pub(super) knowledge: u32,
    /// Which of the two words has it.
    pub(super) place: usize,
    pub(super) slot: u32,
}

/// The marked slots of two words, without empty ones.
pub(super) fn marked<T: Aging<L>, L>(
    words: [Seen; 2],
    marks: [u64; 2],
) -> impl Iterator<Item = MarkedSlot> {
    [0, 1].into_iter().flat_map(move |place| {
        let (word, mut left) = (words[place].word, marks[place]);
        core::iter::from_fn(move || {
            let mark = left & left.wrapping_neg();
            left ^= mark;
            (mark != 0).then(|| T::LANES.slot(word, mark))
        })
        .filter(|&slot| slot != 0)
        .map(move |slot| MarkedSlot { knowledge: T::knowledge(word, slot), place, slot })
    })
}
