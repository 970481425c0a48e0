//! The report: what was replayed, and a table that compares the mirrors.

use std::fmt::Write;

use crate::{
    mirror::Mirror,
    replay::{Outcome, Tally},
    trace::Trace,
};

/// Writes the report of a run.
pub fn report<'a>(
    trace: &Trace,
    entries: u64,
    threads: usize,
    outcomes: impl Iterator<Item = (&'a Mirror, &'a Outcome)>,
) -> String {
    let present = trace.present.iter().filter(|&&present| present).count();
    let columns: Vec<_> =
        outcomes.map(|(mirror, outcome)| column(mirror, trace.accesses.len(), outcome)).collect();
    format!(
        "trace     {}\naccesses  {}\nkeys      {}, of which {} are in the store at the start\n\
         cache     {} entries\nthreads   {threads}\n\n{}\n\
         Every checked answer was right: no false negatives, no stale rows, no failed removals.\n",
        trace.name,
        grouped(trace.accesses.len() as u64),
        grouped(trace.keys.len() as u64),
        grouped(present as u64),
        grouped(entries),
        table(&columns)
    )
}

/// The labels and cells of one mirror, from top to bottom; `-` where it has no figure.
fn column(mirror: &Mirror, accesses: usize, outcome: &Outcome) -> Vec<(&'static str, String)> {
    let Outcome { tally, elapsed, mirror_bytes, end } = outcome;
    let &Tally { hits, misses, false_positives, absent_lookups, .. } = tally;
    let of_mirror = |cell: String| match mirror {
        Mirror::Nothing => "-".into(),
        _ => cell,
    };
    let seconds = elapsed.as_secs_f64();
    vec![
        ("", mirror.to_string()),
        ("cache hits", grouped(hits)),
        ("  of all reads", percent(ratio(hits, hits + misses))),
        ("store lookups", grouped(tally.store_lookups)),
        ("  that found no row", grouped(tally.fruitless_lookups)),
        ("store lookups avoided", of_mirror(grouped(tally.avoided_lookups))),
        ("false positives", of_mirror(grouped(false_positives))),
        ("  of lookups of absent keys", of_mirror(percent(ratio(false_positives, absent_lookups)))),
        (
            "  of absent keys, at the end",
            of_mirror(percent(ratio(end.false_positives as u64, end.absent as u64))),
        ),
        ("  of absent keys, at most", of_mirror(percent(mirror.false_positive_rate()))),
        ("memory", of_mirror(format!("{:.0} kB", *mirror_bytes as f64 / 1e3))),
        ("time", format!("{seconds:.2} s")),
        ("million accesses per second", format!("{:.2}", accesses as f64 / seconds / 1e6)),
        ("keys created", grouped(tally.created)),
        ("keys overwritten", grouped(tally.overwritten)),
        ("keys deleted", grouped(tally.deleted)),
        ("keys in the store at the end", grouped(end.present as u64)),
        ("answers not checked", grouped(tally.unchecked)),
    ]
}

/// Aligns labels to the left and cells to the right.
fn table(columns: &[Vec<(&str, String)>]) -> String {
    let mut text = String::new();
    for (row, (label, _)) in columns[0].iter().enumerate() {
        let _ = write!(text, "{label:<30}");
        for column in columns {
            let _ = write!(text, "{:>15}", column[row].1);
        }
        text.push('\n');
    }
    text
}

/// Returns a number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// Returns a quotient, 0 if both numbers are 0.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Returns a share in percent.
fn percent(share: f64) -> String {
    format!("{:.3} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        let numbers = [0, 12, 999, 1_000, 20_345, 1_234_567];
        let expected = ["0", "12", "999", "1,000", "20,345", "1,234,567"];
        assert_eq!(numbers.map(grouped), expected);
    }
}
