//! Tables that grow and whose slots expire: operations under an item's lock beside moves, splits,
//! advances and each other.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::Item;
use guira_loom_tests::{
    check, spawn,
    splits::{S, item, leaving, reversed, staying},
    splits_expiry::{
        Aging, START, WINDOW, aging, assert_counts, assert_ends, copies, put, relocate,
        split_first, with_load,
    },
};

/// Runs an operation that needs the lock, on an item that moves from bucket 1 beside a split of
/// bucket 0.
fn beside_a_move(
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    operation: fn(&Aging, Item) -> bool,
    copies_left: usize,
) {
    check(name, floor, outcomes, move |seen| {
        let table = aging(4);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[1], START);
        // An insert of the item chooses the other bucket: once the item has moved, that is empty.
        put(&table, staying(&table, 0, 0).sides[0], START);
        let mover = spawn(&table, move |table| relocate(table, item.sides[1], START));
        let other = spawn(&table, move |table| operation(table, item));
        split_first(&table);
        assert!(other.join().unwrap(), "one copy was there, no more and no less");
        seen.note_if(mover.join().unwrap(), "moved", "stale");
        assert_eq!(table.count::<S>(item), copies_left);
        assert_ends(&table);
    });
}

/// Catches a `remove_of` without the right lock.
#[test]
fn removal_beside_a_move() {
    let remove = |table: &Aging, item| table.remove_of::<S>(item, START);
    beside_a_move("split_age_remove_move", 63, &["moved", "stale"], remove, 0);
}

/// Catches a `count` without the right lock.
#[test]
fn count_beside_a_move() {
    let is_one = |table: &Aging, item| table.count::<S>(item) == 1;
    beside_a_move("split_age_count_move", 118, &["moved"], is_one, 1);
}

/// Catches an `insert_unseen` under the wrong lock: it misses an item that moves.
#[test]
fn unseen_beside_a_move() {
    let is_seen = |table: &Aging, item| table.insert_unseen::<S>(item) == Ok(None);
    beside_a_move("split_age_unseen_move", 70, &["moved"], is_seen, 1);
}

/// Catches a `refresh` without the right lock.
#[test]
fn refresh_beside_a_move_and_an_advance() {
    check("split_age_refresh_move", 977, &["moved", "stale"], |seen| {
        let table = aging(2);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[1], START);
        let mover = spawn(&table, move |table| relocate(table, item.sides[1], START));
        let refresher = spawn(&table, move |table| table.refresh::<S>(item));
        table.advance::<S>();
        assert!(refresher.join().unwrap(), "one copy was there");
        seen.note_if(mover.join().unwrap(), "moved", "stale");
        assert_eq!(table.count::<S>(item), 1);
        assert_ends(&table);
    });
}

/// Catches a `refresh` that loses its slot, or counts one, where the bucket is split: it was loaded
/// at another level.
#[test]
fn refresh_beside_a_split() {
    check("split_age_refresh_split", 7, &["done"], |seen| {
        let table = aging(4);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[0], START - 1);
        let refresher = spawn(&table, move |table| table.refresh::<S>(item));
        split_first(&table);
        assert!(refresher.join().unwrap(), "a visible copy was there throughout");
        assert_counts(&table);
        table.advance::<S>();
        assert!(table.is_visible(item), "a refreshed item expired too early");
        seen.note("done");
        assert_ends(&table);
    });
}

/// Catches a `remove_of` that loses its slot where the bucket is split, and one that takes the slot
/// of another item at another level, or overwrites an insert.
#[test]
fn removal_beside_a_split_and_an_insert() {
    check("split_age_remove_split", 474, &["done"], |seen| {
        let table = aging(4);
        let [old, new] = [0, 1].map(|nth| leaving(&table, 1, nth));
        put(&table, old.sides[0], START);
        let remover = spawn(&table, move |table| table.remove_of::<S>(old, START));
        let inserter = spawn(&table, move |table| put(table, new.sides[0], START));
        split_first(&table);
        inserter.join().unwrap();
        assert!(remover.join().unwrap(), "a visible item was not removed");
        assert_eq!([old, new].map(|item| copies(&table, item)), [0, 1], "lost, or left");
        assert_eq!(table.clock().visible_slots(), Some(1));
        seen.note("done");
        assert_ends(&table);
    });
}

