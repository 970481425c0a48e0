//! What growth costs: a filter that has grown through so many segments beside one that was built for as many items.
//!
//! `cargo bench --bench growing`, for another size with `GUIRA_MEGABYTES=N` (of the filter that does not grow), for more
//! turns with `GUIRA_TURNS=N`. Times are nanoseconds per operation, medians, and ratios to the filter that does not grow,
//! turn by turn.

mod common;

use common::{BATCH, Cores, Keys, from_environment, nanoseconds};
use guira::{CuckooFilter, GrowingFilter, Layout};

/// How often the capacity is to be exceeded: the segments are 1, 3, 5 and 7.
const GROWTH: [usize; 4] = [1, 5, 25, 100];
/// Operations of each kind that are timed, apart from the first inserts.
const TIMED: u64 = 1 << 21;

/// Times of one filter, by name.
type Times = Vec<(&'static str, f64)>;

/// What is measured, of a filter of either type.
macro_rules! measure {
    ($filter:expr, $items:expr) => {{
        let (filter, items, mut times): (_, u64, Times) = ($filter, $items, Times::new());
        let per = |work: &mut dyn FnMut(), operations: u64| nanoseconds(work) / operations as f64;
        let insert = |block: &[u64]| filter.insert_hash_batch(block).expect("room");
        let filling = per(&mut || Keys::new(1).blocks(0..items, insert), items);
        times.push(("insert, batches, from empty", filling));
        // Spread over all that were inserted, so over all segments.
        let present = |nth: u64| Keys::new(1).key(nth * (items / TIMED));
        let present: Vec<u64> = (0..TIMED).map(present).collect();
        let absent = Keys::new(2).range(0..TIMED);
        let mut found = [false; BATCH];
        for (names, keys, hits) in [
            (["contains, present", "contains, present, batches"], &present, TIMED as usize),
            (["contains, absent", "contains, absent, batches"], &absent, 0),
        ] {
            let (mut single, mut batch) = (0, 0);
            let mut one_by_one =
                || single = keys.iter().filter(|&&key| filter.contains_hash(key)).count();
            times.push((names[0], per(&mut one_by_one, TIMED)));
            let mut in_batches = || {
                let hits = |block: &[u64]| filter.contains_hash_batch(block, &mut found);
                batch = keys.chunks(BATCH).map(hits).sum();
            };
            times.push((names[1], per(&mut in_batches, TIMED)));
            assert!(single == batch && single >= hits);
        }
        let mut remove = || assert!(present.iter().all(|&key| filter.remove_hash(key)));
        let removing = per(&mut remove, TIMED);
        times.push(("remove", removing));
        let mut add = || assert!(present.iter().all(|&key| filter.insert_hash(key).is_ok()));
        let adding = per(&mut add, TIMED);
        times.push(("insert, what was removed", adding));
        times
    }};
}

fn main() {
    let bytes = from_environment("GUIRA_MEGABYTES", 128) << 20;
    let turns = from_environment("GUIRA_TURNS", 3).max(1);
    Cores::list().pin(0);
    let rate = 0.001;
    let fixed = |items: u64| -> CuckooFilter {
        // The layout of the segments: what is measured is growth.
        let builder = CuckooFilter::builder().capacity(items as usize).layout(Layout::Plain4x16);
        builder.seed(1).build().expect("memory")
    };
    let items = (bytes as f64 * 8.0 / 16.7) as u64;
    for growth in GROWTH {
        let growing = || -> GrowingFilter {
            let builder = CuckooFilter::builder().capacity(items as usize / growth);
            builder.false_positive_rate(rate).seed(1).build_growing().expect("memory")
        };
        let mut all: Vec<(Times, Times)> = Vec::new();
        let mut shape = String::new();
        for _ in 0..turns {
            let own = fixed(items);
            let beside = measure!(&own, items);
            let filter = growing();
            all.push((measure!(&filter, items), beside));
            shape = format!(
                "{} segments, {:.1} bits per item of slots in use, rate {:.5}",
                filter.segments().len(),
                filter.size_in_bytes() as f64 * 8.0 / filter.len() as f64,
                filter.false_positive_rate(),
            );
        }
        println!("grown to {growth} times the first capacity: {items} items, {shape}");
        for row in 0..all[0].0.len() {
            let median = |mut values: Vec<f64>| {
                values.sort_unstable_by(f64::total_cmp);
                values[values.len() / 2]
            };
            let own = median(all.iter().map(|(own, _)| own[row].1).collect());
            let ratio =
                median(all.iter().map(|(own, beside)| own[row].1 / beside[row].1).collect());
            println!("  {:<28} {own:7.1} ns, {ratio:.2}", all[0].0[row].0);
        }
    }
}
