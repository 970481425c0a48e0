//! Table 2, and what `;login:` prints for the same filters: bits per item by formula and as
//! measured, and memory references per lookup.

use super::{
    Outcome, Progress, Row,
    space::{Space, all, bloom},
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
    let spaces = all(progress);
    for (name, text) in FORMULAS {
        let Some(space) = named(spaces, name) else { continue };
        table.push(vec![
            name.into(),
            text.into(),
            format!("{:.3}", 100.0 * space.rate),
            format!("{:.2}", formula(name, space.rate)),
            format!("{:.2}", space.bits),
            cell(space.lines.map(|lines| lines[0]), 2),
            cell(space.lines.map(|lines| lines[1]), 2),
        ]);
    }
    let notes = vec![
        "The filters take 6 MiB and are filled until an item does not fit; the Bloom filter has 13 \
         bits per item. The paper counts two references per lookup of a cuckoo filter, and for a \
         Bloom filter log2(1/ε) for a present key and two for an absent one. Here, a reference is \
         a distinct cache line of a lookup that reads both buckets. A bucket that straddles two \
         lines counts twice."
            .into(),
    ];
    Outcome { rows: rows(spaces), tables: vec![table], notes, ..Outcome::default() }
}

fn named<'a>(spaces: &'a [Space], name: &str) -> Option<&'a Space> {
    spaces.iter().find(|space| space.name == name)
}

fn rows(spaces: &[Space]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, text) in FORMULAS {
        let Some(space) = named(spaces, name) else { continue };
        let quantity = "bits per item at the measured rate";
        rows.push(
            Row::papers(format!("Table 2, {name}"), quantity, space.bits, "bits")
                .formula(formula(name, space.rate))
                .within(0.25)
                .note(format!("{}; tolerance 0.25 bits", text.replace('α', "0.955"))),
        );
        rows.extend(references(name, space));
    }
    for (name, bits, rate) in LOGIN {
        let Some(space) = named(spaces, name) else { continue };
        let location = format!(";login:, {name}");
        let row = Row::papers(&location, "bits per item", space.bits, "bits").printed(bits);
        rows.push(if name == "BF" {
            row.note("given: 13 bits per key")
        } else {
            row.within(0.15).note("measured with 2^20 buckets; tolerance 0.15 bits")
        });
        rows.push(
            Row::papers(location, "false positives", 100.0 * space.rate, "%")
                .printed(rate)
                .within(0.015)
                .note("measured with 2^20 buckets; tolerance 0.015 points"),
        );
    }
    rows
}

/// Compares the memory references for a present and for an absent key.
fn references(name: &str, space: &Space) -> Vec<Row> {
    let Some(lines) = space.lines else { return Vec::new() };
    let compare = |index: usize| {
        let kind = ["present", "absent"][index];
        let quantity = format!("memory references, {kind} key");
        let row = Row::papers(format!("Table 2, {name}"), quantity, lines[index], "lines");
        let row = if name == "BF" && index == 0 {
            row.formula(-space.rate.log2())
        } else {
            row.printed(2.0)
        };
        row.within_factor(1.25).note("cache lines; tolerance a quarter")
    };
    [0, 1].map(compare).into()
}

#[cfg(test)]
mod tests {
    use super::rows;
    use crate::experiments::{row::assert_each_row_can_change, space::variants};

    #[test]
    fn each_row_can_change() {
        assert_each_row_can_change(&variants(), |spaces| rows(spaces));
    }
}
