//! Measures the slowest inserts of two threads into an expiring filter of 128 MiB, whose writes
//! begin generations and sweep. What takes as long without any insert is due to the machine.
//!
//! `cargo run --release --example slowest_insert`

use std::{
    thread,
    time::{Duration, Instant},
};

use guira::ExpiringFilter;

/// Fills a table of 2^24 buckets.
const ITEMS: usize = 63_500_000;
/// In eight intervals of this time to live, the threads insert about as many items.
const TTL: Duration = Duration::from_secs(15);
/// The filter is full, and begins generations, before anything is measured.
const WARM_UP: Duration = Duration::from_secs(25);
const MEASURED: Duration = Duration::from_secs(20);
/// Times are counted in steps of 10 ns up to 1 ms.
const STEP: u64 = 10;
const STEPS: usize = 100_000;

/// Calls an operation with new keys until the time has ended. Returns how often each number of
/// steps was measured, and the longest time in nanoseconds.
fn measure(mut key: u64, warm_up: Duration, operation: impl Fn(u64)) -> (Vec<u64>, u64) {
    let (mut counts, mut longest, started) = (vec![0; STEPS + 1], 0, Instant::now());
    loop {
        let before = Instant::now();
        operation(key);
        let after = Instant::now();
        key += 1;
        if after - started > warm_up {
            let nanos = (after - before).as_nanos() as u64;
            counts[((nanos / STEP) as usize).min(STEPS)] += 1;
            longest = longest.max(nanos);
        }
        if after - started > warm_up + MEASURED {
            return (counts, longest);
        }
    }
}

fn report(what: &str, warm_up: Duration, operation: impl Fn(u64) + Sync) {
    let results = thread::scope(|scope| {
        let operation = &operation;
        let threads =
            [0, 1].map(|thread| scope.spawn(move || measure(thread << 40, warm_up, operation)));
        threads.map(|thread| thread.join().expect("no panic"))
    });
    let count = |step: usize| results[0].0[step] + results[1].0[step];
    let all: u64 = (0..=STEPS).map(count).sum();
    let at = |share: f64| {
        let mut below = 0;
        let step = (0..=STEPS).find(|&step| {
            below += count(step);
            below as f64 >= share * all as f64
        });
        (step.unwrap_or(STEPS) as u64 * STEP) as f64 / 1e3
    };
    let above = |micros: usize| (micros * 100..=STEPS).map(count).sum::<u64>();
    let longest = results[0].1.max(results[1].1) / 1_000;
    let [median, most, nearly_all] = [0.5, 0.999, 0.999_99].map(at);
    println!(
        "{what}: {all} calls; µs: median {median}, p99.9 {most}, p99.999 {nearly_all}, max {longest}"
    );
    println!(
        "    over 20 µs: {}, over 50 µs: {}, over 1 ms: {}",
        above(20),
        above(50),
        above(1_000)
    );
}

fn main() {
    let filter = ExpiringFilter::builder().capacity(ITEMS).ttl(TTL).seed(1).build();
    let filter = filter.expect("memory");
    let generation = filter.generation();
    report("inserts", WARM_UP, |key| _ = filter.insert(&key));
    let begun = filter.generation() - generation;
    let load = filter.len() as f64 / filter.slots() as f64;
    println!("    {} bytes, {begun} generations, load {load:.2}", filter.size_in_bytes());
    report("nothing", Duration::ZERO, |_| {});
}
