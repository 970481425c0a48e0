//! The error of a batch of inserts: which items failed, and why.

use alloc::vec::Vec;
use core::{error::Error, fmt, ops::ControlFlow};

use crate::InsertError;

/// The items of a batch that were not inserted, and how far the batch came.
///
/// The list takes memory, which a batch requests when items fail. If the system refuses it, the
/// batch tries no further items. So there are two cases:
///
/// - **All items were tried** ([`is_complete`](Self::is_complete)). Those that are not among the
///   [`failures`](Self::failures) are in the filter.
/// - **The batch ended early.** The same holds for the items before the position
///   [`tried`](Self::tried). The item there failed, and is not listed. Of those after it, some may
///   have been added, and others failed.
///
/// ```
/// let filter = guira::CuckooFilter::with_capacity(100);
/// let items = ["ani"; 1_000];
/// if let Err(error) = filter.insert_batch(&items) {
///     for (position, reason) in error.failures() {
///         println!("item {position}: {reason}");
///     }
///     assert!(error.is_complete(), "memory is short");
/// }
/// # assert!(filter.insert_batch(&["ani"]).is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct InsertBatchError {
    /// In ascending order of their positions.
    failures: Vec<(usize, InsertError)>,
    added: usize,
    tried: usize,
    is_complete: bool,
}

/// Failures that the debug output shows.
const MAX_SHOWN: usize = 8;

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
        self.failures.iter().copied()
    }

    /// Returns the number of items that the call added.
    #[must_use]
    pub fn added(&self) -> usize {
        self.added
    }

    /// Returns the number of items at the front of the batch whose outcomes are known: all of them,
    /// unless the batch ended early.
    #[must_use]
    pub fn tried(&self) -> usize {
        self.tried
    }

    /// Returns whether all items were tried. If this is `false`, the system refused the memory for
    /// a longer list.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}

/// Receives the position of an insert that failed, and its error. Breaks if the batch must end
/// early: then inserts that were begun are completed, and no others begun.
pub(crate) type Failed<'a> = dyn FnMut(usize, InsertError) -> ControlFlow<()> + 'a;

/// The failures of a batch while it runs, in any order. They take memory once there is one.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    listed: Vec<(usize, InsertError)>,
    /// The first position that is not listed, because the system refused the memory. The batch only
    /// completes the inserts that it has begun.
    unlisted: Option<usize>,
}

impl Failures {
    /// Adds a failure: a [`Failed`].
    #[cold]
    pub(crate) fn add(&mut self, position: usize, reason: InsertError) -> ControlFlow<()> {
        if self.unlisted.is_none() && self.listed.try_reserve(1).is_ok() {
            self.listed.push((position, reason));
            return ControlFlow::Continue(());
        }
        self.unlisted = Some(self.unlisted.map_or(position, |first| first.min(position)));
        ControlFlow::Break(())
    }

    /// Returns the number of items added, or the error if any failed. Each of the others was added,
    /// or was present in a batch of this many `unique` items.
    pub(crate) fn check(mut self, added: usize, unique: usize) -> Result<usize, InsertBatchError> {
        if self.listed.is_empty() && self.unlisted.is_none() {
            return Ok(added);
        }
        let tried = self.unlisted.unwrap_or(unique.max(added + self.listed.len()));
        self.listed.retain(|&(position, _)| position < tried);
        self.listed.sort_unstable_by_key(|&(position, _)| position);
        let is_complete = self.unlisted.is_none();
        Err(InsertBatchError { failures: self.listed, added, tried, is_complete })
    }
}

/// With the first failures alone: all of a large batch would fill a log.
impl fmt::Debug for InsertBatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { failures, added, tried, is_complete } = self;
        f.debug_struct("InsertBatchError")
            .field("failures", &failures.len())
            .field("first", &&failures[..failures.len().min(MAX_SHOWN)])
            .field("added", added)
            .field("tried", tried)
            .field("is_complete", is_complete)
            .finish()
    }
}

impl fmt::Display for InsertBatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of a batch's first {} items ", self.failures.len(), self.tried)?;
        f.write_str("could not be inserted")?;
        let reasons = [
            ("filter full", InsertError::Full),
            ("crowded by copies", InsertError::Crowded),
            ("too many copies", InsertError::TooManyCopies),
            ("value too large", InsertError::ValueTooLarge),
            ("out of memory", InsertError::OutOfMemory),
            ("fully grown", InsertError::FullyGrown),
        ];
        for (name, wanted) in reasons {
            match self.failures.iter().filter(|&&(_, reason)| reason == wanted).count() {
                0 => {}
                count => write!(f, ", {name}: {count}")?,
            }
        }
        f.write_str(if self.is_complete {
            "; `failures` lists them"
        } else {
            "; there was no memory to list more, and the batch ended"
        })
    }
}

impl Error for InsertBatchError {}

#[cfg(test)]
mod tests {
    use super::{Failures, MAX_SHOWN};
    use crate::InsertError;

    #[test]
    fn the_text_counts_each_reason_and_the_debug_output_is_short() {
        let failed = |len: usize| {
            let mut failures = Failures::default();
            assert!(failures.add(1, InsertError::FullyGrown).is_continue());
            (1..len).for_each(|_| assert!(failures.add(0, InsertError::Full).is_continue()));
            failures.check(3, 0).expect_err("some failed")
        };
        let text = "8 of a batch's first 11 items could not be inserted, filter full: 7, fully \
                    grown: 1; `failures` lists them";
        assert_eq!(failed(8).to_string(), text);
        let shown = |len| format!("{:?}", failed(len)).matches("(0, ").count();
        assert_eq!([9, 1_000].map(shown), [MAX_SHOWN; 2]);
        assert_eq!(failed(8).failures().next_back(), Some((1, InsertError::FullyGrown)));
    }
}
