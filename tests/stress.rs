//! More threads, more reads and other sizes than in the suite, and the number of items beside
//! writers. Tables are so small that operations conflict all the time.
//!
//! By default a few million reads. The long version makes 100 million reads in every layout:
//! `cargo test --release --test stress -- --ignored --nocapture`.

mod common;

use std::{
    sync::atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{Acquire, Release},
    },
    thread,
    time::Duration,
};

use common::{
    Watchdog, build,
    churn::{Plan, StopOnPanic, churn},
    hashers,
    kind::Sets,
    races, scaled,
    suite::cloned,
};
use guira::{CuckooFilter, Layout};

/// Returns a plan with two readers and two writers.
fn plan(layout: Layout, buckets: usize, reads: u64) -> Plan {
    let seed = 100 + buckets as u64;
    let changes = reads / 100;
    Plan { layout, buckets, readers: 2, writers: 2, reads, changes, copies: 20, seed }
}

/// Runs a plan on sets. Returns how many of the keys that the writers used were aliases.
fn churned(plan: &Plan) -> usize {
    churn::<Sets, _>(hashers::default, plan, &cloned::<Sets, _>)
}

#[test]
fn readers_miss_nothing_at_95_percent_load() {
    let _watchdog = Watchdog::new("readers_miss_nothing_at_95_percent_load");
    for &layout in Layout::ALL {
        for buckets in [16, 64, 512] {
            let aliases = churned(&plan(layout, buckets, scaled(100_000, 500_000)));
            // With 22 bits, aliases are too rare to be found by trying keys.
            let findable = layout.fingerprint_bits() < 20;
            assert!(
                aliases > 0 || !findable,
                "no alias of a permanent key was found for {layout:?}"
            );
        }
    }
}

#[test]
fn many_more_threads_than_processors_miss_nothing() {
    let _watchdog = Watchdog::new("many_more_threads_than_processors_miss_nothing");
    let plan = plan(Layout::Plain5x12, 32, scaled(100_000, 1_000_000));
    churned(&Plan { readers: 32, writers: 32, ..plan });
}

#[test]
#[ignore = "long: 800 million reads; run it in release mode"]
fn long_readers_miss_nothing_at_95_percent_load() {
    let _watchdog = Watchdog::patient("long churn", Duration::from_secs(3 * 3600));
    for &layout in Layout::ALL {
        for buckets in [16, 64, 512, 20_000] {
            let aliases = churned(&plan(layout, buckets, 25_000_000));
            println!("{layout:?}, {buckets} buckets: 25 million reads, {aliases} aliases");
        }
    }
}

#[test]
fn many_threads_reach_a_high_load() {
    let _watchdog = Watchdog::new("many_threads_reach_a_high_load");
    for &layout in Layout::ALL {
        let load = races::fill_on::<Sets, _>(hashers::default, layout, scaled(2_000, 20_000));
        assert!(load > 0.96, "{layout:?}: full at {load}");
    }
}

/// One thread inserts and another one removes what was inserted, so that their shards of the
/// counter move far apart. A third thread that sums the shards reads any mixture of old and new
/// values.
#[test]
fn len_stays_within_the_slots() {
    let _watchdog = Watchdog::new("len_stays_within_the_slots");
    let layout = Layout::Plain8x8;
    for round in 0..8 {
        let filter = build::<Sets, _>(hashers::default, 300, layout, 7);
        // In every other round the filter is nearly full instead of nearly empty.
        let keys = if round % 2 == 0 { (0..LEAD as u64).collect() } else { fill(&filter) };
        let before = filter.len();
        let steps = scaled(20_000, 50_000);
        let progress = [const { AtomicUsize::new(0) }; 2];
        let [inserted, removed] = &progress;
        let stop = AtomicBool::new(false);
        let walk = |own: &AtomicUsize, may: &dyn Fn(usize) -> bool, act: &dyn Fn(&u64) -> bool| {
            let _stop = StopOnPanic(&stop);
            for step in 0..steps {
                wait_until(|| may(step) || stop.load(Acquire));
                assert!(
                    act(&keys[step % LEAD]) || stop.load(Acquire),
                    "an empty slot or an item is missing"
                );
                own.store(step + 1, Release);
            }
        };
        let add = || {
            let behind = |step| step < removed.load(Acquire) + LEAD;
            walk(inserted, &behind, &|key| filter.insert(key).is_ok());
        };
        let take = || {
            walk(removed, &|step| step < inserted.load(Acquire), &|key| filter.remove(key));
            stop.store(true, Release);
        };
        thread::scope(|scope| {
            // Threads get their shards in the order in which they start, and shards are summed in
            // that order.
            let both: [&(dyn Fn() + Sync); 2] =
                if round / 2 % 2 == 0 { [&add, &take] } else { [&take, &add] };
            for walk in both {
                scope.spawn(walk);
            }
            let _stop = StopOnPanic(&stop);
            while !stop.load(Acquire) {
                let len = filter.len();
                assert!(len <= filter.slots(), "{len} of {}", filter.slots());
                assert!(filter.len() <= filter.slots());
            }
        });
        assert_eq!(filter.len(), before);
    }
}

/// Largest number of inserts by which one thread is ahead of the other one's removals.
const LEAD: usize = 32;

/// Spins until `done`, and yields from time to time.
fn wait_until(done: impl Fn() -> bool) {
    let mut spins = 0_u32;
    while !done() {
        spins += 1;
        if spins.is_multiple_of(64) { thread::yield_now() } else { std::hint::spin_loop() }
    }
}

/// Fills a filter until a hundred keys in a row are refused, then removes the last few items and
/// returns their keys.
fn fill(filter: &CuckooFilter) -> Vec<u64> {
    let (mut keys, mut refused) = (Vec::new(), 0);
    for key in 1 << 40.. {
        if filter.insert(&key).is_ok() {
            keys.push(key);
            refused = 0;
        } else {
            refused += 1;
            if refused == 100 {
                break;
            }
        }
    }
    let last = keys.split_off(keys.len() - LEAD);
    assert!(last.iter().all(|key| filter.remove(key)));
    last
}
