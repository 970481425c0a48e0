//! Compares the figures of profiles: filters with one another, and the ends of a curve.

use std::{fmt, ops::RangeInclusive};

use super::{
    Row, Subject,
    profiles::{Curve, Points, Profile, find},
    timing::Timed,
};
use crate::filters::PAPERS;

/// A speed that the paper calls stable; the range allows for the noise of a shared machine.
pub const STABLE: RangeInclusive<f64> = 0.8..=1.25;
/// A speed that falls by more than the noise.
pub const FALLS: RangeInclusive<f64> = 0.0..=0.8;
/// A lower figure than those of the other filters.
pub const LOWER: RangeInclusive<f64> = 0.0..=1.0;
/// A higher figure than those of the other filters.
pub const HIGHER: RangeInclusive<f64> = 1.0..=f64::INFINITY;
/// As fast as the other filter; guira may be faster.
const SAME: RangeInclusive<f64> = 0.95..=1.05;

/// What filters are compared by.
#[derive(Clone, Copy, Debug)]
pub enum Figure {
    Rate,
    Construction,
    /// Each point of a curve.
    Each(Curve),
    /// The point of a curve that is nearest to a share or load.
    Near(Curve, f64),
    /// The mean of a curve.
    Mean(Curve),
}

impl Figure {
    fn of(self, profile: &Profile) -> Vec<Timed> {
        match self {
            Self::Rate => vec![Timed::of([profile.space.rate])],
            Self::Construction => vec![profile.construction],
            Self::Each(curve) => profile.curve(curve).iter().map(|point| point.1).collect(),
            Self::Near(curve, x) => vec![at(profile.curve(curve), x)],
            Self::Mean(curve) => vec![mean(profile.curve(curve), |_| true)],
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate => write!(f, "false positives"),
            Self::Construction => write!(f, "construction"),
            Self::Each(curve) => write!(f, "{curve}, everywhere"),
            Self::Near(curve, x) => write!(f, "{curve}, near {x} %"),
            Self::Mean(curve) => write!(f, "{curve}, mean"),
        }
    }
}

/// Returns the point nearest to a load or share; not a number for an empty curve.
pub fn at(points: &Points, x: f64) -> Timed {
    let distance = |point: &&(f64, Timed)| (point.0 - x).abs();
    let nearest = points.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.map_or(Timed::NONE, |point| point.1)
}

/// Returns the greatest load or share of a curve.
pub fn last(points: &Points) -> f64 {
    points.iter().map(|point| point.0).fold(0.0, f64::max)
}

/// Returns the mean speed of some points.
fn mean(points: &Points, is_wanted: impl Fn(f64) -> bool) -> Timed {
    let points = points.iter().filter(|(x, _)| is_wanted(*x));
    Timed::mean(points.map(|&(_, speed)| speed))
}

/// Returns the mean speed above three quarters of the highest load or share, divided by that below
/// one quarter.
fn trend(points: &Points) -> Timed {
    let full = last(points);
    mean(points, |x| x > 0.75 * full) / mean(points, |x| x < 0.25 * full)
}

/// Returns the smallest x from which the ratios stay above one, interpolated between the points;
/// infinity if the last one does not.
pub fn crossing(ratios: &Points) -> Timed {
    let by = |of: fn(Timed) -> f64| match ratios.iter().rposition(|&(_, ratio)| of(ratio) <= 1.0) {
        None => ratios.first().map_or(f64::INFINITY, |first| first.0),
        Some(last) => ratios.get(last + 1).map_or(f64::INFINITY, |&(x, ratio)| {
            let (below, low) = ratios[last];
            below + (x - below) * (1.0 - of(low)) / (of(ratio) - of(low))
        }),
    };
    // Where the ratio is higher, it passes one earlier.
    Timed {
        median: by(|ratio| ratio.median),
        min: by(|ratio| ratio.max),
        max: by(|ratio| ratio.min),
    }
}

/// The profiles that the claims of one place are about.
#[derive(Clone, Copy)]
pub struct Place<'a>(pub &'static str, pub &'a [Profile]);

