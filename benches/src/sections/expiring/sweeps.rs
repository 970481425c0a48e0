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
use guira_harness::{BATCH, Pick};

use super::filled::{Filled, SMALL};
use crate::{
    bench::{Bench, Results, Section},
    rounds::{Readers, Rounds},
    timing::milliseconds,
};

/// Generations that begin during one measurement. The youngest items are visible for 13 of them, in
/// two measurements.
const ADVANCES: u32 = 6;

/// Keys that the reader looks up, over and over.
const READ: usize = 1 << 18;

#[derive(Default)]
pub struct Sweeps {
    readers: Readers,
    /// Milliseconds that it takes to begin a generation right after a sweep of the whole table, and
    /// with a whole table to sweep.
    advances: Rounds,
}

impl Section for Sweeps {
    fn measure(&mut self, bench: &Bench) {
        for bytes in [SMALL, bench.bytes] {
            self.measure_table(bench, bytes);
        }
    }

    fn report(&self, results: &mut Results) {
        for name in self.readers.names() {
            results.figures.push(self.readers.figure(name, "sweeps without a pause"));
        }
        let head = ["advance", "after a sweep of the whole table, ms", "with it, ms", "times"];
        let table = self.advances.table("expiring-advance", head, 3);
        results.tables.push(("Items that expire: beginning a generation", table));
    }
}

impl Sweeps {
    /// Measures tables of about this many bytes.
    fn measure_table(&mut self, bench: &Bench, bytes: usize) {
        let place = format!("{} MiB", bytes >> 20);
        let [single, batch] = ["single", "batch"]
            .map(|how| format!("expiring: a reader beside sweeps, {how}, {place}"));
        // A sweep of a small table takes less than a millisecond.
        let repeats = if bytes < bench.bytes { 20 } else { 1 };
        for round in 0..bench.rounds * repeats {
            bench.say(format!("expiring, sweeps, {place}, round {}", round + 1));
            let (mine, other) = (Filled::new(bytes, 1), Filled::new(bytes, 2));
            let mut unswept = Vec::new();
            for (name, batches) in [(&single, false), (&batch, true)] {
                let mut lookups = 0.0;
                let mut run = |sweep: &mut (dyn FnMut() + Send)| {
                    let (speed, reads) = read_beside(bench, &mine, batches, sweep);
                    lookups += reads;
                    speed
                };
                let mut times = Vec::new();
                let own = run(&mut || times = advance(&mine));
                let whole = Duration::from_secs_f64(times.iter().sum::<f64>() / 1e3);
                let other = run(&mut || drop(advance(&other)));
                let alone = run(&mut || thread::sleep(whole));
                self.readers.note(name, [own, other, alone], lookups);
                unswept.extend(times);
            }
            mine.filter.sweep(u64::MAX);
            let swept = milliseconds(|| mine.filter.advance());
            for unswept in unswept {
                self.advances.note(&place, swept, unswept);
            }
        }
    }
}

/// Begins generations one after another, each of which sweeps the table. Returns the time of each,
/// in milliseconds.
fn advance(filled: &Filled) -> Vec<f64> {
    (0..ADVANCES).map(|_| milliseconds(|| filled.filter.advance())).collect()
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
