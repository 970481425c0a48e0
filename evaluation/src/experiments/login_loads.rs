//! Table 2 of the article in ;login: is the load factor that short fingerprints reach in 2^25 buckets of four.
//!
//! The run at that size takes a while, so its figures are kept in `kept/login-table-2.csv`, which
//! `--only login-loads --buckets 25 --keep` makes anew.

use std::{fs, path::Path};

use guira_report::{
    plot::{Chart, Series},
    table::Table,
};

use super::{
    Outcome, Progress, Row, Verdict,
    loads::{Loads, RULES, Wanted, measure},
};
use crate::{
    Options,
    placement::{Rule, Shape},
};

/// Fingerprint bits, mean load and its variance in per cent, as the table has them.
const PAPER: [(u32, f64, f64); 6] = [
    (2, 17.53, 1.39),
    (4, 67.67, 8.06),
    (6, 95.39, 0.10),
    (8, 95.62, 0.18),
    (12, 95.77, 0.11),
    (16, 95.80, 0.11),
];

/// Two to this many buckets in the table, of so many slots.
const LOG_BUCKETS: u32 = 25;
const SLOTS: usize = 4;

/// The run that is kept, and the command that made it.
const KEPT: &str = include_str!("../../kept/login-table-2.csv");
const COMMAND: &str =
    "cargo run --release -p guira-evaluation -- --only login-loads --buckets 25 --keep";

/// The loads of one rule and fingerprint.
#[derive(Clone, Debug)]
struct Figure {
    rule: String,
    bits: u32,
    runs: usize,
    mean: f64,
    variance: f64,
    minimum: f64,
}

impl Figure {
    fn new(rule: &str, bits: u32, loads: &Loads) -> Self {
        let (mean, variance, minimum) = (loads.mean(), loads.variance(), loads.minimum());
        Self { rule: rule.into(), bits, runs: loads.runs(), mean, variance, minimum }
    }

    fn cells(&self) -> Vec<String> {
        let numbers = [self.mean, self.variance, self.variance.sqrt(), self.minimum];
        let [mean, variance, deviation, minimum] = numbers.map(|number| format!("{number:.3}"));
        let (bits, runs) = (self.bits.to_string(), self.runs.to_string());
        vec![self.rule.clone(), bits, runs, mean, variance, deviation, minimum]
    }

    fn read(record: &csv::StringRecord) -> Option<Self> {
        let number = |column: usize| record.get(column)?.parse::<f64>().ok();
        Some(Self {
            rule: record.get(0)?.into(),
            bits: number(1)? as u32,
            runs: number(2)? as usize,
            mean: number(3)?,
            // The deviation has more digits than the variance.
            variance: number(5)?.powi(2),
            minimum: number(6)?,
        })
    }
}

const HEAD: [&str; 7] = [
    "placement",
    "bits",
    "runs",
    "mean load %",
    "variance (points squared)",
    "standard deviation (points)",
    "minimum %",
];

/// The figures of so many buckets.
fn figures(
    log_buckets: u32,
    runs: impl Fn(Rule, u32) -> usize,
    progress: &Progress,
) -> Vec<Figure> {
    // Which fingerprints there are matters for the short ones alone.
    let every = RULES.iter().flat_map(|&rule| PAPER.map(|(bits, ..)| (rule, bits)));
    let every: Vec<_> =
        every.filter(|((_, name), bits)| *bits <= 4 || !name.contains("even")).collect();
    let wanted: Vec<Wanted> = every
        .iter()
        .map(|&((rule, _), bits)| {
            let shape = Shape { buckets: 1 << log_buckets, slots: SLOTS, bits };
            Wanted { rule, shape, runs: runs(rule, bits) }
        })
        .collect();
    let loads = measure(&wanted, progress);
    every
        .iter()
        .zip(&loads)
        .map(|(&((_, name), bits), loads)| Figure::new(name, bits, loads))
        .collect()
}

fn kept() -> Vec<Figure> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(KEPT.as_bytes());
    reader.records().map(|record| Figure::read(&record.expect("a row")).expect("figures")).collect()
}

/// Writes figures where the next build reads them.
fn keep(table: &Table) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kept");
    table.write_csv(&folder).expect("the folder kept/");
    let path = folder.join(table.name).with_extension("csv");
    let text = fs::read_to_string(&path).expect("just written");
    fs::write(&path, format!("# {COMMAND}\n{text}")).expect("just written");
}

