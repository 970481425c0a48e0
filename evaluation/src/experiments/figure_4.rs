//! Figure 4: bits per item by false-positive rate of Bloom and cuckoo filters and of guira.

use std::f64::consts::LOG2_E;

use super::{
    Outcome, Progress, Row, Verdict,
    curves::Curve,
    space::{Space, all, bloom},
};
use crate::{
    Options,
    addressing::{Scheme, Shape, false_positives, load_at_first_refusal},
    parallel,
    report::{Chart, Look, Marker, Series, Table},
};

const BITS: std::ops::RangeInclusive<u32> = 4..=18;
const LOG_BUCKETS: u32 = 18;
/// Bits per slot that semi-sorting saves.
const SAVED: f64 = 1.0;

/// Measures fingerprint bits, load and rate of the paper's filter with four slots per bucket.
fn measure(progress: &Progress) -> Vec<(u32, f64, f64)> {
    let bits: Vec<u32> = BITS.collect();
    progress.expect(bits.len());
    parallel::map(&bits, |&bits| {
        let shape = Shape { buckets: 1 << LOG_BUCKETS, slots: 4, bits };
        let load = load_at_first_refusal(Scheme::PAPER, shape, 1);
        let (_, rate) = false_positives(Scheme::PAPER, shape, load - 0.005, 8_000_000, 2);
        progress.step();
        (bits, load, rate)
    })
}

/// Reproduces the figure.
pub fn run(_: &Options, progress: &Progress) -> Outcome {
    let points = measure(progress);
    let spaces = all(progress);
    let plain = Curve(points.iter().map(|&(f, load, rate)| (rate, f64::from(f) / load)).collect());
    let sorted = |&(f, load, rate): &(u32, f64, f64)| (rate, (f64::from(f) - SAVED) / load);
    let sorted = Curve(points.iter().map(sorted).collect());

    let head = ["filter", "bits per item", "false positives %", "limit", "bits above the limit"];
    let mut table = Table::new("figure-4-filters", &head);
    for space in spaces {
        table.push(vec![
            space.name.clone(),
            format!("{:.3}", space.bits),
            format!("{:.5}", 100.0 * space.rate),
            format!("{:.3}", space.limit()),
            format!("{:.3}", space.bits - space.limit()),
        ]);
    }
    let rates: Vec<f64> = (2..=16).map(|x| 0.5_f64.powi(x)).collect();
    let over = |bits: fn(f64) -> f64| rates.iter().map(|&rate| (rate, bits(rate))).collect();
    let measured = |is_wanted: fn(&str) -> bool| -> Vec<(f64, f64)> {
        let wanted = spaces.iter().filter(|space| is_wanted(&space.name) && space.bits < 30.0);
        wanted.map(|space| (space.rate, space.bits)).collect()
    };
    let chart = Chart::new("figure-4", "Figure 4: bits per item by false-positive rate")
        .x("false-positive rate, measured")
        .y("bits per item")
        .log_x()
        .with(Series::line(0, "guira, plain layouts", measured(|name| name.starts_with("guira P"))))
        .with(Series::new(
            Look::GUIRA.marker(Marker::Square).variant(),
            "guira, semi-sorted layouts",
            measured(|name| name.starts_with("guira S")),
        ))
        .with(Series::line(1, "cuckoo filter, b = 4", plain.0.clone()))
        .with(Series::line(2, "semi-sorted cuckoo filter", sorted.0.clone()))
        .with(Series::line(3, "Bloom, 1.44 log2(1/ε)", over(bloom)))
        .with(Series::points(4, "other filters", measured(|name| !name.starts_with("guira"))))
        .with(Series::guide("information limit", over(|rate| -rate.log2())));
    let notes = vec![
        "The loads and rates of the cuckoo filters are measured with 2^18 buckets of four slots; \
         semi-sorting saves one bit per slot. guira's layouts are filled to their capacity, and \
         the other filters take 6 MiB. The paper plots this figure without numbers. Its text says \
         that cuckoo filters take less space than the best Bloom filter at rates below 3 %, which \
         holds for semi-sorted ones; by its formulas, plain ones do so below 0.4 %."
            .into(),
    ];
    let rows = rows(&plain, &sorted, spaces);
    Outcome { rows, tables: vec![table], charts: vec![chart], notes }
}

fn rows(plain: &Curve, sorted: &Curve, spaces: &[Space]) -> Vec<Row> {
    let against_bloom =
        |curve: &Curve| 100.0 * curve.below(|rate| Some(bloom(rate))).unwrap_or(f64::NAN);
    let crossing = |filter: &str, paper, measured: f64, note: &str| Row {
        location: format!("Figure 4, {filter}"),
        quantity: "rate below which it takes less space than the best Bloom filter".into(),
        paper: Some(paper),
        measured,
        unit: "%",
        verdict: Verdict::reproduced_if((measured / paper).ln().abs() < 1.5_f64.ln()),
        note: format!("{note}; tolerance a factor of 1.5"),
    };
    let mut rows = vec![
        crossing(
            "semi-sorted",
            3.0,
            against_bloom(sorted),
            "the paper's rounded value for its best cuckoo filter",
        ),
        crossing(
            "cuckoo filter",
            // Solves (log2(1/ε) + 3) / α = 1.44 log2(1/ε).
            100.0 * (-3.0 / (LOG2_E * 0.955 - 1.0)).exp2(),
            against_bloom(plain),
            "the paper's value is where its formulas of Table 2 cross",
        ),
    ];
    for space in spaces.iter().filter(|space| space.name.starts_with("guira")) {
        let Some(paper) = plain.at(space.rate) else { continue };
        let saved = space.bits - paper;
        rows.push(Row {
            location: format!("Figure 4, {}", space.name),
            quantity: "bits per item at capacity, and of the paper's plain filter at that \
                       rate"
                .into(),
            paper: Some(paper),
            measured: space.bits,
            unit: "bits",
            verdict: if saved.abs() <= 0.1 {
                Verdict::Reproduced
            } else if saved < 0.0 {
                Verdict::Better
            } else {
                Verdict::Differs
            },
            note: if space.name.contains("Plain") {
                "the paper's value is interpolated from its filter's curve, measured here at the \
                 first refusal; a plain layout spends bits on word alignment, on more than four \
                 slots per bucket, and on slack"
            } else {
                "the paper's value is interpolated from its filter's curve, measured here at the \
                 first refusal"
            }
            .into(),
        });
    }
    rows
}
