//! Figures 3 and 4: bits per item by false-positive rate, for 2, 4 and 8 slots per bucket, and of
//! cuckoo filters, Bloom filters and guira.

use std::{f64::consts::LOG2_E, sync::OnceLock};

use guira_harness::plot::{Chart, Look, Marker, Series};
use rayon::prelude::*;

use super::{
    Outcome, Row, Subject,
    curve::Curve,
    loads::slot_look,
    space::{Space, all, bloom, measure},
};
use crate::{
    Options,
    filters::{PAPERS, look, semi_sorted},
    simulation::{Shape, false_positives, load_at_first_refusal},
};

const SLOTS: [usize; 3] = [2, 4, 8];
const BITS: std::ops::RangeInclusive<u32> = 4..=20;
const LOG_BUCKETS: u32 = 16;
const QUERIES: usize = 20_000_000;
/// Size of the semi-sorted filters in bytes, which gives each 2^17 or 2^18 buckets and more.
const BYTES: usize = 2 << 20;

/// A table of the papers' scheme.
#[derive(Clone, Copy, Debug)]
struct Point {
    shape: Shape,
    /// The load at the first refusal, from 0 to 1.
    load: f64,
    /// The false-positive rate near that load.
    rate: f64,
}

impl Point {
    /// Returns the bits per item at the load.
    fn bits(&self) -> f64 {
        f64::from(self.shape.bits) / self.load
    }

    /// Returns the bits per item by the paper's formula, at the measured rate and load.
    fn formula(&self) -> f64 {
        (2.0 * self.shape.slots as f64 / self.rate).log2() / self.load
    }

    /// Whether the reserved zero fingerprint matters little, and the rate is measured accurately.
    fn is_accurate(&self) -> bool {
        self.shape.bits >= 8 && self.rate > 1e-4
    }
}

/// Measures all points on the first call, and returns the same ones on each call.
fn points(options: &Options) -> &'static [Point] {
    static POINTS: OnceLock<Vec<Point>> = OnceLock::new();
    let runs = options.runs_or(2) as u64;
    let queries = match options {
        _ if options.smoke => QUERIES / 20,
        _ if options.full => 10 * QUERIES,
        _ => QUERIES,
    };
    let shape = |slots, bits| Shape::new(options.log(LOG_BUCKETS), slots, bits);
    let shapes: Vec<Shape> =
        SLOTS.iter().flat_map(|&slots| BITS.map(move |bits| shape(slots, bits))).collect();
    POINTS.get_or_init(|| {
        let point = |&shape: &Shape| {
            let loads = (0..runs).map(|run| load_at_first_refusal(shape, run));
            let load = loads.sum::<f64>() / runs as f64;
            let (_, rate) = false_positives(shape, load - 0.005, queries, runs);
            Point { shape, load, rate }
        };
        // Lower rates are based on too few false positives.
        shapes.par_iter().map(point).filter(|point| point.rate > 5e-6).collect()
    })
}

/// Returns the points of one bucket size as a curve.
fn of_slots(points: &[Point], slots: usize) -> Curve {
    let of = points.iter().filter(|point| point.shape.slots == slots);
    Curve(of.map(|point| (point.rate, point.bits())).collect())
}

/// Returns an empty plot of bits by rate.
fn chart(name: &'static str, title: &str) -> Chart {
    Chart::new(name, title).x("false-positive rate, measured").y("bits per item").log_x()
}

/// Returns the values of a formula over the rates that both plots show.
fn over(formula: fn(f64) -> f64) -> Vec<(f64, f64)> {
    (2..=17).map(|x| 0.5_f64.powi(x)).map(|rate| (rate, formula(rate))).collect()
}

/// Reproduces Figure 3.
pub fn figure_3(options: &Options) -> Outcome {
    let points = points(options);
    let line =
        |slots| Series::new(slot_look(slots), format!("b = {slots}"), of_slots(points, slots).0);
    let chart = chart("figure-3", "Figure 3: bits per item by false-positive rate")
        .with_all(SLOTS.map(line))
        .with_all([Series::guide("information limit", over(|rate| -rate.log2()))]);
    let note =
        "Tables of 2^16 buckets are filled until an item does not fit. The rate is measured \
        half a point below that load. The paper plots its points without numbers. Its text \
        (section 5.1) claims that two slots per bucket take slightly less space than four at rates \
        above 0.2 %, and that four take the least from there down to 0.001 %."
            .into();
    Outcome { rows: rows_3(points), charts: vec![chart], note, ..Outcome::default() }
}

