//! Filters with a time to live: what is written beside the end of a generation, a sweep, a move or
//! a lookup is found for its time, and not long after it.
#![cfg(not(feature = "semi-sorted"))]

use guira::{
    ExpiringFilter, Filter, GrowingExpiringFilter, Hashed,
    kind::{Expiring, Growth},
    raw::FixedWords,
};
use guira_loom_tests::{
    check, check_each, check_shallow,
    expiry::{START, hashed, item, put, relocate},
    keyed, spawn, spawn_deep,
    splits::split,
    ttl::{INTERVAL, TTL, Time, filter, growing_filter, now},
};
use loom::sync::{
    Arc,
    atomic::{
        AtomicBool,
        Ordering::{Acquire, Release},
    },
};

/// In the second half of the second generation.
const TIME: u64 = INTERVAL * 3 / 2;
/// A late write extends a generation by this at most.
const EXTENSION: u64 = INTERVAL / 8 + 1 + 256;

/// A call that remembers an item from now on. (A hash is the item's.)
type Write<G> = fn(&Filter<Expiring, G>, Hashed);

fn writes<G: Growth>() -> [Write<G>; 7] {
    [
        |filter, key| _ = filter.insert(&key).expect("room"),
        |filter, key| _ = filter.insert_for(&key, time_to_live()).expect("room"),
        |filter, key| assert!(filter.insert_unique(&key).expect("room").is_new()),
        |filter, key| {
            assert!(filter.insert_unique_for(&key, time_to_live()).expect("room").is_new());
        },
        |filter, key| filter.insert_batch([key]).expect("room"),
        |filter, key| assert!(filter.insert_or_refresh(&key).expect("room").is_new()),
        |filter, key| assert_eq!(filter.insert_or_refresh_mask(&[key]).added, 1),
    ]
}

fn time_to_live() -> std::time::Duration {
    std::time::Duration::from_nanos(TTL)
}

/// What keeps the next generation from beginning, or permits it.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Permitted,
    NotYet,
    Held,
}

/// Runs each write, and another one, when the first generation has been due for a while.
fn writes_when_due<G: Growth>(name: &str, floor: usize, empty: fn(&Time) -> Filter<Expiring, G>)
where
    Filter<Expiring, G>: Send + Sync + 'static,
{
    let all = [Next::Permitted, Next::NotYet, Next::Held];
    let cases = writes::<G>().into_iter().flat_map(|write| all.map(|next| (write, next)));
    let models = cases.map(|(write, next)| {
        move |seen: &std::sync::Arc<guira_loom_tests::Seen>| {
            let time = Time::new();
            let filter = Arc::new(empty(&time));
            if next == Next::Permitted {
                filter.sweep(2);
            }
            time.set(TIME);
            let keys = [1, 2].map(Hashed);
            let pause = (next == Next::Held).then(|| filter.pause());
            let writer = spawn_deep(&filter, move |filter| write(filter, keys[0]));
            filter.insert(&keys[1]).expect("room");
            writer.join().unwrap();
            drop(pause);
            // A write that cannot begin it because the other one is about to permit it extends the
            // current one.
            let begun = filter.generation() - START;
            assert!(begun <= 1 && (next == Next::NotYet || (begun == 0) == (next == Next::Held)));
            seen.note("done");
            time.set(TIME + TTL - 1);
            assert!(keys.iter().all(|key| filter.contains(key)), "an item is forgotten early");
            // Without a write.
            time.set(TIME + EXTENSION + INTERVAL + TTL);
            assert!(keys.iter().all(|key| !filter.contains(key)), "an item is found for too long");
            assert_eq!(filter.len(), 0);
        }
    });
    check_each(name, floor, &["done"], models);
}

/// Catches a write whose stamp is of a generation that ends before the write began.
#[test]
fn writes_beside_a_generation_that_is_due() {
    writes_when_due("ttl_writes", 29_700, filter);
}

