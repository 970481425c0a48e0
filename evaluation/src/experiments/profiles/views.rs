//! Views of profiles: points, means and ratios, as rows, tables and charts.

use std::ops::RangeInclusive;

use super::{Curve, CurveOf, Profile};
use crate::{
    experiments::{Row, Verdict},
    report::{Chart, Look, Marker, Series, Table, cell},
};

/// Returns the profile of the filter with a name.
///
/// # Panics
/// If there is none.
pub fn find<'a>(profiles: &'a [Profile], name: &str) -> &'a Profile {
    profiles.iter().find(|profile| profile.name == name).expect("a filter has this name")
}

/// Returns the speed at the point nearest to a load or share; not a number for an empty curve.
pub fn at(curve: &Curve, x: f64) -> f64 {
    let distance = |point: &&(f64, f64)| (point.0 - x).abs();
    let nearest = curve.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.map_or(f64::NAN, |point| point.1)
}

/// Returns the mean speed over a range of loads.
pub fn mean(curve: &Curve, loads: RangeInclusive<f64>) -> f64 {
    let speeds = || curve.iter().filter(|(load, _)| loads.contains(load)).map(|(_, speed)| speed);
    speeds().sum::<f64>() / speeds().count() as f64
}

/// Returns the mean speed in the highest quarter of the loads divided by that in the lowest
/// quarter.
pub fn trend(curve: &Curve) -> f64 {
    let full = curve.iter().map(|point| point.0).fold(0.0, f64::max);
    mean(curve, 0.75 * full..=full) / mean(curve, 0.0..=0.25 * full)
}

/// Returns the minimum ratio of two curves over the same points.
pub fn min_ratio(curve: &Curve, other: &Curve) -> f64 {
    let ratios = curve.iter().zip(other).map(|(one, other)| one.1 / other.1);
    ratios.fold(f64::INFINITY, f64::min)
}

/// Checks a claim of the paper's text on a ratio of speeds; a ratio above the range is better.
///
/// Speeds depend on the machine, so the claims are about orders and trends only.
pub fn claim(
    location: &str,
    quantity: impl Into<String>,
    (paper, measured): (Option<f64>, f64),
    holds: RangeInclusive<f64>,
    note: &str,
) -> Row {
    let verdict = match measured {
        _ if holds.contains(&measured) => Verdict::Reproduced,
        _ if measured > *holds.end() => Verdict::Better,
        _ => Verdict::Differs,
    };
    let (location, quantity, note) = (location.into(), quantity.into(), note.into());
    Row { location, quantity, paper, measured, unit: "×", verdict, note }
}

/// A speed that the paper calls stable; the range allows for the noise of a shared machine.
pub const STABLE: RangeInclusive<f64> = 0.67..=1.5;
/// A speed that falls.
pub const FALLS: RangeInclusive<f64> = 0.0..=0.67;
/// A lower speed than that of the other filter.
pub const SLOWER: RangeInclusive<f64> = 0.0..=1.0;
/// A higher speed than that of the other filter.
pub const FASTER: RangeInclusive<f64> = 1.0..=f64::INFINITY;

/// Returns the colour and marker of the paper's filters and of guira's 12-bit layouts; `None` for
/// filters that the charts omit.
fn style(name: &str) -> Option<Look> {
    const PAPERS: [&str; 6] = ["CF", "ss-CF", "BF", "blocked BF", "QF", "dl-CBF"];
    let papers = PAPERS.iter().position(|&papers| papers == name).map(|index| index + 1);
    let semi_sorted = Look::GUIRA.marker(Marker::Square);
    papers.map(Look::nth).or_else(|| match name.strip_prefix("guira ")? {
        "Plain5x12" => Some(Look::GUIRA),
        "Plain5x12, batches" => Some(Look::GUIRA_BATCH),
        "SemiSorted6x12" => Some(semi_sorted),
        "SemiSorted6x12, batches" => Some(semi_sorted.variant()),
        _ => None,
    })
}

/// Adds the paper's filters and guira's 12-bit layouts to a chart.
pub fn chart(chart: Chart, profiles: &[Profile], curve: CurveOf) -> Chart {
    let shown = profiles.iter().filter_map(|profile| Some((style(&profile.name)?, profile)));
    shown.fold(chart, |chart, (style, profile)| {
        chart.with(Series::new(style, &*profile.name, curve(profile).clone()))
    })
}

/// Adds the batches of all layouts to a chart, and the paper's cuckoo filter for comparison.
pub fn layout_chart(chart: Chart, profiles: &[Profile], curve: CurveOf) -> Chart {
    let layouts = profiles.iter().filter(|profile| profile.name.ends_with(", batches"));
    let chart = layouts.enumerate().fold(chart, |chart, (style, profile)| {
        chart.with(Series::line(style, &*profile.name, curve(profile).clone()))
    });
    chart.with(Series::guide("CF", curve(find(profiles, "CF")).clone()))
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
        let speeds = points.iter().map(|&x| cell((x <= max + 2.5).then(|| at(curve, x)), 2));
        let names = [profile.name.clone(), profile.source.to_string()];
        table.push(names.into_iter().chain(speeds).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{FALLS, STABLE, Verdict, at, claim, mean, min_ratio, trend};

    #[test]
    fn speeds_means_and_ratios_are_read_from_a_curve() {
        let curve = vec![(5.0, 8.0), (50.0, 5.0), (90.0, 2.0), (100.0, 4.0)];
        assert!((at(&curve, 60.0) - 5.0).abs() < 1e-9);
        assert!(at(&vec![], 1.0).is_nan());
        assert!((mean(&curve, 80.0..=100.0) - 3.0).abs() < 1e-9);
        assert!((trend(&curve) - 3.0 / 8.0).abs() < 1e-9);
        let other = curve.iter().map(|&(x, y)| (x, if y > 6.0 { 4.0 } else { y })).collect();
        assert!((min_ratio(&curve, &other) - 1.0).abs() < 1e-9);
        assert!((min_ratio(&other, &curve) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_ratio_above_the_claimed_range_is_better_and_one_below_differs() {
        let verdict = |measured, holds| claim("", "", (None, measured), holds, "").verdict;
        assert_eq!(verdict(1.0, STABLE), Verdict::Reproduced);
        assert_eq!(verdict(0.5, STABLE), Verdict::Differs);
        assert_eq!(verdict(0.5, FALLS), Verdict::Reproduced);
        assert_eq!(verdict(0.9, FALLS), Verdict::Better);
        assert_eq!(verdict(f64::NAN, FALLS), Verdict::Differs);
    }
}
