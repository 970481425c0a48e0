//! Lookups and inserts in a table whose slots expire, beside moves, refreshes, sweeps and advances.
#![cfg(not(feature = "semi-sorted"))]

use guira::{
    InsertError,
    raw::{FixedWords, Pair},
};
use guira_loom_tests::{
    EVERY_WAY, Mark, check, check_shallow,
    expiry::{Aging, START, WINDOW, aging, assert_ends, copies, item, put, relocate},
    read_beside, reversed, spawn,
};

/// Two buckets, in either order, or a single one.
const BOTH: [u32; 2] = [0, 1];
const FIRST: [u32; 2] = [0, 0];

/// Runs a reader of an item beside a writer. The reader starts from the second bucket, and must
/// find the item, or must not. Notes when it ran.
fn beside(
    name: &str,
    floor: usize,
    is_visible: bool,
    set_up: fn(&Aging, Pair),
    write: fn(&Aging, Pair),
) {
    check(name, floor, EVERY_WAY, move |seen| {
        let table = aging();
        let item = item(&table, BOTH, 0, 0);
        set_up(&table, item);
        let read = move |table: &Aging| {
            let found = table.is_visible(reversed(item));
            assert_eq!(found, is_visible, "an item is missed, or found when it has expired");
        };
        read_beside(&table, seen, read, move |table| write(table, item));
        assert_ends(&table);
    });
}

/// Catches a lookup that misses an item which moves.
#[test]
fn lookup_beside_a_move() {
    let set_up = |table: &Aging, item| put(table, item, START, 0);
    beside("expiry_lookup_move", 423, true, set_up, |table, item| {
        assert!(relocate(table, item, START, 0, None));
    });
}

/// Catches a lookup that judges the stamp of a refreshed item by a generation that it read before
/// the refresh, or by one that it read after the words.
#[test]
fn lookup_beside_a_refresh_and_advances() {
    let set_up = |table: &Aging, item| put(table, item, START, 0);
    beside("expiry_lookup_refresh", 15_400, true, set_up, |table, item| {
        table.advance::<FixedWords>();
        assert!(table.refresh::<FixedWords>(item));
        table.advance::<FixedWords>();
    });
}

/// Catches a lookup that misses an item which an alias's refresh and a move leave in place.
#[test]
fn lookup_beside_an_aliass_refresh_and_a_move() {
    let set_up = |table: &Aging, item| {
        put(table, item, START - 1, 0);
        put(table, item, START, 0);
    };
    beside("expiry_lookup_alias", 7_500, true, set_up, |table, item| {
        assert!(table.refresh::<FixedWords>(item));
        assert!(relocate(table, item, START, 0, None));
        table.advance::<FixedWords>();
    });
}

/// Puts the item of the generation before into the first bucket.
fn old_in_the_first_bucket(table: &Aging, item: Pair) {
    put(table, item, START - 1, 0);
}

/// Inserts the item again, into the second bucket, and begins the generation in which the old copy
/// expires.
fn insert_again(table: &Aging, item: Pair) {
    put(table, item, START, 1);
    table.advance::<FixedWords>();
}

/// Catches a sweep that does not publish the generation in which it sweeps, and a lookup that takes
/// a miss for certain because the version is unchanged, although the generation has changed: the
/// item is inserted again before its old copy expires.
#[test]
fn lookup_beside_a_second_insert_and_a_sweep() {
    beside("expiry_lookup_sweep", 936, true, old_in_the_first_bucket, |table, item| {
        insert_again(table, item);
        table.sweep::<FixedWords>(2);
    });
}

/// Catches the same where a move clears the old copy.
#[test]
fn lookup_beside_a_second_insert_and_a_move() {
    beside("expiry_lookup_drop", 540, true, old_in_the_first_bucket, |table, item| {
        insert_again(table, item);
        assert!(relocate(table, item, START - 1, 0, None), "an expired slot leaves its place");
        assert_eq!(copies(table, item), 1);
    });
}

