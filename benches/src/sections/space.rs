//! Bits per item and the false-positive rate at capacity, measured, of every layout.

use guira::{Hashed, Layout};
use guira_harness::{BATCH, Keys, filter_of, table::Table};

use crate::{
    bar::{Bar, Target::AtMost},
    bench::{Bench, Results, Section},
    timing::over_range,
    workload::insert_batch,
};

/// Lookups of absent keys behind one rate: about thirty false positives of the rarest kind.
const LOOKUPS: u64 = 20_000_000;

/// One layout at capacity.
struct Row {
    layout: Layout,
    bits_per_item: f64,
    /// Share of absent keys that seem present.
    rate: f64,
}

#[derive(Default)]
pub struct Space(Vec<Row>);

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
            let bits_per_item = 64.0 * buckets as f64 / items as f64;
            self.0.push(Row { layout, bits_per_item, rate: positives as f64 / lookups as f64 });
        }
    }

    fn report(&self, results: &mut Results) {
        let above = |row: &Row| row.bits_per_item + row.rate.log2();
        let table = Table::of(
            "space",
            &self.0,
            &[
                ("layout", &|row| format!("{:?}", row.layout)),
                ("bits per item", &|row| format!("{:.2}", row.bits_per_item)),
                ("rate", &|row| format!("{:.5} %", 100.0 * row.rate)),
                ("bits above log2(1/rate)", &|row| format!("{:.2}", above(row))),
            ],
        );
        results.tables.push(("Bits per item and false-positive rate at capacity", table));
        for row in &self.0 {
            let layout = row.layout;
            if matches!(layout, Layout::SemiSorted6x12 | Layout::SemiSorted5x14) {
                let name = format!("{layout:?} at capacity, bits per item above log2(1/rate)");
                let note = format!("{:.2} bits at {:.4} %", row.bits_per_item, 100.0 * row.rate);
                results.bars.push(Bar::new(name, AtMost(2.5), above(row), "bits").note(note));
            }
        }
    }
}
