//! Two pinned threads against one, with a table in memory.

use guira::Layout;
use guira_harness::{Keys, filter_of};

use crate::{
    bar::Bar,
    bench::{Bench, Results, Section},
    threads::{Population, Work, throughput},
    timing::median,
};

/// What the threads do, and the multiple of one thread's speed that reaches the target.
const WORKS: [(&str, Work, f64); 3] = [
    ("two pinned threads, reads only, single", Work::mix(100), 1.95),
    ("two pinned threads, reads only, batch", Work { batches: true, ..Work::mix(100) }, 1.95),
    ("two pinned threads, inserts and removals at 80 %", Work::mix(0), 1.7),
];

/// Million operations per second of two threads, and of one before and after.
#[derive(Default)]
pub struct TwoThreads([Vec<(f64, f64)>; 3]);

impl Section for TwoThreads {
    fn measure(&mut self, bench: &Bench) {
        let filter = filter_of(Layout::Plain4x16, bench.bytes);
        let items = filter.slots() as u64 * 80 / 100;
        let population = Population::new(Keys::new(80), items, 2);
        assert_eq!(population.fill(&filter), 0, "room at 80 % load");
        for ((name, work, _), rounds) in WORKS.into_iter().zip(&mut self.0) {
            bench.say(name);
            let speed = |threads| {
                let run = throughput(&filter, &bench.cores, &population, threads, work, bench.time);
                assert_eq!(run.failures, 0, "a write failed");
                run.total()
            };
            for _ in 0..bench.rounds {
                let before = speed(1);
                let two = speed(2);
                rounds.push((two, f64::midpoint(before, speed(1))));
            }
        }
    }

    fn report(&self, results: &mut Results) {
        for ((name, _, target), rounds) in WORKS.into_iter().zip(&self.0) {
            let share = median(rounds.iter().map(|(two, one)| two / one));
            let one = median(rounds.iter().map(|&(_, one)| one));
            results.bars.push(
                Bar::at_least(name, target, share, "of one thread")
                    .note(format!("one thread: {one:.1} million operations per second")),
            );
        }
    }
}
