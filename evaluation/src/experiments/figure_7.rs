//! Figure 7: inserts by load.

use super::{
    Outcome, Progress, Row, Verdict,
    profiles::{
        CurveOf, FALLS, FASTER, Profile, STABLE, at, chart, claim, find, layout_chart, profiles,
        table, trend,
    },
};
use crate::{Options, report::Chart};

const LOCATION: &str = "Figure 7";
const LOADS: [f64; 7] = [10.0, 25.0, 50.0, 75.0, 85.0, 90.0, 95.0];

/// Reproduces the figure.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let profiles = profiles(options, progress);
    let curve: CurveOf = |profile| &profile.inserts;
    let axes = |name, title| Chart::new(name, title).x("load, %").y("million inserts per second");
    let title = "Inserts by load: guira's layouts";
    Outcome {
        rows: rows(profiles),
        tables: vec![table("figure-7-speeds", profiles, &LOADS, curve)],
        charts: vec![
            chart(axes("figure-7", "Inserts by load (Figure 7)"), profiles, curve),
            layout_chart(axes("figure-7-guira", title), profiles, curve),
        ],
        notes: vec![
            "Each point is the speed of the inserts that fill 5 % of the slots, plotted at the \
             middle of that range. The rows check the trends that section 7.3 states; trends are \
             defined as in Figure 6."
                .into(),
        ],
    }
}

fn rows(profiles: &[Profile]) -> Vec<Row> {
    let row = |name: &str, holds, note: &str| {
        let quantity = format!("{name}: full / empty");
        claim(LOCATION, quantity, (None, trend(&find(profiles, name).inserts)), holds, note)
    };
    let mut rows = vec![
        row("CF", FALLS, "relocations, each of which depends on the one before"),
        row("ss-CF", FALLS, "relocations, with decoding and encoding"),
        row("QF", FALLS, "clusters grow and are shifted"),
        row("BF", STABLE, "an insert always sets nine bits"),
        row("blocked BF", STABLE, "an insert always sets nine bits in one cache line"),
        row("dl-CBF", STABLE, "an insert always reads four buckets and relocates nothing"),
    ];
    let last_load = |profile: &Profile| profile.absent.last().map_or(f64::NAN, |point| point.0);
    let full = last_load(find(profiles, "dl-CBF"));
    rows.push(Row {
        location: LOCATION.into(),
        quantity: "dl-CBF, load at the first refusal".into(),
        paper: Some(78.0),
        measured: full,
        unit: "%",
        verdict: Verdict::reproduced_if((full - 78.0).abs() <= 2.0),
        note: "larger tables reach a lower load: 80 % at 2^20 cells; tolerance 2 points".into(),
    });
    let near_full = |name: &str| at(&find(profiles, name).inserts, 92.5);
    for profile in profiles.iter().filter(|profile| profile.name.starts_with("guira Plain5x12")) {
        let quantity = format!("{} / CF, from 90 to 95 % load", profile.name);
        let ratio = near_full(&profile.name) / near_full("CF");
        let note =
            "the emptier bucket first, breadth-first search, and interleaved inserts in batches";
        let row = claim(LOCATION, quantity, (None, ratio), FASTER, note);
        let is_faster = row.verdict == Verdict::Reproduced;
        let verdict = if is_faster { Verdict::Better } else { row.verdict };
        rows.push(Row { verdict, ..row });
    }
    rows
}
