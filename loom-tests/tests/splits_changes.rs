//! Tables that grow: inserts, removals and counts beside splits and beside each other.
#![cfg(not(feature = "semi-sorted"))]

use guira::{
    GrowingFilter, Hashed, InsertError, Layout,
    raw::{GrowingTable, Item, Limits, Payload},
};
use guira_loom_tests::{
    EVERY_WAY, Seen, check, check_deep, check_shallow, look_up_beside, spawn,
    splits::{
        S, differing, forgetful, growing, item, leaving, only, put, relocate_at, reversed, split,
        staying, table,
    },
};
use loom::sync::Arc;

/// Returns a table of two buckets that has this item.
fn with_item() -> (Arc<GrowingTable>, Item) {
    let table = table(2, 4);
    let item = leaving(&table, 0, 0);
    put(&table, item.sides[0]);
    (table, item)
}

/// Catches a removal that clears what a split has left in the place of its slot.
#[test]
fn removal_beside_a_split() {
    check("split_remove", 350, &["done"], |seen| {
        let (table, item) = with_item();
        let neighbour = differing(&table, leaving(&table, 1, 0), 0);
        put(&table, neighbour.sides[0]);
        let remover = spawn(&table, move |table| {
            assert!(table.remove::<S>(item), "nothing to remove");
            assert!(!table.contains(item), "found after its removal");
        });
        let splitter = spawn(&table, split);
        remover.join().unwrap();
        splitter.join().unwrap();
        assert_eq!([item, neighbour].map(|item| table.count::<S>(item)), [0, 1]);
        seen.note("done");
    });
}

/// Catches two removals of one copy that both find it.
#[test]
fn two_removals_beside_a_split() {
    check("split_two_removals", 240, &["first", "second"], |seen| {
        let (table, item) = with_item();
        let remover = spawn(&table, move |table| table.remove::<S>(item));
        let other = spawn(&table, move |table| {
            split(table);
            table.remove::<S>(item)
        });
        let removed = [remover, other].map(|remover| remover.join().unwrap());
        assert_ne!(removed[0], removed[1], "one copy was there");
        seen.note_if(removed[0], "first", "second");
        assert_eq!(table.count::<S>(item), 0);
    });
}

/// Catches a removal that overwrites an insert into the same word.
#[test]
fn removal_beside_an_insert() {
    check("split_remove_insert", 19, &["done"], |seen| {
        let (table, item) = with_item();
        let other = leaving(&table, 1, 0);
        let remover = spawn(&table, move |table| assert!(table.remove::<S>(item)));
        put(&table, other.sides[0]);
        remover.join().unwrap();
        assert_eq!([item, other].map(|item| table.count::<S>(item)), [0, 1]);
        seen.note("done");
    });
}

/// Catches a removal that takes a shorter slot of the same word.
#[test]
fn removal_of_the_longest_in_one_word() {
    check("split_remove_longest", 650, EVERY_WAY, |seen| {
        let (table, item) = with_item();
        let other = differing(&table, item, 1);
        put(&table, forgetful(item.sides[0], 1));
        look_up_beside(&table, seen, other, move |table| {
            assert!(table.remove::<S>(item));
            split(table);
        });
        assert!(table.contains(other), "the slot of another item was removed");
    });
}

/// Catches two calls of `insert_unique` that both add an item, or both do not.
#[test]
fn unique_beside_itself_and_a_split() {
    check("split_unique_unique", 1_500, &["first", "second"], |seen| {
        let table = table(2, 4);
        let item = leaving(&table, 1, 0);
        let first = spawn(&table, move |table| table.insert_unique::<S>(item).unwrap());
        let second = spawn(&table, move |table| {
            split(table);
            table.insert_unique::<S>(reversed(item)).unwrap()
        });
        let [first, second] = [first, second].map(|inserter| inserter.join().unwrap());
        assert!(first != second, "added by {}", if first { "both" } else { "neither" });
        seen.note_if(first, "first", "second");
        assert_eq!(table.count::<S>(item), 1);
    });
}

