//! Table 2 of `;login:`, the load factor of short fingerprints in 2^25 buckets of four slots.
//!
//! A run at that size takes long, so `reference/login-table-2.csv` holds the results of an earlier
//! one, which are the same on every machine: each run is seeded by its number. It is the file
//! `report/login-table-2.csv` that `--only login-loads --log-buckets 25` writes.

use guira_harness::{
    plot::{Chart, Look, Series},
    table::Table,
};

use super::{
    Outcome, Row,
    loads::{Loads, measure},
};
use crate::{Options, filters::look, simulation::Shape};

/// Fingerprint bits, mean load in per cent, and its variance, as printed in the table.
const PAPER: [(u32, f64, f64); 6] = [
    (2, 17.53, 1.39),
    (4, 67.67, 8.06),
    (6, 95.39, 0.10),
    (8, 95.62, 0.18),
    (12, 95.77, 0.11),
    (16, 95.80, 0.11),
];

/// Binary logarithm of the number of buckets.
const LOG_BUCKETS: u32 = 25;
/// Slots per bucket.
const SLOTS: usize = 4;
/// The results of an earlier full run.
const REFERENCE: &str = include_str!("../../reference/login-table-2.csv");

/// Statistics of the loads of one fingerprint size.
#[derive(Clone, Debug)]
struct Statistics {
    bits: u32,
    runs: usize,
    mean: f64,
    deviation: f64,
    minimum: f64,
}

/// Measures all fingerprint sizes with 2^`log_buckets` buckets.
fn statistics(log_buckets: u32, runs: impl Fn(u32) -> usize) -> Vec<Statistics> {
    let specs = PAPER.map(|(bits, ..)| (Shape::new(log_buckets, SLOTS, bits), runs(bits)));
    let of_spec = |((shape, runs), loads): ((Shape, usize), Loads)| Statistics {
        bits: shape.bits,
        runs,
        mean: loads.mean(),
        deviation: loads.variance().sqrt(),
        minimum: loads.minimum(),
    };
    specs.into_iter().zip(measure(&specs)).map(of_spec).collect()
}

/// Parses the reference results; a test checks that they are complete.
fn reference() -> Vec<Statistics> {
    let parse = |line: &str| {
        let cells: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
        let &[bits, runs, mean, deviation, minimum] = &*cells else { return None };
        Some(Statistics { bits: bits as u32, runs: runs as usize, mean, deviation, minimum })
    };
    REFERENCE.lines().skip(1).filter_map(parse).collect()
}

fn table(name: &'static str, statistics: &[Statistics]) -> Table {
    Table::of(
        name,
        statistics,
        &[
            ("bits", &|it| it.bits.to_string()),
            ("runs", &|it| it.runs.to_string()),
            ("mean load %", &|it| format!("{:.3}", it.mean)),
            ("standard deviation (points)", &|it| format!("{:.3}", it.deviation)),
            ("minimum %", &|it| format!("{:.3}", it.minimum)),
        ],
    )
}

/// Reproduces the table.
pub fn run(options: &Options) -> Outcome {
    let is_measured = options.log_buckets().contains(&LOG_BUCKETS);
    // Loads of long fingerprints vary little between runs. The longest show the spread that the
    // paper prints.
    let runs = |bits: u32| {
        if (6..12).contains(&bits) { options.runs_or(3) } else { 10 }
    };
    let large = if is_measured { statistics(LOG_BUCKETS, runs) } else { reference() };
    let small = statistics(options.log(20), |_| options.runs_or(3));
    let means = |statistics: &[Statistics]| {
        statistics.iter().map(|it| (it.bits.into(), it.mean)).collect::<Vec<(f64, f64)>>()
    };
    let printed = PAPER.map(|(bits, mean, _)| (bits.into(), mean)).into();
    let chart = Chart::new("login-table-2-loads", "Mean load at the first refusal, 4 slots")
        .x("fingerprint bits")
        .y("load, %")
        .whole_x()
        .with_all([
            Series::new(look("CF").without_line(), ";login:, Table 2", printed),
            Series::new(look("CF"), "2^25 buckets", means(&large)),
            Series::new(Look::nth(13), "2^20 buckets", means(&small)),
        ]);
    let source = if is_measured { "measured in this run" } else { "from an earlier run" };
    let note = format!(
        "The results for 2^25 buckets are {source}. The second table has 2^20 buckets.\n\n\
        A zero fingerprint marks an empty slot. The authors' program replaces zero with one, so \
        one is twice as frequent as any other fingerprint. With 2 and 4 bits, this determines when \
        nine copies first share a pair of buckets, and therefore the load.\n\n\
        The table's variance of the load agrees with the standard deviation measured here. From \
        six bits on, the loads measured here are 0.1 to 0.5 points lower than the table's. With \
        2^20 buckets, 600 relocations instead of 500 raise the load by 0.4 points."
    );
    let tables = vec![table("login-table-2", &large), table("login-table-2-small", &small)];
    let rows = large.iter().flat_map(compare).collect();
    Outcome { rows, tables, charts: vec![chart], note }
}

/// Compares the mean load and its spread with the paper's.
fn compare(statistics: &Statistics) -> [Row; 2] {
    let &Statistics { bits, runs, mean: measured, deviation, .. } = statistics;
    let of_bits = PAPER.iter().find(|paper| paper.0 == bits);
    let &(_, mean, spread) = of_bits.expect("the paper's fingerprint sizes");
    // Two standard errors of the difference, or half a point.
    let error = (deviation.powi(2) / runs as f64 + spread.powi(2) / 10.0).sqrt();
    let tolerance = (2.0 * error).max(0.5);
    // Two standard errors of the logarithm of a standard deviation, from the runs here and ten.
    let uncertain = |runs: usize| 0.5 / (runs as f64 - 1.0).max(1.0);
    let factor = (2.0 * (uncertain(runs) + uncertain(10)).sqrt()).exp();
    let location = format!(";login: Table 2, f = {bits}");
    let quantity = "mean load at the first refusal, 2^25 buckets of 4";
    [
        Row::new(&location, quantity, measured, "%")
            .printed(mean)
            .within(tolerance)
            .note(format!("{runs} runs; tolerance {tolerance:.2} points")),
        Row::new(location, "standard deviation of the load", deviation, "points")
            .printed(spread)
            .within_factor(factor)
            .note(format!(
                "the table calls it the variance; from {runs} runs here and ten in the paper; \
                 tolerance a factor of {factor:.1}"
            )),
    ]
}

#[cfg(test)]
mod tests {
    use super::{PAPER, REFERENCE, Statistics, compare, reference};
    use crate::experiments::row::assert_each_row_can_change;

    #[test]
    fn each_row_can_change() {
        let inputs = [(95.8, 0.11), (95.0, 0.11), (95.8, 1.0)].map(|(mean, deviation)| {
            Statistics { bits: 12, runs: 10, mean, deviation, minimum: 0.0 }
        });
        assert_each_row_can_change(&inputs, |statistics| compare(statistics).into());
    }

    #[test]
    fn the_reference_results_are_complete() {
        let bits: Vec<u32> = reference().iter().map(|statistics| statistics.bits).collect();
        assert_eq!(bits, PAPER.map(|(bits, ..)| bits));
        assert_eq!(REFERENCE.lines().count(), 1 + bits.len(), "a line is not valid");
    }
}
