//! Table 2 of `;login:`, the load factor of short fingerprints in 2^25 buckets of four slots.
//!
//! A run at that size takes long, so `reference/login-table-2.csv` holds the results of an earlier
//! one, which is the same on every machine: each run is seeded by its number.
//! `--only login-loads --log-buckets 25 --save-reference` rewrites the file.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use super::{
    Outcome, Progress, Row, Subject,
    loads::{Loads, Spec, measure, scheme_look},
};
use crate::{
    Options,
    addressing::{Scheme, Shape},
    report::{Chart, Series, Table},
};

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
pub const LOG_BUCKETS: u32 = 25;
/// Slots per bucket.
const SLOTS: usize = 4;

/// The name of the table with the reference results.
const NAME: &str = "login-table-2";
/// The results of an earlier full run.
const REFERENCE: &str = include_str!("../../reference/login-table-2.csv");
/// The command that rewrites the reference results.
const COMMAND: &str = "cargo run --release -p guira-evaluation -- --only login-loads --log-buckets \
                       25 --save-reference";

/// Statistics of the loads of one scheme and fingerprint size.
#[derive(Clone, Debug)]
struct Statistics {
    scheme: &'static str,
    bits: u32,
    runs: usize,
    mean: f64,
    variance: f64,
    minimum: f64,
}

impl Statistics {
    fn new(scheme: Scheme, bits: u32, loads: &Loads) -> Self {
        let (mean, variance, minimum) = (loads.mean(), loads.variance(), loads.minimum());
        Self { scheme: scheme.name(), bits, runs: loads.runs(), mean, variance, minimum }
    }

    fn cells(&self) -> Vec<String> {
        let numbers = [self.mean, self.variance, self.variance.sqrt(), self.minimum];
        let [mean, variance, deviation, minimum] = numbers.map(|number| format!("{number:.3}"));
        let (bits, runs) = (self.bits.to_string(), self.runs.to_string());
        vec![self.scheme.into(), bits, runs, mean, variance, deviation, minimum]
    }

    fn parse(record: &csv::StringRecord) -> Option<Self> {
        let number = |column: usize| record.get(column)?.parse::<f64>().ok();
        let mut names = Scheme::ALL.into_iter().map(Scheme::name);
        Some(Self {
            scheme: names.find(|&name| Some(name) == record.get(0))?,
            bits: number(1)? as u32,
            runs: number(2)? as usize,
            mean: number(3)?,
            // The deviation is printed with more significant digits than the variance.
            variance: number(5)?.powi(2),
            minimum: number(6)?,
        })
    }
}

const HEAD: [&str; 7] = [
    "addressing",
    "bits",
    "runs",
    "mean load %",
    "variance (points squared)",
    "standard deviation (points)",
    "minimum %",
];

/// Measures all schemes and fingerprint sizes with 2^`log_buckets` buckets.
fn statistics(
    log_buckets: u32,
    runs: impl Fn(Scheme, u32) -> usize,
    progress: &Progress,
) -> Vec<Statistics> {
    let buckets = 1 << log_buckets;
    let specs: Vec<Spec> = Scheme::ALL
        .into_iter()
        .flat_map(|scheme| PAPER.map(|(bits, ..)| (scheme, bits)))
        // The distribution of fingerprints matters only for short ones.
        .filter(|&(scheme, bits)| bits <= 4 || scheme != Scheme::UNIFORM)
        .map(|(scheme, bits)| {
            let shape = Shape { buckets, slots: SLOTS, bits };
            Spec { scheme, shape, runs: runs(scheme, bits) }
        })
        .collect();
    let loads = measure(&specs, progress);
    let of_spec = |(spec, loads): (&Spec, _)| Statistics::new(spec.scheme, spec.shape.bits, loads);
    specs.iter().zip(&loads).map(of_spec).collect()
}

/// Parses the reference results; a test checks that they are complete.
fn reference() -> Vec<Statistics> {
    let mut reader =
        csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(REFERENCE.as_bytes());
    reader.records().filter_map(|record| Statistics::parse(&record.ok()?)).collect()
}

/// Saves the results for 2^25 buckets as the reference for later builds.
///
/// # Errors
/// If the file cannot be written, or if the results are not among the tables.
pub fn save_reference<'a>(mut tables: impl Iterator<Item = &'a Table>) -> Result<()> {
    let table = tables.find(|table| table.name == NAME).context("login-loads did not run")?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference");
    let path = folder.join(NAME).with_extension("csv");
    let context = || format!("cannot write {}", path.display());
    table.write_csv(&folder).with_context(context)?;
    let text = fs::read_to_string(&path).with_context(context)?;
    fs::write(&path, format!("# {COMMAND}\n{text}")).with_context(context)
}