/// Catches an `insert_unique` of an item whose bucket is split: it misses the item, or is lost.
#[test]
fn unique_beside_a_split() {
    check("split_unique", 5_400, &["done"], |seen| {
        let (table, item) = with_item();
        let absent = leaving(&table, 1, 0);
        let splitter = spawn(&table, split);
        let unique =
            spawn(&table, move |table| [item, absent].map(|item| table.insert_unique::<S>(item)));
        splitter.join().unwrap();
        assert_eq!(unique.join().unwrap(), [Ok(false), Ok(true)]);
        assert_eq!([item, absent].map(|item| table.count::<S>(item)), [1; 2]);
        seen.note("done");
    });
}

/// Catches an `insert_unique` whose result contradicts the number of copies after a removal.
#[test]
fn unique_beside_a_removal() {
    check("split_unique_remove", 36, &["added", "was present"], |seen| {
        let (table, item) = with_item();
        let remover = spawn(&table, move |table| assert!(table.remove::<S>(item)));
        let unique = spawn(&table, move |table| table.insert_unique::<S>(item).unwrap());
        remover.join().unwrap();
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert_eq!(table.count::<S>(item), usize::from(added));
    });
}

/// Catches presence and room that are decided by different loads of a word.
///
/// At every moment there is the item, or room for it, so an error would be wrong.
#[test]
fn unique_beside_an_insert_that_toggles_the_last_slot() {
    let why =
        "three calls fall between loads of a fourth one, with a preemption before and after each";
    check_deep(6, "split_unique_toggle", 3_300, &["added", "was present"], why, |seen| {
        let table = table(1, 1);
        let item = item(&table, 1, [0; 2], [0, 1], 0);
        put(&table, staying(&table, 0, 0).sides[0]);
        let toggler = spawn(&table, move |table| {
            let toggle = || table.insert::<S>(item).is_ok();
            toggle() && table.remove::<S>(item) && toggle()
        });
        let unique = spawn(&table, move |table| table.insert_unique::<S>(item));
        toggler.join().unwrap();
        let added =
            unique.join().unwrap().expect("at every moment there is the item, or room for it");
        seen.note_if(added, "added", "was present");
    });
}

/// Catches an `insert_unique` that overwrites a plain insert of the same item, or is lost.
#[test]
fn unique_beside_a_plain_insert() {
    check("split_unique_insert", 62, &["added", "was present"], |seen| {
        let table = table(2, 4);
        let item = leaving(&table, 1, 0);
        let plain = spawn(&table, move |table| table.insert::<S>(item).expect("room"));
        let unique = spawn(&table, move |table| table.insert_unique::<S>(item).unwrap());
        plain.join().unwrap();
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert_eq!(table.count::<S>(item), 1 + usize::from(added));
    });
}

/// Catches a `count` beside a split that misses a copy, or counts one twice.
#[test]
fn count_beside_a_split() {
    check("split_count", 240, &["done"], |seen| {
        let (table, item) = with_item();
        put(&table, item.sides[1]);
        let counter = spawn(&table, move |table| table.count::<S>(item));
        let splitter = spawn(&table, |table| {
            split(table);
            split(table);
        });
        assert_eq!(counter.join().unwrap(), 2, "there were two copies throughout");
        splitter.join().unwrap();
        assert_eq!(table.count::<S>(item), 2);
        seen.note("done");
    });
}

/// Inserts an item, of which there is one copy, while this copy moves and a bucket is split.
fn limit_beside_a_move(
    limit: usize,
    expected: Result<(), InsertError>,
) -> impl Fn(&std::sync::Arc<Seen>) {
    move |seen| {
        let table = table(2, 4);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[1]);
        let inserter = spawn(&table, move |table| table.insert_up_to::<S>(limit, item));
        let mover = spawn(&table, move |table| {
            assert!(relocate_at(table, item.sides[1], 0, None));
            split(table);
        });
        assert_eq!(inserter.join().unwrap(), expected, "there was one copy throughout");
        mover.join().unwrap();
        assert_eq!(table.count::<S>(item), 1 + usize::from(expected.is_ok()));
        seen.note("done");
    }
}

