//! Views of profiles: points, means, ratios and crossings, as numbers, tables and charts.

use std::ops::{Div, RangeInclusive};

use super::{Curve, CurveOf, Profile};
use crate::{
    experiments::{Row, timing::Timed},
    filters::{PAPERS, look},
    report::{Chart, Series, Table},
};

/// Returns the profile of the filter with a name.
///
/// # Panics
/// If there is none.
pub fn find<'a>(profiles: &'a [Profile], name: &str) -> &'a Profile {
    profiles.iter().find(|profile| profile.name == name).expect("a filter has this name")
}

/// Returns the speed at the point nearest to a load or share; not a number for an empty curve.
pub fn at(curve: &Curve, x: f64) -> Timed {
    let distance = |point: &&(f64, Timed)| (point.0 - x).abs();
    let nearest = curve.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.map_or(Timed::NONE, |point| point.1)
}

/// Returns the mean speed over a range of loads.
pub fn mean(curve: &Curve, loads: RangeInclusive<f64>) -> Timed {
    let points = curve.iter().filter(|(load, _)| loads.contains(load));
    Timed::mean(points.map(|&(_, speed)| speed))
}

/// Returns the mean speed in the highest quarter of the loads divided by that in the lowest
/// quarter.
pub fn trend(curve: &Curve) -> Timed {
    let full = curve.iter().map(|point| point.0).fold(0.0, f64::max);
    mean(curve, 0.75 * full..=full) / mean(curve, 0.0..=0.25 * full)
}

/// Returns the ratios of two curves over the same points.
pub fn ratios(curve: &Curve, other: &Curve) -> Curve {
    curve.iter().zip(other).map(|(one, two)| (one.0, one.1 / two.1)).collect()
}

/// Returns a figure of one filter relative to another's.
pub fn ratio<T: Div<Output = T>>(
    profiles: &[Profile],
    name: &str,
    other: &str,
    of: impl Fn(&Profile) -> T,
) -> T {
    of(find(profiles, name)) / of(find(profiles, other))
}

/// Returns the ratio of one filter of the papers to the largest or the smallest of some others.
///
/// # Panics
/// If there are no others.
pub fn against<T: Div<Output = T>>(
    profiles: &[Profile],
    name: &str,
    others: impl Fn(&str) -> bool,
    of: impl Fn(&Profile) -> T,
    choose: fn(T, T) -> T,
) -> T {
    let others = PAPERS.into_iter().filter(|&other| other != name && others(other));
    let ratios = others.map(|other| ratio(profiles, name, other, &of));
    ratios.reduce(choose).expect("some filters are compared")
}

/// Returns the smallest x from which the ratios stay above one, interpolated between the points;
/// infinity if the last one does not.
pub fn crossing(ratios: &Curve) -> Timed {
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

/// A speed that the paper calls stable; the range allows for the noise of a shared machine.
pub const STABLE: RangeInclusive<f64> = 0.8..=1.25;
/// A speed that falls by more than the noise.
pub const FALLS: RangeInclusive<f64> = 0.0..=0.8;
/// A lower speed than that of the other filter.
pub const SLOWER: RangeInclusive<f64> = 0.0..=1.0;
/// A higher speed than that of the other filter.
pub const FASTER: RangeInclusive<f64> = 1.0..=f64::INFINITY;

/// Returns a row about a claim of the papers on a ratio of speeds.
pub fn claim(
    location: &str,
    quantity: impl Into<String>,
    ratio: Timed,
    holds: RangeInclusive<f64>,
    note: &str,
) -> Row {
    let is_stable = holds == STABLE;
    let row = Row::timed(location, quantity, ratio, "×").holds(holds).note(note);
    if is_stable { row.alike() } else { row }
}

/// Adds the paper's filters and guira's 12-bit layouts to a chart, and returns it with its points.
pub fn chart(chart: Chart, profiles: &[Profile], curve: CurveOf) -> (Chart, Table) {
    let is_shown = |profile: &&Profile| {
        PAPERS.contains(&profile.name.as_str())
            || profile.name.contains("Plain5x12")
            || profile.name.contains("SemiSorted6x12")
    };
    let shown = profiles.iter().filter(is_shown);
    chart_of(chart, shown.map(|profile| (profile.name.as_str(), curve(profile))))
}

/// Adds the batches of all layouts to a chart, and the paper's cuckoo filter for comparison, and
/// returns it with its points.
pub fn layout_chart<'a>(chart: Chart, profiles: &'a [Profile], curve: CurveOf) -> (Chart, Table) {
    let layouts = profiles.iter().filter(|profile| profile.name.ends_with(", batches"));
    let shown = layouts.chain(std::iter::once(find(profiles, "CF")));
    // All layouts are in batches here, so their names and solid markers suffice.
    let named = |profile: &'a Profile| (profile.name.trim_end_matches(", batches"), curve(profile));
    chart_of(chart, shown.map(named))
}

/// Adds the medians of some curves to a chart, and returns it with the points and their ranges.
fn chart_of<'a>(
    mut chart: Chart,
    curves: impl Iterator<Item = (&'a str, &'a Curve)>,
) -> (Chart, Table) {
    let mut points = Table::new(chart.name, &["series", "x", "median", "minimum", "maximum"]);
    for (name, curve) in curves {
        for (x, Timed { median, min, max }) in curve {
            let figures = [x, median, min, max].map(ToString::to_string);
            points.push(std::iter::once(name.to_string()).chain(figures).collect());
        }
        let medians = curve.iter().map(|&(x, speed)| (x, speed.median)).collect();
        chart.push(Series::new(look(name), name, medians));
    }
    (chart, points)
}

/// Builds a table of the speeds of all filters near some loads or shares in per cent.
pub fn table(name: &'static str, profiles: &[Profile], points: &[f64], curve: CurveOf) -> Table {
    let mut head = vec!["filter".to_string(), "source".into()];
    head.extend(points.iter().map(|point| format!("{point} %")));
    let mut table = Table { name, head, rows: Vec::new() };
    for profile in profiles.iter().filter(|profile| !curve(profile).is_empty()) {
        let curve = curve(profile);
        let max = curve.iter().map(|point| point.0).fold(0.0, f64::max);
        // A dash means that the filter does not reach the load.
        let speed = |x| if x <= max + 2.5 { at(curve, x).to_string() } else { "–".into() };
        let speeds = points.iter().map(|&x| speed(x));
        let names = [profile.name.clone(), profile.source.to_string()];
        table.push(names.into_iter().chain(speeds).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{Curve, Timed, at, crossing, mean, ratios, trend};

    fn curve(points: &[(f64, f64)]) -> Curve {
        points.iter().map(|&(x, speed)| (x, Timed::of([speed]))).collect()
    }

    #[test]
    fn speeds_means_and_ratios_are_read_from_a_curve() {
        let one = curve(&[(5.0, 8.0), (50.0, 5.0), (90.0, 2.0), (100.0, 4.0)]);
        assert_eq!(at(&one, 60.0), Timed::of([5.0]));
        assert!(at(&vec![], 1.0).median.is_nan());
        assert_eq!(mean(&one, 80.0..=100.0), Timed::of([3.0]));
        assert_eq!(trend(&one), Timed::of([3.0 / 8.0]));
        let other = curve(&[(5.0, 4.0), (50.0, 5.0), (90.0, 2.0), (100.0, 4.0)]);
        let expected = curve(&[(5.0, 2.0), (50.0, 1.0), (90.0, 1.0), (100.0, 1.0)]);
        assert_eq!(ratios(&one, &other), expected);
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