/// Reproduces the table.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let is_measured = options.log_buckets().contains(&LOG_BUCKETS);
    // Loads of long fingerprints vary little between runs. The longest show the spread that the
    // paper prints.
    let runs = |scheme, bits| {
        let few = matches!((scheme, bits), (Scheme::Guira, 6..) | (_, 6..12));
        options.runs.unwrap_or(if few && !options.full { 3 } else { 10 })
    };
    let large = if is_measured { statistics(LOG_BUCKETS, runs, progress) } else { reference() };
    let small = statistics(options.log(20), |_, _| options.runs_or(3), progress);
    let table = |name, statistics: &[Statistics]| {
        let mut table = Table::new(name, &HEAD);
        for statistics in statistics {
            table.push(statistics.cells());
        }
        table
    };
    let tables = vec![table(NAME, &large), table("login-table-2-small", &small)];

    let mut rows = Vec::new();
    for (bits, mean, variance) in PAPER {
        for statistics in large.iter().filter(|statistics| statistics.bits == bits) {
            if statistics.scheme != Scheme::UNIFORM.name() {
                rows.extend(compare(statistics, mean, variance));
            }
        }
    }
    let mut chart =
        Chart::new("login-table-2-loads", "Mean load at the first refusal, 2^25 buckets of 4")
            .x("fingerprint bits")
            .y("load, %")
            .whole_x()
            .with(Series::points(
                1,
                ";login:, Table 2",
                PAPER.map(|(bits, mean, _)| (bits.into(), mean)).into(),
            ));
    for scheme in Scheme::ALL {
        let of_scheme = large.iter().filter(|statistics| statistics.scheme == scheme.name());
        let points = of_scheme.map(|statistics| (statistics.bits.into(), statistics.mean));
        chart.push(Series::new(scheme_look(scheme), scheme.name(), points.collect()));
    }
    let source = if is_measured { "measured in this run" } else { "from an earlier run" };
    let notes = vec![
        format!(
            "The results for 2^25 buckets are {source}: {COMMAND}. The smaller table has the \
             results for 2^20 buckets."
        ),
        "A zero fingerprint marks an empty slot. The authors' program replaces zero with one, so \
         one is twice as frequent as any other fingerprint. With 2 and 4 bits, this determines \
         when nine copies first share a pair of buckets, and therefore the load. Uniform \
         fingerprints reach a higher load."
            .into(),
        "The table's variance of the load agrees with the standard deviation measured here. From \
         six bits on, the loads measured here are 0.1 to 0.5 points lower than the table's. With \
         2^20 buckets, 600 relocations instead of 500 raise the load by 0.4 points."
            .into(),
    ];
    Outcome { rows, tables, charts: vec![chart], notes, ..Outcome::default() }
}

/// Compares the mean load with the paper's, and for the paper's own scheme also its spread.
fn compare(statistics: &Statistics, mean: f64, spread: f64) -> Vec<Row> {
    let Statistics { scheme, bits, runs, .. } = statistics;
    let is_guira = *scheme == Scheme::Guira.name();
    // Two standard errors of the difference, or half a point.
    let error = (statistics.variance / *runs as f64 + spread.powi(2) / 10.0).sqrt();
    let tolerance = (2.0 * error).max(0.5);
    let location = format!(";login: Table 2, f = {bits}, {scheme}");
    let quantity = "mean load at the first refusal, 2^25 buckets of 4";
    let row = Row::papers(&location, quantity, statistics.mean, "%")
        .printed(mean)
        .within(tolerance)
        .note(format!("{runs} runs; tolerance {tolerance:.2} points"));
    if is_guira {
        return vec![row.about(Subject::GuiraMore)];
    }
    // Two standard errors of the logarithm of a standard deviation, from the runs here and ten.
    let uncertain = |runs: usize| 0.5 / (runs as f64 - 1.0).max(1.0);
    let factor = (2.0 * (uncertain(*runs) + uncertain(10)).sqrt()).exp();
    let deviation = statistics.variance.sqrt();
    let spread = Row::papers(location, "standard deviation of the load", deviation, "points")
        .printed(spread)
        .within_factor(factor)
        .note(format!(
            "the table calls it the variance; from {runs} runs here and ten in the paper; \
             tolerance a factor of {factor:.1}"
        ));
    vec![row, spread]
}

#[cfg(test)]
mod tests {
    use super::{PAPER, REFERENCE, Scheme, Statistics, compare, reference};
    use crate::experiments::row::assert_each_row_can_change;

    #[test]
    fn each_row_can_change() {
        for scheme in [Scheme::PAPER, Scheme::Guira] {
            let statistics = |mean, deviation: f64| Statistics {
                scheme: scheme.name(),
                bits: 12,
                runs: 10,
                mean,
                variance: deviation.powi(2),
                minimum: 0.0,
            };
            let inputs = [(95.8, 0.11), (95.0, 0.11), (95.8, 1.0)];
            let inputs = inputs.map(|(mean, deviation)| statistics(mean, deviation));
            assert_each_row_can_change(&inputs, |statistics| compare(statistics, 95.77, 0.11));
        }
    }

    #[test]
    fn the_reference_results_are_complete() {
        let reference = reference();
        let rows = REFERENCE.lines().filter(|line| !line.starts_with('#')).count() - 1;
        assert_eq!(reference.len(), rows, "a row is not valid");
        for (bits, ..) in PAPER {
            for name in [Scheme::PAPER, Scheme::Guira].map(Scheme::name) {
                assert!(reference.iter().any(|row| row.bits == bits && row.scheme == name));
            }
        }
    }
}
