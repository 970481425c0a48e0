//! Figure 8: removals from a full filter until it is empty.

use super::{
    Outcome, Progress, Row, Timed,
    profiles::{
        CurveOf, FASTER, Profile, SLOWER, STABLE, against, at, chart, claim, find, layout_chart,
        mean, method, profiles, ratio, table, trend,
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
    let title = "Removals until empty: guira's layouts, in batches";
    let (charts, points) = [
        chart(axes("figure-8", "Removals until empty (Figure 8)"), profiles, curve),
        layout_chart(axes("guira-figure-8", title), profiles, curve),
    ]
    .into_iter()
    .unzip();
    Outcome {
        rows: rows(profiles),
        tables: vec![table("figure-8-speeds", profiles, &LOADS, curve)],
        charts,
        points,
        notes: vec![
            method(options)
                + "All keys are removed, in an order that is independent of the inserts. Each \
                   point is the speed over 5 % of the slots. The rows check what section 7.4 \
                   states. Bloom filters do not support removal; the counting Bloom filter does, \
                   but the paper's figure omits it.",
        ],
    }
}

fn rows(profiles: &[Profile]) -> Vec<Row> {
    let claim = |quantity: &str, measured, holds, note: &str| {
        claim(LOCATION, quantity, measured, holds, note)
    };
    let whole = |profile: &Profile| mean(&profile.removals, 0.0..=100.0);
    let near = |load: f64| move |profile: &Profile| at(&profile.removals, load);
    let trend = |name: &str| trend(&find(profiles, name).removals);
    let removes = |other: &str| ["CF", "ss-CF", "QF", "dl-CBF"].contains(&other);
    vec![
        claim(
            "CF / the fastest of the others, mean over all loads",
            against(profiles, "CF", removes, whole, Timed::min),
            FASTER,
            "the fastest: two buckets instead of four, and no decoding",
        ),
        claim(
            "dl-CBF / the faster of ss-CF and QF, mean over all loads",
            against(profiles, "dl-CBF", |other| removes(other) && other != "CF", whole, Timed::min),
            FASTER,
            "the second fastest: no decoding",
        )
        .reason("QF is faster as soon as it is no longer nearly full"),
        claim("CF: full / empty", trend("CF"), STABLE, "at most two buckets"),
        claim("ss-CF: full / empty", trend("ss-CF"), STABLE, "at most two buckets"),
        claim(
            "QF / the slowest of the others, nearly full",
            against(profiles, "QF", removes, near(87.5), Timed::max),
            SLOWER,
            "clusters are long and are shifted back",
        ),
        claim(
            "QF / ss-CF, nearly empty",
            ratio(profiles, "QF", "ss-CF", near(2.5)),
            FASTER,
            "one slot read and one written",
        ),
    ]
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
