//! Every peer with the same keys in the same run: memory, rate, and speed by one thread; and, of those
//! that threads can share, what `shared` measures.

use super::{
    Bench, Results,
    shared::SharedFigures,
    timing::{BAND_MIDDLES, Clock, PRESENT, STEP, bands, median, over_keys, over_range},
};
use crate::{
    common::{BATCH, Keys, threads::Population},
    memory,
    peers::{self, Candidate, Peer, Size},
    plot::{Chart, Series},
    table::{Table, cell},
};

/// Absent keys that a false-positive rate is counted over.
const RATE_OVER: usize = 1 << 22;

/// The keys of all peers.
const KEYS: Keys = Keys::new(11);

pub fn run(bench: &Bench, results: &mut Results) {
    let mut field = Field::new();
    let mut shared = SharedFigures::new(bench);
    let named = peers::ALL.iter().any(|peer| !bench.only.is_empty() && bench.wants(peer.name));
    for peer in peers::ALL.iter().filter(|peer| !named || bench.wants(peer.name)) {
        bench.say(peer.name);
        // Whole keys take some sixteen times the memory.
        let items = bench.bytes / 2 * 94 / 100 / if peer.is_set { 16 } else { 1 };
        let population = Population::new(KEYS, items as u64, shared.most_threads());
        for batches in [false, true] {
            if peer.is_variant && !batches {
                continue;
            }
            let before = memory::taken();
            let mut filter = (peer.build)(Size { items, bytes: bench.bytes });
            if batches && filter.lookup_batch(&[], &mut []).is_none() {
                continue;
            }
            bench.cores.pin(1);
            let mut found = fill(filter.as_mut(), &population, items, before, batches);
            look_up(filter.as_ref(), &population, batches, &mut found);
            if !batches && let Some(filter) = filter.shared() {
                shared.measure(bench, peer, filter, &population);
                bench.cores.pin(1);
            }
            found.remove = remove(filter.as_mut(), &population, batches);
            field.add(peer, items, batches, &found);
        }
    }
    field.finish(results);
    shared.finish(results);
}

/// What one thread has of a peer; times in nanoseconds per key.
#[derive(Default)]
struct Figures {
    bits_per_item: f64,
    false_positive_rate: f64,
    refused: usize,
    insert: Option<f64>,
    insert_by_band: Option<[f64; 5]>,
    lookups: [f64; 5],
    remove: Option<f64>,
}

/// Inserts all keys of the population.
fn fill(
    filter: &mut dyn Peer,
    population: &Population,
    items: usize,
    taken_before: isize,
    batches: bool,
) -> Figures {
    let mut clocks = [Clock::default(); 5];
    let ends: Vec<u64> = bands(items as u64).map(|(_, band)| band.end).collect();
    let (mut inserted, mut fitted, mut can_insert) = (0, 0, true);
    population.blocks(|block| {
        let band = ends.iter().position(|&end| inserted < end).unwrap_or(4);
        let result = clocks[band].time(block, |block| {
            if batches { filter.insert_batch(block) } else { filter.inserts(block) }
        });
        fitted += result.unwrap_or(0);
        can_insert &= result.is_some();
        inserted += block.len() as u64;
    });
    let whole = clocks.into_iter().fold(Clock::default(), Clock::and).per_key();
    let mut figures = Figures::default();
    let mut taken = memory::taken() - taken_before;
    if can_insert {
        figures.refused = inserted as usize - fitted;
        figures.insert = Some(whole);
        figures.insert_by_band = Some(clocks.map(|clock| clock.per_key()));
    } else {
        let mut keys = Vec::with_capacity(items);
        population.blocks(|block| keys.extend_from_slice(block));
        let mut clock = Clock::default();
        let before = memory::taken();
        if clock.time(&keys, |keys| filter.make(keys)).is_some() {
            figures.insert = Some(clock.per_key());
        }
        taken = memory::taken() - before;
    }
    figures.bits_per_item = taken as f64 * 8.0 / inserted as f64;
    figures
}

