//! Tables that grow: merges into a table that other threads use, and merges that are refused and
//! undone.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{GrowingTable, Item, MergeRefusal, Merged, Place, Side};
use guira_loom_tests::{
    EVERY_WAY, Written, check, check_shallow, look_up_beside, publishes, read_beside, spawn,
    splits::{
        KNOWN, S, differing, forgetful, item, items, leaving, put, relocate, relocate_at, reversed,
        split, staying, table, thread_with, with_load,
    },
};
use loom::sync::Arc;

/// Returns a table to merge, with these slots. They come in the order of their buckets. It is made
/// before the threads are spawned, whose steps are what a model explores.
fn source(target: &GrowingTable, slots: &[Side]) -> Arc<GrowingTable> {
    let source = table(target.addressing().first(), 4);
    for &side in slots {
        put(&source, side);
    }
    source
}

/// Merges a table of so many items, while no clear overlaps this.
fn merge(
    target: &GrowingTable,
    source: &GrowingTable,
    limit: Option<usize>,
    items: i64,
) -> Result<(), MergeRefusal> {
    let Merged { change, outcome } = target.merge(source, limit);
    assert_eq!(change, if outcome.is_ok() { items } else { 0 }, "the number of items is wrong");
    outcome
}

/// Returns a table that may not grow, with one empty slot, in bucket 1, and with an item in bucket
/// 0; the item; and another one, of which nothing is in the table.
fn nearly_full() -> (Arc<GrowingTable>, Item, Item) {
    let table = table(2, 2);
    let [item, other] = [0, 1].map(|nth| leaving(&table, 0, nth));
    put(&table, item.sides[0]);
    put(&table, staying(&table, 0, 0).sides[0]);
    put(&table, staying(&table, 1, 0).sides[0]);
    (table, item, other)
}

/// The refusal of a merge of two items for which there is one slot.
const ONE_FITTED: Result<(), MergeRefusal> = Err(MergeRefusal::Full { fitted: 1, items: 2 });

/// Catches a lookup that misses an item while a refused merge adds an alias and removes the item's
/// own copy. (The other item has bucket 1 only: loom forgets the old values of a word that is
/// loaded often.)
#[test]
fn lookup_beside_a_refused_merge() {
    check("split_merge_refused_lookup", 6_100, EVERY_WAY, |seen| {
        let table = table(2, 2);
        let item = leaving(&table, 0, 0);
        for side in [staying(&table, 0, 0).sides[0], item.sides[1], staying(&table, 1, 0).sides[0]]
        {
            put(&table, side);
        }
        // It reads bucket 0 first. There the merge adds its copy, which knows less, and from
        // bucket 1 it removes one.
        let known = forgetful(item.sides[0], 1);
        let source = source(&table, &[known, staying(&table, 1, 1).sides[0]]);
        look_up_beside(&table, seen, item, move |table| {
            assert_eq!(merge(table, &source, None, 2), ONE_FITTED);
        });
        assert_eq!((table.count::<S>(item), items(&table)), (1, 3), "not undone");
    });
}

/// Catches a refused merge that removes the same copy as another thread.
#[test]
fn removal_beside_a_refused_merge() {
    check("split_merge_refused_removal", 220, &["both fit", "refused"], |seen| {
        let (table, item, other) = nearly_full();
        let source = source(&table, &[item.sides[1], other.sides[1]]);
        let remover = spawn(&table, move |table| table.remove::<S>(reversed(item)));
        let merger = spawn(&table, move |table| merge(table, &source, None, 2));
        assert!(remover.join().unwrap(), "found nothing to remove");
        let outcome = merger.join().unwrap();
        let fits = seen.note_if(outcome.is_ok(), "both fit", "refused");
        assert!(fits || outcome == ONE_FITTED, "{outcome:?}");
        let left = [item, other].map(|item| table.count::<S>(item));
        assert_eq!(left, [usize::from(fits); 2], "lost, or not undone");
    });
}

/// Catches a refused merge that removes a copy which another thread moves.
#[test]
fn move_beside_a_refused_merge() {
    check("split_merge_refused_move", 120, &["moved", "not moved"], |seen| {
        let (table, item, other) = nearly_full();
        let source = source(&table, &[item.sides[1], other.sides[1]]);
        let mover = spawn(&table, move |table| relocate_at(table, item.sides[0], 0, None));
        let merger = spawn(&table, move |table| merge(table, &source, None, 2));
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        let outcome = merger.join().unwrap();
        assert!(matches!(outcome, Err(MergeRefusal::Full { fitted: 0 | 1, items: 2 })));
        assert_eq!((table.count::<S>(item), items(&table)), (1, 3), "lost, or not undone");
    });
}