/// Catches the same where an insert replaces the old copy.
#[test]
fn lookup_beside_a_second_insert_and_another_insert() {
    let set_up = |table: &Aging, pair| {
        old_in_the_first_bucket(table, pair);
        put(table, item(table, FIRST, 1, 0), START, 0);
    };
    beside("expiry_lookup_replace", 1_200, true, set_up, |table, pair| {
        insert_again(table, pair);
        table
            .insert_for::<FixedWords>(item(table, FIRST, 1, 1), WINDOW)
            .expect("a slot has expired");
    });
}

/// Catches expired slots that are not swept, and a lookup that finds one of them because it looks
/// new again.
#[test]
fn lookup_of_an_expired_item_beside_advances() {
    let why = "The lookup begins first, so one preemption is enough for both advances to come \
               between any two of its steps. For a lookup between two steps of an advance, which \
               needs two, the model split_age_lookup_expired has the same code of advances.";
    check_shallow("expiry_lookup_expired", 39_000, &["before", "during"], why, |seen| {
        let table = aging();
        let item = item(&table, BOTH, 0, 0);
        put(&table, item, START - 2, 0);
        let done = Mark::default();
        let is_done = done.clone();
        let writer = spawn(&table, move |table| {
            table.advance::<FixedWords>();
            table.advance::<FixedWords>();
            done.set();
        });
        let was_done = is_done.is_set();
        assert!(!table.is_visible(reversed(item)), "found when it has expired");
        seen.note(is_done.relative_to(was_done));
        writer.join().unwrap();
        assert_ends(&table);
    });
}

/// Catches an `insert_unseen` without the right lock: two of them accept the item.
#[test]
fn two_unseen_beside_an_advance() {
    check("expiry_unseen_unseen", 396, &["other", "this"], |seen| {
        let table = aging();
        let item = item(&table, BOTH, 0, 0);
        let other =
            spawn(&table, move |table| table.insert_unseen::<FixedWords>(item).expect("room"));
        let advancer = spawn(&table, guira::raw::Table::advance::<FixedWords>);
        let this = table.insert_unseen::<FixedWords>(reversed(item)).expect("room");
        let other = other.join().unwrap();
        advancer.join().unwrap();
        assert!(this.is_some() != other.is_some(), "accepted twice, or not at all");
        seen.note_if(other.is_some(), "other", "this");
        assert_eq!(table.count::<FixedWords>(item), 1);
        assert_ends(&table);
    });
}

/// Catches an `insert_unseen` that read the generation before it had the lock: it does not see what
/// another one has accepted in the next generation.
#[test]
fn unseen_beside_an_advance_and_another_unseen() {
    check("expiry_unseen_advance", 64, &["other", "this"], |seen| {
        let table = aging();
        let item = item(&table, BOTH, 0, 0);
        let other =
            spawn(&table, move |table| table.insert_unseen::<FixedWords>(item).expect("room"));
        table.advance::<FixedWords>();
        let this = table.insert_unseen::<FixedWords>(item).expect("room");
        let other = other.join().unwrap();
        assert!(this.is_some() != other.is_some(), "accepted twice, or not at all");
        seen.note_if(other.is_some(), "other", "this");
        assert_ends(&table);
    });
}

/// Catches an `insert_unseen` that makes room and then uses the generation that it read before, or
/// does not look again.
#[test]
fn unseen_that_makes_room_beside_an_advance_and_another_unseen() {
    check("expiry_unseen_room", 600, &["other", "this"], |seen| {
        let table = aging();
        let new = item(&table, FIRST, 0, 0);
        (0..2).for_each(|nth| put(&table, item(&table, BOTH, 1, nth), START, 0));
        let other =
            spawn(&table, move |table| table.insert_unseen::<FixedWords>(new).expect("room"));
        table.advance::<FixedWords>();
        let this = table.insert_unseen::<FixedWords>(new).expect("room");
        let other = other.join().unwrap();
        assert!(this.is_some() != other.is_some(), "accepted twice, or not at all");
        seen.note_if(other.is_some(), "other", "this");
        assert_ends(&table);
    });
}

