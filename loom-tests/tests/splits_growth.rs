//! Tables that grow: the size, splits out of turn, and growth because of the load.
#![cfg(not(feature = "semi-sorted"))]

use guira::{
    InsertError,
    raw::{GrowingTable, Place},
};
use guira_loom_tests::{
    EVERY_WAY, Written, check, look_up_beside, spawn,
    splits::{
        S, assert_size, forgetful, item, leaving, put, relocate_at, split, staying, table,
        with_load,
    },
};
use loom::sync::Arc;

/// Catches a size that falls, because a thread that helps to advance it is late.
#[test]
fn size_beside_a_helper() {
    check("split_size", 850, &["risen", "same"], |seen| {
        let table = table(2, 8);
        let splitter = spawn(&table, |table| {
            split(table);
            split(table);
        });
        let helper = spawn(&table, |table| {
            let before = table.size();
            table.advance_size();
            (before, table.size())
        });
        let (before, after) = helper.join().unwrap();
        splitter.join().unwrap();
        assert!(before <= after, "the size has fallen from {before:?} to {after:?}");
        seen.note_if(before < after, "risen", "same");
        assert_size(&table, 1, 0);
    });
}

/// Catches a size that is not advanced over a bucket which was split out of turn.
#[test]
fn size_beside_a_split_out_of_turn() {
    check("split_size_passes", 960, &["done"], |seen| {
        let table = table(2, 8);
        let splitter = spawn(&table, split);
        let early = spawn(&table, |table| {
            assert_eq!(table.split_early(Place { bucket: 1, level: 0 }), Ok(true));
        });
        splitter.join().unwrap();
        early.join().unwrap();
        // Each thread may have seen its own split only. Then the next one counts both.
        table.advance_size();
        assert_size(&table, 1, 0);
        seen.note("done");
    });
}

/// Catches a lookup beside a split out of turn over which the size passes.
#[test]
fn lookup_beside_a_split_out_of_turn() {
    check("split_lookup_out_of_turn", 310, EVERY_WAY, |seen| {
        let table = table(2, 8);
        let item = item(&table, 1, [1, 0], [1, 0], 0);
        put(&table, item.sides[0]);
        look_up_beside(&table, seen, item, |table| {
            assert_eq!(table.split_early(Place { bucket: 1, level: 0 }), Ok(true));
            assert_size(table, 0, 0);
            split(table);
            assert_size(table, 1, 0);
            // Its turn has passed.
            assert_eq!(table.split_early(Place { bucket: 1, level: 0 }), Ok(false));
        });
        assert_eq!(table.count::<S>(item), 1, "lost or doubled");
    });
}

/// Catches two inserts of which neither makes the table grow that is due, or both do.
#[test]
fn load_of_two_inserts() {
    check("split_load", 130, &["done"], |seen| {
        let table = with_load(1, 4, 128);
        let items = [0, 1].map(|nth| item(&table, nth, [0; 2], [0, 1], 0));
        let inserters =
            items.map(|item| spawn(&table, move |table| table.insert::<S>(item).expect("room")));
        for inserter in inserters {
            inserter.join().unwrap();
        }
        assert_eq!(table.buckets(), 2, "two of two slots, at a target of one half");
        assert_eq!(items.map(|item| table.count::<S>(item)), [1; 2], "lost or doubled");
        seen.note("done");
    });
}

/// Catches an `insert_unique` that is not counted.
#[test]
fn load_of_two_unique_inserts() {
    check("split_load_unique", 130, &["done"], |seen| {
        let table = with_load(1, 4, 128);
        let items = [0, 1].map(|nth| item(&table, nth, [0; 2], [0, 1], 0));
        let inserters =
            items.map(|item| spawn(&table, move |table| table.insert_unique::<S>(item)));
        for inserter in inserters {
            assert_eq!(inserter.join().unwrap(), Ok(true));
        }
        assert_eq!(table.buckets(), 2, "two of two slots, at a target of one half");
        seen.note("done");
    });
}

/// Catches a removal that is not counted: the table would grow for nothing.
#[test]
fn load_after_a_removal() {
    check("split_load_removal", 330, &["done"], |seen| {
        let table = with_load(1, 4, 128);
        let items = [0, 1].map(|nth| item(&table, nth, [0; 2], [0, 1], 0));
        put(&table, items[0].sides[0]);
        let reader = spawn(&table, move |table| table.contains(items[1]));
        assert!(table.remove::<S>(items[0]));
        table.insert::<S>(items[1]).expect("room");
        reader.join().unwrap();
        assert_eq!(table.buckets(), 1, "grown for nothing");
        seen.note("done");
    });
}

