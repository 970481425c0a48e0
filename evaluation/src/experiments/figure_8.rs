//! Figure 8: removals from a full filter until it is empty.

use super::{
    Outcome, Progress, Row,
    profiles::{
        CurveOf, FASTER, Profile, SLOWER, STABLE, at, chart, claim, find, layout_chart, mean,
        profiles, table, trend,
    },
};
use crate::{Options, report::Chart};

const LOCATION: &str = "Figure 8";
const LOADS: [f64; 7] = [95.0, 85.0, 75.0, 50.0, 25.0, 10.0, 2.5];

/// Reproduces the figure.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let profiles = profiles(options, progress);
    let curve: CurveOf = |profile| &profile.removals;
    let axes = |name, title| Chart::new(name, title).x("load, %").y("million removals per second");
    let title = "Removals until empty: guira's layouts";
    Outcome {
        rows: rows(profiles),
        tables: vec![table("figure-8-speeds", profiles, &LOADS, curve)],
        charts: vec![
            chart(axes("figure-8", "Removals until empty (Figure 8)"), profiles, curve),
            layout_chart(axes("figure-8-guira", title), profiles, curve),
        ],
        notes: vec![
            "All keys are removed, in an order that is independent of the inserts. Each point is \
             the speed over 5 % of the slots. The rows check what section 7.4 states. Bloom \
             filters do not support removal; the counting Bloom filter does, but the paper's \
             figure omits it."
                .into(),
        ],
    }
}

fn rows(profiles: &[Profile]) -> Vec<Row> {
    let whole = |name: &str| mean(&find(profiles, name).removals, 0.0..=100.0);
    let near = |name: &str, load| at(&find(profiles, name).removals, load);
    let trend = |name: &str| (None, trend(&find(profiles, name).removals));
    let against = |name: &str, other: &str| (None, whole(name) / whole(other));
    let full_qf = near("QF", 87.5) / near("CF", 87.5).min(near("ss-CF", 87.5));
    vec![
        claim(
            LOCATION,
            "CF / dl-CBF, mean over all loads",
            against("CF", "dl-CBF"),
            FASTER,
            "fastest in the paper: two buckets instead of four",
        ),
        claim(
            LOCATION,
            "dl-CBF / ss-CF, mean over all loads",
            against("dl-CBF", "ss-CF"),
            FASTER,
            "second fastest in the paper: no decoding",
        ),
        claim(LOCATION, "CF: full / empty", trend("CF"), STABLE, "at most two buckets"),
        claim(LOCATION, "ss-CF: full / empty", trend("ss-CF"), STABLE, "at most two buckets"),
        claim(
            LOCATION,
            "QF / the slower of CF and ss-CF, nearly full",
            (None, full_qf),
            SLOWER,
            "clusters are long and are shifted back",
        ),
        claim(
            LOCATION,
            "QF / ss-CF, nearly empty",
            (None, near("QF", 2.5) / near("ss-CF", 2.5)),
            FASTER,
            "one slot read and one written",
        ),
    ]
}
