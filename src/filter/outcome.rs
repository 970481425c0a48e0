//! What inserts return.

/// What `insert_unique` did. **Only whoever gets `New` owns a copy, and may remove it.**
///
/// `New` and `Found` contain what the filter returns with them: in an expiring filter, `New` has
/// the generation of the item; in a map, `Found` has the value that was found.
///
/// ```
/// let workers = guira::CuckooMap::with_capacity(10);
/// assert!(workers.insert_unique("flow 17", 3)?.is_new());
/// assert_eq!(workers.insert_unique("flow 17", 4)?, guira::Insertion::Found(3));
/// # Ok::<(), guira::InsertError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "only whoever gets `New` owns a copy"]
pub enum Insertion<N = (), F = ()> {
    /// The key was absent and has been inserted.
    New(N),
    /// The key was found, or rarely another one with its fingerprint. Nothing was inserted.
    Found(F),
}

impl<N, F> Insertion<N, F> {
    /// Returns whether the key was inserted.
    #[inline]
    #[must_use]
    pub const fn is_new(&self) -> bool {
        matches!(self, Self::New(_))
    }
}

/// The outcomes of [`insert_unique_mask`](crate::CuckooFilter#method.insert_unique_mask): bit `i`
/// is for the `i`-th key.
///
/// A key whose bit is set in neither mask was found: the caller owns no copy of it, and must not
/// remove one.
///
/// ```
/// let filter = guira::CuckooFilter::with_capacity(10);
/// filter.insert(&5).unwrap();
/// let outcome = filter.insert_unique_mask(&[4, 5, 6]);
/// assert_eq!((outcome.added, outcome.refused), (0b101, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[must_use = "keys that were refused are not in the filter"]
#[non_exhaustive]
pub struct InsertMask {
    /// The keys that were absent and have been added.
    pub added: u64,
    /// The keys that were absent and could not be added, because the filter is full, or the system
    /// refuses the memory to let it grow.
    pub refused: u64,
}
