//! Table 2, and what `;login:` prints for the same filters: bits per item by formula and as
//! measured, and memory references per lookup.

use super::{
    Outcome, Progress, Row, Verdict,
    space::{Space, bloom, named},
};
use crate::{
    Options,
    report::{Table, cell},
};

/// The load α in the paper's formulas.
const LOAD: f64 = 0.955;

/// Returns the bits per item at a rate by the paper's formulas.
fn formula(name: &str, rate: f64) -> f64 {
    match name {
        "BF" => bloom(rate),
        "CF" => (3.0 - rate.log2()) / LOAD,
        _ => (2.0 - rate.log2()) / LOAD,
    }
}

/// The paper's formulas as text.
const FORMULAS: [(&str, &str); 3] =
    [("BF", "1.44 log2(1/ε)"), ("CF", "(log2(1/ε) + 3) / α"), ("ss-CF", "(log2(1/ε) + 2) / α")];

/// Bits per item and rate in per cent, as printed in ;login:.
const LOGIN: [(&str, f64, f64); 3] =
    [("CF", 12.53, 0.19), ("ss-CF", 12.57, 0.09), ("BF", 13.0, 0.20)];

/// Reproduces the table.
pub fn run(_: &Options, progress: &Progress) -> Outcome {
    let head = [
        "filter",
        "formula",
        "rate %",
        "bits, formula",
        "bits, measured",
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
            "bits per item at the measured rate",
            formula(name, space.rate),
            space.bits,
            "bits",
            0.25,
            format!("the paper's formula {}; tolerance 0.25 bits", text.replace('α', "0.955")),
        ));
        rows.extend(references(name, space));
    }
    for (name, bits, rate) in LOGIN {
        let Some(space) = named(name, progress) else { continue };
        let location = format!(";login:, {name}");
        let note = "measured with 2^20 buckets";
        rows.push(row(
            location.clone(),
            "bits per item",
            bits,
            space.bits,
            "bits",
            0.15,
            note.into(),
        ));
        rows.push(row(
            location,
            "false positives",
            rate,
            100.0 * space.rate,
            "%",
            0.015,
            format!("{note}; the paper rounds to two digits"),
        ));
    }
    let notes = vec![
        "The filters take 6 MiB and are filled until an item does not fit; the Bloom filter has 13 \
         bits per item. The paper counts two references per lookup of a cuckoo filter, and for a \
         Bloom filter log2(1/ε) for a present key and two for an absent one. Here, a reference is \
         a distinct cache line of a lookup that reads both buckets. A bucket that straddles two \
         lines counts twice."
            .into(),
    ];
    Outcome { rows, tables: vec![table], charts: Vec::new(), notes }
}

/// Compares the memory references for a present and for an absent key.
fn references(name: &str, space: &Space) -> Vec<Row> {
    let papers = if name == "BF" { [-space.rate.log2(), 2.0] } else { [2.0, 2.0] };
    let Some(lines) = space.lines else { return Vec::new() };
    let kinds = ["memory references, present key", "memory references, absent key"];
    let compare = |((paper, measured), kind)| {
        let note = "cache lines; tolerance a quarter";
        row(format!("Table 2, {name}"), kind, paper, measured, "lines", 0.25 * paper, note.into())
    };
    papers.into_iter().zip(lines).zip(kinds).map(compare).collect()
}

/// Builds a row whose value is better if it is smaller.
fn row(
    location: String,
    quantity: &str,
    paper: f64,
    measured: f64,
    unit: &'static str,
    tolerance: f64,
    note: String,
) -> Row {
    let verdict = match measured - paper {
        difference if difference.abs() <= tolerance => Verdict::Reproduced,
        ..0.0 => Verdict::Better,
        _ => Verdict::Differs,
    };
    Row { location, quantity: quantity.into(), paper: Some(paper), measured, unit, verdict, note }
}
