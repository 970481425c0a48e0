//! From one thread to all cores, on one filter: reads, writes, and half of each, one by one and in
//! batches, in a table in the L2 cache and in memory.

use std::hint::black_box;

use guira::{CuckooFilter, Hashed};
use guira_harness::plot::{Chart, Look, Series};

use super::two_threads::loaded;
use crate::{
    bench::{Bench, Results, Section},
    rounds::Rounds,
    threads::{Population, Ring, next_block, pace},
};

/// Size of the table in the L2 cache, in bytes.
const CACHED: usize = 512 << 10;

/// Operations between two readings of the clock: enough to hide it.
const OPERATIONS: usize = 64;

/// Keys of a batch of removals, and of the batch of inserts after it.
const WRITES: usize = 16;

/// What the threads do: the lookups and the batches of writes among the operations.
const WORKS: [(&str, usize, usize); 3] = [
    ("reads", OPERATIONS, 0),
    ("half reads, half writes", OPERATIONS / 2, 1),
    ("writes", 0, OPERATIONS / (2 * WRITES)),
];

/// Million operations per second of all threads, beside those of one.
#[derive(Default)]
pub struct Scaling {
    rounds: Rounds,
    threads: Vec<usize>,
}

/// Returns the name of a curve.
fn curve(work: usize, is_cached: bool, batches: bool) -> String {
    let place = if is_cached { "512 KiB" } else { "in memory" };
    format!("{}, {place}, {}", WORKS[work].0, if batches { "batches" } else { "single" })
}

/// Returns the name of the figures of a curve with this many threads.
fn name(curve: &str, threads: usize) -> String {
    format!("{curve}: {threads} threads")
}

/// All curves: the work, whether the table is in a cache, and whether it is in batches.
fn curves() -> impl Iterator<Item = (usize, bool, bool)> {
    let places = [false, true].into_iter().flat_map(|it| [(it, false), (it, true)]);
    places.flat_map(|(is_cached, batches)| (0..WORKS.len()).map(move |at| (at, is_cached, batches)))
}

impl Section for Scaling {
    fn measure(&mut self, bench: &Bench) {
        let cores = bench.cores.count();
        // Up to four, then fewer and fewer of them, and all.
        self.threads = (1..=cores).filter(|&at| at <= 4 || at % 4 == 0 || at == cores).collect();
        let tables = [bench.bytes, CACHED].map(|bytes| loaded(bytes, 80, 80, cores));
        for (work, is_cached, batches) in curves() {
            let curve = curve(work, is_cached, batches);
            bench.say(&curve);
            let (filter, population) = &tables[usize::from(is_cached)];
            for _ in 0..bench.rounds {
                let speed = |&threads: &usize| {
                    (threads, speed(filter, population, bench, threads, (work, batches)))
                };
                let speeds: Vec<(usize, f64)> = self.threads.iter().map(speed).collect();
                for &(threads, figure) in &speeds {
                    self.rounds.note(name(&curve, threads), figure, speeds[0].1);
                }
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let head = ["scaling", "million operations/s", "one thread", "of one thread"];
        results
            .tables
            .push(("From one thread to all cores", self.rounds.table("scaling", head, 1)));
        let mut chart =
            Chart::new("scaling-by-threads", "From one thread to all cores, on one filter")
                .x("threads, each pinned to a core")
                .whole_x()
                .y("speed, as a multiple of one thread's");
        let ideal = self.threads.iter().map(|&threads| (threads as f64, threads as f64)).collect();
        chart.push(Series::guide("ideal", ideal));
        for (work, is_cached, batches) in curves() {
            let curve = curve(work, is_cached, batches);
            let look = Look::nth(work + WORKS.len() * usize::from(is_cached));
            let look = if batches { look.variant() } else { look };
            let times =
                |&threads: &usize| (threads as f64, self.rounds.row(&name(&curve, threads)).times);
            chart.push(Series::new(look, &curve, self.threads.iter().map(times).collect()));
        }
        results.charts.push(chart);
    }
}

/// Returns million operations per second of all threads.
fn speed(
    filter: &CuckooFilter,
    population: &Population,
    bench: &Bench,
    threads: usize,
    (work, batches): (usize, bool),
) -> f64 {
    let (_, lookups, writes) = WORKS[work];
    pace(&bench.cores, threads, bench.time, |thread| {
        let reads = population.reads(thread, 50);
        let (mut ring, mut at) = (population.ring(thread), 0);
        move || {
            let mut found = [false; OPERATIONS];
            let keys = Hashed::slice(next_block(&reads, &mut at, lookups));
            black_box(if batches {
                filter.contains_batch(keys, &mut found[..lookups])
            } else {
                keys.iter().filter(|&key| filter.contains(key)).count()
            });
            (0..writes).for_each(|_| write(filter, &mut ring, batches));
            OPERATIONS
        }
    })
}

/// Removes the oldest keys of a thread, and inserts as many new ones.
fn write(filter: &CuckooFilter, ring: &mut Ring, batches: bool) {
    if batches {
        return ring.write_batch::<WRITES>(filter);
    }
    let (oldest, next) = (ring.take_oldest::<WRITES>(), ring.take_next::<WRITES>());
    for key in Hashed::slice(&next) {
        filter.insert(key).expect("room");
    }
    let removed = Hashed::slice(&oldest).iter().filter(|&key| filter.remove(key)).count();
    assert_eq!(removed, WRITES, "the thread's own keys");
}