/// Catches the same where the filter grows.
#[test]
fn writes_to_a_growing_filter_beside_a_generation_that_is_due() {
    writes_when_due("ttl_growing_writes", 38_900, growing_filter);
}

/// Catches a write that is late beside one that begins two generations: what it takes for the
/// current one has ended.
#[test]
fn a_late_write_beside_two_generations() {
    check("ttl_late", 7_300, &["done"], |seen| {
        let time = Time::new();
        let filter = Arc::new(filter(&time));
        let keys = [1, 2, 3].map(Hashed);
        let start = INTERVAL + 1;
        time.set(start);
        let writer = spawn_deep(&filter, move |filter: &ExpiringFilter| {
            filter.insert(&keys[0]).expect("room");
        });
        filter.insert(&keys[1]).expect("room");
        time.set(2 * INTERVAL + 300);
        filter.insert(&keys[2]).expect("room");
        // It may have begun late.
        writer.join().unwrap();
        seen.note("done");
        let is_found = filter.contains(&keys[0]);
        assert!(is_found || now() >= start + TTL, "forgotten early");
        time.set(2 * INTERVAL + 300 + TTL - 1);
        assert!(filter.contains(&keys[2]), "forgotten early");
    });
}

/// Catches two writes after a silence, of which one brings back what had expired.
#[test]
fn writes_after_a_silence() {
    check("ttl_silence", 30_100, &["done"], |seen| {
        let time = Time::new();
        let filter = Arc::new(filter(&time));
        let keys = [1, 2, 3].map(Hashed);
        // All slots of earlier generations are swept, so that two can begin before a sweep.
        time.set(8 * INTERVAL);
        for _ in 0..4 {
            filter.sweep(2);
        }
        filter.insert(&keys[2]).expect("room");
        time.set(48 * INTERVAL);
        assert!(!filter.contains(&keys[2]));
        let writer = spawn_deep(&filter, move |filter: &ExpiringFilter| {
            filter.insert(&keys[0]).expect("room");
            assert!(!filter.contains(&keys[2]), "an item comes again");
        });
        filter.insert(&keys[1]).expect("room");
        assert!(!filter.contains(&keys[2]), "an item comes again");
        writer.join().unwrap();
        assert!(filter.contains(&keys[0]) && filter.contains(&keys[1]), "forgotten early");
        assert!(!filter.contains(&keys[2]), "an item comes again");
        seen.note("done");
    });
}

/// Catches a sweep that sees that a generation has begun, but not when the one before it expires.
#[test]
fn a_sweep_beside_the_beginning_of_a_generation() {
    check("ttl_sweep_begin", 600, &["done"], |seen| {
        let time = Time::new();
        let filter = Arc::new(filter(&time));
        let keys = [1, 2].map(Hashed);
        // What is older has expired, and the next generation is permitted.
        time.set(8 * INTERVAL);
        (0..4).for_each(|_| _ = filter.sweep(2));
        filter.insert(&keys[0]).expect("room");
        filter.sweep(2);
        time.set(9 * INTERVAL + 300);
        let sweeper = spawn(&filter, |filter| _ = filter.sweep(2));
        filter.insert(&keys[1]).expect("room");
        sweeper.join().unwrap();
        assert!(keys.iter().all(|key| filter.contains(key)), "forgotten early");
        seen.note("done");
    });
}

/// Catches a mover or a sweep that decides by a generation or a time which it read before it had
/// the lock: while it stands still, two generations begin, and it clears a slot of the last one.
#[test]
fn two_generations_beside_a_move() {
    check("ttl_move", 260, &["done"], |seen| {
        let time = Time::new();
        let filter = Arc::new(filter(&time));
        let table = filter.table();
        let moved = item(table, [0, 1], 1, 0);
        filter.sweep(2);
        put(table, moved, START, 1);
        let mover = spawn(&filter, move |filter| relocate(filter.table(), moved, START, 1, None));
        for generations in [1, 2] {
            time.set(generations * (INTERVAL + 256));
            filter.refresh(&Hashed(9));
        }
        // What a mover that takes START for the current generation believes to be expired, in the
        // bucket to which it moves.
        let (key, _) = keyed(&filter);
        filter.insert(&key).expect("room");
        mover.join().unwrap();
        seen.note("done");
        assert!(filter.contains(&key), "a visible slot was swept");
    });
}

