//! Tables that grow: copies of the whole table, and clears.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{GrowingTable, Item, Place};
use guira_loom_tests::{
    Mark, check, publishes, spawn,
    splits::{
        S, assert_size, forgetful, item, leaving, put, relocate, reversed, split, staying, table,
        with_load,
    },
};

/// A copy of a table.
type Copy = fn(&GrowingTable) -> GrowingTable;

/// A copy as by `Clone`. Its number of items must be that of its clear.
fn cloned(table: &GrowingTable) -> GrowingTable {
    let (copy, items) = table.try_clone::<S>().expect("memory for a few words");
    let (again, same) = copy.try_clone::<S>().expect("memory for a few words");
    assert_eq!((again.clear::<S>(), same), (items, items), "ghosts were lost");
    copy
}

/// A copy as by a snapshot that is loaded again.
fn restored(table: &GrowingTable) -> GrowingTable {
    let (grown, words) = table.copy_words().expect("memory for a few words");
    let read = |from: u64, to: &mut [u64]| to.copy_from_slice(&words[from as usize..][..to.len()]);
    let length = words.len() as u64;
    assert_eq!(grown.invalid(length), None);
    assert!(grown.has_levels(length, read), "levels that no table has: {words:x?}");
    GrowingTable::restore::<S>(&grown, length, 2, (false, false), read)
        .expect("memory for a few words")
}

/// The number of items in a table that no other thread uses.
fn items(table: &GrowingTable) -> u64 {
    table.try_clone::<S>().expect("memory for a few words").1
}

/// An item that moves there and back, and one that stays.
fn beside_moves(name: &str, copy: Copy) {
    check(name, 5, &["before", "not before"], move |seen| {
        let table = table(2, 4);
        let moving = leaving(&table, 0, 0);
        put(&table, moving.sides[0]);
        let done = Mark::default();
        let copier = {
            let (seen, done) = (seen.clone(), done.clone());
            spawn(&table, move |table| {
                let copy = copy(table);
                seen.note_if(done.is_set(), "not before", "before");
                assert_eq!((copy.count::<S>(&moving), items(&copy)), (1, 1), "lost or doubled");
            })
        };
        let mover = spawn(&table, move |table| {
            assert!(relocate(table, moving.sides[0]));
            done.set();
            assert!(relocate(table, moving.sides[1]));
        });
        copier.join().unwrap();
        mover.join().unwrap();
    });
}

/// Catches a clone without locks: a move there and back overtakes it.
#[test]
fn clone_beside_moves() {
    beside_moves("split_clone_moves", cloned);
}

/// Catches a snapshot without locks.
#[test]
fn copy_beside_moves() {
    beside_moves("split_copy_moves", restored);
}

/// A split that moves the location of an item, and copies a slot without a tail.
fn beside_a_split(name: &str, copy: Copy) {
    check(name, 5, &["before", "after"], move |seen| {
        let table = table(2, 4);
        let [goes, ghostly] = [leaving(&table, 1, 0), leaving(&table, 0, 0)];
        put(&table, goes.sides[0]);
        put(&table, forgetful(ghostly.sides[0], 0));
        let copier = {
            let seen = seen.clone();
            spawn(&table, move |table| {
                let copy = copy(table);
                assert_eq!([goes, ghostly].map(|item| copy.count::<S>(&item)), [1; 2]);
                assert_eq!(items(&copy), 2, "ghosts taken for items");
                seen.note_if(copy.buckets() == 2, "before", "after");
            })
        };
        split(&table);
        copier.join().unwrap();
    });
}

/// Catches a clone beside half a split.
#[test]
fn clone_beside_a_split() {
    beside_a_split("split_clone_split", cloned);
}

/// Catches a snapshot beside half a split.
#[test]
fn copy_beside_a_split() {
    beside_a_split("split_copy_split", restored);
}

