//! Errors of building a filter, of inserting and of merging. An insert or a merge that fails leaves
//! the same items in the filter.

use core::{error::Error, fmt};

use crate::Layout;

/// Why an item was not inserted. The filter holds the same multiset of items as before.
///
/// ```
/// use guira::{CuckooFilter, InsertError};
///
/// let filter = CuckooFilter::with_capacity(100_000);
/// while filter.insert("again and again").is_ok() {}
/// assert_eq!(filter.insert("again and again"), Err(InsertError::TooManyCopies));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InsertError {
    /// A search from the item's two buckets, through up to 500 buckets (128 in a filter that grows)
    /// and the alternate buckets of their fingerprints, found no empty slot (or expired one). At
    /// most one filter in 10,000 returns this before it holds its
    /// [`capacity`](crate::Filter::capacity). More filters may do so while other threads move
    /// items, because an item occupies two slots while it moves.
    ///
    /// A filter that grows returns this in two cases: its
    /// [cap on memory](crate::FilterBuilder::max_bytes) does not let it grow; or so many copies of
    /// few items fill the buckets around that splits make no room. It gives up after 64 attempts,
    /// each of which splits up to 8 buckets, or at once if the filter is large and less than half
    /// as full as it should be.
    Full,
    /// There is no room, as in [`Full`](Self::Full), and the system refused the memory for the
    /// filter to grow. A later insert tries again. Only filters that grow return this.
    OutOfMemory,
    /// There is no room, as in [`Full`](Self::Full), and the filter has grown as far as its
    /// [`max_capacity`](crate::FilterBuilder::max_capacity) needs. It holds at least that many
    /// items, copies counted. Only filters that grow return this.
    MaxCapacity,
    /// There is no room, as in [`Full`](Self::Full), and the filter has 32,768 times the buckets of
    /// its first size, or 2^32. With a larger [`capacity`](crate::FilterBuilder::capacity) or a
    /// [`max_capacity`](crate::FilterBuilder::max_capacity), it grows further. Only filters that
    /// grow return this.
    FullyGrown,
    /// Both buckets hold only copies of the item or of its
    /// [aliases](crate::Filter#the-contract-of-removal), `2 × slots per bucket` of them (half as
    /// many if both buckets are the same one). In a filter that grows: both buckets are full, and
    /// there are as many copies as one bucket has slots (three if it has two, unless both buckets
    /// are the same one). (Splits cannot separate copies.) With
    /// [`max_copies`](crate::FilterBuilder::max_copies): there are that many copies.
    TooManyCopies,
    /// The value has more bits than the values of the map:
    /// [`value_bits`](crate::Filter::value_bits).
    ValueTooLarge,
    /// The life is not in `1 ..= window` generations, or is a time in a filter without a time to
    /// live: [`insert_for`](crate::ExpiringFilter#method.insert_for).
    InvalidLife,
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => {
                "the filter is full: build it with a larger `capacity`, or raise the `max_bytes` \
                 of one that grows"
            }
            Self::OutOfMemory => {
                "the filter is full, and the system refused the memory for it to grow: free some, \
                 and insert the item again"
            }
            Self::MaxCapacity => {
                "the filter is full and has reached its `max_capacity`: build it with a larger one"
            }
            Self::FullyGrown => {
                "the filter is full and has 32,768 times its first buckets, or 2^32: build it with \
                 a larger `capacity`"
            }
            Self::TooManyCopies => {
                "the filter takes no further copy of this item: use `insert_unique` if one copy is \
                 enough"
            }
            Self::ValueTooLarge => {
                "the value has more bits than the map's `value_bits`: build the map with more, 16 \
                 at most"
            }
            Self::InvalidLife => {
                "the life is zero, longer than the `window`, or a time where the filter has no \
                 time to live: pass another, or build the filter with a `ttl`"
            }
        })
    }
}

impl Error for InsertError {}

