//! Values: what the last bits of a fingerprint hold, and the steps that read or replace them.
//!
//! In a table with values, a slot holds a *key* and, in its last bits, a value. The key alone
//! selects the stripe and the alternate bucket. So all copies of an item share their buckets and
//! their stripe, whatever values they have.
//!
//! Adding, moving, and removing concern all bits of a slot. The argument in `table/mod.rs` covers
//! them if "fingerprint" means the key with its value: an item of that argument is a pair with a
//! value, and its aliases have equal pairs and equal values. (In the rest of this file, an alias is
//! an item with an equal pair, whatever its value is.) Three things are new: replacements, lookups
//! by key, and counts of keys.
//!
//! # Replacements
//!
//! [`replace`](Table::replace) stores a key with a new value over the same key with the old value,
//! by one compare-and-swap, under the stripe's lock. It is a removal of (pair, old) and an insert
//! of (pair, new). As a removal, it is a clearing: it bumps the version first, and it must be paid
//! for. As an insert, it pays for one later removal or replacement.
//!
//! So `remove` and `replace` name the value, which must be that of the caller's own insert or of
//! its latest replacement. A value that `get` returned is not enough, because it can be that of an
//! alias with the same pair. Removing that one would use up another item's payment. (Aliases with
//! equal values are interchangeable.)
//!
//! `replace` finds the old value by an Acquire and stores the new one by a Release. So whoever
//! finds the new value happens after the replacement, and after the insert of the copy.
//!
//! Without the bump, a reader misses a value that was in the table throughout. The item x, with the
//! value B, is in bucket i, and its alias y, with the value A, in bucket j. A reader loads i. Then
//! x gets the value A, and y gets the value B. The reader loads j. At each moment there was a copy
//! with the value A.
//!
//! # Lookups by key
//!
//! `contains`, `get`, and `values` (here [`candidates`](Table::candidates)) are given a pair
//! without a value, and compare keys.
//!
//! 1. *A value that is not found.* A lookup by key is a lookup of the pair with each value, all on
//!    the same words and versions. So if the version was unchanged, the miss of each value is
//!    correct: `values` lists the value of every item of the pair that is in the table throughout.
//! 2. *A key that is not found.* During the lookup, an item's value may be replaced. Then the item
//!    has neither the old nor the new value throughout. But its key is there throughout, so apply
//!    the argument to keys. A replacement takes no key out of a word and adds none. The removal of
//!    a replaced copy is paid for by the insert before its first replacement, because each of these
//!    calls happened before the next one. (By the contract, a clear either happens after the
//!    removal, or happened before the last replacement. In the second case, it happened before the
//!    call that pays for that replacement, and so on, back to the insert.) So neither `contains`
//!    nor `get` misses an item whose value is replaced.
//! 3. *A value that is replaced meanwhile.* If the version was unchanged, the clearings with
//!    numbers below e were seen, and none with a number above e. So the words hold what was in the
//!    table before clearing number e or after it, apart from inserts that overlap the lookup.
//!    `values` lists each item of that state, with the value that it had then.
//!
//! A match in `contains` or `get` is an answer, whatever the versions are. `values` validates the
//! version even if there are matches, because every value that it does not list is a miss. Without
//! that, it loses a value. The item x, with the value A, and its alias y, with the value B, are in
//! bucket j. A reader loads i. Then x moves from j to i. The reader loads j and finds B alone.
//!
//! What `values` lists is right value by value. It need not be the state of one moment. A copy that
//! is being moved comes twice. If x is inserted into i after the reader has loaded i, and then its
//! alias y into j, the reader lists y without x.
//!
//! # Moves
//!
//! A move clears a slot that has exactly the bits that it copied. If it compared keys alone, it
//! could copy the value A, and then clear the slot of an alias with the value B: A would be there
//! twice, and B not at all.
//!
//! # Counts of keys
//!
//! `count`, `TooManyCopies`, limits on copies, and [`get_or_insert`](Table::get_or_insert) concern
//! the copies of a key, with any value. A replacement does not change their number, and the
//! argument for limits holds for keys. `get_or_insert` decides under the lock, as `insert_unique`
//! does. If it compared the values too, two calls with different values would both add the item.

use super::{Space, Table, Words, marked};

/// Largest number of slots of a pair, in layouts with values.
pub const MAX_CANDIDATES: usize = 12;

/// The values that were found for a key in one table, one for each slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    values: [u16; MAX_CANDIDATES],
    len: u8,
}

impl Candidates {
    #[inline]
    fn push(&mut self, value: u16) {
        self.values[usize::from(self.len)] = value;
        self.len += 1;
    }

    /// The values.
    #[must_use]
    pub fn as_slice(&self) -> &[u16] {
        &self.values[..self.len.into()]
    }
}

impl<S: Space> Table<S> {
    /// Returns the values of all slots that match an item: for every item with its locations that
    /// is in the table throughout the call, its value is among them. One that is moved meanwhile
    /// may come twice. The value of the item must be zero.
    #[must_use]
    pub fn candidates<L: Words<S>>(&self, item: S::Item) -> Candidates {
        loop {
            let (words, reading) = self.read::<L>(&item);
            // Even if there are matches: another value may have moved from one word to the other.
            if reading.is_valid() {
                let (mut candidates, mask) = (Candidates::default(), self.space.value_mask());
                for copy in marked::<L, S>(&self.space, words, L::marks(&self.space, &item, words))
                {
                    candidates.push((copy.slot & mask) as u16);
                }
                return candidates;
            }
            self.counters.lookup_retried();
        }
    }

    /// Returns whether a slot that matches the item has its value.
    #[must_use]
    pub fn contains_value<L: Words<S>>(&self, item: S::Item) -> bool {
        let sought = L::sought(&self.space, &item);
        let find = |words| L::changed(&self.space, &item, sought, words, None);
        self.look_up::<L, _>(&item, find).is_some()
    }
}
