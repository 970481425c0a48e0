//! The text that the program prints.

use std::{num::NonZero, thread, time::Duration};

use guira::CuckooMap;

use crate::{
    compare::Comparison,
    follow::Followed,
    replay::{Counts, Outcome},
};

/// Reports how the threads followed the captures.
pub fn followed(map: &CuckooMap, followed: &Followed, elapsed: Duration) -> String {
    let Followed { tally, distinct, most_dealt, live, .. } = followed;
    let seconds = elapsed.as_secs_f64();
    let in_flows = (tally.packets - tally.others) as f64;
    let bits = ratio(map.size_in_bytes() as f64 * 8.0, map.capacity() as f64);
    format!(
        "\
packets          {} ({} outside flows)
flows            {distinct}, at most {} live at once
flows ended      {} closed, {} idle, {} at the end
threads          {}, none with more than {most_dealt} packets
speed            {:.2} million packets/s, reading included; {:.0} ns/packet of thread time
memory           {bits:.1} bits per flow, with room for {} flows
false positives  {} of {} lookups of new flows (rate of a full map: {:.5})
late packets     {} arrived after their flow had ended
",
        tally.packets,
        tally.others,
        tally.max_live,
        tally.closed,
        tally.idled,
        tally.left,
        live.len(),
        ratio(tally.packets as f64, seconds * 1e6),
        ratio(tally.busy.as_secs_f64() * 1e9, in_flows),
        map.capacity(),
        tally.false_positives,
        tally.started - tally.late,
        map.false_positive_rate(),
        tally.late,
    )
}

/// A row of the table: a set, what its replay counted, and its size, if it has one.
pub struct Row {
    pub name: &'static str,
    pub outcome: Outcome,
    pub bytes: Option<usize>,
}

impl Row {
    /// Returns the packets per second and core.
    fn speed_per_core(&self) -> f64 {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        self.outcome.speed / self.outcome.threads.min(cores) as f64
    }

    fn cells(&self, flows: usize) -> [String; 8] {
        let Counts { started, false_positives, false_negatives, .. } = self.outcome.counts;
        let rate = 100.0 * ratio(false_positives as f64, started as f64);
        let of_set = |cell: &dyn Fn(usize) -> String| self.bytes.map_or("-".into(), cell);
        [
            self.name.into(),
            self.outcome.threads.to_string(),
            format!("{:.1}", self.outcome.speed / 1e6),
            format!("{:.1}", self.speed_per_core() / 1e6),
            of_set(&|bytes| format!("{:.1}", bytes as f64 / 1e6)),
            of_set(&|bytes| format!("{:.1}", bytes as f64 / flows as f64)),
            of_set(&|_| format!("{rate:.3} %")),
            of_set(&|_| false_negatives.to_string()),
        ]
    }
}

/// Reports the replays as a table.
pub fn replayed(comparison: &Comparison) -> String {
    let Comparison { rows, flows, .. } = comparison;
    let header = [
        "set",
        "threads",
        "speed",
        "per core",
        "MB",
        "bytes/flow",
        "false positives",
        "false negatives",
    ];
    let table: Vec<_> = [header.map(String::from)]
        .into_iter()
        .chain(rows.iter().map(|row| row.cells(*flows)))
        .collect();
    format!(
        "\nreplay with {flows} live flows; speed in million packets per second\n\n{}\n{}\n",
        align(&table),
        summary(rows),
    )
}

/// Compares the first filter with the first exact set.
fn summary(rows: &[Row]) -> String {
    let sized = |row: &Row| row.bytes.map(|bytes| (row.outcome.speed, bytes as f64));
    let find = |prefix: &str| rows.iter().find(|row| row.name.starts_with(prefix)).and_then(sized);
    match (find("guira"), find("exact")) {
        (Some((speed, bytes)), Some((exact_speed, exact_bytes))) => format!(
            "{:.1} times the packets of the sharded exact set, in 1/{:.0} of its memory",
            ratio(speed, exact_speed),
            ratio(exact_bytes, bytes),
        ),
        _ => String::new(),
    }
}

/// Aligns a table: the first column to the left, the others to the right.
fn align<const COLUMNS: usize>(table: &[[String; COLUMNS]]) -> String {
    let width = |column: usize| table.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let line = |row: &[String; COLUMNS]| {
        let cells = row.iter().zip(widths).skip(1).map(|(cell, width)| format!("  {cell:>width$}"));
        format!("{:<width$}{}\n", row[0], cells.collect::<String>(), width = widths[0])
    };
    table.iter().map(line).collect()
}

/// Returns a quotient, or 0 if the divisor is 0.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let table = [["", "speed", "n"], ["filter", "1", "100"], ["set", "1.25", "7"]];
        let expected = "        speed    n\nfilter      1  100\nset      1.25    7\n";
        assert_eq!(align(&table.map(|row| row.map(String::from))), expected);
    }
}