/// Why a filter could not be built.
///
/// ```
/// let error = guira::CuckooFilter::builder().build().unwrap_err();
/// assert_eq!(error, guira::BuildError::NoCapacity);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// No capacity was given.
    NoCapacity,
    /// The capacity needs more than 2^32 buckets of this layout, or the
    /// [`max_capacity`](crate::FilterBuilder::max_capacity) does.
    #[non_exhaustive]
    CapacityTooLarge {
        /// The one of the two that is too large, in items.
        capacity: usize,
        /// The layout.
        layout: Layout,
    },
    /// The [`max_capacity`](crate::FilterBuilder::max_capacity) is smaller than the capacity.
    #[non_exhaustive]
    MaxCapacityTooLow {
        /// The largest capacity, in items.
        max_capacity: usize,
        /// The capacity, in items.
        capacity: usize,
    },
    /// The system refused the memory.
    #[non_exhaustive]
    OutOfMemory {
        /// The bytes of buckets that were requested.
        bytes: usize,
    },
    /// The limit on copies of an item is zero.
    ZeroMaxCopies,
    /// The number of expected writers is zero.
    ZeroWriters,
    /// The filter does not fit into its cap on memory. If it grows: not even at its first size.
    #[non_exhaustive]
    MemoryCapTooLow {
        /// The cap, in bytes.
        max_bytes: usize,
        /// The lowest cap that is enough. (Filters that grow or whose items expire may need a
        /// little more, and say so at the next attempt.)
        needed: usize,
    },
    /// The false-positive rate is not a number above 0 and below 1.
    InvalidRate(f64),
    /// The target is lower than the false-positive rate of every layout at this capacity. For a
    /// map: of every layout with values of this many bits. For a filter that grows: of every layout
    /// after the last doubling, which a [`max_capacity`](crate::FilterBuilder::max_capacity) brings
    /// forward.
    #[non_exhaustive]
    RateTooLow {
        /// The target rate.
        target: f64,
        /// The lowest possible target.
        lowest: f64,
    },
    /// The window is not in `1 ..= 253`.
    InvalidWindow(u32),
    /// A value would have more than 16 bits.
    InvalidValueBits(u32),
    /// The values of the layout and of the filter's items differ in size, or only one of the two
    /// has values, or the layout is one of filters that grow and this filter does not, or the other
    /// way round.
    #[non_exhaustive]
    LayoutUnsuitable {
        /// The layout.
        layout: Layout,
        /// The bits of a value, or `None` if the items of this filter have no values.
        value_bits: Option<u32>,
    },
    /// The layout does not meet the target false-positive rate. For a filter that grows: not after
    /// its last doubling.
    #[non_exhaustive]
    LayoutMissesRate {
        /// The layout.
        layout: Layout,
        /// The target rate.
        target: f64,
        /// The lowest target that the layout meets at this capacity.
        reached: f64,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoCapacity => f.write_str(
                "the builder has no capacity: call `capacity`, or for items that expire `ttl` and \
                 `inserts_per_second`",
            ),
            Self::CapacityTooLarge { capacity, layout } => write!(
                f,
                "{capacity} items need more than 2^32 buckets of {layout:?}: deal them to several \
                 filters"
            ),
            Self::MaxCapacityTooLow { max_capacity, capacity } => write!(
                f,
                "the `max_capacity` is {max_capacity} items and the `capacity` {capacity}: raise \
                 the one or lower the other"
            ),
            Self::OutOfMemory { bytes } => write!(
                f,
                "the system refused {bytes} bytes of memory: free some, or lower the `capacity`"
            ),
            Self::ZeroMaxCopies => {
                f.write_str("`max_copies` is 0: pass at least 1, or leave it out for no limit")
            }
            Self::ZeroWriters => {
                f.write_str("`writers` is 0: pass at least 1, or leave it out for the default")
            }
            Self::MemoryCapTooLow { max_bytes, needed } => write!(
                f,
                "the filter needs {needed} bytes and its `max_bytes` is {max_bytes}: raise it, or \
                 lower the `capacity`"
            ),
            Self::InvalidRate(rate) => {
                write!(f, "the false-positive rate is {rate}: pass one above 0 and below 1")
            }
            Self::RateTooLow { target, lowest } => write!(
                f,
                "no layout reaches a false-positive rate of {target}: pass at least {lowest:e}"
            ),
            Self::InvalidWindow(window) => {
                write!(f, "the window is {window} generations: pass 1 to 253")
            }
            Self::InvalidValueBits(bits) => write!(f, "values have {bits} bits: pass at most 16"),
            Self::LayoutUnsuitable { layout, value_bits: Some(bits) } => write!(
                f,
                "{layout:?} has no values of {bits} bits: pass one that has, or leave the layout \
                 to the builder"
            ),
            Self::LayoutUnsuitable { layout, value_bits: None } => {
                let reason = match (layout.valued(), layout.splitting()) {
                    (Some(_), _) => "has values, and the items of this filter have none",
                    (None, Some(_)) => "is for sets that grow only",
                    (None, None) => "is not for sets that grow",
                };
                write!(f, "{layout:?} {reason}: pass another layout, or leave it to the builder")
            }
            Self::LayoutMissesRate { layout, target, reached } => write!(
                f,
                "{layout:?} reaches a false-positive rate of {reached:.3e}, not {target}: raise \
                 the target, or leave the layout to the builder"
            ),
        }
    }
}

impl Error for BuildError {}

