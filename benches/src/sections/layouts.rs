//! Semi-sorted layouts against plain ones, and maps against sets, with the same slots per bucket:
//! tables of the same size, the same keys, one pinned thread, alternately. And of every layout, the
//! bits per item and the false-positive rate at capacity, measured.

use guira::{CuckooFilter, CuckooMap, Hashed, Layout};
use guira_harness::{BATCH, Keys, Pick, filter_of, table::Table};

use crate::{
    bench::{Bench, Results, Section},
    figure::Figure,
    rounds::Rounds,
    timing::{
        Clock, STEP, get_single, insert_batch, lookup_batch, lookup_single, over_keys, over_range,
        remove_batch, remove_single,
    },
};

/// Each semi-sorted layout and the plain one that it is compared with.
const SEMI_SORTED: [(Layout, Layout); 3] = [
    (Layout::SemiSorted6x12, Layout::Plain6x10),
    (Layout::SemiSorted5x14, Layout::Plain5x12),
    (Layout::SemiSorted4x17, Layout::Plain4x16),
];

/// Operations of which the worst layout has a figure.
const FIGURES: [&str; 8] = [
    "lookup, 0 % present, single",
    "lookup, 50 % present, single",
    "lookup, 100 % present, single",
    "lookup, 0 % present, batch",
    "lookup, 50 % present, batch",
    "lookup, 100 % present, batch",
    "insert, empty to capacity, batch",
    "remove, batch",
];

#[derive(Default)]
pub struct SemiSorted(Rounds);

impl Section for SemiSorted {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(1);
        for round in 0..bench.rounds {
            bench.say(format!("semi-sorted layouts, round {} of {}", round + 1, bench.rounds));
            for (semi_sorted, plain) in SEMI_SORTED {
                compare_layouts(bench, semi_sorted, plain, round as u64, &mut self.0);
            }
        }
    }

    fn report(&self, results: &mut Results) {
        for what in FIGURES {
            let worst = self.0.greatest(|name| name.contains(what));
            let figure = Figure::new(format!("semi-sorted: {what}"), worst.times, "of plain");
            results.figures.push(figure.note(format!("worst: {}", worst.name)));
        }
        let head = ["semi-sorted, one thread", "ns", "plain, ns", "of plain"];
        let table = self.0.table("semi-sorted", head, 1);
        results.tables.push(("Semi-sorted layouts against plain ones", table));
    }
}

/// Fills, looks up and removes, in both layouts alternately.
fn compare_layouts(
    bench: &Bench,
    semi_sorted: Layout,
    plain: Layout,
    round: u64,
    rounds: &mut Rounds,
) {
    let filters = [semi_sorted, plain].map(|layout| filter_of(layout, bench.bytes));
    let items = filters[0].capacity().min(filters[1].capacity()) as u64;
    let keys = Keys::new(round);
    let mut note = |what: &str, work: &mut dyn FnMut(&CuckooFilter) -> Clock| {
        let [semi, plain] = filters.each_ref().map(|filter| work(filter).per_key());
        rounds.note(format!("{semi_sorted:?}: {what}"), semi, plain);
    };
    note("insert, empty to capacity, batch", &mut |filter| insert_batch(filter, keys, 0..items));
    for present in [0, 50, 100] {
        for pass in 0..3 {
            let targets = keys.pick(STEP as usize, Pick { present, inserted: (0, items) }, pass);
            let lookup = format!("lookup, {present} % present");
            note(&format!("{lookup}, batch"), &mut |filter| lookup_batch(filter, &targets).0);
            note(&format!("{lookup}, single"), &mut |filter| lookup_single(filter, &targets).0);
        }
    }
    let step = STEP.min(items / 20);
    note("remove, batch", &mut |filter| remove_batch(filter, keys, 0..step));
    note("remove, single", &mut |filter| remove_single(filter, keys, step..2 * step));
}

/// The layout of each set, and the bits of a value of the map that it is compared with.
const MAPS: [(Layout, u32); 3] =
    [(Layout::Plain4x16, 8), (Layout::Plain5x12, 4), (Layout::Plain6x10, 2)];

