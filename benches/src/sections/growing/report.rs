//! The bars, the tables and the plots of the section.

use guira_harness::{
    plot::{Chart, Look, Series},
    table::{Table, cell},
};

use super::{
    case::{Case, percent},
    curve::{Figures, NAMES},
    latency::Latency,
    times::{BATCH, SINGLE, Times},
};
use crate::{
    bar::{
        Bar,
        Target::{AtLeast, AtMost, Nothing},
    },
    bench::Results,
    span::{Place, words},
};

/// Most bits per item at a target of 1 %, and of 0.1 %.
const BITS: [(f64, f64); 2] = [(0.01, 21.0), (0.001, 28.0)];

/// Figures that are multiples of those of the filter that was built for the items, with the bars
/// in L2 and in memory.
const BARS: [(&str, [f64; 2]); 6] = [
    ("lookup, single, absent", [1.35, 1.15]),
    ("lookup, single, present", [1.35, 1.15]),
    ("lookup, batch, absent", [1.35, 1.15]),
    ("lookup, batch, present", [1.35, 1.15]),
    (SINGLE, [2.5, 2.5]),
    (BATCH, [2.5, 2.5]),
];

/// Adds the bars: one for each operation and growth, with the worse of the targets.
pub fn add_bars(cases: &[Case], times: &Times, results: &mut Results) {
    for (target, bar) in BITS {
        let of_target = cases.iter().filter(|case| is_same(case.target, target));
        let most = of_target.filter_map(|case| Some((case, case.curve.most_bits?)));
        let (most, note) = most.max_by(|a, b| a.1.0.total_cmp(&b.1.0)).map_or(
            (f64::NAN, String::new()),
            |(case, (bits, items))| {
                let (name, layout) = (case.span.name(), &case.curve.layouts[0]);
                let built = case.curve.built_bits;
                let note = format!("{name}, {layout}, at {}; built {built:.1}", words(items));
                (bits, note)
            },
        );
        let name = format!("growing: bits per item beyond 100 times, target {}", percent(target));
        results.bars.push(Bar::new(name, AtMost(bar), most, "bits").note(note));
    }
    let rates = cases.iter().filter_map(|case| Some((case, case.curve.highest_rate()?)));
    let rates = rates.map(|(case, (rate, items))| (rate / case.target, case, items));
    if let Some((share, case, items)) = rates.max_by(|a, b| a.0.total_cmp(&b.0)) {
        let (target, name) = (percent(case.target), case.span.name());
        let note = format!("highest: target {target}, {name}, at {}", words(items));
        let name = "growing: false-positive rate, at every size";
        results.bars.push(Bar::new(name, AtMost(1.0), share, "of the target").note(note));
    }
    for pair in by_span(cases) {
        let span = pair[0].span;
        let name = |operation: &str| format!("growing, {}: {operation}", span.name());
        for (operation, bars) in BARS {
            let place = match span.place() {
                Place::L2 => Some(0),
                // Inserts have one bar everywhere.
                Place::Between => [SINGLE, BATCH].contains(&operation).then_some(0),
                Place::Memory => Some(1),
            };
            let Some(place) = place else { continue };
            let (worst, note) = worst(pair, true, |case| {
                times.alone.row(&format!("{}: {operation}", case.name())).times
            });
            let bar = Bar::new(name(operation), AtMost(bars[place]), worst, "times");
            results.bars.push(bar.note(note));
        }
        if span.place() == Place::L2 {
            continue;
        }
        for (operation, bar, nth) in
            [("one insert, 99.9th percentile", 5.0, 0), ("one insert, 99.99th percentile", 40.0, 1)]
        {
            let (worst, note) = worst(pair, true, |case| {
                case.latencies.summary().map_or(f64::NAN, |it| [it.p999, it.p9999][nth])
            });
            results.bars.push(Bar::new(name(operation), AtMost(bar), worst, "µs").note(note));
        }
        let slowest = |case: &Case| case.latencies.summary().map_or(f64::NAN, |it| it.slowest);
        let (worst_of_all, _) = worst(pair, true, slowest);
        let causes = pair.iter().filter_map(cause).collect::<Vec<_>>().join("; ");
        let name_of_slowest = name("one insert, the slowest");
        results.bars.push(Bar::new(name_of_slowest, Nothing, worst_of_all, "µs").note(causes));
        for operation in [SINGLE, BATCH] {
            let (worst, note) = worst(pair, false, |case| {
                times.together.row(&format!("{}: {operation}", case.name())).times
            });
            let name = name(&format!("{operation}, by two threads"));
            let bar = Bar::new(name, AtLeast(1.6), worst, "of one");
            results.bars.push(bar.note(note));
        }
    }
}

