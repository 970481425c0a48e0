//! Time by the caller's clock, which is simulated.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
    time::Duration,
};

#[cfg(feature = "std")]
use guira::{ExpiringFilter, kind::Fixed};
use guira::{Filter, kind::Expiring};
use rand::RngExt;

use super::{
    builder,
    common::{Subject, rng, scaled, suite::on_both_engines},
};

on_both_engines! {
    items_live_for_their_time,
    pauses_are_not_made_up_for_at_once,
    a_clock_may_be_set,
    a_generation_is_counted_from_its_beginning,
    readings_that_come_late_are_not_counted,
    threads_may_tick_at_once,
    a_clone_goes_on_with_the_time,
    without_a_time_to_live_nothing_is_due,
    no_time_is_too_long,
    readings_agree_with_a_model,
}

/// Returns a filter with an interval of 10 seconds and a window of 5.
fn filter<G: Subject>() -> Filter<Expiring, G> {
    let builder = builder::<G>(1_000, 5).time_to_live(Duration::from_secs(50));
    builder.build().expect("a small filter")
}

/// Calls `tick` at a number of seconds.
fn tick<G: Subject>(filter: &Filter<Expiring, G>, seconds: u64) -> Option<u64> {
    filter.tick_by(|| Duration::from_secs(seconds))
}

/// Saves a filter and loads it.
#[cfg(feature = "std")]
fn restarted(filter: &ExpiringFilter) -> ExpiringFilter {
    ExpiringFilter::loader().bytes(&filter.to_bytes()).expect("its own bytes")
}

/// An item is found for at least the time to live, and at most for the time that is documented,
/// however late and irregular the calls are.
fn items_live_for_their_time<G: Subject>() {
    for window in [1, 2, 5, 13, 253] {
        for nanos in [1_000_003, 7, 0] {
            let time_to_live = Duration::from_nanos(nanos);
            let builder = builder::<G>(5_000, window).false_positive_rate(0.01);
            let filter = builder.time_to_live(time_to_live).build().expect("memory");
            let interval = filter.interval().expect("a time to live");
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
            filter.tick_by(read);
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
                filter.tick_by(read);
                let delay = longest_step + 4 * reading;
                let longest = interval * (window + 1) + delay * (window + 2);
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

/// Each call begins at most one generation, after a long pause, too.
fn pauses_are_not_made_up_for_at_once<G: Subject>() {
    let filter = filter::<G>();
    let first = filter.generation();
    let at = |seconds| tick(&filter, seconds);
    assert_eq!([0, 9, 10, 11, 19].map(at), [None, None, Some(first + 1), None, None]);
    assert_eq!([500, 500, 509, 510].map(at), [Some(first + 2), None, None, Some(first + 3)]);
}

/// Steps back make no generation shorter, and a step forward makes one of them shorter.
fn a_clock_may_be_set<G: Subject>() {
    let filter = filter::<G>();
    let first = filter.generation();
    let at = |seconds| tick(&filter, seconds);
    assert_eq!([1_000, 1_009, 3, 3].map(at), [None; 4]);
    assert_eq!([4, 13, 0, 0, 1].map(at), [Some(first + 1), None, None, None, Some(first + 2)]);
    assert_eq!([1 << 30, (1 << 30) + 9].map(at), [Some(first + 3), None]);
}

/// The time that the beginning of a generation takes belongs to neither.
fn a_generation_is_counted_from_its_beginning<G: Subject>() {
    let filter = filter::<G>();
    let first = filter.generation();
    assert_eq!(tick(&filter, 0), None);
    // The call reads the clock at 10, and again at 15, when the generation has begun.
    let seconds = Cell::new(10);
    assert_eq!(filter.tick_by(|| Duration::from_secs(seconds.replace(15))), Some(first + 1));
    assert_eq!([24, 25].map(|at| tick(&filter, at)), [None, Some(first + 2)]);
}

/// What another call counts while the clock is read is not counted twice, and a generation that
/// begins meanwhile is not taken for an older one.
fn readings_that_come_late_are_not_counted<G: Subject>() {
    let filter = filter::<G>();
    let first = filter.generation();
    assert_eq!(tick(&filter, 0), None);
    // The clock is read at 1, and then another call counts the time up to 9.
    let late = || {
        assert_eq!(tick(&filter, 9), None);
        Duration::from_secs(1)
    };
    assert_eq!(filter.tick_by(late), None);
    assert_eq!(tick(&filter, 9), None, "the time from 1 to 9 was counted twice");
    assert_eq!(tick(&filter, 10), Some(first + 1));
    // `advance` begins a generation at 19, after the clock was read.
    let late = || {
        filter.advance();
        Duration::from_secs(19)
    };
    assert_eq!(filter.tick_by(late), None);
    assert_eq!([19, 28].map(|at| tick(&filter, at)), [None, None]);
    assert_eq!(tick(&filter, 29), Some(first + 3));
}

/// Threads that call `tick` all the time begin no more generations than there are intervals, and
/// only one call returns each of them.
fn threads_may_tick_at_once<G: Subject>() {
    let filter = filter::<G>();
    let (first, clock) = (filter.generation(), AtomicU64::new(0));
    let ends = 1_000_u64;
    // A reading can be old by the time that it is counted.
    let read = || Duration::from_secs(clock.fetch_add(1, SeqCst));
    let run = || {
        let mut begun = Vec::new();
        while clock.load(SeqCst) < ends {
            begun.extend(filter.tick_by(read));
        }
        begun
    };
    let mut begun = thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(run));
        threads.map(|thread| thread.join().expect("no panic")).concat()
    });
    begun.sort_unstable();
    let count = begun.len() as u64;
    assert_eq!(begun, (first + 1..=first + count).collect::<Vec<_>>());
    assert!((1..=clock.into_inner() / 10).contains(&count), "{count} generations");
}

