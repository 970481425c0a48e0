//! The table that compares guira with other crates.

use guira_harness::table::{Table, cell};

use super::shared::SharedFigures;
use crate::peers::{Candidate, Shares};

/// One thread's figures of one crate at one size; times in nanoseconds per key.
pub struct Row {
    pub peer: &'static Candidate,
    pub batches: bool,
    pub items: usize,
    pub bits_per_item: f64,
    pub false_positive_rate: f64,
    pub refused: usize,
    pub insert: Option<f64>,
    pub insert_by_band: Option<[f64; 5]>,
    /// By share of present keys, as in [`PRESENT`](crate::timing::PRESENT).
    pub lookups: [f64; 5],
    pub remove: Option<f64>,
}

impl Row {
    /// Returns the name of the crate, and whether it works in batches.
    pub fn name(&self) -> String {
        if self.batches { format!("{}, batch", self.peer.name) } else { self.peer.name.to_string() }
    }
}

/// Builds the table of the rows with a million items and of those in memory.
pub fn table(small: &[Row], memory: &[Row], shared: &SharedFigures) -> Table {
    let head = [
        "crate",
        "concurrent writes",
        "bits per item",
        "false positives, %",
        "1 M items: insert, ns",
        "1 M: lookup, present",
        "1 M: lookup, absent",
        "1 M: remove",
        "in memory: insert, ns",
        "memory: lookup, present",
        "memory: lookup, absent",
        "memory: remove",
        "2 threads : 1, reads",
        "2 threads : 1, half writes",
    ];
    let mut table = Table::new("comparison", &head);
    for row in small {
        let large = memory.iter().find(|large| large.name() == row.name());
        let by_threads = |reads| {
            let ratio = shared.two_against_one(row.peer, reads).filter(|_| !row.batches);
            cell(ratio, 2)
        };
        let mut cells = vec![
            row.name(),
            concurrent_writes(row.peer.shares).into(),
            format!("{:.1}", large.unwrap_or(row).bits_per_item),
            format!("{:.4}", large.unwrap_or(row).false_positive_rate * 100.0),
        ];
        for row in [Some(row), large] {
            cells.extend([
                cell(row.and_then(|row| row.insert), 1),
                cell(row.map(|row| row.lookups[4]), 1),
                cell(row.map(|row| row.lookups[0]), 1),
                cell(row.and_then(|row| row.remove), 1),
            ]);
        }
        cells.extend([by_threads(100), by_threads(50)]);
        table.push(cells);
    }
    table
}

fn concurrent_writes(shares: Shares) -> &'static str {
    match shares {
        Shares::Nothing => "no",
        Shares::Inserts => "inserts only",
        Shares::Lock => "behind a lock",
        Shares::Everything => "yes",
    }
}
