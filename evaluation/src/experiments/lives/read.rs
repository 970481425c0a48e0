//! What the figures read off the lives: points, means and orders, as rows, tables and charts.

use std::ops::RangeInclusive;

use guira_report::{
    plot::{Chart, Series},
    table::{Table, cell},
};

use super::{Curve, Life, Which};
use crate::experiments::{Row, Verdict};

/// A filter's life by its name.
pub fn find<'a>(lives: &'a [Life], name: &str) -> &'a Life {
    lives.iter().find(|life| life.name == name).expect("a filter of this name")
}

/// The speed at the point nearest to a load or share; none for an empty curve.
pub fn at(curve: &Curve, x: f64) -> Option<f64> {
    let distance = |point: &&(f64, f64)| (point.0 - x).abs();
    curve.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|point| point.1)
}

/// Mean speed over a range of loads.
pub fn mean(curve: &Curve, loads: RangeInclusive<f64>) -> f64 {
    let speeds = || curve.iter().filter(|(load, _)| loads.contains(load)).map(|(_, speed)| speed);
    speeds().sum::<f64>() / speeds().count() as f64
}

/// The speed in the fullest quarter of the loads against that in the emptiest quarter.
pub fn trend(curve: &Curve) -> f64 {
    let full = curve.iter().map(|point| point.0).fold(0.0, f64::max);
    mean(curve, 0.75 * full..=full) / mean(curve, 0.0..=0.25 * full)
}

/// The least that one curve is of another, of those over the same points.
pub fn least_ratio(curve: &Curve, other: &Curve) -> f64 {
    let ratios = curve.iter().zip(other).map(|(one, other)| one.1 / other.1);
    ratios.fold(f64::INFINITY, f64::min)
}

/// How a ratio of speeds stands to what the paper says of it: more than that is better.
///
/// Speeds are another machine's, so the paper's text is taken by its orders and trends.
pub fn claim(
    place: &str,
    what: impl Into<String>,
    (paper, here): (Option<f64>, f64),
    holds: RangeInclusive<f64>,
    why: &str,
) -> Row {
    let verdict = match here {
        _ if holds.contains(&here) => Verdict::Reproduced,
        _ if here > *holds.end() => Verdict::Better,
        _ => Verdict::Differs,
    };
    let (place, what, why) = (place.into(), what.into(), why.into());
    Row { place, what, paper, here, unit: "×", verdict, why }
}

/// Speeds that the paper calls stable: not by half as much again, up or down, which leaves room for a
/// machine that others use as well.
pub const STABLE: RangeInclusive<f64> = 0.67..=1.5;
/// Speeds that fall.
pub const FALLS: RangeInclusive<f64> = 0.0..=0.67;
/// Slower than what it is compared with.
pub const SLOWER: RangeInclusive<f64> = 0.0..=1.0;
/// Faster than that.
pub const FASTER: RangeInclusive<f64> = 1.0..=f64::INFINITY;

/// Colour and marker of the filters in the paper's figures, and of guira's layouts of 12 bits.
fn look(name: &str) -> Option<usize> {
    const PAPERS: [&str; 6] = ["CF", "ss-CF", "BF", "blocked BF", "QF", "dl-CBF"];
    let papers = PAPERS.iter().position(|&papers| papers == name).map(|nth| nth + 1);
    papers.or_else(|| match name.strip_prefix("guira ")? {
        "Plain5x12, batches" => Some(0),
        "Plain5x12" => Some(7),
        "SemiSorted6x12, batches" => Some(8),
        "SemiSorted6x12" => Some(9),
        _ => None,
    })
}

/// A chart with the paper's filters, and guira's layouts with fingerprints of as many bits as its own.
pub fn chart(chart: Chart, lives: &[Life], curve: Which) -> Chart {
    let shown = lives.iter().filter_map(|life| Some((look(&life.name)?, life)));
    shown.fold(chart, |chart, (nth, life)| {
        chart.with(Series::line(nth, &*life.name, curve(life).clone()))
    })
}

/// A chart with all of guira's layouts, in batches, and the paper's cuckoo filter to compare with.
pub fn layouts(chart: Chart, lives: &[Life], curve: Which) -> Chart {
    let layouts = lives.iter().filter(|life| life.name.ends_with(", batches"));
    let chart = layouts.enumerate().fold(chart, |chart, (nth, life)| {
        chart.with(Series::line(nth, &*life.name, curve(life).clone()))
    });
    chart.with(Series::guide("CF", curve(find(lives, "CF")).clone()))
}

/// A table with the speeds of all filters near some loads or shares, in per cent, and of the full filter.
pub fn table(name: &'static str, lives: &[Life], points: &[f64], curve: Which) -> Table {
    let mut head = vec!["filter".to_string(), "from".into()];
    head.extend(points.iter().map(|point| format!("{point} %")));
    let mut table = Table { name, head, rows: Vec::new() };
    for life in lives.iter().filter(|life| !curve(life).is_empty()) {
        let curve = curve(life);
        let most = curve.iter().map(|point| point.0).fold(0.0, f64::max);
        let speeds = points.iter().map(|&x| {
            // Nothing where the filter is full before.
            cell(at(curve, x).filter(|_| x <= most + 2.5), 2)
        });
        let names = [life.name.clone(), life.source.to_string()];
        table.push(names.into_iter().chain(speeds).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{FALLS, STABLE, Verdict, at, claim, least_ratio, mean, trend};

    #[test]
    fn curves_are_read_at_their_points() {
        let curve = vec![(5.0, 8.0), (50.0, 5.0), (90.0, 2.0), (100.0, 4.0)];
        assert_eq!((at(&curve, 60.0), at(&vec![], 1.0)), (Some(5.0), None));
        assert!((mean(&curve, 80.0..=100.0) - 3.0).abs() < 1e-9);
        assert!((trend(&curve) - 3.0 / 8.0).abs() < 1e-9);
        let other = curve.iter().map(|&(x, y)| (x, if y > 6.0 { 4.0 } else { y })).collect();
        assert!((least_ratio(&curve, &other) - 1.0).abs() < 1e-9);
        assert!((least_ratio(&other, &curve) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_ratio_above_what_the_paper_has_is_better_and_one_below_differs() {
        let verdict = |here, holds| claim("", "", (None, here), holds, "").verdict;
        assert_eq!(verdict(1.0, STABLE), Verdict::Reproduced);
        assert_eq!(verdict(0.5, STABLE), Verdict::Differs);
        assert_eq!(verdict(0.5, FALLS), Verdict::Reproduced);
        assert_eq!(verdict(0.9, FALLS), Verdict::Better);
        assert_eq!(verdict(f64::NAN, FALLS), Verdict::Differs);
    }
}
