//! The cost of growth: a filter that has grown through several segments, against one that was built
//! for as many items.

use guira::{CuckooFilter, GrowingFilter, Layout};
use guira_bench::{BATCH, Keys, table::Table};

use crate::{
    run::{Bench, Results, Section},
    timing::{Beside, Rounds, over_keys, over_range},
};

/// Multiples of the first capacity: they take 1, 3, 5 and 7 segments.
const GROWTH: [usize; 4] = [1, 5, 25, 100];

/// Operations of each kind, apart from the first inserts.
const TIMED: u64 = 1 << 21;

/// Target false-positive rate of the growing filter.
const RATE: f64 = 0.001;

/// Figures of one multiple of the first capacity.
struct Row {
    growth: usize,
    items: u64,
    segments: usize,
    bits_per_item: f64,
    rate: f64,
    /// The floor is the filter that does not grow.
    rounds: Rounds,
}

#[derive(Default)]
pub struct Growing(Vec<Row>);

/// Times of one filter, by name, in nanoseconds per operation.
type Times = Vec<(&'static str, f64)>;

/// Measures a filter of either type.
macro_rules! measure {
    ($filter:expr, $items:expr) => {{
        let (filter, items, mut times): (_, u64, Times) = ($filter, $items, Times::new());
        let insert = |block: &[u64]| filter.by_hash().insert_batch(block).expect("room");
        let filling = over_range(Keys::new(1), 0..items, insert);
        times.push(("insert, batch, from empty", filling.per_key()));
        // Spread over all inserted keys, so over all segments.
        let timed = TIMED.min(items);
        let present = |nth: u64| Keys::new(1).key(nth * (items / timed));
        let present: Vec<u64> = (0..timed).map(present).collect();
        let absent = Keys::new(2).range(0..timed);
        let mut found = [false; BATCH];
        for (single_name, batch_name, keys, least) in [
            ("lookup, present, single", "lookup, present, batch", &present, present.len()),
            ("lookup, absent, single", "lookup, absent, batch", &absent, 0),
        ] {
            let (mut single, mut batch) = (0, 0);
            let clock = over_keys(keys, |block| {
                single += block.iter().filter(|&&key| filter.by_hash().contains(key)).count();
            });
            times.push((single_name, clock.per_key()));
            let clock = over_keys(keys, |block| {
                batch += filter.by_hash().contains_batch(block, &mut found[..block.len()]);
            });
            times.push((batch_name, clock.per_key()));
            assert!(single == batch && single >= least, "both find every present key");
        }
        let clock = over_keys(&present, |block| {
            assert!(block.iter().all(|&key| filter.by_hash().remove(key)), "every key is present");
        });
        times.push(("remove, single", clock.per_key()));
        let clock = over_keys(&present, |block| {
            assert!(block.iter().all(|&key| filter.by_hash().insert(key).is_ok()), "room");
        });
        times.push(("insert, what was removed, single", clock.per_key()));
        times
    }};
}

impl Section for Growing {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(0);
        let bytes = bench.mode.pick(bench.bytes / 2, bench.bytes / 4, bench.bytes);
        let items = (bytes as f64 * 8.0 / 16.7) as u64;
        for growth in GROWTH {
            for round in 0..bench.mode.pick(1, 1, 3) {
                bench.say(format!("grown {growth} times, round {}", round + 1));
                // The layout of the segments, so that growth alone makes the difference.
                let fixed = CuckooFilter::builder().capacity(items as usize);
                let fixed = fixed.layout(Layout::Plain4x16).seed(1).build().expect("memory");
                let floor = measure!(&fixed, items);
                drop(fixed);
                let growing = GrowingFilter::builder().capacity(items as usize / growth);
                let growing = growing.false_positive_rate(RATE).seed(1);
                let growing = growing.build().expect("memory");
                let own = measure!(&growing, items);
                if self.0.last().is_none_or(|row| row.growth != growth) {
                    self.0.push(Row {
                        growth,
                        items,
                        segments: growing.segments().len(),
                        bits_per_item: growing.size_in_bytes() as f64 * 8.0 / growing.len() as f64,
                        rate: growing.false_positive_rate(),
                        rounds: Rounds::default(),
                    });
                }
                let row = self.0.last_mut().expect("just pushed");
                for ((name, nanoseconds), (_, floor)) in own.into_iter().zip(floor) {
                    row.rounds.note(name, Beside { nanoseconds, floor });
                }
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let head = [
            "grown to",
            "items",
            "segments",
            "bits per item",
            "rate, %",
            "operation",
            "ns",
            "not growing, ns",
            "times",
        ];
        let mut table = Table::new("growing", &head);
        for row in &self.0 {
            for (name, nanoseconds, floor, times) in row.rounds.medians() {
                table.push(vec![
                    format!("{} × the first capacity", row.growth),
                    row.items.to_string(),
                    row.segments.to_string(),
                    format!("{:.1}", row.bits_per_item),
                    format!("{:.4}", 100.0 * row.rate),
                    name.into(),
                    format!("{nanoseconds:.1}"),
                    format!("{floor:.1}"),
                    format!("{times:.2}"),
                ]);
            }
        }
        results.tables.push(table);
    }
}
