//! Threads against threads, on tables so small that they meet all the time.
//!
//! By default a few million reads; the long version reads 100 million times in every layout:
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
    Watchdog, build, capacity_of,
    churn::{Plan, StopOnPanic, churn},
    find_pair, for_every_layout, hashers,
    ping_pong::{FAR, PingPong},
    races::{self, Gate},
    rng, scaled,
};
use guira::{
    CuckooFilter, Layout,
    raw::{BucketLayout, Pair, Plain, Table},
};

/// Runs writers until all readers have made `reads` rounds and the writers `writes`; a failure of one
/// ends all.
fn beside(
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

/// An item that moves to and fro is always found, from either side, and is always one.
fn moved_to_and_fro<L: BucketLayout>() {
    let _watchdog = Watchdog::new("moved_to_and_fro");
    let (reads, writes) = (scaled(20_000, 100_000), scaled(10_000, 50_000));
    let table = PingPong::new::<L>();
    table.core.insert::<L>(table.item).expect("the last lane");
    let look = || {
        for pair in [table.item, table.alias] {
            assert!(table.core.contains::<L>(pair), "false negative at {}x{}", L::SLOTS, L::BITS);
            assert_eq!(table.core.count::<L>(pair), 1, "{}x{}", L::SLOTS, L::BITS);
        }
        // The look-ups that follow a locked count are in step with the writers; these are not.
        for _ in 0..8 {
            assert!(table.core.contains::<L>(table.item) & table.core.contains::<L>(table.alias));
        }
    };
    let both = || {
        let [left, right] = table.drivers;
        table.drive::<L>(left) & table.drive::<L>(right)
    };
    beside(reads, writes, &[&both], &[&look, &look]);
    let left = || table.drive::<L>(table.drivers[0]);
    let right = || table.drive::<L>(table.drivers[1]);
    beside(reads, writes, &[&left, &right], &[&look, &look]);
    assert_eq!(table.core.count::<L>(table.item), 1);
}

#[test]
fn an_item_that_moves_to_and_fro_is_always_one() {
    moved_to_and_fro::<Plain<1, 16>>();
    for_every_layout!(moved_to_and_fro());
}

/// An alias goes into one bucket and a copy out of the other: at every moment there is one at least.
fn replaced_by_an_alias<L: BucketLayout>() {
    let _watchdog = Watchdog::new("replaced_by_an_alias");
    let table = PingPong::new::<L>();
    let insert = |pair| table.core.insert::<L>(pair).expect("a lane is left for this");
    // Removal begins with a pair's first bucket, insertion takes the emptier: so the copy changes
    // sides with every step.
    let write = || {
        insert(table.item);
        let first = table.core.remove::<L>(table.item);
        insert(table.item);
        first & table.core.remove::<L>(table.alias)
    };
    let look = || {
        for _ in 0..16 {
            for pair in [table.item, table.alias] {
                assert!(
                    table.core.contains::<L>(pair),
                    "false negative at {}x{}",
                    L::SLOTS,
                    L::BITS
                );
            }
        }
    };
    let count = || {
        let count = table.core.count::<L>(table.item);
        assert!((1..=2).contains(&count), "{count} copies");
    };
    insert(table.item);
    // More readers than processors, so that some are stopped in the middle of a look-up.
    let readers: [&(dyn Fn() + Sync); 5] = [&look, &look, &look, &look, &count];
    beside(scaled(10_000, 50_000), scaled(10_000, 50_000), &[&write], &readers);
    assert_eq!(table.core.count::<L>(table.item), 1);
}

#[test]
fn an_item_replaced_by_an_alias_is_always_there() {
    replaced_by_an_alias::<Plain<1, 16>>();
    for_every_layout!(replaced_by_an_alias());
}

/// Two threads that add an item unless it is there, by way of either bucket, both of which are full of
/// items that can make room: exactly one adds it.
fn two_make_room<L: BucketLayout>() {
    let _watchdog = Watchdog::new("two_make_room");
    let scene = PingPong::new::<L>();
    let mut rng = rng(9);
    // For each bucket an item that can leave it for one that nobody else uses, the other one neither:
    // the half of a move takes a lane, and for want of that one the thread beside it may say `Full`.
    let mut taken = FAR.to_vec();
    let movable = FAR.map(|bucket| {
        let item = find_pair::<L>(&scene.core, &mut rng, |pair| {
            pair.buckets[0] == bucket && !taken.contains(&pair.buckets[1])
        });
        taken.push(item.buckets[1]);
        item
    });
    let rounds = 2_000;
    let (gate, failed, added) = (Gate::new(2), AtomicBool::new(false), AtomicUsize::new(0));
    let tables: Vec<Table> = (0..rounds).map(|_| crowded::<L>(&scene, movable)).collect();
    thread::scope(|scope| {
        for (thread, pair) in [scene.item, scene.alias].into_iter().enumerate() {
            let (gate, failed, added, tables) = (&gate, &failed, &added, &tables);
            scope.spawn(move || {
                let _stop = StopOnPanic(failed);
                for (round, table) in tables.iter().enumerate() {
                    if !gate.pass(failed) {
                        return;
                    }
                    let won = table.insert_unique::<L>(pair).expect("there is room to be made");
                    added.fetch_add(won.into(), Relaxed);
                    if !gate.pass(failed) {
                        return;
                    }
                    if thread == 0 {
                        let copies = (added.swap(0, Relaxed), table.count::<L>(pair));
                        assert_eq!(copies, (1, 1), "{}x{}, round {round}", L::SLOTS, L::BITS);
                    }
                }
            });
        }
    });
}

/// A table whose two buckets are full, one item of each being movable.
fn crowded<L: BucketLayout>(scene: &PingPong, movable: [Pair; 2]) -> Table {
    let table = Table::new(*scene.core.addressing(), false).expect("a small table");
    for (item, driver) in movable.into_iter().zip(scene.drivers) {
        // The first of its buckets is as empty as the second.
        table.insert::<L>(item).expect("an empty bucket");
        (1..L::SLOTS).for_each(|_| table.insert::<L>(driver).expect("a lane is left"));
    }
    table
}

#[test]
fn two_that_make_room_for_an_item_add_it_once() {
    two_make_room::<Plain<1, 16>>();
    for_every_layout!(two_make_room());
}

/// A plan for the default hasher.
fn plan(layout: Layout, buckets: usize, reads: u64) -> Plan {
    let seed = 100 + buckets as u64;
    Plan { layout, buckets, readers: 2, writers: 2, reads, changes: reads / 100, seed }
}

#[test]
fn readers_miss_nothing_at_95_percent_load() {
    let _watchdog = Watchdog::new("readers_miss_nothing_at_95_percent_load");
    for &layout in Layout::ALL {
        for buckets in [16, 64, 512] {
            let aliases =
                churn(hashers::default, &plan(layout, buckets, scaled(100_000, 1_000_000)));
            // Of 22 bits aliases are too rare to be met by trying.
            let findable = layout.fingerprint_bits() < 20;
            assert!(aliases > 0 || !findable, "no alias of a permanent key for {layout:?}");
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
#[ignore = "long: 400 million reads; in release mode"]
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
fn many_threads_fill_far() {
    let _watchdog = Watchdog::new("many_threads_fill_far");
    for &layout in Layout::ALL {
        let load = races::fill_from_many_threads(hashers::default, layout, scaled(2_000, 20_000));
        assert!(load > 0.96, "{layout:?}: full at {load}");
    }
}

/// One thread adds, another removes what was added, so that the counts of the two run far apart, and
/// who sums them up while they run sees any mixture of old and new.
#[test]
fn len_stays_within_the_slots() {
    let _watchdog = Watchdog::new("len_stays_within_the_slots");
    let layout = Layout::Plain8x8;
    for round in 0..8 {
        let filter = build(hashers::default, capacity_of(layout, 300), layout, 7);
        // In every other round the filter is all but full instead of all but empty.
        let keys = if round % 2 == 0 { (0..LEAD as u64).collect() } else { top_up(&filter) };
        let before = filter.len();
        let steps = scaled(20_000, 50_000);
        let progress = [const { AtomicUsize::new(0) }; 2];
        let [inserted, removed] = &progress;
        let stop = AtomicBool::new(false);
        let walk = |own: &AtomicUsize, may: &dyn Fn(usize) -> bool, act: &dyn Fn(&u64) -> bool| {
            let _stop = StopOnPanic(&stop);
            for step in 0..steps {
                wait_until(|| may(step) || stop.load(Acquire));
                assert!(act(&keys[step % LEAD]) || stop.load(Acquire), "room or item is gone");
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
            // Threads count in the order in which they begin, and are summed up in that order.
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

/// How far the thread that adds may be ahead of the one that removes.
const LEAD: usize = 32;

/// Spins for a moment, then lets others run.
fn wait_until(done: impl Fn() -> bool) {
    let mut spins = 0_u32;
    while !done() {
        spins += 1;
        if spins.is_multiple_of(64) { thread::yield_now() } else { std::hint::spin_loop() }
    }
}

/// Fills a filter until a hundred keys in a row are refused, but for a few items: keys for which there
/// is room.
fn top_up(filter: &CuckooFilter) -> Vec<u64> {
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
