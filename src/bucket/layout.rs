//! The layouts by name: what a user chooses, and what the table is monomorphized over.

use super::BucketLayout;

/// Evaluates the body with `$L` bound to the [`BucketLayout`](super::BucketLayout) of a [`Layout`].
macro_rules! with_layout {
    ($layout:expr, $L:ident => $body:expr) => {
        match $layout {
            $crate::bucket::Layout::Plain8x8 => {
                type $L = $crate::bucket::Plain<8, 8>;
                $body
            }
            $crate::bucket::Layout::Plain6x10 => {
                type $L = $crate::bucket::Plain<6, 10>;
                $body
            }
            $crate::bucket::Layout::Plain5x12 => {
                type $L = $crate::bucket::Plain<5, 12>;
                $body
            }
            $crate::bucket::Layout::Plain4x16 => {
                type $L = $crate::bucket::Plain<4, 16>;
                $body
            }
            $crate::bucket::Layout::SemiSorted6x12 => {
                type $L = $crate::bucket::SemiSorted<6, 12>;
                $body
            }
            $crate::bucket::Layout::SemiSorted5x14 => {
                type $L = $crate::bucket::SemiSorted<5, 14>;
                $body
            }
            $crate::bucket::Layout::SemiSorted4x17 => {
                type $L = $crate::bucket::SemiSorted<4, 17>;
                $body
            }
            $crate::bucket::Layout::SemiSorted3x22 => {
                type $L = $crate::bucket::SemiSorted<3, 22>;
                $body
            }
        }
    };
}
pub(crate) use with_layout;

/// How a bucket of 64 bits is divided: slots × bits of a fingerprint.
///
/// More bits make false positives rarer. More slots let the table be filled further. *Semi-sorted*
/// layouts store one or two more bits per fingerprint than plain layouts with the same number of
/// slots. So they have a half to a quarter of the false positives (Fan et al. 2014, section 5.2),
/// and take some more instructions to find, insert and remove an item. By default the builder takes
/// the layout with the fewest bits per item that meets the target false-positive rate.
///
/// ```
/// use guira::Layout;
///
/// assert_eq!(Layout::Plain5x12.slots_per_bucket(), 5);
/// assert_eq!(Layout::Plain5x12.fingerprint_bits(), 12);
/// assert!(Layout::Plain5x12.false_positive_rate() < 0.0025);
/// assert!(Layout::SemiSorted5x14.false_positive_rate() < 0.0007);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// 8 slots of 8 bits: 8.1 bits per item, 6.1 % false positives.
    Plain8x8,
    /// 6 slots of 10 bits: 11 bits per item, 1.2 % false positives.
    Plain6x10,
    /// 5 slots of 12 bits: 13.2 bits per item, 0.24 % false positives.
    Plain5x12,
    /// 4 slots of 16 bits: 16.7 bits per item, 0.012 % false positives. The default.
    Plain4x16,
    /// 6 slots of 12 bits, semi-sorted: 11 bits per item, 0.29 % false positives.
    SemiSorted6x12,
    /// 5 slots of 14 bits, semi-sorted: 13.2 bits per item, 0.061 % false positives.
    SemiSorted5x14,
    /// 4 slots of 17 bits, semi-sorted: 16.7 bits per item, 0.0061 % false positives.
    SemiSorted4x17,
    /// 3 slots of 22 bits, semi-sorted: 23 bits per item, 0.00014 % false positives.
    SemiSorted3x22,
}

impl Layout {
    /// The layout of a filter for which the user chose neither layout nor target rate.
    pub(crate) const DEFAULT: Self = Self::Plain4x16;

