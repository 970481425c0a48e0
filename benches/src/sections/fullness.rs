//! How full tables get: the load at the first refused insert, and the experiments behind
//! `src/table/sizing.rs`.

use guira::{
    CuckooFilter, CuckooMap, Hashed, Layout,
    raw::{Addressing, BucketLayout, FixedTable as Buckets, Plain, SemiSorted},
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
fn items_until_full<L: BucketLayout>(buckets: u64, rng: &mut SmallRng) -> u64 {
    let table = Buckets::new(Addressing::new(buckets), true).expect("memory");
    let mut items = 0;
    while table.insert::<L>(table.addressing().pair::<L>(rng.random())).is_ok() {
        items += 1;
    }
    items
}

/// Fills many tables, on all cores. Returns their numbers of items, ascending.
fn sample_of<L: BucketLayout>(buckets: u64, tables: usize) -> Vec<u64> {
    let fill = |table| {
        let mut rng = SmallRng::seed_from_u64(buckets << 32 | table as u64);
        (!stop::point()).then(|| items_until_full::<L>(buckets, &mut rng))
    };
    let mut all: Vec<u64> = (0..tables).into_par_iter().filter_map(fill).collect();
    // A stop leaves too few tables.
    stop::point();
    all.sort_unstable();
    all
}

/// Fills many tables of a layout. Returns their numbers of items, ascending.
fn sample(layout: Layout, buckets: u64, tables: usize) -> Vec<u64> {
    match layout {
        Layout::Plain8x8 => sample_of::<Plain<8, 8>>(buckets, tables),
        Layout::Plain6x10 => sample_of::<Plain<6, 10>>(buckets, tables),
        Layout::Plain5x12 => sample_of::<Plain<5, 12>>(buckets, tables),
        Layout::Plain4x16 => sample_of::<Plain<4, 16>>(buckets, tables),
        Layout::SemiSorted6x12 => sample_of::<SemiSorted<6, 12>>(buckets, tables),
        Layout::SemiSorted5x14 => sample_of::<SemiSorted<5, 14>>(buckets, tables),
        Layout::SemiSorted4x17 => sample_of::<SemiSorted<4, 17>>(buckets, tables),
        Layout::SemiSorted3x22 => sample_of::<SemiSorted<3, 22>>(buckets, tables),
        Layout::Valued3x21 { .. } => sample_of::<Plain<3, 21>>(buckets, tables),
        Layout::Valued2x32 { .. } => sample_of::<Plain<2, 32>>(buckets, tables),
        other => panic!("{other:?} is not measured yet"),
    }
}

/// Loads in per cent of the slots, ascending.
struct Load {
    layout: Layout,
    buckets: u64,
    loads: Vec<f64>,
}

#[derive(Default)]
pub struct Loads(Vec<Load>);

impl Section for Loads {
    fn measure(&mut self, bench: &Bench) {
        let buckets = bench.mode.pick(1 << 16, 1 << 20, 1 << 20);
        let tables = bench.mode.pick(2, 2, 10);
        for layout in sized_layouts() {
            bench.say(format!("load at the first refused insert, {layout:?}"));
            let slots = (buckets * u64::from(layout.slots_per_bucket())) as f64;
            let items = sample(layout, buckets, tables);
            let loads = items.iter().map(|&items| 100.0 * items as f64 / slots).collect();
            self.0.push(Load { layout, buckets, loads });
        }
    }

    fn report(&self, results: &mut Results) {
        let mean = |row: &Load| row.loads.iter().sum::<f64>() / row.loads.len() as f64;
        let table = Table::of(
            "first-refusal",
            &self.0,
            &[
                ("layout", &|row| format!("{:?}", row.layout)),
                ("buckets", &|row| row.buckets.to_string()),
                ("tables", &|row| row.loads.len().to_string()),
                ("mean load, %", &|row| format!("{:.2}", mean(row))),
            ],
        );
        results.tables.push(("Load at the first refused insert", table));
    }
}

/// Largest capacity of the filters.
const LARGEST: usize = 3_000;

/// Tables per size at most.
const TABLES: u64 = 400_000;

/// Filters of one capacity.
struct Refusals {
    layout: Layout,
    capacity: usize,
    tables: usize,
    refused: usize,
}

/// Filters that refuse an item below their capacity.
#[derive(Default)]
pub struct Capacity(Vec<Refusals>);

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
                self.0.push(Refusals { layout, capacity, tables, refused });
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let share = |row: &Refusals| 1e4 * row.refused as f64 / row.tables as f64;
        let table = Table::of(
            "capacity",
            &self.0,
            &[
                ("layout", &|row| format!("{:?}", row.layout)),
                ("capacity", &|row| row.capacity.to_string()),
                ("tables", &|row| row.tables.to_string()),
                ("refused an item", &|row| row.refused.to_string()),
                ("per 10 000", &|row| format!("{:.2}", share(row))),
            ],
        );
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

/// Tables of one size.
struct Fit {
    layout: Layout,
    buckets: u64,
    /// Items that fitted, ascending.
    items: Vec<u64>,
}

impl Fit {
    fn slots(&self) -> u64 {
        self.buckets * u64::from(self.layout.slots_per_bucket())
    }
}

/// Items that fit into small tables; `src/table/sizing.rs` is fitted to them.
#[derive(Default)]
pub struct Quantile(Vec<Fit>);

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
                self.0.push(Fit { layout, buckets, items });
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let at = |fit: &Fit, share: f64| fit.items[(share * fit.items.len() as f64) as usize];
        let load =
            |fit: &Fit, share| format!("{:.2}", 100.0 * at(fit, share) as f64 / fit.slots() as f64);
        let table = Table::of(
            "quantile",
            &self.0,
            &[
                ("layout", &|fit| format!("{:?}", fit.layout)),
                ("buckets", &|fit| fit.buckets.to_string()),
                ("slots", &|fit| fit.slots().to_string()),
                ("tables", &|fit| fit.items.len().to_string()),
                ("least", &|fit| fit.items[0].to_string()),
                ("1e-4", &|fit| at(fit, 1e-4).to_string()),
                ("1e-3", &|fit| at(fit, 1e-3).to_string()),
                ("1e-2", &|fit| at(fit, 1e-2).to_string()),
                ("median", &|fit| at(fit, 0.5).to_string()),
                ("load at 1e-4, %", &|fit| load(fit, 1e-4)),
                ("load at the median, %", &|fit| load(fit, 0.5)),
            ],
        );
        results.tables.push(("Items that fit into small tables", table));
    }
}