/// Reproduces the table.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let full = options.log_buckets().contains(&LOG_BUCKETS);
    // Long fingerprints differ little from run to run by the library's placement, and not in theirs.
    let runs = |rule, bits| {
        let few = rule == Rule::Library && bits > 4 && !options.full;
        options.runs.unwrap_or(if few { 3 } else { 10 })
    };
    let large = if full { figures(LOG_BUCKETS, runs, progress) } else { kept() };
    let mut table = Table::new("login-table-2", &HEAD);
    for figure in &large {
        table.push(figure.cells());
    }
    if full && options.keep {
        keep(&table);
    }

    let mut small_table = Table::new("login-table-2-small", &HEAD);
    let small = figures(20, |_, _| options.runs.unwrap_or(3), progress);
    for figure in &small {
        small_table.push(figure.cells());
    }

    let mut rows = Vec::new();
    for (bits, mean, variance) in PAPER {
        let of_bits = large.iter().filter(|figure| figure.bits == bits);
        for figure in of_bits.filter(|figure| !figure.rule.contains("even")) {
            rows.extend(compared(figure, mean, variance));
        }
    }
    let of = |figures: &[Figure], name: &str| {
        let figures = figures.iter().filter(|figure| figure.rule == name);
        figures.map(|figure| (f64::from(figure.bits), figure.mean)).collect::<Vec<_>>()
    };
    let mut chart =
        Chart::new("login-table-2-loads", "Mean load at the first refusal, 2^25 buckets of 4")
            .x("bits of a fingerprint")
            .y("load, %")
            .whole_x()
            .with(Series::points(
                0,
                ";login:, Table 2",
                PAPER.map(|(bits, mean, _)| (bits.into(), mean)).into(),
            ));
    for (nth, (_, name)) in RULES.iter().enumerate() {
        chart.push(Series::line(nth, *name, of(&large, name)));
    }
    let source = if full { "made in this run" } else { "kept from a full run" };
    let notes = vec![
        format!("The figures of 2^25 buckets are {source}: {COMMAND}. Beside them the same with 2^20 buckets."),
        "A zero marks an empty slot, so there is one fingerprint less than bits allow. The authors' program turns \
         a zero into a one, which is then twice as frequent as any other; with fingerprints of 2 and 4 bits that \
         decides where nine copies first meet in one pair of buckets, and so the load. Even fingerprints fill further."
            .into(),
        "What the table calls the variance of the load comes out as the standard deviation here. With six bits and \
         more the loads here are 0.1 to 0.5 points lower than the table's; with 2^20 buckets a walk of 600 \
         relocations instead of 500 brings 0.4 points."
            .into(),
    ];
    Outcome { rows, tables: vec![table, small_table], charts: vec![chart], notes }
}

/// The rows of one figure: the mean, and for the paper's own placement the spread.
fn compared(figure: &Figure, mean: f64, spread: f64) -> Vec<Row> {
    let Figure { rule, bits, runs, .. } = figure;
    // Two standard errors of the difference, or half a point.
    let error = (figure.variance / *runs as f64 + spread.powi(2) / 10.0).sqrt();
    let tolerance = (2.0 * error).max(0.5);
    let difference = figure.mean - mean;
    let verdict = if difference.abs() <= tolerance {
        Verdict::Reproduced
    } else if difference > 0.0 {
        Verdict::Better
    } else {
        Verdict::Differs
    };
    let place = |what: &str| format!(";login: Table 2, f = {bits}, {what}");
    let mut rows = vec![Row {
        place: place(rule),
        what: "mean load at the first refusal, 2^25 buckets of 4".into(),
        paper: Some(mean),
        here: figure.mean,
        unit: "%",
        verdict,
        why: format!("{runs} runs; within {tolerance:.2} points is the same"),
    }];
    if rule == RULES[0].1 {
        let deviation = figure.variance.sqrt();
        rows.push(Row {
            place: place(rule),
            what: "spread of the load".into(),
            paper: Some(spread),
            here: deviation,
            unit: "points",
            // The deviation of ten runs is itself uncertain by a quarter, in both.
            verdict: if (deviation / spread).ln().abs() < 2.2_f64.ln() {
                Verdict::Reproduced
            } else {
                Verdict::Differs
            },
            why: "standard deviation, which is what the table's variance must be; each from ten runs, so \
                  within a factor of two"
                .into(),
        });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{PAPER, RULES, kept};

    #[test]
    fn a_full_run_is_kept() {
        let kept = kept();
        for (bits, ..) in PAPER {
            for (_, name) in [RULES[0], RULES[2]] {
                assert!(kept.iter().any(|figure| figure.bits == bits && figure.rule == name));
            }
        }
    }
}
