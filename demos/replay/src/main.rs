//! Replay protection and deduplication with an [`ExpiringFilter`](guira::ExpiringFilter), beside
//! what is used in its place.
//!
//! A source delivers messages, and some of them again: at once on another thread, within the
//! window, or long after it. What was accepted within the window has to be refused, and all the
//! rest accepted. The same deliveries go, by one thread and by two, to
//!
//! - an expiring filter, by [`insert_unique`](guira::Filter::insert_unique);
//! - two Bloom filters that are cleared in turn, behind a mutex, and atomic ones;
//! - a hash map from ids to ticks behind a mutex.
//!
//! Time is simulated: a tick is a fixed number of deliveries, and ends on all threads at once. So
//! it is known of every answer whether it is right. The program fails if the expiring filter
//! accepts a message twice within the window, or refuses more new ones than its false-positive rate
//! allows, or has no room; and if the map gives any wrong answer, for then the check itself is
//! wrong.

mod contestants;
mod workload;

use std::{
    sync::{Barrier, Mutex},
    thread,
    time::Instant,
};

use anyhow::{Result, ensure};
use clap::Parser;
use contestants::{Needs, Seen, atomic_blooms, expiring_filter, locked_blooms, locked_map};
use workload::{Mistakes, Workload, id};

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

/// Figures of one replay.
#[derive(Clone, Copy)]
struct Outcome {
    /// Million deliveries per second, ticks included.
    speed: f64,
    /// Largest size at the beginning of a tick.
    bytes: usize,
    mistakes: Mistakes,
}

/// A row of the table: a contestant, replayed by one thread and by two.
struct Row {
    name: &'static str,
    /// The largest share of new messages that it may refuse, if it has to be right otherwise.
    rate: Option<f64>,
    outcomes: [Outcome; 2],
}

/// Replays all deliveries. The threads share those of a tick, and meet at its end.
fn replay(workload: &Workload, seen: &impl Seen, threads: usize) -> Outcome {
    let (barrier, bytes) = (Barrier::new(threads), Mutex::new(0));
    let run = |thread: usize| {
        let mut answers = Vec::with_capacity(workload.len() / threads + 1);
        for (tick, share) in workload.shares(thread, threads).enumerate() {
            if tick > 0 {
                let is_leader = barrier.wait().is_leader();
                if is_leader {
                    let mut bytes = bytes.lock().expect("not poisoned");
                    *bytes = seen.size_in_bytes().max(*bytes);
                    seen.tick();
                }
                barrier.wait();
                if is_leader {
                    seen.tidy();
                }
            }
            answers.extend(share.iter().map(|&message| seen.is_first(id(message))));
        }
        answers
    };
    let start = Instant::now();
    let answers: Vec<Vec<bool>> = thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let speed = workload.len() as f64 / start.elapsed().as_secs_f64() / 1e6;
    let bytes = bytes.into_inner().expect("not poisoned");
    Outcome { speed, bytes, mistakes: workload.check(&answers) }
}

/// Replays the deliveries with each contestant, prints the report, and checks the answers.
fn run(per_tick: usize) -> Result<()> {
    let workload = Workload::draw(WINDOW as usize, per_tick, TICKS);
    let items = workload.remembered();
    let needs = Needs { window: WINDOW, items, rate: RATE };
    let rate = expiring_filter(needs).false_positive_rate();
    let rows = [
        Row::new("ExpiringFilter", Some(rate), &workload, || expiring_filter(needs)),
        Row::new("2 Bloom filters, mutex", None, &workload, || locked_blooms(needs)),
        Row::new("2 Bloom filters, atomic", None, &workload, || atomic_blooms(needs)),
        Row::new("hash map, mutex", Some(0.0), &workload, || locked_map(needs)),
    ];
    println!("deliveries       {}", workload.len());
    println!("window           {WINDOW} ticks");
    println!("remembered       {items} messages at most");
    println!("target rate      {} % of new messages refused\n", 100.0 * RATE);
    println!(
        "                         bytes per item  M/s, 1 thread  M/s, 2 threads  \
         accepted twice  by 2 threads  new, refused  by 2 threads"
    );
    for Row { name, outcomes: [one, two], .. } in &rows {
        let bytes = one.bytes as f64 / items as f64;
        let refused =
            [one, two].map(|it| 100.0 * it.mistakes.refused as f64 / it.mistakes.due as f64);
        let [accepted, by_two] = [one, two].map(|outcome| outcome.mistakes.accepted);
        print!("{name:<23}  {bytes:>14.2}  {:>13.2}  {:>14.2}", one.speed, two.speed);
        print!("  {accepted:>14}  {by_two:>12}");
        println!("  {:>10.3} %  {:>10.3} %", refused[0], refused[1]);
    }
    println!(
        "\n\"Accepted twice\" counts messages that were accepted again within the window. \
         Speeds include\nwhat a tick costs."
    );
    rows.iter().try_for_each(Row::check)
}

impl Row {
    /// Replays with one contestant by one thread, and with an equal one by two.
    fn new<S: Seen>(
        name: &'static str,
        rate: Option<f64>,
        workload: &Workload,
        build: impl Fn() -> S,
    ) -> Self {
        let outcomes = [1, 2].map(|threads| replay(workload, &build(), threads));
        Self { name, rate, outcomes }
    }

    /// Returns an error if an answer was wrong that must not be.
    fn check(&self) -> Result<()> {
        let Some(rate) = self.rate else { return Ok(()) };
        for Mistakes { accepted, refused, due } in self.outcomes.map(|outcome| outcome.mistakes) {
            let expected = rate * due as f64;
            // A filter with this rate exceeds it once in a billion runs.
            let most = if rate > 0.0 { expected + 6.0 * expected.sqrt() + 10.0 } else { 0.0 };
            let name = self.name;
            ensure!(accepted == 0, "{name}: accepted {accepted} messages again");
            ensure!(refused as f64 <= most, "{name}: refused {refused}, and may refuse {most:.0}");
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    run(if Options::parse().full { 1_000_000 } else { 25_000 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_gives_no_wrong_answer() {
        run(2_000).unwrap();
    }

    #[test]
    fn wrong_answers_end_a_run() {
        let passes = |rate, accepted, refused| {
            let mistakes = Mistakes { accepted, refused, due: 10_000 };
            let right = Outcome { speed: 1.0, bytes: 1, mistakes: Mistakes::default() };
            let outcomes = [right, Outcome { mistakes, ..right }];
            Row { name: "a filter", rate, outcomes }.check().is_ok()
        };
        assert!(passes(Some(0.001), 0, 20));
        assert!(!passes(Some(0.001), 1, 0));
        assert!(!passes(Some(0.001), 0, 60));
        assert!(!passes(Some(0.0), 0, 1));
        assert!(passes(None, 1, 60));
    }
}