/// Catches a refused merge that removes the copy of which a move clears the original.
#[test]
fn a_whole_move_beside_a_refused_merge() {
    check("split_merge_refused_clears", 62, &["moved", "not moved"], |seen| {
        let table = table(4, 4);
        let [item, other] = [[1, 0], [3, 2]].map(|starts| item(&table, 0, starts, [0; 2], 0));
        put(&table, item.sides[1]);
        // Refused, because there are two copies.
        [other.sides[1]; 2].iter().for_each(|&side| put(&table, side));
        // The merge adds its copy where the move goes to. It knows less, so the original goes.
        let source = source(&table, &[forgetful(item.sides[0], 1), other.sides[0]]);
        let mover = spawn(&table, move |table| relocate_at(table, item.sides[1], 0, None));
        let merger = spawn(&table, move |table| merge(table, &source, Some(2), 2));
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        assert_eq!(merger.join().unwrap(), Err(MergeRefusal::TooManyCopies));
        assert_eq!((table.count::<S>(item), items(&table)), (1, 3), "lost, or not undone");
    });
}

/// Catches a refused merge that leaves ghosts counted which it has removed.
#[test]
fn ghosts_of_a_refused_merge() {
    check("split_merge_refused_ghosts", 10_700, EVERY_WAY, |seen| {
        let (table, source) = (table(4, 8), table(4, 8));
        let [first, second] = [0, 1].map(|nth| item(&table, 0, [0, 1], [0; 2], nth));
        // Two items of which nothing is known: their split makes two ghosts, which come last.
        [first, second].iter().for_each(|item| put(&source, forgetful(item.sides[0], 0)));
        split(&source);
        // The second ghost is refused, because there is a copy.
        let copy = differing(&table, second, 0);
        put(&table, copy.sides[1]);
        look_up_beside(&table, seen, copy, move |table| {
            assert_eq!(merge(table, &source, Some(1), 2), Err(MergeRefusal::TooManyCopies));
        });
        assert_eq!((table.count::<S>(copy), items(&table)), (1, 1), "lost, or not undone");
    });
}

/// Undoes a merge beside a split and a lookup. The table has a slot of an item; the merged slot
/// agrees with it, as far as both know, and is of an item that goes another way.
fn refused_beside_a_split(name: &str, floor: usize, known: [u32; 2]) {
    let why =
        "the split and its lookup run between two steps of the merge, or the merge of the split";
    check_shallow(name, floor, &["done"], why, move |seen| {
        let table = table(2, 4);
        let merged = leaving(&table, 0, 0);
        let old = differing(&table, merged, 0);
        put(&table, forgetful(old.sides[0], known[0]));
        // Refused, because there are two copies.
        let other = leaving(&table, 1, 0).sides[1];
        [other; 2].iter().for_each(|&side| put(&table, side));
        let source = source(&table, &[forgetful(merged.sides[0], known[1]), other]);
        let merger = spawn(&table, move |table| merge(table, &source, Some(2), 2));
        let splitter = spawn(&table, move |table| {
            assert_eq!(table.split_early(Place { bucket: 0, level: 0 }), Ok(true));
            assert!(table.contains(old), "an item that is there throughout was missed");
        });
        assert_eq!(merger.join().unwrap(), Err(MergeRefusal::TooManyCopies));
        splitter.join().unwrap();
        assert_eq!(table.count::<S>(old), 1, "lost or doubled");
        assert_eq!(items(&table), 3, "lost, or not undone");
        // What is left knows nothing of the way, and so stands for both.
        assert!(table.count::<S>(merged) <= 1, "not undone");
        seen.note("done");
    });
}

/// Catches a refused merge that takes a copy which a split has made of its slot, and that another
/// item needs.
#[test]
fn refused_merge_of_a_slot_without_a_tail_beside_a_split() {
    refused_beside_a_split("split_merge_refused_halves", 16_500, [KNOWN, 0]);
}

/// Catches a refused merge that takes a slot which knows less than what it has added.
#[test]
fn refused_merge_beside_a_split_and_a_slot_without_a_tail() {
    refused_beside_a_split("split_merge_refused_split", 8_400, [0, KNOWN]);
}

