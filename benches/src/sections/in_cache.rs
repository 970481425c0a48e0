//! One thread in tables that fit a cache: lookups by each kernel, against `sbbf-rs` with the same
//! memory and the same keys, and single writes.

use guira::{Hashed, Layout, raw::Kernel};
use guira_harness::{BATCH, Keys, Pick, capacity_for, filter};

use crate::{
    bar::{
        Bar,
        Target::{AtLeast, Nothing},
    },
    bench::{Bench, Results, Section},
    peers::Sbbf,
    rounds::Rounds,
    timing::{filter_by, insert_batch, insert_single, kernels, median, over_keys, remove_single},
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

/// Names of the single writes in the L2 cache.
const INSERT: &str = "insert, single, with room, in L2";
const REMOVE: &str = "remove, single, in L2";

/// Heads of the tables. The figure of a kernel is the time of `sbbf-rs`, and its base is that of
/// guira, so the quotient is the multiple of the speed of `sbbf-rs`.
const HEAD: [&str; 4] = ["one thread", "sbbf-rs, ns", "guira, ns", "of the speed of sbbf-rs"];

/// One table, in the cache of this level: 2 or 3.
#[derive(Default)]
pub struct InCache<const LEVEL: u32>(Rounds);

impl<const LEVEL: u32> Section for InCache<LEVEL> {
    fn measure(&mut self, bench: &Bench) {
        if LEVEL == 2 {
            measure(bench, ITEMS_IN_L2, &mut self.0);
            write(bench, &mut self.0);
        } else {
            measure(bench, capacity_for(BYTES_IN_L3, Layout::Plain4x16), &mut self.0);
        }
    }

    fn report(&self, results: &mut Results) {
        if LEVEL == 3 {
            results.tables.push(("In the L3 cache", self.0.table("in-l3", HEAD, 2)));
            return;
        }
        results.tables.push(("In the L2 cache", self.0.table("in-l2", HEAD, 2)));
        for kernel in Kernel::ALL.iter().rev().copied() {
            let worst = self.0.least(|name| name.ends_with(&format!("by {kernel:?}")));
            let name = format!("lookup, batch by {kernel:?}, 100,000 keys in L2");
            let target = match kernel {
                Kernel::Avx512 => AtLeast(0.95),
                Kernel::Avx2 => AtLeast(0.6),
                _ => Nothing,
            };
            let note = format!("worst of 0, 50, 100 % present: {}", worst.name);
            let bar = Bar::new(name, target, worst.times, "of sbbf-rs").note(note);
            results.bars.push(match kernel {
                Kernel::Avx512 => bar.goal(AtLeast(1.15)),
                _ => bar,
            });
        }
        for name in [INSERT, REMOVE] {
            results.bars.push(Bar::new(name, Nothing, self.0.row(name).base, "ns"));
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
            let other = pass(&mut |keys, _| keys.iter().filter(|&&key| sbbf.contains(key)).count());
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
        rounds.note(INSERT, f64::NAN, median(inserts));
        rounds.note(REMOVE, f64::NAN, median(removals));
    }
}
