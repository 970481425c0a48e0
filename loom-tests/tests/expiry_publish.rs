//! What an operation finds in a table whose slots expire happened before it.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{FixedWords, Pair};
use guira_loom_tests::{
    expiry::{Aging, START, WINDOW, aging, item, put},
    publishes,
};

/// A single bucket.
const FIRST: [u32; 2] = [0, 0];

/// Inserts an item and looks for it by `find`.
fn publish(
    name: &str,
    floor: usize,
    set_up: fn(&Aging),
    insert: fn(&Aging, Pair),
    find: fn(&Aging, Pair) -> bool,
) {
    let prepared = move || {
        let table = aging();
        set_up(&table);
        table
    };
    let insert = move |table: &Aging| insert(table, item(table, FIRST, 0, 0));
    publishes(name, floor, prepared, insert, move |table| find(table, item(table, FIRST, 0, 0)));
}

/// Inserts an item.
fn insert(table: &Aging, item: Pair) {
    table.insert_for::<FixedWords>(item, WINDOW).expect("room");
}

/// Fills the first bucket with a visible slot and an expired one.
fn fill_with_an_expired_slot(table: &Aging) {
    put(table, item(table, FIRST, 1, 0), START, 0);
    put(table, item(table, FIRST, 1, 1), START - 2, 0);
}

/// Catches a lookup that does not happen after the insert of what it finds.
#[test]
fn insert_happens_before_a_hit() {
    publish("expiry_publish_lookup", 64, |_| {}, insert, Aging::is_visible);
}

/// Catches an insert that does not publish what it stores in an expired slot.
#[test]
fn insert_into_an_expired_slot_happens_before_a_hit() {
    let set_up = fill_with_an_expired_slot;
    publish("expiry_publish_swept", 212, set_up, insert, Aging::is_visible);
}

/// Catches an `insert_unseen` that does not publish what it adds.
#[test]
fn unseen_happens_before_a_hit() {
    let unseen = |table: &Aging, item| {
        assert_eq!(table.insert_unseen::<FixedWords>(item), Ok(Some(START)));
    };
    publish("expiry_publish_unseen", 64, |_| {}, unseen, Aging::is_visible);
}

/// Catches an `insert_unseen` that does not happen after the insert of what it finds.
#[test]
fn insert_happens_before_a_refusal() {
    publish(
        "expiry_publish_refusal",
        15,
        |_| {},
        insert,
        |table, item| table.insert_unseen::<FixedWords>(item) == Ok(None),
    );
}

/// Catches a `refresh` that does not happen after the insert of what it finds.
#[test]
fn insert_happens_before_a_refresh() {
    publish("expiry_publish_refresh", 10, |_| {}, insert, Aging::refresh::<FixedWords>);
}

/// Catches a `remove_of` that does not happen after the insert of what it removes.
#[test]
fn insert_happens_before_a_removal() {
    publish(
        "expiry_publish_remove",
        12,
        |_| {},
        insert,
        |table, item| table.remove_of::<FixedWords>(item, START),
    );
}

/// Catches a `count` that does not happen after the inserts of what it counts.
#[test]
fn insert_happens_before_a_count() {
    publish(
        "expiry_publish_count",
        64,
        |_| {},
        insert,
        |table, item| table.count::<FixedWords>(item) == 1,
    );
}
