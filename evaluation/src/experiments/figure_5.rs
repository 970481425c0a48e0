//! Figure 5: look-ups of full filters by the share of keys that are present.

use guira_report::plot::{Chart, Series};

use super::{
    Outcome, Progress, Row,
    lives::{
        FALLS, FASTER, Life, SLOWER, STABLE, Which, at, chart, claim, find, layouts, least_ratio,
        lives, table,
    },
};
use crate::Options;

const PLACE: &str = "Figure 5";
const SHARES: [f64; 5] = [0.0, 25.0, 50.0, 75.0, 100.0];

/// What the authors' program in its later form did on an i7-4790, at 192 MB.
const LATER: [(&str, usize, [f64; 5]); 2] = [
    ("CF", 1, [26.10, 25.92, 26.00, 25.95, 25.89]),
    ("ss-CF", 2, [10.07, 10.65, 10.65, 10.79, 10.64]),
];

/// Reproduces the figure.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let lives = lives(options, progress);
    let curve: Which = |life| &life.by_share;
    let axes = |chart: Chart| chart.x("keys that are present, %").y("million look-ups a second");
    let drawn = chart(
        axes(Chart::new("figure-5", "Look-ups by share of present keys (Figure 5)")),
        lives,
        curve,
    );
    let later = LATER.into_iter().fold(drawn, |chart, (name, nth, speeds)| {
        let points = SHARES.into_iter().zip(speeds).collect();
        chart.with(Series::points(nth, format!("{name}, its authors', i7-4790"), points))
    });
    let title = "Look-ups by share of present keys: guira's layouts";
    let guira = layouts(axes(Chart::new("figure-5-guira", title)), lives, curve);
    let notes = vec![
        "Each filter is as full as in Table 3. Of the paper's figure the text's orders and trends \
         are checked (section 7.2), for it gives no numbers; squares are those that its authors \
         give with their program (efficient/cuckoofilter, benchmarks/conext-figure5.cc)."
            .into(),
    ];
    Outcome {
        rows: rows(lives),
        tables: vec![table("figure-5-speeds", lives, &SHARES, curve)],
        charts: vec![later, guira],
        notes,
    }
}

fn rows(lives: &'static [Life]) -> Vec<Row> {
    let speed = |name: &str, share| at(&find(lives, name).by_share, share).expect("a share");
    let ends = |name: &str| (None, speed(name, 100.0) / speed(name, 0.0));
    let least = |name: &str, other: &str| {
        (None, least_ratio(&find(lives, name).by_share, &find(lives, other).by_share))
    };
    let faster_end = speed("CF", 0.0).max(speed("CF", 100.0));
    let ss_to_bf = |share| speed("ss-CF", share) / speed("BF", share);
    let slowest = ["CF", "ss-CF", "BF", "blocked BF", "dl-CBF"]
        .iter()
        .map(|other| least("QF", other).1)
        .fold(f64::INFINITY, f64::min);
    let mut rows = vec![
        claim(
            PLACE,
            "CF, all present against none present",
            (Some(1.0), ends("CF").1),
            STABLE,
            "both buckets are read, hit or miss",
        ),
        claim(
            PLACE,
            "CF, half present against its faster end",
            (None, speed("CF", 50.0) / faster_end),
            0.0..=1.1,
            "a little slower in the paper, for branches are foreseen worst there; here none depends on \
             what the buckets hold",
        ),
        claim(
            PLACE,
            "ss-CF against CF, at its best share",
            (Some(10.64 / 25.89), best(lives, "ss-CF", "CF")),
            SLOWER,
            "slower, for buckets are decoded; the figure beside it is that of the authors' later run",
        ),
        claim(
            PLACE,
            "BF, all present against none present",
            ends("BF"),
            FALLS,
            "nine bits are read instead of two; where lines come from the caches, as in small tables, \
             that costs less",
        ),
        claim(
            PLACE,
            "blocked BF against BF, all present",
            (None, speed("blocked BF", 100.0) / speed("BF", 100.0)),
            FASTER,
            "one line instead of nine",
        ),
        claim(
            PLACE,
            "QF against the slowest other, at its worst share",
            (None, slowest),
            SLOWER,
            "a cluster at 90 % is long",
        ),
        claim(
            PLACE,
            "dl-CBF against ss-CF, at its worst share",
            least("dl-CBF", "ss-CF"),
            FASTER,
            "four buckets, but nothing is decoded",
        ),
        claim(
            PLACE,
            "dl-CBF against BF, none present",
            (None, speed("dl-CBF", 0.0) / speed("BF", 0.0)),
            SLOWER,
            "four lines against two; but four whose addresses are known at once, and no branch",
        ),
        claim(
            PLACE,
            "dl-CBF, all present against none present",
            (Some(1.0), ends("dl-CBF").1),
            STABLE,
            "always four buckets",
        ),
        claim(
            PLACE,
            "ss-CF against BF, from half present on, at its worst share",
            (None, [50.0, 75.0, 100.0].map(ss_to_bf).into_iter().fold(f64::INFINITY, f64::min)),
            FASTER,
            "faster in the paper from a quarter present on; a core of today has the reads of several \
             keys under way at once, and decoding keeps it from that, so the nine lines of a present \
             key cost less beside it",
        ),
    ];
    for life in lives.iter().filter(|life| life.name.starts_with("guira Plain5x12")) {
        let ratio = least_ratio(&life.by_share, &find(lives, "CF").by_share);
        let what = format!("{} against CF, at its worst share", life.name);
        rows.push(claim(PLACE, what, (None, ratio), 1.0..=1.0, GUIRA));
    }
    rows
}

const GUIRA: &str = "CF may be used by one thread alone, guira's table by many at once: every look-up \
                     reads its stripe's epoch before and after. Batches hide the misses";

/// The most that a filter's speed is of another's.
fn best(lives: &[Life], name: &str, other: &str) -> f64 {
    1.0 / least_ratio(&find(lives, other).by_share, &find(lives, name).by_share)
}
