//! Two pinned threads against one, with a table in memory.

use guira::Layout;

use super::{Bench, Results, timing::median};
use crate::{
    bar::Bar,
    common::{
        Keys,
        threads::{Population, Work, throughput},
    },
    peers::filter_of,
};

pub fn run(bench: &Bench, results: &mut Results) {
    let filter = filter_of(Layout::Plain4x16, bench.bytes);
    let items = filter.slots() as u64 * 80 / 100;
    let population = Population::new(Keys::new(80), items, 2);
    assert_eq!(population.fill(&filter), 0, "room at 80 % load");
    let reads = Work::mix(100);
    for (name, work, target) in [
        ("two pinned threads, reads only, one by one", reads, 1.95),
        ("two pinned threads, reads only, batch", Work { batches: true, ..reads }, 1.95),
        ("two pinned threads, inserts and removals at 80 %", Work::mix(0), 1.7),
    ] {
        bench.say(name);
        let speed = |threads| {
            let run = throughput(&filter, &bench.cores, &population, threads, work, bench.time);
            assert_eq!(run.failures, 0, "a write failed");
            run.total()
        };
        // One thread before and after two.
        let rounds: Vec<(f64, f64)> = (0..bench.rounds)
            .map(|_| {
                let before = speed(1);
                let two = speed(2);
                (two, f64::midpoint(before, speed(1)))
            })
            .collect();
        let share = median(rounds.iter().map(|(two, one)| two / one));
        let one = median(rounds.iter().map(|&(_, one)| one));
        results.bars.push(
            Bar::at_least(name, target, share, "of one thread")
                .note(format!("one thread: {one:.1} million a second")),
        );
    }
}
