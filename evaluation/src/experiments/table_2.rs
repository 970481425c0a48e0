//! Table 2, and the figures that ;login: gives for the same filters: bits per item by formula and as
//! measured, and memory references of a look-up.

use guira_report::table::{Table, cell};

use super::{
    Outcome, Progress, Row, Verdict,
    space::{Space, bloom, named},
};
use crate::Options;

/// The load that the paper's formulas are filled in with.
const LOAD: f64 = 0.955;

/// Bits per item of a rate, by the paper's formulas.
fn formula(name: &str, rate: f64) -> f64 {
    match name {
        "BF" => bloom(rate),
        "CF" => (3.0 - rate.log2()) / LOAD,
        _ => (2.0 - rate.log2()) / LOAD,
    }
}

const FORMULAS: [(&str, &str); 3] =
    [("BF", "1.44 log2(1/ε)"), ("CF", "(log2(1/ε) + 3) / α"), ("ss-CF", "(log2(1/ε) + 2) / α")];

/// Bits per item and rate in per cent, as ;login: has them.
const LOGIN: [(&str, f64, f64); 3] =
    [("CF", 12.53, 0.19), ("ss-CF", 12.57, 0.09), ("BF", 13.0, 0.20)];

/// Reproduces the table.
pub fn run(_: &Options, progress: &Progress) -> Outcome {
    let head = [
        "filter",
        "formula",
        "rate %",
        "bits, formula",
        "bits, here",
        "references, present",
        "references, absent",
    ];
    let mut table = Table::new("table-2", &head);
    let mut rows = Vec::new();
    for (name, text) in FORMULAS {
        let Some(space) = named(name, progress) else { continue };
        table.push(vec![
            name.into(),
            text.into(),
            format!("{:.3}", 100.0 * space.rate),
            format!("{:.2}", formula(name, space.rate)),
            format!("{:.2}", space.bits),
            cell(space.lines.map(|lines| lines[0]), 2),
            cell(space.lines.map(|lines| lines[1]), 2),
        ]);
        rows.push(row(
            format!("Table 2, {name}"),
            "bits per item at the rate measured here",
            formula(name, space.rate),
            space.bits,
            "bits",
            0.25,
            format!("the paper's figure is its formula {text}, with α = 95.5 % where it has one"),
        ));
        rows.extend(references(name, space));
    }
    for (name, bits, rate) in LOGIN {
        let Some(space) = named(name, progress) else { continue };
        let place = format!(";login:, {name}");
        let why = "2^20 buckets here";
        rows.push(row(place.clone(), "bits per item", bits, space.bits, "bits", 0.15, why.into()));
        rows.push(row(
            place,
            "false positives",
            rate,
            100.0 * space.rate,
            "%",
            0.015,
            format!("{why}; the paper rounds to two digits"),
        ));
    }
    let notes = vec![
        "Full filters of 6 MiB, filled until one item is refused; the Bloom filter with 13 bits per item. The paper \
         counts two references of a cuckoo filter for every look-up, log2(1/ε) of a Bloom filter for a present key \
         and two for an absent one. Counted here are the distinct cache lines of a look-up that reads both buckets. \
         A bucket of 48 or 52 bits that straddles two lines counts for both."
            .into(),
    ];
    Outcome { rows, tables: vec![table], charts: Vec::new(), notes }
}

/// Memory references of a present and of an absent key.
fn references(name: &str, space: &Space) -> Vec<Row> {
    let papers = if name == "BF" { [-space.rate.log2(), 2.0] } else { [2.0, 2.0] };
    let Some(lines) = space.lines else { return Vec::new() };
    let kinds = ["memory references, present key", "memory references, absent key"];
    let compare = |((paper, here), kind)| {
        let why = "cache lines counted; within a quarter is the same";
        row(format!("Table 2, {name}"), kind, paper, here, "lines", 0.25 * paper, why.into())
    };
    papers.into_iter().zip(lines).zip(kinds).map(compare).collect()
}

/// A row where less is better.
fn row(
    place: String,
    what: &str,
    paper: f64,
    here: f64,
    unit: &'static str,
    tolerance: f64,
    why: String,
) -> Row {
    let verdict = match here - paper {
        difference if difference.abs() <= tolerance => Verdict::Reproduced,
        ..0.0 => Verdict::Better,
        _ => Verdict::Differs,
    };
    Row { place, what: what.into(), paper: Some(paper), here, unit, verdict, why }
}
