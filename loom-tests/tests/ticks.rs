//! Calls of `tick_by`, and of `advance_to`, at two readings of the clock.
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

/// Reads a clock that never goes back, and has shown this many intervals at least.
fn read(clock: &AtomicU64, intervals: u64) -> Duration {
    clock.fetch_max(intervals * INTERVAL, SeqCst);
    Duration::from_nanos(clock.load(SeqCst))
}

/// Calls `tick_by` at such a reading.
fn tick(filter: &ExpiringFilter, clock: &AtomicU64, intervals: u64) -> Option<u64> {
    filter.tick_by(|| read(clock, intervals))
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

/// Catches an `advance_to` that counts a reading for a generation that another call has ended.
/// Then the time that was counted of the later one is lost, and the next call begins no generation.
#[test]
fn advances_to_readings_an_interval_apart() {
    check("advances_to_apart", 125, &["one after the other", "both at once"], |seen| {
        let filter = Arc::new(ExpiringFilter::empty());
        let clock = StdArc::new(AtomicU64::new(0));
        let start = filter.advance_to(|| read(&clock, 0));
        let late = {
            let clock = StdArc::clone(&clock);
            spawn(&filter, move |filter| filter.advance_to(|| read(&clock, 2)))
        };
        let early = filter.advance_to(|| read(&clock, 1));
        let late = late.join().unwrap();
        assert_eq!(early.max(late), start + 2, "as many generations as intervals");
        seen.note_if(early == late, "both at once", "one after the other");
        assert_eq!(filter.advance_to(|| read(&clock, 3)), start + 3, "counted time is lost");
    });
}