/// Catches an insert that exceeds the limit because it misses a copy that moves.
#[test]
fn limit_reached_beside_a_move() {
    let model = limit_beside_a_move(1, Err(InsertError::TooManyCopies));
    check("split_limit_reached", 4_700, &["done"], model);
}

/// Catches an insert that is refused below the limit because a half-done move counts twice.
#[test]
fn limit_not_reached_beside_a_move() {
    let why = "an insert that counts a move twice runs between its two halves";
    let model = limit_beside_a_move(2, Ok(()));
    check_shallow("split_limit_not_reached", 10_000, &["done"], why, model);
}

/// Catches threads that add more than one copy each because none sees what the others have added.
#[test]
fn limit_of_two_threads() {
    check("split_limit_threads", 10_000, &["reached", "exceeded"], |seen| {
        let table = table(2, 4);
        let item = leaving(&table, 1, 0);
        let inserters = [item, reversed(item)].map(|item| {
            let insert = move |table: &GrowingTable| table.insert_up_to::<S>(2, item).is_ok();
            spawn(&table, move |table| [insert(table), insert(table)])
        });
        for inserter in inserters {
            inserter.join().unwrap();
        }
        let copies = table.count::<S>(item);
        assert!(copies == 2 || copies == 3, "{copies} copies by two threads, for a limit of 2");
        seen.note_if(copies == 2, "reached", "exceeded");
    });
}

/// Catches an insert that is refused for too many copies because a half-done move counts twice.
#[test]
fn copies_beside_a_move() {
    check("split_copies_move", 44, &["done"], |seen| {
        let table = table(2, 4);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[1]);
        put(&table, item.sides[1]);
        put(&table, staying(&table, 0, 0).sides[0]);
        let inserter = spawn(&table, move |table| table.insert::<S>(item));
        let mover = spawn(&table, move |table| {
            // Fails if the insert has come first, and taken the room.
            let _ = relocate_at(table, item.sides[1], 0, None);
        });
        assert_eq!(inserter.join().unwrap(), Ok(()), "there were two copies throughout");
        mover.join().unwrap();
        assert_eq!(table.count::<S>(item), 3);
        seen.note("done");
    });
}

/// Catches an insert of many copies that makes the table grow, which cannot part them.
#[test]
fn copies_that_take_half_of_the_slots() {
    check("split_copies_half", 16, &["refused", "stored"], |seen| {
        let table = table(2, 4);
        let item = leaving(&table, 1, 0);
        // Three of four slots count as half.
        for side in [0, 0, 1] {
            put(&table, item.sides[side]);
        }
        let neighbour = staying(&table, 1, 0);
        put(&table, neighbour.sides[0]);
        let inserter = spawn(&table, move |table| table.insert::<S>(item));
        assert!(table.remove::<S>(neighbour));
        let outcome = inserter.join().unwrap();
        let is_stored = seen.note_if(outcome.is_ok(), "stored", "refused");
        assert!(is_stored || outcome == Err(InsertError::TooManyCopies), "{outcome:?}");
        assert_eq!(table.count::<S>(item), 3 + usize::from(is_stored));
        assert_eq!(table.buckets(), 2, "grown for nothing");
    });
}

/// Returns a table of one bucket, and an item that has it on both sides. Of these, the one with
/// this index goes to the child.
fn in_one_bucket(index: usize) -> (Arc<GrowingTable>, Item) {
    let table = table(1, 2);
    let item = item(&table, 1, [0; 2], if index == 0 { [1, 0] } else { [0, 1] }, 0);
    (table, item)
}