/// Catches a sweep of the current generation, beside a late write that extends it.
#[test]
fn a_sweep_beside_a_late_write() {
    check("ttl_sweep_late", 710, &["done"], |seen| {
        let time = Time::new();
        let filter = Arc::new(filter(&time));
        let keys = [1, 2].map(Hashed);
        filter.insert(&keys[0]).expect("room");
        time.set(3 * INTERVAL);
        let sweeper = spawn_deep(&filter, |filter: &ExpiringFilter| filter.sweep(u64::MAX));
        filter.insert(&keys[1]).expect("room");
        sweeper.join().unwrap();
        assert!(filter.contains(&keys[1]), "a visible slot was swept");
        time.set(4 * INTERVAL - 1);
        assert!(filter.contains(&keys[1]), "a visible slot was swept");
        seen.note("done");
    });
}

/// One thread alone lets the time pass, and only the other one is to be stopped.
const WHY: &str = "the lookup stops once, wherever it is, while the other thread does all the rest";

/// Catches a lookup that is stopped anywhere, and misses an item that is refreshed in time again
/// and again.
#[test]
fn a_lookup_of_what_is_refreshed() {
    check_shallow("ttl_refreshed", 41_800, &["done"], WHY, |seen| {
        let time = Time::ordered();
        let filter = Arc::new(filter(&time));
        let key = Hashed(1);
        filter.insert(&key).expect("room");
        let reader = spawn_deep(&filter, move |filter: &ExpiringFilter| {
            assert!(filter.contains(&key), "missed");
        });
        for generations in 1..3 {
            time.set(generations * (INTERVAL + 1));
            assert!(filter.refresh(&key), "in time");
        }
        reader.join().unwrap();
        seen.note("done");
    });
}

/// Catches the same in a batch.
#[test]
fn a_batch_of_lookups_of_what_is_refreshed() {
    check_shallow("ttl_refreshed_batch", 690, &["done"], WHY, |seen| {
        let time = Time::ordered();
        let filter = Arc::new(filter(&time));
        let (hash, item) = hashed(filter.table());
        filter.table().insert_unseen::<FixedWords>(item).expect("room");
        let reader = spawn_deep(&filter, move |filter: &ExpiringFilter| {
            let mut found = [false];
            filter.table().are_visible(&[hash], &mut found);
            assert!(found[0], "missed");
        });
        for generations in 1..3 {
            time.set(generations * (INTERVAL + 1));
            assert!(filter.table().refresh::<FixedWords>(item), "in time");
        }
        reader.join().unwrap();
        seen.note("done");
    });
}

/// Catches a refresh at the end of a generation that keeps the stamp of the one that ends.
#[test]
fn a_refresh_beside_the_end_of_a_generation() {
    check("ttl_refresh_end", 14_600, &["refreshed", "inserted"], |seen| {
        let time = Time::new();
        let filter = Arc::new(filter(&time));
        let keys = [1, 2].map(Hashed);
        filter.insert(&keys[0]).expect("room");
        let start = INTERVAL - 1;
        time.set(start);
        let writer = {
            let time = time.clone();
            spawn_deep(&filter, move |filter: &ExpiringFilter| {
                time.set(INTERVAL + 1);
                filter.insert(&keys[1]).expect("room");
            })
        };
        let inserted = filter.insert_or_refresh(&keys[0]).expect("room").is_new();
        assert!(!inserted, "it was visible");
        let is_found = filter.contains(&keys[0]);
        writer.join().unwrap();
        assert!(is_found, "forgotten early");
        time.set(start + TTL - 1);
        assert!(filter.contains(&keys[0]), "forgotten early");
        time.set(2 * INTERVAL + 300);
        let again = filter.insert_or_refresh(&keys[0]).expect("room").is_new();
        seen.note_if(again, "inserted", "refreshed");
        time.set(3 * INTERVAL + 299);
        assert!(filter.contains(&keys[0]), "forgotten early");
    });
}