/// Random readings by either call, between generations that `advance` begins, and in clones.
fn readings_agree_with_a_model<G: Subject>() {
    const INTERVAL: u64 = 10;
    for window in [1_u32, 5, 13, 253] {
        let all = u64::from(window) + 1;
        let builder = builder::<G>(10, window);
        let builder = builder.time_to_live(Duration::from_secs(INTERVAL * u64::from(window)));
        let mut filter = builder.build().expect("a small filter");
        let (mut rng, mut now, mut clock) = (rng(window.into()), filter.generation(), 1_000);
        // When the present generation began, if the clock was read since.
        let mut begun = None;
        for _ in 0..scaled(300, 3_000) {
            match rng.random_range(0..9) {
                0..3 => {
                    now += 1;
                    assert_eq!(filter.advance(), now);
                    begun = None;
                }
                3..6 => {
                    clock += rng.random_range(0..INTERVAL * 2);
                    let is_due = clock - *begun.get_or_insert(clock) >= INTERVAL;
                    if is_due {
                        (now, begun) = (now + 1, Some(clock));
                    }
                    assert_eq!(tick(&filter, clock), is_due.then_some(now));
                }
                6..8 => {
                    clock += rng.random_range(0..INTERVAL * 4);
                    let start = *begun.get_or_insert(clock);
                    let due = ((clock - start) / INTERVAL).min(all);
                    begun = Some(if due == all { clock } else { start + due * INTERVAL });
                    now += due;
                    assert_eq!(filter.advance_to(|| Duration::from_secs(clock)), now);
                }
                _ => filter = filter.clone(),
            }
        }
    }
}

/// Many restarts within an interval do not keep an item alive.
#[cfg(feature = "std")]
#[test]
fn restarts_do_not_begin_the_interval_anew() {
    // By a clock that goes on, and by one that begins anew in each process.
    for goes_on in [true, false] {
        let mut filter = filter::<Fixed>();
        let first = filter.insert(&7).expect("room");
        for restart in 0..71 {
            let start = if goes_on { 9 * restart } else { 0 };
            for second in 0..9 {
                tick(&filter, start + second);
            }
            tick(&filter, start + 9);
            filter = restarted(&filter);
        }
        // Of each generation, nine seconds at most were not counted: `tick` was called late.
        assert!(filter.generation() >= first + 71 * 9 / 20, "{} advances", filter.generation());
        assert!(!filter.contains(&7), "an item lives for ever");
    }
}

