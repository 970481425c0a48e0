//! A reader that must not miss, beside one writer that removes and inserts at 90 % load, against
//! the reader alone.

use guira::{CuckooFilter, Layout};
use guira_harness::{Keys, filter_of};

use crate::{
    bar::Bar,
    bench::{Bench, Results, Section},
    threads::{self, Population, Reading},
    timing::median,
};

/// Size of the table that fits a cache, in bytes: a million items.
const SMALL: usize = 2 << 20;

/// Figures of one table and one kind of reading.
struct Figures {
    bytes: usize,
    how: &'static str,
    has_target: bool,
    /// Per round: speed beside a writer of the same filter, and of another one, of the speed alone.
    shares: Vec<(f64, f64)>,
    /// Million writes per second.
    writes: Vec<f64>,
    /// Million lookups of present keys, none of which missed.
    reads: f64,
}

#[derive(Default)]
pub struct Beside(Vec<Figures>);

/// A filter at 90 % load.
fn loaded(bytes: usize, seed: u64) -> (CuckooFilter, Population) {
    let filter = filter_of(Layout::Plain4x16, bytes);
    let population = Population::new(Keys::new(seed), filter.slots() as u64 * 90 / 100, 1);
    assert_eq!(population.fill(&filter), 0, "room at 90 % load");
    (filter, population)
}

impl Section for Beside {
    fn measure(&mut self, bench: &Bench) {
        for (bytes, has_target) in [(bench.bytes, true), (SMALL, false)] {
            let (mine, other) = (loaded(bytes, 1), loaded(bytes, 2));
            for (reading, how) in [(Reading::Single, "single"), (Reading::Batch, "batch")] {
                bench.say(format!("a reader beside a writer, {} MiB, {how}", bytes >> 20));
                self.0.push(Figures {
                    bytes,
                    how,
                    has_target,
                    shares: Vec::new(),
                    writes: Vec::new(),
                    reads: 0.0,
                });
                let figures = self.0.last_mut().expect("just pushed");
                let mut run = |written: &(CuckooFilter, Population), writers| {
                    let read = (&mine.0 as _, &mine.1);
                    let write = (&written.0 as _, &written.1);
                    let time = 2 * bench.time;
                    let run = threads::beside(read, write, &bench.cores, writers, reading, time);
                    assert_eq!(run.misses, 0, "a key that is always present was missed");
                    figures.reads += run.reads * time.as_secs_f64();
                    run
                };
                for _ in 0..bench.rounds {
                    let before = run(&mine, 0).reads;
                    let (beside, elsewhere) = (run(&mine, 1), run(&other, 1));
                    let alone = f64::midpoint(before, run(&mine, 0).reads);
                    figures.shares.push((beside.reads / alone, elsewhere.reads / alone));
                    figures.writes.push(beside.writes);
                }
            }
        }
    }

    fn report(&self, results: &mut Results) {
        for figures in &self.0 {
            let own = median(figures.shares.iter().map(|share| share.0));
            let control = median(figures.shares.iter().map(|share| share.1));
            let note = format!(
                "beside a writer of another filter {control:.2}: what the machine alone costs; \
                 {:.1} million writes per second; no miss in {:.0} million lookups",
                median(figures.writes.iter().copied()),
                figures.reads,
            );
            let name = format!(
                "a reader beside one writer at 90 %, {}, {} MiB",
                figures.how,
                figures.bytes >> 20
            );
            let bar = if figures.has_target {
                Bar::at_least(name, 0.95, own, "of alone")
            } else {
                Bar::figure(name, own, "of alone")
            };
            results.bars.push(bar.note(note));
        }
    }
}
