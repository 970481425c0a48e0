//! The limit on copies that a full pair of buckets sets.

use super::{FixedTable, FixedWords, Pair, Space, Words};

impl FixedTable {
    /// Counts the copies without the lock: an estimate, since a copy that is being moved can count
    /// twice or not at all.
    #[inline]
    fn estimate_copies(&self, pair: Pair) -> usize {
        let sought = <FixedWords>::sought(&self.space, &pair);
        <FixedWords>::copies_in(&self.space, &pair, sought, self.load_both_to_change(&pair))
    }

    /// Returns whether the number of copies has reached `limit`.
    ///
    /// An unlocked pre-check comes first, so that only likely failures take the lock. If a copy is
    /// being moved meanwhile, the pre-check can miss it, and a search for room follows.
    #[inline]
    fn has_reached(&self, pair: Pair, limit: usize) -> bool {
        self.estimate_copies(pair) >= limit && {
            let sought = <FixedWords>::sought(&self.space, &pair);
            let guard = self.stripe::<FixedWords>(&pair).lock();
            self.count_locked::<FixedWords>(&guard, &pair, sought) >= limit
        }
    }

    /// Returns whether both buckets held only copies of the pair's fingerprint, at one moment.
    pub(super) fn holds_only_copies(&self, pair: Pair) -> bool {
        let [first, second] = pair.buckets;
        let slots = self.slots.count() as usize;
        self.has_reached(pair, if first == second { slots } else { 2 * slots })
    }
}
