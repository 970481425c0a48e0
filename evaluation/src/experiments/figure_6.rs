//! Figure 6: look-ups by load, of absent and of present keys.

use guira_report::plot::Chart;

use super::{
    Outcome, Progress, Row,
    lives::{FALLS, Life, STABLE, Which, chart, claim, find, layouts, lives, table, trend},
};
use crate::Options;

const LOADS: [f64; 6] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0];

/// Reproduces the figure.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let lives = lives(options, progress);
    let (absent, present): (Which, Which) = (|life| &life.absent, |life| &life.present);
    let axes = |name, title| Chart::new(name, title).x("load, %").y("million look-ups a second");
    let charts = vec![
        chart(axes("figure-6-absent", "Look-ups of absent keys by load (Figure 6)"), lives, absent),
        chart(
            axes("figure-6-present", "Look-ups of present keys by load (Figure 6)"),
            lives,
            present,
        ),
        layouts(
            axes("figure-6-guira", "Look-ups of absent keys by load: guira's layouts"),
            lives,
            absent,
        ),
    ];
    let tables = vec![
        table("figure-6-absent-speeds", lives, &LOADS, absent),
        table("figure-6-present-speeds", lives, &LOADS, present),
    ];
    let notes = vec![
        "A load is a part of the slots, and for Bloom filters of the keys that they are meant for. \
         A trend is the mean speed in the fullest quarter of a filter's loads against that in the \
         emptiest; stable means not by half as much again, up or down. That is what section 7.2 says of the \
         curves, which have no numbers."
            .into(),
    ];
    Outcome { rows: rows(lives), tables, charts, notes }
}

fn rows(lives: &[Life]) -> Vec<Row> {
    let row = |name: &str, keys: &str, curve: Which, holds, why: &str| {
        let what = format!("{name}, {keys} keys, full against empty");
        claim("Figure 6", what, (None, trend(curve(find(lives, name)))), holds, why)
    };
    let (absent, present): (Which, Which) = (|life| &life.absent, |life| &life.present);
    let both = |name: &str, holds: std::ops::RangeInclusive<f64>, why: &str| {
        [row(name, "absent", absent, holds.clone(), why), row(name, "present", present, holds, why)]
    };
    let mut rows = Vec::new();
    rows.extend(both("CF", STABLE, "always two buckets"));
    rows.extend(both("ss-CF", STABLE, "always two buckets, decoded"));
    rows.extend(both("QF", FALLS, "clusters grow"));
    rows.push(row("BF", "absent", absent, FALLS, "the fuller, the later a bit is not set"));
    rows.push(row("BF", "present", present, STABLE, "always nine bits"));
    rows.extend(both("dl-CBF", STABLE, "always four buckets"));
    rows
}
