//! Values: the steps of a table that grows which read or replace what a slot holds beside the
//! fingerprint.
//!
//! `table/values.rs` has the argument, and this what is particular to slots that know less and less
//! of their items. Cores, and so buckets and stripes, do not depend on values.
//!
//! # Removals and replacements name the value
//!
//! The cover of `table/split/mod.rs` is one of items with their values: a slot covers an item if it
//! matches it and has its value. So `remove` takes the slot that knows most *of those that have the
//! value*. A replacement is a removal of the item with the old value and an insert of the item with
//! the new one, by one compare-and-swap after one bump. Let u be the slot whose value is replaced,
//! and v the one that is assigned to the item x before. If u is assigned to another item y, then y
//! takes v, as for a removal: u and v have the same value, and v knows no more than u. Afterwards u
//! has the new value, still matches x, and is assigned to it.
//!
//! # Lookups by key
//!
//! Consider the last round of a lookup of x by key that misses, with the version e, while x is in
//! the table throughout, with one value after another. Let v be the slot that is assigned to x
//! after the clearing or replacement with the number e. It was in its location before the bump to
//! e, possibly with another value: the holder of the lock had loaded it, or the insert of x had
//! added it before the lookup. No clearing with a number up to e took it, and none above e was
//! seen. So the load of its location shows it, before or after a replacement: a hit.
//!
//! `get` returns the value of the slot that knows most, of those that match in the two words that
//! it has read. A slot that knows more is less often that of an alias.
//!
//! # Splits
//!
//! A slot without a tail goes to both buckets with its value, and one of the two is a ghost. `count`
//! and `values` look at the two locations of an item, where a ghost of this item can only be if
//! both sides of the item begin in one bucket: see "Copies" in `table/split/mod.rs`. Such a ghost is
//! to the item what an alias is: if the item's value is replaced, the ghost keeps the old one, and
//! `get` may return it.

use super::{GrowingTable, Item, Seen};
use crate::{
    bucket::{Code, GrowingLayout, leveled::Found},
    table::{Candidates, Payload},
};

impl<P: Payload> GrowingTable<P> {
    /// Returns the value of a slot that matches the item, with any value, or `None` if there is
    /// none. Of several slots, it is the one that knows most.
    #[must_use]
    pub fn get<L: GrowingLayout>(&self, item: &Item) -> Option<u16> {
        // mutant: split-get-late-version, split-get-version-relaxed
        // mutant: split-get-words-relaxed, split-get-no-validation
        self.look_up::<L, _>(item, |seen| self.value_in::<L>(item, seen))
    }

    /// Returns whether a slot that matches the item has its value.
    #[must_use]
    pub fn contains_value<L: GrowingLayout>(&self, item: &Item) -> bool {
        // mutant: split-probe-late-version, split-probe-version-relaxed
        // mutant: split-probe-words-relaxed, split-probe-no-validation, split-probe-by-key
        let found = self.look_up::<L, _>(item, |seen| {
            Self::longest::<L>(item, seen, |word, code| {
                L::matches_with_value(word, code, self.value_bits())
            })
        });
        found.is_some()
    }

    /// Returns the values of all slots that match the item: for every item with its locations and
    /// extension that is in the table throughout the call, its value is among them. One that is
    /// moved meanwhile may come twice.
    #[must_use]
    pub fn candidates<L: GrowingLayout>(&self, item: &Item) -> Candidates {
        let stripe = self.stripe::<L>(item);
        loop {
            // mutant: split-values-late-version, split-values-version-relaxed
            let version = stripe.version();
            // mutant: split-values-words-relaxed
            let seen = self.load_both(item);
            // Even if there are matches: another value may have moved from one word to the other.
            // mutant: split-values-no-validation, split-values-unvalidated-match
            if stripe.validate(version) {
                let mut candidates = Candidates::default();
                for (Seen { word, .. }, mut marks) in
                    seen.into_iter().zip(self.marks_of::<L>(item, seen))
                {
                    while marks != 0 {
                        let slot = L::slot(word, marks.trailing_zeros() / L::WIDTH);
                        candidates.push(self.value_of(slot));
                        marks &= marks - 1;
                    }
                }
                return candidates;
            }
            self.counters.lookup_retried();
        }
    }

    /// Replaces the value of one slot that matches the item and has its value, the one that knows
    /// most. Returns whether there was one.
    #[must_use]
    pub fn replace<L: GrowingLayout>(&self, item: &Item, new: u16) -> bool {
        // mutant: split-replace-no-lock, split-replace-wrong-lock, split-replace-load-relaxed
        // mutant: split-replace-no-bump, split-replace-late-bump, split-replace-bump-relaxed
        // mutant: split-replace-not-again, split-replace-plain-store, split-replace-relaxed
        // mutant: split-replace-by-key, split-replace-not-stored
        self.clear_one::<L>(item, Some(new))
    }

    /// The value of the slot that matches the item, with any value, and knows most, in two words.
    #[inline]
    pub(super) fn value_in<L: GrowingLayout>(&self, item: &Item, seen: [Seen; 2]) -> Option<u16> {
        if self.value_bits() == 0 {
            return self.is_in::<L>(item, seen).then_some(0);
        }
        let marks = |word, code: Code| {
            // mutant: split-value-in-by-value
            L::matches(word, code, self.value_bits())
        };
        let (_, Found { slot, .. }) = Self::longest::<L>(item, seen, marks)?;
        Some(self.value_of(slot))
    }

    /// The value of a slot.
    #[inline]
    fn value_of(&self, slot: u64) -> u16 {
        (slot & self.value_mask()) as u16
    }

    /// A slot with another value.
    #[inline]
    pub(super) fn with_value(&self, slot: u64, value: u16) -> u64 {
        slot & !self.value_mask() | u64::from(value)
    }

    #[inline]
    fn value_mask(&self) -> u64 {
        (1 << self.value_bits()) - 1
    }
}