/// A split ahead of its turn, an insert, and a removal.
fn beside_a_split_ahead(name: &str, copy: Copy) {
    check(name, 5, &["none", "one", "two"], move |seen| {
        let table = table(2, 4);
        let stays = item(&table, 1, [1, 0], [1, 0], 0);
        let [new, old] = [item(&table, 0, [1, 0], [1, 0], 0), staying(&table, 0, 0)];
        put(&table, stays.sides[0]);
        put(&table, old.sides[0]);
        let copier = {
            let seen = seen.clone();
            spawn(&table, move |table| {
                let copy = copy(table);
                assert_eq!(copy.count::<S>(&stays), 1, "lost or doubled");
                let others = [new, old].map(|item| copy.count::<S>(&item));
                let others = others[0] + others[1];
                assert_eq!(items(&copy), 1 + others as u64);
                seen.note(["none", "one", "two"][others]);
            })
        };
        assert_eq!(table.split_early::<S>(Place { bucket: 1, level: 0 }), Ok(true));
        assert!(table.remove::<S>(&old));
        put(&table, new.sides[0]);
        put(&table, old.sides[0]);
        copier.join().unwrap();
    });
}

/// Catches a clone that leaves out the children of buckets ahead of their turn.
#[test]
fn clone_beside_a_split_ahead() {
    beside_a_split_ahead("split_clone_ahead", cloned);
}

/// Catches a snapshot that leaves out the children of buckets ahead of their turn.
#[test]
fn copy_beside_a_split_ahead() {
    beside_a_split_ahead("split_copy_ahead", restored);
}

/// Catches a copy whose size lags: no table has the levels then.
#[test]
fn copy_before_the_size_has_advanced() {
    check("split_copy_gap", 5, &["split", "whole"], |seen| {
        let table = table(2, 4);
        let goes = leaving(&table, 1, 0);
        put(&table, goes.sides[0]);
        let copier = {
            let seen = seen.clone();
            spawn(&table, move |table| {
                let copy = restored(table);
                assert_eq!(copy.count::<S>(&goes), 1, "lost or doubled");
                seen.note_if(copy.buckets() == 2, "whole", "split");
            })
        };
        split(&table);
        copier.join().unwrap();
    });
}

/// Catches a clone by Relaxed loads: a hit must happen after the insert.
#[test]
fn clone_happens_after_the_inserts_it_copies() {
    let item = |table: &GrowingTable| leaving(table, 1, 0);
    let insert = move |table: &GrowingTable| put(table, item(table).sides[0]);
    publishes("split_clone_acquires", 5, || table(2, 4), insert, move |table| {
        let (copy, _) = table.try_clone::<S>().expect("memory for a few words");
        copy.contains::<S>(&item(table))
    });
}

/// Catches a `clear` that clears words before it bumps, or with too weak an ordering.
///
/// A copy stands in bucket 0. The reader reads bucket 1 first. The writer adds a copy there and
/// clears the table, bucket 0 first.
#[test]
fn clear_is_one_moment_to_lookups() {
    let outcomes = ["hit, hit", "hit, miss", "miss, miss"];
    check("split_clear_one_moment", 5, &outcomes, |seen| {
        let table = table(2, 2);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[0]);
        let writer = spawn(&table, move |table| {
            put(table, item.sides[1]);
            assert_eq!(table.clear::<S>(), 2);
        });
        let reader = spawn(&table, move |table| {
            [(); 2].map(|()| table.contains::<S>(&reversed(item)))
        });
        seen.note(match reader.join().unwrap() {
            [true, true] => "hit, hit",
            [true, false] => "hit, miss",
            [false, false] => "miss, miss",
            [false, true] => panic!("an item came back after a lookup had seen it cleared"),
        });
        writer.join().unwrap();
        assert_eq!(items(&table), 0);
    });
}

/// Catches a `clear` beside half a split, one by which levels fall, and one that loses an insert.
#[test]
fn clear_beside_a_split_and_an_insert() {
    check("split_clear_split", 5, &["cleared", "left"], |seen| {
        let table = table(2, 4);
        let [ghostly, new] = [leaving(&table, 0, 0), leaving(&table, 1, 0)];
        put(&table, forgetful(ghostly.sides[0], 0));
        let clearer = spawn(&table, |table| table.clear::<S>());
        split(&table);
        put(&table, new.sides[0]);
        let cleared = clearer.join().unwrap();
        assert_eq!(table.count::<S>(&ghostly), 0, "not cleared");
        let left = table.count::<S>(&new) as u64;
        assert_eq!((cleared + left, items(&table)), (2, left), "lost, or counted twice");
        seen.note_if(left == 1, "left", "cleared");
        let copy = restored(&table);
        assert_eq!((copy.count::<S>(&new) as u64, items(&copy)), (left, left));
        assert_size(&table, 0, 1);
    });
}

