//! Curves of bits per item by false-positive rate, and their crossings.

/// Points of falling rate and rising bits per item.
#[derive(Clone, Debug)]
pub struct Curve(pub Vec<(f64, f64)>);

impl Curve {
    /// Interpolates the bits at a rate, linearly in its logarithm; `None` outside the points.
    pub fn at(&self, rate: f64) -> Option<f64> {
        let pair = self.0.windows(2).find(|pair| pair[0].0 >= rate && rate >= pair[1].0)?;
        let share = (pair[0].0 / rate).ln() / (pair[0].0 / pair[1].0).ln();
        Some(pair[0].1 + share * (pair[1].1 - pair[0].1))
    }

    /// Returns the largest rate below which this curve always lies under another one.
    pub fn below(&self, other: impl Fn(f64) -> Option<f64>) -> Option<f64> {
        let rates = (0..2000).map(|step| 0.5 * 0.99_f64.powi(step));
        let known = rates.filter_map(|rate| Some((rate, self.at(rate)?, other(rate)?)));
        let below: Vec<(f64, bool)> =
            known.map(|(rate, bits, other_bits)| (rate, bits < other_bits)).collect();
        let last_above = below.iter().rposition(|(_, below)| !below);
        below.get(last_above.map_or(0, |last| last + 1)).map(|(rate, _)| *rate)
    }
}

#[cfg(test)]
mod tests {
    use super::Curve;

    #[test]
    fn curves_are_interpolated_and_cross_once() {
        let curve = Curve(vec![(0.5, 2.0), (0.125, 5.0)]);
        assert!((curve.at(0.25).unwrap() - 3.5).abs() < 1e-12);
        assert_eq!(curve.at(0.01), None);
        let steep = Curve(vec![(0.5, 1.0), (0.125, 7.0)]);
        // They cross where 2 + 1.5 x = 1 + 3 x, after x = 2/3 halvings.
        let crossing = curve.below(|rate| steep.at(rate)).unwrap();
        assert!((crossing / (0.5 * 0.5_f64.powf(2.0 / 3.0)) - 1.0).abs() < 0.02);
    }
}
