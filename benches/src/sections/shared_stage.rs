//! A stage of a pipeline that looks up, inserts and removes in bursts: one thread, two threads with
//! one filter, and two threads with a filter of half the size each, as if sharded by the keys'
//! hashes. With lookups only and with writes only, the loss shows what is due to lines that both
//! cores write.

use std::hint::black_box;

use guira::{CuckooFilter, Hashed, Layout};
use guira_harness::{Keys, filter_of, table::Table};

use crate::{
    bar::Bar,
    bench::{Bench, Results, Section},
    threads::{Population, next_block, pace},
    timing::median,
};

/// Lookups of a burst.
const LOOKUPS: usize = 32;

/// Inserts of a burst, and removals.
const WRITES: usize = 2;

/// The parts of a burst that are executed: lookups, writes, and their name.
const WORKS: [(bool, bool, &str); 3] = [
    (true, true, "2 inserts, 2 removals, 32 lookups"),
    (true, false, "lookups only"),
    (false, true, "writes only"),
];

/// Million bursts per second in one table, in each round: of one thread, of two with one filter,
/// and of two with one filter each.
struct Figures {
    bytes: usize,
    work: &'static str,
    rounds: Vec<[f64; 3]>,
}

#[derive(Default)]
pub struct SharedStage(Vec<Figures>);

/// Filters at 80 % load.
struct Loaded(Vec<(CuckooFilter, Population)>);

impl Loaded {
    /// Splits `bytes` bytes among filters, and the keys of each among threads.
    fn new(bytes: usize, filters: usize, threads: usize) -> Self {
        let loaded = |nth: usize| {
            let filter = filter_of(Layout::Plain4x16, bytes / filters);
            let items = filter.slots() as u64 * 80 / 100;
            let population = Population::new(Keys::new(nth as u64), items, threads);
            assert_eq!(population.fill(&filter), 0, "room at 80 % load");
            (filter, population)
        };
        Self((0..filters).map(loaded).collect())
    }

    /// Returns million bursts per second of all threads; thread `n` has the `n`th filter, or all
    /// have the only one.
    fn speed(&self, bench: &Bench, threads: usize, (looks_up, writes): (bool, bool)) -> f64 {
        let speeds = pace(&bench.cores, threads, bench.time, |thread| {
            let (filter, population) = &self.0[thread % self.0.len()];
            let thread = thread / self.0.len();
            let reads = population.reads(thread, 50);
            let (mut ring, mut at) = (population.ring(thread), 0);
            move || {
                // Reading the clock would take as long as a burst.
                const BURSTS: usize = 64;
                for _ in 0..BURSTS {
                    if writes {
                        let oldest = ring.take_oldest::<WRITES>();
                        let removed =
                            filter.remove_batch(Hashed::slice(&oldest), &mut [false; WRITES]);
                        assert_eq!(removed, WRITES, "the thread's own keys");
                        let next = ring.take_next::<WRITES>();
                        filter.insert_batch(Hashed::slice(&next)).expect("room");
                    }
                    if looks_up {
                        let reads = next_block(&reads, &mut at, LOOKUPS);
                        black_box(filter.contains_mask(Hashed::slice(reads)));
                    }
                }
                BURSTS
            }
        });
        speeds.iter().sum()
    }
}

impl Section for SharedStage {
    fn measure(&mut self, bench: &Bench) {
        for bytes in [256 << 10, 2 << 20, bench.bytes / 2] {
            let (one, two) = (Loaded::new(bytes, 1, 2), Loaded::new(bytes, 2, 1));
            for (looks_up, writes, work) in WORKS {
                bench.say(format!("a stage of a pipeline, {} KiB, {work}", bytes >> 10));
                let work_of = (looks_up, writes);
                self.0.push(Figures { bytes, work, rounds: Vec::new() });
                for _ in 0..bench.rounds {
                    let before = one.speed(bench, 1, work_of);
                    let shared = one.speed(bench, 2, work_of);
                    let sharded = two.speed(bench, 2, work_of);
                    let alone = f64::midpoint(before, one.speed(bench, 1, work_of));
                    let figures = self.0.last_mut().expect("just pushed");
                    figures.rounds.push([alone, shared, sharded]);
                }
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let head = [
            "million bursts/s",
            "table, KiB",
            "one thread",
            "two, one filter",
            "of one",
            "two, a filter each",
            "of one",
        ];
        let mut table = Table::new("shared-stage", &head);
        for figures in &self.0 {
            let speed = |nth: usize| median(figures.rounds.iter().map(|round| round[nth]));
            let of_one =
                |nth: usize| median(figures.rounds.iter().map(|round| round[nth] / round[0]));
            table.push(vec![
                figures.work.into(),
                (figures.bytes >> 10).to_string(),
                format!("{:.2}", speed(0)),
                format!("{:.2}", speed(1)),
                format!("{:.2}", of_one(1)),
                format!("{:.2}", speed(2)),
                format!("{:.2}", of_one(2)),
            ]);
            if figures.bytes == 2 << 20 && figures.work == WORKS[0].2 {
                results.bars.push(
                    Bar::figure("a stage by two threads on one table, 2 MiB", of_one(1), "of one")
                        .note(format!("with a filter for each thread {:.2}", of_one(2))),
                );
            }
        }
        results.tables.push(table);
    }
}
