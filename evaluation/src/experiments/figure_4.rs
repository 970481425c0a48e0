//! Figure 4: bits per item by false-positive rate of Bloom and cuckoo filters and of guira.

use std::f64::consts::LOG2_E;

use rayon::prelude::*;

use super::{
    Outcome, Progress, Row, Subject,
    curves::Curve,
    space::{self, Space, all, bloom},
};
use crate::{
    Options,
    addressing::{Scheme, Shape, false_positives, load_at_first_refusal},
    filters::{look, semi_sorted},
    report::{Chart, Look, Marker, Series, Table},
};

const BITS: std::ops::RangeInclusive<u32> = 4..=18;
const LOG_BUCKETS: u32 = 18;
/// Size of the semi-sorted filters in bytes, which gives each 2^17 or 2^18 buckets and more.
const BYTES: usize = 2 << 20;

/// Measures bits per item and rate of the paper's filter with four slots per bucket.
fn plain(options: &Options, progress: &Progress) -> Curve {
    let bits: Vec<u32> = BITS.collect();
    progress.expect(bits.len());
    let points: Vec<_> = bits
        .par_iter()
        .map(|&bits| {
            let shape = Shape { buckets: 1 << options.log(LOG_BUCKETS), slots: 4, bits };
            let load = load_at_first_refusal(Scheme::PAPER, shape, 1);
            let (_, rate) = false_positives(Scheme::PAPER, shape, load - 0.005, 8_000_000, 2);
            progress.step();
            (rate, f64::from(bits) / load)
        })
        .collect();
    Curve(points)
}

/// Measures semi-sorted filters with fingerprints of several sizes: their packed tables, and the
/// rates of full ones.
fn sorted(progress: &Progress) -> Curve {
    let kinds = semi_sorted();
    progress.expect(kinds.len());
    let points: Vec<_> = kinds
        .par_iter()
        .map(|kind| {
            let space = space::measure(kind, BYTES);
            progress.step();
            (space.rate, space.bits)
        })
        .collect();
    Curve(points)
}

/// Reproduces the figure.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let (plain, sorted) = (plain(options, progress), sorted(progress));
    let spaces = all(progress);

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
            Look::GUIRA.marker(Marker::SQUARE).variant(),
            "guira, semi-sorted layouts",
            measured(|name| name.starts_with("guira S")),
        ))
        .with(Series::new(look("CF"), "cuckoo filter, b = 4", plain.0.clone()))
        .with(Series::new(look("ss-CF"), "semi-sorted cuckoo filter", sorted.0.clone()))
        .with(Series::new(look("BF"), "Bloom, 1.44 log2(1/ε)", over(bloom)))
        .with_all(
            spaces
                .iter()
                .filter(|space| {
                    !space.name.contains("guira") && !["CF", "ss-CF", "CBF"].contains(&&*space.name)
                })
                .map(|space| {
                    let point = vec![(space.rate, space.bits)];
                    Series::new(look(&space.name), &*space.name, point)
                }),
        )
        .with(Series::guide("information limit", over(|rate| -rate.log2())));
    let notes = vec![
        "The loads and rates of the plain cuckoo filters are measured with 2^18 buckets of four \
         slots; the semi-sorted ones are packed tables of 2 MiB with fingerprints of 5 to 15 bits. \
         guira's layouts are filled to their capacity, and the other filters take 6 MiB. The paper \
         prints one number in this figure: the curves of the semi-sorted filter and of the Bloom \
         filter cross at 7.2 bits per item and a rate of 3 %. Plain cuckoo filters take less space \
         than Bloom filters below 0.4 %, by the formulas of Table 2."
            .into(),
    ];
    let rows = rows(&plain, &sorted, spaces);
    Outcome { rows, tables: vec![table], charts: vec![chart], notes, ..Outcome::default() }
}

fn rows(plain: &Curve, sorted: &Curve, spaces: &[Space]) -> Vec<Row> {
    let below_bloom = |curve: &Curve| curve.below(|rate| Some(bloom(rate))).unwrap_or(f64::NAN);
    let crossing = |filter: &str, curve: &Curve| {
        let quantity = "rate below which it takes less space than the best Bloom filter";
        Row::papers(format!("Figure 4, {filter}"), quantity, 100.0 * below_bloom(curve), "%")
            .note("tolerance a factor of 1.5")
    };
    let bits = sorted.at(below_bloom(sorted)).unwrap_or(f64::NAN);
    // Solves (log2(1/ε) + 3) / α = 1.44 log2(1/ε).
    let formulas = 100.0 * (-3.0 / (LOG2_E * 0.955 - 1.0)).exp2();
    let mut rows = vec![
        crossing("semi-sorted", sorted).printed(3.0).within_factor(1.5),
        Row::papers("Figure 4, semi-sorted", "bits per item where it does", bits, "bits")
            .printed(7.2)
            .within(0.5)
            .note("tolerance 0.5 bits, for the fingerprint sizes are coarse"),
        crossing("cuckoo filter", plain).formula(formulas).within_factor(1.5),
    ];
    for space in spaces.iter().filter(|space| space.name.starts_with("guira")) {
        let Some(paper) = plain.at(space.rate) else { continue };
        let quantity = "bits per item at capacity, and of the paper's plain filter at that rate";
        let location = format!("Figure 4, {}", space.name);
        rows.push(
            Row::of(location, quantity, space.bits, "bits", Subject::GuiraLess)
                .measured_here(paper)
                .within(0.1)
                .note(
                    "the paper's value is interpolated from its filter's curve, at the first \
                     refusal; tolerance 0.1 bits",
                )
                .reason(if space.name.contains("Plain") {
                    "a plain layout spends bits on word alignment, on more than four slots per \
                     bucket, and on slack"
                } else {
                    "with three slots per bucket, more of the table stays empty"
                }),
        );
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{Curve, rows};
    use crate::experiments::{row::assert_each_row_can_change, space::variants};

    #[test]
    fn each_row_can_change() {
        let curve = |extra: f64, bits: f64| -> Curve {
            let point = |f: u32| {
                let rate = 8.0 / f64::from(f).exp2();
                (rate, (extra - rate.log2()) / 0.955 * bits)
            };
            Curve((4..=22).map(point).collect())
        };
        let mut inputs = Vec::new();
        for spaces in variants() {
            inputs.push((1.0, spaces));
        }
        for bits in [0.8, 0.9, 1.05] {
            inputs.push((bits, variants().swap_remove(0)));
        }
        assert_each_row_can_change(&inputs, |(bits, spaces)| {
            // The rates stay, so that each input gives the same rows.
            let known: Vec<_> = variants().swap_remove(0);
            let spaces: Vec<_> = spaces
                .iter()
                .zip(known)
                .map(|(space, known)| super::Space { rate: known.rate, ..space.clone() })
                .collect();
            rows(&curve(3.0, *bits), &curve(2.0, *bits), &spaces)
        });
    }
}
