//! Threads against threads, on tables so small that their operations conflict all the time.
//!
//! By default a few million reads. The long version makes 100 million reads in every layout:
//! `cargo test --release --test stress -- --ignored --nocapture`.

mod common;

use std::{
    sync::atomic::{
        AtomicBool, AtomicU64, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
    time::Duration,
};

use common::{
    Watchdog, build,
    churn::{Plan, StopOnPanic, churn},
    find_pair, for_every_layout, hashers,
    kind::Sets,
    operations::Operations,
    ping_pong::{FAR, PingPong},
    races::{self, Gate},
    rng, scaled,
};
use guira::{
    CuckooFilter, Layout,
    raw::{BucketLayout, Pair, Plain, Table},
};

/// Runs writers and readers until each reader has called its function `reads` times and the writers
/// have succeeded `writes` times. If one thread panics, all stop.
fn run(
    reads: u64,
    writes: u64,
    writers: &[&(dyn Fn() -> bool + Sync)],
    readers: &[&(dyn Fn() + Sync)],
) {
    let (written, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let reading = AtomicUsize::new(readers.len());
    thread::scope(|scope| {
        for writer in writers {
            scope.spawn(|| {
                let _stop = StopOnPanic(&stop);
                while !stop.load(Acquire) {
                    written.fetch_add(writer().into(), Relaxed);
                }
            });
        }
        for reader in readers {
            scope.spawn(|| {
                let _stop = StopOnPanic(&stop);
                let mut rounds = 0;
                while (rounds < reads || written.load(Relaxed) < writes) && !stop.load(Relaxed) {
                    reader();
                    rounds += 1;
                }
                if reading.fetch_sub(1, Relaxed) == 1 {
                    stop.store(true, Release);
                }
            });
        }
    });
}

/// Returns the operations in every layout on offer, and in one with a single slot per bucket.
fn every_layout() -> Vec<Operations> {
    fn add<L: BucketLayout>(all: &mut Vec<Operations>) {
        all.push(Operations::of::<L>());
    }
    let mut all = vec![Operations::of::<Plain<1, 16>>()];
    for_every_layout!(add(&mut all));
    all
}

/// An item that is relocated back and forth is always found, from either bucket, and is counted
/// once.
fn relocated_back_and_forth(layout: Operations) {
    let _watchdog = Watchdog::new("relocated_back_and_forth");
    let (reads, writes) = (scaled(20_000, 100_000), scaled(10_000, 50_000));
    let scene = PingPong::new(layout);
    scene.insert(scene.item);
    let read = || {
        for pair in [scene.item, scene.alias] {
            assert!(scene.contains(pair), "false negative at {layout:?}");
            assert_eq!(scene.count(pair), 1, "{layout:?}");
        }
        // A lookup right after a locked count tends to run in step with the writers. These do not.
        for _ in 0..8 {
            assert!(scene.contains(scene.item) & scene.contains(scene.alias));
        }
    };
    let both = || {
        let [left, right] = scene.drivers;
        scene.drive(left) & scene.drive(right)
    };
    run(reads, writes, &[&both], &[&read, &read]);
    let left = || scene.drive(scene.drivers[0]);
    let right = || scene.drive(scene.drivers[1]);
    run(reads, writes, &[&left, &right], &[&read, &read]);
    assert_eq!(scene.count(scene.item), 1);
}

#[test]
fn a_relocated_item_is_always_found() {
    every_layout().into_iter().for_each(relocated_back_and_forth);
}

/// An alias is inserted into one bucket, then a copy is removed from the other one. There is always
/// at least one copy.
fn replaced_by_an_alias(layout: Operations) {
    let _watchdog = Watchdog::new("replaced_by_an_alias");
    let scene = PingPong::new(layout);
    // A removal tries the pair's first bucket first, and an insert takes the emptier bucket. So the
    // copy changes buckets with every step.
    let write = || {
        scene.insert(scene.item);
        let first = scene.remove(scene.item);
        scene.insert(scene.item);
        first & scene.remove(scene.alias)
    };
    let read = || {
        for _ in 0..16 {
            for pair in [scene.item, scene.alias] {
                assert!(scene.contains(pair), "false negative at {layout:?}");
            }
        }
    };
    let count = || {
        let count = scene.count(scene.item);
        assert!((1..=2).contains(&count), "{count} copies");
    };
    scene.insert(scene.item);
    // More readers than processors, so that some are suspended in the middle of a lookup.
    let readers: [&(dyn Fn() + Sync); 5] = [&read, &read, &read, &read, &count];
    run(scaled(10_000, 50_000), scaled(10_000, 50_000), &[&write], &readers);
    assert_eq!(scene.count(scene.item), 1);
}

#[test]
fn an_item_replaced_by_an_alias_is_always_found() {
    every_layout().into_iter().for_each(replaced_by_an_alias);
}

/// Two threads call `insert_unique` with the same item, one with its buckets exchanged. Both
/// buckets are full, and both searches find an item that can be relocated. Exactly one thread adds
/// the item.
fn two_unique_inserts(layout: Operations) {
    let _watchdog = Watchdog::new("two_unique_inserts");
    let scene = PingPong::new(layout);
    let mut rng = rng(9);
    // For each bucket an item that can be relocated to a bucket of its own. If both moved to the
    // same bucket, the copies of a move that is half done could make the other thread return
    // `Full`.
    let mut taken = FAR.to_vec();
    let movable = FAR.map(|bucket| {
        let item = find_pair(layout, &scene.core, &mut rng, &|pair| {
            pair.buckets[0] == bucket && !taken.contains(&pair.buckets[1])
        });
        taken.push(item.buckets[1]);
        item
    });
    let rounds = 2_000;
    let (gate, failed, added) = (Gate::new(2), AtomicBool::new(false), AtomicUsize::new(0));
    let tables: Vec<Table> = (0..rounds).map(|_| full_buckets(layout, &scene, movable)).collect();
    thread::scope(|scope| {
        for (thread, pair) in [scene.item, scene.alias].into_iter().enumerate() {
            let (gate, failed, added, tables) = (&gate, &failed, &added, &tables);
            scope.spawn(move || {
                let _stop = StopOnPanic(failed);
                for (round, table) in tables.iter().enumerate() {
                    if !gate.pass(failed) {
                        return;
                    }
                    let won = (layout.insert_unique)(table, pair);
                    let won = won.expect("an item can be relocated");
                    added.fetch_add(won.into(), Relaxed);
                    if !gate.pass(failed) {
                        return;
                    }
                    if thread == 0 {
                        let copies = (added.swap(0, Relaxed), (layout.count)(table, pair));
                        assert_eq!(copies, (1, 1), "{layout:?}, round {round}");
                    }
                }
            });
        }
    });
}

/// Returns a table in which both buckets are full, and one item of each can be relocated.
fn full_buckets(layout: Operations, scene: &PingPong, movable: [Pair; 2]) -> Table {
    let table = Table::new(*scene.core.addressing(), false).expect("a small table");
    for (item, driver) in movable.into_iter().zip(scene.drivers) {
        // Both of its buckets are empty, so it goes to the first one.
        (layout.insert)(&table, item).expect("an empty bucket");
        (1..layout.slots).for_each(|_| (layout.insert)(&table, driver).expect("a slot is left"));
    }
    table
}

#[test]
fn two_unique_inserts_add_an_item_once() {
    every_layout().into_iter().for_each(two_unique_inserts);
}

/// Returns a plan with two readers and two writers.
fn plan(layout: Layout, buckets: usize, reads: u64) -> Plan {
    let seed = 100 + buckets as u64;
    Plan { layout, buckets, readers: 2, writers: 2, reads, changes: reads / 100, seed }
}

#[test]
fn readers_miss_nothing_at_95_percent_load() {
    let _watchdog = Watchdog::new("readers_miss_nothing_at_95_percent_load");
    for &layout in Layout::ALL {
        for buckets in [16, 64, 512] {
            let aliases = churn(hashers::default, &plan(layout, buckets, scaled(100_000, 500_000)));
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
    churn(hashers::default, &Plan { readers: 24, writers: 24, ..plan });
}

#[test]
#[ignore = "long: 800 million reads; run it in release mode"]
fn long_readers_miss_nothing_at_95_percent_load() {
    let _watchdog = Watchdog::patient("long churn", Duration::from_secs(3 * 3600));
    for &layout in Layout::ALL {
        for buckets in [16, 64, 512, 20_000] {
            let aliases = churn(hashers::default, &plan(layout, buckets, 25_000_000));
            println!("{layout:?}, {buckets} buckets: 25 million reads, {aliases} aliases");
        }
    }
}

#[test]
fn many_threads_reach_a_high_load() {
    let _watchdog = Watchdog::new("many_threads_reach_a_high_load");
    for &layout in Layout::ALL {
        let load = races::fill_from_many_threads(hashers::default, layout, scaled(2_000, 20_000));
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
                assert!((0.0..=1.0).contains(&filter.load_factor()));
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
