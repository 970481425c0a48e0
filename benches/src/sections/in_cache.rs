//! One thread in tables that fit a cache: lookups by each kernel, against `sbbf-rs` with the same
//! memory and the same keys, masks against batches, and single writes.

use std::hint::black_box;

use guira::{Hashed, Layout};
use guira_harness::{BATCH, Keys, Pick, capacity_for, filter};

use crate::{
    bench::{Bench, Results, Section},
    figure::Figure,
    peers::Sbbf,
    rounds::Rounds,
    timing::{
        Clock, filter_by, insert_batch, insert_single, kernels, median, over_keys, remove_single,
    },
};

/// Capacity of the table in the L2 cache: 200 KB.
const ITEMS_IN_L2: usize = 100_000;

/// Size of the table in the L3 cache in bytes.
const BYTES_IN_L3: usize = 8 << 20;

/// Keys of one pass of lookups: few enough to stay in the L2 cache as well.
const TARGETS: usize = 100_000;

/// Passes of one measurement: together some milliseconds.
const PASSES: usize = 20;

/// Keys of a mask.
const MASKS: [usize; 3] = [16, 32, 64];

/// Keys of the large batch.
const LARGE_BATCH: usize = 4_096;

/// Keys of one pass of writes.
const WRITES: u64 = 10_000;

/// Names of the single writes in the L2 cache.
const INSERT: &str = "insert, single, with room, in L2";
const REMOVE: &str = "remove, single, in L2";

/// Heads of the tables. The figure of a kernel is the time of `sbbf-rs`, and its base is that of
/// guira, so the quotient is the multiple of the speed of `sbbf-rs`.
const HEAD: [&str; 4] = ["one thread", "sbbf-rs, ns", "guira, ns", "of the speed of sbbf-rs"];

/// One table, in the cache of this level: 2 or 3.
#[derive(Default)]
pub struct InCache<const LEVEL: u32> {
    lookups: Rounds,
    /// Masks beside large batches.
    masks: Rounds,
    writes: Rounds,
}

impl<const LEVEL: u32> Section for InCache<LEVEL> {
    fn measure(&mut self, bench: &Bench) {
        if LEVEL == 2 {
            measure(bench, ITEMS_IN_L2, &mut self.lookups);
            measure_masks(bench, &mut self.masks);
            write(bench, &mut self.writes);
        } else {
            measure(bench, capacity_for(BYTES_IN_L3, Layout::Plain4x16), &mut self.lookups);
        }
    }

    fn report(&self, results: &mut Results) {
        if LEVEL == 3 {
            results.tables.push(("In the L3 cache", self.lookups.table("in-l3", HEAD, 2)));
            return;
        }
        results.tables.push(("In the L2 cache", self.lookups.table("in-l2", HEAD, 2)));
        let head = ["half present", "mask, ns", "batch of 4,096, ns", "of the batch"];
        results.tables.push(("Masks in the L2 cache", self.masks.table("in-l2-masks", head, 2)));
        for name in MASKS.map(mask_of) {
            let times = self.masks.row(&name).times;
            results.figures.push(Figure::new(name, times, "of a batch of 4,096"));
        }
        for name in [INSERT, REMOVE] {
            results.figures.push(Figure::new(name, self.writes.row(name).figure, "ns"));
        }
    }
}

/// Measures lookups by each kernel and by `sbbf-rs`, alternately.
fn measure(bench: &Bench, items: usize, rounds: &mut Rounds) {
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
        for _ in 0..3 * bench.rounds {
            let other = pass(&mut |keys, found| {
                let answers = found.iter_mut().zip(keys);
                answers.for_each(|(found, &key)| *found = sbbf.contains(key));
                found.iter().filter(|&&found| found).count()
            });
            for (kernel, filter) in &filters {
                let batch =
                    pass(&mut |keys, found| filter.contains_batch(Hashed::slice(keys), found));
                rounds.note(format!("{present} % present, batch by {kernel:?}"), other, batch);
            }
            // A single lookup does not depend on the kernel.
            let filter = &filters[0].1;
            let single = pass(&mut |keys, _| {
                keys.iter().filter(|&&key| filter.contains(&Hashed(key))).count()
            });
            rounds.note(format!("{present} % present, single"), other, single);
        }
    }
}

/// Returns the name of the lookup of a mask in the L2 cache.
fn mask_of(size: usize) -> String {
    format!("lookup, mask of {size}, in L2")
}

/// Measures masks and large batches, alternately, half of the keys present.
fn measure_masks(bench: &Bench, rounds: &mut Rounds) {
    let filter = filter(ITEMS_IN_L2, Layout::Plain4x16);
    let keys = Keys::new(1);
    let inserted = (0, ITEMS_IN_L2 as u64);
    insert_batch(&filter, keys, inserted.0..inserted.1);
    let targets = keys.pick(TARGETS, Pick { present: 50, inserted }, 1);
    let mut found = [false; LARGE_BATCH];
    let pass = |work: &mut dyn FnMut(&[u64])| {
        median((0..PASSES).map(|_| {
            let mut clock = Clock::default();
            clock.time(&targets, &mut *work);
            clock.per_key()
        }))
    };
    for _ in 0..3 * bench.rounds {
        let batch = pass(&mut |keys| {
            for keys in keys.chunks(LARGE_BATCH) {
                filter.contains_batch(Hashed::slice(keys), &mut found[..keys.len()]);
            }
        });
        for size in MASKS {
            let mask = pass(&mut |keys| {
                for keys in Hashed::slice(keys).chunks(size) {
                    black_box(filter.contains_mask(keys));
                }
            });
            rounds.note(mask_of(size), mask, batch);
        }
    }
}

/// Measures single writes from half of the capacity upwards. Each pass inserts new keys and
/// removes them.
fn write(bench: &Bench, rounds: &mut Rounds) {
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
        rounds.note(INSERT, median(inserts), f64::NAN);
        rounds.note(REMOVE, median(removals), f64::NAN);
    }
}
