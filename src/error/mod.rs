//! Errors of inserting, of building a filter, and of merging. An insert or a merge that fails
//! leaves the same items in the filter.

/// Implements `Display` by one text for each variant, in which its fields stand, and which further
/// arguments may follow.
macro_rules! texts {
    ($error:ty: $($variant:pat => $text:literal $(, $argument:expr)*;)*) => {
        impl core::fmt::Display for $error {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $($variant => write!(f, $text $(, $argument)*),)*
                }
            }
        }
    };
}
#[cfg(feature = "std")]
pub(crate) use texts;

mod any;
pub(crate) mod batch;
mod build;

use core::error;

pub use self::{any::Error, batch::InsertBatchError, build::BuildError};
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
    /// A filter that grows returns this only if its
    /// [cap on memory](crate::FilterBuilder::max_bytes) does not let it grow.
    Full,
    /// The buckets around are full of copies of a few items, so that splits make no room. (The item
    /// itself need not be one of them.) Only filters that grow return this: after 64 attempts, each
    /// of which splits up to 8 buckets; or at once if all that the item could displace is in
    /// buckets that were split in this round, or if the filter is large and less than half as full
    /// as it should be.
    Crowded,
    /// There is no room, as in [`Full`](Self::Full), and the system refused the memory for the
    /// filter to grow. A later insert tries again. Only filters that grow return this.
    OutOfMemory,
    /// There is no room, as in [`Full`](Self::Full), and the filter has grown as far as its
    /// [`max_capacity`](crate::FilterBuilder::max_capacity) needs, or without one, as far as its
    /// target rate allows. Of distinct items, at most one filter in 10,000 returns this before it
    /// holds its `max_capacity`. With a larger one, or a larger
    /// [`capacity`](crate::FilterBuilder::capacity), it grows further. Only filters that grow
    /// return this.
    FullyGrown,
    /// Both buckets hold only copies of the item or of its
    /// [aliases](crate::Filter#the-contract-of-removal), `2 × slots per bucket` of them (half as
    /// many if both buckets are the same one). In a filter that grows: both buckets are full, and
    /// there are as many copies as one bucket has slots (three if it has two, unless both buckets
    /// are the same one). (Splits cannot separate copies.) If it was built for more
    /// [`copies`](crate::FilterBuilder::copies) than one, it takes four times as many as that says,
    /// if that is more, but not all slots of both buckets. With
    /// [`max_copies`](crate::FilterBuilder::max_copies): there are that many copies.
    TooManyCopies,
    /// The value has more bits than the values of the map:
    /// [`value_bits`](crate::Layout::value_bits).
    ValueTooLarge,
    /// The life is longer than the time to live; or without one, not in `1 ..= window` generations;
    /// or it is a time where there is no time to live, or a number of generations where there is:
    /// [`insert_for`](crate::ExpiringFilter#method.insert_for).
    InvalidLife,
}

texts! { InsertError:
    Self::Full =>
        "the filter is full: build it with a larger `capacity`, or raise the `max_bytes` of one \
        that grows";
    Self::Crowded =>
        "copies of a few items fill the buckets of this one: insert equal items once, or build the \
        filter with `copies`";
    Self::OutOfMemory =>
        "the filter is full, and the system refused the memory for it to grow: free some, and \
        insert the item again";
    Self::FullyGrown =>
        "the filter is full and has grown as far as it may: build it with a larger `max_capacity`, \
        or `capacity`";
    Self::TooManyCopies =>
        "the filter takes no further copy of this item: use `insert_unique` if one copy is enough";
    Self::ValueTooLarge =>
        "the value has more bits than the map's `value_bits`: build the map with more, 16 at most";
    Self::InvalidLife =>
        "the life is zero generations, too long, or of the other kind: pass a time up to the \
        `ttl`, or without one a number of generations up to the `window`";
}

impl error::Error for InsertError {}

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
    /// The other filter keeps too little of an item to tell any of its buckets here, because this
    /// filter has grown further.
    Unknown,
    /// The system refused the memory for a copy of the other filter, or for this one to grow.
    #[non_exhaustive]
    OutOfMemory {
        /// The bytes of the other filter's buckets.
        bytes: usize,
    },
}

texts! { MergeError:
    Self::Layout { this, other } =>
        "the filters have the layouts {this:?} and {other:?}: build both with the same one";
    Self::Buckets { this, other } =>
        "the filters began with {this} and {other} buckets: build both with the same `capacity`";
    Self::Seed => "the filters have different seeds: build both with the same `seed`, or clone one";
    Self::Hasher =>
        "the filters have different hashers: pass both the same one, with the same seed";
    Self::Full { fitted, items } =>
        "there is room for {fitted} of the {items} items of the other filter: begin with the \
        capacity of the union";
    Self::TooManyCopies =>
        "the union would have more copies of an item than the filter takes: raise its \
        `max_copies`, or insert each item once";
    Self::Unknown =>
        "the other filter has grown less, and does not know in which buckets here its items \
        belong: merge this filter into the other one";
    Self::OutOfMemory { bytes } =>
        "the system refused memory to merge {bytes} bytes of buckets: free some, and merge again";
}

impl error::Error for MergeError {}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::string::ToString;

    use super::*;

    /// Checks the text of an error. Each is one sentence that says what to do.
    #[track_caller]
    pub(crate) fn says(error: &dyn error::Error, expected: &str) {
        assert_eq!(error.to_string(), expected);
        is_advice(error);
    }

    /// Checks that the text of an error is one sentence, and ends in what to do.
    #[track_caller]
    pub(crate) fn is_advice(error: &dyn error::Error) {
        let text = error.to_string();
        let (_, advice) = text.split_once(": ").expect("advice after a colon");
        assert!(!advice.contains(": ") && !text.contains(". ") && !text.ends_with('.'), "{text}");
    }

    #[test]
    fn errors_of_inserts_and_merges_say_what_to_do() {
        use InsertError::{
            Crowded, FullyGrown, InvalidLife, OutOfMemory, TooManyCopies, ValueTooLarge,
        };
        let full = [InsertError::Full, Crowded, OutOfMemory, FullyGrown];
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
}