/// `advance_to` makes up for a time in a file, and no item is forgotten early by it.
#[cfg(feature = "std")]
#[test]
fn time_in_a_file_counts() {
    for away in [0, 1, 2, 12, 25, 42, 51, 52, 53, 60, 1_000_000_000] {
        let saved = filter::<Fixed>();
        let first = saved.insert(&7).expect("room");
        tick(&saved, 1_000);
        tick(&saved, 1_008);
        let filter = restarted(&saved);
        let now = 1_008 + away;
        let expected = first + ((8 + away) / 10).min(6);
        assert_eq!(filter.advance_to(|| Duration::from_secs(now)), expected, "after {away} s");
        assert_eq!(filter.contains(&7), 8 + away < 60);
        // The rest of the time counts for the next generation, unless everything has expired.
        let rest = if expected == first + 6 { 0 } else { (8 + away) % 10 };
        assert_eq!(tick(&filter, now + 9 - rest), None);
        assert_eq!(tick(&filter, now + 10 - rest), Some(expected + 1));
    }
}

/// A clock that begins anew is no reason to begin a generation, and it counts from there on.
#[cfg(feature = "std")]
#[test]
fn a_clock_that_begins_anew_counts_from_there() {
    let saved = filter::<Fixed>();
    let first = saved.generation();
    tick(&saved, 1_000);
    tick(&saved, 1_008);
    let filter = restarted(&saved);
    assert_eq!(filter.advance_to(|| Duration::from_secs(5)), first);
    assert_eq!(tick(&filter, 6), None);
    assert_eq!(tick(&filter, 7), Some(first + 1));
}

/// A copy counts the time of its own generation only.
fn a_clone_goes_on_with_the_time<G: Subject>() {
    let filter = filter::<G>();
    let first = filter.generation();
    tick(&filter, 0);
    tick(&filter, 8);
    assert_eq!(filter.clone().advance_to(|| Duration::from_secs(10)), first + 1);
    // It is not known when this generation began.
    filter.advance();
    let clone = filter.clone();
    assert_eq!([9, 18].map(|at| tick(&clone, at)), [None, None]);
    assert_eq!(tick(&clone, 19), Some(first + 2));
}

fn without_a_time_to_live_nothing_is_due<G: Subject>() {
    let filter = builder::<G>(100, 1).build().expect("a small filter");
    let first = filter.generation();
    assert_eq!(filter.interval(), None);
    assert_eq!([0, u64::MAX].map(|at| tick(&filter, at)), [None, None]);
    assert_eq!(filter.advance_to(|| Duration::MAX), first);
}

fn no_time_is_too_long<G: Subject>() {
    let longest = Duration::from_nanos(u64::MAX - 1);
    let filter = builder::<G>(100, 1).time_to_live(Duration::MAX).build().expect("a small filter");
    let first = filter.generation();
    assert_eq!(filter.interval(), Some(longest));
    assert_eq!(filter.tick_by(|| Duration::ZERO), None);
    assert_eq!(filter.tick_by(|| Duration::from_nanos(u64::MAX - 2)), None);
    assert_eq!(filter.advance_to(|| Duration::MAX), first + 1);
    // No time passes at the end of all clocks.
    let filter = builder::<G>(100, 1).time_to_live(Duration::from_nanos(1));
    let filter = filter.build().expect("a small filter");
    assert_eq!([(); 9].map(|()| filter.tick_by(|| Duration::MAX)), [None; 9]);
    let filter = builder::<G>(100, 253).time_to_live(longest).build().expect("a small filter");
    assert!(filter.interval().expect("a time to live") > longest / 254);
}
