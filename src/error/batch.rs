//! The error of a batch of inserts: which items failed, and why.

use alloc::vec::Vec;
use core::{error::Error, fmt, ops::ControlFlow};

use arrayvec::ArrayVec;

use crate::InsertError;

/// The items of a batch that were not inserted, and how far the batch came.
///
/// The list takes memory, which a batch requests when its first item fails, and again when the list
/// grows. If the system refuses it, the batch tries no further items. So there are two cases:
///
/// - **All items were tried** ([`is_complete`](Self::is_complete)). Those that are not among the
///   [`failures`](Self::failures) are in the filter.
/// - **The batch ended early.** The same holds for the items before the position
///   [`tried`](Self::tried). Nothing was done for the others, from this position on.
///
/// ```
/// let filter = guira::CuckooFilter::with_capacity(100);
/// let items = ["ani"; 1_000];
/// if let Err(error) = filter.insert_batch(&items) {
///     for (position, reason) in error.failures() {
///         println!("item {position}: {reason}");
///     }
///     let rest = &items[error.tried()..]; // Empty, unless memory is short.
///     assert!(rest.is_empty() || !error.is_complete());
/// }
/// # assert!(filter.insert_batch(&["ani"]).is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct InsertBatchError {
    list: List,
    added: usize,
    tried: usize,
}

/// The failures, in ascending order of their positions.
#[derive(Clone, PartialEq, Eq, Hash)]
enum List {
    /// With whether all items were tried.
    Many(Vec<(usize, InsertError)>, bool),
    /// The batch ended early.
    Few(Few),
}

/// Inserts that a batch may have begun when the system refuses the memory for the list: those that
/// search for room together, and one more.
pub(crate) const MAX_BEGUN: usize = 17;

/// Failures that the debug output shows.
const MAX_SHOWN: usize = 8;

/// Failures without memory of their own, so small that the error is not large.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Few {
    first: usize,
    /// Distances to the first position, or [`LAST`].
    offsets: [u32; MAX_BEGUN],
    reasons: [InsertError; MAX_BEGUN],
    len: u8,
}

/// Stands for the last position that was tried. Only this one can be so far from the others: see
/// `MAX_DISTANCE` in `table/fixed/room/pending.rs`.
const LAST: u32 = u32::MAX;

// Clippy advises against errors of 128 bytes and more.
const _: () = assert!(size_of::<InsertBatchError>() < 128);

impl InsertBatchError {
    /// Returns the positions in the batch of the items that were not inserted, in ascending order,
    /// each with the reason.
    ///
    /// ```
    /// use guira::InsertError;
    ///
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// let error = filter.insert_batch(&["ani"; 1_000]).unwrap_err();
    /// assert!(error.failures().all(|(_, reason)| reason == InsertError::TooManyCopies));
    /// assert_eq!(error.failures().len(), 1_000 - error.added());
    /// assert_eq!((error.added(), error.tried()), (filter.len(), 1_000));
    /// ```
    #[must_use]
    pub fn failures(
        &self,
    ) -> impl DoubleEndedIterator<Item = (usize, InsertError)> + ExactSizeIterator + Clone {
        let len = match &self.list {
            List::Many(list, _) => list.len(),
            List::Few(few) => few.len.into(),
        };
        (0..len).map(|place| match &self.list {
            List::Many(list, _) => list[place],
            List::Few(few) => few.get(place, self.tried),
        })
    }

    /// Returns the number of items that the call added.
    #[must_use]
    pub fn added(&self) -> usize {
        self.added
    }

    /// Returns the number of items that were tried: the first ones of the batch.
    #[must_use]
    pub fn tried(&self) -> usize {
        self.tried
    }

    /// Returns whether the batch did not end early. If this is `false`, the system refused the
    /// memory for a longer list, and no items after the first [`tried`](Self::tried) ones were
    /// tried, if there are any.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self.list, List::Many(_, true))
    }
}

impl Few {
    /// The list of failures in ascending order, of which there is at least one.
    fn new(failures: &[(usize, InsertError)], tried: usize) -> Self {
        let first = failures[0].0;
        let (mut offsets, mut reasons) = ([0; MAX_BEGUN], [InsertError::Full; MAX_BEGUN]);
        for (place, &(position, reason)) in failures.iter().enumerate() {
            let offset = u32::try_from(position - first).unwrap_or(LAST);
            debug_assert!(offset < LAST || position + 1 == tried, "too far from the first");
            (offsets[place], reasons[place]) = (offset, reason);
        }
        Self { first, offsets, reasons, len: failures.len() as u8 }
    }

    fn get(&self, place: usize, tried: usize) -> (usize, InsertError) {
        let position = match self.offsets[place] {
            LAST => tried - 1,
            offset => self.first + offset as usize,
        };
        (position, self.reasons[place])
    }
}

/// Receives the position of an insert that failed, and its error. Breaks if the batch must end
/// early: then inserts that were begun are completed, and no others begun.
///
/// Whoever takes this calls it for each item of a batch that fails, and returns the number of those
/// that were added, or adds 1 for each of them to `count`, before a later one can panic. `added`
/// tells which they are; the rest of it stays as it was.
pub(crate) type Failed<'a> = dyn FnMut(usize, InsertError) -> ControlFlow<()> + 'a;

/// The failures of a batch while it runs, in any order. They take memory once there is one.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    many: Vec<(usize, InsertError)>,
    /// All failures, if the system refused the memory for the first one.
    few: ArrayVec<(usize, InsertError), MAX_BEGUN>,
    /// Whether the system refused memory, so that no further items are tried.
    ended: bool,
}

