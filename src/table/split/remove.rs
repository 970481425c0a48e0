//! Removal and replacement: the slot that matches the item, has its value, and knows most of it.

use super::{GrowingTable, Item, Seen};
use crate::{
    bucket::{
        Code, GrowingLayout,
        leveled::{Found, level},
    },
    sync::{Relaxed, Release},
    table::Payload,
};

impl<P: Payload> GrowingTable<P> {
    /// Removes one copy of an item: of the slots that match it and have its value, the one that
    /// knows most bits. Returns whether there was one.
    #[must_use]
    pub fn remove<L: GrowingLayout>(&self, item: &Item) -> bool {
        // mutant: split-remove-by-key
        let removed = self.clear_one::<L>(item, None);
        if removed {
            // A removal makes no table grow, so nothing has to be checked.
            // mutant: split-remove-uncounted
            let _ = self.occupancy.count(-1);
        }
        removed
    }

    /// As [`remove`](Self::remove), without counting. Stores a value in place of the item's, if
    /// there is one.
    pub(super) fn clear_one<L: GrowingLayout>(&self, item: &Item, value: Option<u16>) -> bool {
        // mutant: split-remove-no-lock, split-remove-wrong-lock
        let guard = self.stripe::<L>(item).lock();
        let changed = |word, lane| match value {
            None => L::without(word, lane),
            Some(value) => L::replace(word, lane, self.with_value(L::slot(word, lane), value)),
        };
        let mut bumped = false;
        loop {
            // Acquire: the removal happens after the insert of a copy that it found.
            // mutant: split-remove-load-relaxed
            let seen = self.load_both_to_change(item);
            let marks = |word, code| L::matches_with_value(word, code, self.value_bits());
            let longest = Self::longest::<L>(item, seen, marks);
            let Some((Seen { bucket, word }, Found { lane, .. })) = longest else {
                debug_assert!(!bumped, "only the holder of its stripe clears a slot");
                return false;
            };
            // mutant: split-remove-no-bump, split-remove-late-bump
            if !bumped {
                // mutant: split-remove-bump-relaxed
                guard.bump();
                bumped = true;
            }
            let new = changed(word, lane);
            // Release: pairs with the Acquire of whoever loads the word: a lookup that sees the
            // slot cleared sees the version bumped. Relaxed on failure: both locations are found
            // again, since the bucket may have been split.
            // mutant: split-remove-not-again, split-remove-plain-store
            if self.bucket(bucket).compare_exchange(word, new, Release, Relaxed).is_ok() {
                return true;
            }
        }
    }

    /// The slot that knows most bits, of those that `marks` marks as matches of a code, in either
    /// of two words.
    #[inline]
    pub(super) fn longest<L: GrowingLayout>(
        item: &Item,
        seen: [Seen; 2],
        marks: impl Fn(u64, Code) -> u64,
    ) -> Option<(Seen, Found)> {
        let found = |index: usize| {
            let (Seen { word, .. }, code) = (seen[index], item.sides[index].code);
            let longest = L::longest(word, marks(word, code))?;
            // The bits that the number of the bucket tells, and the length of the slot.
            Some((level(word) + longest.slot.ilog2(), (seen[index], longest)))
        };
        match (found(0), found(1)) {
            // mutant: split-remove-shorter-side
            (Some((first, _)), Some((second, longest))) if first < second => Some(longest),
            (Some((_, longest)), _) | (None, Some((_, longest))) => Some(longest),
            (None, None) => None,
        }
    }
}
