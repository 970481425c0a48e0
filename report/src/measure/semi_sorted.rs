//! Semi-sorted layouts beside plain ones with as many lanes: tables of the same size, the same number of
//! keys, one pinned thread, turn by turn.

use guira::{CuckooFilter, Layout};

use super::{
    Bench, Results,
    timing::{Beside, Clock, Rounds, STEP, over_keys, over_range},
};
use crate::{
    bar::Bar,
    common::{BATCH, Keys, Pick},
    peers::filter_of,
    table::Table,
};

/// Each semi-sorted layout and the plain one that it is compared with.
const PAIRS: [(Layout, Layout); 3] = [
    (Layout::SemiSorted6x12, Layout::Plain6x10),
    (Layout::SemiSorted5x14, Layout::Plain5x12),
    (Layout::SemiSorted4x17, Layout::Plain4x16),
];

/// What is compared, and the most times that a semi-sorted layout may take of the plain one's.
const BARS: [(&str, f64); 4] = [
    ("look-up, 0 % present, batch", 1.05),
    ("look-up, 100 % present, batch", 1.3),
    ("insert, empty to capacity, batch", 1.5),
    ("remove, batch", 1.5),
];

/// Absent keys asked for to measure a rate: enough for ten thousand positives of the rarer kind.
const QUERIES: u64 = 20_000_000;

pub fn run(bench: &Bench, results: &mut Results) {
    bench.cores.pin(1);
    let mut rounds = Rounds::default();
    for round in 0..bench.rounds {
        bench.say(format!("semi-sorted layouts, round {} of {}", round + 1, bench.rounds));
        for (semi_sorted, plain) in PAIRS {
            compare(bench, semi_sorted, plain, round as u64, &mut rounds);
        }
    }
    for (what, most) in BARS {
        let times = |layout: Layout| rounds.times(&format!("{layout:?}: {what}"));
        let (semi_sorted, plain) = PAIRS
            .into_iter()
            .max_by(|a, b| times(a.0).total_cmp(&times(b.0)))
            .expect("there are some");
        results.bars.push(
            Bar::at_most(format!("semi-sorted: {what}"), most, times(semi_sorted), "of plain")
                .note(format!("worst of {}: {semi_sorted:?} beside {plain:?}", PAIRS.len())),
        );
    }
    let mut table =
        Table::new("semi-sorted", &["semi-sorted, one thread", "ns", "plain, ns", "of plain"]);
    for (name, nanoseconds, plain, times) in rounds.medians() {
        table.push(vec![
            name.into(),
            format!("{nanoseconds:.1}"),
            format!("{plain:.1}"),
            format!("{times:.2}"),
        ]);
    }
    results.tables.push(table);
    space(bench, results);
}

/// Fills, looks up and removes, in both layouts by turns.
fn compare(bench: &Bench, semi_sorted: Layout, plain: Layout, round: u64, rounds: &mut Rounds) {
    let filters = [semi_sorted, plain].map(|layout| filter_of(layout, bench.bytes));
    let items = filters[0].capacity().min(filters[1].capacity()) as u64;
    let keys = Keys::new(round);
    let mut note = |what: &str, work: &mut dyn FnMut(&CuckooFilter) -> Clock| {
        let [nanoseconds, floor] = filters.each_ref().map(|filter| work(filter).per_key());
        rounds.note(format!("{semi_sorted:?}: {what}"), Beside { nanoseconds, floor });
    };
    note("insert, empty to capacity, batch", &mut |filter| {
        over_range(keys, 0..items, |block| filter.insert_hash_batch(block).expect("room"))
    });
    let mut found = [false; BATCH];
    for present in [0, 50, 100] {
        for pass in 0..3 {
            let asked = keys.pick(STEP as usize, Pick { present, inserted: (0, items) }, pass);
            note(&format!("look-up, {present} % present, batch"), &mut |filter| {
                over_keys(&asked, |block| {
                    filter.contains_hash_batch(block, &mut found[..block.len()])
                })
            });
            note(&format!("look-up, {present} % present, single"), &mut |filter| {
                over_keys(&asked, |block| {
                    block.iter().filter(|&&key| filter.contains_hash(key)).count()
                })
            });
        }
    }
    let step = STEP.min(items / 20);
    note("remove, batch", &mut |filter| {
        over_range(keys, 0..step, |block| {
            let removed = filter.remove_hash_batch(block, &mut found[..block.len()]);
            assert_eq!(removed, block.len(), "every key that was inserted can be removed");
        })
    });
    note("remove, single", &mut |filter| {
        over_range(keys, step..2 * step, |block| {
            assert!(block.iter().all(|&key| filter.remove_hash(key)), "every key is there");
        })
    });
    note("insert, one key for one removed, batch", &mut |filter| {
        over_range(keys, items..items + 2 * step, |block| {
            filter.insert_hash_batch(block).expect("room");
        })
    });
}

/// Bits per item and the rate at capacity, measured, of every layout.
fn space(bench: &Bench, results: &mut Results) {
    let mut table =
        Table::new("space", &["layout", "bits per item", "rate", "bits above log2(1/rate)"]);
    for &layout in Layout::ALL {
        bench.say(format!("bits per item and rate of {layout:?}"));
        let filter = filter_of(layout, bench.bytes);
        let items = filter.capacity() as u64;
        let keys = Keys::new(3);
        over_range(keys, 0..items, |block| filter.insert_hash_batch(block).expect("room"));
        let (mut found, mut positives) = ([false; BATCH], 0);
        over_range(keys, items..items + QUERIES, |block| {
            positives += filter.contains_hash_batch(block, &mut found[..block.len()]);
        });
        let bits = 8.0 * filter.size_in_bytes() as f64 / items as f64;
        let rate = positives as f64 / QUERIES as f64;
        let above = bits + rate.log2();
        if matches!(layout, Layout::SemiSorted6x12 | Layout::SemiSorted5x14) {
            let name = format!("{layout:?} at capacity, bits per item above log2(1/rate)");
            results.bars.push(
                Bar::at_most(name, 2.5, above, "bits")
                    .note(format!("{bits:.2} bits at {:.4} %", 100.0 * rate)),
            );
        }
        table.push(vec![
            format!("{layout:?}"),
            format!("{bits:.2}"),
            format!("{:.5} %", 100.0 * rate),
            format!("{above:.2}"),
        ]);
    }
    results.tables.push(table);
}
