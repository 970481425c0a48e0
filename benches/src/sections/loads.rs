//! How full tables get: the load at the first refused insert.

use guira::{
    Layout,
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
pub fn sized_layouts() -> impl Iterator<Item = Layout> {
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
pub fn sample(layout: Layout, buckets: u64, tables: usize) -> Vec<u64> {
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
struct Row {
    layout: Layout,
    buckets: u64,
    loads: Vec<f64>,
}

#[derive(Default)]
pub struct Loads(Vec<Row>);

impl Section for Loads {
    fn measure(&mut self, bench: &Bench) {
        let buckets = bench.mode.pick(1 << 16, 1 << 20, 1 << 20);
        let tables = bench.mode.pick(2, 2, 10);
        for layout in sized_layouts() {
            bench.say(format!("load at the first refused insert, {layout:?}"));
            let slots = (buckets * u64::from(layout.slots_per_bucket())) as f64;
            let items = sample(layout, buckets, tables);
            let loads = items.iter().map(|&items| 100.0 * items as f64 / slots).collect();
            self.0.push(Row { layout, buckets, loads });
        }
    }

    fn report(&self, results: &mut Results) {
        let mean = |row: &Row| row.loads.iter().sum::<f64>() / row.loads.len() as f64;
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
