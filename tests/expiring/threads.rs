//! Threads beside advances and sweeps: nothing young is missed, nothing old is found, no slot
//! leaks.

use std::{
    sync::atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Relaxed, SeqCst},
    },
    thread,
};

use guira::{
    Filter,
    kind::{Expiring, Fixed, Growing},
};
use rand::RngExt;

use super::{
    Stop, builder,
    common::{Subject, Watchdog, rng, scaled, suite::on_both_engines},
    occupied,
};

on_both_engines! {
    nothing_young_is_missed_and_no_slot_leaks,
}

/// Threads that insert and look up.
const WRITERS: u64 = 4;

/// What the threads have seen.
#[derive(Default)]
struct Seen {
    inserted: AtomicU64,
    refused: AtomicU64,
    /// Lookups of items that had expired, and how many of these found one.
    old: AtomicU64,
    found: AtomicU64,
}

/// Inserts as many items in each generation, and looks up those of the last generations, until
/// there is enough.
fn write<G: Subject>(
    filter: &Filter<Expiring, G>,
    thread: u64,
    quota: u64,
    seen: &Seen,
    stop: &AtomicBool,
) {
    let window = u64::from(filter.window());
    let (mut mine, mut next, mut rng) = (Vec::new(), thread << 40, rng(thread));
    let mut counted = (0, 0);
    let _stop = Stop(stop);
    while !stop.load(Relaxed) {
        // A few at a time, so that generations begin in between.
        for _ in 0..5 {
            if counted.0 != filter.generation() {
                counted = (filter.generation(), 0);
            }
            if counted.1 < quota {
                next += 1;
                match filter.insert(&next) {
                    Ok(generation) => mine.push((next, generation)),
                    Err(_) => _ = seen.refused.fetch_add(1, Relaxed),
                }
                counted.1 += 1;
                seen.inserted.fetch_add(1, SeqCst);
            }
        }
        for _ in 0..20 {
            if mine.is_empty() {
                break;
            }
            let place = rng.random_range(0..mine.len());
            let (key, generation) = mine[place];
            let before = filter.generation();
            let found = filter.contains(&key);
            let after = filter.generation();
            assert!(found || after > generation + window, "{key} of {generation} in {after}");
            if before > generation + window {
                seen.old.fetch_add(1, Relaxed);
                seen.found.fetch_add(found.into(), Relaxed);
                // Once, since an item with a visible alias is found again and again.
                mine.swap_remove(place);
            }
        }
        if counted.1 == quota {
            let now = filter.generation();
            mine.retain(|&(_, generation)| now <= generation + window + 8);
            thread::yield_now();
        }
    }
}

/// Runs through generations, with the load that is wanted at the end of each of them.
fn run<G: Subject>(window: u32, buckets: u64, generations: u64, load: f64) {
    let filter = builder::<G>((buckets * 4) as usize, window).build().expect("a small filter");
    let (seen, stop) = (Seen::default(), AtomicBool::new(false));
    let slots = filter.slots() as f64;
    let quota = (slots * load / f64::from(window + 1)) as u64 / WRITERS;
    let checked = thread::scope(|scope| {
        for thread in 0..WRITERS {
            let (filter, seen, stop) = (&filter, &seen, &stop);
            scope.spawn(move || write(filter, thread, quota, seen, stop));
        }
        let _stop = Stop(&stop);
        let mut checked = 0;
        for generation in 0..generations {
            // At least 9 in 10 are there, and the next generation begins beside the rest.
            let wanted = (generation + 1) * quota * WRITERS - quota * WRITERS / 10;
            while seen.inserted.load(SeqCst) < wanted && !stop.load(Relaxed) {
                filter.sweep(16);
                thread::yield_now();
            }
            checked += usize::from(filter.len() as f64 > 0.85 * load * slots);
            // Missing ones are counted in the next generation.
            seen.inserted.fetch_max((generation + 1) * quota * WRITERS, SeqCst);
            filter.advance();
        }
        checked
    });
    assert!(checked as u64 > generations / 2, "{checked} generations were full");
    let [refused, old, found] = [&seen.refused, &seen.old, &seen.found].map(|n| n.load(SeqCst));
    assert!(refused * 100 <= seen.inserted.load(SeqCst), "{refused} refused");
    let expected = filter.false_positive_rate() * old as f64;
    assert!((found as f64) < 1.5 * expected + 6.0 * expected.sqrt() + 3.0, "{found} of {old}");
    // The counts of all stamps agree with the words, and nothing remains.
    while filter.sweep(u64::MAX) > 0 {}
    assert_eq!(occupied(&filter), filter.len() as u64, "window {window}");
    for _ in 0..window + 2 {
        filter.advance();
    }
    assert_eq!((filter.len(), occupied(&filter)), (0, 0), "a slot leaked");
}

fn nothing_young_is_missed_and_no_slot_leaks<G: Subject>() {
    let _watchdog = Watchdog::new("nothing_young_is_missed_and_no_slot_leaks");
    for window in [1, 5, 13] {
        run::<G>(window, 200, scaled(100, 1_000), 0.9);
    }
}

#[test]
#[ignore = "long: 10,000 generations; run it in release mode"]
fn long_nothing_young_is_missed_and_no_slot_leaks() {
    for window in [1, 5, 13] {
        run::<Fixed>(window, 1_000, 10_000, 0.9);
        run::<Growing>(window, 1_000, 10_000, 0.9);
    }
}
