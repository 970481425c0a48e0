//! The layouts on offer, by name: what a user chooses, and what the inside is monomorphised over.

use super::WordLayout;

/// Runs the body with `$L` the [`WordLayout`](super::WordLayout) of a [`Layout`].
macro_rules! with_layout {
    ($layout:expr, $L:ident => $body:expr) => {
        match $layout {
            $crate::word::Layout::Plain8x8 => {
                type $L = $crate::word::Plain<8, 8>;
                $body
            }
            $crate::word::Layout::Plain6x10 => {
                type $L = $crate::word::Plain<6, 10>;
                $body
            }
            $crate::word::Layout::Plain5x12 => {
                type $L = $crate::word::Plain<5, 12>;
                $body
            }
            $crate::word::Layout::Plain4x16 => {
                type $L = $crate::word::Plain<4, 16>;
                $body
            }
            $crate::word::Layout::SemiSorted6x12 => {
                type $L = $crate::word::SemiSorted<6, 12>;
                $body
            }
            $crate::word::Layout::SemiSorted5x14 => {
                type $L = $crate::word::SemiSorted<5, 14>;
                $body
            }
            $crate::word::Layout::SemiSorted4x17 => {
                type $L = $crate::word::SemiSorted<4, 17>;
                $body
            }
            $crate::word::Layout::SemiSorted3x22 => {
                type $L = $crate::word::SemiSorted<3, 22>;
                $body
            }
        }
    };
}
pub(crate) use with_layout;

/// How a bucket of 64 bits is divided: lanes × bits of a fingerprint.
///
/// More bits make false positives rarer; more lanes let the table be filled further. *Semi-sorted*
/// layouts have one to two bits more in the same space as plain ones with as many lanes, so half to a quarter
/// of the false positives (Fan et al. 2014, section 5.2), for some more instructions where an item is
/// found, inserted or removed. Without a choice of yours the builder takes the layout with the fewest bits
/// per item that meets the false-positive rate asked for.
///
/// ```
/// use guira::Layout;
///
/// assert_eq!(Layout::Plain5x12.lanes(), 5);
/// assert_eq!(Layout::Plain5x12.bits(), 12);
/// assert!(Layout::Plain5x12.rate() < 0.0025);
/// assert!(Layout::SemiSorted5x14.rate() < 0.0007);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// 8 lanes of 8 bits: 8.1 bits per item, 6.1 % false positives.
    Plain8x8,
    /// 6 lanes of 10 bits: 11 bits per item, 1.2 % false positives.
    Plain6x10,
    /// 5 lanes of 12 bits: 13.2 bits per item, 0.24 % false positives.
    Plain5x12,
    /// 4 lanes of 16 bits: 16.7 bits per item, 0.012 % false positives. The default.
    Plain4x16,
    /// 6 lanes of 12 bits, semi-sorted: 11 bits per item, 0.29 % false positives.
    SemiSorted6x12,
    /// 5 lanes of 14 bits, semi-sorted: 13.2 bits per item, 0.061 % false positives.
    SemiSorted5x14,
    /// 4 lanes of 17 bits, semi-sorted: 16.7 bits per item, 0.0061 % false positives.
    SemiSorted4x17,
    /// 3 lanes of 22 bits, semi-sorted: 23 bits per item, 0.00014 % false positives.
    SemiSorted3x22,
}

impl Layout {
    /// Every layout: the plain ones, then the semi-sorted, each from the shortest fingerprint to the longest.
    ///
    /// ```
    /// use guira::Layout;
    ///
    /// let fits = |layout: &&Layout| layout.rate() < 0.001;
    /// let shortest = Layout::ALL.iter().filter(fits).min_by_key(|layout| layout.bits());
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

    /// Lanes of a bucket: how many items it holds.
    ///
    /// ```
    /// assert_eq!(guira::Layout::Plain6x10.lanes(), 6);
    /// ```
    #[must_use]
    pub const fn lanes(self) -> u32 {
        with_layout!(self, L => L::LANES)
    }

    /// Bits of a fingerprint.
    ///
    /// ```
    /// assert_eq!(guira::Layout::Plain6x10.bits(), 10);
    /// ```
    #[must_use]
    pub const fn bits(self) -> u32 {
        with_layout!(self, L => L::BITS)
    }

    /// Whether the lanes are semi-sorted.
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

    /// The false-positive rate with every slot occupied: no table of this layout has a higher one.
    ///
    /// A look-up of an absent item compares its fingerprint with `2 × lanes` others, each of which
    /// is equal to it with the probability of one in as many as there are fingerprints (Fan et al. 2014,
    /// section 5.1): `2^bits - 1`, zero not being one, or `2^bits - 16` in semi-sorted layouts.
    ///
    /// ```
    /// let rate = guira::Layout::Plain6x10.rate();
    /// assert!((rate - 12.0 / 1_023.0).abs() < 0.000_1);
    /// ```
    #[must_use]
    pub fn rate(self) -> f64 {
        self.rate_at(1.0)
    }

    /// The false-positive rate at a load factor in `0.0 ..= 1.0`.
    ///
    /// The expectation over tables is at most this, since the rate is concave in the number of
    /// lanes occupied.
    ///
    /// ```
    /// use guira::Layout;
    ///
    /// assert!(Layout::Plain6x10.rate_at(0.5) < 0.006);
    /// assert_eq!(Layout::Plain6x10.rate_at(0.0), 0.0);
    /// ```
    #[must_use]
    pub fn rate_at(self, load_factor: f64) -> f64 {
        self.rate_among(with_layout!(self, L => L::FINGERPRINTS), load_factor)
    }

    /// The same where so many fingerprints are in use.
    pub(crate) fn rate_among(self, fingerprints: u32, load_factor: f64) -> f64 {
        let values = f64::from(fingerprints);
        let compared = f64::from(2 * self.lanes()) * load_factor;
        // 1 - (1 - 1/values)^compared, without the loss of digits.
        -libm::expm1(compared * libm::log1p(-1.0 / values))
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;

    #[test]
    fn names_and_types_agree() {
        for &layout in Layout::ALL {
            let (lanes, bits) = (layout.lanes(), layout.bits());
            let family = if layout.is_semi_sorted() { "SemiSorted" } else { "Plain" };
            assert_eq!(format!("{layout:?}"), format!("{family}{lanes}x{bits}"));
        }
    }

    #[test]
    fn rates_are_those_of_the_design() {
        let expected =
            [0.0609, 0.0117, 0.00244, 0.000_122, 0.00294, 0.000_611, 0.000_061, 0.000_001_43];
        for (&layout, expected) in Layout::ALL.iter().zip(expected) {
            assert!((layout.rate() / expected - 1.0).abs() < 0.01, "{layout:?} {}", layout.rate());
            assert!(layout.rate_at(0.0).abs() < 1e-300);
            assert!(layout.rate_at(0.5) < layout.rate());
        }
    }
}
