//! Tables that grow: moves whose source or destination is split, and operations beside them.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{GrowingTable, Item, Side};
use guira_loom_tests::{
    check, check_deep, spawn,
    splits::{
        S, differing, forgetful, leaving, only, put, relocate, relocate_at, reversed, split,
        staying, table,
    },
};
use loom::sync::Arc;

/// Returns a table with a slot in bucket 0, of an item that goes to the child. The slot knows this
/// much of it.
fn with_slot(bits: u32) -> (Arc<GrowingTable>, Item, Side) {
    let table = table(2, 4);
    let item = leaving(&table, 1, 0);
    let slot = forgetful(item.sides[0], bits);
    put(&table, slot);
    (table, item, slot)
}

/// Moves a slot that knows this much beside the split of its source. The lookup is made by the
/// thread that splits.
fn of_a_source_that_is_split(name: &str, floor: usize, bits: u32) {
    check(name, floor, &["before", "after or during"], move |seen| {
        let (table, item, slot) = with_slot(bits);
        let other = differing(&table, item, 0);
        let mover = spawn(&table, move |table| relocate_at(table, slot, 0, None));
        let splitter = spawn(&table, move |table| {
            split(table);
            assert!(table.contains(item), "missed");
        });
        let moved = mover.join().unwrap();
        splitter.join().unwrap();
        seen.note_if(moved, "after or during", "before");
        assert_eq!(table.count::<S>(item), 1, "lost or doubled");
        let others = usize::from(bits == 0);
        assert_eq!(table.count::<S>(other), others, "a copy of a slot without a tail was left");
    });
}

/// Catches a move that loses its source when that is split.
#[test]
fn of_a_slot_that_goes_to_the_child() {
    of_a_source_that_is_split("split_move_source", 1_600, 6);
}

/// Catches a move that clears one copy only of a slot without a tail.
#[test]
fn of_a_slot_without_a_tail() {
    of_a_source_that_is_split("split_move_no_tail", 2_300, 0);
}

/// Catches a move that overwrites an insert into the child to which its slot went.
#[test]
fn of_a_slot_beside_an_insert_into_the_child() {
    let why =
        "the mover stops before the split and before the insert, and the splitter between them";
    check_deep(3, "split_move_neighbour", 970, &["before", "after or during"], why, |seen| {
        let (table, item, slot) = with_slot(6);
        let neighbour = leaving(&table, 0, 0);
        let mover = spawn(&table, move |table| relocate_at(table, slot, 0, None));
        let splitter = spawn(&table, move |table| {
            split(table);
            put(table, neighbour.sides[0]);
        });
        seen.note_if(mover.join().unwrap(), "after or during", "before");
        splitter.join().unwrap();
        assert_eq!([item, neighbour].map(|item| table.count::<S>(item)), [1; 2]);
    });
}

/// Moves a slot that knows this much, to store another item in its place, beside the split of its
/// source. The other item stays in the bucket, or goes to the child.
fn with_an_incoming_item(name: &str, floor: usize, bits: u32, leaves: bool) {
    check(name, floor, &["stored", "not stored"], move |seen| {
        let (table, item, slot) = with_slot(bits);
        let incoming = leaving(&table, 0, 0);
        let incoming = if leaves { incoming } else { differing(&table, incoming, 0) };
        let mover = spawn(&table, move |table| {
            let stored = relocate_at(table, slot, 0, Some(incoming.sides[0]));
            assert_eq!(table.contains(incoming), stored, "the incoming item is lost");
            stored
        });
        let splitter = spawn(&table, split);
        let stored = seen.note_if(mover.join().unwrap(), "stored", "not stored");
        splitter.join().unwrap();
        assert_eq!(table.count::<S>(incoming), usize::from(stored));
        assert_eq!(table.count::<S>(item), 1, "lost or doubled");
    });
}

/// Catches an incoming item that is stored in the wrong one of two buckets, or not at all.
#[test]
fn with_an_incoming_item_that_goes_to_the_child() {
    with_an_incoming_item("split_move_incoming_goes", 260, 6, true);
}

/// Catches an incoming item that is lost with its way to the bucket that stays.
#[test]
fn with_an_incoming_item_that_stays() {
    with_an_incoming_item("split_move_incoming_stays", 260, 6, false);
}

/// Catches an incoming item that is stored twice, or not at all, in place of a slot without a tail.
#[test]
fn with_an_incoming_item_and_no_tail() {
    with_an_incoming_item("split_move_incoming_no_tail", 300, 0, true);
}

