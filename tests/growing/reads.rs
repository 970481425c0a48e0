//! Reads of present items while two writers grow a filter a thousandfold.

use std::{
    sync::atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
    time::{Duration, Instant},
};

use guira::{Layout, kind::Growing};
use rand::RngExt;

use crate::common::{
    Watchdog,
    churn::StopOnPanic,
    kind::{GrowingSets, Kind, Of},
    rng, scaled, settings,
    suite::on_kinds,
};

on_kinds! {
    [sets: GrowingSets, maps: GrowingMaps]
    {readers_miss_nothing_while_it_grows}
}

/// Keys of the writers: each has its own.
fn key(writer: u64, nth: u64) -> u64 {
    nth << 1 | writer
}

/// Two writers insert, and remove some of what they inserted, until the filter has a thousand times
/// its first slots. Two readers look up items that are present: old ones, and the latest. They read
/// so often in all, in as many rounds, each with a new filter, as it takes.
fn readers_beside_growth<K: Kind<Growth = Growing>>(layout: Layout, reads: u64) {
    let patience = Duration::from_secs(180 + reads / 500_000);
    let _watchdog = Watchdog::patient("readers_beside_growth", patience);
    let (start, left, mut rounds) = (Instant::now(), AtomicU64::new(reads), 0);
    while left.load(Relaxed) > 0 {
        let filter: Of<K> = settings::<K>(1, layout, rounds).build().expect("a small filter");
        let end = filter.slots() * 1_000;
        // Each writer's items below this number are present, but for those that are removed.
        let present = [AtomicU64::new(0), AtomicU64::new(0)];
        let (grown, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            for writer in 0..2 {
                let (filter, present, grown, stop) = (&filter, &present, &grown, &stop);
                scope.spawn(move || {
                    let _stop = StopOnPanic(stop);
                    for nth in 0.. {
                        if filter.slots() >= end || stop.load(Relaxed) {
                            break;
                        }
                        K::add(filter, key(writer, nth)).expect("room to grow");
                        // One in four goes again, eight inserts later. No reader looks it up.
                        if nth % 4 == 3 && nth > 8 {
                            assert!(K::take(filter, key(writer, nth - 8)), "an item was lost");
                        }
                        present[writer as usize].store(nth + 1, Release);
                    }
                    grown.fetch_add(1, Release);
                });
            }
            for reader in 0..2 {
                let (filter, present, grown, stop, left) =
                    (&filter, &present, &grown, &stop, &left);
                scope.spawn(move || {
                    let _stop = StopOnPanic(stop);
                    let mut rng = rng(rounds << 1 | reader);
                    while grown.load(Acquire) < 2 && !stop.load(Relaxed) {
                        let counts = [0, 1].map(|writer: usize| present[writer].load(Acquire));
                        if counts.iter().any(|&count| count < 64) {
                            continue;
                        }
                        for round in 0..128 {
                            let writer = round % 2;
                            let count = counts[writer];
                            // A third of the reads go to the latest items.
                            let oldest = if round % 3 == 0 { count - 64 } else { 0 };
                            let nth = rng.random_range(oldest..count);
                            // Those that stay.
                            let nth = if nth % 4 == 3 { nth - 1 } else { nth };
                            let key = key(writer as u64, nth);
                            let is_found = K::holds(filter, key, &[K::tag_of(filter, key)]);
                            assert!(is_found, "{nth} of {count} is missing: {filter:?}");
                        }
                        let keys: [u64; 64] = std::array::from_fn(|at| {
                            let nth = rng.random_range(0..counts[at % 2]) & !3;
                            key(at as u64 % 2, nth)
                        });
                        assert!(K::finds_all(filter, &keys), "{filter:?}");
                        let before = left.load(Relaxed);
                        left.store(before.saturating_sub(128 + 64), Relaxed);
                    }
                });
            }
        });
        let counts = present.map(AtomicU64::into_inner);
        for (writer, count) in (0..).zip(counts) {
            let stay = (0..count).filter(|nth| nth % 4 != 3 || nth + 8 >= count);
            let mut stay = stay.filter(|nth| nth % 4 != 3);
            assert!(stay.all(|nth| filter.contains(&key(writer, nth))), "an item was lost");
        }
        rounds += 1;
    }
    println!("{layout:?}: {reads} reads, {rounds} rounds, {:.0?}", start.elapsed());
}

/// The number of reads that `GUIRA_READS` says.
fn given_reads() -> Option<u64> {
    let given = std::env::var("GUIRA_READS").ok()?;
    Some(given.parse().expect("a number of reads"))
}

fn readers_miss_nothing_while_it_grows<K: Kind<Growth = Growing>>() {
    // Up to four of the layouts. With shorter fingerprints, some key has too many aliases.
    let layouts = K::layouts().into_iter().filter(|layout| layout.fingerprint_bits() >= 11);
    let layouts: Vec<Layout> = layouts.collect();
    for layout in layouts.iter().step_by(layouts.len().div_ceil(4)) {
        let reads = given_reads().unwrap_or(scaled(100_000, 2_000_000));
        readers_beside_growth::<K>(*layout, reads);
    }
}

/// Run alone: `GUIRA_READS=1000000000 cargo test --release --test growing -- --ignored --nocapture`.
#[test]
#[ignore = "long: ten million reads, or as many as GUIRA_READS says"]
fn readers_miss_nothing_in_a_long_run() {
    readers_beside_growth::<GrowingSets>(Layout::GROWING[1], given_reads().unwrap_or(10_000_000));
}
