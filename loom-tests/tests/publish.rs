//! A hit happens after the insert that it found, whatever operation found it, and also after a move
//! by a third thread.

use guira::{
    CuckooFilter,
    raw::{FixedTable, FixedWords, Pair},
};
use guira_loom_tests::{
    Written, check, filter, fingerprint, keyed, pair, publishes, put, relocate, reversed, spawn,
    table, with_copies,
};
use loom::sync::Arc;

/// Inserts an item and looks for it by `find`.
fn hit_publishes(name: &str, floor: usize, find: fn(&FixedTable, Pair) -> bool) {
    insert_publishes(name, floor, || Arc::new(table(2)), find);
}

/// Inserts an item into a table that the model has prepared.
fn insert_publishes(
    name: &str,
    floor: usize,
    set_up: fn() -> Arc<FixedTable>,
    find: fn(&FixedTable, Pair) -> bool,
) {
    let item = |table: &FixedTable| pair(table, fingerprint(table, 0, 1, 0, 0), 0);
    let insert = move |table: &FixedTable| table.insert::<FixedWords>(item(table)).expect("room");
    publishes(name, floor, set_up, insert, move |table| find(table, item(table)));
}

/// Catches a `contains` that returns `true` but does not happen after the insert.
#[test]
fn by_contains() {
    hit_publishes("publish_contains", 32, FixedTable::contains);
}

/// Catches a batch that finds an item but does not happen after the insert.
#[test]
fn by_a_batch() {
    let insert = |filter: &CuckooFilter| filter.insert(&keyed(filter).0).expect("room");
    publishes("publish_batch_contains", 32, filter, insert, |filter| {
        filter.contains_batch(&[keyed(filter).0], &mut [false]) == 1
    });
}

/// Catches a lookup by key that returns `true` but does not happen after the insert.
#[test]
fn by_contains_of_a_key() {
    let insert = |filter: &CuckooFilter| filter.insert(&keyed(filter).0).expect("room");
    publishes("publish_contains_key", 32, filter, insert, |filter| {
        filter.contains(&keyed(filter).0)
    });
}

/// Catches an `insert_unique` that returns `false` but does not happen after the insert.
#[test]
fn by_insert_unique() {
    hit_publishes("publish_insert_unique", 12, |table, pair| {
        !table.insert_unique::<FixedWords>(pair).expect("room")
    });
}

/// Catches a `remove` that returns `true` but does not happen after the insert.
#[test]
fn by_remove() {
    hit_publishes("publish_remove", 9, FixedTable::remove::<FixedWords>);
}

/// Catches a `remove` whose load of the second bucket is too weak.
#[test]
fn by_remove_from_the_second_bucket() {
    hit_publishes("publish_remove_second", 9, |table, pair| {
        table.remove::<FixedWords>(reversed(pair))
    });
}

/// Catches a `count` that counts a copy but does not happen after its insert.
#[test]
fn by_count() {
    hit_publishes("publish_count", 32, |table, pair| table.count::<FixedWords>(pair) > 0);
}

/// Catches an incoming fingerprint that is stored with too weak an ordering.
#[test]
fn of_an_insert_that_relocates() {
    let set_up = || {
        let table = Arc::new(table(3));
        for (item, bucket) in [
            (fingerprint(&table, 0, 2, 0, 0), 0),
            (fingerprint(&table, 0, 1, 1, 0), 0),
            (fingerprint(&table, 0, 1, 1, 1), 1),
            (fingerprint(&table, 0, 1, 1, 2), 1),
        ] {
            put(&table, item, bucket);
        }
        table
    };
    insert_publishes("publish_incoming", 2_860, set_up, FixedTable::contains);
}

/// Catches a move that does not pass on what the insert of its fingerprint published.
#[test]
fn through_a_move() {
    let outcomes = ["moved, hit", "moved, miss", "not moved, hit", "not moved, miss"];
    check("publish_move", 13_000, &outcomes, move |seen| {
        let (table, item) = with_copies(&[]);
        let written = Written::new();
        let inserter = {
            let written = written.clone();
            spawn(&table, move |table| {
                written.write();
                table.insert::<FixedWords>(pair(table, item, 0)).unwrap();
            })
        };
        let mover = spawn(&table, move |table| relocate(table, item, 0, 1));
        let finder = spawn(&table, move |table| {
            let hit = table.contains(pair(table, item, 0));
            if hit {
                written.assert();
            }
            hit
        });
        inserter.join().unwrap();
        let (moved, hit) = (mover.join().unwrap(), finder.join().unwrap());
        seen.note(outcomes[2 * usize::from(!moved) + usize::from(!hit)]);
    });
}
