//! The figures, the tables and the plots of the section.

use guira_harness::{
    plot::{Chart, Look, Series},
    table::{Table, cell},
};

use super::{
    TARGETS,
    curve::{Curve, NAMES, percent},
    times::{BATCH, SINGLE, Times},
};
use crate::{
    bench::Results,
    figure::Figure,
    latency::{LATENCY, P999, P9999},
    rounds::Rounds,
    span::{Place, words},
};

/// Lookups whose figures are multiples of those of the filter that was built for the items.
const LOOKUPS: [&str; 4] = [
    "lookup, single, absent",
    "lookup, single, present",
    "lookup, batch, absent",
    "lookup, batch, present",
];

/// Adds the figures: for each operation and growth the worse of both target rates.
pub fn add_figures(cases: &[Curve], times: &Times, results: &mut Results) {
    for target in TARGETS {
        let of_target = cases.iter().filter(|case| is_same(case.target, target));
        let most = of_target.filter_map(|case| Some((case, case.most_bits?)));
        let most = most.max_by(|a, b| a.1.0.total_cmp(&b.1.0));
        let (most, note) = most.map_or((f64::NAN, String::new()), |(case, (bits, items))| {
            (bits, format!("{}, {}, at {}", case.span.name(), case.layout, words(items)))
        });
        let name = format!("growing: bits per item beyond 100 times, target {}", percent(target));
        results.figures.push(Figure::new(name, most, "bits").note(note));
    }
    let rates = cases.iter().filter_map(|case| Some((case, case.highest_rate()?)));
    let rates = rates.map(|(case, (rate, items))| (rate / case.target, case, items));
    if let Some((share, case, items)) = rates.max_by(|a, b| a.0.total_cmp(&b.0)) {
        let (target, name) = (percent(case.target), case.span.name());
        let note = format!("highest: target {target}, {name}, at {}", words(items));
        let name = "growing: false-positive rate, at every size";
        results.figures.push(Figure::new(name, share, "of the target").note(note));
    }
    for pair in cases.chunk_by(|a, b| a.span == b.span) {
        let span = pair[0].span;
        let mut add = |rounds: &Rounds, operation: &str, what: &str, unit| {
            let figures = pair.iter().map(|case| {
                let row = rounds.row(&format!("{}: {operation}", case.name()));
                let figure = if unit == "µs" { row.figure } else { row.times };
                (percent(case.target), figure)
            });
            let figures: Vec<(String, f64)> = figures.collect();
            let worse = if unit == "of one" { f64::min } else { f64::max };
            // Not a number stands for what was not measured.
            let worst = figures.iter().map(|it| it.1).reduce(worse).unwrap_or(f64::NAN);
            let notes =
                figures.iter().map(|(target, it)| format!("{target}: {}", cell(Some(*it), 2)));
            let note = notes.collect::<Vec<_>>().join("; ");
            let name = format!("growing, {}: {what}", span.name());
            results.figures.push(Figure::new(name, worst, unit).note(note));
        };
        // Where the tables are between L2 and memory, lookups depend on the machine.
        let lookups = if span.place() == Place::Between { &[][..] } else { &LOOKUPS };
        for operation in lookups.iter().copied().chain([SINGLE, BATCH]) {
            add(&times.alone, operation, operation, "times");
        }
        if span.place() != Place::L2 {
            for percentile in [P999, P9999] {
                add(&times.percentiles, percentile, percentile, "µs");
            }
            for operation in [SINGLE, BATCH] {
                add(&times.together, operation, &format!("{operation}, by two threads"), "of one");
            }
        }
    }
}

/// Adds the tables.
pub fn add_tables(times: &Times, results: &mut Results) {
    let head = ["growth", "grown, ns", "built, ns", "times"];
    let heading = "Growth: a filter that has grown, against one built for its items";
    results.tables.push((heading, times.alone.table("growing", head, 1)));
    let head = ["growth", "million inserts/s, two threads", "one thread", "times"];
    let heading = "Growth: two threads that insert into one filter";
    results.tables.push((heading, times.together.table("growing-threads", head, 1)));
    let rows = times.latencies.clone();
    let latency = Table { rows, ..Table::new("growing-latency", &LATENCY) };
    results.tables.push(("Growth: the time of each insert", latency));
}

/// Name, title and unit of the plot of each figure, of the growth in which all filters were
/// measured, with a target of 1 %.
const CHARTS: [[&str; 3]; 3] = [
    ["growth-1-percent-bits", "Bits per item", "bits per item"],
    ["growth-1-percent-rate", "False positives", "false-positive rate (%)"],
    ["growth-1-percent-lookups-absent", "Lookups of absent keys", "time per lookup (ns)"],
];

/// Looks of the filters, in the order of [`NAMES`].
const LOOKS: [Look; 3] = [Look::GUIRA, Look::nth(1), Look::nth(4)];

/// Adds the plots over the number of items.
pub fn add_charts(cases: &[Curve], results: &mut Results) {
    let is_compared = |case: &Curve| case.points.first().is_some_and(|it| it.all.len() > 1);
    let is_shown = |case: &&Curve| is_compared(case) && is_same(case.target, 0.01);
    let Some(case) = cases.iter().find(is_shown) else { return };
    for (nth, [name, title, y]) in CHARTS.into_iter().enumerate() {
        let title = format!("{title} while filters grow, target {}", percent(case.target));
        let mut chart = Chart::new(name, &title).x("items").log_x().y(y);
        if nth > 0 {
            chart = chart.log_y();
        }
        for (filter, look) in LOOKS.into_iter().enumerate() {
            let points = case.points.iter();
            let points = points.map(|point| (point.items as f64, point.all[filter][nth]));
            // A logarithmic axis has no place for a rate without a single false positive.
            let points = points.filter(|&(_, figure)| figure > 0.0).collect();
            chart.push(Series::new(look.without_markers(), NAMES[filter], points));
        }
        if nth == 1 {
            let ends = [case.span.from, case.span.to];
            let target = ends.map(|items| (items as f64, 100.0 * case.target));
            chart.push(Series::guide("target", target.to_vec()));
        }
        results.charts.push(chart);
    }
}

fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() < f64::EPSILON
}
