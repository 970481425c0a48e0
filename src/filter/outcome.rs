//! The outcomes of operations on many items: counts, errors and masks.

use core::ops::ControlFlow;

use super::engine::Failed;
use crate::{
    InsertBatchError,
    batch_error::{Failures, MAX_BEGUN},
    table::{INTERLEAVED, MAX_BURST, ShardedCounter},
};

/// The outcomes of [`insert_unique_mask`](crate::Filter::insert_unique_mask): bit `i` is for the
/// `i`-th item.
///
/// An item whose bit is set in neither mask was found: the caller owns no copy of it, and must not
/// remove one.
///
/// ```
/// let filter = guira::CuckooFilter::with_capacity(10);
/// filter.insert(&5).unwrap();
/// let outcome = filter.insert_unique_mask(&[4, 5, 6]);
/// assert_eq!((outcome.added, outcome.refused), (0b101, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[must_use = "items that were refused are not in the filter"]
#[non_exhaustive]
pub struct InsertMask {
    /// The items that were absent and have been added.
    pub added: u64,
    /// The items that were absent and could not be added, because the filter is full or the system
    /// refuses the memory for another segment.
    pub refused: u64,
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

// A batch may have begun this many inserts when it must end.
const _: () = assert!(INTERLEAVED < MAX_BEGUN);

/// The outcome of inserting a batch. `insert` passes on the items that failed, and returns the
/// number of those that were added.
pub(super) fn batch(
    insert: impl FnOnce(&mut Failed<'_>) -> usize,
) -> Result<usize, InsertBatchError> {
    let mut failures = Failures::default();
    let count = insert(&mut |position, error| failures.add(position, error));
    failures.check(count)
}

/// The outcome of inserting each item of a batch if it is absent, in order. `insert` writes which
/// items were added, passes on those that failed, and returns the number of those that were added.
#[track_caller]
pub(super) fn unique_batch(
    items: usize,
    added: &mut [bool],
    insert: impl FnOnce(&mut [bool], &mut Failed<'_>) -> usize,
) -> Result<usize, InsertBatchError> {
    check_lengths(items, added.len());
    // Until they are added.
    added.fill(false);
    let mut failures = Failures::default();
    let count = insert(added, &mut |position, error| failures.add(position, error));
    failures.check_unique(count, items)
}

/// As [`unique_batch`], for a burst.
#[track_caller]
pub(super) fn unique_burst(
    items: usize,
    insert: impl FnOnce(&mut [bool], &mut Failed<'_>),
) -> InsertMask {
    let (mut added, mut refused) = ([false; MAX_BURST], 0_u64);
    let added = burst(&mut added, items);
    insert(added, &mut |position, _| {
        refused |= 1_u64 << position;
        ControlFlow::Continue(())
    });
    InsertMask { added: mask(added), refused }
}

/// Panics if a batch's slices differ in length, as std's `copy_from_slice` does.
#[track_caller]
pub(super) fn check_lengths(items: usize, answers: usize) {
    assert!(
        items == answers,
        "a batch needs as many answers as items: {items} items, {answers} answers"
    );
}

/// Panics if a batch does not have one value for each item.
#[track_caller]
pub(super) fn check_values(items: usize, values: usize) {
    assert!(
        items == values,
        "a batch needs as many values as items: {items} items, {values} values"
    );
}

/// Panics if a burst has more items than a mask has bits.
#[track_caller]
pub(super) fn check_burst(items: usize) {
    assert!(items <= MAX_BURST, "a burst has at most 64 items, not {items}");
}

/// Returns the places for the answers of a burst.
#[track_caller]
pub(super) fn burst(answers: &mut [bool; MAX_BURST], items: usize) -> &mut [bool] {
    check_burst(items);
    &mut answers[..items]
}

/// Returns the answers of a burst as a mask: bit `i` is the `i`-th answer.
pub(super) fn mask(answers: &[bool]) -> u64 {
    answers.iter().rev().fold(0, |mask, &answer| mask << 1 | u64::from(answer))
}
