//! A reader beside sweeps that follow one another without a pause, against the reader alone; and
//! the time that beginning a generation takes.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use guira::Hashed;
use guira_harness::{BATCH, Pick, table::Table};

use super::Filled;
use crate::{
    bar::Bar,
    bench::{Bench, Results},
    timing::median,
};

/// Generations that begin during one measurement. The youngest items are visible for 13 of them, in
/// two measurements.
const ADVANCES: u32 = 6;

/// Keys that the reader looks up, over and over.
const READ: usize = 1 << 18;

/// Figures of one table and one kind of reading.
struct Figures {
    bytes: usize,
    how: &'static str,
    /// Per round: speed beside sweeps of the same filter, and of another one, of the speed alone.
    shares: Vec<(f64, f64)>,
    /// Million lookups of present keys, none of which missed.
    reads: f64,
}

/// Milliseconds that it takes to begin a generation.
struct Advances {
    bytes: usize,
    /// With a whole table to sweep.
    unswept: Vec<f64>,
    /// Right after a sweep of the whole table.
    swept: Vec<f64>,
}

#[derive(Default)]
pub struct Sweeps {
    figures: Vec<Figures>,
    advances: Vec<Advances>,
}

impl Sweeps {
    /// Measures tables of about this many bytes.
    pub fn measure(&mut self, bench: &Bench, bytes: usize) {
        for how in ["single", "batch"] {
            self.figures.push(Figures { bytes, how, shares: Vec::new(), reads: 0.0 });
        }
        self.advances.push(Advances { bytes, unswept: Vec::new(), swept: Vec::new() });
        let [.., single, batch] = self.figures.as_mut_slice() else { unreachable!("just pushed") };
        let advances = self.advances.last_mut().expect("just pushed");
        // A sweep of a small table takes less than a millisecond.
        let repeats = if bytes < bench.bytes { 20 } else { 1 };
        for round in 0..bench.rounds * repeats {
            bench.say(format!("expiring, sweeps, {} MiB, round {}", bytes >> 20, round + 1));
            let (mine, other) = (Filled::new(bytes, 1), Filled::new(bytes, 2));
            for (figures, batches) in [(&mut *single, false), (&mut *batch, true)] {
                let mut run = |sweep: &mut (dyn FnMut() + Send)| {
                    let (speed, reads) = read_beside(bench, &mine, batches, sweep);
                    figures.reads += reads;
                    speed
                };
                let mut times = Vec::new();
                let own = run(&mut || times = advance(&mine));
                let whole = Duration::from_secs_f64(times.iter().sum::<f64>() / 1e3);
                let other = run(&mut || drop(advance(&other)));
                let alone = run(&mut || thread::sleep(whole));
                figures.shares.push((own / alone, other / alone));
                advances.unswept.extend(times);
            }
            mine.filter.sweep(u64::MAX);
            advances.swept.push(milliseconds(|| mine.filter.advance()));
        }
    }

    pub fn report(&self, results: &mut Results) {
        for figures in &self.figures {
            let own = median(figures.shares.iter().map(|share| share.0));
            let control = median(figures.shares.iter().map(|share| share.1));
            let name = format!(
                "expiring: a reader beside sweeps, {}, {} MiB",
                figures.how,
                figures.bytes >> 20
            );
            let note = format!(
                "beside sweeps of another filter {control:.2}: what the machine alone costs; no \
                 miss in {:.0} million lookups",
                figures.reads
            );
            results.bars.push(Bar::at_least(name, 0.9, own, "of alone").note(note));
        }
        let head = ["table, MiB", "advance, ms", "after a sweep of the whole table, ms"];
        let mut table = Table::new("expiring-advance", &head);
        for advances in &self.advances {
            table.push(vec![
                (advances.bytes >> 20).to_string(),
                format!("{:.2}", median(advances.unswept.iter().copied())),
                format!("{:.3}", median(advances.swept.iter().copied())),
            ]);
        }
        results.tables.push(table);
    }
}

/// Begins generations one after another, each of which sweeps the table. Returns the time of each,
/// in milliseconds.
fn advance(filled: &Filled) -> Vec<f64> {
    (0..ADVANCES).map(|_| milliseconds(|| filled.filter.advance())).collect()
}

fn milliseconds<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    work();
    1e3 * start.elapsed().as_secs_f64()
}

/// Runs a pinned reader of the youngest items while another thread works. Returns its million
/// lookups per second, and their number in millions.
fn read_beside(
    bench: &Bench,
    filled: &Filled,
    batches: bool,
    work: &mut (dyn FnMut() + Send),
) -> (f64, f64) {
    let (start, stop) = (Barrier::new(2), AtomicBool::new(false));
    let read = || {
        bench.cores.pin(0);
        let inserted = (filled.youngest(), filled.items);
        let keys = filled.keys.pick(READ, Pick { present: 100, inserted }, 0);
        let (filter, mut found) = (&filled.filter, [false; BATCH]);
        let (mut reads, mut hits) = (0, 0);
        // A first pass, not timed: what another core has just filled or swept is in its caches.
        let is_found = |&key: &u64| filter.contains(&Hashed(key));
        assert!(keys.iter().all(is_found), "an item of the window was missed");
        start.wait();
        let started = Instant::now();
        for keys in keys.chunks_exact(BATCH).cycle() {
            hits += if batches {
                filter.contains_batch(Hashed::slice(keys), &mut found)
            } else {
                keys.iter().filter(|key| is_found(key)).count()
            };
            reads += BATCH;
            if stop.load(Relaxed) {
                break;
            }
        }
        assert_eq!(hits, reads, "an item of the window was missed");
        (reads as f64 / started.elapsed().as_secs_f64() / 1e6, reads as f64 / 1e6)
    };
    thread::scope(|scope| {
        let reader = scope.spawn(read);
        scope.spawn(|| {
            bench.cores.pin(1);
            start.wait();
            work();
            stop.store(true, Relaxed);
        });
        reader.join().expect("the reader")
    })
}
