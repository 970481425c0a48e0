//! Calls of `tick_by` at two readings of the clock.
#![cfg(not(feature = "semi-sorted"))]

use std::{
    sync::{
        Arc as StdArc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use guira::ExpiringFilter;
use guira_loom_tests::{
    check,
    doors::{INTERVAL, Tiny},
    spawn,
};
use loom::sync::Arc;

/// Calls `tick_by` when a clock, which never goes back, has shown this many intervals at least.
fn tick(filter: &ExpiringFilter, clock: &AtomicU64, intervals: u64) -> Option<u64> {
    filter.tick_by(|| {
        clock.fetch_max(intervals * INTERVAL, SeqCst);
        Duration::from_nanos(clock.load(SeqCst))
    })
}

/// Catches a `tick_by` that counts a reading for another generation than that in which it was taken.
/// It returns a generation that another call has begun, or delays the next one.
#[test]
fn ticks_an_interval_apart() {
    check("ticks_apart", 430, &["one", "both"], |seen| {
        let filter = Arc::new(ExpiringFilter::empty());
        let clock = StdArc::new(AtomicU64::new(0));
        assert_eq!(tick(&filter, &clock, 0), None, "time counts from here");
        let start = filter.generation();
        let late = {
            let clock = StdArc::clone(&clock);
            spawn(&filter, move |filter| tick(filter, &clock, 2))
        };
        let begun = [tick(&filter, &clock, 1), late.join().unwrap()];
        let present = filter.generation();
        assert!(begun[0] != begun[1], "a generation was returned twice");
        assert_eq!(begun.into_iter().max(), Some(Some(present)), "nobody returned it");
        seen.note_if(begun.iter().all(Option::is_some), "both", "one");
        if present == start + 1 {
            let next = tick(&filter, &clock, 3);
            assert_eq!(next, Some(start + 2), "the generation is too long");
        }
    });
}
