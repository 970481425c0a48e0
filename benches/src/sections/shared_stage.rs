//! A stage of a pipeline that looks up, inserts and removes in bursts: one thread, two threads with
//! one filter, and two threads with a filter of half the size each, as if sharded by the keys'
//! hashes. With lookups only and with writes only, the loss shows what is due to lines that both
//! cores write.

use std::hint::black_box;

use guira::{CuckooFilter, Hashed, Layout};
use guira_harness::{Keys, filter_of};

use crate::{
    bar::{Bar, Target::Nothing},
    bench::{Bench, Results, Section},
    rounds::Rounds,
    threads::{Population, next_block, pace},
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

/// Million bursts per second in one table of two threads, with one filter and with one each,
/// beside those of one thread.
#[derive(Default)]
pub struct SharedStage(Rounds);

/// Returns the names of the figures of a table: with one filter, and with one each.
fn names(bytes: usize, work: &str) -> [String; 2] {
    ["one filter", "a filter each"].map(|how| format!("{work}, {} KiB: {how}", bytes >> 10))
}

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
                let [one_filter, a_filter_each] = names(bytes, work);
                for _ in 0..bench.rounds {
                    let before = one.speed(bench, 1, work_of);
                    let shared = one.speed(bench, 2, work_of);
                    let sharded = two.speed(bench, 2, work_of);
                    let alone = f64::midpoint(before, one.speed(bench, 1, work_of));
                    self.0.note(&one_filter, shared, alone);
                    self.0.note(&a_filter_each, sharded, alone);
                }
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let head = ["million bursts/s", "two threads", "one thread", "of one"];
        let table = self.0.table("shared-stage", head, 2);
        results.tables.push(("A stage of a pipeline, by two threads", table));
        let [shared, sharded] = names(2 << 20, WORKS[0].2).map(|name| self.0.row(&name).times);
        let name = "a stage by two threads on one table, 2 MiB";
        let note = format!("with a filter for each thread {sharded:.2}");
        results.bars.push(Bar::new(name, Nothing, shared, "of one").note(note));
    }
}
