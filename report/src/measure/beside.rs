//! A reader beside one writer that removes and inserts at 90 % load, against the reader alone.

use guira::{CuckooFilter, Layout};

use super::{Bench, Results, timing::median};
use crate::{
    bar::Bar,
    common::{
        Keys,
        threads::{self, Population, Reading},
    },
    peers::filter_of,
};

/// A filter at 90 % load.
fn loaded(bytes: usize, seed: u64) -> (CuckooFilter, Population) {
    let filter = filter_of(Layout::Plain4x16, bytes);
    let population = Population::new(Keys::new(seed), filter.slots() as u64 * 90 / 100, 1);
    assert_eq!(population.fill(&filter), 0, "room at 90 % load");
    (filter, population)
}

pub fn run(bench: &Bench, results: &mut Results) {
    for (bytes, has_target) in [(bench.bytes, true), (2 << 20, false)] {
        let (mine, other) = (loaded(bytes, 1), loaded(bytes, 2));
        let mega = bytes >> 20;
        for (reading, how) in [(Reading::Single, "one by one"), (Reading::Batch, "batch")] {
            bench.say(format!("a reader beside a writer, {mega} MiB, {how}"));
            let run = |written: &(CuckooFilter, Population), writers| {
                let read = (&mine.0 as _, &mine.1);
                let write = (&written.0 as _, &written.1);
                let run =
                    threads::beside(read, write, &bench.cores, writers, reading, 2 * bench.time);
                assert_eq!(run.misses, 0, "a key that is always present was missed");
                run
            };
            let (mut own, mut control, mut writes) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..bench.rounds {
                let before = run(&mine, 0).reads;
                let (beside, elsewhere) = (run(&mine, 1), run(&other, 1));
                let alone = f64::midpoint(before, run(&mine, 0).reads);
                own.push(beside.reads / alone);
                control.push(elsewhere.reads / alone);
                writes.push(beside.writes);
            }
            let (own, control) = (median(own), median(control));
            let note = format!(
                "beside a writer of another filter {control:.2}, which is the machine's share; \
                 {:.1} million writes a second",
                median(writes)
            );
            let name = format!("a reader beside one writer at 90 %, {how}, {mega} MiB");
            let bar = if has_target {
                Bar::at_least(name, 0.95, own, "of alone")
            } else {
                Bar::figure(name, own, "of alone")
            };
            results.bars.push(bar.note(note));
        }
    }
}
