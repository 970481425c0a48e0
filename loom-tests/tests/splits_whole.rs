//! Tables that grow: copies of the whole table, and clears.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{GrowingTable, Payload, Place};
use guira_loom_tests::{
    Mark, check, publishes, spawn,
    splits::{
        S, assert_size, forgetful, item, items, leaving, loaded, put, relocate, reversed, split,
        staying, with_load,
    },
};
use loom::sync::Arc;

/// Returns a table that grows from `first` to `max` buckets, but not because of its load: at most
/// all slots are occupied. A snapshot states the load, so it must be one that tables can have.
fn table(first: u64, max: u64) -> Arc<GrowingTable> {
    with_load(first, max, 256)
}

/// A copy of a table.
type Copy = fn(&GrowingTable) -> GrowingTable;

/// A copy as by `Clone`. It has counted as many items as a copy of the copy, and a clear of that.
fn cloned(table: &GrowingTable) -> GrowingTable {
    let (copy, items) = table.try_clone().expect("memory for a few words");
    let (again, same) = copy.try_clone().expect("memory for a few words");
    assert_eq!((same, again.clear()), (items, items), "ghosts were lost");
    copy
}

/// A copy as by a snapshot that is loaded again.
fn restored(table: &GrowingTable) -> GrowingTable {
    let (grown, _, words) = table.copy_words().expect("memory for a few words");
    loaded(Payload::NONE, &grown, &words, None)
}

