//! A table in the L2 cache, beside `sbbf-rs` with the same memory and the same keys.

use guira::Layout;

use super::{
    Bench, Results,
    timing::{median, over_keys},
};
use crate::{
    bar::Bar,
    common::{self, BATCH, Keys, Pick},
    peers::Sbbf,
    table::Table,
};

/// Keys of the filter, and of a pass of look-ups.
const ITEMS: usize = 100_000;

/// Passes of one measurement: together some milliseconds.
const PASSES: usize = 20;

pub fn run(bench: &Bench, results: &mut Results) {
    bench.cores.pin(1);
    let filter = common::filter(ITEMS, Layout::Plain4x16);
    let mut sbbf = Sbbf::new(filter.size_in_bytes());
    let keys = Keys::new(1);
    common::fill(&filter, keys, 0..ITEMS as u64);
    keys.blocks(0..ITEMS as u64, |block| block.iter().for_each(|&key| sbbf.insert(key)));
    let mut table = Table::new(
        "in-l2",
        &[
            "in L2, % present",
            "guira batch, ns",
            "guira single, ns",
            "sbbf-rs, ns",
            "of sbbf-rs, batch",
        ],
    );
    let mut worst = (f64::INFINITY, 0);
    for present in [0, 50, 100] {
        let pick = Pick { present, inserted: (0, ITEMS as u64) };
        let asked = keys.pick(ITEMS, pick, 1);
        let mut found = [false; BATCH];
        let mut pass = |work: &mut dyn FnMut(&[u64], &mut [bool]) -> usize| {
            let passes = (0..PASSES).map(|_| {
                over_keys(&asked, |block| work(block, &mut found[..block.len()])).per_key()
            });
            median(passes)
        };
        let (mut batch, mut single, mut other) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..3 * bench.rounds {
            batch.push(pass(&mut |keys, found| filter.contains_hash_batch(keys, found)));
            other.push(pass(&mut |keys, _| keys.iter().filter(|&&key| sbbf.contains(key)).count()));
            single.push(pass(&mut |keys, _| {
                keys.iter().filter(|&&key| filter.contains_hash(key)).count()
            }));
        }
        let share = median(batch.iter().zip(&other).map(|(guira, sbbf)| sbbf / guira));
        if share < worst.0 {
            worst = (share, present);
        }
        let digits = |figures: Vec<f64>| format!("{:.2}", median(figures));
        table.push(vec![
            present.to_string(),
            digits(batch),
            digits(single),
            digits(other),
            format!("{share:.2}"),
        ]);
    }
    let (share, present) = worst;
    results.bars.push(
        Bar::at_least("in L2, 100 000 keys, batch", 1.0, share, "of sbbf-rs")
            .note(format!("worst of 0, 50, 100 % present: at {present} %")),
    );
    results.tables.push(table);
}
