//! The settings of a map, and the values that result from them.

use super::{MapSteps, Mappable, Mapped};
use crate::{FilterBuilder, filter::Filter};

impl<E: Mappable, S> FilterBuilder<Mapped<E>, S> {
    /// Sets the number of bits of a value, from 0 to 16. The default is 8, or with a
    /// [`layout`](Self::layout) the bits of its values.
    ///
    /// A slot has 64 / (slots per bucket) bits, rounded down, with 2 to 6 slots per bucket. What
    /// the value leaves, at least 8 bits, is the fingerprint. Without a `layout`, the builder takes
    /// the layout with the most slots per bucket, hence the fewest bits per item, that meets the
    /// target [`false_positive_rate`](Self::false_positive_rate): 0.2 % by default, or 0.3 % in a
    /// [`GrowingMap`](crate::GrowingMap). So an item takes as many bits as in a filter with plain
    /// buckets of as many slots. ([`fastest`](Self::fastest) has no effect: all of these layouts
    /// are plain.)
    ///
    /// [`build`](Self::build) fails with
    /// [`InvalidValueBits`](crate::BuildError::InvalidValueBits) for more than 16 bits, and with
    /// [`RateTooLow`](crate::BuildError::RateTooLow) if no layout with values of this many bits
    /// meets the target.
    ///
    /// ```
    /// use guira::{CuckooMap, Layout};
    ///
    /// let builder = CuckooMap::builder().capacity(1_000_000);
    /// let small = builder.clone().value_bits(4).build()?;
    /// assert_eq!(small.layout(), Layout::with_values(4, 4).unwrap());
    /// assert!(small.false_positive_rate() < 0.002);
    /// assert!(small.size_in_bytes() * 8 < 17_300_000); // as `CuckooFilter::with_capacity`
    ///
    /// let large = builder.value_bits(16).build()?;
    /// assert_eq!(large.layout(), Layout::with_values(2, 16).unwrap());
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn value_bits(mut self, bits: u32) -> Self {
        self.settings.value_bits = Some(bits);
        self
    }
}

impl<E: Mappable, S> Filter<Mapped<E>, S> {
    /// Returns the number of bits of a value. Values from 0 to `2^value_bits - 1` fit.
    ///
    /// ```
    /// use guira::{CuckooMap, InsertError};
    ///
    /// let map = CuckooMap::with_capacity(100);
    /// assert_eq!(map.value_bits(), 8);
    /// assert_eq!(map.insert("ani", 255), Ok(()));
    /// assert_eq!(map.insert("ani", 256), Err(InsertError::ValueTooLarge));
    /// ```
    #[must_use]
    pub fn value_bits(&self) -> u32 {
        self.by_hash().store().value_bits()
    }
}
