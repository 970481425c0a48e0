//! How everything on the page is timed: in rounds in which the filters take turns, on one pinned
//! core, in processor time; and the figures that result.

use std::{fmt, hint::black_box, ops::Div};

use cpu_time::ThreadTime;
use guira_harness::Cores;

use crate::pages;

/// Number of rounds behind each timed figure.
pub const ROUNDS: usize = 5;

/// Says how the figures were timed.
pub fn method() -> String {
    format!(
        "Timed figures are medians of {ROUNDS} rounds in which the filters take turns, with the \
        minimum and the maximum in brackets: on one core, in processor time, without huge pages. "
    )
}

/// Runs `work` on a thread of its own, pinned to the last core.
///
/// # Panics
/// If `work` does, or if the process may have huge pages.
pub fn pinned<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    assert!(pages::are_small(), "some filters would be on huge pages");
    let cores = Cores::list();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            cores.pin(cores.count() - 1);
            work()
        });
        worker.join().expect("the measuring thread does not panic")
    })
}

/// Measures each system once per round, and returns the results of each system. Each round begins
/// with the next system: a disturbance of the machine affects one round of a system, and none
/// always runs after the same one.
pub fn interleaved<S, R>(
    systems: &[S],
    rounds: usize,
    mut measure: impl FnMut(usize, &S) -> R,
) -> Vec<Vec<R>> {
    let mut results: Vec<Vec<R>> = systems.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for turn in 0..systems.len() {
            let system = (round + turn) % systems.len();
            results[system].push(measure(round, &systems[system]));
        }
    }
    results
}

/// Sums the processor time of operations on blocks of keys, without the generation of the keys.
///
/// Processor time excludes the time slices of other programs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    seconds: f64,
    keys: usize,
}

impl Clock {
    /// Times one call.
    pub fn time<T>(&mut self, keys: &[u64], work: impl FnOnce(&[u64]) -> T) -> T {
        let start = ThreadTime::now();
        let result = black_box(work(black_box(keys)));
        self.seconds += start.elapsed().as_secs_f64();
        self.keys += keys.len();
        result
    }

    pub fn add(&mut self, other: Self) {
        self.seconds += other.seconds;
        self.keys += other.keys;
    }

    /// Returns million keys per second.
    pub fn speed(self) -> f64 {
        self.keys as f64 / self.seconds / 1e6
    }
}

/// A timed figure: the median of the rounds, and their range. Arithmetic keeps the range wide
/// enough: the range of a ratio contains one exactly if the ranges of the two figures overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Timed {
    /// Stands for a figure that was not measured.
    pub const NONE: Self = Self { median: f64::NAN, min: f64::NAN, max: f64::NAN };

    /// Returns the figure of some rounds. Of an even number, the median is the upper of the two in
    /// the middle.
    pub fn of(rounds: impl IntoIterator<Item = f64>) -> Self {
        let mut rounds: Vec<f64> = rounds.into_iter().collect();
        rounds.sort_by(f64::total_cmp);
        Self { median: rounds[rounds.len() / 2], min: rounds[0], max: rounds[rounds.len() - 1] }
    }

    /// Returns the mean of some figures; not a number if there are none.
    pub fn mean(figures: impl Iterator<Item = Self>) -> Self {
        let figures: Vec<Self> = figures.collect();
        let of = |of: fn(&Self) -> f64| figures.iter().map(of).sum::<f64>() / figures.len() as f64;
        Self { median: of(|it| it.median), min: of(|it| it.min), max: of(|it| it.max) }
    }

    /// Returns the lesser of two figures.
    pub fn min(self, other: Self) -> Self {
        self.zip(other, f64::min)
    }

    /// Returns the greater of two figures.
    pub fn max(self, other: Self) -> Self {
        self.zip(other, f64::max)
    }

    fn zip(self, other: Self, combine: fn(f64, f64) -> f64) -> Self {
        Self {
            median: combine(self.median, other.median),
            min: combine(self.min, other.min),
            max: combine(self.max, other.max),
        }
    }

    /// Whether a value lies in the range.
    pub fn reaches(self, value: f64) -> bool {
        (self.min..=self.max).contains(&value)
    }
}

impl Div for Timed {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let Self { median, min, max } = other;
        self.zip(Self { median, min: max, max: min }, f64::div)
    }
}

/// Writes the median, and the range in brackets.
impl fmt::Display for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ({:.2}–{:.2})", self.median, self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::{Timed, interleaved};

    fn timed(median: f64, min: f64, max: f64) -> Timed {
        Timed { median, min, max }
    }

    #[test]
    fn each_round_begins_with_the_next_system() {
        let mut calls = String::new();
        let results = interleaved(&["a", "b", "c"], 5, |round, system| {
            calls += system;
            format!("{system}{round}")
        });
        assert_eq!(calls, "abcbcacababcbca");
        assert_eq!(results[1], ["b0", "b1", "b2", "b3", "b4"]);
    }

    #[test]
    fn a_figure_has_the_median_and_the_range_of_the_rounds() {
        assert_eq!(Timed::of([3.0, 1.0, 5.0, 2.0, 4.0]), timed(3.0, 1.0, 5.0));
        assert_eq!(Timed::of([2.0, 1.0]), timed(2.0, 1.0, 2.0));
        assert_eq!(timed(3.0, 1.0, 5.5).to_string(), "3.00 (1.00–5.50)");
    }

    #[test]
    fn a_ratio_reaches_one_if_the_ranges_overlap() {
        let one = timed(10.0, 8.0, 12.0);
        for (other, overlaps) in [
            (timed(6.0, 5.0, 7.9), false),
            (timed(6.0, 5.0, 8.0), true),
            (timed(10.0, 9.0, 11.0), true),
            (timed(14.0, 12.0, 15.0), true),
            (timed(14.0, 12.1, 15.0), false),
        ] {
            assert_eq!((one / other).reaches(1.0), overlaps, "{other}");
            assert_eq!((other / one).reaches(1.0), overlaps, "{other}");
        }
        assert_eq!(one / timed(5.0, 4.0, 8.0), timed(2.0, 1.0, 3.0));
    }

    #[test]
    fn means_and_extremes_keep_the_range() {
        let (one, other) = (timed(2.0, 1.0, 6.0), timed(4.0, 3.0, 5.0));
        assert_eq!(Timed::mean([one, other].into_iter()), timed(3.0, 2.0, 5.5));
        assert_eq!(one.min(other), timed(2.0, 1.0, 5.0));
        assert_eq!(one.max(other), timed(4.0, 3.0, 6.0));
        assert!(Timed::mean(std::iter::empty()).median.is_nan());
    }
}