/// Reproduces Figure 4.
pub fn figure_4(options: &Options) -> Outcome {
    let (plain, spaces) = (of_slots(points(options), 4), all());
    let sorted = semi_sorted().par_iter().map(|kind| measure(kind, BYTES)).collect::<Vec<_>>();
    let sorted = Curve(sorted.iter().map(|space| (space.rate, space.bits)).collect());
    let measured = |is_wanted: &dyn Fn(&str) -> bool| {
        let wanted = spaces.iter().filter(|space| is_wanted(&space.name));
        wanted.map(|space| (space.rate, space.bits)).collect()
    };
    let semi = Look::GUIRA.marker(Marker::SQUARE).variant();
    let series = |look, name: &str, points| Series::new(look, name, points);
    let chart = chart("figure-4", "Figure 4: bits per item by false-positive rate")
        .with_all([
            series(Look::GUIRA, "guira, plain layouts", measured(&|name| name.contains(" Plain"))),
            series(semi, "guira, semi-sorted layouts", measured(&|name| name.contains(" Semi"))),
            series(look("CF"), "cuckoo filter, b = 4", plain.0.clone()),
            series(look("ss-CF"), "semi-sorted cuckoo filter", sorted.0.clone()),
            series(look("BF").without_markers(), "Bloom, 1.44 log2(1/ε)", over(bloom)),
            series(Look::nth(8).without_markers(), "windowed, formula", over(windowed)),
            Series::guide("information limit", over(|rate| -rate.log2())),
        ])
        .with_all(
            PAPERS[2..].iter().map(|&name| series(look(name), name, measured(&|it| it == name))),
        );
    let note = "The loads and rates of the plain cuckoo filters are those of Figure 3; the \
        semi-sorted ones are packed tables of 2 MiB with fingerprints of 5 to 15 bits. guira's \
        layouts are filled to their capacity, and the other filters take 6 MiB. The paper prints \
        one number in this figure: the curves of the semi-sorted filter and of the Bloom filter \
        cross at 7.2 bits per item and a rate of 3 %. Plain cuckoo filters take less space than \
        Bloom filters below 0.4 %, by the formulas of Table 2.\n\n\
        The smallest published filter with insertion and removal that we know is the windowed \
        cuckoo filter (Schmitz et al. 2025, arXiv 2505.05847), with 1.06 (log2(1/ε) + 2) bits per \
        item by its paper's formula."
        .into();
    let rows = rows_4(&plain, &sorted, spaces);
    Outcome { rows, charts: vec![chart], note, ..Outcome::default() }
}

/// Returns the bits per item of the windowed cuckoo filter of a rate.
fn windowed(rate: f64) -> f64 {
    1.06 * (2.0 - rate.log2())
}

fn rows_3(points: &[Point]) -> Vec<Row> {
    let [two, four, eight] = SLOTS.map(|slots| of_slots(points, slots));
    let row = |quantity: &str, measured, unit| Row::new("Section 5.1", quantity, measured, unit);
    let crossing = four.below(|rate| two.at(rate)).unwrap_or(f64::NAN);
    let quantity = "rate below which four slots take less space than two";
    let mut rows = vec![row(quantity, 100.0 * crossing, "%").printed(0.2).within_factor(2.0).note(
        "tolerance a factor of two, for the curves are nearly parallel and the fingerprint sizes \
         coarse",
    )];
    for rate in [1e-3, 2e-5] {
        let saved = eight.at(rate).zip(four.at(rate)).map_or(f64::NAN, |(b8, b4)| b4 - b8);
        let quantity =
            format!("bits per item of four slots minus those of eight, at {} %", 100.0 * rate);
        let note = "four slots take the least space from 0.2 % down to 0.001 %";
        rows.push(row(&quantity, saved, "bits").holds(-2.0..=0.0).note(note));
    }
    let worst = points
        .iter()
        .filter(|point| point.is_accurate())
        .map(|point| point.bits() - point.formula())
        .fold(0.0, |worst: f64, error| if error.abs() > worst.abs() { error } else { worst });
    let quantity = "maximum deviation of measured bits from log2(2b/ε)/α";
    rows.push(row(quantity, worst, "bits").formula(0.0).within(0.3).note(
        "fingerprints from 8 bits on; tolerance 0.3 bits; the formula assumes a full table, which \
         overstates the rate, most for two slots",
    ));
    rows
}

