//! How full tables get: the load at the first refused insert, and the experiments behind
//! `src/table/choice/sizing.rs`.

use guira::{
    CuckooFilter, CuckooMap, Hashed, Layout,
    raw::{FixedTable as Buckets, FixedWords, Payload, Slots},
};
use guira_harness::table::Table;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use rayon::prelude::*;

use crate::{
    bench::{Bench, Results, Section},
    stop,
};

/// Returns the layouts without values, and those of maps whose slots no layout without values has.
/// Their values make no difference to how full tables get, and have 8 bits.
fn sized_layouts() -> impl Iterator<Item = Layout> {
    let of_maps = [3, 2].into_iter().filter_map(|slots| Layout::with_values(slots, 8));
    Layout::ALL.iter().copied().chain(of_maps)
}

/// Inserts random items into a new table until it refuses one. Returns how many it holds.
fn items_until_full(slots: Slots, buckets: u64, rng: &mut SmallRng) -> u64 {
    let table = Buckets::new(slots, buckets, Payload::NONE, true).expect("memory");
    let mut items = 0;
    while table.insert::<FixedWords>(table.addressing().pair(rng.random())).is_ok() {
        items += 1;
    }
    items
}

/// Fills many tables of a layout, on all cores. Returns their numbers of items, ascending.
fn sample(layout: Layout, buckets: u64, tables: usize) -> Vec<u64> {
    let slots = match layout.value_bits() {
        0 => layout.slots(),
        // Whole slots, since values make no difference.
        bits => Slots::plain(layout.slots_per_bucket(), layout.fingerprint_bits() + bits, 0),
    };
    let fill = |table| {
        let mut rng = SmallRng::seed_from_u64(buckets << 32 | table as u64);
        (!stop::point()).then(|| items_until_full(slots, buckets, &mut rng))
    };
    let mut all: Vec<u64> = (0..tables).into_par_iter().filter_map(fill).collect();
    // A stop leaves too few tables.
    stop::point();
    all.sort_unstable();
    all
}

/// The rows of the table of the loads at the first refused insert.
#[derive(Default)]
pub struct Loads(Vec<Vec<String>>);

impl Section for Loads {
    fn measure(&mut self, bench: &Bench) {
        let buckets = bench.mode.pick(1 << 16, 1 << 20, 1 << 20);
        let tables = bench.mode.pick(2, 2, 10);
        for layout in sized_layouts() {
            bench.say(format!("load at the first refused insert, {layout:?}"));
            let slots = buckets * u64::from(layout.slots_per_bucket()) * tables as u64;
            let items: u64 = sample(layout, buckets, tables).iter().sum();
            let mean = 100.0 * items as f64 / slots as f64;
            let counts = [buckets, tables as u64].map(|it| it.to_string());
            self.0.push(
                [vec![format!("{layout:?}")], counts.into(), vec![format!("{mean:.2}")]].concat(),
            );
        }
    }

    fn report(&self, results: &mut Results) {
        let table = Table {
            rows: self.0.clone(),
            ..Table::new("first-refusal", &["layout", "buckets", "tables", "mean load, %"])
        };
        results.tables.push(("Load at the first refused insert", table));
    }
}

/// Largest capacity of the filters.
const LARGEST: usize = 3_000;

/// Columns of the items that fit.
const FITS: [&str; 11] = [
    "layout",
    "buckets",
    "slots",
    "tables",
    "least",
    "1e-4",
    "1e-3",
    "1e-2",
    "median",
    "load at 1e-4, %",
    "load at the median, %",
];

/// Tables per size at most.
const TABLES: u64 = 400_000;

/// The rows of the table of filters that refuse an item below their capacity.
#[derive(Default)]
pub struct Capacity(Vec<Vec<String>>);

impl Section for Capacity {
    fn measure(&mut self, bench: &Bench) {
        let tables = bench.mode.pick(20, 100, 100_000);
        let mut capacities: Vec<usize> = (5..40).collect();
        let larger = (0..).map(|i| (40.0 * f64::exp2(f64::from(i) / 3.0)) as usize);
        capacities.extend(larger.take_while(|&capacity| capacity <= LARGEST));
        for layout in sized_layouts() {
            bench.say(format!("filters that refuse an item below their capacity, {layout:?}"));
            for &capacity in &capacities {
                let refused = refusals(layout, capacity, tables);
                stop::point();
                let share = format!("{:.2}", 1e4 * refused as f64 / tables as f64);
                let counts = [capacity, tables, refused].map(|it| it.to_string());
                self.0.push([vec![format!("{layout:?}")], counts.into(), vec![share]].concat());
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let head = ["layout", "capacity", "tables", "refused an item", "per 10 000"];
        let table = Table { rows: self.0.clone(), ..Table::new("capacity", &head) };
        results.tables.push(("Filters that refuse an item below their capacity", table));
    }
}

/// Builds filters for a capacity, and counts those that refuse one of as many random items.
fn refusals(layout: Layout, capacity: usize, tables: usize) -> usize {
    let refuses = |&table: &usize| {
        if stop::point() {
            return false;
        }
        let mut rng = SmallRng::seed_from_u64((capacity << 32 | table) as u64);
        let seed = rng.random();
        if Layout::ALL.contains(&layout) {
            let filter = CuckooFilter::builder().capacity(capacity).layout(layout);
            let filter = filter.seed(seed).build().expect("memory");
            (0..capacity).any(|_| filter.insert(&Hashed(rng.random())).is_err())
        } else {
            let map = CuckooMap::builder().capacity(capacity).layout(layout);
            let map = map.value_bits(layout.value_bits()).seed(seed).build().expect("memory");
            (0..capacity).any(|_| map.insert(&Hashed(rng.random()), 0).is_err())
        }
    };
    (0..tables).into_par_iter().filter(refuses).count()
}

/// The rows of the table of items that fit into small tables; `src/table/choice/sizing.rs` is
/// fitted to them.
#[derive(Default)]
pub struct Quantile(Vec<Vec<String>>);

impl Section for Quantile {
    fn measure(&mut self, bench: &Bench) {
        // Slots that are filled for each size, in all tables together.
        let budget = bench.mode.pick(500_000, 20_000_000, 2_000_000_000);
        let fewest = bench.mode.pick(10, 200, 2_000);
        for layout in sized_layouts() {
            // Half octaves: 1, 2, 3, 4, 6, 8, …
            for half_octave in [0].into_iter().chain(2..) {
                let buckets = f64::exp2(f64::from(half_octave) / 2.0).round() as u64;
                let tables =
                    (budget / (buckets * u64::from(layout.slots_per_bucket()))).min(TABLES);
                if tables < fewest {
                    break;
                }
                bench.say(format!("items that fit into {buckets} buckets, {layout:?}"));
                let items = sample(layout, buckets, tables as usize);
                let slots = buckets * u64::from(layout.slots_per_bucket());
                let at = |share: f64| items[(share * items.len() as f64) as usize];
                let load = |share| format!("{:.2}", 100.0 * at(share) as f64 / slots as f64);
                let counts = [buckets, slots, items.len() as u64, items[0]];
                let counts = counts.into_iter().chain([1e-4, 1e-3, 1e-2, 0.5].map(at));
                let counts = counts.map(|it| it.to_string());
                let cells = [format!("{layout:?}")].into_iter().chain(counts);
                self.0.push(cells.chain([load(1e-4), load(0.5)]).collect());
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let table = Table { rows: self.0.clone(), ..Table::new("quantile", &FITS) };
        results.tables.push(("Items that fit into small tables", table));
    }
}
