//! Tables that grow: one bucket in two rounds, the end of a round, and the last split.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{GrowingTable, Place};
use guira_loom_tests::{
    EVERY_WAY, check, check_shallow, look_up_beside, spawn,
    splits::{S, assert_size, item, put, split, staying, table},
};

/// Counts an item that has one bucket on both sides until its second split, which parts them. It
/// stands on the side with this index.
fn count_beside_two_splits(name: &str, floor: usize, index: usize) {
    check(name, floor, &["done"], move |seen| {
        let table = table(1, 4);
        let parting = item(&table, 1, [0; 2], [2, 0], 0);
        put(&table, parting.sides[index]);
        let counter = spawn(&table, move |table| table.count::<S>(parting));
        let splitter = spawn(&table, |table| {
            split(table);
            split(table);
        });
        assert_eq!(counter.join().unwrap(), 1, "lost or doubled");
        splitter.join().unwrap();
        assert_size(&table, 1, 1);
        seen.note("done");
    });
}

/// Catches loads of one bucket at two levels as both locations of an item: the side that goes is
/// not in the second word.
#[test]
fn count_of_the_side_that_goes() {
    count_beside_two_splits("split_count_goes", 1_200, 0);
}

/// Catches loads of one bucket at two levels as both locations of an item: it counts twice.
#[test]
fn count_of_the_side_that_stays() {
    count_beside_two_splits("split_count_stays", 1_200, 1);
}

/// Catches loads of one bucket at two levels as both locations of an item, by an insert: the slot
/// is not where the item is looked for.
#[test]
fn insert_beside_two_splits() {
    check("split_insert_parting", 40_100, &["done"], |seen| {
        let table = table(1, 4);
        let parting = item(&table, 1, [0; 2], [2, 0], 0);
        put(&table, staying(&table, 0, 0).sides[0]);
        let inserter = spawn(&table, move |table| {
            table.insert::<S>(parting).expect("room");
            assert!(table.contains(parting), "missed after its insert");
        });
        let splitter = spawn(&table, |table| {
            split(table);
            split(table);
        });
        inserter.join().unwrap();
        splitter.join().unwrap();
        assert_eq!(table.count::<S>(parting), 1, "lost or doubled");
        seen.note("done");
    });
}

/// Catches an insert that is refused though another thread has split the last bucket that may be
/// split.
#[test]
fn insert_beside_the_last_split() {
    check("split_last", 3_900, &["done"], |seen| {
        let table = table(1, 2);
        for nth in 0..2 {
            put(&table, staying(&table, 0, nth).sides[0]);
        }
        let new = item(&table, 0, [0; 2], [1, 1], 0);
        let inserter = spawn(&table, move |table| table.insert::<S>(new));
        let splitter = spawn(&table, GrowingTable::split_one);
        assert_eq!(inserter.join().unwrap(), Ok(()), "there is room in the child");
        splitter.join().unwrap();
        assert_eq!(table.count::<S>(new), 1);
        assert_size(&table, 1, 0);
        seen.note("done");
    });
}

/// Catches an insert that ends no round, though all buckets within its reach have been split.
#[test]
fn insert_that_ends_a_round() {
    check("split_ends_round", 2_100, EVERY_WAY, |seen| {
        let table = table(2, 8);
        split(&table);
        let all = [0, 1].map(|nth| staying(&table, 0, nth));
        for item in all {
            put(&table, item.sides[0]);
        }
        // It goes to bucket 4, the child of the next round.
        let new = item(&table, 0, [0; 2], [2, 2], 0);
        look_up_beside(&table, seen, all[0], move |table| {
            table.insert::<S>(new).expect("room after two splits");
        });
        assert_eq!(table.count::<S>(new), 1);
        assert_size(&table, 1, 1);
    });
}

/// Catches an insert that is refused because another thread is splitting the bucket that holds up
/// the size, while the next one has been split.
#[test]
fn insert_that_waits_for_the_end_of_a_round() {
    let why = "the insert comes while the splitter stands between the switch and the advanced size";
    check_shallow("split_waits_for_round", 4_000, &["done"], why, |seen| {
        let table = table(3, 12);
        let [held_up, next] = [0, 1].map(|bucket| Place { bucket, level: 0 });
        assert_eq!(table.split_early(next), Ok(true));
        (0..2).for_each(|nth| put(&table, staying(&table, 1, nth).sides[0]));
        // It goes to bucket 7, the child of the next round.
        let new = item(&table, 0, [1; 2], [2, 2], 0);
        let splitter = spawn(&table, move |table| table.split_early(held_up));
        let inserter = spawn(&table, move |table| table.insert::<S>(new));
        let outcomes = (splitter.join().unwrap().is_ok(), inserter.join().unwrap());
        assert_eq!(outcomes, (true, Ok(())), "there is room after the round");
        assert_eq!(table.count::<S>(new), 1);
        seen.note("done");
    });
}
