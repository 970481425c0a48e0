//! What an operation finds in a table whose slots expire happened before it.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::Pair;
use guira_loom_tests::{
    check,
    expiry::{A, Aging, START, WINDOW, aging, item, put, spawn},
};
use loom::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// A single bucket.
const FIRST: [u32; 2] = [0, 0];

/// Inserts an item after a relaxed write, looks for it by `find`, and expects the write.
fn publishes(
    name: &str,
    floor: usize,
    set_up: fn(&Aging),
    insert: fn(&Aging, Pair),
    find: fn(&Aging, Pair) -> bool,
) {
    check(name, floor, &["hit", "miss"], move |seen| {
        let table = aging();
        let item = item(&table, FIRST, 0, 0);
        set_up(&table);
        let data = Arc::new(AtomicUsize::new(0));
        let inserter = {
            let data = data.clone();
            spawn(&table, move |table| {
                data.store(1, Relaxed);
                insert(table, item);
            })
        };
        let hit = find(&table, item);
        assert!(!hit || data.load(Relaxed) == 1, "a hit does not happen after the insert");
        seen.note_if(hit, "hit", "miss");
        inserter.join().unwrap();
    });
}

/// Inserts an item.
fn insert(table: &Aging, item: Pair) {
    table.insert_for::<A>(item, WINDOW).expect("room");
}

/// Fills the first bucket with a visible slot and an expired one.
fn fill_with_an_expired_slot(table: &Aging) {
    put(table, item(table, FIRST, 1, 0), START, 0);
    put(table, item(table, FIRST, 1, 1), START - 2, 0);
}

/// Catches a lookup that does not happen after the insert of what it finds.
#[test]
fn insert_happens_before_a_hit() {
    publishes("expiry_publish_lookup", 36, |_| {}, insert, Aging::is_visible::<A>);
}

/// Catches an insert that does not publish what it stores in an expired slot.
#[test]
fn insert_into_an_expired_slot_happens_before_a_hit() {
    let set_up = fill_with_an_expired_slot;
    publishes("expiry_publish_swept", 84, set_up, insert, Aging::is_visible::<A>);
}

/// Catches an `insert_unseen` that does not publish what it adds.
#[test]
fn unseen_happens_before_a_hit() {
    let unseen = |table: &Aging, item| {
        assert_eq!(table.insert_unseen::<A>(item), Ok(Some(START)));
    };
    publishes("expiry_publish_unseen", 36, |_| {}, unseen, Aging::is_visible::<A>);
}

/// Catches an `insert_evicting` that does not publish what it stores.
#[test]
fn evicting_happens_before_a_hit() {
    let set_up = |table: &Aging| {
        (0..2).for_each(|nth| put(table, item(table, FIRST, 1, nth), START, 0));
    };
    let evict = |table: &Aging, item| assert_eq!(table.insert_evicting::<A>(item), (START, true));
    publishes("expiry_publish_evicting", 426, set_up, evict, Aging::is_visible::<A>);
}

/// Catches an `insert_unseen` that does not happen after the insert of what it finds.
#[test]
fn insert_happens_before_a_refusal() {
    publishes(
        "expiry_publish_refusal",
        15,
        |_| {},
        insert,
        |table, item| table.insert_unseen::<A>(item) == Ok(None),
    );
}

/// Catches a `refresh` that does not happen after the insert of what it finds.
#[test]
fn insert_happens_before_a_refresh() {
    publishes("expiry_publish_refresh", 8, |_| {}, insert, Aging::refresh::<A>);
}

/// Catches a `remove_of` that does not happen after the insert of what it removes.
#[test]
fn insert_happens_before_a_removal() {
    publishes(
        "expiry_publish_remove",
        10,
        |_| {},
        insert,
        |table, item| table.remove_of::<A>(item, START),
    );
}

/// Catches a `count_visible` that does not happen after the inserts of what it counts.
#[test]
fn insert_happens_before_a_count() {
    publishes(
        "expiry_publish_count",
        36,
        |_| {},
        insert,
        |table, item| table.count_visible::<A>(item) == 1,
    );
}