/// Catches ghosts that are not counted as load.
#[test]
fn load_of_ghosts() {
    check("split_load_ghosts", 13_000, &["done"], |seen| {
        let table = with_load(1, 4, 128);
        let ghostly = item(&table, 0, [0; 2], [0, 1], 0);
        put(&table, forgetful(ghostly.sides[0], 0));
        let other = item(&table, 1, [0; 2], [0, 1], 0);
        let reader = spawn(&table, move |table| table.contains(ghostly));
        split(&table);
        table.insert::<S>(other).expect("room");
        assert!(reader.join().unwrap());
        // Three of four slots, at a target of one half, then a fourth one of six.
        assert_eq!(table.buckets(), 4, "a ghost is load");
        seen.note("done");
    });
}

/// Catches ghosts that are cleared by a move, and still counted.
#[test]
fn load_of_ghosts_that_were_cleared() {
    check("split_load_cleared", 28, &["split first", "moved first"], |seen| {
        let table = with_load(2, 8, 86);
        let slot = forgetful(leaving(&table, 1, 0).sides[0], 0);
        put(&table, slot);
        let mover = spawn(&table, move |table| relocate_at(table, slot, 0, None));
        split(&table);
        let moved = seen.note_if(mover.join().unwrap(), "moved first", "split first");
        put(&table, staying(&table, 1, 0).sides[0]);
        // Two of six slots are the target. A ghost is one more.
        assert_eq!(table.buckets() == 3, moved, "{} buckets", table.buckets());
    });
}

/// Fills both buckets of a table: no slot can be moved. The third item goes to the child of bucket
/// 0.
fn full() -> Arc<GrowingTable> {
    let table = table(2, 8);
    put(&table, staying(&table, 0, 0).sides[0]);
    put(&table, item(&table, 1, [0; 2], [1, 1], 0).sides[0]);
    for nth in 0..2 {
        put(&table, staying(&table, 1, nth).sides[0]);
    }
    table
}

/// Catches two inserts without room that do not both split what they need, or lose an item.
#[test]
fn two_inserts_without_room() {
    check("split_no_room", 7_600, &["done"], |seen| {
        let table = full();
        // After the split of bucket 0 there is room for one in either half.
        let items = [leaving(&table, 1, 0), item(&table, 0, [0, 1], [0, 0], 0)];
        let inserters = items.map(|item| spawn(&table, move |table| table.insert::<S>(item)));
        for inserter in inserters {
            assert_eq!(inserter.join().unwrap(), Ok(()));
        }
        assert_eq!(items.map(|item| table.count::<S>(item)), [1; 2], "lost or doubled");
        assert!(table.contains(staying(&table, 0, 0)));
        assert!(table.contains(item(&table, 1, [0; 2], [1, 1], 0)));
        seen.note("done");
    });
}

/// Catches a lookup that misses an item whose bucket is split for an insert without room.
#[test]
fn lookup_beside_an_insert_without_room() {
    check("split_no_room_lookup", 1_000, EVERY_WAY, |seen| {
        let table = full();
        let [goes, new] = [item(&table, 1, [0; 2], [1, 1], 0), leaving(&table, 0, 0)];
        look_up_beside(&table, seen, goes, move |table| {
            table.insert::<S>(new).expect("room after a split");
        });
        assert_eq!(table.count::<S>(new), 1, "lost or doubled");
    });
}

/// Catches an item that is added with too weak an ordering after a search, because a removal has
/// made room.
#[test]
fn an_insert_without_room_publishes() {
    check("split_no_room_publishes", 300, &["hit", "miss"], |seen| {
        let table = table(2, 2);
        let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let all = all.map(|(bucket, nth)| staying(&table, bucket, nth));
        for item in all {
            put(&table, item.sides[0]);
        }
        let (new, written) = (leaving(&table, 0, 0), Written::new());
        let inserter = {
            let written = written.clone();
            spawn(&table, move |table| {
                written.write();
                // Refused, if the removal comes later.
                let _ = table.insert::<S>(new);
            })
        };
        let remover = spawn(&table, move |table| {
            assert!(table.remove::<S>(all[0]));
            let hit = table.contains(new);
            if hit {
                written.assert();
            }
            hit
        });
        inserter.join().unwrap();
        seen.note_if(remover.join().unwrap(), "hit", "miss");
    });
}

/// Catches an insert into a table that may not grow, which is refused beside a removal for the
/// wrong reason.
#[test]
fn insert_into_a_table_that_may_not_grow() {
    check("split_refused", 19, &["stored", "refused"], |seen| {
        let table = table(1, 1);
        let [first, second] = [0, 1].map(|nth| staying(&table, 0, nth));
        put(&table, first.sides[0]);
        put(&table, second.sides[0]);
        let new = item(&table, 0, [0; 2], [0, 0], 0);
        let inserter = spawn(&table, move |table| table.insert::<S>(new));
        assert!(table.remove::<S>(first));
        let outcome = inserter.join().unwrap();
        let is_stored = seen.note_if(outcome.is_ok(), "stored", "refused");
        assert!(is_stored || outcome == Err(InsertError::FullyGrown), "{outcome:?}");
        assert_eq!(table.count::<S>(new), usize::from(is_stored));
        assert_eq!(table.count::<S>(second), 1);
    });
}
