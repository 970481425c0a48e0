//! What is measured, part by part.

mod against_atomic;
mod beside;
mod in_l2;
mod one_thread;
mod peers;
mod scaling;
mod semi_sorted;
mod shared;
mod timing;
mod two_threads;

use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use crate::{Options, bar::Bar, common::Cores, plot::Chart, table::Table};

/// All that a report shows.
#[derive(Default)]
pub struct Results {
    pub bars: Vec<Bar>,
    pub tables: Vec<Table>,
    pub charts: Vec<Chart>,
    /// How long all of it took.
    pub seconds: f64,
}

/// What every part needs to know.
pub struct Bench {
    pub cores: Cores,
    pub full: bool,
    /// Size of the large tables.
    pub bytes: usize,
    /// Rounds, of which the median or the best counts.
    pub rounds: usize,
    /// How long one figure of threads is measured in one round.
    pub time: Duration,
    only: Vec<String>,
    progress: ProgressBar,
}

impl Bench {
    fn new(options: &Options) -> Self {
        let milliseconds = options.milliseconds.unwrap_or(if options.full { 1000 } else { 300 });
        let progress = ProgressBar::new_spinner();
        progress.enable_steady_tick(Duration::from_secs(1));
        Self {
            cores: Cores::list(),
            full: options.full,
            bytes: options.megabytes << 20,
            rounds: if options.full { 7 } else { 3 },
            time: Duration::from_millis(milliseconds),
            only: options.only.clone(),
            progress,
        }
    }

    /// Says what is going on.
    pub fn say(&self, what: impl Into<String>) {
        let what = what.into();
        if self.progress.is_hidden() {
            eprintln!("{what}");
        }
        self.progress.set_message(what);
    }

    /// Whether a part or peer was asked for.
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| name.contains(only.as_str()))
    }
}

/// A part of the report: it adds its bars, tables and charts.
type Part = fn(&Bench, &mut Results);

const PARTS: &[(&str, Part)] = &[
    ("one-thread", one_thread::run),
    ("semi-sorted", semi_sorted::run),
    ("in-l2", in_l2::run),
    ("two-threads", two_threads::run),
    ("beside", beside::run),
    ("atomic", against_atomic::run),
    ("peers", peers::run),
    ("scaling", scaling::run),
];

/// Measures what was asked for.
pub fn all(options: &Options) -> Results {
    let started = Instant::now();
    let (bench, mut results) = (Bench::new(options), Results::default());
    let names_a_part = PARTS.iter().any(|(name, _)| !bench.only.is_empty() && bench.wants(name));
    for (name, part) in PARTS {
        // A peer's name alone asks for the table of peers.
        if bench.wants(name) || (!names_a_part && *name == "peers") {
            bench.say(*name);
            // On a thread of its own, for a part may pin it.
            std::thread::scope(|scope| {
                scope.spawn(|| part(&bench, &mut results)).join().expect("a part of the report");
            });
        }
    }
    bench.progress.finish_and_clear();
    results.seconds = started.elapsed().as_secs_f64();
    results
}
