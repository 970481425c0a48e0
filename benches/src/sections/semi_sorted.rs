//! Semi-sorted layouts against plain ones with the same slots per bucket: tables of the same size,
//! the same number of keys, one pinned thread, alternately.

use guira::{CuckooFilter, Layout};
use guira_harness::{Keys, Pick, filter_of};

use crate::{
    bar::{Bar, Target::AtMost},
    bench::{Bench, Results, Section},
    rounds::Rounds,
    timing::{Clock, STEP},
    workload::{insert_batch, lookup_batch, lookup_single, remove_batch, remove_single},
};

/// Each semi-sorted layout and the plain one that it is compared with.
const PAIRS: [(Layout, Layout); 3] = [
    (Layout::SemiSorted6x12, Layout::Plain6x10),
    (Layout::SemiSorted5x14, Layout::Plain5x12),
    (Layout::SemiSorted4x17, Layout::Plain4x16),
];

/// What is compared, and the largest multiple of the plain layout's time that reaches the target.
const BARS: [(&str, f64); 4] = [
    ("lookup, 0 % present, batch", 1.05),
    ("lookup, 100 % present, batch", 1.3),
    ("insert, empty to capacity, batch", 1.5),
    ("remove, batch", 1.5),
];

#[derive(Default)]
pub struct SemiSorted(Rounds);

impl Section for SemiSorted {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(1);
        for round in 0..bench.rounds {
            bench.say(format!("semi-sorted layouts, round {} of {}", round + 1, bench.rounds));
            for (semi_sorted, plain) in PAIRS {
                compare(bench, semi_sorted, plain, round as u64, &mut self.0);
            }
        }
    }

    fn report(&self, results: &mut Results) {
        for (what, most) in BARS {
            let worst = self.0.greatest(|name| name.ends_with(&format!(": {what}")));
            let bar =
                Bar::new(format!("semi-sorted: {what}"), AtMost(most), worst.times, "of plain");
            results.bars.push(bar.note(format!("worst of {}: {}", PAIRS.len(), worst.name)));
        }
        let head = ["semi-sorted, one thread", "ns", "plain, ns", "of plain"];
        let table = self.0.table("semi-sorted", head, 1);
        results.tables.push(("Semi-sorted layouts against plain ones", table));
    }
}

/// Fills, looks up and removes, in both layouts alternately.
fn compare(bench: &Bench, semi_sorted: Layout, plain: Layout, round: u64, rounds: &mut Rounds) {
    let filters = [semi_sorted, plain].map(|layout| filter_of(layout, bench.bytes));
    let items = filters[0].capacity().min(filters[1].capacity()) as u64;
    let keys = Keys::new(round);
    let mut note = |what: &str, work: &mut dyn FnMut(&CuckooFilter) -> Clock| {
        let [semi, plain] = filters.each_ref().map(|filter| work(filter).per_key());
        rounds.note(format!("{semi_sorted:?}: {what}"), semi, plain);
    };
    note("insert, empty to capacity, batch", &mut |filter| insert_batch(filter, keys, 0..items));
    for present in [0, 50, 100] {
        for pass in 0..3 {
            let targets = keys.pick(STEP as usize, Pick { present, inserted: (0, items) }, pass);
            let lookup = format!("lookup, {present} % present");
            note(&format!("{lookup}, batch"), &mut |filter| lookup_batch(filter, &targets).0);
            note(&format!("{lookup}, single"), &mut |filter| lookup_single(filter, &targets).0);
        }
    }
    let step = STEP.min(items / 20);
    note("remove, batch", &mut |filter| remove_batch(filter, keys, 0..step));
    note("remove, single", &mut |filter| remove_single(filter, keys, step..2 * step));
}
