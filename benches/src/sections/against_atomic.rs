//! Against `atomic-cuckoo-filter`: every workload that it supports, by one and two threads.

use guira_harness::{BATCH, Keys};

use crate::{
    bench::{Bench, Results, Section},
    figure::Figure,
    peers::{self, Candidate, Size},
    rounds::Rounds,
    stop,
    threads::{Population, Shared, Work, throughput, together},
    timing::{Clock, over_range},
};

/// Per cent of its slots that the other filter can be filled to.
const FULL: usize = 94;

/// Per cent of the slots in use in the mixes with room.
const LESS: usize = 80;

/// Numbers of threads, and their names.
const THREADS: [(usize, &str); 2] = [(1, "one thread"), (2, "two threads")];

/// What is measured while threads fill a filter and remove a tenth.
const FILLS: [&str; 3] = ["insert, to 94 % of the slots", "insert, the last 5 % of that", "remove"];

/// Size of the small table in bytes: 131 072 slots, which fit an L2 cache.
const SMALL: usize = 256 << 10;

/// End of the names of the workloads that are measured in batches.
const BATCHES: &str = ", batch";

/// Million operations per second of guira, beside those of the other filter.
#[derive(Default)]
pub struct AgainstAtomic(Rounds);

impl Section for AgainstAtomic {
    fn measure(&mut self, bench: &Bench) {
        let guira = peers::find("guira Plain4x16");
        let atomic = peers::find("atomic-cuckoo-filter");
        for bytes in [bench.bytes, SMALL] {
            let mut theirs = Rounds::default();
            workloads(bench, atomic, bytes, false, |name, speed| theirs.note(name, speed, 1.0));
            for (batches, end) in [(false, ""), (true, BATCHES)] {
                workloads(bench, guira, bytes, batches, |name, speed| {
                    let theirs = theirs.row(&name).figure;
                    self.0.note(format!("{name}{end}"), speed, theirs);
                });
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let is_single = |name: &str| !name.ends_with(BATCHES);
        let is_better =
            |name: &str| !is_single(name) || self.0.row(&format!("{name}{BATCHES}")).times.is_nan();
        for (how, worst) in
            [("single", self.0.least(is_single)), ("batch if any", self.0.least(is_better))]
        {
            let name = format!("against `atomic-cuckoo-filter`, every workload, {how}");
            let figure = Figure::new(name, worst.times, "times its speed");
            results.figures.push(figure.note(format!("smallest: {}", worst.name)));
        }
        let head = ["workload", "guira, M/s", "atomic-cuckoo-filter, M/s", "times"];
        let table = self.0.table("against-atomic-cuckoo-filter", head, 1);
        results.tables.push(("Against atomic-cuckoo-filter", table));
    }
}

/// Measures each workload of one filter; with `batches`, only those that have batches.
fn workloads(
    bench: &Bench,
    peer: &Candidate,
    bytes: usize,
    batches: bool,
    mut note: impl FnMut(String, f64),
) {
    let size = Size { items: bytes / 2 * FULL / 100, bytes };
    let place = if bytes >> 20 > 0 { format!("{} MiB", bytes >> 20) } else { "256 KiB".into() };
    for (threads, by) in THREADS {
        bench.say(format!("{}, {place}: filled by {threads}", peer.name));
        for _ in 0..if bytes == SMALL { 15 } else { 1 } {
            let speeds = fill_and_empty(bench, peer, size, threads, batches);
            // A stop ends the threads' loops early: their speeds mean nothing then.
            stop::point();
            for (what, speed) in FILLS.into_iter().zip(speeds) {
                note(format!("{what}, {place}, {by}"), speed);
            }
        }
    }
    let filter = (peer.build)(size);
    let filter = filter.shared().expect("a shared filter");
    let slots = bytes / 2;
    let population = Population::new(Keys::new(5), (slots * LESS / 100) as u64, 2);
    population.fill(filter);
    for load in [LESS, FULL] {
        bench.say(format!("{}, {place}: mixes at {load} %", peer.name));
        if load == FULL {
            let more = (slots * (FULL - LESS) / 100) as u64;
            Keys::new(6).blocks(0..more, |block| {
                insert(filter, block, batches);
            });
        }
        let lookups = [0, 50, 100].map(|present| {
            (format!("lookup, {present} % present"), Work { reads: 100, present, batches })
        });
        let mixes = [95, 90, 50, 0]
            .map(|reads| (format!("reads/writes {reads}/{}", 100 - reads), Work::mix(reads)));
        for (what, work) in lookups.into_iter().chain(mixes) {
            if batches && !work.batches {
                continue;
            }
            for (threads, by) in THREADS {
                let name = format!("{what}, {load} % load, {place}, {by}");
                for _ in 0..bench.rounds {
                    let time = bench.time / 3;
                    let run = throughput(filter, &bench.cores, &population, threads, work, time);
                    note(name.clone(), run);
                }
            }
        }
    }
}

/// Threads fill a new filter and remove a tenth. Returns millions of inserts per second in all, of
/// inserts near the end, and of removals.
fn fill_and_empty(
    bench: &Bench,
    peer: &Candidate,
    size: Size,
    threads: usize,
    batches: bool,
) -> [f64; 3] {
    let peer = (peer.build)(size);
    let filter = peer.shared().expect("a shared filter");
    let population = Population::new(Keys::new(3), size.items as u64, threads);
    let speeds = together(&bench.cores, threads, |thread, barrier| {
        let all = population.indices(thread);
        let end = all.start + (all.end - all.start) * 95 / 100;
        let insert =
            |indices| over_range(Keys::new(3), indices, |block| insert(filter, block, batches));
        barrier.wait();
        let start = insert(all.start..end);
        // The last band begins together, even if threads share a core.
        barrier.wait();
        let last = insert(end..all.end);
        let tenth = all.start + (all.end - all.start) / 10;
        barrier.wait();
        let gone = over_range(Keys::new(3), all.start..tenth, |block| {
            let mut removed = [false; BATCH];
            if batches {
                filter.remove_batch(block, &mut removed[..block.len()])
            } else {
                filter.removes(block)
            }
        });
        [start.and(last), last, gone].map(|clock: Clock| 1e3 / clock.per_key())
    });
    speeds.into_iter().fold([0.0; 3], |sum, part| std::array::from_fn(|i| sum[i] + part[i]))
}

fn insert(filter: &dyn Shared, block: &[u64], batches: bool) -> usize {
    if batches { filter.insert_batch(block) } else { filter.inserts(block) }
}
