//! Lookups in tables that fit a cache, against `sbbf-rs` with the same memory and the same keys.

use guira::Layout;
use guira_bench::{self as harness, BATCH, Keys, Pick, capacity_for, table::Table};

use crate::{
    bar::Bar,
    peers::Sbbf,
    run::{Bench, Results, Section},
    timing::{median, over_keys},
};

/// Capacity of the table in the L2 cache: 200 KB.
const ITEMS_IN_L2: usize = 100_000;

/// Size of the table in the L3 cache in bytes.
const BYTES_IN_L3: usize = 8 << 20;

/// Keys of one pass of lookups: few enough to stay in the L2 cache as well.
const TARGETS: usize = 100_000;

/// Passes of one measurement: together some milliseconds.
const PASSES: usize = 20;

/// Medians in nanoseconds at one share of present keys.
struct Row {
    present: u32,
    batch: f64,
    single: f64,
    sbbf: f64,
    /// Median ratio of the time of `sbbf-rs` to that of guira's batches.
    share: f64,
}

/// The table in the L2 cache.
#[derive(Default)]
pub struct InL2(Vec<Row>);

/// The table in the L3 cache.
#[derive(Default)]
pub struct InL3(Vec<Row>);

impl Section for InL2 {
    fn measure(&mut self, bench: &Bench) {
        measure(bench, ITEMS_IN_L2, &mut self.0);
    }

    fn report(&self, results: &mut Results) {
        results.tables.push(table("in-l2", "in L2, % present", &self.0));
        let worst = self.0.iter().min_by(|a, b| a.share.total_cmp(&b.share));
        let (share, at) = worst.map_or((f64::NAN, 0), |row| (row.share, row.present));
        let bar = Bar::at_least("in L2, 100 000 keys, batch", 1.0, share, "of sbbf-rs");
        results.bars.push(bar.note(format!("worst of 0, 50, 100 % present: at {at} %")));
    }
}

impl Section for InL3 {
    fn measure(&mut self, bench: &Bench) {
        measure(bench, capacity_for(BYTES_IN_L3, Layout::Plain4x16), &mut self.0);
    }

    fn report(&self, results: &mut Results) {
        results.tables.push(table("in-l3", "in L3, % present", &self.0));
    }
}

fn measure(bench: &Bench, items: usize, rows: &mut Vec<Row>) {
    bench.cores.pin(1);
    let filter = harness::filter(items, Layout::Plain4x16);
    let mut sbbf = Sbbf::new(filter.size_in_bytes());
    let keys = Keys::new(1);
    harness::fill(&filter, keys, 0..items as u64);
    keys.blocks(0..items as u64, |block| block.iter().for_each(|&key| sbbf.insert(key)));
    for present in [0, 50, 100] {
        let targets = keys.pick(TARGETS, Pick { present, inserted: (0, items as u64) }, 1);
        let mut found = [false; BATCH];
        let mut pass = |work: &mut dyn FnMut(&[u64], &mut [bool]) -> usize| {
            let passes = (0..PASSES).map(|_| {
                over_keys(&targets, |block| work(block, &mut found[..block.len()])).per_key()
            });
            median(passes)
        };
        let (mut batch, mut single, mut other) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..3 * bench.rounds {
            batch.push(pass(&mut |keys, found| filter.by_hash().contains_batch(keys, found)));
            other.push(pass(&mut |keys, _| keys.iter().filter(|&&key| sbbf.contains(key)).count()));
            single.push(pass(&mut |keys, _| {
                keys.iter().filter(|&&key| filter.by_hash().contains(key)).count()
            }));
        }
        let share = median(batch.iter().zip(&other).map(|(guira, sbbf)| sbbf / guira));
        let [batch, single, sbbf] = [batch, single, other].map(median);
        rows.push(Row { present, batch, single, sbbf, share });
    }
}

fn table(name: &'static str, first: &str, rows: &[Row]) -> Table {
    let head = [first, "guira batch, ns", "guira single, ns", "sbbf-rs, ns", "of sbbf-rs, batch"];
    let mut table = Table::new(name, &head);
    for row in rows {
        let mut cells = vec![row.present.to_string()];
        let figures = [row.batch, row.single, row.sbbf, row.share];
        cells.extend(figures.map(|figure| format!("{figure:.2}")));
        table.push(cells);
    }
    table
}
