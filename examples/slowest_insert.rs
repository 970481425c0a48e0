//! Measures the slowest inserts of two threads into an expiring filter of 128 MiB, with a `ttl`,
//! whose writes begin generations and sweep, and without: the time that the threads themselves run.
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
const WARM_UP: Duration = Duration::from_secs(10);
const MEASURED: Duration = Duration::from_secs(10);
/// Times are counted in steps of 10 ns up to 1 ms.
const STEP: u64 = 10;
const STEPS: usize = 100_000;

/// Nanoseconds for which this thread has run.
fn cpu_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is that of a local variable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Inserts new keys until the time has ended. Returns how often each number of steps was measured,
/// and the longest time in nanoseconds.
fn measure(filter: &ExpiringFilter, mut key: u64) -> (Vec<u64>, u64) {
    let (mut counts, mut longest, started) = (vec![0; STEPS + 1], 0, Instant::now());
    while started.elapsed() < WARM_UP + MEASURED {
        let before = cpu_time();
        let _ = filter.insert(&key);
        let nanos = cpu_time() - before;
        key += 1;
        if started.elapsed() > WARM_UP {
            counts[((nanos / STEP) as usize).min(STEPS)] += 1;
            longest = longest.max(nanos);
        }
    }
    (counts, longest)
}

fn report(what: &str, filter: &ExpiringFilter) {
    let results = thread::scope(|scope| {
        let threads = [0, 1].map(|thread| scope.spawn(move || measure(filter, thread << 40)));
        threads.map(|thread| thread.join().expect("no panic"))
    });
    let count = |step: usize| results[0].0[step] + results[1].0[step];
    let all: u64 = (0..=STEPS).map(count).sum();
    let at = |share: f64| {
        let mut below = 0;
        let is_there = |&step: &usize| {
            below += count(step);
            below as f64 >= share * all as f64
        };
        (0..=STEPS).find(is_there).unwrap_or(STEPS) as f64 * STEP as f64 / 1e3
    };
    let [median, most, nearly_all] = [0.5, 0.999, 0.999_99].map(at);
    let slow: u64 = (50 * 1_000 / STEP as usize..=STEPS).map(count).sum();
    let max = results[0].1.max(results[1].1) / 1_000;
    println!("{what}, {} bytes: {all} inserts of new items", filter.size_in_bytes());
    println!(
        "  µs: median {median}, p99.9 {most}, p99.999 {nearly_all}, max {max}; {slow} over 50"
    );
}

fn main() {
    let builder = ExpiringFilter::builder().capacity(ITEMS).seed(1);
    report("without a ttl", &builder.clone().window(6).build().expect("memory"));
    report("with a ttl of 15 s", &builder.ttl(TTL).build().expect("memory"));
}
