//! Follows the clocks of the system: how long items are found in filters with a `ttl`, with no
//! other write, with few and with many. Prints when an item was last found and first missed, in
//! time to live; fails if one was forgotten early, or found beyond the bound that `ttl` promises.
//!
//! `cargo run --release --example lifetimes`

use std::{
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use guira::ExpiringFilter;

/// Largest lag of the coarse clock, which serves from the second of these times to live on.
const LAG: Duration = Duration::from_millis(72);
const COARSE: Duration = Duration::from_millis(360);

/// What became of an item.
#[derive(Default)]
struct Fate {
    /// When the last lookup that found it began, and when the first that missed it returned.
    last: Duration,
    first: Option<Duration>,
}

/// Follows some items in turn, while there are so many other writes in a time to live. Returns the
/// earliest time at which one was missed, and the latest at which one was found.
fn follow(ttl: Duration, writes: u32, items: u64) -> (Duration, Duration) {
    let builder = ExpiringFilter::builder().ttl(ttl).capacity(100_000);
    // Few keys are found by chance.
    let seen = builder.false_positive_rate(0.000_1).build().expect("memory");
    let (mut earliest, mut latest, mut other) = (Duration::MAX, Duration::ZERO, 1_u64 << 40);
    for item in 0..items {
        let begun = Instant::now();
        seen.insert(&item).expect("room");
        let (returned, mut written) = (Instant::now(), Instant::now());
        let mut fate = Fate::default();
        while begun.elapsed() < 2 * ttl + 3 * LAG {
            if writes > 0 && written.elapsed() >= ttl / writes {
                other += 1;
                seen.insert(&other).expect("room");
                written = Instant::now();
            }
            let asked = returned.elapsed();
            if seen.contains(&item) {
                fate.last = asked;
            } else if fate.first.is_none() {
                fate.first = Some(begun.elapsed());
            }
            thread::sleep(ttl / 500);
        }
        earliest = earliest.min(fate.first.unwrap_or(Duration::MAX));
        latest = latest.max(fate.last);
    }
    (earliest, latest)
}

fn main() -> ExitCode {
    println!(
        "{:>8} {:>8} {:>14} {:>12} {:>12}",
        "ttl", "writes", "first missed", "last found", "bound"
    );
    let mut holds = true;
    for millis in [10, 30, 100, 300, 360, 1_000] {
        let ttl = Duration::from_millis(millis);
        let lag = if ttl < COARSE { Duration::ZERO } else { LAG };
        let bound = ttl * 6 / 5 + 2 * lag;
        for writes in [0, 2, 1_000] {
            let (earliest, latest) = follow(ttl, writes, (1_000 / millis).clamp(2, 20));
            let is_right = earliest >= ttl && latest <= bound;
            holds &= is_right;
            println!(
                "{:>5} ms {writes:>8} {:>11.1} ms {:>9.1} ms {:>9.1} ms{}",
                millis,
                earliest.as_secs_f64() * 1e3,
                latest.as_secs_f64() * 1e3,
                bound.as_secs_f64() * 1e3,
                if is_right { "" } else { "  WRONG" },
            );
        }
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