fn rows_4(plain: &Curve, sorted: &Curve, spaces: &[Space]) -> Vec<Row> {
    let below_bloom = |curve: &Curve| curve.below(|rate| Some(bloom(rate))).unwrap_or(f64::NAN);
    let crossing = |filter: &str, curve: &Curve| {
        let quantity = "rate below which it takes less space than the best Bloom filter";
        Row::new(format!("Figure 4, {filter}"), quantity, 100.0 * below_bloom(curve), "%")
            .note("tolerance a factor of 1.5")
    };
    let bits = sorted.at(below_bloom(sorted)).unwrap_or(f64::NAN);
    // Solves (log2(1/ε) + 3) / α = 1.44 log2(1/ε).
    let formulas = 100.0 * (-3.0 / (LOG2_E * 0.955 - 1.0)).exp2();
    let mut rows = vec![
        crossing("semi-sorted", sorted).printed(3.0).within_factor(1.5),
        Row::new("Figure 4, semi-sorted", "bits per item where it does", bits, "bits")
            .printed(7.2)
            .within(0.5)
            .note("tolerance 0.5 bits, for the fingerprint sizes are coarse"),
        crossing("cuckoo filter", plain).formula(formulas).within_factor(1.5),
    ];
    for space in spaces.iter().filter(|space| space.name.starts_with("guira")) {
        let row = |quantity| {
            Row::new(format!("Figure 4, {}", space.name), quantity, space.bits, "bits")
                .about(Subject::GuiraLess)
                .reason(if space.name.contains("Plain") {
                    "a plain layout spends bits on word alignment, on more than four slots per \
                     bucket, and on slack"
                } else {
                    "with three slots per bucket, more of the table stays empty"
                })
        };
        if let Some(paper) = plain.at(space.rate) {
            rows.push(
                row("bits per item at capacity, and of the paper's plain filter at that rate")
                    .measured_here(paper)
                    .within(0.1)
                    .note(
                        "the paper's value is interpolated from its filter's curve, at the first \
                         refusal; tolerance 0.1 bits",
                    ),
            );
        }
        rows.push(
            row("bits per item at capacity, and of the windowed cuckoo filter at that rate")
                .formula(windowed(space.rate))
                .within(0.1)
                .note("tolerance 0.1 bits"),
        );
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{BITS, Curve, Point, SLOTS, Shape, rows_3, rows_4};
    use crate::experiments::{row::assert_each_row_can_change, space::variants};

    /// Points of tables with the loads given for two, four and eight slots.
    fn points(loads: [f64; 3], rate_factor: f64) -> Vec<Point> {
        let point = |slots: usize, load: f64, bits: u32| Point {
            shape: Shape::new(16, slots, bits),
            load,
            rate: rate_factor * 2.0 * slots as f64 / f64::from(bits).exp2(),
        };
        let shapes = SLOTS.into_iter().zip(loads);
        shapes.flat_map(|(slots, load)| BITS.map(move |bits| point(slots, load, bits))).collect()
    }

    #[test]
    fn each_row_of_figure_3_can_change() {
        // Loads at which two slots take as much space as four at 0.2 %: 0.87 and 0.95.
        let inputs = [
            points([0.87, 0.955, 0.98], 1.0),
            points([0.84, 0.955, 0.98], 1.0),
            points([0.94, 0.955, 0.98], 1.0),
            points([0.87, 0.8, 0.98], 1.0),
            points([0.87, 0.955, 0.98], 2.0),
            points([0.87, 0.955, 0.98], 0.5),
        ];
        assert_each_row_can_change(&inputs, |points| rows_3(points));
    }

    #[test]
    fn each_row_of_figure_4_can_change() {
        let curve = |extra: f64, bits: f64| {
            let point = |f: u32| {
                let rate = 8.0 / f64::from(f).exp2();
                (rate, (extra - rate.log2()) / 0.955 * bits)
            };
            Curve((3..=26).map(point).collect())
        };
        let factors = [1.0, 0.8, 0.9, 1.05].into_iter().cycle();
        let inputs: Vec<_> = variants().into_iter().zip(factors).collect();
        assert_each_row_can_change(&inputs, |(spaces, bits)| {
            rows_4(&curve(3.0, *bits), &curve(2.0, *bits), spaces)
        });
    }
}
