//! Figure 7: inserts by load.

use super::{
    Outcome, Progress, Row, Subject,
    profiles::{
        CurveOf, FALLS, Profile, STABLE, at, chart, claim, find, layout_chart, method, profiles,
        ratio, table, trend,
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
    let title = "Inserts by load: guira's layouts, in batches";
    let (charts, points) = [
        chart(axes("figure-7", "Inserts by load (Figure 7)"), profiles, curve),
        layout_chart(axes("guira-figure-7", title), profiles, curve),
    ]
    .into_iter()
    .unzip();
    Outcome {
        rows: rows(profiles),
        tables: vec![table("figure-7-speeds", profiles, &LOADS, curve)],
        charts,
        points,
        notes: vec![
            method(options)
                + "Each point is the speed of the inserts that fill 5 % of the slots, plotted at \
                   the middle of that range. The rows check the trends that section 7.3 states; \
                   trends are defined as in Figure 6.",
        ],
    }
}

fn rows(profiles: &[Profile]) -> Vec<Row> {
    let row = |name: &str, holds, note: &str| {
        let quantity = format!("{name}: full / empty");
        claim(LOCATION, quantity, trend(&find(profiles, name).inserts), holds, note)
    };
    let mut rows = vec![
        row("CF", FALLS, "relocations, each of which depends on the one before"),
        row("ss-CF", FALLS, "relocations, with decoding and encoding"),
        row("QF", FALLS, "clusters grow and are shifted"),
        row("BF", STABLE, "an insert always sets nine bits"),
        row("blocked BF", STABLE, "an insert always sets nine bits in one cache line"),
        row("dl-CBF", STABLE, "an insert always reads four buckets and relocates nothing"),
    ];
    let last_load = |profile: &Profile| profile.inserts.last().map_or(f64::NAN, |point| point.0);
    rows.push(
        Row::papers(
            LOCATION,
            "dl-CBF, load of the last inserts",
            last_load(find(profiles, "dl-CBF")),
            "%",
        )
        .printed(80.0)
        .holds(70.0..=80.5)
        .note("section 7.3: no more than 80 %; larger tables reach a lower load (Table 3)"),
    );
    for profile in profiles.iter().filter(|profile| profile.name.starts_with("guira Plain5x12")) {
        let quantity = format!("{} / CF, from 90 to 95 % load", profile.name);
        let near_full = |profile: &Profile| at(&profile.inserts, 92.5);
        let measured = ratio(profiles, &profile.name, "CF", near_full);
        rows.push(
            Row::timed(LOCATION, quantity, measured, "×")
                .about(Subject::GuiraMore)
                .holds(0.95..=1.05)
                .note(
                    "the emptier bucket first, breadth-first search, and interleaved inserts in \
                     batches",
                ),
        );
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::rows;
    use crate::experiments::{profiles::variants, row::assert_each_row_can_change};

    #[test]
    fn each_row_can_change() {
        assert_each_row_can_change(&variants(), |profiles| rows(profiles));
    }
}
