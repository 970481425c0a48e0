//! Figures 5 to 8: speeds by share of present keys and by load.

use guira_harness::{
    machine,
    plot::{Chart, Series},
    table::Table,
};

use super::{
    Outcome, Row, claims,
    compare::{at, last},
    profiles::{
        Curve::{self, Absent, ByShare, Inserts, Present, Removals},
        Profile, large_profiles, method, profiles, rounded,
    },
    timing,
};
use crate::{
    Options,
    filters::{PAPERS, look},
};

/// Shares of present keys in per cent.
const SHARES: [f64; 5] = [0.0, 25.0, 50.0, 75.0, 100.0];
/// Loads in per cent that the tables show.
const LOADS: [f64; 8] = [2.5, 10.0, 25.0, 50.0, 75.0, 85.0, 90.0, 95.0];

/// Name and speeds of a later version of the authors' program, on an i7-4790, at 192 MB.
const LATER: [(&str, [f64; 5]); 2] =
    [("CF", [26.10, 25.92, 26.00, 25.95, 25.89]), ("ss-CF", [10.07, 10.65, 10.65, 10.79, 10.64])];

/// Reproduces Figure 5: lookups in full filters by the share of keys that are present.
pub fn figure_5(options: &Options) -> Outcome {
    let (large, small) = (large_profiles(options), profiles(options));
    let sizes = [options.large_bytes(), options.bytes()].map(|bytes| rounded(bytes) >> 20);
    let title = |size| format!("Lookups by share of present keys, {size} MiB (Figure 5)");
    let papers = chart("figure-5", &title(sizes[0]), large, ByShare, is_compared);
    let papers = papers.with_all(LATER.map(|(name, speeds)| {
        let points = SHARES.into_iter().zip(speeds).collect();
        Series::new(look(name).without_line(), format!("{name}, the authors', i7-4790"), points)
    }));
    let title = title(sizes[1]);
    let guira = format!("{title}: guira's layouts");
    let note = format!(
        "Each filter is as full as in Table 3 and takes {} MiB, as in the paper, whose L3 cache \
        had 12 or 20 MB; this machine's caches are {}. The second plot and the second table show \
        all filters in {} MiB. The paper plots this figure without numbers, so the rows check the \
        orders and trends that its text states (section 7.2). Hollow squares show the results that \
        the authors publish with their program (efficient/cuckoofilter, \
        benchmarks/conext-figure5.cc). {}",
        sizes[0],
        machine::caches(),
        sizes[1],
        timing::method()
    );
    Outcome {
        rows: claims::figure_5(large),
        tables: vec![
            table("figure-5-speeds", large, ByShare),
            table("figure-5-speeds-small", small, ByShare),
        ],
        charts: vec![
            papers,
            chart("small-figure-5", &title, small, ByShare, is_compared),
            chart("guira-figure-5", &guira, small, ByShare, is_layout),
        ],
        note,
    }
}

/// Reproduces Figure 6: lookups of absent and of present keys by load.
pub fn figure_6(options: &Options) -> Outcome {
    let plots = [
        ("figure-6-absent", "figure-6-absent-speeds", "Lookups of absent keys", Absent),
        ("figure-6-present", "figure-6-present-speeds", "Lookups of present keys", Present),
    ];
    let note = "The load is the share of occupied slots; for Bloom filters, it is the share of \
        their capacity. The paper plots this figure without numbers, so the rows check the trends \
        that its text states (section 7.2). A trend is the mean speed in the highest quarter of \
        the loads divided by that in the lowest; it is stable between 0.8 and 1.25, and falls \
        below 0.8.";
    by_load(options, &plots, "guira-figure-6", claims::figure_6, note)
}

/// Reproduces Figure 7: inserts by load.
pub fn figure_7(options: &Options) -> Outcome {
    let plots = [("figure-7", "figure-7-speeds", "Inserts", Inserts)];
    let note = "Each point is the speed of the inserts that fill 5 % of the slots, plotted at the \
        middle of that range. The rows check the trends that section 7.3 states; trends are \
        defined as in Figure 6.";
    by_load(options, &plots, "guira-figure-7", claims::figure_7, note)
}

/// Reproduces Figure 8: removals from a full filter until it is empty.
pub fn figure_8(options: &Options) -> Outcome {
    let plots = [("figure-8", "figure-8-speeds", "Removals", Removals)];
    let note = "All keys are removed, in an order that is independent of the inserts. Each point \
        is the speed over 5 % of the slots. The rows check what section 7.4 states. Bloom filters \
        do not support removal; the counting Bloom filter does, but the paper's figure omits it.";
    by_load(options, &plots, "guira-figure-8", claims::figure_8, note)
}

/// Plots curves by load, each with a table, and the first also for guira's layouts.
fn by_load(
    options: &Options,
    plots: &[(&'static str, &'static str, &str, Curve)],
    guira: &'static str,
    rows: fn(&[Profile]) -> Vec<Row>,
    note: &str,
) -> Outcome {
    let profiles = profiles(options);
    let plot = |&(name, _, title, curve): &(&'static str, _, &str, Curve)| {
        chart(name, &format!("{title} by load"), profiles, curve, is_compared)
    };
    let mut charts: Vec<Chart> = plots.iter().map(plot).collect();
    let title = format!("{} by load: guira's layouts", plots[0].2);
    charts.push(chart(guira, &title, profiles, plots[0].3, is_layout));
    let tables = plots.iter().map(|&(_, name, _, curve)| table(name, profiles, curve)).collect();
    Outcome { rows: rows(profiles), tables, charts, note: method(options) + note }
}

/// Whether a filter is one of the papers' or a 12-bit layout of guira.
fn is_compared(name: &str) -> bool {
    PAPERS.contains(&name) || name.contains("Plain5x12") || name.contains("SemiSorted6x12")
}

/// Whether a filter is guira in batches, or the paper's cuckoo filter for comparison.
fn is_layout(name: &str) -> bool {
    name.ends_with(", batches") || name == "CF"
}

/// Returns a plot of one curve of some filters: the medians, with their ranges in the CSV file.
fn chart(
    name: &'static str,
    title: &str,
    profiles: &[Profile],
    curve: Curve,
    is_shown: fn(&str) -> bool,
) -> Chart {
    let x = if curve == ByShare { "present keys, %" } else { "load, %" };
    let mut chart = Chart::new(name, title).x(x).y("million operations per second");
    for profile in profiles.iter().filter(|profile| is_shown(profile.name())) {
        let points = profile.curve(curve).iter();
        let medians = points.clone().map(|&(x, speed)| (x, speed.median)).collect();
        let ranges = points.map(|(_, speed)| [speed.min, speed.max]).collect();
        chart.push(Series::new(look(profile.name()), profile.name(), medians).ranges(ranges));
    }
    chart
}

/// Builds a table of the speeds of all filters near some loads or shares in per cent.
fn table(name: &'static str, profiles: &[Profile], curve: Curve) -> Table {
    let xs = if curve == ByShare { SHARES.to_vec() } else { LOADS.to_vec() };
    let head = xs.iter().map(|x| format!("{x} %"));
    let head = std::iter::once("filter".to_string()).chain(head).collect();
    let mut table = Table { name, head, rows: Vec::new() };
    for profile in profiles.iter().filter(|profile| !profile.curve(curve).is_empty()) {
        let points = profile.curve(curve);
        // A dash means that the filter does not reach the load.
        let reached = last(points) + 2.5;
        let speed = |&x: &f64| if x <= reached { at(points, x).to_string() } else { "–".into() };
        table.push(std::iter::once(profile.name().into()).chain(xs.iter().map(speed)).collect());
    }
    table
}
