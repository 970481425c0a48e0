//! Batches of lookups in a table whose slots expire, beside refreshes, sweeps and advances.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{FixedWords, Pair};
use guira_loom_tests::{
    EVERY_WAY, check,
    expiry::{Aging, START, aging, assert_ends, hashed, put},
    read_beside,
};

/// Runs a batch with one item, which must be found, beside a writer. Notes when the batch ran.
fn beside(name: &str, floor: usize, set_up: fn(&Aging, Pair), write: fn(&Aging, Pair)) {
    check(name, floor, EVERY_WAY, move |seen| {
        let table = aging();
        let (hash, item) = hashed(&table);
        set_up(&table, item);
        let read = move |table: &Aging| {
            let mut found = [false];
            table.are_visible(&[hash], &mut found);
            assert_eq!(found, [true], "an item is missed");
        };
        read_beside(&table, seen, read, move |table| write(table, item));
        assert_ends(&table);
    });
}

/// Catches a batch that does not read the generation before the words and validate it after them:
/// the item is inserted again before its old copy expires.
#[test]
fn beside_a_second_insert_and_a_sweep() {
    let set_up = |table: &Aging, item| put(table, item, START - 1, 0);
    beside("expiry_batch_sweep", 1_900, set_up, |table, item| {
        put(table, item, START, 1);
        table.advance::<FixedWords>();
        table.sweep::<FixedWords>(2);
    });
}

/// Catches a batch that takes the first copy that it finds, which has expired, for an answer.
#[test]
fn of_two_copies_beside_a_sweep() {
    let set_up = |table: &Aging, item| {
        put(table, item, START - 2, 1);
        put(table, item, START, 0);
    };
    beside("expiry_batch_copies", 94, set_up, |table, _| {
        table.sweep::<FixedWords>(2);
    });
}

/// Catches a batch that judges the stamp of a refreshed item by a generation that it read before
/// the refresh, or by one that it read after the words.
#[test]
fn beside_a_refresh_and_advances() {
    let set_up = |table: &Aging, item| put(table, item, START, 0);
    beside("expiry_batch_refresh", 29_800, set_up, |table, item| {
        table.advance::<FixedWords>();
        assert!(table.refresh::<FixedWords>(item));
        table.advance::<FixedWords>();
    });
}