impl Failures {
    /// The outcome of a batch: `insert` passes on the items that failed, and returns the number of
    /// those that were added. Every item that it tries is added or fails.
    pub(crate) fn of(
        insert: impl FnOnce(&mut Failed<'_>) -> usize,
    ) -> Result<(), InsertBatchError> {
        let mut failures = Self::default();
        let added = insert(&mut failures.adding());
        let tried = added + failures.many.len() + failures.few.len();
        failures.check(added, tried).map(drop)
    }

    /// A function that adds failures.
    pub(crate) fn adding(&mut self) -> impl FnMut(usize, InsertError) -> ControlFlow<()> {
        |position, reason| self.add(position, reason)
    }

    /// Adds a failure. Breaks if there is no room for the failures that another item could cause:
    /// then the batch may only complete the inserts that it has begun.
    #[cold]
    fn add(&mut self, position: usize, reason: InsertError) -> ControlFlow<()> {
        if !self.ended {
            // This one, and what has been begun when the next one fails.
            self.ended = self.many.try_reserve(1 + MAX_BEGUN).is_err();
        }
        if self.many.capacity() > 0 {
            self.many.push((position, reason));
        } else {
            self.few.push((position, reason));
        }
        if self.ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Returns the number of items added, or the error if any failed. The batch has so many items,
    /// which were tried one after the other. Some of them may have been found.
    pub(crate) fn check_unique(
        self,
        added: usize,
        items: usize,
    ) -> Result<usize, InsertBatchError> {
        let last = self.many.last().or(self.few.last());
        let tried = last.filter(|_| self.ended).map_or(items, |&(position, _)| position + 1);
        self.check(added, tried)
    }

    fn check(mut self, added: usize, tried: usize) -> Result<usize, InsertBatchError> {
        if self.many.is_empty() && self.few.is_empty() {
            return Ok(added);
        }
        let list = if self.few.is_empty() {
            self.many.sort_unstable_by_key(|&(position, _)| position);
            List::Many(self.many, !self.ended)
        } else {
            self.few.sort_unstable_by_key(|&(position, _)| position);
            List::Few(Few::new(&self.few, tried))
        };
        Err(InsertBatchError { list, added, tried })
    }
}

#[expect(clippy::missing_fields_in_debug, reason = "the failures are the list")]
impl fmt::Debug for InsertBatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The first failures, as a list. All of a large batch would fill a log.
        struct Listed<'a>(&'a InsertBatchError);

        impl fmt::Debug for Listed<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut failures = self.0.failures();
                let mut list = f.debug_list();
                list.entries(failures.by_ref().take(MAX_SHOWN));
                if failures.len() == 0 { list.finish() } else { list.finish_non_exhaustive() }
            }
        }

        f.debug_struct("InsertBatchError")
            .field("failures", &Listed(self))
            .field("added", &self.added)
            .field("tried", &self.tried)
            .field("is_complete", &self.is_complete())
            .finish()
    }
}

impl fmt::Display for InsertBatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (items, tried) = (self.failures().len(), self.tried);
        let of = if self.is_complete() { "the batch's" } else { "the batch's first" };
        write!(f, "{items} of {of} {tried} items could not be inserted")?;
        let reasons = [
            ("filter full", InsertError::Full),
            ("too many copies", InsertError::TooManyCopies),
            ("value too large", InsertError::ValueTooLarge),
            ("out of memory", InsertError::OutOfMemory),
            ("at `max_capacity`", InsertError::MaxCapacity),
            ("fully grown", InsertError::FullyGrown),
        ];
        let mut separator = " (";
        for (name, wanted) in reasons {
            let count = self.failures().filter(|&(_, reason)| reason == wanted).count();
            if count > 0 {
                write!(f, "{separator}{name}: {count}")?;
                separator = ", ";
            }
        }
        f.write_str(if self.is_complete() {
            "): `failures` lists them"
        } else {
            "), and there was no memory to list more: free some, and insert the others"
        })
    }
}

impl Error for InsertBatchError {}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::{Few, InsertBatchError, List, MAX_BEGUN, MAX_SHOWN};
    use crate::InsertError;

    #[test]
    fn the_text_counts_each_reason_and_the_debug_output_is_short() {
        let failed = |len: usize| {
            let mut failures = vec![(0, InsertError::Full); len];
            failures[1].1 = InsertError::MaxCapacity;
            InsertBatchError { list: List::Many(failures, true), added: 3, tried: len + 3 }
        };
        let text = "8 of the batch's 11 items could not be inserted (filter full: 7, at \
                    `max_capacity`: 1): `failures` lists them";
        assert_eq!(failed(8).to_string(), text);
        let shown = |len| format!("{:?}", failed(len)).matches("(0, ").count();
        assert_eq!([8, 9, 1_000].map(shown), [MAX_SHOWN; 3]);
        assert!(format!("{:?}", failed(9)).contains("(0, Full), ..], added: 3, tried: 12, "));
        assert!(format!("{:?}", failed(8)).contains("(0, Full)], added: 3, tried: 11, "));
    }

    #[test]
    fn a_short_list_needs_no_memory_for_far_positions() {
        let full = |position| (position, InsertError::Full);
        let near: Vec<_> = (0..MAX_BEGUN - 1).map(|nth| full((1 << 40) + (nth << 27))).collect();
        for last in [near[15].0 + 1, (1 << 40) + u32::MAX as usize, 1 << 41, usize::MAX - 1] {
            let mut failures = near.clone();
            failures.push((last, InsertError::TooManyCopies));
            let tried = last + 1;
            let list = List::Few(Few::new(&failures, tried));
            let error = InsertBatchError { list, added: 7, tried };
            assert!(error.failures().eq(failures), "{last}");
            assert!(!error.is_complete() && error.to_string().ends_with("insert the others"));
        }
    }
}
