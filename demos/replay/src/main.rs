//! Replay protection and deduplication with an [`ExpiringFilter`](guira::ExpiringFilter), beside
//! what is used in its place.
//!
//! A source delivers messages, and some of them again: at once on another thread, within the
//! window, or long after it. What was accepted within the window has to be refused, and all the
//! rest accepted. The same deliveries go, by one thread and by two, to
//!
//! - a deduplication stage ([`Dedup`]) and a log of used tokens ([`FilterTokenLog`](token_log::FilterTokenLog)), which is what
//!   `quinn` calls a `TokenLog`, both on [`insert_unique`](guira::Filter::insert_unique);
//! - two Bloom filters that are cleared in turn, behind a mutex, and atomic ones;
//! - a hash map from ids to ticks behind a mutex.
//!
//! Time is simulated: a tick is a fixed number of deliveries, and ends on all threads at once. So
//! it is known of every answer whether it is right. The exit status is 1 if a filter of this crate accepts
//! a message twice within the window, or refuses more new ones than its false-positive rate allows,
//! or has no room; and if the map gives any wrong answer, for then the check itself is wrong.

mod contestants;
mod dedup;
mod replay;
mod report;
mod token_log;
mod workload;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Result;
use clap::Parser;
use contestants::{AtomicBlooms, LockedBlooms, LockedMap, Needs, Seen};
use dedup::Dedup;
use replay::Outcome;
use thiserror::Error;
use workload::Workload;

/// Number of ticks for which a message is remembered.
const WINDOW: u32 = 13;

/// Share of new messages that may be refused.
const RATE: f64 = 0.002;

/// Number of ticks.
const TICKS: usize = 60;

/// Delivers messages, some of them repeatedly, to filters that refuse what they have seen within a
/// window, and prints a table: memory, speed, and wrong answers.
#[derive(Parser)]
struct Options {
    /// Forty times as many messages, so that no cache holds the filters
    #[arg(long)]
    full: bool,
}

/// An answer was wrong that must not be.
#[derive(Debug, Error)]
#[error("{0}")]
struct WrongAnswer(String);

/// A row of the table: a contestant, replayed by one thread and by two.
struct Row {
    name: &'static str,
    outcomes: [Outcome; 2],
}

/// Replays the deliveries with each contestant and returns the report.
fn run(per_tick: usize) -> Result<String> {
    let workload = Workload::draw(WINDOW as usize, per_tick, TICKS);
    let needs = Needs { window: WINDOW, items: workload.remembered(), rate: RATE };
    let stage = || Dedup::new(with_room(needs.items), WINDOW, RATE);
    let stages = [stage()?, stage()?];
    let logs = [contestants::token_log(needs)?, contestants::token_log(needs)?];
    let rate = stages[0].seen().false_positive_rate();
    let rows = [
        Row { name: "guira, dedup stage", outcomes: both(&workload, &stages) },
        Row { name: "guira, token log", outcomes: both(&workload, &logs) },
        Row::new("2 Bloom filters, mutex", &workload, || LockedBlooms::new(needs)),
        Row::new("2 Bloom filters, atomic", &workload, || AtomicBlooms::new(needs)),
        Row::new("hash map, mutex", &workload, || LockedMap::new(needs)),
    ];
    let text = report::report(&workload, &rows);
    let overflows: u64 = stages.iter().map(Dedup::overflows).sum();
    check(&rows, rate, overflows).map_err(|what| WrongAnswer(format!("{what}\n\n{text}")))?;
    Ok(text)
}

/// A tenth more than the filter has to hold: then an insert seldom relocates items.
fn with_room(items: usize) -> usize {
    items * 11 / 10
}

/// Replays with a contestant for one thread, and with one for two.
fn both<S: Seen>(workload: &Workload, seen: &[S; 2]) -> [Outcome; 2] {
    [1, 2].map(|threads| replay::replay(workload, &seen[threads - 1], threads))
}

impl Row {
    fn new<S: Seen>(name: &'static str, workload: &Workload, build: impl Fn() -> S) -> Self {
        Self { name, outcomes: both(workload, &[build(), build()]) }
    }
}

/// Returns what a filter of this crate or the map must not have done.
fn check(rows: &[Row], rate: f64, overflows: u64) -> Result<(), String> {
    if overflows > 0 {
        return Err(format!("the dedup stage had no room for {overflows} messages"));
    }
    for (row, outcome) in rows.iter().flat_map(|row| row.outcomes.iter().map(move |it| (row, it))) {
        let mistakes = outcome.mistakes;
        let most = match row.name {
            name if name.starts_with("guira") => most_refusals(rate, mistakes.due),
            "hash map, mutex" => 0.0,
            _ => continue,
        };
        if mistakes.accepted > 0 || mistakes.refused as f64 > most {
            let name = row.name;
            return Err(format!("{name}: {mistakes:?}, of which {most:.0} refused ones at most"));
        }
    }
    Ok(())
}

/// Returns a number of refusals that a filter with this rate exceeds once in a billion runs.
fn most_refusals(rate: f64, due: u64) -> f64 {
    let expected = rate * due as f64;
    expected + 6.0 * expected.sqrt() + 10.0
}

fn main() -> ExitCode {
    let run = || {
        let text = run(if Options::parse().full { 1_000_000 } else { 25_000 })?;
        anyhow::Ok(io::stdout().write_all(text.as_bytes())?)
    };
    let Err(error) = run() else { return ExitCode::SUCCESS };
    eprintln!("replay: {error:#}");
    ExitCode::from(if error.is::<WrongAnswer>() { 1 } else { 2 })
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Row, check, run};
    use crate::workload::Mistakes;

    #[test]
    fn a_run_gives_no_wrong_answer_and_reports_every_contestant() {
        let text = run(2_000).unwrap();
        for name in ["guira, dedup", "guira, token", "mutex", "atomic", "map"] {
            assert!(text.contains(name), "{name} is missing in\n{text}");
        }
    }

    #[test]
    fn wrong_answers_end_a_run() {
        let check = |name, accepted, refused| {
            let mistakes = Mistakes { accepted, refused, due: 10_000 };
            let outcome = Outcome { speed: 1.0, bytes: 1, mistakes };
            check(&[Row { name, outcomes: [outcome; 2] }], 0.001, 0)
        };
        assert_eq!(check("guira, dedup stage", 0, 20), Ok(()));
        assert!(check("guira, dedup stage", 1, 0).is_err());
        assert!(check("guira, dedup stage", 0, 60).is_err());
        assert!(check("hash map, mutex", 0, 1).is_err());
        assert_eq!(check("2 Bloom filters, mutex", 1, 60), Ok(()));
        assert!(super::check(&[], 0.001, 1).is_err());
    }
}
