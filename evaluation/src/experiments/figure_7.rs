//! Figure 7: inserts by load.

use guira_report::plot::Chart;

use super::{
    Outcome, Progress, Row, Verdict,
    lives::{
        FALLS, FASTER, Life, STABLE, Which, at, chart, claim, find, layouts, lives, table, trend,
    },
};
use crate::Options;

const PLACE: &str = "Figure 7";
const LOADS: [f64; 7] = [10.0, 25.0, 50.0, 75.0, 85.0, 90.0, 95.0];

/// Reproduces the figure.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let lives = lives(options, progress);
    let curve: Which = |life| &life.inserts;
    let axes = |name, title| Chart::new(name, title).x("load, %").y("million inserts a second");
    let title = "Inserts by load: guira's layouts";
    Outcome {
        rows: rows(lives),
        tables: vec![table("figure-7-speeds", lives, &LOADS, curve)],
        charts: vec![
            chart(axes("figure-7", "Inserts by load (Figure 7)"), lives, curve),
            layouts(axes("figure-7-guira", title), lives, curve),
        ],
        notes: vec![
            "The speed of the inserts that fill a band of 5 % of the slots, at the band's middle. \
             Trends as in Figure 6, by section 7.3."
                .into(),
        ],
    }
}

fn rows(lives: &[Life]) -> Vec<Row> {
    let row = |name: &str, holds, why: &str| {
        let what = format!("{name}, full against empty");
        claim(PLACE, what, (None, trend(&find(lives, name).inserts)), holds, why)
    };
    let mut rows = vec![
        row("CF", FALLS, "relocations, each a read that waits for the one before"),
        row("ss-CF", FALLS, "relocations, decoded and encoded"),
        row("QF", FALLS, "clusters grow, and are shifted"),
        row("BF", STABLE, "always nine bits"),
        row("blocked BF", STABLE, "always nine bits of one line"),
        row("dl-CBF", STABLE, "always four buckets, and nothing is moved"),
    ];
    let slots = |life: &Life| life.absent.last().map_or(f64::NAN, |point| point.0);
    let full = slots(find(lives, "dl-CBF"));
    rows.push(Row {
        place: PLACE.into(),
        what: "dl-CBF, load at which it refuses a key".into(),
        paper: Some(78.0),
        here: full,
        unit: "%",
        verdict: if (full - 78.0).abs() <= 2.0 { Verdict::Reproduced } else { Verdict::Differs },
        why: "the larger the table, the sooner: 80 % at 2^20 cells".into(),
    });
    let near_full = |name: &str| at(&find(lives, name).inserts, 92.5).expect("a load");
    for life in lives.iter().filter(|life| life.name.starts_with("guira Plain5x12")) {
        let what = format!("{} against CF, from 90 to 95 % load", life.name);
        let ratio = near_full(&life.name) / near_full("CF");
        let why = "the emptier bucket first, a breadth-first search, and in batches many at once";
        let row = claim(PLACE, what, (None, ratio), FASTER, why);
        let is_faster = row.verdict == Verdict::Reproduced;
        let verdict = if is_faster { Verdict::Better } else { row.verdict };
        rows.push(Row { verdict, ..row });
    }
    rows
}
