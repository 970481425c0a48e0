//! Figure 3: bits per item by false-positive rate, for 2, 4 and 8 slots per bucket.

use guira_harness::{
    plot::{Chart, Series},
    table::Table,
};

use super::{Outcome, Progress, Row, curves::Curve, loads::slot_look};
use crate::{
    Options,
    simulation::{Shape, false_positives, load_at_first_refusal},
};

const SLOTS: [usize; 3] = [2, 4, 8];
const BITS: std::ops::RangeInclusive<u32> = 6..=20;
const LOG_BUCKETS: u32 = 16;
const QUERIES: usize = 20_000_000;

/// A point of the figure.
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

/// Measures all points.
fn measure(options: &Options, progress: &Progress) -> Vec<Point> {
    let runs = options.runs_or(2) as u64;
    let queries = match options {
        _ if options.smoke => QUERIES / 20,
        _ if options.full => 10 * QUERIES,
        _ => QUERIES,
    };
    let shape = |slots, bits| Shape::new(options.log(LOG_BUCKETS), slots, bits);
    let shapes: Vec<Shape> =
        SLOTS.iter().flat_map(|&slots| BITS.map(move |bits| shape(slots, bits))).collect();
    progress.map(&shapes, |&shape| {
        let loads = (0..runs).map(|run| load_at_first_refusal(shape, run));
        let load = loads.sum::<f64>() / runs as f64;
        let (_, rate) = false_positives(shape, load - 0.005, queries, runs);
        Point { shape, load, rate }
    })
}

/// Reproduces the figure.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let mut points = measure(options, progress);
    // Lower rates are based on too few false positives.
    points.retain(|point| point.rate > 5e-6);
    let head = [
        "slots per bucket",
        "bits",
        "load %",
        "false positives %",
        "bits per item",
        "bits by formula",
    ];
    let mut table = Table::new("figure-3-points", &head);
    for point in &points {
        table.push(vec![
            point.shape.slots.to_string(),
            point.shape.bits.to_string(),
            format!("{:.2}", 100.0 * point.load),
            format!("{:.5}", 100.0 * point.rate),
            format!("{:.3}", point.bits()),
            format!("{:.3}", point.formula()),
        ]);
    }
    let mut chart = Chart::new("figure-3", "Figure 3: bits per item by false-positive rate")
        .x("false-positive rate, measured")
        .y("bits per item")
        .log_x();
    for slots in SLOTS {
        let name = format!("b = {slots}");
        chart.push(Series::new(slot_look(slots), name, curve(&points, slots).0));
    }
    let rates = (4..=17).map(|x| 0.5_f64.powi(x));
    let limit = rates.map(|rate| (rate, -rate.log2())).collect();
    chart.push(Series::guide("information limit", limit));
    let notes = vec![
        "Tables of 2^16 buckets are filled until an item does not fit. The rate is measured half a \
         point below that load. The paper plots its points without numbers. Its text (section 5.1) \
         claims that two slots per bucket take slightly less space than four at rates above 0.2 %, \
         and that four take the least from there down to 0.001 %."
            .into(),
    ];
    Outcome { rows: rows(&points), tables: vec![table], charts: vec![chart], notes }
}

/// Returns the points of one bucket size as a curve.
fn curve(points: &[Point], slots: usize) -> Curve {
    let of = points.iter().filter(|point| point.shape.slots == slots);
    Curve(of.map(|point| (point.rate, point.bits())).collect())
}

fn rows(points: &[Point]) -> Vec<Row> {
    let [two, four, eight] = SLOTS.map(|slots| curve(points, slots));
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

#[cfg(test)]
mod tests {
    use super::{BITS, Point, SLOTS, Shape, rows};
    use crate::experiments::row::assert_each_row_can_change;

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
    fn each_row_can_change() {
        // Loads at which two slots take as much space as four at 0.2 %: 0.87 and 0.95.
        let inputs = [
            points([0.87, 0.955, 0.98], 1.0),
            points([0.84, 0.955, 0.98], 1.0),
            points([0.94, 0.955, 0.98], 1.0),
            points([0.87, 0.8, 0.98], 1.0),
            points([0.87, 0.955, 0.98], 2.0),
            points([0.87, 0.955, 0.98], 0.5),
        ];
        assert_each_row_can_change(&inputs, |points| rows(points));
    }
}
