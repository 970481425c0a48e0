//! Expiry in a table that grows: lookups, and what `table/expiry/steps.rs` needs.
//!
//! `table/expiry/mod.rs` has the protocol and its argument. This is what is particular to buckets
//! that are split.
//!
//! # Splits
//!
//! A split reads the generation under its lock, and carries over nothing that has expired: it is a
//! sweep of the parent and its child. The next sweep of all buckets begins after the splitter's
//! lock was passed, and finds what has expired since.
//!
//! # Sweeps of all buckets
//!
//! A sweep of all buckets ends at the bucket at which the table ended when it began, or was about
//! to. When it has swept a bucket below the end, it sweeps those buckets from the end on that were
//! split off from it, and what was split off from them: the levels in their words tell. Say that a
//! bucket from the end on exists when the sweep is complete. It descends from one below the end.
//! Follow the line from there. Where the sweep reached a bucket of the line, it found the next one
//! as its child, unless that was split off later. In that case, all that came to it came from a
//! word that this sweep had reached, and what had expired when it began is no longer there.
//!
//! # Moves
//!
//! If the original is swept between the two halves of a move, the copy remains, as in a table of a
//! fixed size. If its bucket was also split, and its tail ran out, some of its copies may have been
//! swept and others not. Those that are left are cleared. The copy on the other side counts as one
//! slot more only if all were swept.
//!
//! # Ghosts
//!
//! A ghost expires like any other slot, and a sweep cannot tell it from one. So a ghost counts as
//! an item. The number of items that follows is an upper bound, but for items that share a slot
//! after a refresh, which count once.

use super::{GrowingTable, GrowingWords};
use crate::bucket::leveled::level;

impl GrowingTable {
    /// Sweeps a bucket in the generation `now`, which was read under a lock that is still held, and
    /// those buckets from `end` on that were split off from it.
    pub(super) fn sweep_family(&self, now: u64, bucket: u32, end: u64) {
        let word = self.sweep_one::<GrowingWords>(now, bucket);
        for at in (0..level(word)).rev() {
            let (bucket, round) = (u64::from(bucket), self.addressing.first() << at);
            // The child of this level is below the end, or the bucket itself is not older.
            if bucket >= round || bucket + round < end {
                break;
            }
            self.sweep_family(now, (bucket + round) as u32, end);
        }
    }
}
