//! Batches: their hashes, and their outcomes.

use core::{hash::BuildHasher, ops::ControlFlow};

use super::{InsertMask, Key};
use crate::{
    InsertError,
    batch_error::{Failed, MAX_BEGUN},
    table::{INTERLEAVED, MAX_BURST, ShardedCounter, Source},
};

/// The hashes of a batch.
pub(super) trait Batch: Sized {
    /// The number of hashes; of an iterator, the upper bound that it knows, or else `usize::MAX`.
    fn at_most(&self) -> usize;

    /// The hashes, one by one.
    fn hashes(self) -> impl Iterator<Item = u64>;

    /// Calls a function with the hashes in the form that the engine takes.
    fn with<R>(self, operation: impl FnOnce(Source<'_>) -> R) -> R;
}

/// A slice of keys, with the hasher of the filter.
pub(super) struct Keys<'a, K, S> {
    pub(super) keys: &'a [K],
    pub(super) hasher: &'a S,
}

impl<K: Key, S: BuildHasher> Batch for Keys<'_, K, S> {
    #[inline]
    fn at_most(&self) -> usize {
        self.keys.len()
    }

    #[inline]
    fn hashes(self) -> impl Iterator<Item = u64> {
        self.keys.iter().map(|key| key.hash_with(self.hasher).0)
    }

    #[inline]
    fn with<R>(self, operation: impl FnOnce(Source<'_>) -> R) -> R {
        match K::as_hashes(self.keys) {
            Some(hashes) => operation(Source::Slice(hashes)),
            None => Each(self.hashes()).with(operation),
        }
    }
}

/// Hashes that an iterator computes.
pub(super) struct Each<I>(pub(super) I);

impl<I: Iterator<Item = u64>> Batch for Each<I> {
    #[inline]
    fn at_most(&self) -> usize {
        self.0.size_hint().1.unwrap_or(usize::MAX)
    }

    #[inline]
    fn hashes(self) -> impl Iterator<Item = u64> {
        self.0
    }

    #[inline]
    fn with<R>(mut self, operation: impl FnOnce(Source<'_>) -> R) -> R {
        operation(Source::Blocks(&mut |block| {
            let hashes = block.iter_mut().zip(self.0.by_ref());
            hashes.map(|(place, hash)| *place = hash).count()
        }))
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

// A batch may have begun this many inserts when it must end.
const _: () = assert!(INTERLEAVED < MAX_BEGUN);

/// Inserts the items of a small batch one by one, as the outcomes are taken: whether an item was
/// added. Passes them to `note`, adds 1 to `count` for each item that was added, and calls `failed`
/// with the positions of those that failed, until it breaks.
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

/// Passes failures on, for the C interface, which writes them to arrays of the caller. A batch
/// whose failures take no memory does not end early.
pub(super) fn pass_on(
    mut failed: impl FnMut(usize, InsertError),
) -> impl FnMut(usize, InsertError) -> ControlFlow<()> {
    move |position, error| {
        failed(position, error);
        ControlFlow::Continue(())
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
    insert(added, &mut pass_on(|position, _| refused |= 1_u64 << position));
    InsertMask { added: mask(added), refused }
}

/// Panics if a batch's slices differ in length, as std's `copy_from_slice` does.
#[track_caller]
pub(super) fn check_lengths(items: usize, answers: usize) {
    assert!(
        items == answers,
        "a batch needs as many answers as keys: {items} keys, {answers} answers"
    );
}

/// Panics if a batch does not have one value for each item.
#[track_caller]
pub(super) fn check_values(items: usize, values: usize) {
    assert!(items == values, "a batch needs as many values as keys: {items} keys, {values} values");
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
