//! Tables that grow: a hit happens after the insert that it found, also through a split by a third
//! thread.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{GrowingTable, Item};
use guira_loom_tests::{
    Written, check, publishes, spawn,
    splits::{S, leaving, only, place, put, relocate_at, reversed, split, table},
};

/// Inserts an item and looks for it by `find`.
fn hit_publishes(name: &str, floor: usize, find: fn(&GrowingTable, Item) -> bool) {
    let set_up = || table(2, 4);
    let insert = |table: &GrowingTable| put(table, leaving(table, 0, 0).sides[0]);
    publishes(name, floor, set_up, insert, move |table| find(table, leaving(table, 0, 0)));
}

/// Catches a `contains` that returns `true` but does not happen after the insert.
#[test]
fn by_contains() {
    hit_publishes("split_publish_contains", 22, |table, item| table.contains(item));
}

/// Catches an `insert_unique` that returns `false` but does not happen after the insert.
#[test]
fn by_insert_unique() {
    hit_publishes("split_publish_unique", 20, |table, item| {
        !table.insert_unique::<S>(item).expect("room")
    });
}

/// Catches a `remove` that returns `true` but does not happen after the insert.
#[test]
fn by_remove() {
    hit_publishes("split_publish_remove", 17, |table, item| table.remove::<S>(item));
}

/// Catches a `count` that counts a copy but does not happen after its insert.
#[test]
fn by_count() {
    hit_publishes("split_publish_count", 22, |table, item| table.count::<S>(reversed(item)) > 0);
}

/// Catches an `insert_up_to` that is refused but does not happen after the insert.
#[test]
fn by_a_limit() {
    hit_publishes("split_publish_limit", 94, |table, item| {
        table.insert_up_to::<S>(1, item).is_err()
    });
}

/// Catches an `insert_unique` whose item is found without what happened before.
#[test]
fn of_insert_unique() {
    let item = |table: &GrowingTable| leaving(table, 0, 0);
    let insert = move |table: &GrowingTable| {
        table.insert_unique::<S>(item(table)).expect("room");
    };
    let find = move |table: &GrowingTable| table.contains(item(table));
    publishes("split_publish_of_unique", 32, || table(2, 4), insert, find);
}

/// Catches an `insert` whose item is found without what happened before.
#[test]
fn of_insert() {
    let item = |table: &GrowingTable| leaving(table, 0, 0);
    let insert = move |table: &GrowingTable| table.insert::<S>(item(table)).expect("room");
    let find = move |table: &GrowingTable| table.contains(item(table));
    publishes("split_publish_of_insert", 32, || table(2, 4), insert, find);
}

/// Inserts an item after a relaxed write beside a thread that calls `change`, and looks it up in
/// this one.
fn through(name: &str, floor: usize, change: fn(&GrowingTable, Item)) {
    check(name, floor, &["hit", "miss"], move |seen| {
        let table = table(2, 4);
        let item = leaving(&table, 1, 0);
        let written = Written::new();
        let inserter = {
            let written = written.clone();
            spawn(&table, move |table| {
                written.write();
                put(table, item.sides[0]);
            })
        };
        let changer = spawn(&table, move |table| change(table, item));
        if seen.note_if(table.contains(item), "hit", "miss") {
            written.assert();
        }
        inserter.join().unwrap();
        changer.join().unwrap();
    });
}

/// Catches a split that does not pass on what the inserts into its bucket published.
#[test]
fn through_a_split() {
    through("split_publish_split", 6_200, |table, _| split(table));
}

/// Catches a move and a split that do not pass on what the insert published.
#[test]
fn through_a_move_and_a_split() {
    through("split_publish_move_split", 11_000, |table, item| {
        let _ = relocate_at(table, item.sides[0], 0, None);
        split(table);
    });
}

/// Inserts an item that a third thread moves after the split of its bucket, and looks it up on its
/// other side.
fn through_a_move(name: &str, floor: usize, split_first: bool) {
    check(name, floor, &["hit", "miss"], move |seen| {
        let table = table(2, 4);
        let item = leaving(&table, 1, 0);
        let written = Written::new();
        let inserter = {
            let written = written.clone();
            spawn(&table, move |table| {
                written.write();
                put(table, item.sides[0]);
            })
        };
        let mover = spawn(&table, move |table| {
            if split_first {
                table.split_only(place(table, item.sides[0], 0));
            }
            let _ = relocate_at(table, item.sides[0], u32::from(split_first), None);
            let hit = table.contains(only(item.sides[1]));
            if hit {
                written.assert();
            }
            hit
        });
        inserter.join().unwrap();
        seen.note_if(mover.join().unwrap(), "hit", "miss");
    });
}

/// Catches a move that does not acquire what the insert of its slot published.
#[test]
fn through_a_move_alone() {
    through_a_move("split_publish_move", 33, false);
}

/// Catches a move out of a child that does not acquire what the insert of its slot published.
#[test]
fn through_a_split_and_a_move() {
    through_a_move("split_publish_child_move", 49, true);
}
