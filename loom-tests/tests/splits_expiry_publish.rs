//! What an operation finds in a table that grows and whose slots expire happened before it.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::Item;
use guira_loom_tests::{
    publishes,
    splits::S,
    splits_expiry::{Aging, START, WINDOW, first, put, with_load},
};

/// Inserts an item and looks for it by `find`, in a table of one bucket.
fn publish(
    name: &str,
    floor: usize,
    set_up: fn(&Aging),
    insert: fn(&Aging, Item),
    find: fn(&Aging, Item) -> bool,
) {
    let prepared = move || {
        let table = with_load(1, 1, 256);
        set_up(&table);
        table
    };
    let insert = move |table: &Aging| insert(table, first(table, 0, 0));
    publishes(name, floor, prepared, insert, move |table| find(table, first(table, 0, 0)));
}

/// Inserts an item.
fn insert(table: &Aging, item: Item) {
    table.insert_for::<S>(item, WINDOW).expect("room");
}

/// Looks up an item.
fn look_up(table: &Aging, item: Item) -> bool {
    table.is_visible(item)
}

/// Catches a lookup that does not happen after the insert of what it finds.
#[test]
fn insert_happens_before_a_hit() {
    publish("split_age_publish_lookup", 64, |_| {}, insert, look_up);
}

/// Catches an insert that does not publish what it stores in an expired slot.
#[test]
fn insert_into_an_expired_slot_happens_before_a_hit() {
    let set_up = |table: &Aging| {
        put(table, first(table, 1, 0).sides[0], START);
        put(table, first(table, 1, 1).sides[0], START - 2);
    };
    publish("split_age_publish_swept", 212, set_up, insert, look_up);
}

/// Catches an `insert_unseen` that does not publish what it adds.
#[test]
fn unseen_happens_before_a_hit() {
    let unseen = |table: &Aging, item| {
        assert_eq!(table.insert_unseen::<S>(item), Ok(Some(START)));
    };
    publish("split_age_publish_unseen", 64, |_| {}, unseen, look_up);
}

/// Catches an `insert_unseen` that does not happen after the insert of what it finds.
#[test]
fn insert_happens_before_a_refusal() {
    let is_refused = |table: &Aging, item| table.insert_unseen::<S>(item) == Ok(None);
    publish("split_age_publish_refusal", 24, |_| {}, insert, is_refused);
}

/// Catches a `refresh` that does not happen after the insert of what it finds.
#[test]
fn insert_happens_before_a_refresh() {
    publish("split_age_publish_refresh", 10, |_| {}, insert, Aging::refresh::<S>);
}

/// Catches a `remove_of` that does not happen after the insert of what it removes.
#[test]
fn insert_happens_before_a_removal() {
    publish(
        "split_age_publish_remove",
        24,
        |_| {},
        insert,
        |table, item| table.remove_of::<S>(item, START),
    );
}

/// Catches a `count` that does not happen after the inserts of what it counts.
#[test]
fn insert_happens_before_a_count() {
    publish(
        "split_age_publish_count",
        64,
        |_| {},
        insert,
        |table, item| table.count::<S>(item) == 1,
    );
}
