//! The false-positive rates of layouts.

use super::Layout;

impl Layout {
    /// Returns the false-positive rate with every slot occupied. No filter of this layout has a
    /// higher one, if it does not grow. One that grows has this rate before it grows, and a higher
    /// one with each doubling.
    ///
    /// A lookup of an absent item compares its fingerprint with those in `2 × slots per bucket`
    /// slots (Fan et al. 2014, section 5.1). All fingerprints are equally frequent. In layouts of
    /// filters that grow there are `2^bits`. In the others some numbers are no fingerprints, since
    /// they would mark an empty slot: zero, or the first 16 in semi-sorted layouts. So each slot is
    /// equal to the fingerprint with probability `1 / 2^bits`, `1 / (2^bits - 1)`, or
    /// `1 / (2^bits - 16)`.
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
        // Numbers that would mark an empty slot.
        let empty = match self.leveled() {
            Some(_) => 0,
            None if self.is_semi_sorted() => 16,
            None => 1,
        };
        let equal = 1.0 / ((1_u64 << self.fingerprint_bits()) - empty) as f64;
        let compared = f64::from(2 * self.slots_per_bucket()) * load_factor;
        // 1 - (1 - equal)^compared by the binomial series, whose terms fall at least sixteenfold:
        // `compared` is at most 16, and `equal` at most 1 / 255.
        let terms = (0..13_u32).scan(-1.0, |term, k| {
            *term *= -equal * (compared - f64::from(k)) / f64::from(k + 1);
            Some(*term)
        });
        terms.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;

    #[test]
    fn rates_match_the_documentation() {
        let expected = [
            0.060_93,
            0.011_67,
            0.002_439,
            0.000_122_1,
            0.002_937,
            0.000_610_8,
            0.000_061_04,
            0.000_001_431,
        ];
        let expected_growing = [0.004_872, 0.000_488_2, 0.000_011_44, 0.000_000_007_451];
        let expected = expected.into_iter().chain(expected_growing);
        for (&layout, expected) in Layout::ALL.iter().chain(Layout::GROWING).zip(expected) {
            assert!(
                (layout.false_positive_rate() / expected - 1.0).abs() < 0.001,
                "{layout:?} {}",
                layout.false_positive_rate()
            );
            assert!(layout.false_positive_rate_at(0.0).abs() < 1e-300);
            assert!(layout.false_positive_rate_at(0.5) < layout.false_positive_rate());
        }
    }
}
