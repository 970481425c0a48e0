//! Plots over the number of items.

use guira_harness::plot::{Chart, Look, Series};

use super::{
    Case,
    curve::{Figures, NAMES},
    report::percent,
};
use crate::bench::Results;

/// Names of the plots for each target rate: bits per item, false-positive rate, and lookups of
/// absent and of present keys.
const CHARTS: [(f64, [&str; 4]); 2] = [
    (
        0.01,
        [
            "growth-1-percent-bits",
            "growth-1-percent-rate",
            "growth-1-percent-lookups-absent",
            "growth-1-percent-lookups-present",
        ],
    ),
    (
        0.001,
        [
            "growth-1-permille-bits",
            "growth-1-permille-rate",
            "growth-1-permille-lookups-absent",
            "growth-1-permille-lookups-present",
        ],
    ),
];

/// The same look means the same filter in every plot.
const LOOKS: [Look; 4] = [
    Look::GUIRA.without_markers(),
    Look::nth(1).without_markers(),
    Look::nth(2).without_markers(),
    Look::nth(4).without_markers(),
];

/// Title, unit and figure of a plot.
type Kind = (&'static str, &'static str, fn(&Figures) -> f64);

/// Adds the plots of the growth in which all filters were measured.
pub fn add(cases: &[Case], results: &mut Results) {
    for (target, names) in CHARTS {
        let is_shown = |case: &&Case| {
            let is_compared = case.curve.points.first().is_some_and(|point| point.all.len() > 1);
            is_compared && (case.target - target).abs() < f64::EPSILON
        };
        let Some(case) = cases.iter().find(is_shown) else { continue };
        let kinds: [Kind; 4] = [
            ("Bits per item while filters grow", "bits per item", |it| it.bits),
            ("False positives while filters grow", "false-positive rate (%)", |it| 100.0 * it.rate),
            ("Lookups of absent keys while filters grow", "time per lookup (ns)", |it| it.times[0]),
            ("Lookups of present keys while filters grow", "time per lookup (ns)", |it| {
                it.times[1]
            }),
        ];
        for (nth, (name, (title, y, figure))) in names.into_iter().zip(kinds).enumerate() {
            let title = format!("{title}, target {}", percent(target));
            let mut chart = Chart::new(name, &title).x("items").log_x().y(y);
            if nth > 0 {
                chart = chart.log_y();
            }
            for (filter, look) in LOOKS.into_iter().enumerate() {
                let points = case.curve.points.iter();
                let points = points.map(|point| (point.items as f64, figure(&point.all[filter])));
                // A logarithmic axis has no place for a rate without a single false positive.
                let points = points.filter(|&(_, figure)| figure > 0.0);
                chart.push(Series::new(look, NAMES[filter], points.collect()));
            }
            if nth == 1 {
                let ends =
                    [case.span.from, case.span.to].map(|items| (items as f64, 100.0 * target));
                chart.push(Series::guide("target", ends.to_vec()));
            }
            results.charts.push(chart);
        }
    }
}
