//! The limit on copies that a full pair of buckets sets.

use super::{FixedTable, Pair, Payload, Space, Words};
use crate::bucket::BucketLayout;

/// The number of slots in a pair's buckets: the limit on copies in a table.
fn slots_of<L: BucketLayout>(pair: Pair) -> usize {
    let [first, second] = pair.buckets;
    (if first == second { L::SLOTS } else { 2 * L::SLOTS }) as usize
}

impl<P: Payload> FixedTable<P> {
    /// Counts the copies without the lock: an estimate, since a copy that is being moved can count
    /// twice or not at all.
    #[inline]
    fn estimate_copies<L: BucketLayout>(&self, pair: Pair) -> usize {
        L::copies_in(&self.space, &pair, self.load_both_to_change(&pair))
    }

    /// Returns whether the number of copies has reached `limit`.
    ///
    /// An unlocked pre-check comes first, so that only likely failures take the lock. If a copy is
    /// being moved meanwhile, the pre-check can miss it, and a search for room follows.
    #[inline]
    fn has_reached<L: BucketLayout>(&self, pair: Pair, limit: usize) -> bool {
        self.estimate_copies::<L>(pair) >= limit && {
            let guard = self.stripe::<L>(&pair).lock();
            self.count_locked::<L>(&guard, &pair) >= limit
        }
    }

    /// Returns whether both buckets held only copies of the pair's fingerprint, at one moment.
    pub(super) fn holds_only_copies<L: BucketLayout>(&self, pair: Pair) -> bool {
        self.has_reached::<L>(pair, slots_of::<L>(pair))
    }
}