/// Catches a slot that is taken at another level than that at which it was found: its value recurs
/// there, with another meaning.
#[test]
fn removal_of_a_value_that_recurs_at_another_level() {
    use guira_loom_tests::splits::{differing, forgetful, only};
    check("split_age_remove_level", 7, &["done"], |seen| {
        let table = aging(4);
        let leaving = leaving(&table, 1, 0);
        let item = differing(&table, leaving, 1);
        let other = differing(&table, leaving, 0);
        // At level 0 this is the item's slot, and at level 1 the other one's.
        let slot = forgetful(item.sides[0], 1);
        let twin = forgetful(differing(&table, other, 1).sides[0], 2);
        put(&table, slot, START);
        put(&table, twin, START);
        let remover = spawn(&table, move |table| table.remove_of::<S>(item, START));
        split_first(&table);
        assert!(remover.join().unwrap(), "nothing to remove");
        assert_eq!(copies(&table, item), 0, "the slot is still there");
        assert_eq!(copies(&table, only(twin)), 1, "the slot of another item was removed");
        seen.note("done");
        assert_ends(&table);
    });
}

/// Catches a `remove_of` that takes a later item with the same stamp, because it read the
/// generation before it had the lock.
#[test]
fn removal_beside_advances_and_an_alias() {
    check("split_age_remove_advance", 128, &["removed", "expired"], |seen| {
        let table = aging(4);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[0], START - 1);
        let remover = spawn(&table, move |table| table.remove_of::<S>(item, START - 1));
        table.advance::<S>();
        table.advance::<S>();
        split_first(&table);
        table.advance::<S>();
        assert_eq!(table.insert_for::<S>(item, WINDOW), Ok(START + 3));
        seen.note_if(remover.join().unwrap(), "removed", "expired");
        assert!(table.is_visible(item), "a removal took a later item");
        assert_ends(&table);
    });
}

/// Catches an `insert_unseen` without the right lock: two of them accept the item.
#[test]
fn two_unseen_beside_a_split() {
    check("split_age_unseen_unseen", 132, &["other", "this"], |seen| {
        let table = aging(4);
        let item = leaving(&table, 1, 0);
        let other = spawn(&table, move |table| table.insert_unseen::<S>(item).expect("room"));
        let splitter = spawn(&table, split_first);
        let this = table.insert_unseen::<S>(reversed(item)).expect("room");
        let other = other.join().unwrap();
        splitter.join().unwrap();
        assert!(this.is_some() != other.is_some(), "accepted twice, or not at all");
        seen.note_if(other.is_some(), "other", "this");
        assert_eq!(table.count::<S>(item), 1);
        assert_ends(&table);
    });
}

/// Catches an `insert_unseen` that makes room and then uses the generation that it read before, or
/// does not look again.
#[test]
fn unseen_that_makes_room_beside_an_advance_and_another_unseen() {
    check("split_age_unseen_room", 1_600, &["other", "this"], |seen| {
        let table = aging(2);
        let new = item(&table, 0, [0; 2], [0; 2], 0);
        for nth in 0..2 {
            put(&table, leaving(&table, 1, nth).sides[0], START);
        }
        let other = spawn(&table, move |table| table.insert_unseen::<S>(new).expect("room"));
        table.advance::<S>();
        let this = table.insert_unseen::<S>(new).expect("room");
        let other = other.join().unwrap();
        assert!(this.is_some() != other.is_some(), "accepted twice, or not at all");
        seen.note_if(other.is_some(), "other", "this");
        assert_ends(&table);
    });
}

/// Catches an `insert_unseen` that loses its item, or accepts it twice, where it splits its bucket
/// to make room.
#[test]
fn unseen_that_splits_beside_another_unseen() {
    check("split_age_unseen_splits", 1_800, &["other", "this"], |seen| {
        let table = with_load(1, 2, 256);
        // Both buckets are bucket 0, until it is split: these go to the child, and the new one
        // stays.
        let new = item(&table, 0, [0; 2], [0; 2], 0);
        for nth in 0..2 {
            put(&table, item(&table, 1, [0; 2], [1; 2], nth).sides[0], START);
        }
        let other = spawn(&table, move |table| table.insert_unseen::<S>(new).expect("room"));
        let this = table.insert_unseen::<S>(new).expect("room");
        let other = other.join().unwrap();
        assert!(this.is_some() != other.is_some(), "accepted twice, or not at all");
        seen.note_if(other.is_some(), "other", "this");
        assert_eq!((table.count::<S>(new), table.buckets()), (1, 2));
        assert_ends(&table);
    });
}

/// Catches an insert that makes the table grow although a sweep makes room.
#[test]
fn insert_that_sweeps_before_it_splits() {
    check("split_age_grow", 64, &["done"], |seen| {
        let table = with_load(2, 4, 128);
        for nth in 0..2 {
            put(&table, leaving(&table, 1, nth).sides[0], START - 2);
        }
        let new = staying(&table, 1, 0);
        let reader = spawn(&table, move |table| table.is_visible(new));
        table.insert_for::<S>(new, WINDOW).expect("room");
        reader.join().unwrap();
        assert_eq!(table.buckets(), 2, "grown for nothing");
        seen.note("done");
        assert_ends(&table);
    });
}
