//! Tables that grow and whose slots expire: lookups beside splits, moves, refreshes, removals,
//! evictions and advances.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{Item, Place};
use guira_loom_tests::{
    EVERY_WAY, check, check_shallow, read_beside, spawn,
    splits::{S, item, leaving, reversed, split, split_unseen, staying},
    splits_expiry::{Aging, START, WINDOW, aging, assert_ends, copies, hashed, put, relocate},
};

/// Looks up an item that begins in buckets 0 and 1, in the second one first, beside a writer, in a
/// table that grows to `max` buckets. The item must be found, or must not. Notes when the lookup
/// ran. Splits of bucket 0 take another stripe's lock than changes of the item.
fn beside_in(
    max: u64,
    name: &str,
    floor: usize,
    is_visible: bool,
    set_up: fn(&Aging, Item),
    write: fn(&Aging, Item),
) {
    check(name, floor, EVERY_WAY, move |seen| {
        let table = aging(max);
        let item = leaving(&table, 1, 0);
        set_up(&table, item);
        let read = move |table: &Aging| {
            let found = table.is_visible(reversed(item));
            assert_eq!(found, is_visible, "an item is missed, or found when it has expired");
        };
        read_beside(&table, seen, read, move |table| write(table, item));
        assert_ends(&table);
    });
}

/// As [`beside_in`], in a table that grows to four buckets, of an item that must be found.
fn beside(name: &str, floor: usize, set_up: fn(&Aging, Item), write: fn(&Aging, Item)) {
    beside_in(4, name, floor, true, set_up, write);
}

/// Puts the item into bucket 0.
fn in_the_first_bucket(table: &Aging, item: Item) {
    put(table, item.sides[0], START);
}

/// Puts the item of the generation before into bucket 0.
fn old_in_the_first_bucket(table: &Aging, item: Item) {
    put(table, item.sides[0], START - 1);
}

/// Catches a lookup that misses an item whose bucket is split.
#[test]
fn lookup_beside_a_split() {
    beside("split_age_lookup_split", 27, in_the_first_bucket, |table, _| split(table));
}

/// Catches a lookup that misses an item which moves.
#[test]
fn lookup_beside_a_move() {
    beside("split_age_lookup_move", 201, in_the_first_bucket, |table, item| {
        assert!(relocate(table, item.sides[0], START));
    });
}

/// Catches a lookup that misses an item which moves, in a round after the first one.
#[test]
fn open_lookup_beside_a_move() {
    let set_up = |table: &Aging, item| {
        in_the_first_bucket(table, item);
        split_unseen(table);
    };
    beside("split_age_open_move", 6_000, set_up, |table, item| {
        assert!(relocate(table, item.sides[0], START));
    });
}

/// Catches a lookup that takes a miss for certain although the generation has changed, in a round
/// after the first one.
#[test]
fn open_lookup_beside_a_second_insert_and_a_sweep() {
    let why = "the reader stops between its two words, and the writer runs to its end";
    let outcomes = &["before", "beside or after"];
    check_shallow("split_age_open_sweep", 80_000, outcomes, why, move |seen| {
        let table = aging(4);
        let item = leaving(&table, 1, 0);
        old_in_the_first_bucket(&table, item);
        split_unseen(&table);
        let writer = spawn(&table, move |table| {
            insert_again(table, item);
            table.sweep::<S>(2);
        });
        assert!(table.is_visible(reversed(item)), "an item is missed");
        seen.note_if(table.clock().now() > START, "beside or after", "before");
        writer.join().unwrap();
    });
}

/// Catches a lookup that misses an item which moves once its bucket has been split.
#[test]
fn lookup_beside_a_split_and_a_move() {
    beside("split_age_lookup_split_move", 1_800, in_the_first_bucket, |table, item| {
        split(table);
        assert!(relocate(table, item.sides[0], START));
    });
}

/// Catches a lookup that misses an item because it is refreshed, and its bucket is split before a
/// generation begins.
#[test]
fn lookup_beside_a_refresh_a_split_and_an_advance() {
    beside("split_age_lookup_refresh", 6_500, old_in_the_first_bucket, |table, item| {
        assert!(table.refresh::<S>(item));
        split(table);
        table.advance::<S>();
    });
}

/// Inserts the item again, into bucket 1, and begins the generation in which the old copy expires.
fn insert_again(table: &Aging, item: Item) {
    put(table, item.sides[1], START);
    table.advance::<S>();
}

/// Catches a sweep that does not publish the generation in which it sweeps, and a lookup that reads
/// the generation after the words, or takes a miss for certain although it has changed.
#[test]
fn lookup_beside_a_second_insert_and_a_sweep() {
    beside("split_age_lookup_sweep", 1_700, old_in_the_first_bucket, |table, item| {
        insert_again(table, item);
        table.sweep::<S>(2);
    });
}