/// Catches a move into a bucket that is split: the copy is made for a level that is over.
#[test]
fn into_a_bucket_that_is_split() {
    check("split_move_into", 580, &["done"], |seen| {
        let table = table(2, 4);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[1]);
        let mover = spawn(&table, move |table| {
            assert!(relocate_at(table, item.sides[1], 0, None), "there is room");
            assert!(table.contains(item), "missed after its move");
        });
        let splitter = spawn(&table, split);
        mover.join().unwrap();
        splitter.join().unwrap();
        assert_eq!(table.count::<S>(item), 1, "lost or doubled");
        assert!(table.contains(only(item.sides[0])), "not on its other side");
        seen.note("done");
    });
}

/// Catches a plan that is carried out at another level than that for which it was made: a slot's
/// value recurs there, with another meaning.
#[test]
fn of_a_value_that_recurs_at_another_level() {
    check("split_move_level", 38, &["moved", "stale"], |seen| {
        let table = table(2, 4);
        let leaving = leaving(&table, 0, 0);
        let item = differing(&table, leaving, 1);
        let other = differing(&table, leaving, 0);
        // At level 0 this is the item's slot, and at level 1 the other one's.
        let slot = forgetful(item.sides[0], 1);
        let twin = forgetful(differing(&table, other, 1).sides[0], 2);
        put(&table, slot);
        put(&table, twin);
        let mover = spawn(&table, move |table| relocate_at(table, slot, 0, None));
        let remover = spawn(&table, move |table| {
            assert!(table.remove::<S>(item), "nothing to remove");
            split(table);
        });
        seen.note_if(mover.join().unwrap(), "moved", "stale");
        remover.join().unwrap();
        assert!(!table.contains(item), "a removed item is back");
        assert!(table.contains(only(twin)), "the slot of another item was moved");
    });
}

/// Catches a removal that misses an item which moves, or takes half of a move.
#[test]
fn beside_a_removal_and_a_split() {
    check("split_move_remove", 380, &["moved", "removed first"], |seen| {
        let (table, item, slot) = with_slot(6);
        let remover = spawn(&table, move |table| {
            assert!(table.remove::<S>(item), "nothing to remove");
        });
        let mover = spawn(&table, move |table| {
            split(table);
            relocate(table, slot)
        });
        seen.note_if(mover.join().unwrap(), "moved", "removed first");
        remover.join().unwrap();
        assert_eq!(table.count::<S>(item), 0, "one half of a move was removed");
    });
}

/// Catches a `count` that counts one half of a move, or misses an item that moves.
#[test]
fn beside_a_count_and_a_split() {
    check("split_move_count", 92, &["done"], |seen| {
        let (table, item, slot) = with_slot(6);
        let counter = spawn(&table, move |table| table.count::<S>(item));
        let mover = spawn(&table, move |table| {
            assert!(relocate(table, slot));
            split(table);
        });
        assert_eq!(counter.join().unwrap(), 1, "there was one copy throughout");
        mover.join().unwrap();
        seen.note("done");
    });
}

/// Catches an `insert_unique` that adds an item which moves into the fuller bucket, which it reads
/// first.
#[test]
fn beside_an_insert_unique_and_a_split() {
    check("split_move_unique", 330, &["done"], |seen| {
        let (table, item, slot) = with_slot(6);
        put(&table, staying(&table, 1, 0).sides[0]);
        let unique = spawn(&table, move |table| table.insert_unique::<S>(reversed(item)));
        let mover = spawn(&table, move |table| {
            split(table);
            assert!(relocate(table, slot));
        });
        assert_eq!(unique.join().unwrap(), Ok(false), "the item was there throughout");
        mover.join().unwrap();
        assert_eq!(table.count::<S>(item), 1);
        seen.note("done");
    });
}

/// Catches two moves of one slot that double it, or lose it.
#[test]
fn of_one_slot_by_two_threads() {
    check("split_move_twice", 20, &["first", "second"], |seen| {
        let (table, item, slot) = with_slot(0);
        let movers = [0, 1].map(|_| spawn(&table, move |table| relocate_at(table, slot, 0, None)));
        let moved = movers.map(|mover| mover.join().unwrap());
        assert_ne!(moved[0], moved[1]);
        seen.note_if(moved[0], "first", "second");
        assert_eq!(table.count::<S>(item), 1, "lost or doubled");
    });
}
