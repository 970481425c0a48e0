//! Bits per remembered item and the measured rate of false positives, beside `cuckoo-clock` and
//! two blocked Bloom filters that are cleared in turn.

use std::num::NonZeroU32;

use cuckoo_clock::{
    CuckooFilter,
    config::{CuckooConfiguration, TtlConfig},
};
use guira::{ExpiringFilter, Hashed, StableHashBuilder};
use guira_harness::{Keys, table::Table};

use crate::{
    bench::{Bench, Results, Section},
    memory,
    peers::Sbbf,
    stop,
};

/// Windows, and the target rates of the layouts with 4 slots and stamps for these windows.
const CASES: [(u32, f64); 2] = [(13, 0.002), (5, 0.001)];

/// Slots of `cuckoo-clock`, which rounds the number of its buckets up to a power of two.
const SLOTS: u64 = 1 << 21;

/// Items that are remembered at one time, in per cent of these slots: as many as fit.
const LOAD: u64 = 94;

/// Lookups of absent items behind one rate.
const LOOKUPS: u64 = 4_000_000;

/// The rows of the table.
#[derive(Default)]
pub struct Space(Vec<Vec<String>>);

/// The false-positive rate of a filter, and its row.
type Measured = (f64, Vec<String>);

/// Items come evenly; `of_generation` in each.
#[derive(Clone, Copy)]
struct Stream {
    window: u32,
    of_generation: u64,
}

impl Stream {
    /// Runs until every place has been used twice. Returns the indices of the items that have to be
    /// remembered.
    fn run(self, mut insert: impl FnMut(u64), mut advance: impl FnMut()) -> std::ops::Range<u64> {
        let generations = 3 * u64::from(self.window) + 1;
        for generation in 0..generations {
            if generation > 0 {
                advance();
            }
            let first = generation * self.of_generation;
            (first..first + self.of_generation).for_each(|index| insert(KEYS.key(index)));
            stop::point();
        }
        let end = generations * self.of_generation;
        end - (u64::from(self.window) + 1) * self.of_generation..end
    }

    /// Counts what is found, and measures the rate. The bytes are those of all items.
    fn row(
        self,
        name: &'static str,
        bytes: usize,
        remembered: std::ops::Range<u64>,
        mut contains: impl FnMut(u64) -> bool,
    ) -> Measured {
        let items = remembered.end - remembered.start;
        let found = remembered.filter(|&index| contains(KEYS.key(index))).count() as u64;
        // Indices of the upper half are never inserted.
        let absent = (0..LOOKUPS).map(|index| KEYS.key(index | 1 << 63));
        let positives = absent.filter(|&key| contains(key)).count();
        let rate = positives as f64 / LOOKUPS as f64;
        let bits_per_item = format!("{:.1}", 8.0 * bytes as f64 / items as f64);
        let (percent, lost) = (format!("{:.3}", 100.0 * rate), items - found);
        let row =
            vec![self.window.to_string(), name.into(), bits_per_item, percent, lost.to_string()];
        (rate, row)
    }
}

const KEYS: Keys = Keys::new(5);

impl Section for Space {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(0);
        for (window, rate) in CASES {
            bench.say(format!("expiring, bits per item, window of {window}"));
            let items = bench.mode.pick(SLOTS / 16, SLOTS, SLOTS) * LOAD / 100;
            let stream = Stream { window, of_generation: items / u64::from(window + 1) };
            let (rate, row) = guira(stream, rate);
            self.0.push(row);
            self.0.push(cuckoo_clock(stream, rate).1);
            self.0.push(rotating(stream, rate).1);
        }
    }

    fn report(&self, results: &mut Results) {
        let head = ["window", "filter", "bits per item", "false positives, %", "items lost"];
        let table = Table { rows: self.0.clone(), ..Table::new("expiring-space", &head) };
        results.tables.push(("Items that expire: bits per remembered item", table));
    }
}

fn guira(stream: Stream, rate: f64) -> Measured {
    let items = stream.of_generation as usize * (stream.window as usize + 1);
    let builder = ExpiringFilter::builder().capacity(items).window(stream.window).seed(1);
    let filter = builder.false_positive_rate(rate).build().expect("memory");
    let remembered = stream.run(
        |key| {
            filter.insert(&Hashed(key)).expect("room");
        },
        || {
            filter.advance();
            filter.sweep(u64::MAX);
        },
    );
    assert_eq!(filter.len() as u64, remembered.end - remembered.start, "no slot leaks");
    // The buckets alone: without the address space for their alignment.
    let bytes = 8 * filter.slots() / filter.layout().slots_per_bucket() as usize;
    stream.row("guira `ExpiringFilter`", bytes, remembered, |key| filter.contains(&Hashed(key)))
}

/// Its smallest filter with at most about this rate.
fn cuckoo_clock(stream: Stream, rate: f64) -> Measured {
    let before = memory::held();
    let items = stream.of_generation as usize * (stream.window as usize + 1);
    let bits = |bits: u32| (bits as usize).try_into().expect("1 to 32 bits");
    let ttl = NonZeroU32::new(stream.window + 1).expect("a sum is not zero");
    let ttl_bits = bits((stream.window + 1).ilog2() + 1);
    // Lookups compare with two buckets of four slots.
    let fingerprint_bits = bits((8.0 / rate).log2().round() as u32);
    let configuration = CuckooConfiguration::builder(items)
        .fingerprint_bits(fingerprint_bits)
        .with_ttl(TtlConfig { ttl, ttl_bits })
        .build()
        .expect("a small number of items");
    let filter = CuckooFilter::new(configuration, StableHashBuilder::from_seed(1));
    let remembered = stream.run(
        |key| {
            filter.insert(&key);
        },
        || {
            filter.scan_and_update_ttl();
        },
    );
    let bytes = (memory::held() - before) as usize;
    stream.row("`cuckoo-clock`", bytes, remembered, |key| filter.contains(&key))
}

/// The smallest pair of filters that has this rate when both are full, right before one of them is
/// cleared. Each takes the items of `window` generations: so each item is remembered for as long as
/// by the others at least.
fn rotating(stream: Stream, rate: f64) -> Measured {
    let items = stream.of_generation * u64::from(stream.window);
    // What a Bloom filter needs that is not blocked.
    let mut bits_per_item = 1.44 * (2.0 / rate).log2();
    loop {
        let bytes = (bits_per_item * items as f64 / 8.0) as usize;
        let mut filters = [Sbbf::new(bytes), Sbbf::new(bytes)];
        for (filter, first) in filters.iter_mut().zip([0, items]) {
            KEYS.blocks(first..first + items, |block| {
                for &key in block {
                    filter.insert(key);
                }
            });
        }
        let end = 2 * items;
        let remembered = end - items - stream.of_generation..end;
        let contains = |key| filters.iter().any(|filter| filter.contains(key));
        let row = stream.row("two `sbbf-rs`, cleared in turn", 2 * bytes, remembered, contains);
        if row.0 <= rate || stop::point() {
            return row;
        }
        bits_per_item += 0.25;
    }
}
