//! `insert_unique`: of several calls at most one adds an item, and none fails while there is room.

use guira::{
    InsertError,
    raw::{Fingerprint, FixedTable, FixedWords},
};
use guira_loom_tests::{
    check, check_deep, fingerprint, pair, put, relocate, spawn, table, with_copies,
};
use loom::sync::Arc;

/// Catches two calls of `insert_unique` that both add an item, or both do not.
#[test]
fn beside_itself() {
    check("unique_unique", 25, &["first", "second"], |seen| {
        let (table, item) = with_copies(&[]);
        let [first, second] = [0, 1]
            .map(|from| {
                spawn(&table, move |table| {
                    table.insert_unique::<FixedWords>(pair(table, item, from)).unwrap()
                })
            })
            .map(|inserter| inserter.join().unwrap());
        assert!(first != second, "added by {}", if first { "both" } else { "neither" });
        seen.note_if(first, "first", "second");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1);
    });
}

/// Catches an `insert_unique` whose result contradicts the number of copies after a removal.
#[test]
fn beside_a_removal() {
    check("unique_remove", 25, &["added", "was present"], |seen| {
        let (table, item) = with_copies(&[1]);
        let remover =
            spawn(&table, move |table| assert!(table.remove::<FixedWords>(pair(table, item, 0))));
        let inserter = spawn(&table, move |table| {
            table.insert_unique::<FixedWords>(pair(table, item, 0)).unwrap()
        });
        remover.join().unwrap();
        let added = seen.note_if(inserter.join().unwrap(), "added", "was present");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), usize::from(added));
    });
}

/// Inserts an item that is present and moves. `prepare` fills the destination, bucket 0.
fn of_an_item_that_moves(name: &str, prepare: fn(&FixedTable)) {
    check(name, 23, &["present"], move |seen| {
        let (table, item) = with_copies(&[]);
        prepare(&table);
        put(&table, item, 1);
        let mover = spawn(&table, move |table| assert!(relocate(table, item, 1, 0)));
        let inserter = spawn(&table, move |table| {
            table.insert_unique::<FixedWords>(pair(table, item, 0)).unwrap()
        });
        mover.join().unwrap();
        assert!(!inserter.join().unwrap(), "added an item that was present all the time");
        seen.note("present");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1);
    });
}

/// Catches an `insert_unique` that adds an item which is present and moves.
#[test]
fn beside_a_move() {
    of_an_item_that_moves("unique_move", |_| ());
}

/// Catches an `insert_unique` under the wrong lock: it adds an item that moves.
///
/// A neighbour is in the destination. So an `insert_unique` that read the destination before the
/// move, and the source after it, would add to the source, which is emptier, by a compare-and-swap
/// that succeeds.
#[test]
fn of_an_item_that_moves_to_the_fuller_bucket() {
    of_an_item_that_moves("unique_move_fuller", |table| {
        put(table, fingerprint(table, 0, 0, 1, 0), 0);
    });
}

/// Catches an `insert_unique` that overwrites a plain insert of the same item, or is lost.
#[test]
fn beside_a_plain_insert() {
    check("unique_insert", 35, &["added", "was present"], |seen| {
        let (table, item) = with_copies(&[]);
        let plain =
            spawn(&table, move |table| table.insert::<FixedWords>(pair(table, item, 0)).unwrap());
        let unique = spawn(&table, move |table| {
            table.insert_unique::<FixedWords>(pair(table, item, 1)).unwrap()
        });
        plain.join().unwrap();
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1 + usize::from(added));
    });
}

/// Fills buckets 0 and 1 of three, and returns the items. `alternates` are the alternate buckets of
/// the two items in bucket 0.
fn fill(table: &FixedTable, alternates: [u32; 2]) -> Vec<Fingerprint> {
    let mut all = Vec::new();
    for (nth, other) in alternates.into_iter().enumerate() {
        // Of the stripe of the items to be inserted: a thread that kept its lock while it makes
        // room would wait for itself.
        all.push((fingerprint(table, 0, other, 0, 3 + nth), 0));
    }
    for nth in 0..2 {
        all.push((fingerprint(table, 1, 0, 1, nth), 1));
    }
    all.into_iter()
        .map(|(item, bucket)| {
            put(table, item, bucket);
            item
        })
        .collect()
}

/// Checks that each item of [`fill`] is there once.
fn assert_all_there(table: &FixedTable, all: &[Fingerprint], alternates: [u32; 2]) {
    for (nth, &item) in all.iter().enumerate() {
        let bucket = u32::from(nth >= alternates.len());
        assert_eq!(table.count::<FixedWords>(pair(table, item, bucket)), 1, "lost or doubled");
    }
}