/// Copies a table beside an item that moves there and back.
fn beside_moves(name: &str, floor: usize, copy: Copy) {
    check(name, floor, &["before", "not before"], move |seen| {
        let table = table(2, 4);
        let moving = leaving(&table, 0, 0);
        put(&table, moving.sides[0]);
        let done = Mark::default();
        let copier = {
            let (seen, done) = (seen.clone(), done.clone());
            spawn(&table, move |table| {
                let copy = copy(table);
                seen.note_if(done.is_set(), "not before", "before");
                assert_eq!((copy.count::<S>(moving), items(&copy)), (1, 1), "lost or doubled");
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
    beside_moves("split_clone_moves", 32, cloned);
}

/// Catches a snapshot without locks: a move there and back overtakes it.
#[test]
fn copy_beside_moves() {
    beside_moves("split_copy_moves", 32, restored);
}

/// Copies a table beside a split, which moves the location of an item, and copies a slot without a
/// tail.
fn beside_a_split(name: &str, floor: usize, copy: Copy) {
    check(name, floor, &["before", "after"], move |seen| {
        let table = table(2, 4);
        let [goes, ghostly] = [leaving(&table, 1, 0), leaving(&table, 0, 0)];
        put(&table, goes.sides[0]);
        put(&table, forgetful(ghostly.sides[0], 0));
        let copier = {
            let seen = seen.clone();
            spawn(&table, move |table| {
                let copy = copy(table);
                assert_eq!([goes, ghostly].map(|item| copy.count::<S>(item)), [1; 2]);
                assert_eq!(items(&copy), 2, "ghosts were taken for items");
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
    beside_a_split("split_clone_split", 69, cloned);
}

/// Catches a snapshot beside half a split, or with a size that lags.
#[test]
fn copy_beside_a_split() {
    beside_a_split("split_copy_split", 90, restored);
}

/// Copies a table beside a split ahead of its turn, and an insert into the child.
fn beside_a_split_ahead(name: &str, floor: usize, copy: Copy) {
    check(name, floor, &["0", "1"], move |seen| {
        let table = table(2, 4);
        // To bucket 3, the child of bucket 1.
        let [old, new] = [1, 0].map(|stripe| item(&table, stripe, [1, 0], [1, 0], 0));
        put(&table, old.sides[0]);
        let copier = {
            let seen = seen.clone();
            spawn(&table, move |table| {
                let copy = copy(table);
                let counts = [old, new].map(|item| copy.count::<S>(item));
                assert_eq!(counts[0], 1, "lost or doubled");
                assert_eq!(items(&copy), (1 + counts[1]) as u64);
                assert_size(&copy, 0, 0);
                seen.note(["0", "1"][counts[1]]);
            })
        };
        assert_eq!(table.split_early(Place { bucket: 1, level: 0 }), Ok(true));
        put(&table, new.sides[0]);
        copier.join().unwrap();
    });
}

/// Catches a clone that leaves out the children of buckets ahead of their turn.
#[test]
fn clone_beside_a_split_ahead() {
    beside_a_split_ahead("split_clone_ahead", 5_200, cloned);
}

/// Catches a snapshot that leaves out the children of buckets ahead of their turn.
#[test]
fn copy_beside_a_split_ahead() {
    beside_a_split_ahead("split_copy_ahead", 7_600, restored);
}

/// Copies a table twice, beside each other and a removal.
fn beside_another(name: &str, floor: usize, copy: Copy) {
    check(name, floor, &["1", "2"], move |seen| {
        let table = table(2, 4);
        let both = leaving(&table, 1, 0);
        for side in both.sides {
            put(&table, side);
        }
        let copiers = [(); 2].map(|()| {
            let seen = seen.clone();
            spawn(&table, move |table| {
                let left = items(&copy(table));
                assert!((1..=2).contains(&left), "{left} items");
                seen.note_if(left == 1, "1", "2");
            })
        });
        assert!(table.remove::<S>(both));
        for copier in copiers {
            copier.join().unwrap();
        }
    });
}

/// Catches locks taken in different orders by two clones, which deadlock.
#[test]
fn clone_beside_another() {
    beside_another("split_clone_clone", 110, cloned);
}

/// Catches locks taken in different orders by two snapshots, which deadlock.
#[test]
fn copy_beside_another() {
    beside_another("split_copy_copy", 65, restored);
}

/// Looks up an item in a copy, beside its insert.
fn acquires(name: &str, floor: usize, copy: Copy) {
    let item = |table: &GrowingTable| leaving(table, 1, 0);
    let insert = move |table: &GrowingTable| put(table, item(table).sides[0]);
    let find = move |table: &GrowingTable| copy(table).contains(item(table));
    publishes(name, floor, || table(2, 4), insert, find);
}

/// Catches a clone by Relaxed loads: a hit must happen after the insert.
#[test]
fn clone_happens_after_the_inserts_it_copies() {
    acquires("split_clone_acquires", 140, cloned);
}

/// Catches a snapshot by Relaxed loads: a hit must happen after the insert.
#[test]
fn copy_happens_after_the_inserts_it_copies() {
    acquires("split_copy_acquires", 180, restored);
}

/// Catches a `clear` that clears words before it bumps, or with too weak an ordering.
///
/// A copy stands in bucket 0. The reader reads bucket 1 first. The writer adds a copy there and
/// clears the table, bucket 0 first. If the reader sees bucket 0 cleared, but not the bump, it
/// misses; and its second lookup finds the copy that is still in bucket 1.
#[test]
fn clear_is_one_moment_to_lookups() {
    let outcomes = ["hit, hit", "hit, miss", "miss, miss"];
    check("split_clear_one_moment", 4_000, &outcomes, |seen| {
        let table = table(2, 2);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[0]);
        let writer = spawn(&table, move |table| {
            put(table, item.sides[1]);
            assert_eq!(table.clear(), 2);
        });
        let reader = spawn(&table, move |table| [(); 2].map(|()| table.contains(reversed(item))));
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
    check("split_clear_split", 240, &["cleared", "left"], |seen| {
        let table = table(2, 4);
        let [ghostly, new] = [leaving(&table, 0, 0), leaving(&table, 1, 0)];
        put(&table, forgetful(ghostly.sides[0], 0));
        let clearer = spawn(&table, GrowingTable::clear);
        split(&table);
        put(&table, new.sides[0]);
        let cleared = clearer.join().unwrap();
        let other = staying(&table, 0, 0);
        assert_eq!([ghostly, other].map(|item| table.count::<S>(item)), [0; 2], "not cleared");
        let left = table.count::<S>(new) as u64;
        assert_eq!((cleared + left, items(&table)), (2, left), "lost, or counted twice");
        seen.note_if(left == 1, "left", "cleared");
        let copy = restored(&table);
        assert_eq!((copy.count::<S>(new) as u64, items(&copy)), (left, left));
        // Bucket 1, if the lock of bucket 0 was taken.
        assert_eq!(table.in_use(), 3, "a level has fallen");
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
        assert_eq!(table.clear(), 1, "a move was half done");
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        assert_eq!(items(&table), 0, "the copy of a move survived");
    });
}

/// Catches a `clear` that releases the locks before it has counted, and a clone that reads the
/// number of ghosts after it has released them.
#[test]
fn clear_beside_a_clone() {
    check("split_clear_clone", 130, &["after", "before"], |seen| {
        let table = table(2, 4);
        let [ghostly, new] = [leaving(&table, 0, 0), leaving(&table, 1, 0)];
        put(&table, forgetful(ghostly.sides[0], 0));
        split(&table);
        let clearer = spawn(&table, GrowingTable::clear);
        put(&table, new.sides[0]);
        let copy = cloned(&table);
        let counts = [ghostly, new].map(|item| copy.count::<S>(item) as u64);
        assert_eq!(items(&copy), counts[0] + counts[1], "the ghosts are not those of the words");
        seen.note_if(counts[0] == 0, "after", "before");
        let cleared = clearer.join().unwrap();
        assert_eq!(cleared + items(&table), 2);
    });
}

/// Catches a snapshot that reads the number of ghosts after it has released the locks.
#[test]
fn clear_beside_a_copy() {
    check("split_clear_copy", 5, &["after", "before"], |seen| {
        let table = table(2, 4);
        let ghostly = leaving(&table, 0, 0);
        put(&table, forgetful(ghostly.sides[0], 0));
        split(&table);
        let clearer = spawn(&table, GrowingTable::clear);
        let copy = restored(&table);
        let count = copy.count::<S>(ghostly) as u64;
        assert_eq!(items(&copy), count, "the ghosts are not those of the words");
        seen.note_if(count == 0, "after", "before");
        assert_eq!((clearer.join().unwrap(), items(&table)), (1, 0));
    });
}

/// Catches locks taken in different orders, which deadlock, and slots that two clears both count.
#[test]
fn clear_beside_another() {
    check("split_clear_clear", 110, &["0", "1", "2"], |seen| {
        let table = table(2, 4);
        let [old, new] = [0, 1].map(|stripe| leaving(&table, stripe, 0));
        put(&table, old.sides[0]);
        let other = spawn(&table, GrowingTable::clear);
        put(&table, new.sides[1]);
        let cleared = table.clear();
        assert_eq!(cleared + other.join().unwrap(), 2, "lost, or counted twice");
        assert_eq!(items(&table), 0);
        seen.note(match cleared {
            0 => "0",
            1 => "1",
            _ => "2",
        });
    });
}

/// Catches a `clear` by Relaxed: it must happen after the inserts that it counts.
#[test]
fn clear_happens_after_the_inserts_it_clears() {
    let insert = |table: &GrowingTable| put(table, leaving(table, 1, 0).sides[0]);
    let clear = |table: &GrowingTable| table.clear() == 1;
    publishes("split_clear_acquires", 290, || table(2, 4), insert, clear);
}

/// Catches a `clear` that is not counted: the table would grow for nothing.
#[test]
fn load_after_a_clear() {
    check("split_load_clear", 1_000, &["done"], |seen| {
        let table = with_load(1, 4, 128);
        let [first, second] = [0, 1].map(|nth| item(&table, nth, [0; 2], [0, 1], 0));
        put(&table, first.sides[0]);
        let reader = spawn(&table, move |table| table.contains(first));
        assert_eq!(table.clear(), 1);
        put(&table, second.sides[0]);
        reader.join().unwrap();
        assert_eq!(table.buckets(), 1, "grown for nothing");
        seen.note("done");
    });
}
