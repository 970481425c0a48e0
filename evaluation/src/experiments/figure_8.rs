//! Figure 8: removals from the full filter until it is empty.

use guira_report::plot::Chart;

use super::{
    Outcome, Progress, Row,
    lives::{
        FASTER, Life, SLOWER, STABLE, Which, at, chart, claim, find, layouts, lives, mean, table,
        trend,
    },
};
use crate::Options;

const PLACE: &str = "Figure 8";
const LOADS: [f64; 7] = [95.0, 85.0, 75.0, 50.0, 25.0, 10.0, 2.5];

/// Reproduces the figure.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let lives = lives(options, progress);
    let curve: Which = |life| &life.removals;
    let axes = |name, title| Chart::new(name, title).x("load, %").y("million removals a second");
    let title = "Removals until empty: guira's layouts";
    Outcome {
        rows: rows(lives),
        tables: vec![table("figure-8-speeds", lives, &LOADS, curve)],
        charts: vec![
            chart(axes("figure-8", "Removals until empty (Figure 8)"), lives, curve),
            layouts(axes("figure-8-guira", title), lives, curve),
        ],
        notes: vec![
            "All keys are taken out again, in an order of its own, in bands of 5 % of the slots; what \
             is said of the filters is in section 7.4. Bloom filters cannot remove; the counting \
             one can, and is not in the paper's figure."
                .into(),
        ],
    }
}

fn rows(lives: &[Life]) -> Vec<Row> {
    let whole = |name: &str| mean(&find(lives, name).removals, 0.0..=100.0);
    let near = |name: &str, load| at(&find(lives, name).removals, load).expect("a load");
    let trend = |name: &str| (None, trend(&find(lives, name).removals));
    let against = |name: &str, other: &str| (None, whole(name) / whole(other));
    let full_qf = near("QF", 87.5) / near("CF", 87.5).min(near("ss-CF", 87.5));
    vec![
        claim(
            PLACE,
            "CF against dl-CBF, over all loads",
            against("CF", "dl-CBF"),
            FASTER,
            "the fastest in the paper: two buckets instead of four",
        ),
        claim(
            PLACE,
            "dl-CBF against ss-CF, over all loads",
            against("dl-CBF", "ss-CF"),
            FASTER,
            "the second fastest in the paper: nothing is decoded",
        ),
        claim(PLACE, "CF, full against empty", trend("CF"), STABLE, "always at most two buckets"),
        claim(PLACE, "ss-CF, full against empty", trend("ss-CF"), STABLE, "the same, decoded"),
        claim(
            PLACE,
            "QF against the slower of CF and ss-CF, nearly full",
            (None, full_qf),
            SLOWER,
            "clusters are long, and are shifted back",
        ),
        claim(
            PLACE,
            "QF against ss-CF, nearly empty",
            (None, near("QF", 2.5) / near("ss-CF", 2.5)),
            FASTER,
            "one slot read and one written",
        ),
    ]
}
