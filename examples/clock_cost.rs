//! Measures what the clock of a `ttl` costs, in nanoseconds and beside the same filter with a
//! `window`: lookups of absent and of present keys, batches, refreshes and inserts, by the coarse
//! clock and by one of the caller that loads an atomic; in a second-level cache and in memory.
//!
//! `cargo run --release --example clock_cost`

use std::{
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use guira::{ExpiringFilter, Hashed};

/// Capacities of tables of 220 KiB and of 60 MiB.
const CAPACITIES: [u64; 2] = [110_000, 30_000_000];
const OPERATIONS: u64 = 200_000;
/// Rounds, of which the median counts.
const ROUNDS: usize = 15;
const BATCH: usize = 64;

static NOW: AtomicU64 = AtomicU64::new(1);

/// What is measured.
type Operation = fn(&ExpiringFilter, u64, u64);

/// The hash of the item with a number, in no order.
fn hash(nth: u64) -> Hashed {
    let mixed = (nth ^ (nth >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Hashed(mixed ^ (mixed >> 29))
}

/// Calls a function with as many random numbers below a limit.
fn random(start: u64, limit: u64, mut each: impl FnMut(u64)) {
    for nth in start..start + OPERATIONS {
        each(((u128::from(hash(nth).0) * u128::from(limit)) >> 64) as u64);
    }
}

const OPERATIONS_BY_NAME: [(&str, Operation); 5] = [
    ("absent", |filter, start, items| {
        random(start, items, |nth| _ = black_box(filter.contains(&hash(nth + (1 << 40)))));
    }),
    ("present", |filter, start, items| {
        random(start, items, |nth| _ = black_box(filter.contains(&hash(nth))));
    }),
    ("batches of 64", |filter, start, items| {
        let (mut keys, mut found) = ([Hashed(0); BATCH], [false; BATCH]);
        let mut filled = 0;
        random(start, items, |nth| {
            keys[filled % BATCH] = hash(nth);
            filled += 1;
            if filled % BATCH == 0 {
                black_box(filter.contains_batch(&keys, &mut found));
            }
        });
    }),
    ("refresh", |filter, start, items| {
        random(start, items, |nth| _ = black_box(filter.refresh(&hash(nth))));
    }),
    ("insert_unique", |filter, start, items| {
        random(start, items, |nth| _ = black_box(filter.insert_unique(&hash(nth)).is_ok()));
    }),
];

fn main() {
    println!("{:>10} {:>14} {:>8} {:>14} {:>14}", "items", "", "window", "coarse clock", "atomic");
    for capacity in CAPACITIES {
        let items = capacity * 8 / 10;
        let builder = ExpiringFilter::builder().capacity(capacity as usize).seed(7);
        let timed = || builder.clone().ttl(Duration::from_secs(36_000));
        let filters = [
            builder.clone().window(6).build(),
            timed().build(),
            timed().clock(|| NOW.load(Relaxed)).build(),
        ]
        .map(|filter| filter.expect("memory"));
        for filter in &filters {
            (0..items).for_each(|nth| _ = filter.insert(&hash(nth)).expect("room"));
        }
        for (name, operation) in OPERATIONS_BY_NAME {
            let mut times = [const { Vec::new() }; 3];
            for round in 0..ROUNDS as u64 {
                for (filter, times) in filters.iter().zip(&mut times) {
                    let start = Instant::now();
                    operation(filter, round * OPERATIONS, items);
                    times.push(start.elapsed().as_nanos() as f64 / OPERATIONS as f64);
                }
            }
            let [window, coarse, atomic] = times.map(|mut times| {
                times.sort_by(f64::total_cmp);
                times[ROUNDS / 2]
            });
            println!(
                "{items:>10} {name:>14} {window:>8.1} {coarse:>7.1} ({:.2}) {atomic:>7.1} ({:.2})",
                coarse / window,
                atomic / window,
            );
        }
    }
}
