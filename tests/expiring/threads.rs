//! Threads beside advances and sweeps: nothing young is missed, nothing old is found, no slot
//! leaks.

use std::{
    sync::{
        Mutex,
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
};

use guira::{
    Filter, Insertion,
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
    an_item_is_accepted_once_in_a_window,
    what_is_refreshed_in_time_is_always_found,
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

/// Several threads offer the same keys. Each is accepted once in a window.
fn an_item_is_accepted_once_in_a_window<G: Subject>() {
    let _watchdog = Watchdog::new("an_item_is_accepted_once_in_a_window");
    for window in [1, 5] {
        let filter = builder::<G>(2_000, window).build().expect("a small filter");
        let keys = super::keys(builder::<G>(2_000, window), 300);
        let (accepted, count) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for thread in 0..WRITERS {
                let (filter, keys, accepted, stop) = (&filter, &keys, &accepted, &stop);
                let count = &count;
                scope.spawn(move || {
                    let _stop = Stop(stop);
                    let (mut mine, mut rng) = (Vec::new(), rng(thread));
                    while !stop.load(Relaxed) {
                        // Others offer the same ones.
                        let from = rng.random_range(0..keys.len() - 10);
                        for &key in &keys[from..from + 10] {
                            let before = filter.generation();
                            let outcome = filter.insert_unique(&key).expect("an empty slot");
                            if let Insertion::New(generation) = outcome {
                                let after = filter.generation();
                                assert!((before..=after).contains(&generation));
                                mine.push((key, generation, after));
                                count.fetch_add(1, Relaxed);
                            }
                        }
                    }
                    accepted.lock().expect("no panic").extend(mine);
                });
            }
            let _stop = Stop(&stop);
            // Each waits for threads that were suspended with a lock held. A few advances may be
            // over before the threads have begun.
            let is_enough = || stop.load(Relaxed) || count.load(Relaxed) > 3 * keys.len();
            for _ in (0..).take_while(|&advances| advances < scaled(30, 3_000) || !is_enough()) {
                filter.advance();
                thread::yield_now();
            }
        });
        let mut accepted = accepted.into_inner().expect("no panic");
        accepted.sort_unstable();
        for pair in accepted.windows(2) {
            let [(key, first, _), (other, second, after)] = [pair[0], pair[1]];
            // Beside an advance, the second call may have taken a generation that was ending.
            let expired = after > first + u64::from(window) && second >= first + u64::from(window);
            assert!(key != other || expired, "{key} {first} {second} {after}");
        }
    }
}

/// Items that some thread refreshes in every generation are found throughout, in the filter, in its
/// clones, and in its snapshots, whatever generation begins meanwhile.
fn what_is_refreshed_in_time_is_always_found<G: Subject>() {
    let _watchdog = Watchdog::new("what_is_refreshed_in_time_is_always_found");
    let filter = builder::<G>(400, 1).build().expect("a small filter");
    let keys = super::keys(builder::<G>(400, 1), 100);
    assert!(keys.iter().all(|key| filter.insert(key).is_ok()));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    assert!(keys.iter().all(|key| filter.contains(key)));
                }
            });
        }
        scope.spawn(|| {
            while !stop.load(Relaxed) {
                let copy = filter.clone();
                assert!(keys.iter().all(|key| copy.contains(key)));
            }
        });
        #[cfg(feature = "std")]
        scope.spawn(|| {
            while !stop.load(Relaxed) {
                let before = filter.generation();
                let loaded = Filter::<Expiring, G>::loader().bytes(&filter.to_bytes());
                let (loaded, after) = (loaded.expect("its own bytes"), filter.generation());
                assert!((before..=after).contains(&loaded.generation()));
                assert!(keys.iter().all(|key| loaded.contains(key)));
            }
        });
        // Others come and go, and make items move.
        scope.spawn(|| {
            let mut key = 1_u64 << 40;
            while !stop.load(Relaxed) {
                key += 1;
                if filter.insert_for(&key, 1).is_err() {
                    thread::yield_now();
                }
            }
        });
        let _stop = Stop(&stop);
        for _ in 0..scaled(500, 5_000) {
            assert!(keys.iter().all(|key| filter.refresh(key)));
            filter.advance();
        }
    });
    assert!(keys.iter().all(|key| filter.contains(key)));
}
