//! Batches: their hashes, and their outcomes.

use core::ops::ControlFlow;

use super::InsertMask;
use crate::{
    InsertError,
    error::batch::Failed,
    table::{MAX_BURST, MIN_BATCH, ShardedCounter, Source},
};

/// The hashes of a batch.
pub(super) struct Batch<'a, I> {
    /// All of them, if they are in a slice.
    pub(super) slice: Option<&'a [u64]>,
    /// The hashes, one by one.
    pub(super) each: I,
}

impl<I: Iterator<Item = u64>> Batch<'_, I> {
    /// Returns whether the batch is so small that its items are processed one by one.
    #[inline]
    pub(super) fn is_small(&self) -> bool {
        self.each.size_hint().1.is_some_and(|most| most < MIN_BATCH)
    }

    /// Calls a function with the hashes in the form that the engine takes.
    #[inline]
    pub(super) fn with<R>(mut self, operation: impl FnOnce(Source<'_>) -> R) -> R {
        match self.slice {
            Some(hashes) => operation(Source::Slice(hashes)),
            None => operation(Source::Blocks(&mut |block| {
                let hashes = block.iter_mut().zip(self.each.by_ref());
                hashes.map(|(place, hash)| *place = hash).count()
            })),
        }
    }
}

/// A change of the number of items. It reaches the counter when it is dropped, even if the hashing
/// of a later item panics.
pub(super) struct CountChange<'a> {
    counter: &'a ShardedCounter,
    /// 1 or -1.
    sign: i64,
    pub(super) items: usize,
}

impl<'a> CountChange<'a> {
    pub(super) fn additions(counter: &'a ShardedCounter) -> Self {
        Self { counter, sign: 1, items: 0 }
    }

    pub(super) fn removals(counter: &'a ShardedCounter) -> Self {
        Self { counter, sign: -1, items: 0 }
    }
}

impl Drop for CountChange<'_> {
    fn drop(&mut self) {
        self.counter.add(self.sign * self.items as i64);
    }
}

/// Inserts the items of a small batch one by one, as the outcomes are taken: whether an item was
/// added. Passes them to `note`. For the rest see [`Failed`].
#[inline]
pub(super) fn insert_singly(
    outcomes: impl Iterator<Item = Result<bool, InsertError>>,
    mut note: impl FnMut(usize, bool),
    count: &mut usize,
    failed: &mut Failed<'_>,
) {
    for (position, outcome) in outcomes.enumerate() {
        match outcome {
            Ok(added) => {
                note(position, added);
                *count += usize::from(added);
            }
            Err(error) if failed(position, error).is_break() => break,
            Err(_) => {}
        }
    }
}

/// Inserts each item of a burst if it is absent, in order. `insert` writes which items were added,
/// and passes on those that failed.
#[track_caller]
pub(super) fn unique_burst(
    items: usize,
    insert: impl FnOnce(&mut [bool], &mut Failed<'_>),
) -> InsertMask {
    check_burst(items);
    let (mut added, mut refused) = ([false; MAX_BURST], 0_u64);
    let added = &mut added[..items];
    insert(added, &mut |position, _| {
        refused |= 1_u64 << position;
        ControlFlow::Continue(())
    });
    InsertMask { added: mask(added), refused }
}

/// Panics if a batch does not have one answer, or one value, for each key, as std's
/// `copy_from_slice` does.
#[track_caller]
pub(super) fn check_lengths(keys: usize, what: &str, len: usize) {
    assert!(keys == len, "a batch needs as many {what} as keys: {keys} keys, {len} {what}");
}

/// Panics if a burst has more items than a mask has bits.
#[track_caller]
pub(super) fn check_burst(items: usize) {
    assert!(items <= MAX_BURST, "a mask has at most 64 keys, not {items}");
}

/// Returns the answers of a burst as a mask: bit `i` is the `i`-th answer.
fn mask(answers: &[bool]) -> u64 {
    answers.iter().rev().fold(0, |mask, &answer| mask << 1 | u64::from(answer))
}
