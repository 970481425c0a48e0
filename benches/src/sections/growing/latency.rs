//! The time of each insert while the filter grows, and what the slowest one did.

use std::{hint::black_box, time::Instant};

use guira::{GrowingFilter, Hashed};
use hdrhistogram::Histogram;

use super::curve::KEYS;
use crate::stop;

/// Longest time that the histogram resolves, in nanoseconds: ten seconds.
const LONGEST: u64 = 10_000_000_000;

/// Inserts between two readings of what the thread has used. The slowest insert is one of so many.
const INTERVAL: usize = 64;

/// What a thread and its filter have used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// Bytes of the filter.
    pub bytes: usize,
    /// Page faults of the thread.
    pub faults: i64,
    /// How many times the thread had to leave its core.
    pub interruptions: i64,
}

/// Times of single inserts in one round, in microseconds, without that of reading the clock.
pub struct Latency {
    pub median: f64,
    pub p999: f64,
    pub p9999: f64,
    pub slowest: f64,
    /// What was used within the [`INTERVAL`] of the slowest.
    pub by_slowest: Used,
    /// Items in the filter at the slowest.
    pub items: u64,
    /// The slowest of as many readings of the clock with nothing in between.
    pub idle: f64,
}

impl Latency {
    /// Inserts so many items into an empty filter, and times each insert.
    pub fn measure(filter: &GrowingFilter, items: u64) -> Self {
        let mut histogram = histogram();
        let (mut slowest, mut by_slowest, mut at) = (0, Used::default(), 0);
        let mut before = Used::now(filter);
        let mut inserted = 0;
        while inserted < items && !stop::point() {
            let until = items.min(inserted + (1 << 16));
            KEYS.blocks(inserted..until, |block| {
                for interval in block.chunks(INTERVAL) {
                    let mut longest = 0;
                    for key in Hashed::slice(interval) {
                        let time = nanoseconds(|| filter.insert(key).expect("room"));
                        histogram.saturating_record(time);
                        longest = longest.max(time);
                    }
                    let now = Used::now(filter);
                    if longest > slowest {
                        (slowest, by_slowest) = (longest, now.since(before));
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
        Self {
            median: at_share(0.5),
            p999: at_share(0.999),
            p9999: at_share(0.9999),
            slowest: without_clock(slowest),
            by_slowest,
            items: at,
            idle: without_clock(idle.max()),
        }
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, 3).expect("bounds in order")
}

fn nanoseconds<T>(work: impl FnOnce() -> T) -> u64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_nanos() as u64
}

impl Used {
    /// Reads what the calling thread has used so far.
    fn now(filter: &GrowingFilter) -> Self {
        let bytes = filter.size_in_bytes();
        #[cfg(target_os = "linux")]
        {
            let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
            // SAFETY: the call writes the whole structure, for which all zeros are valid, too.
            let usage = unsafe {
                libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
                usage.assume_init()
            };
            Self { bytes, faults: usage.ru_minflt, interruptions: usage.ru_nivcsw }
        }
        #[cfg(not(target_os = "linux"))]
        Self { bytes, ..Self::default() }
    }

    fn since(self, before: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(before.bytes),
            faults: self.faults - before.faults,
            interruptions: self.interruptions - before.interruptions,
        }
    }
}
