//! The cost of growth: a filter that has grown through several segments, against one that was built
//! for as many items and the same target rate.

use guira::{
    CuckooFilter, Filter, GrowingFilter, Hashed,
    kind::{Growth, Set},
};
use guira_bench::{Keys, table::Table};

use crate::{
    run::{Bench, Results, Section},
    timing::{Beside, Rounds, over_keys},
    workload::{insert_batch, lookup_batch, lookup_single},
};

/// Multiples of the first capacity: they take 1, 4, 7 and 10 or 11 segments.
const GROWTH: [usize; 4] = [1, 10, 100, 1_000];

/// Bytes of a filter that stays in a cache.
const CACHED: usize = 1 << 20;

/// Items of a burst.
const BURST: usize = 32;

/// Operations of each kind, apart from the first inserts.
const TIMED: u64 = 1 << 21;

/// Target false-positive rate of both filters.
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

/// Measures a filter.
fn measure<G: Growth>(filter: &Filter<Set, G>, items: u64) -> Times {
    let filling = insert_batch(filter, Keys::new(1), 0..items);
    let mut times = vec![("insert, batch, from empty", filling.per_key())];
    // Spread over all inserted keys, so over all segments.
    let timed = TIMED.min(items);
    let present = |nth: u64| Keys::new(1).key(nth * (items / timed));
    let present: Vec<u64> = (0..timed).map(present).collect();
    let absent = Keys::new(2).range(0..timed);
    for ([single_name, batch_name, burst_name], keys, least) in [
        (
            ["lookup, present, single", "lookup, present, batch", "lookup, present, burst"],
            &present,
            present.len(),
        ),
        (["lookup, absent, single", "lookup, absent, batch", "lookup, absent, burst"], &absent, 0),
    ] {
        let (clock, single) = lookup_single(filter, keys);
        times.push((single_name, clock.per_key()));
        let (clock, batch) = lookup_batch(filter, keys);
        times.push((batch_name, clock.per_key()));
        let mut bursts = 0;
        let clock = over_keys(keys, |block| {
            let masks = block.chunks(BURST).map(|burst| filter.contains_mask(Hashed::slice(burst)));
            bursts += masks.map(|mask| mask.count_ones() as usize).sum::<usize>();
        });
        times.push((burst_name, clock.per_key()));
        let is_right = single == batch && single == bursts && single >= least;
        assert!(is_right, "all find every present key");
    }
    let clock = over_keys(&present, |block| {
        assert!(block.iter().all(|&key| filter.remove(&Hashed(key))), "every key is present");
    });
    times.push(("remove, single", clock.per_key()));
    let clock = over_keys(&present, |block| {
        assert!(block.iter().all(|&key| filter.insert(&Hashed(key)).is_ok()), "room");
    });
    times.push(("insert, what was removed, single", clock.per_key()));
    times
}

impl Growing {
    /// Measures both filters with so many items, several times.
    fn measure_growth(&mut self, bench: &Bench, items: u64, growth: usize) {
        for round in 0..bench.mode.pick(1, 1, 3) {
            bench.say(format!("{items} items, grown {growth} times, round {}", round + 1));
            let fixed = CuckooFilter::builder().capacity(items as usize);
            let fixed = fixed.false_positive_rate(RATE).seed(1).build().expect("memory");
            let floor = measure(&fixed, items);
            drop(fixed);
            let growing = GrowingFilter::builder().capacity(items as usize / growth);
            let growing = growing.false_positive_rate(RATE).seed(1).build().expect("memory");
            let own = measure(&growing, items);
            if self.0.last().is_none_or(|row| (row.items, row.growth) != (items, growth)) {
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

impl Section for Growing {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(0);
        let large = bench.mode.pick(bench.bytes / 2, bench.bytes / 4, bench.bytes);
        for bytes in [CACHED, large] {
            let items = (bytes as f64 * 8.0 / 16.7) as u64;
            for growth in GROWTH {
                self.measure_growth(bench, items, growth);
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