/// Catches a lookup that looks at the end of a generation which becomes final meanwhile.
#[test]
fn a_lookup_beside_the_end_of_a_generation() {
    check("ttl_lookup_end", 21_100, &["done"], |seen| {
        let time = Time::new();
        let filter = Arc::new(filter(&time));
        let keys = [1, 2].map(Hashed);
        filter.insert(&keys[0]).expect("room");
        time.set(INTERVAL + 10);
        let reader = spawn_deep(&filter, move |filter: &ExpiringFilter| {
            assert!(filter.contains(&keys[0]), "missed");
        });
        filter.insert(&keys[1]).expect("room");
        reader.join().unwrap();
        seen.note("done");
    });
}

/// Catches a lookup that does not see that a generation was extended.
#[test]
fn a_lookup_after_an_extension() {
    check("ttl_extended", 2_300, &["found", "not yet"], |seen| {
        let time = Time::new();
        let filter = Arc::new(filter(&time));
        let keys = [1, 2].map(Hashed);
        time.set(3 * INTERVAL);
        let pause = filter.pause();
        let done = Arc::new(AtomicBool::new(false));
        let reader = {
            let (done, seen) = (done.clone(), seen.clone());
            spawn_deep(&filter, move |filter: &ExpiringFilter| {
                let is_after = done.load(Acquire);
                let found = filter.contains(&keys[0]);
                assert!(found || !is_after, "missed");
                seen.note_if(found, "found", "not yet");
            })
        };
        filter.insert(&keys[0]).expect("room");
        done.store(true, Release);
        reader.join().unwrap();
        drop(pause);
        filter.insert(&keys[1]).expect("room");
        time.set(4 * INTERVAL - 1);
        filter.insert(&keys[1]).expect("room");
        assert!(filter.contains(&keys[0]), "forgotten early");
    });
}

/// Catches a slot of a generation that just begins, which a holder of the stripe sweeps that takes
/// the one before for the current one.
#[test]
fn a_new_slot_beside_a_late_sweep() {
    check("ttl_spared", 200, &["done"], |seen| {
        let time = Time::new();
        let filter = Arc::new(filter(&time));
        let table = filter.table();
        let moved = item(table, [0, 1], 1, 0);
        filter.sweep(2);
        put(table, moved, START, 1);
        time.set(3 * INTERVAL);
        let mover = spawn(&filter, move |filter| relocate(filter.table(), moved, START, 1, None));
        let (key, _) = keyed(&filter);
        filter.insert(&key).expect("room");
        assert!(filter.contains(&key), "a new slot was swept");
        mover.join().unwrap();
        assert!(filter.contains(&key), "a new slot was swept");
        seen.note("done");
    });
}

/// Lets items expire, and writes begin generations that need the table swept.
fn stamps_come_again<G: Growth>(name: &str, floor: usize, empty: fn(&Time) -> Filter<Expiring, G>)
where
    Filter<Expiring, G>: Send + Sync + 'static,
{
    check(name, floor, &["done"], move |seen| {
        let time = Time::new();
        let filter = Arc::new(empty(&time));
        // More than one bucket holds.
        let old = [1, 2, 3].map(Hashed);
        old.iter().for_each(|key| _ = filter.insert(key).expect("room"));
        let mut gone = [false; 3];
        let mut check = || {
            for (key, gone) in old.iter().zip(&mut gone) {
                let is_found = filter.contains(key);
                assert!(!(*gone && is_found), "an item came again");
                *gone = !is_found;
            }
        };
        // Writes that find nothing, and sweep a bucket each.
        time.set(2 * INTERVAL + 1);
        assert!(!filter.refresh(&Hashed(9)));
        check();
        time.set(4 * INTERVAL + 1);
        let writer = spawn_deep(&filter, |filter| filter.refresh(&Hashed(9)));
        assert!(!filter.refresh(&Hashed(8)));
        assert!(!writer.join().unwrap());
        check();
        for interval in 5..9 {
            time.set(interval * INTERVAL + 1);
            assert!(!filter.refresh(&Hashed(9)));
            check();
        }
        time.set(20 * INTERVAL);
        check();
        assert_eq!(filter.len(), 0);
        seen.note("done");
    });
}

