//! The time of each insert: percentiles, and what happened during the slowest one.

use std::{hint::black_box, time::Instant};

use guira::{
    Filter, Hashed,
    kind::{Contents, Growth},
};
use guira_harness::Keys;
use hdrhistogram::Histogram;

use crate::{span::words, stop};

pub const P999: &str = "one insert, 99.9th percentile";
pub const P9999: &str = "one insert, 99.99th percentile";

/// Heads of the table of single inserts. What is used is that of the [`INTERVAL`] of the slowest.
pub const LATENCY: [&str; 10] = [
    "filter",
    "median, µs",
    "99.9 %, µs",
    "99.99 %, µs",
    "slowest, µs",
    "at",
    "KiB committed",
    "page faults",
    "interruptions",
    "slowest of the clock alone, µs",
];

/// Longest time that the histogram resolves, in nanoseconds: ten seconds.
const LONGEST: u64 = 10_000_000_000;

/// Inserts between two readings of what the thread has used. The slowest insert is one of so many.
const INTERVAL: usize = 64;

/// Inserts so many items into an empty filter, and times each insert. With a rate, an insert waits
/// until it is due: so many of them are per second. Returns the 99.9th and the 99.99th percentile
/// in microseconds, without the time of reading the clock, and the cells of the table: those of
/// [`LATENCY`] but the first.
pub fn time_each<C: Contents, G: Growth>(
    filter: &Filter<C, G>,
    (keys, items): (Keys, u64),
    rate: Option<u64>,
    insert: impl Fn(&Hashed),
) -> ([f64; 2], Vec<String>) {
    let started = Instant::now();
    let mut histogram = histogram();
    let (mut slowest, mut by_slowest, mut at) = (0, [0; 3], 0);
    let mut before = used(filter);
    let mut inserted = 0;
    while inserted < items && !stop::point() {
        let until = items.min(inserted + (1 << 16));
        keys.blocks(inserted..until, |block| {
            for (nth, interval) in block.chunks(INTERVAL).enumerate() {
                let due = |rate| started.elapsed().as_nanos() as u64 * rate / 1_000_000_000;
                let number = inserted + (nth * INTERVAL) as u64;
                while rate.is_some_and(|rate| due(rate) < number) {}
                let mut longest = 0;
                for key in Hashed::slice(interval) {
                    let time = nanoseconds(|| insert(key));
                    histogram.saturating_record(time);
                    longest = longest.max(time);
                }
                let now = used(filter);
                if longest > slowest {
                    slowest = longest;
                    by_slowest = std::array::from_fn(|nth| now[nth] - before[nth]);
                    at = filter.len() as u64;
                }
                before = now;
            }
        });
        inserted = until;
    }
    let mut idle = self::histogram();
    for _ in 0..items {
        idle.saturating_record(nanoseconds(|| ()));
    }
    let clock = idle.value_at_quantile(0.5);
    let without_clock = |nanoseconds: u64| nanoseconds.saturating_sub(clock) as f64 / 1e3;
    let at_share = |share| without_clock(histogram.value_at_quantile(share));
    let percentiles = [0.5, 0.999, 0.9999].map(at_share);
    let mut cells: Vec<String> = percentiles.iter().map(|it| format!("{it:.2}")).collect();
    cells.extend([format!("{:.0}", without_clock(slowest)), words(at)]);
    let [bytes, faults, interruptions] = by_slowest;
    cells.extend([bytes >> 10, faults, interruptions].map(|it| it.to_string()));
    // The slowest of as many readings of the clock with nothing in between.
    cells.push(format!("{:.0}", without_clock(idle.max())));
    ([percentiles[1], percentiles[2]], cells)
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, 3).expect("bounds in order")
}

fn nanoseconds<T>(work: impl FnOnce() -> T) -> u64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_nanos() as u64
}

/// Returns what the calling thread and its filter have used so far: bytes of the filter, page
/// faults of the thread, and how many times it had to leave its core.
fn used<C: Contents, G: Growth>(filter: &Filter<C, G>) -> [i64; 3] {
    let bytes = filter.size_in_bytes() as i64;
    #[cfg(target_os = "linux")]
    {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the call writes the whole structure, for which all zeros are valid, too.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init()
        };
        [bytes, usage.ru_minflt, usage.ru_nivcsw]
    }
    #[cfg(not(target_os = "linux"))]
    [bytes, 0, 0]
}
