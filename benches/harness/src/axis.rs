//! Axes: the range that shows all points, and the ticks.

use std::ops::Range;

use plotters::coord::{
    ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter},
    types::RangedCoordf64,
};

/// Number of ticks that a linear axis has at most.
pub(crate) const TICKS: usize = 9;

/// A linear or logarithmic axis.
#[derive(Debug)]
pub(crate) struct Axis {
    /// The least and the greatest value that it shows.
    pub(crate) range: Range<f64>,
    pub(crate) ticks: Vec<f64>,
    is_log: bool,
}

impl Axis {
    /// Returns an axis with some space beyond the least and the greatest value.
    pub(crate) fn new((low, high): (f64, f64), is_log: bool) -> Self {
        if is_log {
            let range = low.max(1e-9) / 1.3..high.max(1e-9) * 1.3;
            let decades = (range.end / range.start).log10();
            let steps: &[f64] = if decades < 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let powers = range.start.log10().floor() as i32..=range.end.log10() as i32;
            let ticks = powers.flat_map(|power| steps.iter().map(move |s| s * 10_f64.powi(power)));
            let ticks = ticks.filter(|tick| range.contains(tick)).collect();
            return Self { range, ticks, is_log };
        }
        let space = if high > low { (high - low) * 0.05 } else { high.abs() * 0.1 + 0.5 };
        Self::between(low - space, high + space)
    }

    /// Returns a linear axis with fixed ends.
    pub(crate) fn between(low: f64, high: f64) -> Self {
        let ticks = RangedCoordf64::from(low..high).key_points(TICKS);
        Self { range: low..high, ticks, is_log: false }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let Range { start, end } = self.range;
        let share = if self.is_log {
            (value.max(1e-9) / start).ln() / (end / start).ln()
        } else {
            (value - start) / (end - start)
        };
        first + (share * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        number(*value)
    }
}

/// Returns the least and the greatest value.
pub(crate) fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// Formats a tick: no trailing zeros, and thousands apart from five digits on.
fn number(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    let text = format!("{rounded}");
    let whole = text.find('.').unwrap_or(text.len());
    if whole < 5 {
        return text;
    }
    let mut grouped = String::new();
    for (nth, digit) in text.chars().enumerate() {
        if nth > 0 && nth < whole && (whole - nth).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::{Axis, Ranged, number};

    #[test]
    fn axes_show_all_values_and_have_ticks() {
        for (ends, is_log) in
            [((1.0, 30.0), false), ((7.0, 7.0), false), ((1.0, 30.0), true), ((0.5, 6e7), true)]
        {
            let axis = Axis::new(ends, is_log);
            let places = [ends.0, ends.1].map(|end| axis.map(&end, (0, 1000)));
            assert!(0 < places[0] && places[0] <= places[1] && places[1] < 1000, "{axis:?}");
            let shown = axis.ticks.iter().filter(|tick| axis.range.contains(tick)).count();
            assert!((2..=12).contains(&shown), "{axis:?}");
        }
    }

    #[test]
    fn numbers_have_no_trailing_zeros() {
        let written = [0.0, 0.1 + 0.2, 5000.0, 20_000.0, 1_234_567.0].map(number);
        assert_eq!(written, ["0", "0.3", "5000", "20\u{202f}000", "1\u{202f}234\u{202f}567"]);
    }
}