/// Catches a generation that begins although slots with its stamp are still there.
#[test]
fn stamps_come_again_when_they_are_swept() {
    stamps_come_again("ttl_sweep", 910, filter);
}

/// Catches the same where the filter grows.
#[test]
fn stamps_come_again_in_a_growing_filter() {
    stamps_come_again("ttl_growing_sweep", 780, growing_filter);
}

/// Catches the same beside a move, which carries an expired slot past the sweep.
#[test]
fn stamps_come_again_beside_a_move() {
    check("ttl_sweep_move", 380, &["moved", "stale"], |seen| {
        let time = Time::new();
        let filter = Arc::new(filter(&time));
        let table = filter.table();
        let old = item(table, [0, 1], 1, 0);
        put(table, old, START, 1);
        let mover = spawn(&filter, move |filter| relocate(filter.table(), old, START, 1, None));
        for interval in 1..4 {
            time.set(2 * interval * INTERVAL);
            assert!(!filter.refresh(&Hashed(9)));
        }
        seen.note_if(mover.join().unwrap(), "moved", "stale");
        for interval in 8..12 {
            assert!(!table.is_visible(old), "an item came again");
            time.set(interval * INTERVAL);
            assert!(!filter.refresh(&Hashed(9)));
        }
        filter.sweep(u64::MAX);
        let (words, _) = table.copy_words().expect("memory for a few words");
        assert_eq!(words, [0, 0], "a slot was never swept");
    });
}

/// Catches a copy that is made while a generation begins, or is extended, and forgets early.
fn a_copy(name: &str, floor: usize, copy: fn(&ExpiringFilter) -> ExpiringFilter) {
    check(name, floor, &["before", "after"], move |seen| {
        let time = Time::new();
        let filter = Arc::new(filter(&time));
        filter.insert(&Hashed(1)).expect("room");
        time.set(TIME);
        let copier = spawn_deep(&filter, move |filter: &ExpiringFilter| copy(filter));
        filter.insert(&Hashed(2)).expect("room");
        let copy = copier.join().unwrap();
        let has_second = copy.contains(&Hashed(2));
        seen.note_if(has_second, "after", "before");
        assert!(copy.contains(&Hashed(1)) == (TIME < TTL + INTERVAL), "forgotten early");
        time.set(TIME + TTL - 1);
        copy.refresh(&Hashed(9));
        assert!(!has_second || copy.contains(&Hashed(2)), "the copy forgets early");
        time.set(TIME + EXTENSION + INTERVAL + TTL);
        assert!(!copy.contains(&Hashed(2)) && !copy.contains(&Hashed(1)), "found for too long");
    });
}

#[test]
fn a_clone_beside_a_generation_that_is_due() {
    a_copy("ttl_clone", 160, |filter| filter.try_clone().expect("memory"));
}

/// Catches a second slot of an item, or none, when it is inserted or refreshed twice at once.
fn insert_or_refresh_twice<G: Growth>(
    name: &str,
    floor: usize,
    empty: fn(&Time) -> Filter<Expiring, G>,
) where
    Filter<Expiring, G>: Send + Sync + 'static,
{
    check(name, floor, &["this", "other"], move |seen| {
        let time = Time::new();
        let filter = Arc::new(empty(&time));
        let key = Hashed(1);
        time.set(TIME);
        let other = spawn_deep(&filter, move |filter: &Filter<Expiring, G>| {
            filter.insert_or_refresh(&key).expect("room").is_new()
        });
        let this = filter.insert_or_refresh_mask(&[key]).added == 1;
        assert_ne!(this, other.join().unwrap(), "one call inserts it");
        assert_eq!((filter.count(&key), filter.len()), (1, 1));
        seen.note_if(this, "this", "other");
    });
}

