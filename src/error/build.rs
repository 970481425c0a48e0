//! The error of building a filter.

use core::{error::Error, time::Duration};

use crate::Layout;

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
    /// The capacity needs 2^32 buckets or more of this layout, or the
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
    /// The system refused the memory, or one more [mapping](crate::docs::limits#memory).
    #[non_exhaustive]
    OutOfMemory {
        /// The bytes of buckets that were requested.
        bytes: usize,
    },
    /// The limit on copies of an item is zero.
    ZeroMaxCopies,
    /// The number of equal items is zero.
    ZeroCopies,
    /// No layout of those that may be taken holds so many
    /// [equal items](crate::FilterBuilder::copies) at this capacity and rate. They are more than
    /// the slots of a bucket; or the table would be less than a sixteenth full, since in a fuller
    /// one the copies of a few keys meet in too few buckets. (The shorter the fingerprint and the
    /// larger the table, the more keys have the same fingerprint and the same buckets.)
    /// `insert_unique`, `insert_or_refresh`, and a count as the value of a map need one slot for a
    /// key.
    #[non_exhaustive]
    CopiesTooMany {
        /// The number of equal items.
        copies: usize,
        /// The largest number that can be held at this capacity.
        most: usize,
    },
    /// The number of expected writers is zero.
    ZeroWriters,
    /// The filter does not fit into its cap on memory. If it grows: not even at its first size.
    #[non_exhaustive]
    MemoryCapTooLow {
        /// The cap, in bytes.
        max_bytes: usize,
        /// A fixed set or map needs this many bytes. Another filter needs at least as many, and may
        /// need several times as many if it is small. Then an attempt with this cap says how many.
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
    /// The items expire, and the builder neither names a time to live
    /// ([`ttl`](crate::FilterBuilder::ttl)) nor says that the caller begins generations
    /// ([`window`](crate::FilterBuilder::window)).
    NoExpiry,
    /// There are both a [`ttl`](crate::FilterBuilder::ttl) and a
    /// [`window`](crate::FilterBuilder::window).
    TtlAndWindow,
    /// The time to live is less than 20 µs, or more than 36 years.
    InvalidTtl(Duration),
    /// There is a [`clock`](crate::FilterBuilder::clock), and no
    /// [`ttl`](crate::FilterBuilder::ttl).
    ClockWithoutTtl,
    /// There is a [`ttl`](crate::FilterBuilder::ttl) and no
    /// [`clock`](crate::FilterBuilder::clock), and the library was built without `std`.
    TtlWithoutClock,
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

texts! { BuildError:
    Self::NoCapacity => "the builder has no capacity: call `capacity`";
    Self::CapacityTooLarge { capacity, layout } =>
        "{capacity} items need 2^32 buckets or more of {layout:?}: deal them to several filters";
    Self::MaxCapacityTooLow { max_capacity, capacity } =>
        "the `max_capacity` is {max_capacity} items and the `capacity` {capacity}: raise the one \
        or lower the other";
    Self::OutOfMemory { bytes } =>
        "the system refused {bytes} bytes of memory: free some, or lower the `capacity`";
    Self::ZeroMaxCopies => "`max_copies` is 0: pass at least 1, or leave it out for no limit";
    Self::ZeroCopies => "`copies` is 0: pass at least 1, or leave it out for distinct items";
    Self::CopiesTooMany { copies, most } =>
        "the filter cannot hold {copies} equal items: pass at most {most}, or insert equal ones \
        once";
    Self::ZeroWriters => "`writers` is 0: pass at least 1, or leave it out for the default";
    Self::MemoryCapTooLow { max_bytes, needed } =>
        "the filter needs {needed} bytes and its `max_bytes` is {max_bytes}: raise it, or lower \
        the `capacity`";
    Self::InvalidRate(rate) => "the false-positive rate is {rate}: pass one above 0 and below 1";
    Self::RateTooLow { target, lowest } =>
        "no layout reaches a false-positive rate of {target}: pass at least {lowest:e}";
    Self::NoExpiry =>
        "the builder does not say when items expire: name a `ttl`, or a `window` of generations \
        that you begin by `advance`";
    Self::TtlAndWindow =>
        "the builder has a `ttl` and a `window`: leave one out";
    Self::InvalidTtl(time) => "the time to live is {time:?}: pass 20 µs to 36 years";
    Self::ClockWithoutTtl => "the builder has a `clock` and no `ttl`: name one";
    Self::TtlWithoutClock =>
        "the builder has a `ttl` and no `clock`: pass one, or enable the feature `std`";
    Self::InvalidWindow(window) => "the window is {window} generations: pass 1 to 253";
    Self::InvalidValueBits(bits) => "values have {bits} bits: pass at most 16";
    Self::LayoutUnsuitable { layout, value_bits: Some(bits) } =>
        "{layout:?} has no values of {bits} bits: pass one that has, or leave the layout to the \
        builder";
    Self::LayoutUnsuitable { layout, value_bits: None } =>
        "{layout:?} {}: pass another layout, or leave it to the builder", unsuited(*layout);
    Self::LayoutMissesRate { layout, target, reached } =>
        "{layout:?} reaches a false-positive rate of {reached:.3e}, not {target}: raise the \
        target, or leave the layout to the builder";
}

impl Error for BuildError {}

/// Why a layout is not one of this set.
fn unsuited(layout: Layout) -> &'static str {
    match (layout.valued(), layout.leveled()) {
        (Some(_), _) => "has values, and the items of this filter have none",
        (None, Some(_)) => "is for sets that grow only",
        (None, None) => "is not for sets that grow",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::tests::{is_advice, says};

    #[test]
    fn errors_of_builders_say_what_to_do() {
        for error in [
            BuildError::NoCapacity,
            BuildError::ZeroMaxCopies,
            BuildError::ZeroCopies,
            BuildError::CopiesTooMany { copies: 9, most: 8 },
            BuildError::ZeroWriters,
            BuildError::NoExpiry,
            BuildError::TtlAndWindow,
            BuildError::InvalidTtl(Duration::ZERO),
            BuildError::ClockWithoutTtl,
            BuildError::TtlWithoutClock,
        ] {
            is_advice(&error);
        }
        let layout = Layout::Plain4x16;
        says(
            &BuildError::CapacityTooLarge { capacity: 99, layout },
            "99 items need 2^32 buckets or more of Plain4x16: deal them to several filters",
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
