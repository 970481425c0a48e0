//! Two pinned threads: as a stage of a pipeline, and as a reader beside a writer.

use std::{
    hint::black_box,
    sync::atomic::{
        AtomicU64,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
};

use guira::{CuckooFilter, Hashed, Layout};
use guira_harness::{Keys, filter_of};

use crate::{
    bench::{Bench, Results, Section},
    rounds::{Readers, Rounds},
    threads::{self, Population, Reading, next_block, pace},
};

/// Fills a filter up to this load in per cent, with the keys of this seed, split among threads.
pub fn loaded(bytes: usize, load: u64, seed: u64, threads: usize) -> (CuckooFilter, Population) {
    let filter = filter_of(Layout::Plain4x16, bytes);
    let population = Population::new(Keys::new(seed), filter.slots() as u64 * load / 100, threads);
    assert_eq!(population.fill(&filter), 0, "room at {load} % load");
    (filter, population)
}

/// Lookups of a burst.
const LOOKUPS: usize = 32;

/// Inserts of a burst, and removals.
const WRITES: usize = 2;

/// The parts of a burst that are executed: lookups, writes, and their name.
const STAGES: [(bool, bool, &str); 3] = [
    (true, true, "2 inserts, 2 removals, 32 lookups"),
    (true, false, "lookups only"),
    (false, true, "writes only"),
];

/// Million bursts per second in one table of two threads, with one filter and with one each,
/// beside those of one thread.
#[derive(Default)]
pub struct SharedStage(Rounds);

/// Filters at 80 % load, and their keys.
type Filters = Vec<(CuckooFilter, Population)>;

/// Splits `bytes` bytes among filters, and the keys of each among threads.
fn split(bytes: usize, filters: usize, threads: usize) -> Filters {
    (0..filters).map(|nth| loaded(bytes / filters, 80, nth as u64, threads)).collect()
}

/// Returns million bursts per second of all threads; thread `n` has the `n`th filter, or all
/// have the only one.
fn speed(
    filters: &Filters,
    bench: &Bench,
    threads: usize,
    (looks_up, writes): (bool, bool),
) -> f64 {
    pace(&bench.cores, threads, bench.time, |thread| {
        let (filter, population) = &filters[thread % filters.len()];
        let thread = thread / filters.len();
        let reads = population.reads(thread, 50);
        let (mut ring, mut at) = (population.ring(thread), 0);
        move || {
            // Reading the clock would take as long as a burst.
            const BURSTS: usize = 64;
            for _ in 0..BURSTS {
                if writes {
                    ring.write_batch::<WRITES>(filter);
                }
                if looks_up {
                    let reads = next_block(&reads, &mut at, LOOKUPS);
                    black_box(filter.contains_mask(Hashed::slice(reads)));
                }
            }
            BURSTS
        }
    })
}

/// The lines of a table and of its locks, without a filter.
struct Bare {
    words: Vec<AtomicU64>,
    locks: Vec<Line>,
}

/// A lock in a line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Line(AtomicU64);

impl Bare {
    fn new(bytes: usize) -> Self {
        let words = (0..bytes as u64 / 8).map(AtomicU64::new).collect();
        Self { words, locks: (0..1_024).map(|_| Line::default()).collect() }
    }

    /// Reads two words, and changes one of them: what an insert does, and under a lock what a
    /// removal does.
    fn change(&self, key: u64, locked: bool) {
        let at = |half: u64| (half & 0xffff_ffff) as usize % self.words.len();
        let [first, second] = [key, key >> 32].map(|half| &self.words[at(half)]);
        let lock = locked.then(|| &self.locks[(key >> 16) as usize % self.locks.len()].0);
        let is_taken = |lock: &AtomicU64| lock.compare_exchange(0, 1, Acquire, Relaxed).is_err();
        while lock.is_some_and(is_taken) {
            std::hint::spin_loop();
        }
        let (word, other) = (first.load(Acquire), second.load(Acquire));
        let _ = first.compare_exchange(word, word ^ other ^ 1, AcqRel, Relaxed);
        if let Some(lock) = lock {
            lock.store(0, Release);
        }
    }

    /// Returns million bursts of writes per second of all threads.
    fn speed(&self, bench: &Bench, threads: usize) -> f64 {
        pace(&bench.cores, threads, bench.time, |thread| {
            let (keys, mut at) = (Keys::new(5), (thread as u64) << 40);
            move || {
                const BURSTS: usize = 64;
                for _ in 0..BURSTS * WRITES {
                    self.change(keys.key(at), true);
                    self.change(keys.key(at + 1), false);
                    at += 2;
                }
                BURSTS
            }
        })
    }
}

impl Section for SharedStage {
    fn measure(&mut self, bench: &Bench) {
        for bytes in [256 << 10, 2 << 20, bench.bytes / 2] {
            let (one, two) = (split(bytes, 1, 2), split(bytes, 2, 1));
            let name = |work: &str, how: &str| format!("{work}, {} KiB: {how}", bytes >> 10);
            let lines = Bare::new(bytes);
            for _ in 0..bench.rounds {
                let alone = lines.speed(bench, 1);
                self.0.note(name(STAGES[2].2, "no filter"), lines.speed(bench, 2), alone);
            }
            drop(lines);
            for (looks_up, writes, work) in STAGES {
                bench.say(format!("a stage of a pipeline, {} KiB, {work}", bytes >> 10));
                let work_of = (looks_up, writes);
                for _ in 0..bench.rounds {
                    let before = speed(&one, bench, 1, work_of);
                    let shared = speed(&one, bench, 2, work_of);
                    let sharded = speed(&two, bench, 2, work_of);
                    let alone = f64::midpoint(before, speed(&one, bench, 1, work_of));
                    self.0.note(name(work, "one filter"), shared, alone);
                    self.0.note(name(work, "a filter each"), sharded, alone);
                }
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let head = ["million bursts/s", "two threads", "one thread", "of one"];
        let table = self.0.table("shared-stage", head, 2);
        results.tables.push(("A stage of a pipeline, by two threads", table));
    }
}

/// Size of the table that fits a cache, in bytes: a million items.
const SMALL: usize = 2 << 20;

#[derive(Default)]
pub struct Beside {
    readers: Readers,
    /// Million writes per second, by the name of the reader.
    writes: Rounds,
}

impl Section for Beside {
    fn measure(&mut self, bench: &Bench) {
        let time = 2 * bench.time;
        for bytes in [bench.bytes, SMALL] {
            let (mine, other) = (loaded(bytes, 90, 1, 1), loaded(bytes, 90, 2, 1));
            for (reading, how) in [(Reading::Single, "single"), (Reading::Batch, "batch")] {
                let name =
                    format!("a reader beside one writer at 90 %, {how}, {} MiB", bytes >> 20);
                bench.say(&name);
                let run = |written: &(CuckooFilter, Population), writers| {
                    let read = (&mine.0 as _, &mine.1);
                    let write = (&written.0 as _, &written.1);
                    let run = threads::beside(read, write, &bench.cores, writers, reading, time);
                    assert_eq!(run.misses, 0, "a key that is always present was missed");
                    run
                };
                for _ in 0..bench.rounds {
                    let before = run(&mine, 0).reads;
                    let (beside, elsewhere) = (run(&mine, 1), run(&other, 1));
                    let after = run(&mine, 0).reads;
                    let lookups = before + beside.reads + elsewhere.reads + after;
                    let alone = f64::midpoint(before, after);
                    let speeds = [beside.reads, elsewhere.reads, alone];
                    self.readers.note(&name, speeds, lookups * time.as_secs_f64());
                    self.writes.note(&name, beside.writes, f64::NAN);
                }
            }
        }
    }

    fn report(&self, results: &mut Results) {
        for row in self.writes.rows() {
            let writes = format!("{:.1} million writes per second", row.figure);
            results.figures.push(self.readers.figure(row.name, &writes));
        }
    }
}