impl Place<'_> {
    /// Compares a filter with others: the figure is the ratio to the fastest of them, or to the
    /// slowest if the filter is claimed to be slower than all.
    pub fn order(
        self,
        filter: &str,
        others: &[&str],
        figure: Figure,
        holds: RangeInclusive<f64>,
        note: &str,
    ) -> Row {
        let Self(location, profiles) = self;
        let is_lower = holds == LOWER;
        let ratios = others.iter().flat_map(|other| {
            let figures = [filter, other].map(|name| figure.of(find(profiles, name)));
            let [ours, theirs] = figures.map(Vec::into_iter);
            ours.zip(theirs).map(|(ours, theirs)| ours / theirs)
        });
        let ratio = ratios.reduce(if is_lower { Timed::max } else { Timed::min });
        let ratio = ratio.unwrap_or(Timed::NONE);
        let extreme = if is_lower { "lowest" } else { "highest" };
        let others = match others {
            [other] => (*other).into(),
            _ => format!("the {extreme} of {}", others.join(", ")),
        };
        let quantity = format!("{figure}: {filter} / {others}");
        let row = match figure {
            Figure::Rate => Row::new(location, quantity, ratio.median, "×"),
            _ => Row::timed(location, quantity, ratio, "×"),
        };
        row.holds(holds).note(note)
    }

    /// Compares a filter with all others of the papers, except one.
    pub fn order_of_all(
        self,
        filter: &str,
        except: &str,
        figure: Figure,
        holds: RangeInclusive<f64>,
        note: &str,
    ) -> Row {
        let others = PAPERS.into_iter().filter(|other| ![filter, except].contains(other));
        self.order(filter, &others.collect::<Vec<_>>(), figure, holds, note)
    }

    /// Compares guira with the paper's cuckoo filter.
    pub fn guira(self, filter: &str, figure: Figure, note: &str) -> Row {
        self.order(filter, &["CF"], figure, SAME, note).about(Subject::GuiraMore)
    }

    /// Compares the two ends of a curve of one filter.
    pub fn trend(self, filter: &str, curve: Curve, holds: RangeInclusive<f64>, note: &str) -> Row {
        let Self(location, profiles) = self;
        let ends =
            if curve == Curve::ByShare { "all present / none present" } else { "full / empty" };
        let quantity = format!("{curve}, {filter}: {ends}");
        let is_stable = holds == STABLE;
        let figure = trend(find(profiles, filter).curve(curve));
        let row = Row::timed(location, quantity, figure, "×").holds(holds).note(note);
        if is_stable { row.alike() } else { row }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Figure, HIGHER, LOWER, Place, Points, Profile, Timed, at, crossing, find, last, mean, trend,
    };
    use crate::experiments::profiles::{Curve, variants};
    use crate::experiments::row::table;

    fn curve(points: &[(f64, f64)]) -> Points {
        points.iter().map(|&(x, speed)| (x, Timed::of([speed]))).collect()
    }

    #[test]
    fn a_filter_is_compared_with_each_other_one_at_every_point() {
        let cells = |profiles: &[Profile], holds| {
            let row = Place("", profiles).order_of_all(
                "QF",
                "CF",
                Figure::Each(Curve::ByShare),
                holds,
                "",
            );
            table("", [&row]).rows[0][4].parse::<f64>().expect("a number")
        };
        for profiles in variants().iter().take(50) {
            let points = |name| find(profiles, name).curve(Curve::ByShare);
            let ratios = ["ss-CF", "BF", "blocked BF", "dl-CBF"].into_iter().flat_map(|other| {
                let pairs = points("QF").iter().zip(points(other));
                pairs.map(|(ours, theirs)| ours.1.median / theirs.1.median)
            });
            let ends = ratios.fold((f64::MAX, 0.0), |(min, max): (f64, f64), ratio| {
                (min.min(ratio), max.max(ratio))
            });
            assert!((cells(profiles, HIGHER) / ends.0 - 1.0).abs() < 0.02);
            assert!((cells(profiles, LOWER) / ends.1 - 1.0).abs() < 0.02);
        }
    }

    #[test]
    fn speeds_means_and_trends_are_read_from_a_curve() {
        let one = curve(&[(5.0, 8.0), (50.0, 5.0), (90.0, 2.0), (100.0, 4.0)]);
        assert_eq!(at(&one, 60.0), Timed::of([5.0]));
        assert!(at(&vec![], 1.0).median.is_nan());
        assert_eq!(mean(&one, |x| x > 80.0), Timed::of([3.0]));
        assert_eq!(trend(&one), Timed::of([3.0 / 8.0]));
        assert!((last(&one) - 100.0).abs() < f64::EPSILON);
    }

    #[test]
    fn curves_cross_where_the_ratio_passes_one_for_the_last_time() {
        let crosses = |ratios: [f64; 3]| {
            let found =
                crossing(&curve(&[(0.0, ratios[0]), (50.0, ratios[1]), (100.0, ratios[2])]));
            assert_eq!(found, Timed { min: found.median, max: found.median, ..found });
            found.median
        };
        for (ratios, x) in [
            ([0.5, 1.5, 2.0], 25.0),
            ([1.5, 0.5, 1.5], 75.0),
            ([1.1, 1.2, 1.3], 0.0),
            ([1.1, 1.2, 0.9], f64::INFINITY),
        ] {
            assert_eq!(crosses(ratios).total_cmp(&x), std::cmp::Ordering::Equal, "{ratios:?}");
        }
    }

    #[test]
    fn a_crossing_has_the_range_that_the_ratios_allow() {
        let wide = |median| Timed { median, min: median - 0.5, max: median + 0.5 };
        let found = crossing(&vec![(0.0, wide(0.5)), (50.0, wide(1.0)), (100.0, wide(2.0))]);
        assert_eq!(found, Timed { median: 50.0, min: 0.0, max: 75.0 });
    }
}
