//! Tables that grow: lookups beside splits, moves, inserts and removals.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{GrowingTable, Item};
use guira_loom_tests::{
    EVERY_WAY, Mark, Seen, check, check_shallow, look_up_beside, spawn, spawn_reader,
    splits::{
        S, assert_size, differing, forgetful, leaving, place, put, relocate, reversed, split,
        split_unseen, table,
    },
};
use loom::sync::Arc;

/// Returns a table of two buckets, and an item whose slot is on this side of it. Splits of bucket 0
/// take another stripe's lock than changes of the item.
fn with_item(max: u64, index: usize) -> (Arc<GrowingTable>, Item) {
    let table = table(2, max);
    let item = leaving(&table, 1, 0);
    put(&table, item.sides[index]);
    (table, item)
}

/// Looks up an item on this side of it beside a writer, and checks that it is there once at the
/// end.
fn beside(
    name: &str,
    floor: usize,
    index: usize,
    write: impl Fn(&GrowingTable, Item) + Copy + Send + Sync + 'static,
) {
    check(name, floor, EVERY_WAY, move |seen| {
        let (table, item) = with_item(8, index);
        look_up_beside(&table, seen, item, move |table| write(table, item));
        assert_eq!(table.count::<S>(item), 1, "lost or doubled");
    });
}

/// A writer of the models with two.
type Writer = fn(&GrowingTable, Item);

/// As [`beside`], with two writers: one execution of such a model.
fn beside_two(index: usize, writers: [Writer; 2]) -> impl Fn(&std::sync::Arc<Seen>) {
    move |seen| {
        let (table, item) = with_item(4, index);
        let done = Mark::default();
        let reader = spawn_reader(&table, seen, &done, item);
        let second = spawn(&table, move |table| writers[1](table, item));
        writers[0](&table, item);
        done.set();
        reader.join().unwrap();
        second.join().unwrap();
        assert_eq!(table.count::<S>(item), 1, "lost or doubled");
    }
}

/// Catches a lookup that misses an item whose bucket is split: it goes to the child.
#[test]
fn beside_a_split() {
    beside("split_lookup", 76, 0, |table, _| split(table));
}

/// Catches a lookup that finds an item on its first side only.
#[test]
fn beside_a_split_of_the_other_side() {
    beside("split_lookup_second", 76, 1, |table, _| split(table));
}

/// Catches a lookup that misses an item in a bucket which is split a second time.
#[test]
fn beside_splits_of_two_rounds() {
    beside("split_lookup_rounds", 1_200, 0, |table, _| {
        (0..3).for_each(|_| split(table));
        assert_size(table, 1, 1);
    });
}

/// Catches a lookup that misses an item which moves, in a round after the first one.
#[test]
fn open_beside_a_move() {
    check("split_lookup_open_move", 15_000, EVERY_WAY, move |seen| {
        let (table, item) = with_item(8, 1);
        split_unseen(&table);
        look_up_beside(&table, seen, item, move |table| {
            assert!(relocate(table, item.sides[1]));
        });
        assert_eq!(table.count::<S>(item), 1, "lost or doubled");
    });
}

/// Catches a lookup that misses an item which moves to its other side beside a split.
#[test]
fn beside_a_split_and_a_move() {
    check(
        "split_lookup_move",
        40_000,
        EVERY_WAY,
        beside_two(
            0,
            [|table, _| split(table), |table, item| assert!(relocate(table, item.sides[0]))],
        ),
    );
}

/// Catches a lookup that misses an item which moves away from a bucket that is split, and back.
#[test]
fn beside_a_split_between_a_move_and_back() {
    beside("split_lookup_move_back", 6_000, 0, |table, item| {
        assert!(relocate(table, item.sides[0]));
        split(table);
        assert!(relocate(table, item.sides[1]));
    });
}

/// Catches a lookup that misses an item which moves from its second bucket to its first one, before
/// this is split.
#[test]
fn beside_a_move_and_a_split() {
    beside("split_lookup_moved", 1_400, 1, |table, item| {
        assert!(relocate(table, item.sides[1]));
        split(table);
    });
}

/// Catches a lookup that misses an item while an alias is inserted and the first copy is removed.
#[test]
fn beside_an_alias() {
    beside("split_lookup_alias", 830, 1, |table, item| {
        table.insert::<S>(item).expect("room");
        assert!(table.remove::<S>(reversed(item)));
    });
}

