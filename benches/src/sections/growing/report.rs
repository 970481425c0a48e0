//! The tables of the section, and its bars.

use guira_harness::table::{Table, cell};

use super::{
    Case,
    inserts::{BATCH, SINGLE},
};
use crate::{
    bar::Bar,
    bench::Results,
    span::{Place, words},
};

/// Most bits per item at a target of 1 %, and of 0.1 %.
const BITS: [(f64, f64); 2] = [(0.01, 21.0), (0.001, 28.0)];

/// Figures that are multiples of those of the filter that was built for the items, with the bars
/// in L2 and in memory.
const TIMES: [(&str, Option<[f64; 2]>); 10] = [
    ("lookup, single, absent", Some([1.35, 1.15])),
    ("lookup, single, present", Some([1.35, 1.15])),
    ("lookup, batch, absent", Some([1.35, 1.15])),
    ("lookup, batch, present", Some([1.35, 1.15])),
    ("lookup, burst of 32, absent", None),
    ("lookup, burst of 32, present", None),
    ("remove, single", None),
    ("remove, batch", None),
    (SINGLE, Some([2.5, 2.5])),
    (BATCH, Some([2.5, 2.5])),
];

/// Adds the bars: one for each operation and growth, with the worse of the targets.
pub fn add_bars(cases: &[Case], results: &mut Results) {
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
        results.bars.push(Bar::at_most(name, bar, most, "bits").note(note));
    }
    let rates = cases.iter().filter_map(|case| Some((case, case.curve.highest_rate()?)));
    let rates = rates.map(|(case, (rate, items))| (rate / case.target, case, items));
    if let Some((share, case, items)) = rates.max_by(|a, b| a.0.total_cmp(&b.0)) {
        let (target, name) = (percent(case.target), case.span.name());
        let note = format!("highest: target {target}, {name}, at {}", words(items));
        let name = "growing: false-positive rate, at every size";
        results.bars.push(Bar::at_most(name, 1.0, share, "of the target").note(note));
    }
    for pair in by_span(cases) {
        let span = pair[0].span;
        let name = |operation: &str| format!("growing, {}: {operation}", span.name());
        for (operation, bars) in TIMES {
            let place = match span.place() {
                Place::L2 => Some(0),
                // Inserts have one bar everywhere.
                Place::Between => [SINGLE, BATCH].contains(&operation).then_some(0),
                Place::Memory => Some(1),
            };
            let Some((bars, place)) = bars.zip(place) else { continue };
            let (worst, note) = worst(pair, true, |case| case.rounds.times(operation));
            let bar = Bar::at_most(name(operation), bars[place], worst, "times");
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
            results.bars.push(Bar::at_most(name(operation), bar, worst, "µs").note(note));
        }
        let slowest = |case: &Case| case.latencies.summary().map_or(f64::NAN, |it| it.slowest);
        let (worst_of_all, _) = worst(pair, true, slowest);
        let causes = pair.iter().filter_map(cause).collect::<Vec<_>>().join("; ");
        let name_of_slowest = name("one insert, the slowest");
        results.bars.push(Bar::figure(name_of_slowest, worst_of_all, "µs").note(causes));
        for operation in [SINGLE, BATCH] {
            let (worst, note) = worst(pair, false, |case| case.threads.times(operation));
            let name = name(&format!("{operation}, by two threads"));
            let bar = Bar::at_least(name, 1.6, worst, "of one");
            results.bars.push(bar.note(note));
        }
    }
}

/// Adds the tables.
pub fn add_tables(cases: &[Case], results: &mut Results) {
    let mut times = Table::new(
        "growing",
        &["growth", "target", "operation", "grown, ns", "built, ns", "times"],
    );
    let mut threads = Table::new(
        "growing-threads",
        &["growth", "target", "operation", "one thread, ns", "two threads, ns", "speed of two"],
    );
    let mut space = Table::new(
        "growing-space",
        &[
            "growth",
            "target",
            "layouts, grown and built",
            "bits beyond 100 times, largest",
            "bits in the end",
            "built",
            "false positives, highest",
            "at",
        ],
    );
    let mut latency = Table::new(
        "growing-latency",
        &[
            "growth",
            "target",
            "median, µs",
            "99.9 %, µs",
            "99.99 %, µs",
            "slowest, µs",
            "at",
            "KiB committed",
            "page faults",
            "interruptions",
            "slowest of the clock alone, µs",
        ],
    );
    for case in cases {
        let head = [case.span.name(), percent(case.target)];
        let row = |cells: &[String]| head.iter().chain(cells).cloned().collect::<Vec<_>>();
        for (table, rounds) in [(&mut times, &case.rounds), (&mut threads, &case.threads)] {
            for (name, nanoseconds, floor, multiple) in rounds.medians() {
                let figures = [(nanoseconds, 1), (floor, 1), (multiple, 2)];
                let figures = figures.map(|(figure, digits)| cell(Some(figure), digits));
                table.push(row(&[&[name.to_string()][..], &figures].concat()));
            }
        }
        if let Some((rate, items)) = case.curve.highest_rate() {
            let last = case.curve.points.last().map(|point| point.all[0].bits);
            space.push(row(&[
                case.curve.layouts.join(", "),
                cell(case.curve.most_bits.map(|(bits, _)| bits), 1),
                cell(last, 1),
                cell(Some(case.curve.built_bits), 1),
                format!("{:.4} %", 100.0 * rate),
                words(items),
            ]));
        }
        if let Some(it) = case.latencies.summary() {
            latency.push(row(&[
                cell(Some(it.median), 2),
                cell(Some(it.p999), 2),
                cell(Some(it.p9999), 1),
                cell(Some(it.slowest), 0),
                words(it.items),
                (it.by_slowest.bytes >> 10).to_string(),
                it.by_slowest.faults.to_string(),
                it.by_slowest.interruptions.to_string(),
                cell(Some(it.idle), 0),
            ]));
        }
    }
    results.tables.extend([space, times, threads, latency]);
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

pub fn percent(share: f64) -> String {
    format!("{} %", 100.0 * share)
}

fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() < f64::EPSILON
}
