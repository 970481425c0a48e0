//! A reader that must not miss, beside one writer that removes and inserts at 90 % load, against
//! the reader alone.

use guira::{CuckooFilter, Layout};
use guira_harness::{Keys, filter_of};

use super::reader::Readers;
use crate::{
    bar::Target::{AtLeast, Nothing},
    bench::{Bench, Results, Section},
    rounds::Rounds,
    threads::{self, Population, Reading},
};

/// Size of the table that fits a cache, in bytes: a million items.
const SMALL: usize = 2 << 20;

#[derive(Default)]
pub struct Beside {
    readers: Readers,
    /// Million writes per second, by the name of the reader.
    writes: Rounds,
}

/// A filter at 90 % load.
fn loaded(bytes: usize, seed: u64) -> (CuckooFilter, Population) {
    let filter = filter_of(Layout::Plain4x16, bytes);
    let population = Population::new(Keys::new(seed), filter.slots() as u64 * 90 / 100, 1);
    assert_eq!(population.fill(&filter), 0, "room at 90 % load");
    (filter, population)
}

impl Section for Beside {
    fn measure(&mut self, bench: &Bench) {
        let time = 2 * bench.time;
        for bytes in [bench.bytes, SMALL] {
            let (mine, other) = (loaded(bytes, 1), loaded(bytes, 2));
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
        let is_small = |name: &str| name.ends_with(&format!(", {} MiB", SMALL >> 20));
        for row in self.writes.rows() {
            let target = if is_small(row.name) { Nothing } else { AtLeast(0.95) };
            let writes = format!("{:.1} million writes per second", row.figure);
            results.bars.push(self.readers.bar(row.name, target, &writes));
        }
    }
}
