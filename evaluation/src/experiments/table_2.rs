//! Table 2, and what `;login:` prints for the same filters: bits per item by formula and as
//! measured, and memory references per lookup.

use super::{
    Outcome, Progress, Row,
    space::{Space, all, bloom},
};
use crate::Options;

/// Name, formula, bits per item at a rate by it, and bits per item and rate in per cent as printed
/// in ;login:. The load α is 0.955.
const PAPER: [(&str, &str, fn(f64) -> f64, f64, f64); 3] = [
    ("BF", "1.44 log2(1/ε)", bloom, 13.0, 0.20),
    ("CF", "(log2(1/ε) + 3) / 0.955", |rate| (3.0 - rate.log2()) / 0.955, 12.53, 0.19),
    ("ss-CF", "(log2(1/ε) + 2) / 0.955", |rate| (2.0 - rate.log2()) / 0.955, 12.57, 0.09),
];

/// Reproduces the table.
pub fn run(_: &Options, progress: &Progress) -> Outcome {
    let notes = vec![
        "The filters take 6 MiB and are filled until an item does not fit; the Bloom filter has 13 \
         bits per item. The paper counts two references per lookup of a cuckoo filter, and for a \
         Bloom filter log2(1/ε) for a present key and two for an absent one. Here, a reference is \
         a distinct cache line of a lookup that reads both buckets. A bucket that straddles two \
         lines counts twice."
            .into(),
    ];
    Outcome { rows: rows(all(progress)), notes, ..Outcome::default() }
}

fn rows(spaces: &[Space]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, text, formula, login_bits, login_rate) in PAPER {
        let space = spaces.iter().find(|space| space.name == name).expect("it is measured");
        let location = format!("Table 2, {name}");
        rows.push(
            Row::new(&location, "bits per item at the measured rate", space.bits, "bits")
                .formula(formula(space.rate))
                .within(0.25)
                .note(format!("{text}; tolerance 0.25 bits")),
        );
        for (kind, lines) in ["present", "absent"].into_iter().zip(space.lines.unwrap_or_default())
        {
            let quantity = format!("memory references, {kind} key");
            let row = Row::new(&location, quantity, lines, "lines");
            let is_all = name == "BF" && kind == "present";
            let row = if is_all { row.formula(-space.rate.log2()) } else { row.printed(2.0) };
            rows.push(row.within_factor(1.25).note("cache lines; tolerance a quarter"));
        }
        let location = format!(";login:, {name}");
        let bits = Row::new(&location, "bits per item", space.bits, "bits").printed(login_bits);
        rows.push(match name {
            "BF" => bits.note("given: 13 bits per key"),
            _ => bits.within(0.15).note("measured with 2^20 buckets; tolerance 0.15 bits"),
        });
        rows.push(
            Row::new(location, "false positives", 100.0 * space.rate, "%")
                .printed(login_rate)
                .within(0.015)
                .note("measured with 2^20 buckets; tolerance 0.015 points"),
        );
    }
    rows
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