/// Size in bytes of a table that stays in a second-level cache.
const CACHED: usize = 256 << 10;

#[derive(Default)]
pub struct Map(Rounds);

impl Section for Map {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(1);
        for round in 0..bench.rounds {
            bench.say(format!("maps, round {} of {}", round + 1, bench.rounds));
            for pair in MAPS {
                compare_map(("in L2", CACHED), pair, round as u64, &mut self.0);
                compare_map(("in memory", bench.bytes), pair, round as u64, &mut self.0);
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let table = self.0.table("map", ["map, one thread", "ns", "set, ns", "of the set"], 1);
        results.tables.push(("Maps against sets", table));
    }
}

/// Fills a map and a set with the same keys, and looks up in both alternately.
fn compare_map(
    (place, bytes): (&str, usize),
    (layout, bits): (Layout, u32),
    round: u64,
    rounds: &mut Rounds,
) {
    let set = filter_of(layout, bytes);
    let items = set.capacity() as u64;
    let valued = Layout::with_values(layout.slots_per_bucket(), bits).expect("a layout");
    let map = CuckooMap::builder().capacity(set.capacity()).layout(valued).seed(1).build();
    let map = map.expect("memory");
    let keys = Keys::new(round);
    keys.blocks(0..items, |block| {
        let values: Vec<u16> = block.iter().map(|key| (key % (1 << bits)) as u16).collect();
        map.insert_batch(Hashed::slice(block), &values).expect("room");
    });
    insert_batch(&set, keys, 0..items);
    let mut note = |what: &str, of_map: Clock, of_set: Clock| {
        let name = format!("{layout:?}, {place}: {what}");
        rounds.note(name, of_map.per_key(), of_set.per_key());
    };
    let mut got = [None; BATCH];
    for present in [0, 50, 100] {
        for pass in 0..3 {
            let targets = keys.pick(STEP as usize, Pick { present, inserted: (0, items) }, pass);
            let of_map = over_keys(&targets, |block| {
                map.get_batch(Hashed::slice(block), &mut got[..block.len()])
            });
            let of_set = lookup_batch(&set, &targets).0;
            note(&format!("get, batch, {present} % present"), of_map, of_set);
            let of_map = get_single(&map, &targets).0;
            let of_set = lookup_single(&set, &targets).0;
            note(&format!("get, single, {present} % present"), of_map, of_set);
        }
    }
}

/// Lookups of absent keys behind one rate: about thirty false positives of the rarest kind.
const LOOKUPS: u64 = 20_000_000;

/// Rows of the table.
#[derive(Default)]
pub struct Space(Vec<Vec<String>>);

impl Section for Space {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(1);
        let lookups = bench.mode.pick(LOOKUPS / 10, LOOKUPS, LOOKUPS);
        for &layout in Layout::ALL {
            bench.say(format!("bits per item and rate of {layout:?}"));
            let filter = filter_of(layout, bench.bytes);
            let items = filter.capacity() as u64;
            let keys = Keys::new(3);
            insert_batch(&filter, keys, 0..items);
            let (mut found, mut positives) = ([false; BATCH], 0);
            over_range(keys, items..items + lookups, |block| {
                positives += filter.contains_batch(Hashed::slice(block), &mut found[..block.len()]);
            });
            // The buckets alone: without the address space for their alignment.
            let buckets = filter.slots() / layout.slots_per_bucket() as usize;
            let bits = 64.0 * buckets as f64 / items as f64;
            let rate = positives as f64 / lookups as f64;
            let above = bits + rate.log2();
            let (bits, percent) = (format!("{bits:.2}"), format!("{:.5} %", 100.0 * rate));
            self.0.push(vec![format!("{layout:?}"), bits, percent, format!("{above:.2}")]);
        }
    }

    fn report(&self, results: &mut Results) {
        let head = ["layout", "bits per item", "rate", "bits above log2(1/rate)"];
        let table = Table { rows: self.0.clone(), ..Table::new("space", &head) };
        results.tables.push(("Bits per item and false-positive rate at capacity", table));
    }
}
