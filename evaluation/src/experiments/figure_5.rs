//! Figure 5: lookups in full filters by the share of keys that are present.

use super::{
    Outcome, Progress, Row,
    profiles::{
        CurveOf, FALLS, FASTER, Profile, SLOWER, STABLE, at, chart, claim, find, layout_chart,
        min_ratio, profiles, table,
    },
};
use crate::{
    Options,
    report::{Chart, Series},
};

const LOCATION: &str = "Figure 5";
/// Shares of present keys in per cent.
const SHARES: [f64; 5] = [0.0, 25.0, 50.0, 75.0, 100.0];

/// Name, colour and speeds of a later version of the authors' program, on an i7-4790, at 192 MB.
const LATER: [(&str, usize, [f64; 5]); 2] = [
    ("CF", 1, [26.10, 25.92, 26.00, 25.95, 25.89]),
    ("ss-CF", 2, [10.07, 10.65, 10.65, 10.79, 10.64]),
];

/// Reproduces the figure.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let profiles = profiles(options, progress);
    let curve: CurveOf = |profile| &profile.by_share;
    let axes = |chart: Chart| chart.x("present keys, %").y("million lookups per second");
    let papers = chart(
        axes(Chart::new("figure-5", "Lookups by share of present keys (Figure 5)")),
        profiles,
        curve,
    );
    let papers = LATER.into_iter().fold(papers, |chart, (name, colour, speeds)| {
        let points = SHARES.into_iter().zip(speeds).collect();
        chart.with(Series::points(colour, format!("{name}, the authors', i7-4790"), points))
    });
    let title = "Lookups by share of present keys: guira's layouts";
    let guira = layout_chart(axes(Chart::new("figure-5-guira", title)), profiles, curve);
    let notes = vec![
        "Each filter is as full as in Table 3. The paper plots this figure without numbers, so the \
         rows check the orders and trends that its text states (section 7.2). Squares show the \
         results that the authors publish with their program (efficient/cuckoofilter, \
         benchmarks/conext-figure5.cc)."
            .into(),
    ];
    Outcome {
        rows: rows(profiles),
        tables: vec![table("figure-5-speeds", profiles, &SHARES, curve)],
        charts: vec![papers, guira],
        notes,
    }
}

fn rows(profiles: &'static [Profile]) -> Vec<Row> {
    let speed = |name: &str, share| at(&find(profiles, name).by_share, share);
    let ends = |name: &str| (None, speed(name, 100.0) / speed(name, 0.0));
    let worst = |name: &str, other: &str| {
        (None, min_ratio(&find(profiles, name).by_share, &find(profiles, other).by_share))
    };
    let faster_end = speed("CF", 0.0).max(speed("CF", 100.0));
    let ss_to_bf = |share| speed("ss-CF", share) / speed("BF", share);
    let slowest = ["CF", "ss-CF", "BF", "blocked BF", "dl-CBF"]
        .iter()
        .map(|other| worst("QF", other).1)
        .fold(f64::INFINITY, f64::min);
    let mut rows = vec![
        claim(
            LOCATION,
            "CF: all present / none present",
            (Some(1.0), ends("CF").1),
            STABLE,
            "a lookup always reads both buckets",
        ),
        claim(
            LOCATION,
            "CF: half present / its faster end",
            (None, speed("CF", 50.0) / faster_end),
            0.0..=1.1,
            "slightly slower in the paper, because of branch mispredictions; no branch here \
             depends on the buckets' contents",
        ),
        claim(
            LOCATION,
            "ss-CF / CF, maximum over the shares",
            (Some(10.64 / 25.89), best(profiles, "ss-CF", "CF")),
            SLOWER,
            "slower, because buckets are decoded; the paper's value comes from the authors' later \
             run",
        ),
        claim(
            LOCATION,
            "BF: all present / none present",
            ends("BF"),
            FALLS,
            "nine reads instead of two, which cost less if the table fits into the caches",
        ),
        claim(
            LOCATION,
            "blocked BF / BF, all present",
            (None, speed("blocked BF", 100.0) / speed("BF", 100.0)),
            FASTER,
            "one cache line instead of nine",
        ),
        claim(
            LOCATION,
            "QF / the slowest other filter, minimum over the shares",
            (None, slowest),
            SLOWER,
            "clusters are long at a load of 90 %",
        ),
        claim(
            LOCATION,
            "dl-CBF / ss-CF, minimum over the shares",
            worst("dl-CBF", "ss-CF"),
            FASTER,
            "four buckets, but no decoding",
        ),
        claim(
            LOCATION,
            "dl-CBF / BF, none present",
            (None, speed("dl-CBF", 0.0) / speed("BF", 0.0)),
            SLOWER,
            "four cache lines instead of two, but their reads are independent and without a branch",
        ),
        claim(
            LOCATION,
            "dl-CBF: all present / none present",
            (Some(1.0), ends("dl-CBF").1),
            STABLE,
            "a lookup always reads four buckets",
        ),
        claim(
            LOCATION,
            "ss-CF / BF, minimum from half present on",
            (None, [50.0, 75.0, 100.0].map(ss_to_bf).into_iter().fold(f64::INFINITY, f64::min)),
            FASTER,
            "faster in the paper from a quarter present on; a modern core overlaps the reads of \
             several keys, which decoding hinders, so the nine lines of BF cost relatively less",
        ),
    ];
    for profile in profiles.iter().filter(|profile| profile.name.starts_with("guira Plain5x12")) {
        let ratio = min_ratio(&profile.by_share, &find(profiles, "CF").by_share);
        let quantity = format!("{} / CF, minimum over the shares", profile.name);
        rows.push(claim(LOCATION, quantity, (None, ratio), 1.0..=1.0, GUIRA));
    }
    rows
}

const GUIRA: &str = "only guira supports concurrent use: a lookup also validates the version of \
                     its stripe; batches hide cache misses";

/// Returns the maximum over all shares of one filter's speed relative to another's.
fn best(profiles: &[Profile], name: &str, other: &str) -> f64 {
    1.0 / min_ratio(&find(profiles, other).by_share, &find(profiles, name).by_share)
}
