//! Tickers, with a clock that is simulated.

use std::{cell::Cell, time::Duration};

use rand::RngExt;

use super::{
    builder,
    common::{rng, scaled},
};

/// An item is found for at least the time to live, and at most for the time that is documented,
/// however late and irregular the calls are.
#[test]
fn items_live_for_their_time() {
    for window in [1, 2, 5, 13, 253] {
        for nanos in [1_000_003, 7, 0] {
            let filter = builder(5_000, window).false_positive_rate(0.01).build().expect("memory");
            let time_to_live = Duration::from_nanos(nanos);
            let mut ticker = filter.ticker(time_to_live);
            let interval = ticker.interval();
            assert!(interval * window >= time_to_live && !interval.is_zero());
            assert!(interval * window <= time_to_live + Duration::from_nanos(window.into()));
            let mut rng = rng(window.into());
            let longest_step = (interval / 3).max(Duration::from_nanos(1));
            // Each reading takes time, so an advance does, too.
            let clock = Cell::new(Duration::from_secs(1_000));
            let reading = Duration::from_nanos(3);
            let read = || {
                clock.set(clock.get() + reading);
                clock.get()
            };
            ticker.tick(&filter, read);
            let mut items: Vec<(u64, Duration, u64)> = Vec::new();
            for key in 0..scaled(500, 5_000) {
                // Right after a call of `tick`, and right before one, which may be late.
                let mut insert = |key: u64| {
                    let generation = filter.insert(&key).expect("an empty slot");
                    items.push((key, clock.get(), generation));
                };
                insert(2 * key);
                let step = rng.random_range(0..=longest_step.as_nanos() as u64);
                clock.set(clock.get() + Duration::from_nanos(step));
                insert(2 * key + 1);
                // If the next generation begins now, it begins after the clock was read.
                let earliest = clock.get() + reading;
                ticker.tick(&filter, read);
                let longest = (interval + longest_step + 4 * reading) * (window + 1);
                items.retain(|&(key, begin, generation)| {
                    let life = clock.get().saturating_sub(begin);
                    let before = earliest.saturating_sub(begin);
                    let is_old = filter.generation() > generation + u64::from(window);
                    assert!(is_old || filter.contains(&key));
                    assert!(!is_old || before >= time_to_live, "{key} lived for {before:?}");
                    assert!(is_old || life <= longest, "{key} lives for {life:?}");
                    !is_old
                });
            }
        }
    }
}

/// Each generation begins at most once in an interval, after a long pause, too.
#[test]
fn pauses_are_not_made_up_for_at_once() {
    let filter = builder(100, 5).build().expect("a small filter");
    let mut ticker = filter.ticker(Duration::from_secs(50));
    let now = Cell::new(Duration::ZERO);
    let first = filter.generation();
    let tick = |ticker: &mut guira::Ticker, seconds| {
        now.set(Duration::from_secs(seconds));
        ticker.tick(&filter, || now.get())
    };
    assert_eq!(
        [0, 9, 10, 11, 19].map(|at| tick(&mut ticker, at)),
        [None, None, Some(first + 1), None, None]
    );
    assert_eq!(
        [500, 500, 509, 510].map(|at| tick(&mut ticker, at)),
        [Some(first + 2), None, None, Some(first + 3)]
    );
    // The caller may do so, before the filter is used.
    assert_eq!(ticker.resume(Duration::from_secs(39)), 3);
    assert_eq!([900, 909, 910].map(|at| tick(&mut ticker, at)), [None, None, Some(first + 4)]);
    assert_eq!(ticker.resume(Duration::MAX), 6);
    assert_eq!([2_000, 3_000].map(|at| tick(&mut ticker, at)), [None, Some(first + 5)]);
}

#[test]
fn no_time_is_too_long() {
    let filter = builder(100, 1).build().expect("a small filter");
    let mut ticker = filter.ticker(Duration::MAX);
    assert_eq!((ticker.interval(), ticker.resume(Duration::MAX)), (Duration::MAX, 1));
    assert_eq!(ticker.tick(&filter, || Duration::MAX / 2), None);
    let ticker = builder(100, 253).build().expect("a small filter").ticker(Duration::MAX);
    assert!(ticker.interval() > Duration::MAX / 254);
}