/// Adds the tables.
pub fn add_tables(cases: &[Case], times: &Times, results: &mut Results) {
    let bits = |figure: Option<f64>| cell(figure, 1);
    let measured: Vec<&Case> = cases.iter().filter(|case| !case.curve.points.is_empty()).collect();
    let space = Table::of(
        "growing-space",
        &measured,
        &[
            ("growth", &|case| case.name()),
            ("layouts, grown and built", &|case| case.curve.layouts.join(", ")),
            ("bits beyond 100 times, largest", &|case| {
                bits(case.curve.most_bits.map(|most| most.0))
            }),
            ("bits in the end", &|case| bits(case.curve.points.last().map(|it| it.all[0].bits))),
            ("built", &|case| bits(Some(case.curve.built_bits))),
            ("false positives, highest", &|case| {
                case.curve
                    .highest_rate()
                    .map_or("–".into(), |it| format!("{:.4} %", 100.0 * it.0))
            }),
            ("at", &|case| case.curve.highest_rate().map_or("–".into(), |it| words(it.1))),
        ],
    );
    results.tables.push(("Growth: memory and false-positive rate", space));
    let head = ["growth", "grown, ns", "built, ns", "times"];
    let heading = "Growth: a filter that has grown, against one built for its items";
    results.tables.push((heading, times.alone.table("growing", head, 1)));
    let head = ["growth", "inserts/ns, two threads", "one thread", "times"];
    let heading = "Growth: two threads that insert into one filter";
    results.tables.push((heading, times.together.table("growing-threads", head, 4)));
    let summaries = cases.iter().filter_map(|case| Some((case.name(), case.latencies.summary()?)));
    let summaries: Vec<(String, Latency)> = summaries.collect();
    let latency = Table::of(
        "growing-latency",
        &summaries,
        &[
            ("growth", &|(name, _)| name.clone()),
            ("median, µs", &|(_, it)| cell(Some(it.median), 2)),
            ("99.9 %, µs", &|(_, it)| cell(Some(it.p999), 2)),
            ("99.99 %, µs", &|(_, it)| cell(Some(it.p9999), 1)),
            ("slowest, µs", &|(_, it)| cell(Some(it.slowest), 0)),
            ("at", &|(_, it)| words(it.items)),
            ("KiB committed", &|(_, it)| (it.by_slowest.bytes >> 10).to_string()),
            ("page faults", &|(_, it)| it.by_slowest.faults.to_string()),
            ("interruptions", &|(_, it)| it.by_slowest.interruptions.to_string()),
            ("slowest of the clock alone, µs", &|(_, it)| cell(Some(it.idle), 0)),
        ],
    );
    results.tables.push(("Growth: the time of each insert", latency));
}

/// Name, title, unit and figure of a plot.
type Kind = (&'static str, &'static str, &'static str, fn(&Figures) -> f64);

/// The plots of the growth in which all filters were measured, with a target of 1 %.
const CHARTS: [Kind; 3] = [
    ("growth-1-percent-bits", "Bits per item", "bits per item", |it| it.bits),
    ("growth-1-percent-rate", "False positives", "false-positive rate (%)", |it| 100.0 * it.rate),
    ("growth-1-percent-lookups-absent", "Lookups of absent keys", "time per lookup (ns)", |it| {
        it.absent
    }),
];

/// Looks of the filters, in the order of [`NAMES`].
const LOOKS: [Look; 3] = [Look::GUIRA, Look::nth(1), Look::nth(4)];

/// Adds the plots over the number of items.
pub fn add_charts(cases: &[Case], results: &mut Results) {
    let is_compared = |case: &Case| case.curve.points.first().is_some_and(|it| it.all.len() > 1);
    let is_shown = |case: &&Case| is_compared(case) && is_same(case.target, 0.01);
    let Some(case) = cases.iter().find(is_shown) else { return };
    for (nth, (name, title, y, figure)) in CHARTS.into_iter().enumerate() {
        let title = format!("{title} while filters grow, target {}", percent(case.target));
        let mut chart = Chart::new(name, &title).x("items").log_x().y(y);
        if nth > 0 {
            chart = chart.log_y();
        }
        for (filter, look) in LOOKS.into_iter().enumerate() {
            let points = case.curve.points.iter();
            let points = points.map(|point| (point.items as f64, figure(&point.all[filter])));
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

/// Returns the cases of each growth.
fn by_span(cases: &[Case]) -> impl Iterator<Item = &[Case]> {
    cases.chunk_by(|a, b| a.span == b.span)
}

/// Returns the worst figure of some cases, and a note with all of them.
fn worst(cases: &[Case], is_time: bool, figure: impl Fn(&Case) -> f64) -> (f64, String) {
    let all: Vec<(f64, f64)> = cases.iter().map(|case| (case.target, figure(case))).collect();
    let figures = all.iter().map(|(_, figure)| *figure);
    // Not a number stands for what was not measured.
    let worst = figures.reduce(if is_time { f64::max } else { f64::min }).unwrap_or(f64::NAN);
    let note = |&(target, figure)| format!("{}: {}", percent(target), cell(Some(figure), 2));
    let notes = all.iter().map(note);
    (worst, notes.collect::<Vec<_>>().join("; "))
}

/// Returns what the slowest insert of a case did.
fn cause(case: &Case) -> Option<String> {
    let it = case.latencies.summary()?;
    let (target, used) = (percent(case.target), it.by_slowest);
    Some(format!(
        "{target}: {:.0} µs at {}, with {} KiB committed, {} page faults, {} interruptions, and \
         {:.0} µs for the slowest of the clock alone",
        it.slowest,
        words(it.items),
        used.bytes >> 10,
        used.faults,
        used.interruptions,
        it.idle
    ))
}

fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() < f64::EPSILON
}