/// Why a filter was not merged into another one, which holds the same multiset of items as before.
///
/// ```
/// use guira::{CuckooFilter, MergeError};
///
/// let builder = CuckooFilter::builder().capacity(1_000).seed(1);
/// let larger = CuckooFilter::builder().capacity(2_000).seed(1).build().unwrap();
/// assert!(matches!(builder.build().unwrap().merge(&larger), Err(MergeError::Buckets { .. })));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MergeError {
    /// The layouts differ.
    #[non_exhaustive]
    Layout {
        /// The layout of the filter that the items were to be added to.
        this: Layout,
        /// The layout of the filter whose items were to be added.
        other: Layout,
    },
    /// The numbers of buckets differ. For filters that grow: those that they began with.
    #[non_exhaustive]
    Buckets {
        /// The buckets of the filter that the items were to be added to.
        this: u64,
        /// The buckets of the filter whose items were to be added.
        other: u64,
    },
    /// The seeds differ. (The error does not contain them, since logs are read by others.)
    Seed,
    /// The hashers differ, or their own seeds do.
    Hasher,
    /// There is not enough room.
    #[non_exhaustive]
    Full {
        /// How many items found room, until one did not. They were removed again.
        fitted: u64,
        /// The number of items of the other filter.
        items: u64,
    },
    /// There would be too many copies of one item: see [`InsertError::TooManyCopies`].
    TooManyCopies,
    /// The system refused the memory for a copy of the other filter, or for this one to grow.
    #[non_exhaustive]
    OutOfMemory {
        /// The bytes of the other filter's buckets.
        bytes: usize,
    },
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Layout { this, other } => write!(
                f,
                "the filters have the layouts {this:?} and {other:?}: build both with the same one"
            ),
            Self::Buckets { this, other } => write!(
                f,
                "the filters began with {this} and {other} buckets: build both with the same \
                 `capacity`"
            ),
            Self::Seed => f.write_str(
                "the filters have different seeds: build both with the same `seed`, or clone one",
            ),
            Self::Hasher => f.write_str(
                "the filters have different hashers: pass both the same one, with the same seed",
            ),
            Self::Full { fitted, items } => write!(
                f,
                "there is room for {fitted} of the {items} items of the other filter: begin with \
                 the capacity of the union"
            ),
            Self::TooManyCopies => f.write_str(
                "the union would have more copies of an item than the filter takes: raise its \
                 `max_copies`, or insert each item once",
            ),
            Self::OutOfMemory { bytes } => write!(
                f,
                "the system refused memory to merge {bytes} bytes of buckets: free some, and merge \
                 again"
            ),
        }
    }
}

impl Error for MergeError {}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::string::ToString;

    use super::*;

    /// Checks the text of an error. Each is one sentence that says what to do.
    #[track_caller]
    pub(crate) fn says(error: &dyn Error, expected: &str) {
        assert_eq!(error.to_string(), expected);
        is_advice(error);
    }

    /// Checks that the text of an error is one sentence, and ends in what to do.
    #[track_caller]
    pub(crate) fn is_advice(error: &dyn Error) {
        let text = error.to_string();
        let (_, advice) = text.split_once(": ").expect("advice after a colon");
        assert!(!advice.contains(": ") && !text.contains(". ") && !text.ends_with('.'), "{text}");
    }

    #[test]
    fn errors_of_inserts_and_merges_say_what_to_do() {
        use InsertError::{
            FullyGrown, InvalidLife, MaxCapacity, OutOfMemory, TooManyCopies, ValueTooLarge,
        };
        let full = [InsertError::Full, OutOfMemory, MaxCapacity, FullyGrown];
        for error in full.into_iter().chain([TooManyCopies, ValueTooLarge, InvalidLife]) {
            is_advice(&error);
        }
        for error in [MergeError::Seed, MergeError::Hasher, MergeError::TooManyCopies] {
            is_advice(&error);
        }
        says(
            &MergeError::OutOfMemory { bytes: 4_096 },
            "the system refused memory to merge 4096 bytes of buckets: free some, and merge again",
        );
    }

    #[test]
    fn errors_of_builders_say_what_to_do() {
        for error in [BuildError::NoCapacity, BuildError::ZeroMaxCopies, BuildError::ZeroWriters] {
            is_advice(&error);
        }
        let layout = Layout::Plain4x16;
        says(
            &BuildError::CapacityTooLarge { capacity: 99, layout },
            "99 items need more than 2^32 buckets of Plain4x16: deal them to several filters",
        );
        says(
            &BuildError::OutOfMemory { bytes: 4_096 },
            "the system refused 4096 bytes of memory: free some, or lower the `capacity`",
        );
        says(
            &BuildError::InvalidRate(1.5),
            "the false-positive rate is 1.5: pass one above 0 and below 1",
        );
        says(
            &BuildError::RateTooLow { target: 1e-9, lowest: 1.25e-6 },
            "no layout reaches a false-positive rate of 0.000000001: pass at least 1.25e-6",
        );
        says(&BuildError::InvalidWindow(254), "the window is 254 generations: pass 1 to 253");
        says(&BuildError::InvalidValueBits(17), "values have 17 bits: pass at most 16");
        says(
            &BuildError::LayoutMissesRate { layout, target: 1e-5, reached: 1.17e-4 },
            "Plain4x16 reaches a false-positive rate of 1.170e-4, not 0.00001: raise the target, \
             or leave the layout to the builder",
        );
    }
}