/// Catches a refused merge that removes what was inserted after a `clear` took what it had added.
#[test]
fn refused_merge_beside_a_clear_and_an_insert() {
    check("split_merge_refused_clear", 1_900, &["1", "2"], |seen| {
        let table = table(2, 2);
        let [item, other] = [0, 1].map(|stripe| leaving(&table, stripe, 0));
        let source = source(&table, &[item.sides[0], other.sides[1], other.sides[1]]);
        let clearer = spawn(&table, move |table| {
            let cleared = table.clear();
            put(table, item.sides[1]);
            cleared
        });
        // Refused, unless the clear comes between the two copies. Both are threads of their own, so
        // that switching to the first of them is no preemption.
        let merger = spawn(&table, move |table| table.merge(&source, Some(1)));
        let cleared = clearer.join().unwrap().cast_signed();
        let Merged { change, outcome } = merger.join().unwrap();
        let left = table.count::<S>(item);
        assert!(left >= 1, "removed instead of its alias: {outcome:?}");
        assert_eq!(
            1 + change - cleared,
            items(&table).cast_signed(),
            "the number of items is wrong"
        );
        seen.note(if left == 1 { "1" } else { "2" });
    });
}

/// Catches a merge that loses a slot, overwrites a split, or takes a slot that knows neither of its
/// locations for merged.
#[test]
fn beside_a_split() {
    check("split_merge_split", 15_600, &["merged", "refused"], |seen| {
        let table = table(2, 4);
        let goes = leaving(&table, 0, 0);
        let both = [goes, differing(&table, goes, 0)];
        // Full, so that the slot needs its own bucket.
        for nth in 0..2 {
            put(&table, staying(&table, 1, nth).sides[0]);
        }
        let source = source(&table, &[forgetful(goes.sides[0], 0)]);
        let merger = spawn(&table, move |table| {
            let Merged { change, outcome } = table.merge(&source, None);
            assert!(matches!(outcome, Ok(()) | Err(MergeRefusal::Unknown)), "{outcome:?}");
            let found = both.map(|item| table.contains(item));
            assert_eq!((found, change), ([outcome.is_ok(); 2], outcome.is_ok().into()), "lost");
            change
        });
        let splitter = spawn(&table, split);
        let merged = merger.join().unwrap();
        splitter.join().unwrap();
        seen.note_if(merged == 1, "merged", "refused");
        assert_eq!(both.map(|item| table.count::<S>(item)), [merged as usize; 2]);
        assert_eq!(items(&table), 2 + merged as u64, "ghosts were taken for items");
    });
}

/// Catches a ghost that a copy of the table finds stored and not counted.
#[test]
fn of_a_ghost_beside_a_copy() {
    check("split_merge_ghost", 280, &["0", "1"], |seen| {
        let (table, source) = (table(2, 4), table(2, 4));
        let goes = leaving(&source, 0, 0);
        put(&source, forgetful(goes.sides[0], 0));
        split(&source);
        let copier = spawn(&table, items);
        let merger =
            thread_with(&table, &source, |table, source| table.merge(source, None).outcome);
        let copied = copier.join().unwrap();
        assert!(copied <= 1, "a ghost was taken for an item");
        seen.note_if(copied == 0, "0", "1");
        assert_eq!(merger.join().unwrap(), Ok(()));
        assert_eq!(items(&table), 1, "a ghost was taken for an item");
        let all = [goes, differing(&table, goes, 0)];
        assert_eq!(all.map(|item| table.count::<S>(item)), [1; 2], "lost or doubled");
    });
}

/// Catches merges that hold locks of the other table: they deadlock.
#[test]
fn opposite() {
    check("split_merge_opposite", 250, &["1, 1", "1, 2", "2, 1"], |seen| {
        let tables = [(); 2].map(|()| table(2, 4));
        let items = [0, 1].map(|stripe| leaving(&tables[0], stripe, 0));
        put(&tables[0], items[0].sides[0]);
        put(&tables[1], items[1].sides[1]);
        let merge = |table: &GrowingTable, other: &GrowingTable| table.merge(other, None).outcome;
        let merger = thread_with(&tables[0], &tables[1], merge);
        assert_eq!(merge(&tables[1], &tables[0]), Ok(()));
        assert_eq!(merger.join().unwrap(), Ok(()));
        // The one that copies last also copies what the other one has added.
        let own = [0, 1].map(|number| tables[number].count::<S>(items[number]));
        seen.note(match own {
            [1, 1] => "1, 1",
            [1, 2] => "1, 2",
            [2, 1] => "2, 1",
            _ => panic!("{own:?} copies"),
        });
        let others = [0, 1].map(|number| tables[number].count::<S>(items[1 - number]));
        assert_eq!(others, [1; 2]);
    });
}