    /// All layouts: the plain ones, then the semi-sorted ones, each from the shortest fingerprint
    /// to the longest.
    ///
    /// ```
    /// use guira::Layout;
    ///
    /// let fits = |layout: &&Layout| layout.false_positive_rate() < 0.001;
    /// let shortest = Layout::ALL.iter().filter(fits).min_by_key(|layout| layout.fingerprint_bits());
    /// assert_eq!(shortest, Some(&Layout::SemiSorted5x14));
    /// ```
    pub const ALL: &'static [Layout] = &[
        Layout::Plain8x8,
        Layout::Plain6x10,
        Layout::Plain5x12,
        Layout::Plain4x16,
        Layout::SemiSorted6x12,
        Layout::SemiSorted5x14,
        Layout::SemiSorted4x17,
        Layout::SemiSorted3x22,
    ];

    /// Returns the number of slots in a bucket.
    ///
    /// ```
    /// assert_eq!(guira::Layout::Plain6x10.slots_per_bucket(), 6);
    /// ```
    #[must_use]
    pub const fn slots_per_bucket(self) -> u32 {
        with_layout!(self, L => L::SLOTS)
    }

    /// Returns the number of bits of a fingerprint.
    ///
    /// ```
    /// assert_eq!(guira::Layout::Plain6x10.fingerprint_bits(), 10);
    /// ```
    #[must_use]
    pub const fn fingerprint_bits(self) -> u32 {
        with_layout!(self, L => L::BITS)
    }

    /// Returns whether the fingerprints are semi-sorted.
    ///
    /// ```
    /// use guira::Layout;
    ///
    /// assert!(Layout::SemiSorted6x12.is_semi_sorted() && !Layout::Plain6x10.is_semi_sorted());
    /// ```
    #[must_use]
    pub const fn is_semi_sorted(self) -> bool {
        self as u8 >= Layout::SemiSorted6x12 as u8
    }

    /// Returns the false-positive rate with every slot occupied. No
    /// [`CuckooFilter`](crate::CuckooFilter) of this layout has a higher one. (The segments of a
    /// [`GrowingFilter`](crate::GrowingFilter) use slightly fewer fingerprints, so their rates can
    /// be up to 1.004 times as high.)
    ///
    /// A lookup of an absent item compares its fingerprint with those in `2 × slots per bucket`
    /// slots. Each of these is equal to it with probability 1/n, where n is the number of
    /// fingerprints (Fan et al. 2014, section 5.1): `2^bits - 1`, because zero marks an empty slot,
    /// or `2^bits - 16` in semi-sorted layouts, where 16 values mark one.
    ///
    /// ```
    /// let rate = guira::Layout::Plain6x10.false_positive_rate();
    /// assert!((rate - 12.0 / 1_023.0).abs() < 0.000_1);
    /// ```
    #[must_use]
    pub fn false_positive_rate(self) -> f64 {
        self.false_positive_rate_at(1.0)
    }

    /// Returns the false-positive rate at a load factor in `0.0 ..= 1.0`.
    ///
    /// The expected rate of a table is at most this value, because the rate is concave in the
    /// number of occupied slots that a lookup reads.
    ///
    /// ```
    /// use guira::Layout;
    ///
    /// assert!(Layout::Plain6x10.false_positive_rate_at(0.5) < 0.006);
    /// assert_eq!(Layout::Plain6x10.false_positive_rate_at(0.0), 0.0);
    /// ```
    #[must_use]
    pub fn false_positive_rate_at(self, load_factor: f64) -> f64 {
        self.false_positive_rate_among(with_layout!(self, L => L::FINGERPRINTS), load_factor)
    }

    /// Returns the false-positive rate with this number of different fingerprints.
    pub(crate) fn false_positive_rate_among(self, fingerprints: u32, load_factor: f64) -> f64 {
        let values = f64::from(fingerprints);
        let compared = f64::from(2 * self.slots_per_bucket()) * load_factor;
        // 1 - (1 - 1/values)^compared, without cancellation.
        -libm::expm1(compared * libm::log1p(-1.0 / values))
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;

    #[test]
    fn names_match_types() {
        for &layout in Layout::ALL {
            let (slots, bits) = (layout.slots_per_bucket(), layout.fingerprint_bits());
            let family = if layout.is_semi_sorted() { "SemiSorted" } else { "Plain" };
            assert_eq!(format!("{layout:?}"), format!("{family}{slots}x{bits}"));
        }
    }

    #[test]
    fn rates_match_the_documentation() {
        let expected =
            [0.0609, 0.0117, 0.00244, 0.000_122, 0.00294, 0.000_611, 0.000_061, 0.000_001_43];
        for (&layout, expected) in Layout::ALL.iter().zip(expected) {
            assert!(
                (layout.false_positive_rate() / expected - 1.0).abs() < 0.01,
                "{layout:?} {}",
                layout.false_positive_rate()
            );
            assert!(layout.false_positive_rate_at(0.0).abs() < 1e-300);
            assert!(layout.false_positive_rate_at(0.5) < layout.false_positive_rate());
        }
    }
}