#[test]
fn insert_or_refresh_beside_itself() {
    insert_or_refresh_twice("ttl_upsert", 2_900, filter);
}

#[test]
fn insert_or_refresh_beside_itself_in_a_growing_filter() {
    insert_or_refresh_twice("ttl_growing_upsert", 2_900, growing_filter);
}

/// Catches a refresh that takes the slot which an `insert_or_refresh` is about to restamp, and a
/// split that leaves one of the two behind.
#[test]
fn insert_or_refresh_beside_a_refresh_and_a_split() {
    check("ttl_upsert_refresh", 22_000, &["done"], |seen| {
        let time = Time::new();
        let filter = Arc::new(growing_filter(&time));
        let key = Hashed(1);
        filter.insert(&key).expect("room");
        time.set(TIME);
        let other = spawn_deep(&filter, move |filter: &GrowingExpiringFilter| filter.refresh(&key));
        split(filter.table());
        assert!(!filter.insert_or_refresh(&key).expect("room").is_new(), "it was there");
        assert!(other.join().unwrap(), "it was there");
        seen.note("done");
        time.set(TIME + TTL - 1);
        assert!(filter.contains(&key), "forgotten early");
        assert_eq!(filter.count(&key), 1);
    });
}

/// Catches an `insert_or_refresh` that takes the last slot of an item which is removed meanwhile,
/// or does not see that it was swept.
#[test]
fn insert_or_refresh_beside_a_sweep_and_a_removal() {
    check("ttl_upsert_sweep", 28_800, &["inserted", "refreshed"], |seen| {
        let time = Time::new();
        let filter = Arc::new(filter(&time));
        let (key, pair) = keyed(&filter);
        let other = item(filter.table(), [0, 1], pair.fingerprint.get() & 1 ^ 1, 0);
        put(filter.table(), pair, START, 0);
        put(filter.table(), other, START, 0);
        // It has just expired, or is about to.
        time.set(2 * INTERVAL - 1);
        let sweeper = {
            let time = time.clone();
            spawn_deep(&filter, move |filter: &ExpiringFilter| {
                time.set(2 * INTERVAL);
                filter.sweep(u64::MAX);
                let _ = filter.table().remove_of::<FixedWords>(other, START);
            })
        };
        let is_new = filter.insert_or_refresh(&key).expect("room").is_new();
        assert!(filter.contains(&key), "forgotten early");
        sweeper.join().unwrap();
        assert!(filter.contains(&key), "forgotten early");
        time.set(3 * INTERVAL - 2);
        assert!(filter.contains(&key), "forgotten early");
        assert_eq!(filter.count(&key), 1);
        seen.note_if(is_new, "inserted", "refreshed");
    });
}

/// Catches a split that counts as swept what has expired only since it left it behind.
#[test]
fn a_split_beside_the_end_of_a_life() {
    check("ttl_split", 4_200, &["done"], |seen| {
        let time = Time::new();
        let filter = Arc::new(growing_filter(&time));
        filter.insert(&Hashed(1)).expect("room");
        time.set(2 * INTERVAL + 1);
        let splitter = spawn_deep(&filter, |filter: &GrowingExpiringFilter| split(filter.table()));
        assert!(!filter.refresh(&Hashed(9)));
        splitter.join().unwrap();
        // Until the stamp comes again.
        for interval in 4..9 {
            assert_eq!(filter.table().clock().visible_slots(), Some(0), "slots are miscounted");
            time.set(interval * INTERVAL);
            assert!(!filter.refresh(&Hashed(9)));
        }
        seen.note("done");
    });
}