fn look_up(filter: &dyn Peer, population: &Population, batches: bool, figures: &mut Figures) {
    let mut found = [false; BATCH];
    let mut look = |block: &[u64]| {
        if batches {
            filter.lookup_batch(block, &mut found[..block.len()]).expect("batches")
        } else {
            filter.lookups(block)
        }
    };
    for (time, present) in figures.lookups.iter_mut().zip(PRESENT) {
        let asked = population.reads(0, present);
        *time = median((0..3).map(|_| over_keys(&asked, &mut look).per_key()));
    }
    let mut hits = 0;
    KEYS.blocks(1 << 63..(1 << 63) + RATE_OVER as u64, |block| hits += look(block));
    figures.false_positive_rate = hits as f64 / RATE_OVER as f64;
}

/// Takes out keys that no thread has changed.
fn remove(filter: &mut dyn Peer, population: &Population, batches: bool) -> Option<f64> {
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
    can_remove.then(|| clock.per_key())
}

/// The table and the plots.
struct Field {
    table: Table,
    lookups: Chart,
    inserts: Chart,
    space: Chart,
}

impl Field {
    fn new() -> Self {
        let head = [
            "one thread, ns",
            "items",
            "bits per item",
            "false positives, %",
            "refused",
            "insert, all",
            "insert, last 5 %",
            "look-up, 0 % present",
            "50 %",
            "100 %",
            "remove",
        ];
        Self {
            table: Table::new("peers", &head),
            lookups: Chart::new("lookups-by-presence", "Look-ups by presence, one thread")
                .x("keys present (%)")
                .y("time per look-up (ns)"),
            inserts: Chart::new("inserts-by-load", "Inserts by load, one thread")
                .x("load (% of the items, middle of the band)")
                .y("time per insert (ns)")
                .log_y(),
            space: Chart::new("bits-per-item-by-rate", "Memory by measured false-positive rate")
                .x("false-positive rate (%)")
                .y("memory (bits per item)")
                .log_x(),
        }
    }

    fn add(&mut self, peer: &Candidate, items: usize, batches: bool, found: &Figures) {
        let name = if batches { format!("{}, batch", peer.name) } else { peer.name.to_string() };
        self.table.push(vec![
            name.clone(),
            items.to_string(),
            format!("{:.1}", found.bits_per_item),
            format!("{:.4}", found.false_positive_rate * 100.0),
            found.refused.to_string(),
            cell(found.insert, 1),
            cell(found.insert_by_band.map(|bands| bands[4]), 1),
            cell(Some(found.lookups[0]), 1),
            cell(Some(found.lookups[2]), 1),
            cell(Some(found.lookups[4]), 1),
            cell(found.remove, 1),
        ]);
        // The plots show one layout of guira, and locks only where there are threads: the others
        // differ little in speed.
        let is_a_lock = peer.name.starts_with("RwLock");
        let nth = if batches { peers::ALL.len() } else { peer.nth() };
        if !peer.is_variant && !is_a_lock {
            let points = PRESENT.map(f64::from).into_iter().zip(found.lookups).collect();
            self.lookups.push(Series::line(nth, name.clone(), points));
            if let Some(bands) = found.insert_by_band {
                let points = BAND_MIDDLES.into_iter().zip(bands).collect();
                self.inserts.push(Series::line(nth, name.clone(), points));
            }
        }
        if (!batches || peer.is_variant) && !is_a_lock && found.false_positive_rate > 0.0 {
            let point = (found.false_positive_rate * 100.0, found.bits_per_item);
            self.space.push(Series::line(peer.nth(), peer.name, vec![point]));
        }
    }

    fn finish(mut self, results: &mut Results) {
        let rates = (0..=36).map(|i| 0.001 * 10_f64.powf(f64::from(i) / 9.0));
        let limit = rates.map(|percent| (percent, -(percent / 100.0).log2())).collect();
        self.space.push(Series::guide("information limit", limit));
        results.tables.push(self.table);
        results.charts.extend([self.lookups, self.inserts, self.space]);
    }
}