/// Looks up an item in a bucket that both sides have, beside its split.
fn lookup_in_one_bucket(name: &str, floor: usize, index: usize) {
    check(name, floor, EVERY_WAY, move |seen| {
        let (table, item) = in_one_bucket(index);
        put(&table, item.sides[0]);
        look_up_beside(&table, seen, item, split);
        assert_eq!(table.count::<S>(item), 1, "lost or doubled");
    });
}

/// Catches a lookup of an item in one bucket that compares with one side only: it stays.
#[test]
fn lookup_in_one_bucket_of_the_side_that_stays() {
    lookup_in_one_bucket("split_one_bucket_stays", 140, 1);
}

/// Catches a lookup of an item in one bucket that compares with one side only: it goes.
#[test]
fn lookup_in_one_bucket_of_the_side_that_goes() {
    lookup_in_one_bucket("split_one_bucket_goes", 140, 0);
}

/// Catches an insert and a removal that mistake one side for the other in one bucket.
#[test]
fn changes_in_one_bucket() {
    check("split_one_bucket_changes", 4_100, &["done"], |seen| {
        let (table, item) = in_one_bucket(0);
        put(&table, item.sides[1]);
        let writer = spawn(&table, move |table| {
            table.insert::<S>(item).expect("room");
            assert_eq!(table.count::<S>(item), 2);
            assert!(table.remove::<S>(item), "nothing to remove");
        });
        let splitter = spawn(&table, split);
        writer.join().unwrap();
        splitter.join().unwrap();
        assert_eq!(table.count::<S>(item), 1);
        seen.note("done");
    });
}

/// Catches a copy that is counted twice because it matches on both sides in one bucket. After the
/// split it is in both buckets, and counts twice.
#[test]
fn copies_in_one_bucket() {
    check("split_one_bucket_copies", 54, &["before", "after"], |seen| {
        let (table, item) = in_one_bucket(0);
        put(&table, forgetful(item.sides[0], 0));
        assert_eq!(table.count::<S>(item), 1, "counted twice");
        let counter = spawn(&table, move |table| table.count::<S>(item));
        split(&table);
        let copies = counter.join().unwrap();
        assert!(copies == 1 || copies == 2, "{copies} copies");
        seen.note_if(copies == 1, "before", "after");
        assert_eq!(table.count::<S>(item), 2);
        assert!(table.contains(only(item.sides[1])));
    });
}

/// Catches a `count` that returns 2 for one slot: its item has one bucket, and the two words are
/// loaded before and after the split by which both sides go to the child.
#[test]
fn count_in_one_bucket_that_both_sides_leave() {
    check("split_one_bucket_count", 1_800, &["done"], |seen| {
        let limits = Limits { buckets: 4, load: 1024, copies: 1 };
        let table = growing(Payload::NONE, 1, limits);
        let filter = GrowingFilter::around(table, Layout::Growing2x30, None, None);
        let item = |hash| filter.table().addressing().item(filter.mixed_hash(hash));
        // Both sides stay at the first split, and go to the child at the second one. Splits of the
        // first bucket hold stripe 0, and that of the item is another one.
        let fits = |&hash: &u64| {
            let sides = item(hash).sides;
            sides[0].code.core & 1 == 1 && sides.iter().all(|it| it.code.extension & 3 == 2)
        };
        let key = (0..).find(fits).expect("one of many");
        put(filter.table(), forgetful(item(key).sides[0], 2));
        let filter = Arc::new(filter);
        let counter = spawn(&filter, move |filter| filter.count(&Hashed(key)));
        let splitter = spawn(&filter, |filter| {
            split(filter.table());
            split(filter.table());
        });
        assert_eq!(counter.join().unwrap(), 1, "one slot is counted twice");
        splitter.join().unwrap();
        assert_eq!(filter.count(&Hashed(key)), 1);
        seen.note("done");
    });
}
