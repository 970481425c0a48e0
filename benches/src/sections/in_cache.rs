//! One thread in tables that fit a cache: lookups by each kernel, against `sbbf-rs` with the same
//! memory and the same keys, and single writes.

use guira::{Hashed, Layout, raw::Kernel};
use guira_harness::{BATCH, Keys, Pick, capacity_for, filter, table::Table};

use crate::{
    bar::Bar,
    bench::{Bench, Results, Section},
    peers::Sbbf,
    timing::{median, over_keys},
    workload::{filter_by, insert_batch, insert_single, kernels, remove_single},
};

/// Capacity of the table in the L2 cache: 200 KB.
const ITEMS_IN_L2: usize = 100_000;

/// Size of the table in the L3 cache in bytes.
const BYTES_IN_L3: usize = 8 << 20;

/// Keys of one pass of lookups: few enough to stay in the L2 cache as well.
const TARGETS: usize = 100_000;

/// Passes of one measurement: together some milliseconds.
const PASSES: usize = 20;

/// Keys of one pass of writes.
const WRITES: u64 = 10_000;

/// Medians in nanoseconds at one share of present keys, by one kernel.
struct Row {
    present: u32,
    kernel: Kernel,
    batch: f64,
    single: f64,
    sbbf: f64,
    /// Median ratio of the time of `sbbf-rs` to that of guira's batches.
    share: f64,
}

/// The table in the L2 cache.
#[derive(Default)]
pub struct InL2 {
    lookups: Vec<Row>,
    /// Nanoseconds of a single insert with room, and of a single removal.
    writes: Vec<(f64, f64)>,
}

/// The table in the L3 cache.
#[derive(Default)]
pub struct InL3(Vec<Row>);

impl Section for InL2 {
    fn measure(&mut self, bench: &Bench) {
        measure(bench, ITEMS_IN_L2, &mut self.lookups);
        write(bench, &mut self.writes);
    }

    fn report(&self, results: &mut Results) {
        results.tables.push(table("in-l2", "in L2, % present", &self.lookups));
        for kernel in Kernel::ALL.iter().rev().copied() {
            let rows = self.lookups.iter().filter(|row| row.kernel == kernel);
            let worst = rows.min_by(|a, b| a.share.total_cmp(&b.share));
            let (share, at) = worst.map_or((f64::NAN, 0), |row| (row.share, row.present));
            let name = format!("lookup, batch by {kernel:?}, 100,000 keys in L2");
            let unit = "of sbbf-rs";
            let note = format!("worst of 0, 50, 100 % present: at {at} %");
            results.bars.push(match kernel {
                Kernel::Avx512 => Bar::at_least(name, 0.95, share, unit).note(note).goal(1.15),
                Kernel::Avx2 => Bar::at_least(name, 0.6, share, unit).note(note),
                _ => Bar::figure(name, share, unit).note(note),
            });
        }
        let medians =
            (median(self.writes.iter().map(|it| it.0)), median(self.writes.iter().map(|it| it.1)));
        for (name, nanoseconds) in
            [("insert, single, with room, in L2", medians.0), ("remove, single, in L2", medians.1)]
        {
            results.bars.push(Bar::figure(name, nanoseconds, "ns"));
        }
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

/// Measures lookups by each kernel and by `sbbf-rs`, alternately.
fn measure(bench: &Bench, items: usize, rows: &mut Vec<Row>) {
    bench.cores.pin(1);
    let filters: Vec<_> = kernels().map(|kernel| (kernel, filter_by(kernel, items))).collect();
    let mut sbbf = Sbbf::new(filters[0].1.size_in_bytes());
    let keys = Keys::new(1);
    for (_, filter) in &filters {
        insert_batch(filter, keys, 0..items as u64);
    }
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
        let mut batches = vec![Vec::new(); filters.len()];
        let (mut single, mut other) = (Vec::new(), Vec::new());
        for _ in 0..3 * bench.rounds {
            other.push(pass(&mut |keys, _| keys.iter().filter(|&&key| sbbf.contains(key)).count()));
            for ((_, filter), batch) in filters.iter().zip(&mut batches) {
                batch.push(pass(&mut |keys, found| {
                    filter.contains_batch(Hashed::slice(keys), found)
                }));
            }
            // A single lookup does not depend on the kernel.
            let filter = &filters[0].1;
            single.push(pass(&mut |keys, _| {
                keys.iter().filter(|&&key| filter.contains(&Hashed(key))).count()
            }));
        }
        let sbbf = median(other.iter().copied());
        let single = median(single);
        for (&(kernel, _), batch) in filters.iter().zip(batches) {
            let share = median(batch.iter().zip(&other).map(|(guira, sbbf)| sbbf / guira));
            rows.push(Row { present, kernel, batch: median(batch), single, sbbf, share });
        }
    }
}

/// Measures single writes from half of the capacity upwards. Each pass inserts new keys and
/// removes them.
fn write(bench: &Bench, figures: &mut Vec<(f64, f64)>) {
    let filter = filter(ITEMS_IN_L2, Layout::Plain4x16);
    let keys = Keys::new(2);
    let mut next = ITEMS_IN_L2 as u64 / 2;
    insert_batch(&filter, keys, 0..next);
    for _ in 0..bench.rounds {
        let (mut inserts, mut removals) = (Vec::new(), Vec::new());
        for _ in 0..5 * PASSES {
            let range = next..next + WRITES;
            next = range.end;
            inserts.push(insert_single(&filter, keys, range.clone()).per_key());
            removals.push(remove_single(&filter, keys, range).per_key());
        }
        figures.push((median(inserts), median(removals)));
    }
}

fn table(name: &'static str, first: &str, rows: &[Row]) -> Table {
    let head = [
        first,
        "kernel",
        "guira batch, ns",
        "guira single, ns",
        "sbbf-rs, ns",
        "of sbbf-rs, batch",
    ];
    let mut table = Table::new(name, &head);
    for row in rows {
        let mut cells = vec![row.present.to_string(), format!("{:?}", row.kernel)];
        let figures = [row.batch, row.single, row.sbbf, row.share];
        cells.extend(figures.map(|figure| format!("{figure:.2}")));
        table.push(cells);
    }
    table
}
