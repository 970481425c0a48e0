//! A reader beside a writer: how fast is it against alone, and does it ever miss?
//!
//! `cargo bench --bench beside -- [SECONDS [KEYS]]`: two pinned threads share a filter at 90 % of its
//! slots. One looks up keys that are always present, one by one and in batches, alone and beside the
//! other, which removes and inserts other keys. A miss ends the run.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use core_affinity::CoreId;
use guira::CuckooFilter;
use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// Keys of a batch, and look-ups between two glances at the clock.
const BATCH: usize = 1024;

/// Pins this thread to the `nth` of `cores`. (They were listed before the first thread was pinned: a
/// pinned thread, and each that it starts, is told of its own core alone.)
fn pin(cores: &[CoreId], nth: usize) {
    let core = cores.get(nth).unwrap_or_else(|| panic!("{} cores are too few", cores.len()));
    assert!(core_affinity::set_for_current(*core), "cannot pin a thread to {core:?}");
}

/// Looks keys up for a while; returns millions of look-ups a second.
fn read(filter: &CuckooFilter, keys: &[u64], batches: bool, time: Duration) -> f64 {
    let mut rng = SmallRng::seed_from_u64(7);
    let mut found = [false; BATCH];
    let (started, mut reads) = (Instant::now(), 0_u64);
    while started.elapsed() < time {
        let at = rng.random_range(0..=keys.len() - BATCH);
        let keys = &keys[at..at + BATCH];
        let hits = if batches {
            filter.contains_hash_batch(keys, &mut found)
        } else {
            keys.iter().filter(|&&key| filter.contains_hash(key)).count()
        };
        assert_eq!(hits, BATCH, "a key that is always present was missed");
        reads += BATCH as u64;
    }
    reads as f64 / started.elapsed().as_secs_f64() / 1e6
}

/// Removes and inserts keys in turn until told to stop; returns millions of changes a second.
fn write(filter: &CuckooFilter, keys: &[u64], stop: &AtomicBool) -> f64 {
    let (started, mut changes) = (Instant::now(), 0_u64);
    while !stop.load(Relaxed) {
        for keys in keys.chunks(BATCH) {
            for &key in keys {
                assert!(filter.remove_hash(key), "a key that was inserted could not be removed");
            }
            for &key in keys {
                filter.insert_hash(key).expect("room at 90 % load");
            }
            changes += 2 * keys.len() as u64;
            if stop.load(Relaxed) {
                break;
            }
        }
    }
    changes as f64 / started.elapsed().as_secs_f64() / 1e6
}

fn main() {
    let arguments: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let time = Duration::from_secs(arguments.first().copied().unwrap_or(10) as u64);
    let items = arguments.get(1).copied().unwrap_or(1_000_000);
    // A capacity is 96 % of the slots or so.
    let filter = CuckooFilter::builder().capacity(items * 96 / 90).seed(1).build().expect("memory");
    let mut rng = SmallRng::seed_from_u64(2);
    let keys: Vec<u64> = (0..items).map(|_| rng.random()).collect();
    filter.insert_hash_batch(&keys).expect("room");
    let (always, changing) = keys.split_at(items / 2);
    println!("{filter:?}");
    let cores = core_affinity::get_core_ids().expect("the system's cores");
    pin(&cores, 0);
    for (batches, name) in [(false, "single"), (true, "batch")] {
        let alone = read(&filter, always, batches, time / 4);
        let (stop, ready) = (AtomicBool::new(false), Barrier::new(2));
        let (beside, changes) = thread::scope(|scope| {
            let writer = scope.spawn(|| {
                pin(&cores, 1);
                ready.wait();
                write(&filter, changing, &stop)
            });
            ready.wait();
            let beside = read(&filter, always, batches, time);
            stop.store(true, Relaxed);
            (beside, writer.join().expect("the writer"))
        });
        println!(
            "{name}: {alone:.1} M look-ups/s alone, {beside:.1} beside {changes:.1} M changes/s \
             ({:.2}), no miss in {:.0} million",
            beside / alone,
            beside * time.as_secs_f64(),
        );
    }
}
