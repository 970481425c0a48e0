//! Every crate with the same keys in the same run: memory, false-positive rate, and speed by one
//! thread, with a million items and in memory; and by several threads, in `shared`.

use guira_harness::{
    BATCH, Keys,
    plot::{Chart, Series},
};

use super::{
    comparison::{Row, Times, comparison},
    shared::SharedFigures,
};
use crate::{
    bench::{Bench, Results, Section},
    memory,
    peers::{self, Candidate, Peer, Size},
    stop,
    threads::Population,
    timing::{BAND_MIDDLES, Clock, PRESENT, STEP, bands, median, over_keys, over_range},
};

/// Lookups of absent keys behind one false-positive rate.
const LOOKUPS: usize = 1 << 24;

/// Size of the tables with a million items, in bytes.
const SMALL: usize = 2 << 20;

/// Number of threads that have keys of their own in each filter.
const POPULATIONS: usize = 4;

/// The keys of all crates.
const KEYS: Keys = Keys::new(11);

#[derive(Default)]
pub struct Peers {
    small: Vec<Row>,
    memory: Vec<Row>,
    shared: SharedFigures,
}

impl Section for Peers {
    fn measure(&mut self, bench: &Bench) {
        let named = peers::names().any(|name| bench.is_named(name));
        let available = peers::ALL.iter().filter(|peer| peer.is_available());
        for peer in available.filter(|peer| !named || bench.is_named(peer.name)) {
            bench.say(peer.name);
            for batches in [false, true] {
                if peer.kernel.is_some() && !batches {
                    continue;
                }
                let rounds = bench.mode.pick(1, 3, 7);
                let rounds: Option<Vec<Row>> =
                    (0..rounds).map(|_| one_thread(bench, peer, SMALL, batches, None)).collect();
                let Some(mut rounds) = rounds else { continue };
                let times: Vec<Times> = rounds.iter().map(|row| row.times).collect();
                let last = rounds.pop().expect("at least one round");
                self.small.push(Row { times: Times::medians(&times), ..last });
                let shared = (!batches).then_some(&mut self.shared);
                self.memory.extend(one_thread(bench, peer, bench.bytes, batches, shared));
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let table = comparison(&self.small, &self.memory, &self.shared);
        results.tables.push(("Comparison with other crates", table));
        self.add_charts(results);
        self.shared.report(results);
    }
}

/// Measures one crate at one size, and, with `shared`, by several threads. Returns `None` if it has
/// no batches.
fn one_thread(
    bench: &Bench,
    peer: &'static Candidate,
    bytes: usize,
    batches: bool,
    shared: Option<&mut SharedFigures>,
) -> Option<Row> {
    // Whole keys take some sixteen times the memory of a fingerprint.
    let fewer = if peer.is_set && bytes > SMALL { 16 } else { 1 };
    let items = bytes / 2 * 94 / 100 / fewer;
    let population = Population::new(KEYS, items as u64, POPULATIONS);
    let before = memory::held();
    let mut filter = (peer.build)(Size { items, bytes });
    if batches && filter.lookup_batch(&[], &mut []).is_none() {
        return None;
    }
    bench.cores.pin(1);
    let mut row = fill(filter.as_mut(), peer, &population, items, before, batches);
    look_up(filter.as_ref(), &population, batches, &mut row);
    if let (Some(figures), Some(filter)) = (shared, filter.shared()) {
        figures.measure(bench, peer, filter, &population);
        bench.cores.pin(1);
    }
    row.times.remove = remove(filter.as_mut(), &population, batches);
    Some(row)
}

/// Inserts all keys of the population.
fn fill(
    filter: &mut dyn Peer,
    peer: &'static Candidate,
    population: &Population,
    items: usize,
    held_before: isize,
    batches: bool,
) -> Row {
    let mut clocks = [Clock::default(); 5];
    let ends: Vec<u64> = bands(items as u64).map(|(_, band)| band.end).collect();
    let (mut inserted, mut fitted, mut can_insert) = (0, 0, true);
    population.blocks(|block| {
        stop::point();
        let band = ends.iter().position(|&end| inserted < end).unwrap_or(4);
        let result = clocks[band].time(block, |block| {
            if batches { filter.insert_batch(block) } else { filter.inserts(block) }
        });
        fitted += result.unwrap_or(0);
        can_insert &= result.is_some();
        inserted += block.len() as u64;
    });
    let whole = clocks.into_iter().fold(Clock::default(), Clock::and).per_key();
    let mut row = Row {
        peer,
        batches,
        bits_per_item: 0.0,
        false_positive_rate: 0.0,
        refused: 0,
        times: Times::NONE,
    };
    let mut held = memory::held() - held_before;
    if can_insert {
        row.refused = inserted as usize - fitted;
        row.times.insert = whole;
        row.times.insert_by_band = clocks.map(|clock| clock.per_key());
    } else {
        let mut keys = Vec::with_capacity(items);
        population.blocks(|block| keys.extend_from_slice(block));
        let mut clock = Clock::default();
        let before = memory::held();
        if clock.time(&keys, |keys| filter.make(keys)).is_some() {
            row.times.insert = clock.per_key();
        }
        held = memory::held() - before;
    }
    row.bits_per_item = held as f64 * 8.0 / inserted as f64;
    row
}

fn look_up(filter: &dyn Peer, population: &Population, batches: bool, row: &mut Row) {
    let mut found = [false; BATCH];
    let mut look = |block: &[u64]| {
        if batches {
            filter.lookup_batch(block, &mut found[..block.len()]).expect("batches")
        } else {
            filter.lookups(block)
        }
    };
    for (time, present) in row.times.lookups.iter_mut().zip(PRESENT) {
        let targets = population.reads(0, present);
        *time = median((0..3).map(|_| over_keys(&targets, &mut look).per_key()));
    }
    let mut hits = 0;
    over_range(KEYS, 1 << 63..(1 << 63) + LOOKUPS as u64, |block| hits += look(block));
    row.false_positive_rate = hits as f64 / LOOKUPS as f64;
}

/// Removes keys that no thread has changed. Returns nanoseconds per key, or NaN.
fn remove(filter: &mut dyn Peer, population: &Population, batches: bool) -> f64 {
    let mine = population.indices(0);
    let until = mine.start + STEP.min((mine.end - mine.start) / 2);
    let (mut removed, mut can_remove) = ([false; BATCH], true);
    let clock = over_range(KEYS, mine.start..until, |block| {
        let result = if batches {
            filter.remove_batch(block, &mut removed[..block.len()])
        } else {
            filter.removes(block)
        };
        can_remove &= result.is_some();
    });
    if can_remove { clock.per_key() } else { f64::NAN }
}

impl Peers {
    fn add_charts(&self, results: &mut Results) {
        let mut lookups = Chart::new("lookups-by-presence", "Lookups by presence, one thread")
            .x("present keys (%)")
            .y("time per lookup (ns)");
        let mut inserts = Chart::new("inserts-by-load", "Inserts by load, one thread")
            .x("load (% of the items)")
            .y("time per insert (ns)")
            .log_y();
        // Locked filters are for several threads; guira's kernels differ only in lookups.
        let is_shown =
            |row: &&Row| row.peer.shares != peers::Shares::Lock && row.peer.kernel.is_none();
        for row in self.memory.iter().filter(is_shown) {
            let look = if row.batches { row.peer.look.variant() } else { row.peer.look };
            let points = PRESENT.map(f64::from).into_iter().zip(row.times.lookups);
            lookups.push(Series::new(look, row.name(), points.collect()));
            if row.times.insert_by_band[0].is_finite() {
                let points = BAND_MIDDLES.into_iter().zip(row.times.insert_by_band);
                inserts.push(Series::new(look, row.name(), points.collect()));
            }
        }
        results.charts.extend([lookups, inserts]);
    }
}
