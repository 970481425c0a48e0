//! Batches: their hashes, and their outcomes.

use core::{cell::Cell, ops::ControlFlow};

use super::InsertMask;
use crate::{
    InsertBatchError, InsertError,
    error::batch::{Failed, Failures},
    table::{MAX_BURST, ShardedCounter, Source},
};

/// The hashes of a batch.
pub(super) struct Batch<'a, I> {
    /// All of them, if they are in a slice.
    pub(super) slice: Option<&'a [u64]>,
    /// The hashes, one by one.
    pub(super) each: I,
}

impl<I: Iterator<Item = u64>> Batch<'_, I> {
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

/// The values of the items of a batch.
#[derive(Clone, Copy)]
pub(crate) enum BatchValues<'a> {
    /// All items have this one.
    All(u16),
    /// Each item has its own.
    Each(&'a [u16]),
    /// The stamps of generations that are current as the items are added.
    Stamps,
}

impl BatchValues<'_> {
    /// The value of the item at a position.
    #[inline]
    pub(super) fn of(self, position: usize) -> u16 {
        match self {
            Self::All(value) => value,
            Self::Each(values) => values[position],
            // The engine knows the clock.
            Self::Stamps => 0,
        }
    }
}

/// A change of the number of items. It reaches the counter when it is dropped, even if the hashing
/// of a later item panics.
pub(super) struct CountChange<'a> {
    /// The counter, unless the table counts its slots.
    pub(super) counter: Option<&'a ShardedCounter>,
    /// 1 or -1.
    pub(super) sign: i64,
    pub(super) items: usize,
}

impl Drop for CountChange<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(counter) = self.counter {
            counter.add(self.sign * self.items as i64);
        }
    }
}

/// What becomes of the inserts of a batch. Each is told here before a later one can panic.
pub(crate) struct Outcomes<'a> {
    /// Whether each item was added. Empty if nobody asks.
    added: &'a mut [bool],
    /// How many items were added.
    change: CountChange<'a>,
    failed: &'a mut Failed<'a>,
    /// Whether the batch ends early: see [`Failed`].
    ended: Cell<bool>,
}

impl<'a> Outcomes<'a> {
    /// Those of a batch before its first insert: nothing is added.
    fn new(
        added: &'a mut [bool],
        counter: Option<&'a ShardedCounter>,
        failed: &'a mut Failed<'a>,
    ) -> Self {
        added.fill(false);
        let change = CountChange { counter, sign: 1, items: 0 };
        Self { added, change, failed, ended: Cell::new(false) }
    }

    /// How many items were added.
    pub(super) fn count(&self) -> usize {
        self.change.items
    }

    /// Whether no further insert is to begin.
    #[inline]
    pub(super) fn ended(&self) -> bool {
        self.ended.get()
    }

    /// Takes the outcome of an insert: whether the item was absent, and has been added.
    #[inline]
    pub(super) fn take(&mut self, position: usize, outcome: Result<bool, InsertError>) {
        match outcome {
            Ok(added) => {
                if let Some(place) = self.added.get_mut(position) {
                    *place = added;
                }
                self.change.items += usize::from(added);
            }
            Err(error) => self.fail(position, error),
        }
    }

    #[cold]
    fn fail(&mut self, position: usize, error: InsertError) {
        self.ended.set((self.failed)(position, error).is_break());
    }

    /// Returns [whether the batch has ended](Self::ended), and a function that takes the outcomes
    /// of inserts for which nobody asks one by one. It is made once for a batch, not for each item.
    #[inline]
    pub(super) fn taking(&mut self) -> (&Cell<bool>, impl FnMut(usize, Result<(), InsertError>)) {
        let (count, failed, ended) = (&mut self.change.items, &mut self.failed, &self.ended);
        (ended, |position, outcome| match outcome {
            Ok(()) => *count += 1,
            Err(error) => ended.set(failed(position, error).is_break()),
        })
    }
}

