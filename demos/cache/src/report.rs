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
        trace.accesses.len(),
        trace.keys.len(),
        present,
        entries,
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
        ("cache hits", hits.to_string()),
        ("  of all reads", percent(ratio(hits, hits + misses))),
        ("store lookups", tally.store_lookups.to_string()),
        ("  that found no row", tally.fruitless_lookups.to_string()),
        ("store lookups avoided", of_mirror(tally.avoided_lookups.to_string())),
        ("false positives", of_mirror(false_positives.to_string())),
        ("  of lookups of absent keys", of_mirror(percent(ratio(false_positives, absent_lookups)))),
        (
            "  of absent keys, at the end",
            of_mirror(percent(ratio(end.false_positives as u64, end.absent as u64))),
        ),
        ("  of absent keys, at most", of_mirror(percent(mirror.false_positive_rate()))),
        ("memory", of_mirror(format!("{:.0} kB", *mirror_bytes as f64 / 1e3))),
        ("time", format!("{seconds:.2} s")),
        ("million accesses per second", format!("{:.2}", accesses as f64 / seconds / 1e6)),
        ("keys created", tally.created.to_string()),
        ("keys overwritten", tally.overwritten.to_string()),
        ("keys deleted", tally.deleted.to_string()),
        ("keys in the store at the end", end.present.to_string()),
        ("answers not checked", tally.unchecked.to_string()),
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

/// Returns a quotient, 0 if both numbers are 0.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Returns a share in percent.
fn percent(share: f64) -> String {
    format!("{:.3} %", 100.0 * share)
}