/// Catches a `refresh` of an arbitrary copy: an alias's removal then takes the one that was
/// refreshed, and the item expires too early.
#[test]
fn refresh_beside_the_removal_of_an_alias() {
    check("expiry_refresh_remove", 5, &["done"], |seen| {
        let table = aging();
        let item = item(&table, BOTH, 0, 0);
        put(&table, item, START - 1, 0);
        put(&table, item, START, 1);
        let refresher = spawn(&table, move |table| table.refresh::<FixedWords>(item));
        assert!(table.remove_of::<FixedWords>(item, START), "the alias is there");
        assert!(refresher.join().unwrap(), "there was a visible copy throughout");
        table.advance::<FixedWords>();
        assert!(table.is_visible(item), "a refreshed item expired too early");
        assert_eq!(table.clock().visible_slots(), Some(1));
        seen.note("done");
        assert_ends(&table);
    });
}

/// Catches a `refresh` that does not validate the generation: the caller's copy is swept while an
/// advance waits for the lock, an alias's copy counts as refreshed, and the alias's removal takes
/// it.
#[test]
fn refresh_beside_a_sweep_and_the_removal_of_an_alias() {
    check("expiry_refresh_alias", 289, &["removed", "taken"], |seen| {
        let table = aging();
        let [pair, neighbour] = [0, 1].map(|stripe| item(&table, BOTH, stripe, 0));
        put(&table, pair, START - 1, 0);
        put(&table, item(&table, FIRST, 1, 0), START, 0);
        put(&table, pair, START, 1);
        put(&table, neighbour, START, 1);
        let refresher = spawn(&table, move |table| table.refresh::<FixedWords>(pair));
        let advancer = spawn(&table, guira::raw::Table::advance::<FixedWords>);
        // The first bucket has room only once the item has expired.
        let _ = relocate(&table, neighbour, START, 1, None);
        assert!(refresher.join().unwrap(), "there was a visible copy throughout");
        advancer.join().unwrap();
        seen.note_if(table.remove_of::<FixedWords>(pair, START), "removed", "taken");
        assert!(table.is_visible(pair), "a refreshed item expired too early");
        assert_ends(&table);
    });
}

/// Runs an operation on an item that is refreshed, and so visible throughout, beside an advance.
fn beside_a_refresh(name: &str, floor: usize, operation: fn(&Aging, Pair) -> bool) {
    check(name, floor, &["done"], move |seen| {
        let table = aging();
        let item = item(&table, BOTH, 0, 0);
        put(&table, item, START, 1);
        let other = spawn(&table, move |table| operation(table, item));
        table.advance::<FixedWords>();
        assert!(table.refresh::<FixedWords>(reversed(item)), "there was a visible copy throughout");
        assert!(other.join().unwrap(), "there was a visible copy throughout");
        assert_eq!(table.count::<FixedWords>(item), 1);
        seen.note("done");
        assert_ends(&table);
    });
}

/// Catches a `refresh` by a generation that it read before it had the lock.
#[test]
fn refresh_beside_an_advance_and_a_refresh() {
    beside_a_refresh("expiry_refresh_refresh", 33, Aging::refresh::<FixedWords>);
}

/// Catches a `count` by a generation that it read before it had the lock.
#[test]
fn count_beside_an_advance_and_a_refresh() {
    beside_a_refresh("expiry_count_refresh", 293, |table, item| {
        table.count::<FixedWords>(item) == 1
    });
}

