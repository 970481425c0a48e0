//! Filters that keep time: what is inserted beside the beginning of a generation lives for its time
//! to live, which is one interval in these models.
#![cfg(not(feature = "semi-sorted"))]

use guira::{
    ExpiringFilter, Filter, Hashed,
    kind::{Expiring, Growth},
};
use guira_loom_tests::{
    check, check_each,
    expiry::{START, item, put, relocate},
    keyed, spawn, spawn_deep,
    ttl::{INTERVAL, filter, growing_filter, set_time},
};
use loom::sync::Arc;

/// In the second half of the second generation.
const TIME: u64 = 15;

/// Writes that remember an item from now on. (A hash is the item's.)
fn writes<G: Growth>() -> [fn(&Filter<Expiring, G>, Hashed); 6] {
    [
        |filter, key| _ = filter.insert(&key).expect("room"),
        |filter, key| _ = filter.insert_for(&key, 1).expect("room"),
        |filter, key| assert!(filter.insert_unique(&key).expect("room").is_new()),
        |filter, key| assert!(filter.insert_unique_for(&key, 1).expect("room").is_new()),
        |filter, key| _ = filter.insert_batch([key]).expect("room"),
        |filter, key| _ = filter.refresh(&key) || filter.insert(&key).is_ok(),
    ]
}

/// Runs each write, and another one, when the second generation has been due for a while. The table
/// is swept for that one or not.
fn writes_when_due<G: Growth>(name: &str, floor: usize, empty: fn() -> Filter<Expiring, G>)
where
    Filter<Expiring, G>: Send + Sync + 'static,
{
    let cases = writes::<G>().into_iter().flat_map(|write| [(write, false), (write, true)]);
    let models = cases.map(|(write, is_swept)| {
        move |seen: &std::sync::Arc<guira_loom_tests::Seen>| {
            let filter = Arc::new(empty());
            if is_swept {
                filter.sweep(2);
            }
            set_time(TIME);
            let keys = [1, 2].map(Hashed);
            let writer = spawn_deep(&filter, move |filter| write(filter, keys[0]));
            filter.insert(&keys[1]).expect("room");
            writer.join().unwrap();
            assert_eq!(filter.generation(), START + 1, "it is swept, or the writes do that");
            seen.note("done");
            // A moment before the items may be forgotten, and when they must be.
            set_time(TIME + INTERVAL - 1);
            filter.tick();
            assert!(keys.iter().all(|key| filter.contains(key)), "an item is forgotten early");
            set_time(TIME + 2 * INTERVAL);
            filter.tick();
            assert!(keys.iter().all(|key| !filter.contains(key)), "an item is found for too long");
            assert_eq!(filter.len(), 0);
        }
    });
    check_each(name, floor, &["done"], models);
}

/// Catches a write whose stamp is older than the schedule takes it for.
#[test]
fn writes_beside_a_generation_that_is_due() {
    writes_when_due("ttl_writes", 810, filter);
}

/// Catches the same where the filter grows.
#[test]
fn writes_to_a_growing_filter_beside_a_generation_that_is_due() {
    writes_when_due("ttl_growing_writes", 2_160, growing_filter);
}

/// Catches generations that begin while a holder of a lock decides by the one before the last.
#[test]
fn two_generations_beside_a_move() {
    check("ttl_move", 68, &["done"], |seen| {
        let filter = Arc::new(filter());
        let table = filter.table();
        let moved = item(table, [0, 1], 1, 0);
        put(table, moved, START, 1);
        set_time(2 * INTERVAL + 1);
        let mover = spawn(&filter, move |filter| relocate(filter.table(), moved, START, 1, None));
        assert_eq!(filter.tick(), Some(START + 2));
        // What a mover that takes START for the present generation believes to be expired, in the
        // bucket to which it moves.
        let (key, _) = keyed(&filter);
        filter.insert(&key).expect("room");
        mover.join().unwrap();
        seen.note("done");
        assert!(filter.contains(&key), "a visible slot was swept");
    });
}

/// Lets items expire, and writes begin generations that need the table swept.
fn stamps_come_again<G: Growth>(name: &str, floor: usize, empty: fn() -> Filter<Expiring, G>)
where
    Filter<Expiring, G>: Send + Sync + 'static,
{
    check(name, floor, &["done"], move |seen| {
        let filter = Arc::new(empty());
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
        set_time(2 * INTERVAL + 1);
        assert!(!filter.refresh(&Hashed(9)));
        check();
        set_time(4 * INTERVAL + 1);
        let writer = spawn_deep(&filter, |filter| filter.refresh(&Hashed(9)));
        assert!(!filter.refresh(&Hashed(8)));
        assert!(!writer.join().unwrap());
        check();
        for interval in 5..9 {
            set_time(interval * INTERVAL + 1);
            assert!(!filter.refresh(&Hashed(9)));
            check();
        }
        set_time(20 * INTERVAL);
        filter.tick();
        check();
        assert_eq!(filter.len(), 0);
        seen.note("done");
    });
}

/// Catches a generation that begins although slots with its stamp are still there.
#[test]
fn stamps_come_again_when_they_are_swept() {
    stamps_come_again("ttl_sweep", 58, filter);
}

/// Catches the same where the filter grows.
#[test]
fn stamps_come_again_in_a_growing_filter() {
    stamps_come_again("ttl_growing_sweep", 45, growing_filter);
}

/// Catches a sweep that begins the next one beside an advance, which begins it, too: the first one
/// counts as complete then.
#[test]
fn a_sweep_beside_an_advance() {
    check("ttl_sweep_advance", 87, &["done"], |seen| {
        let filter = Arc::new(filter());
        filter.advance();
        filter.insert(&Hashed(1)).expect("room");
        filter.advance();
        let sweeper = spawn_deep(&filter, |filter: &ExpiringFilter| filter.sweep(2));
        filter.advance();
        sweeper.join().unwrap();
        for interval in 1..4 {
            assert!(!filter.contains(&Hashed(1)), "an item came again");
            set_time(interval * INTERVAL + 1);
            assert!(!filter.refresh(&Hashed(9)));
            filter.tick();
        }
        assert_eq!(filter.len(), 0);
        seen.note("done");
    });
}

/// Catches a clone that is made while a generation begins, and forgets early.
#[test]
fn a_clone_beside_a_generation_that_is_due() {
    check("ttl_clone", 88, &["before", "after"], |seen| {
        let filter = Arc::new(filter());
        filter.sweep(2);
        set_time(TIME);
        filter.insert(&Hashed(1)).expect("room");
        set_time(TIME + INTERVAL);
        let cloner =
            spawn_deep(&filter, |filter: &ExpiringFilter| filter.try_clone().expect("memory"));
        filter.tick();
        filter.insert(&Hashed(2)).expect("room");
        let copy = cloner.join().unwrap();
        let has_second = copy.contains(&Hashed(2));
        seen.note_if(has_second, "after", "before");
        set_time(TIME + 2 * INTERVAL - 1);
        copy.tick();
        assert!(!has_second || copy.contains(&Hashed(2)), "the copy forgets early");
    });
}
