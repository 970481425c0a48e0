//! Every crate with the same keys in the same run: memory, false-positive rate, and speed by one
//! thread, with a million items and in memory; and by several threads, in `shared`.

use guira_harness::{
    BATCH, Keys,
    plot::{Chart, Series},
    table::{Table, cell},
};

use super::{
    comparison::{self, Row},
    shared::{SharedFigures, most_threads},
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
                if peer.is_variant && !batches {
                    continue;
                }
                let rounds = bench.mode.pick(1, 3, 7);
                let rounds: Option<Vec<Row>> =
                    (0..rounds).map(|_| one_thread(bench, peer, SMALL, batches, None)).collect();
                let Some(rounds) = rounds else { continue };
                self.small.extend(medians(rounds));
                let shared = (!batches).then_some(&mut self.shared);
                self.memory.extend(one_thread(bench, peer, bench.bytes, batches, shared));
            }
        }
    }

    fn report(&self, results: &mut Results) {
        results.tables.push(comparison::table(&self.small, &self.memory, &self.shared));
        results.tables.push(table("peers-small", &self.small));
        results.tables.push(table("peers", &self.memory));
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
    let population = Population::new(KEYS, items as u64, most_threads(bench));
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
    row.remove = remove(filter.as_mut(), &population, batches);
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
        items,
        bits_per_item: 0.0,
        false_positive_rate: 0.0,
        refused: 0,
        insert: None,
        insert_by_band: None,
        lookups: [0.0; 5],
        remove: None,
    };
    let mut held = memory::held() - held_before;
    if can_insert {
        row.refused = inserted as usize - fitted;
        row.insert = Some(whole);
        row.insert_by_band = Some(clocks.map(|clock| clock.per_key()));
    } else {
        let mut keys = Vec::with_capacity(items);
        population.blocks(|block| keys.extend_from_slice(block));
        let mut clock = Clock::default();
        let before = memory::held();
        if clock.time(&keys, |keys| filter.make(keys)).is_some() {
            row.insert = Some(clock.per_key());
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
    for (time, present) in row.lookups.iter_mut().zip(PRESENT) {
        let targets = population.reads(0, present);
        *time = median((0..3).map(|_| over_keys(&targets, &mut look).per_key()));
    }
    let mut hits = 0;
    over_range(KEYS, 1 << 63..(1 << 63) + LOOKUPS as u64, |block| hits += look(block));
    row.false_positive_rate = hits as f64 / LOOKUPS as f64;
}

/// Removes keys that no thread has changed.
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

/// Returns the medians of several rounds of one crate.
fn medians(rounds: Vec<Row>) -> Option<Row> {
    let of = |figure: &dyn Fn(&Row) -> Option<f64>| {
        let figures: Option<Vec<f64>> = rounds.iter().map(figure).collect();
        figures.map(median)
    };
    let insert = of(&|row| row.insert);
    let remove = of(&|row| row.remove);
    let band = |nth: usize| of(&|row| Some(row.insert_by_band?[nth]));
    let bands = [0, 1, 2, 3, 4].map(band);
    let lookups = [0, 1, 2, 3, 4].map(|nth| of(&|row| Some(row.lookups[nth])).unwrap_or(f64::NAN));
    let insert_by_band =
        bands.iter().all(Option::is_some).then(|| bands.map(|band| band.unwrap_or(f64::NAN)));
    let last = rounds.into_iter().last()?;
    Some(Row { insert, insert_by_band, lookups, remove, ..last })
}

fn table(name: &'static str, rows: &[Row]) -> Table {
    let head = [
        "one thread, ns",
        "items",
        "bits per item",
        "false positives, %",
        "refused",
        "insert, all",
        "insert, last 5 %",
        "lookup, 0 % present",
        "50 %",
        "100 %",
        "remove",
    ];
    let mut table = Table::new(name, &head);
    for row in rows {
        table.push(vec![
            row.name(),
            row.items.to_string(),
            format!("{:.1}", row.bits_per_item),
            format!("{:.4}", row.false_positive_rate * 100.0),
            row.refused.to_string(),
            cell(row.insert, 1),
            cell(row.insert_by_band.map(|bands| bands[4]), 1),
            cell(Some(row.lookups[0]), 1),
            cell(Some(row.lookups[2]), 1),
            cell(Some(row.lookups[4]), 1),
            cell(row.remove, 1),
        ]);
    }
    table
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
        let mut space = Chart::new("bits-per-item-by-rate", "Memory by false-positive rate")
            .x("false-positive rate (%)")
            .y("memory (bits per item)")
            .log_x();
        // Locked filters are for several threads; guira's layouts differ little in speed.
        for row in self.memory.iter().filter(|row| row.peer.shares != peers::Shares::Lock) {
            let look = if row.batches { row.peer.look.variant() } else { row.peer.look };
            if !row.peer.is_variant {
                let points = PRESENT.map(f64::from).into_iter().zip(row.lookups).collect();
                lookups.push(Series::new(look, row.name(), points));
                let points = |bands| BAND_MIDDLES.into_iter().zip(bands).collect();
                if let Some(bands) = row.insert_by_band {
                    inserts.push(Series::new(look, row.name(), points(bands)));
                }
            }
            let is_new = !row.batches || row.peer.is_variant && row.peer.kernel.is_none();
            if is_new && row.false_positive_rate > 0.0 {
                let point = (row.false_positive_rate * 100.0, row.bits_per_item);
                space.push(Series::new(row.peer.look, row.peer.name, vec![point]));
            }
        }
        let rates = (0..=36).map(|i| 0.001 * 10_f64.powf(f64::from(i) / 9.0));
        let limit = rates.map(|percent| (percent, -(percent / 100.0).log2())).collect();
        space.push(Series::guide("information limit", limit));
        results.charts.extend([lookups, inserts, space]);
    }
}