/// Runs an operation that needs the lock, on an item that moves.
fn beside_a_move(
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    operation: fn(&Aging, Pair) -> bool,
    copies_left: usize,
) {
    check(name, floor, outcomes, move |seen| {
        let table = aging();
        let item = item(&table, BOTH, 0, 0);
        put(&table, item, START, 1);
        // An insert of the item chooses the other bucket: once the item has moved, that is empty.
        put(&table, self::item(&table, FIRST, 1, 0), START, 0);
        let mover = spawn(&table, move |table| relocate(table, item, START, 1, None));
        let other = spawn(&table, move |table| operation(table, item));
        table.advance::<FixedWords>();
        assert!(other.join().unwrap(), "one copy was there, no more and no less");
        seen.note_if(mover.join().unwrap(), "moved", "stale");
        assert_eq!(table.count::<FixedWords>(item), copies_left);
        assert_ends(&table);
    });
}

/// Catches a `refresh` without the right lock.
#[test]
fn refresh_beside_a_move() {
    beside_a_move("expiry_refresh_move", 274, &["moved", "stale"], Aging::refresh::<FixedWords>, 1);
}

/// Catches a `remove_of` without the right lock.
#[test]
fn removal_beside_a_move() {
    beside_a_move(
        "expiry_remove_move",
        273,
        &["moved", "stale"],
        |table, item| table.remove_of::<FixedWords>(item, START),
        0,
    );
}

/// Catches a `count` without the right lock.
#[test]
fn count_beside_a_move() {
    let is_one = |table: &Aging, item| table.count::<FixedWords>(item) == 1;
    beside_a_move("expiry_count_move", 1_000, &["moved"], is_one, 1);
}

/// Catches an `insert_unseen` under the wrong lock: it misses an item that moves.
#[test]
fn unseen_beside_a_move() {
    let is_seen = |table: &Aging, item| table.insert_unseen::<FixedWords>(item) == Ok(None);
    beside_a_move("expiry_unseen_move", 274, &["moved"], is_seen, 1);
}

/// Catches a `remove_of` that takes a later item with the same stamp, because it read the
/// generation before it had the lock.
#[test]
fn removal_beside_advances_and_an_alias() {
    check("expiry_remove_advance", 68, &["removed", "expired"], |seen| {
        let table = aging();
        let item = item(&table, BOTH, 0, 0);
        put(&table, item, START - 1, 0);
        let remover = spawn(&table, move |table| table.remove_of::<FixedWords>(item, START - 1));
        for _ in 0..3 {
            table.advance::<FixedWords>();
        }
        assert_eq!(table.insert_for::<FixedWords>(item, WINDOW), Ok(START + 3));
        seen.note_if(remover.join().unwrap(), "removed", "expired");
        assert!(table.is_visible(item), "a removal took a later item");
        assert_ends(&table);
    });
}

/// Catches a removal that does not bump the version: a lookup misses an item although an alias is
/// inserted before the item is removed.
#[test]
fn lookup_beside_an_alias_and_a_removal() {
    let set_up = |table: &Aging, item| put(table, item, START, 0);
    beside("expiry_lookup_removal", 988, true, set_up, |table, item| {
        put(table, item, START, 1);
        // Of several copies, a removal takes the one in the last bucket.
        assert!(table.remove_of::<FixedWords>(reversed(item), START));
    });
}

/// Catches `TooManyCopies` because of copies that have expired since both buckets were full.
#[test]
fn insert_beside_an_advance_and_a_change_of_the_last_slot() {
    check("expiry_copies_expire", 920, &["added", "full"], |seen| {
        let table = aging();
        let (item, other) = (item(&table, BOTH, 0, 0), item(&table, BOTH, 1, 0));
        for bucket in [0, 0, 1] {
            put(&table, item, START - 1, bucket);
        }
        put(&table, other, START, 1);
        let inserter = spawn(&table, move |table| table.insert_for::<FixedWords>(item, WINDOW));
        table.advance::<FixedWords>();
        assert!(table.remove_of::<FixedWords>(other, START));
        let last = table.insert_for::<FixedWords>(item, WINDOW);
        let outcome = inserter.join().unwrap();
        seen.note_if(outcome.is_ok(), "added", "full");
        assert!(last.is_ok(), "no slot of the current generation");
        assert_ne!(outcome, Err(InsertError::TooManyCopies), "there were one or two that count");
    });
}
