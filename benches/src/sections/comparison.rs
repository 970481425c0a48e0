//! One thread's figures of the compared crates, and their table.

use guira_harness::table::{Table, cell};

use super::shared::SharedFigures;
use crate::{
    peers::{Candidate, Shares},
    timing::median,
};

/// One thread's figures of one crate at one size.
pub struct Row {
    pub peer: &'static Candidate,
    pub batches: bool,
    pub bits_per_item: f64,
    pub false_positive_rate: f64,
    pub refused: usize,
    pub times: Times,
}

/// Nanoseconds per key; NaN where the crate has no such operation.
#[derive(Clone, Copy)]
pub struct Times {
    pub insert: f64,
    pub insert_by_band: [f64; 5],
    /// By share of present keys, as in [`PRESENT`](crate::timing::PRESENT).
    pub lookups: [f64; 5],
    pub remove: f64,
}

impl Times {
    pub const NONE: Self = Self {
        insert: f64::NAN,
        insert_by_band: [f64::NAN; 5],
        lookups: [f64::NAN; 5],
        remove: f64::NAN,
    };

    /// Returns the medians of several rounds.
    pub fn medians(rounds: &[Self]) -> Self {
        let of = |figure: &dyn Fn(&Self) -> f64| median(rounds.iter().map(figure));
        Self {
            insert: of(&|it| it.insert),
            insert_by_band: [0, 1, 2, 3, 4].map(|nth| of(&|it| it.insert_by_band[nth])),
            lookups: [0, 1, 2, 3, 4].map(|nth| of(&|it| it.lookups[nth])),
            remove: of(&|it| it.remove),
        }
    }
}

impl Row {
    /// Returns the name of the crate, and whether it works in batches.
    pub fn name(&self) -> String {
        if self.batches { format!("{}, batch", self.peer.name) } else { self.peer.name.to_string() }
    }
}

/// Builds the table of the rows with a million items and of those in memory.
pub fn comparison(small: &[Row], memory: &[Row], shared: &SharedFigures) -> Table {
    let large = |row: &Row| memory.iter().find(|large| large.name() == row.name());
    let largest = |row: &Row, figure: fn(&Row) -> f64| large(row).map_or(figure(row), figure);
    let time = |row: &Row, figure: fn(&Times) -> f64| cell(Some(figure(&row.times)), 1);
    let in_memory =
        |row: &Row, figure: fn(&Times) -> f64| cell(large(row).map(|it| figure(&it.times)), 1);
    let by_threads = |row: &Row, reads| {
        cell(Some(shared.two_against_one(row.peer, reads)).filter(|_| !row.batches), 2)
    };
    Table::of(
        "comparison",
        small,
        &[
            ("crate", &Row::name),
            ("concurrent writes", &|row| concurrent_writes(row.peer.shares).into()),
            ("bits per item", &|row| format!("{:.1}", largest(row, |it| it.bits_per_item))),
            ("false positives, %", &|row| {
                format!("{:.4}", largest(row, |it| 100.0 * it.false_positive_rate))
            }),
            ("refused items", &|row| largest(row, |it| it.refused as f64).to_string()),
            ("1 M items: insert, ns", &|row| time(row, |it| it.insert)),
            ("1 M: lookup, present", &|row| time(row, |it| it.lookups[4])),
            ("1 M: lookup, half present", &|row| time(row, |it| it.lookups[2])),
            ("1 M: lookup, absent", &|row| time(row, |it| it.lookups[0])),
            ("1 M: remove", &|row| time(row, |it| it.remove)),
            ("in memory: insert, ns", &|row| in_memory(row, |it| it.insert)),
            ("memory: lookup, present", &|row| in_memory(row, |it| it.lookups[4])),
            ("memory: lookup, half present", &|row| in_memory(row, |it| it.lookups[2])),
            ("memory: lookup, absent", &|row| in_memory(row, |it| it.lookups[0])),
            ("memory: remove", &|row| in_memory(row, |it| it.remove)),
            ("2 threads : 1, reads", &|row| by_threads(row, 100)),
            ("2 threads : 1, half writes", &|row| by_threads(row, 50)),
        ],
    )
}

fn concurrent_writes(shares: Shares) -> &'static str {
    match shares {
        Shares::Nothing => "no",
        Shares::Inserts => "inserts only",
        Shares::Lock => "behind a lock",
        Shares::Everything => "yes",
    }
}
