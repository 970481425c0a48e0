//! Two pinned threads against one, with a table in memory.

use guira::Layout;
use guira_harness::{Keys, filter_of};

use crate::{
    bar::{Bar, Target::AtLeast},
    bench::{Bench, Results, Section},
    rounds::Rounds,
    threads::{Population, Work, throughput},
};

/// What the threads do, and the multiple of one thread's speed that reaches the target.
const WORKS: [(&str, Work, f64); 3] = [
    ("two pinned threads, reads only, single", Work::mix(100), 1.95),
    ("two pinned threads, reads only, batch", Work { batches: true, ..Work::mix(100) }, 1.95),
    ("two pinned threads, inserts and removals at 80 %", Work::mix(0), 1.7),
];

/// Million operations per second of two threads, beside those of one before and after.
#[derive(Default)]
pub struct TwoThreads(Rounds);

impl Section for TwoThreads {
    fn measure(&mut self, bench: &Bench) {
        let filter = filter_of(Layout::Plain4x16, bench.bytes);
        let items = filter.slots() as u64 * 80 / 100;
        let population = Population::new(Keys::new(80), items, 2);
        assert_eq!(population.fill(&filter), 0, "room at 80 % load");
        for (name, work, _) in WORKS {
            bench.say(name);
            let speed = |threads| {
                let run = throughput(&filter, &bench.cores, &population, threads, work, bench.time);
                assert_eq!(run.failures, 0, "a write failed");
                run.total()
            };
            for _ in 0..bench.rounds {
                let before = speed(1);
                let two = speed(2);
                self.0.note(name, two, f64::midpoint(before, speed(1)));
            }
        }
    }

    fn report(&self, results: &mut Results) {
        for (name, _, target) in WORKS {
            let row = self.0.row(name);
            let note = format!("one thread: {:.1} million operations per second", row.base);
            let bar = Bar::new(name, AtLeast(target), row.times, "of one thread");
            results.bars.push(bar.note(note));
        }
    }
}