/// Catches a `clear` without locks beside a move: a copy survives, or it counts two.
#[test]
fn clear_beside_a_move() {
    check("split_clear_move", 4, &["moved", "not moved"], |seen| {
        let table = table(2, 2);
        let item = leaving(&table, 0, 0);
        put(&table, item.sides[1]);
        let mover = spawn(&table, move |table| relocate(table, item.sides[1]));
        assert_eq!(table.clear::<S>(), 1, "a move was half done");
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        assert_eq!(items(&table), 0, "the copy of a move survived");
    });
}

/// Catches a `clear` that releases the locks before it has subtracted the ghosts.
#[test]
fn clear_beside_a_clone() {
    check("split_clear_clone", 5, &["after", "before"], |seen| {
        let table = table(2, 4);
        let [ghostly, new] = [leaving(&table, 0, 0), leaving(&table, 1, 0)];
        put(&table, forgetful(ghostly.sides[0], 0));
        split(&table);
        let clearer = spawn(&table, |table| table.clear::<S>());
        put(&table, new.sides[0]);
        let copy = cloned(&table);
        let counts = [ghostly, new].map(|item| copy.count::<S>(&item) as u64);
        assert_eq!(items(&copy), counts[0] + counts[1], "ghosts were counted that are gone");
        seen.note_if(counts[0] == 0, "after", "before");
        let cleared = clearer.join().unwrap();
        assert_eq!(cleared + items(&table), 2);
    });
}

/// Catches a `clear` that is not counted: the table would grow for nothing.
#[test]
fn load_after_a_clear() {
    check("split_load_clear", 5, &["done"], |seen| {
        let table = with_load(1, 4, 128);
        let [first, second] = [0, 1].map(|nth| item(&table, nth, [0; 2], [0, 1], 0));
        put(&table, first.sides[0]);
        let reader = spawn(&table, move |table| table.contains::<S>(&first));
        assert_eq!(table.clear::<S>(), 1);
        put(&table, second.sides[0]);
        reader.join().unwrap();
        assert_eq!(table.buckets(), 1, "grown for nothing");
        seen.note("done");
    });
}

/// An item that has one bucket on both sides until its second split: then the first side goes.
fn parting(table: &GrowingTable) -> Item {
    item(table, 1, [0; 2], [2, 0], 0)
}

/// Catches the load of one bucket at two levels, as both locations of an item, by `count`.
#[test]
fn count_in_one_bucket_that_is_split_twice() {
    check("split_count_twice", 5, &["done"], |seen| {
        let table = table(1, 4);
        let parting = parting(&table);
        put(&table, parting.sides[1]);
        let counter = spawn(&table, move |table| table.count::<S>(&parting));
        let splitter = spawn(&table, |table| {
            split(table);
            split(table);
        });
        assert_eq!(counter.join().unwrap(), 1, "lost or doubled");
        splitter.join().unwrap();
        seen.note("done");
    });
}

/// Catches the load of one bucket at two levels, as both locations of an item, by `insert`.
#[test]
fn insert_into_one_bucket_that_is_split_twice() {
    check("split_insert_twice", 5, &["done"], |seen| {
        let table = table(1, 4);
        let parting = parting(&table);
        let others = [0, 1].map(|nth| staying(&table, 0, nth));
        others.iter().for_each(|item| put(&table, item.sides[0]));
        let inserter = spawn(&table, move |table| table.insert::<S>(&parting));
        let splitter = spawn(&table, |table| {
            let _ = table.split_one::<S>();
            let _ = table.split_one::<S>();
        });
        assert_eq!(inserter.join().unwrap(), Ok(()));
        splitter.join().unwrap();
        assert!(table.contains::<S>(&parting), "lost");
        assert_eq!([others[0], others[1], parting].map(|item| table.count::<S>(&item)), [1; 3]);
        seen.note("done");
    });
}