/// Runs a batch with one item, which must be found, beside a writer. Notes when the batch ran.
fn batch_beside(name: &str, floor: usize, set_up: fn(&Aging, Item), write: fn(&Aging, Item)) {
    check(name, floor, EVERY_WAY, move |seen| {
        let table = aging(4);
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

/// Catches a batch that does not read the generation before the words and validate it after them.
#[test]
fn batch_beside_a_second_insert_and_a_sweep() {
    let set_up = |table: &Aging, item: Item| put(table, item.sides[1], START - 1);
    batch_beside("split_age_batch_sweep", 11_000, set_up, |table, item| {
        put(table, item.sides[0], START);
        table.advance::<S>();
        table.sweep::<S>(2);
    });
}

/// Catches a batch that takes a copy that has expired for an answer.
#[test]
fn batch_of_two_copies_beside_a_sweep() {
    let set_up = |table: &Aging, item: Item| {
        put(table, item.sides[0], START - 2);
        put(table, item.sides[1], START);
    };
    batch_beside("split_age_batch_copies", 230, set_up, |table, _| {
        table.sweep::<S>(2);
    });
}

/// Catches the same where a split drops the old copy.
#[test]
fn lookup_beside_a_second_insert_and_a_split() {
    beside("split_age_lookup_dropped", 1_500, old_in_the_first_bucket, |table, item| {
        insert_again(table, item);
        split(table);
        assert_eq!(copies(table, item), 1, "a split carries over what has expired");
    });
}

/// Catches the same where a move clears the old copy.
#[test]
fn lookup_beside_a_second_insert_and_a_move() {
    beside("split_age_lookup_drop", 1_000, old_in_the_first_bucket, |table, item| {
        insert_again(table, item);
        assert!(relocate(table, item.sides[0], START - 1), "an expired slot leaves its place");
        assert_eq!(copies(table, item), 1);
    });
}

/// Catches the same where an insert replaces the old copy.
#[test]
fn lookup_beside_a_second_insert_and_another_insert() {
    let set_up = |table: &Aging, item| {
        old_in_the_first_bucket(table, item);
        put(table, staying(table, 0, 0).sides[0], START);
    };
    beside("split_age_lookup_replace", 2_300, set_up, |table, item| {
        insert_again(table, item);
        table.insert_for::<S>(staying(table, 0, 1), WINDOW).expect("a slot has expired");
    });
}

/// Catches a lookup that finds an expired item, and a split that carries it over.
#[test]
fn lookup_of_an_expired_item_beside_a_split_and_an_advance() {
    let set_up = |table: &Aging, item: Item| put(table, item.sides[0], START - 2);
    beside_in(4, "split_age_lookup_expired", 3_700, false, set_up, |table, _| {
        split(table);
        table.advance::<S>();
    });
}

/// Catches a removal that does not bump the version: a lookup misses an item although an alias is
/// inserted before the item is removed.
#[test]
fn lookup_beside_an_alias_and_a_removal() {
    beside("split_age_lookup_alias", 456, in_the_first_bucket, |table, item| {
        put(table, item.sides[1], START);
        assert!(table.remove_of::<S>(reversed(item), START));
        assert_eq!(copies(table, guira_loom_tests::splits::only(item.sides[0])), 0);
    });
}

/// Catches the same where the bucket of the item is split before it is removed.
#[test]
fn lookup_beside_an_alias_a_split_and_a_removal() {
    beside("split_age_lookup_alias_split", 1_700, in_the_first_bucket, |table, item| {
        put(table, item.sides[1], START);
        split(table);
        assert!(table.remove_of::<S>(reversed(item), START));
    });
}

/// Catches a sweep that leaves out the child of a bucket that was split ahead of its turn: it is
/// beyond the end.
#[test]
fn lookup_of_an_expired_item_beside_the_sweep_of_a_child() {
    check("split_age_lookup_ahead", 191, EVERY_WAY, move |seen| {
        let table = aging(4);
        let pair = ahead(&table);
        put(&table, pair.sides[0], START - 1);
        assert_eq!(table.split_early(Place { bucket: 1, level: 0 }), Ok(true));
        table.advance::<S>();
        let read = move |table: &Aging| assert!(!table.is_visible(pair));
        read_beside(&table, seen, read, |table| {
            table.sweep::<S>(2);
        });
        assert_eq!(copies(&table, pair), 0, "a slot was not swept");
        assert_ends(&table);
    });
}

/// An item that goes to the child of bucket 1.
fn ahead(table: &Aging) -> Item {
    item(table, 0, [1, 0], [1, 0], 0)
}