/// Runs two calls with one item whose buckets are both full. Both make room, and one adds the item.
fn two_calls_make_room(name: &str, floor: usize, alternates: [u32; 2]) {
    check(name, floor, &["first", "second"], move |seen| {
        let table = Arc::new(table(3));
        let all = fill(&table, alternates);
        let item = fingerprint(&table, 0, 1, 0, 0);
        let [first, second] = [0, 1]
            .map(|from| {
                spawn(&table, move |table| {
                    table.insert_unique::<FixedWords>(pair(table, item, from))
                })
            })
            .map(|inserter| inserter.join().unwrap());
        assert!(
            matches!((first, second), (Ok(true), Ok(false)) | (Ok(false), Ok(true))),
            "{first:?} and {second:?}"
        );
        seen.note_if(first == Ok(true), "first", "second");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1);
        assert_all_there(&table, &all, alternates);
    });
}

/// Catches an `insert_unique` that returns `Full` although another call has added the item.
#[test]
fn beside_itself_making_room() {
    two_calls_make_room("unique_unique_making_room", 160, [2, 1]);
}

/// Catches an `insert_unique` that does not look again after it made room.
#[test]
fn beside_itself_making_room_twice() {
    two_calls_make_room("unique_unique_making_room_twice", 160, [2, 2]);
}

/// Catches two items that both take the one slot for which there is room.
///
/// The other call returns `Full`, or it takes the slot before the first one does.
#[test]
fn two_items_making_room_for_one() {
    check("unique_two_items_one_slot", 156, &["first", "second"], |seen| {
        let table = Arc::new(table(3));
        let alternates = [2, 1];
        let all = fill(&table, alternates);
        let items = [0, 1].map(|nth| fingerprint(&table, 0, 1, 0, nth));
        let [first, second] = items
            .map(|item| {
                spawn(&table, move |table| table.insert_unique::<FixedWords>(pair(table, item, 0)))
            })
            .map(|inserter| inserter.join().unwrap());
        let added = [first == Ok(true), second == Ok(true)];
        assert!(added[0] != added[1], "{first:?} and {second:?}");
        assert!([first, second].contains(&Err(InsertError::Full)), "{first:?} and {second:?}");
        seen.note_if(added[0], "first", "second");
        for (item, added) in items.into_iter().zip(added) {
            assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), usize::from(added));
        }
        assert_all_there(&table, &all, alternates);
    });
}

/// Catches an `insert_unique` that makes room only once: another insert takes the slot.
#[test]
fn beside_an_insert_that_takes_the_slot() {
    check("unique_slot_taken", 208, &["done"], |seen| {
        let table = Arc::new(table(3));
        let alternates = [2, 2];
        let all = fill(&table, alternates);
        let item = fingerprint(&table, 0, 1, 0, 0);
        let other = fingerprint(&table, 0, 1, 1, 3);
        let unique =
            spawn(&table, move |table| table.insert_unique::<FixedWords>(pair(table, item, 0)));
        let inserter =
            spawn(&table, move |table| table.insert::<FixedWords>(pair(table, other, 0)));
        assert_eq!(unique.join().unwrap(), Ok(true));
        assert_eq!(inserter.join().unwrap(), Ok(()));
        seen.note("done");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1);
        assert_eq!(table.count::<FixedWords>(pair(&table, other, 0)), 1);
        assert_all_there(&table, &all, alternates);
    });
}

/// Catches an `insert_unique` that overlooks an insert of its item while it makes room.
#[test]
fn making_room_beside_an_insert_of_the_item() {
    check("unique_making_room_insert", 208, &["added", "was present"], |seen| {
        let table = Arc::new(table(3));
        let alternates = [2, 2];
        let all = fill(&table, alternates);
        let item = fingerprint(&table, 0, 1, 0, 0);
        let unique = spawn(&table, move |table| {
            table.insert_unique::<FixedWords>(pair(table, item, 0)).unwrap()
        });
        let plain =
            spawn(&table, move |table| table.insert::<FixedWords>(pair(table, item, 0)).unwrap());
        plain.join().unwrap();
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1 + usize::from(added));
        assert_all_there(&table, &all, alternates);
    });
}

/// Catches presence and room that are decided by different loads of a word.
///
/// A plain insert takes the last slot, a removal clears it, and an insert takes it again. At every
/// moment there is the item, or room for it, so `Full` would be wrong.
#[test]
fn beside_an_insert_that_toggles_the_last_slot() {
    let why =
        "three calls fall between loads of a fourth one, with a preemption before and after each";
    check_deep(6, "unique_toggle", 1_500, &["added", "was present"], why, |seen| {
        let table = Arc::new(table(1));
        let item = fingerprint(&table, 0, 0, 0, 0);
        put(&table, fingerprint(&table, 0, 0, 1, 0), 0);
        let toggler = spawn(&table, move |table| {
            let toggle = || table.insert::<FixedWords>(pair(table, item, 0)).is_ok();
            toggle() && table.remove::<FixedWords>(pair(table, item, 0)) && toggle()
        });
        let unique =
            spawn(&table, move |table| table.insert_unique::<FixedWords>(pair(table, item, 0)));
        toggler.join().unwrap();
        let added =
            unique.join().unwrap().expect("at every moment there is the item, or room for it");
        seen.note_if(added, "added", "was present");
    });
}
