//! What became of the items of a batch.

use alloc::vec::Vec;

use crate::{InsertBatchError, InsertError, counter::ShardedCounter};

/// A change of the number of items that reaches the counter when it is dropped, so also when the
/// hashing of a later item of the batch panics.
pub(crate) struct Tallied<'a> {
    pub(crate) items: &'a ShardedCounter,
    pub(crate) change: i64,
}

impl Drop for Tallied<'_> {
    fn drop(&mut self) {
        self.items.add(self.change);
    }
}

/// What became of the items of a batch that adds.
pub(crate) struct Additions<'a> {
    added: Tallied<'a>,
    failures: Vec<(usize, InsertError)>,
}

impl<'a> Additions<'a> {
    pub(crate) fn new(items: &'a ShardedCounter) -> Self {
        Self { added: Tallied { items, change: 0 }, failures: Vec::new() }
    }

    /// Takes down the outcome of one item, and returns whether it was added.
    pub(crate) fn note(&mut self, position: usize, outcome: Result<bool, InsertError>) -> bool {
        match outcome {
            Ok(added) => {
                self.added.change += i64::from(added);
                added
            }
            Err(reason) => {
                self.failures.push((position, reason));
                false
            }
        }
    }

    pub(crate) fn finish(self) -> Result<usize, InsertBatchError> {
        InsertBatchError::check(self.added.change.unsigned_abs() as usize, self.failures)
    }
}

/// Panics where a batch's slices differ in length, as std's `copy_from_slice` does.
#[track_caller]
pub(crate) fn check_lengths(items: usize, answers: usize) {
    assert!(
        items == answers,
        "a batch needs as many answers as items: {items} items, {answers} answers"
    );
}

/// Panics where a burst has more items than a mask has bits.
#[track_caller]
pub(crate) fn check_mask(items: usize) {
    assert!(items <= 64, "a mask has room for 64 answers, not for {items}");
}
