//! Merging: adding the copies of another table, all of them or none.
//!
//! The other table is copied first, as a clone is, under its stripes. Then each fingerprint of the
//! copy is inserted into this table, as by any other insert, while nothing else is held. So two
//! merges in opposite directions do not wait for each other, and a table can be merged with itself.
//!
//! # Why a merge can be undone
//!
//! If a copy cannot be added, the merge removes as many copies of each pair as it has added. Each
//! of these removals is paid for by an insert of the same pair, which the merge itself made before
//! and which pays for no other removal: no caller is entitled to remove a merged item before the
//! merge has succeeded. So the contract of `remove` holds, and the removals need not take the very
//! copies that the merge added.
//!
//! The contract of `clear` needs care. A clear that overlaps the merge may have taken a copy that
//! the merge added, and the merge must not remove another one in its place: that might belong to an
//! alias that was inserted after the clear. So the stripes have one count of the clears. The merge
//! reads it under a lock before it adds anything, and again under the lock of each removal, and
//! does not remove if the count has changed. A clear holds all locks, and raises the count before
//! it clears a slot. If the count is unchanged, every clear either ended before the first insert of
//! the merge, or starts after the removal. If it has changed, copies may be left behind, as by any
//! insert that overlaps a clear.

use crate::InsertError;

/// What a merge did.
#[derive(Debug)]
pub struct Merged {
    /// The change of the number of copies. After a refusal it is zero, unless a clear overlapped
    /// the merge.
    pub change: i64,
    /// Whether all copies were added.
    pub outcome: Result<(), MergeRefusal>,
}

/// Why a merge was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRefusal {
    /// The system refused the memory for the copy.
    OutOfMemory,
    /// There was room for only some of the copies.
    Full {
        /// The copies that were added, and removed again.
        fitted: u64,
        /// All copies.
        items: u64,
    },
    /// There would be too many copies of one item.
    TooManyCopies,
    /// A slot does not tell any of its buckets in this table, which has grown further.
    Unknown,
}

impl From<InsertError> for MergeRefusal {
    fn from(error: InsertError) -> Self {
        match error {
            InsertError::Full | InsertError::Crowded | InsertError::FullyGrown => {
                Self::Full { fitted: 0, items: 0 }
            }
            InsertError::OutOfMemory => Self::OutOfMemory,
            // An insert without a life and without a new value has no other error.
            _ => Self::TooManyCopies,
        }
    }
}

impl Merged {
    /// The result of a merge for which there was no memory.
    pub(crate) fn out_of_memory() -> Self {
        Self { change: 0, outcome: Err(MergeRefusal::OutOfMemory) }
    }

    /// Adds all items, or removes again what it added. `each` calls a function with the number of
    /// every item and the item, until the function returns `false`. Each call of `each` passes the
    /// same items in the same order. `items` is their number.
    ///
    /// `undo` returns whether it removed a copy of an item. What comes after the first `items` is
    /// none.
    pub(crate) fn all_or_none<N, I>(
        items: u64,
        each: impl Fn(&mut dyn FnMut(N, I) -> bool),
        add: impl Fn(N, I) -> Result<(), MergeRefusal>,
        undo: impl Fn(N, I) -> bool,
    ) -> Self {
        let (mut added, mut error) = (0, None);
        each(&mut |number, item| {
            error = add(number, item).err();
            added += u64::from(error.is_none());
            error.is_none()
        });
        let Some(error) = error else {
            return Self { change: added.min(items) as i64, outcome: Ok(()) };
        };
        let (mut left, mut removed) = (added, 0);
        each(&mut |number, item| {
            let undone = left > 0 && undo(number, item);
            removed += i64::from(undone);
            left = left.saturating_sub(1);
            left > 0
        });
        let refusal = match error {
            MergeRefusal::Full { .. } => MergeRefusal::Full { fitted: added.min(items), items },
            refusal => refusal,
        };
        Self { change: added.min(items) as i64 - removed, outcome: Err(refusal) }
    }
}
