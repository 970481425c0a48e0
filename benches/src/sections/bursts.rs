//! Bursts of a few items against as many single calls, by one thread, in a table in the L2 cache
//! and in memory.

use guira::{CuckooFilter, Hashed, Insertion, Layout};
use guira_harness::{self as harness, BATCH, Keys, Pick, capacity_for};

use crate::{
    bench::{Bench, Results, Section},
    figure::Figure,
    rounds::Rounds,
    timing::{insert_batch, over_keys},
};

/// Items per burst.
const SIZES: [usize; 8] = [1, 2, 4, 6, 8, 16, 32, 64];

/// Capacity of the table in the L2 cache.
const ITEMS_IN_L2: usize = 100_000;

#[derive(Clone, Copy, Debug)]
enum Operation {
    Lookup,
    Insert,
    InsertUnique,
    Remove,
}

/// Names of the operations.
const NAMES: [&str; 4] = ["lookup", "insert", "insert_unique", "remove"];

/// Nanoseconds per item of a burst, beside those of single calls in the same pass.
#[derive(Default)]
pub struct Bursts(Rounds);

/// Returns the name of the figures of one operation in one table by one size of bursts.
fn name(operation: &str, place: &str, size: usize) -> String {
    format!("{operation}, {place}, bursts of {size}")
}

impl Operation {
    /// Executes the items of each burst by single calls, and collects the same answers as a call
    /// for the burst. Returns how many items, or bursts of inserts, succeed.
    fn singly(self, filter: &CuckooFilter, keys: &[u64], size: usize) -> usize {
        let bursts = Hashed::slice(keys).chunks(size);
        match self {
            Self::Lookup => count(bursts, |key| filter.contains(key)),
            Self::Insert => {
                bursts.filter(|keys| keys.iter().all(|key| filter.insert(key).is_ok())).count()
            }
            Self::InsertUnique => {
                count(bursts, |key| filter.insert_unique(key) == Ok(Insertion::New(())))
            }
            Self::Remove => count(bursts, |key| filter.remove(key)),
        }
    }

    /// Executes a call for each burst. Returns the same as `singly`.
    fn in_bursts(self, filter: &CuckooFilter, keys: &[u64], size: usize) -> usize {
        let bursts = Hashed::slice(keys).chunks(size);
        let ones = |mask: u64| mask.count_ones() as usize;
        match self {
            Self::Lookup => bursts.map(|keys| ones(filter.contains_mask(keys))).sum(),
            Self::Insert => bursts.filter(|keys| filter.insert_batch(*keys).is_ok()).count(),
            Self::InsertUnique => {
                bursts.map(|keys| ones(filter.insert_unique_mask(keys).added)).sum()
            }
            Self::Remove => bursts
                .map(|keys| {
                    filter.remove_batch(keys, &mut [false; SIZES[SIZES.len() - 1]][..keys.len()])
                })
                .sum(),
        }
    }
}

/// Makes a mask of the answers for each burst. Returns the number of ones in all masks.
fn count<'a>(
    bursts: impl Iterator<Item = &'a [Hashed]>,
    answer: impl Fn(&Hashed) -> bool,
) -> usize {
    let mask = |keys: &[Hashed]| {
        let answers = keys.iter().enumerate();
        answers.fold(0_u64, |mask, (nth, key)| mask | u64::from(answer(key)) << nth)
    };
    bursts.map(|keys| mask(keys).count_ones() as usize).sum()
}

impl Section for Bursts {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(1);
        let in_memory = capacity_for(bench.bytes, Layout::Plain4x16);
        for (place, items, step) in
            [("in L2", ITEMS_IN_L2, 8 * BATCH), ("in memory", in_memory, 128 * BATCH)]
        {
            let passes = bench.rounds * if place == "in L2" { 25 } else { 5 };
            let filter = harness::filter(items, Layout::Plain4x16);
            // Room for all inserts, and no removal from an empty table.
            let inserted = items as u64 / 2;
            insert_batch(&filter, Keys::new(3), 0..inserted);
            let mut next = inserted;
            for size in SIZES {
                bench.say(format!("bursts of {size} {place}"));
                for pass in 0..passes as u64 {
                    measure_pass(
                        &mut self.0,
                        &filter,
                        place,
                        size,
                        pass,
                        &mut next,
                        (inserted, step),
                    );
                }
            }
        }
    }

    fn report(&self, results: &mut Results) {
        for (place, operation) in
            ["in L2", "in memory"].into_iter().flat_map(|place| NAMES.map(|name| (place, name)))
        {
            let times = |size: &usize| self.0.row(&name(operation, place, *size)).times;
            let measured = SIZES.into_iter().filter(|size| times(size).is_finite());
            let worst = measured.max_by(|a, b| times(a).total_cmp(&times(b))).unwrap_or(0);
            // The first size from which on no burst costs more than single calls.
            let dearer = SIZES.into_iter().filter(|size| times(size) >= 1.005).max();
            let even = SIZES.into_iter().find(|&size| Some(size) > dearer);
            let even = even.map_or("none".into(), |size| size.to_string());
            let name = format!("{operation}, bursts of any size, {place}");
            let figure = Figure::new(name, times(&worst), "of single calls");
            results
                .figures
                .push(figure.note(format!("worst: bursts of {worst}; break-even: {even}")));
        }
        let head = ["ns per item", "burst", "single calls", "of single calls"];
        results.tables.push(("Bursts against single calls", self.0.table("bursts", head, 1)));
    }
}

/// Measures each operation once, by single calls and by bursts with keys of their own. The number
/// of items is the same afterwards.
fn measure_pass(
    rounds: &mut Rounds,
    filter: &CuckooFilter,
    place: &str,
    size: usize,
    pass: u64,
    next: &mut u64,
    (inserted, step): (u64, usize),
) {
    let keys = Keys::new(3);
    let pick = Pick { present: 50, inserted: (0, inserted) };
    let mut fresh = || {
        *next += step as u64;
        keys.range(*next - step as u64..*next)
    };
    let targets = [2 * pass, 2 * pass + 1].map(|seed| keys.pick(step, pick, seed));
    let (plain, unique) = ([fresh(), fresh()], [fresh(), fresh()]);
    for (what, operation, [mine, bursts]) in [
        (NAMES[0], Operation::Lookup, &targets),
        (NAMES[1], Operation::Insert, &plain),
        (NAMES[3], Operation::Remove, &plain),
        (NAMES[2], Operation::InsertUnique, &unique),
        (NAMES[3], Operation::Remove, &unique),
    ] {
        let single = || over_keys(mine, |block| operation.singly(filter, block, size)).per_key();
        let burst =
            || over_keys(bursts, |block| operation.in_bursts(filter, block, size)).per_key();
        // Each of the two comes first in every other pass.
        let (single, burst) = if pass.is_multiple_of(2) {
            (single(), burst())
        } else {
            let burst = burst();
            (single(), burst)
        };
        rounds.note(name(what, place, size), burst, single);
    }
}
