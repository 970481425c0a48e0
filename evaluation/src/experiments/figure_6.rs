//! Figure 6: lookups of absent and of present keys by load.

use super::{
    Outcome, Progress, Row,
    profiles::{
        CurveOf, FALLS, Profile, STABLE, chart, claim, find, layout_chart, method, profiles, table,
        trend,
    },
};
use crate::{Options, report::Chart};

const LOADS: [f64; 6] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0];

/// Reproduces the figure.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let profiles = profiles(options, progress);
    let (absent, present): (CurveOf, CurveOf) =
        (|profile| &profile.absent, |profile| &profile.present);
    let axes = |name, title| Chart::new(name, title).x("load, %").y("million lookups per second");
    let (charts, points) = [
        chart(
            axes("figure-6-absent", "Lookups of absent keys by load (Figure 6)"),
            profiles,
            absent,
        ),
        chart(
            axes("figure-6-present", "Lookups of present keys by load (Figure 6)"),
            profiles,
            present,
        ),
        layout_chart(
            axes("guira-figure-6", "Lookups of absent keys by load: guira's layouts, in batches"),
            profiles,
            absent,
        ),
    ]
    .into_iter()
    .unzip();
    let tables = vec![
        table("figure-6-absent-speeds", profiles, &LOADS, absent),
        table("figure-6-present-speeds", profiles, &LOADS, present),
    ];
    let notes = vec![
        method(options)
            + "The load is the share of occupied slots; for Bloom filters, it is the share of \
               their capacity. The paper plots this figure without numbers, so the rows check the \
               trends that its text states (section 7.2). A trend is the mean speed in the highest \
               quarter of the loads divided by that in the lowest; it is stable between 0.8 and \
               1.25, and falls below 0.8.",
    ];
    Outcome { rows: rows(profiles), tables, charts, points, notes }
}

fn rows(profiles: &[Profile]) -> Vec<Row> {
    let row = |name: &str, keys: &str, curve: CurveOf, holds, note: &str| {
        let quantity = format!("{name}, {keys} keys: full / empty");
        claim("Figure 6", quantity, trend(curve(find(profiles, name))), holds, note)
    };
    let (absent, present): (CurveOf, CurveOf) =
        (|profile| &profile.absent, |profile| &profile.present);
    let both = |name: &str, holds: std::ops::RangeInclusive<f64>, note: &str| {
        [
            row(name, "absent", absent, holds.clone(), note),
            row(name, "present", present, holds, note),
        ]
    };
    let mut rows = Vec::new();
    rows.extend(both("CF", STABLE, "a lookup always reads two buckets"));
    rows.extend(both("ss-CF", STABLE, "a lookup always reads and decodes two buckets"));
    rows.extend(both("QF", FALLS, "clusters grow"));
    for name in ["BF", "blocked BF"] {
        let note = "in a fuller filter, the first zero bit comes later";
        rows.push(row(name, "absent", absent, FALLS, note));
        let note = "a lookup always reads nine bits";
        rows.push(row(name, "present", present, STABLE, note));
    }
    rows.push(row("dl-CBF", "absent", absent, STABLE, "a lookup always reads four buckets"));
    let note = "in the paper, a lookup may end at the first match while the table is less than a \
                fifth full; here it always reads four buckets";
    rows.push(row("dl-CBF", "present", present, STABLE, note));
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
