//! The false-positive rates of layouts.

use super::{Layout, fingerprints, with_layout};

impl Layout {
    /// Returns the false-positive rate with every slot occupied. No
    /// filter of this layout has a higher one, if it does not grow. One that grows has this rate
    /// before it grows, and a higher one with each doubling.
    ///
    /// A lookup of an absent item compares its fingerprint with those in `2 × slots per bucket`
    /// slots. Each of these is equal to it with probability 1/n, where n is the number of
    /// fingerprints (Fan et al. 2014, section 5.1): `2^bits - 1`, because zero marks an empty slot,
    /// or `2^bits - 16` in semi-sorted layouts, where 16 values mark one, or `2^bits` in layouts of
    /// filters that grow, where the marker's absence marks one.
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
        let fingerprints = match self.splitting() {
            Some(_) => 1 << self.fingerprint_bits(),
            None => with_layout!(self, L => fingerprints::<L>(self.value_bits())),
        };
        self.false_positive_rate_among(fingerprints, load_factor)
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
    fn rates_match_the_documentation() {
        let expected =
            [0.0609, 0.0117, 0.00244, 0.000_122, 0.00294, 0.000_611, 0.000_061, 0.000_001_43];
        let expected_growing = [0.00487, 0.000_488, 0.000_011_4, 0.000_000_007_45];
        let expected = expected.into_iter().chain(expected_growing);
        for (&layout, expected) in Layout::ALL.iter().chain(Layout::GROWING).zip(expected) {
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
