//! Error values: each says what is wrong. What could not be done has changed nothing.

#[cfg(feature = "std")]
mod load;

use alloc::vec::Vec;
use core::{error::Error, fmt};

#[cfg(feature = "std")]
pub use load::LoadError;

use crate::Layout;

/// Why an item was not inserted. The filter holds the same multiset of items as before.
///
/// ```
/// use guira::{CuckooFilter, InsertError};
///
/// let filter = CuckooFilter::with_capacity(100);
/// while filter.insert("again and again").is_ok() {}
/// assert_eq!(filter.insert("again and again"), Err(InsertError::TooManyCopies));
/// assert_eq!(filter.insert("another"), Ok(()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InsertError {
    /// A search from the item's two buckets, through up to 500 of them and all that these lead to,
    /// found no free lane. Up to [`capacity`](crate::CuckooFilter::capacity) this happens to one
    /// table in 10 000 at most. An item that another thread is just moving occupies two lanes. (In a
    /// [`GrowingFilter`](crate::GrowingFilter) besides: no further table can be had.)
    Full,
    /// Both buckets hold nothing but the item's fingerprint: the item, or aliases of it, were
    /// inserted `2 × lanes` times (`lanes` times, where both buckets are the same one). In the last table of a
    /// [`GrowingFilter`](crate::GrowingFilter): half as many.
    TooManyCopies,
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => {
                "the filter is full: no free lane within reach, and no memory to grow if it may"
            }
            Self::TooManyCopies => "too many copies of the item are in its buckets",
        })
    }
}

impl Error for InsertError {}

/// Which items of a batch were not inserted. All others are in (or, for `insert_unique_batch`, were there).
///
/// ```
/// let filter = guira::CuckooFilter::with_capacity(100);
/// if let Err(error) = filter.insert_batch(&["ani"; 1_000]) {
///     for (&position, reason) in error.rejected().iter().zip(error.reasons()) {
///         println!("item {position}: {reason}");
///     }
/// }
/// # assert!(filter.insert_batch(&["ani"]).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InsertBatchError {
    rejected: Vec<usize>,
    reasons: Vec<InsertError>,
    added: usize,
}

impl InsertBatchError {
    /// `Ok` with the number added, or the error when any was rejected, in whatever order.
    pub(crate) fn check(
        added: usize,
        mut failures: Vec<(usize, InsertError)>,
    ) -> Result<usize, InsertBatchError> {
        if failures.is_empty() {
            return Ok(added);
        }
        failures.sort_unstable_by_key(|&(position, _)| position);
        let (rejected, reasons) = failures.into_iter().unzip();
        Err(Self { rejected, reasons, added })
    }

    /// The positions in the batch of the items that did not fit, ascending. All others are in.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// let error = filter.insert_batch(&["ani"; 1_000]).unwrap_err();
    /// assert_eq!(error.rejected().len(), 1_000 - error.added());
    /// ```
    #[must_use]
    pub fn rejected(&self) -> &[usize] {
        &self.rejected
    }

    /// Why each of [`rejected`](Self::rejected) did not fit, in the same order.
    ///
    /// ```
    /// use guira::InsertError;
    ///
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// let error = filter.insert_batch(&["ani"; 1_000]).unwrap_err();
    /// assert!(error.reasons().iter().all(|&reason| reason == InsertError::TooManyCopies));
    /// ```
    #[must_use]
    pub fn reasons(&self) -> &[InsertError] {
        &self.reasons
    }

    /// How many items the call added, in spite of the others.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(100);
    /// let error = filter.insert_batch(&["ani"; 1_000]).unwrap_err();
    /// assert_eq!(error.added(), filter.len());
    /// ```
    #[must_use]
    pub fn added(&self) -> usize {
        self.added
    }
}

impl fmt::Display for InsertBatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let full = self.reasons.iter().filter(|&&reason| reason == InsertError::Full).count();
        let copies = self.reasons.len() - full;
        let items = self.rejected.len();
        let noun = if items == 1 { "item" } else { "items" };
        write!(
            f,
            "{items} {noun} of the batch did not fit (filter full: {full}, too many copies: {copies})"
        )
    }
}

impl Error for InsertBatchError {}

/// Why a filter could not be built.
///
/// ```
/// use guira::{BuildError, CuckooFilter, Layout};
///
/// let builder = CuckooFilter::builder().capacity(1_000).layout(Layout::Plain8x8);
/// match builder.false_positive_rate(0.001).build() {
///     Err(BuildError::LayoutMissesRate { reached, .. }) => assert!(reached > 0.05),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// No capacity was given.
    NoCapacity,
    /// A capacity of zero was asked for.
    ZeroCapacity,
    /// The capacity needs more than 2^32 buckets in this layout, or more than this machine can
    /// address.
    #[non_exhaustive]
    CapacityTooLarge {
        /// The capacity asked for, in items.
        capacity: usize,
        /// The layout that it was asked for in.
        layout: Layout,
    },
    /// The system refused the memory.
    #[non_exhaustive]
    OutOfMemory {
        /// How many bytes of buckets were asked for.
        bytes: usize,
    },
    /// The false-positive rate is not a number above 0 and below 1.
    InvalidRate(f64),
    /// The false-positive rate is lower than any layout reaches at this capacity; for a filter that grows: than all tables
    /// together, however many they become, can be held to.
    #[non_exhaustive]
    RateTooLow {
        /// The rate asked for.
        asked: f64,
        /// The lowest rate that there is.
        lowest: f64,
    },
    /// The layout asked for does not meet the false-positive rate asked for; as the first layout of a filter that grows, with
    /// what later tables need.
    #[non_exhaustive]
    LayoutMissesRate {
        /// The layout asked for.
        layout: Layout,
        /// The rate asked for.
        asked: f64,
        /// The rate that the layout reaches at this capacity; the lowest to ask for, if the filter is to grow.
        reached: f64,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoCapacity => f.write_str("no capacity was given"),
            Self::ZeroCapacity => f.write_str("the capacity is zero; it must be at least one item"),
            Self::CapacityTooLarge { capacity, layout } => {
                write!(
                    f,
                    "a capacity of {capacity} items needs more than 2^32 buckets of {layout:?}"
                )
            }
            Self::OutOfMemory { bytes } => write!(f, "the system refused {bytes} bytes of memory"),
            Self::InvalidRate(rate) => {
                write!(f, "a false-positive rate must be above 0 and below 1, not {rate}")
            }
            Self::RateTooLow { asked, lowest } => {
                write!(
                    f,
                    "a false-positive rate of {asked} cannot be reached; the lowest is {lowest:.3e}"
                )
            }
            Self::LayoutMissesRate { layout, asked, reached } => write!(
                f,
                "{layout:?} reaches a false-positive rate of {reached:.3e}, not the {asked} asked for"
            ),
        }
    }
}

impl Error for BuildError {}