/// Catches a lookup that misses an item while an alias is inserted, its bucket is split, and the
/// first copy is removed.
#[test]
fn beside_a_split_and_an_alias() {
    beside("split_lookup_alias_split", 2_000, 1, |table, item| {
        table.insert::<S>(item).expect("room");
        split(table);
        assert!(table.remove::<S>(reversed(item)));
    });
}

/// Looks up an item beside a writer in the thread that has just split a bucket.
fn by_the_splitter(
    name: &str,
    floor: usize,
    index: usize,
    write: impl Fn(&GrowingTable, Item) + Copy + Send + Sync + 'static,
) {
    check(name, floor, EVERY_WAY, move |seen| {
        let (table, item) = with_item(4, index);
        let done = Mark::default();
        let written = done.clone();
        let writer = spawn(&table, move |table| {
            write(table, item);
            written.set();
        });
        split(&table);
        let was_done = done.is_set();
        assert!(table.contains(item), "an item that is there throughout was missed");
        seen.note(done.relative_to(was_done));
        writer.join().unwrap();
        assert_eq!(table.count::<S>(item), 1, "lost or doubled");
    });
}

/// Catches a switch that has not seen all earlier changes of its word: the word is the same after a
/// move to it and back, and the lookup goes to the child without having seen that the other side
/// was cleared meanwhile.
#[test]
fn beside_a_word_that_recurs() {
    by_the_splitter("split_lookup_recurs", 23_000, 1, |table, item| {
        assert!(relocate(table, item.sides[1]));
        assert!(relocate(table, item.sides[0]));
    });
}

/// Catches a size that is advanced over the split of another thread without having seen it.
#[test]
fn beside_a_split_that_another_thread_counts() {
    check(
        "split_lookup_helped",
        280,
        EVERY_WAY,
        beside_two(
            0,
            [
                |table, item| assert!(table.split_only(place(table, item.sides[0], 0))),
                |table, _| table.advance_size(),
            ],
        ),
    );
}

/// Catches a lookup that relies on the hint: all buckets have been split, and no size says so.
#[test]
fn beside_a_split_with_a_stale_hint() {
    check("split_lookup_stale", 40, EVERY_WAY, |seen| {
        let (table, item) = with_item(8, 0);
        let first = place(&table, item.sides[0], 0);
        assert!(table.split_only(first));
        look_up_beside(&table, seen, item, move |table| {
            assert!(table.split_only(place(table, item.sides[0], 1)));
        });
        assert_size(&table, 0, 0);
        table.advance_size();
        assert_size(&table, 0, 1);
        assert_eq!(table.count::<S>(item), 1);
    });
}

/// Catches a lookup that begins with the hint of a round that has ended.
#[test]
fn beside_a_new_round() {
    check("split_lookup_new_round", 100, EVERY_WAY, |seen| {
        let (table, item) = with_item(8, 0);
        split(&table);
        look_up_beside(&table, seen, reversed(item), |table| {
            split(table);
            split(table);
        });
        assert_size(&table, 1, 1);
        assert_eq!(table.count::<S>(item), 1);
    });
}

/// Catches a lookup that misses an item which is inserted beside a split.
#[test]
fn of_an_insert_beside_a_split() {
    check("split_insert", 2_000, &["done"], |seen| {
        let table = table(2, 4);
        let item = leaving(&table, 0, 0);
        let splitter = spawn(&table, split);
        let inserter = spawn(&table, move |table| {
            table.insert::<S>(item).expect("room");
            assert!(table.contains(item), "missed after its insert");
        });
        splitter.join().unwrap();
        inserter.join().unwrap();
        assert_eq!(table.count::<S>(item), 1, "lost or doubled");
        seen.note("done");
    });
}

/// Catches an insert that is lost beside another one into a bucket which is split.
#[test]
fn of_two_inserts_beside_a_split() {
    let why =
        "an insert is lost if a split, or the other insert, runs between its load and its change";
    check_shallow("split_two_inserts", 2_700, &["done"], why, |seen| {
        let table = table(2, 4);
        let items = [0, 1].map(|nth| leaving(&table, 0, nth));
        let splitter = spawn(&table, split);
        let inserters =
            items.map(|item| spawn(&table, move |table| table.insert::<S>(item).expect("room")));
        splitter.join().unwrap();
        for inserter in inserters {
            inserter.join().unwrap();
        }
        assert_eq!(items.map(|item| table.count::<S>(item)), [1; 2], "lost or doubled");
        seen.note("done");
    });
}

