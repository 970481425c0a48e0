//! Views of profiles: points, means, ratios and crossings, as numbers, tables and charts.

use std::ops::RangeInclusive;

use super::{Curve, CurveOf, Profile};
use crate::{
    filters::{PAPERS, look},
    report::{Chart, Series, Table, cell},
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

/// Returns the ratios of two curves over the same points, and their minimum and maximum.
pub fn ratios(curve: &Curve, other: &Curve) -> (Curve, f64, f64) {
    let ratios: Curve = curve.iter().zip(other).map(|(one, two)| (one.0, one.1 / two.1)).collect();
    let fold =
        |start, choose: fn(f64, f64) -> f64| ratios.iter().map(|point| point.1).fold(start, choose);
    let (min, max) = (fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max));
    (ratios, min, max)
}

/// Returns the speed of one filter relative to another's, by a number of each.
pub fn ratio(profiles: &[Profile], name: &str, other: &str, of: impl Fn(&Profile) -> f64) -> f64 {
    of(find(profiles, name)) / of(find(profiles, other))
}

/// Returns the smallest x from which the ratios stay above one, interpolated between the points;
/// not a number if the last one does not.
pub fn crossing(ratios: &Curve) -> f64 {
    match ratios.iter().rposition(|&(_, ratio)| ratio <= 1.0) {
        None => ratios.first().map_or(f64::NAN, |first| first.0),
        Some(last) => ratios.get(last + 1).map_or(f64::NAN, |&(x, ratio)| {
            let (below, low) = ratios[last];
            below + (x - below) * (1.0 - low) / (ratio - low)
        }),
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

/// Adds the paper's filters and guira's 12-bit layouts to a chart.
pub fn chart(chart: Chart, profiles: &[Profile], curve: CurveOf) -> Chart {
    let is_shown = |profile: &&Profile| {
        PAPERS.contains(&profile.name.as_str())
            || profile.name.contains("Plain5x12")
            || profile.name.contains("SemiSorted6x12")
    };
    profiles.iter().filter(is_shown).fold(chart, |chart, profile| {
        chart.with(Series::new(look(&profile.name), &*profile.name, curve(profile).clone()))
    })
}

/// Adds the batches of all layouts to a chart, and the paper's cuckoo filter for comparison.
pub fn layout_chart(chart: Chart, profiles: &[Profile], curve: CurveOf) -> Chart {
    let layouts = profiles.iter().filter(|profile| profile.name.ends_with(", batches"));
    let cf = std::iter::once(find(profiles, "CF"));
    layouts.chain(cf).fold(chart, |chart, profile| {
        // All layouts are in batches here, so their names and solid markers suffice.
        let name = profile.name.trim_end_matches(", batches");
        chart.with(Series::new(look(name), name, curve(profile).clone()))
    })
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
    use super::{at, crossing, mean, ratios, trend};

    #[test]
    fn speeds_means_and_ratios_are_read_from_a_curve() {
        let curve = vec![(5.0, 8.0), (50.0, 5.0), (90.0, 2.0), (100.0, 4.0)];
        assert!((at(&curve, 60.0) - 5.0).abs() < 1e-9);
        assert!(at(&vec![], 1.0).is_nan());
        assert!((mean(&curve, 80.0..=100.0) - 3.0).abs() < 1e-9);
        assert!((trend(&curve) - 3.0 / 8.0).abs() < 1e-9);
        let other = curve.iter().map(|&(x, y)| (x, if y > 6.0 { 4.0 } else { y })).collect();
        let (_, min, max) = ratios(&curve, &other);
        assert!((min - 1.0).abs() < 1e-9 && (max - 2.0).abs() < 1e-9);
        let (_, min, max) = ratios(&other, &curve);
        assert!((min - 0.5).abs() < 1e-9 && (max - 1.0).abs() < 1e-9);
    }

    #[test]
    fn curves_cross_where_the_ratio_passes_one_for_the_last_time() {
        let crosses = |ratios: [f64; 3], x: f64| {
            let found = crossing(&vec![(0.0, ratios[0]), (50.0, ratios[1]), (100.0, ratios[2])]);
            assert!((found - x).abs() < 1e-9 || (found.is_nan() && x.is_nan()), "{found}");
        };
        crosses([0.5, 1.5, 2.0], 25.0);
        crosses([1.5, 0.9, 1.1], 75.0);
        crosses([1.1, 1.2, 1.3], 0.0);
        crosses([1.1, 1.2, 0.9], f64::NAN);
    }
}
