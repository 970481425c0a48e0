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
        Profile, large_profiles, method, profiles,
    },
};
use crate::{Options, filters::look};

/// Shares of present keys in per cent.
const SHARES: [f64; 5] = [0.0, 25.0, 50.0, 75.0, 100.0];
/// Loads in per cent that the tables show.
const LOADS: [f64; 8] = [2.5, 10.0, 25.0, 50.0, 75.0, 85.0, 90.0, 95.0];

/// Name and speeds of a later version of the authors' program, on an i7-4790, at 192 MB.
const LATER: [(&str, [f64; 5]); 2] =
    [("CF", [26.10, 25.92, 26.00, 25.95, 25.89]), ("ss-CF", [10.07, 10.65, 10.65, 10.79, 10.64])];

/// A plot of a curve: its name, the name of its table, the title, and the curve.
type Plot = (&'static str, &'static str, &'static str, Curve);

/// Reproduces Figure 5: lookups in full filters by the share of keys that are present.
pub fn figure_5(options: &Options) -> Outcome {
    let plot =
        ("figure-5", "figure-5-speeds", "Lookups by share of present keys (Figure 5)", ByShare);
    let note = format!(
        "Each filter is as full as in Table 3. {}The paper's L3 cache had 12 or 20 MB; this \
        machine's caches are {}. The paper plots this figure without numbers, so the rows check \
        the orders and trends that its text states (section 7.2). Hollow squares show the results \
        that the authors publish with their program (efficient/cuckoofilter, \
        benchmarks/conext-figure5.cc).",
        method(options.large_bytes()),
        machine::caches()
    );
    let mut outcome = outcome(large_profiles(options), &[plot], claims::figure_5, note);
    for (name, speeds) in LATER {
        let points = SHARES.into_iter().zip(speeds).collect();
        let title = format!("{name}, the authors', i7-4790");
        outcome.charts[0].push(Series::new(look(name).without_line(), title, points));
    }
    outcome
}

/// Reproduces Figure 6: lookups of absent and of present keys by load.
pub fn figure_6(options: &Options) -> Outcome {
    const TITLES: [&str; 2] =
        ["Lookups of absent keys by load (Figure 6)", "Lookups of present keys by load (Figure 6)"];
    let plots = [
        ("figure-6-absent", "figure-6-absent-speeds", TITLES[0], Absent),
        ("figure-6-present", "figure-6-present-speeds", TITLES[1], Present),
    ];
    let note = "The load is the share of occupied slots; for Bloom filters, it is the share of \
        their capacity. The paper plots this figure without numbers, so the rows check the trends \
        that its text states (section 7.2). A trend is the mean speed in the highest quarter of \
        the loads divided by that in the lowest; it is stable between 0.8 and 1.25, and falls \
        below 0.8.";
    let note = method(options.bytes()) + note;
    outcome(profiles(options), &plots, claims::figure_6, note)
}

/// Reproduces Figure 7: inserts by load.
pub fn figure_7(options: &Options) -> Outcome {
    let plot = ("figure-7", "figure-7-speeds", "Inserts by load (Figure 7)", Inserts);
    let note = "Each point is the speed of the inserts that fill 5 % of the slots, plotted at the \
        middle of that range. The rows check the trends that section 7.3 states; trends are \
        defined as in Figure 6.";
    let note = method(options.bytes()) + note;
    outcome(profiles(options), &[plot], claims::figure_7, note)
}

/// Reproduces Figure 8: removals from a full filter until it is empty.
pub fn figure_8(options: &Options) -> Outcome {
    let plot = ("figure-8", "figure-8-speeds", "Removals until empty (Figure 8)", Removals);
    let note = "All keys are removed, in an order that is independent of the inserts. Each point \
        is the speed over 5 % of the slots. The rows check what section 7.4 states. Bloom filters \
        do not support removal; the counting Bloom filter does, but the paper's figure omits it.";
    let note = method(options.bytes()) + note;
    outcome(profiles(options), &[plot], claims::figure_8, note)
}

fn outcome(
    profiles: &[Profile],
    plots: &[Plot],
    rows: fn(&[Profile]) -> Vec<Row>,
    note: String,
) -> Outcome {
    Outcome {
        rows: rows(profiles),
        tables: plots.iter().map(|plot| table(plot, profiles)).collect(),
        charts: plots.iter().map(|plot| chart(plot, profiles)).collect(),
        note,
    }
}

/// Returns a plot of the medians, with their ranges in the CSV file.
fn chart(&(name, _, title, curve): &Plot, profiles: &[Profile]) -> Chart {
    let x = if curve == ByShare { "present keys, %" } else { "load, %" };
    let series = |profile: &Profile| {
        let points = profile.curve(curve).iter();
        let medians = points.clone().map(|&(x, speed)| (x, speed.median)).collect();
        let ranges = points.map(|(_, speed)| [speed.min, speed.max]).collect();
        Series::new(look(profile.name()), profile.name(), medians).ranges(ranges)
    };
    let chart = Chart::new(name, title).x(x).y("million operations per second");
    chart.with_all(profiles.iter().map(series))
}

/// Builds a table of the speeds of all filters near some loads or shares in per cent.
fn table(&(_, name, _, curve): &Plot, profiles: &[Profile]) -> Table {
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