/// Catches two threads that split one bucket: the second one overwrites the child.
#[test]
fn of_an_insert_beside_two_splits_of_one_bucket() {
    check("split_twice", 360, &["first", "second"], |seen| {
        let (table, item) = with_item(4, 0);
        let other = leaving(&table, 0, 1);
        let parent = place(&table, item.sides[0], 0);
        let early = spawn(&table, move |table| table.split_early(parent));
        let inserter = spawn(&table, move |table| {
            let was_split = table.split_early(parent);
            put(table, other.sides[0]);
            was_split
        });
        let was_split = [early, inserter].map(|splitter| splitter.join().unwrap());
        assert_ne!(was_split[0], was_split[1], "one of them splits the bucket");
        seen.note_if(was_split[0] == Ok(true), "first", "second");
        assert_eq!([item, other].map(|item| table.count::<S>(item)), [1; 2], "lost or doubled");
        assert_size(&table, 0, 1);
    });
}

/// Catches a split in its turn that overwrites the child of a split out of turn.
#[test]
fn of_an_insert_beside_a_split_in_turn_and_one_out_of_turn() {
    check("split_in_turn_and_not", 650, &["in turn", "out of turn"], |seen| {
        let (table, item) = with_item(4, 0);
        let other = leaving(&table, 0, 1);
        let parent = place(&table, item.sides[0], 0);
        let in_turn = spawn(&table, GrowingTable::split_one);
        let inserter = spawn(&table, move |table| {
            let was_split = table.split_early(parent).expect("room for a bucket");
            put(table, other.sides[0]);
            was_split
        });
        assert!(in_turn.join().unwrap());
        seen.note_if(inserter.join().unwrap(), "out of turn", "in turn");
        assert_eq!([item, other].map(|item| table.count::<S>(item)), [1; 2], "lost or doubled");
    });
}

/// Catches a removal that takes the slot of an item which is known less, beside a split that tells
/// the two apart.
#[test]
fn of_an_item_that_is_known_less() {
    check("split_known_less", 27_000, EVERY_WAY, |seen| {
        let (table, item) = with_item(4, 1);
        let other = differing(&table, item, 0);
        put(&table, forgetful(other.sides[0], 0));
        let done = Mark::default();
        let reader = spawn_reader(&table, seen, &done, other);
        let splitter = spawn(&table, split);
        assert!(table.remove::<S>(item), "nothing to remove");
        done.set();
        reader.join().unwrap();
        splitter.join().unwrap();
        assert!(table.contains(other), "the slot of another item was removed");
    });
}

/// Catches a removal that takes the slot of an item which is known less, beside splits of both
/// locations.
#[test]
fn of_an_item_that_is_known_less_beside_two_splits() {
    check("split_known_less_twice", 1_000, &["done"], |seen| {
        let (table, item) = with_item(4, 0);
        let other = differing(&table, item, 0);
        put(&table, forgetful(other.sides[1], 0));
        let remover = spawn(&table, move |table| {
            assert!(table.remove::<S>(item), "nothing to remove");
            assert!(table.contains(other), "the slot of another item was removed");
        });
        let splitter = spawn(&table, |table| {
            split(table);
            split(table);
        });
        remover.join().unwrap();
        splitter.join().unwrap();
        assert!(table.contains(other), "the slot of another item was removed");
        seen.note("done");
    });
}

/// Catches a removal that leaves an item without a slot, because a bucket is split after it was
/// loaded: what is left for the item knows more then, and not of this item.
#[test]
fn of_an_item_whose_slot_runs_out_after_it_was_loaded() {
    check("split_known_later", 1_900, &["done"], |seen| {
        let table = table(2, 8);
        let item = leaving(&table, 0, 0);
        let other = differing(&table, item, 1);
        let [first, second] = item.sides;
        put(&table, forgetful(first, 1));
        put(&table, forgetful(second, 0));
        split(&table);
        let remover = spawn(&table, move |table| {
            assert!(table.remove::<S>(item), "nothing to remove");
            assert!(table.contains(other), "the other item was missed");
        });
        let splitter = spawn(&table, |table| (0..3).for_each(|_| split(table)));
        remover.join().unwrap();
        splitter.join().unwrap();
        assert!(table.contains(other), "the other item was lost");
        seen.note("done");
    });
}
