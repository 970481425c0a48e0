//! Axes: the range that shows all points, and the ticks.

/// A linear or logarithmic axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    is_log: bool,
    pub(super) ticks: Vec<f64>,
}

/// Number of ticks that a linear axis aims at.
const TICKS: f64 = 7.0;

impl Axis {
    /// Returns a linear axis, from zero if `from_zero`, with some space beyond the values.
    pub(super) fn linear(values: impl Iterator<Item = f64>, from_zero: bool) -> Self {
        let (low, high) = ends(values);
        let space = if high > low { (high - low) * 0.05 } else { high.abs() * 0.1 + 1.0 };
        let low = if from_zero { 0.0 } else { low - space };
        Self::between(low, high + space)
    }

    /// Returns a linear axis with fixed ends.
    pub(super) fn between(low: f64, high: f64) -> Self {
        let step = nice((high - low) / TICKS);
        let first = (low / step).ceil() as i64;
        let ticks = (first..).map(|nth| nth as f64 * step).take_while(|&tick| tick <= high);
        Self { low, high, is_log: false, ticks: ticks.collect() }
    }

    /// Returns an axis of whole numbers, with a tick at each value if there are few.
    pub(super) fn whole(values: impl Iterator<Item = f64> + Clone) -> Self {
        let mut axis = Self::linear(values.clone(), false);
        let mut whole: Vec<f64> = values.map(f64::round).collect();
        whole.sort_unstable_by(f64::total_cmp);
        whole.dedup();
        if whole.len() <= 8 {
            axis.ticks = whole;
        } else {
            axis.ticks.retain(|tick| (tick - tick.round()).abs() < 1e-6);
        }
        axis
    }

    /// Returns a logarithmic axis.
    pub(super) fn log(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = ends(values);
        let (low, high) = (low.max(1e-9) / 1.3, high.max(1e-9) * 1.3);
        let decades = (high / low).log10();
        let steps: &[f64] = if decades < 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let ticks = (first..=last)
            .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)))
            .filter(|tick| (low..=high).contains(tick));
        Self { low, high, is_log: true, ticks: ticks.collect() }
    }

    /// Returns the place of a value between the ends: 0 to 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        if self.is_log {
            (value.max(1e-9) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

/// Formats a tick: no trailing zeros, and thousands apart from five digits on.
pub(super) fn number(value: f64) -> String {
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

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// Rounds a step up to 1, 2 or 5 times a power of ten.
fn nice(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= step * 0.999);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::{Axis, number};

    #[test]
    fn axes_show_all_values() {
        let values = [1.0, 30.0, 5.0];
        let axes = [
            Axis::linear(values.into_iter(), false),
            Axis::linear(values.into_iter(), true),
            Axis::log(values.into_iter()),
            Axis::whole(values.into_iter()),
            Axis::linear([7.0].into_iter(), true),
        ];
        for axis in axes {
            assert!(axis.ticks.len() >= 2, "{axis:?}");
            let shown = values.into_iter().chain([7.0]).filter(|&value| value <= axis.high);
            let mut places = shown.map(|value| axis.place(value));
            assert!(places.all(|place| (0.0..=1.0).contains(&place)), "{axis:?}");
            assert!(axis.ticks.iter().all(|&tick| (0.0..=1.0).contains(&axis.place(tick))));
        }
    }

    #[test]
    fn few_whole_values_are_the_ticks() {
        assert_eq!(Axis::whole([4.0, 1.0, 2.0, 1.0].into_iter()).ticks, [1.0, 2.0, 4.0]);
    }

    #[test]
    fn numbers_have_no_trailing_zeros() {
        let written = [0.0, 0.1 + 0.2, 5000.0, 20_000.0, 1_234_567.0].map(number);
        assert_eq!(written, ["0", "0.3", "5000", "20\u{202f}000", "1\u{202f}234\u{202f}567"]);
    }
}