/// Catches a hit on a merged item that does not happen after the insert into the other table.
#[test]
fn a_hit_happens_after_the_insert_into_the_source() {
    check("split_merge_publishes", 780, &["hit", "miss"], |seen| {
        let tables = [(); 2].map(|()| table(2, 2));
        let item = leaving(&tables[0], 0, 0);
        let written = Written::new();
        let inserter = {
            let written = written.clone();
            spawn(&tables[0], move |source| {
                written.write();
                put(source, item.sides[0]);
            })
        };
        let merger = thread_with(&tables[0], &tables[1], |source, target| {
            target.merge(source, None).outcome
        });
        if seen.note_if(tables[1].contains(item), "hit", "miss") {
            written.assert();
        }
        inserter.join().unwrap();
        assert_eq!(merger.join().unwrap(), Ok(()));
    });
}

/// Catches a merge that is refused for a copy, and does not happen after its insert.
#[test]
fn a_refusal_happens_after_the_insert_of_a_copy() {
    let item = |table: &GrowingTable| leaving(table, 0, 0);
    let insert = move |table: &GrowingTable| put(table, item(table).sides[0]);
    let is_refused = move |table: &GrowingTable| {
        let outcome = merge(table, &source(table, &[item(table).sides[1]]), Some(1), 1);
        assert!(outcome.is_ok() || outcome == Err(MergeRefusal::TooManyCopies), "{outcome:?}");
        outcome.is_err()
    };
    publishes("split_merge_acquires", 20, || table(2, 2), insert, is_refused);
}

/// Catches a merge that ignores the limit, or counts an item twice that is being moved.
#[test]
fn limit_beside_a_move() {
    check("split_merge_limit_move", 22, &["done"], |seen| {
        let table = table(2, 2);
        let item = leaving(&table, 0, 0);
        put(&table, item.sides[1]);
        let source = source(&table, &[item.sides[0]]);
        let mover = spawn(&table, move |table| assert!(relocate(table, item.sides[1])));
        assert_eq!(merge(&table, &source, Some(2), 1), Ok(()), "there was one copy throughout");
        mover.join().unwrap();
        assert_eq!(merge(&table, &source, Some(2), 1), Err(MergeRefusal::TooManyCopies));
        assert_eq!(table.count::<S>(item), 2);
        seen.note("done");
    });
}

/// Catches a merge that is refused for too many copies because a half-done move counts twice.
#[test]
fn copies_beside_a_move() {
    check("split_merge_copies_move", 14, &["moved", "not moved"], |seen| {
        let table = table(2, 4);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[1]);
        put(&table, item.sides[1]);
        put(&table, staying(&table, 0, 0).sides[0]);
        let source = source(&table, &[item.sides[0]]);
        let mover = spawn(&table, move |table| relocate(table, item.sides[1]));
        assert_eq!(merge(&table, &source, None, 1), Ok(()), "there were two copies throughout");
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        assert_eq!(table.count::<S>(item), 3);
    });
}

/// Merges these items, of which the table has none, beside a lookup, and inserts the first one if
/// that is refused. The table grows if it has more than one item.
fn load(name: &str, floor: usize, limit: Option<usize>, [first, second]: [u64; 2], buckets: u64) {
    check(name, floor, EVERY_WAY, move |seen| {
        let table = with_load(1, 4, 128);
        let items = [first, second].map(|stripe| item(&table, stripe, [0; 2], [0, 1], 0));
        let source = source(&table, &items.map(|item| item.sides[0]));
        let look_up = move |table: &GrowingTable| {
            let _ = table.contains(items[0]);
        };
        read_beside(&table, seen, look_up, |table| {
            let outcome = merge(table, &source, limit, 2);
            if outcome.is_err() {
                assert_eq!(outcome, Err(MergeRefusal::TooManyCopies));
                put(table, items[0].sides[0]);
            }
        });
        assert_eq!(table.buckets(), buckets);
    });
}

/// Catches a merge that is not counted: the table would not grow.
#[test]
fn load_of_a_merge() {
    load("split_load_merge", 730, None, [0, 1], 2);
}

/// Catches an undone merge that is still counted: the table would grow for nothing.
#[test]
fn load_after_a_refused_merge() {
    load("split_load_refused", 8_000, Some(1), [0, 0], 1);
}