/// Takes the outcomes of the inserts of a small batch, as they are made one by one: whether each
/// item was absent, and has been added. Then its place in `added` is set, if there is one.
/// Otherwise as [`insert_batch`].
#[inline]
pub(super) fn insert_few(
    added: &mut [bool],
    counter: Option<&ShardedCounter>,
    outcomes: impl Iterator<Item = Result<bool, InsertError>>,
) -> Result<usize, InsertBatchError> {
    let (mut change, mut failures) = (CountChange { counter, sign: 1, items: 0 }, None::<Failures>);
    // In case the hashing of a key panics.
    added.fill(false);
    for (position, outcome) in outcomes.enumerate() {
        match outcome {
            Ok(is_added) => {
                if let Some(place) = added.get_mut(position) {
                    *place = is_added;
                }
                change.items += usize::from(is_added);
            }
            Err(error) => {
                if failures.get_or_insert_default().add(position, error).is_break() {
                    break;
                }
            }
        }
    }
    failures.map_or(Ok(change.items), |failures| failures.check(change.items, added.len()))
}

/// As [`insert_few`], for a burst.
#[inline]
pub(super) fn insert_few_of_burst(
    counter: Option<&ShardedCounter>,
    outcomes: impl Iterator<Item = Result<bool, InsertError>>,
) -> InsertMask {
    let mut change = CountChange { counter, sign: 1, items: 0 };
    let (mut added, mut refused) = (0_u64, 0_u64);
    for (position, outcome) in outcomes.enumerate() {
        let is_added = outcome == Ok(true);
        change.items += usize::from(is_added);
        added |= u64::from(is_added) << position;
        refused |= u64::from(outcome.is_err()) << position;
    }
    InsertMask { added, refused }
}

/// Calls `insert` with the outcomes of a batch, which it takes: of one answer for each item in
/// `added`, or of none. Returns the number of items that were added.
pub(super) fn insert_batch(
    added: &mut [bool],
    counter: Option<&ShardedCounter>,
    insert: impl FnOnce(&mut Outcomes<'_>),
) -> Result<usize, InsertBatchError> {
    let (unique, mut failures) = (added.len(), Failures::default());
    let mut failed = |position, reason| failures.add(position, reason);
    let mut outcomes = Outcomes::new(added, counter, &mut failed);
    insert(&mut outcomes);
    let count = outcomes.count();
    drop(outcomes);
    failures.check(count, unique)
}

/// As [`insert_batch`], for a burst of items, each of which is inserted if it is absent, in order.
pub(super) fn insert_burst(
    items: usize,
    counter: Option<&ShardedCounter>,
    insert: impl FnOnce(&mut Outcomes<'_>),
) -> InsertMask {
    let (mut added, mut refused) = ([false; MAX_BURST], 0_u64);
    let mut failed = |position, _| {
        refused |= 1_u64 << position;
        ControlFlow::Continue(())
    };
    insert(&mut Outcomes::new(&mut added[..items], counter, &mut failed));
    InsertMask { added: mask(&added[..items]), refused }
}

/// Panics if a batch does not have one answer, or one value, for each key, as std's
/// `copy_from_slice` does.
#[inline]
#[track_caller]
pub(super) fn check_lengths(keys: usize, what: &str, len: usize) {
    assert!(keys == len, "a batch needs as many {what} as keys: {keys} keys, {len} {what}");
}

/// Panics if a burst has more items than a mask has bits.
#[inline]
#[track_caller]
pub(super) fn check_burst(items: usize) {
    assert!(items <= MAX_BURST, "a mask has at most 64 keys, not {items}");
}

/// Returns the answers of a burst as a mask: bit `i` is the `i`-th answer.
fn mask(answers: &[bool]) -> u64 {
    answers.iter().rev().fold(0, |mask, &answer| mask << 1 | u64::from(answer))
}
