//! `clear` beside every other operation on a table, and the orderings of its swaps.

use guira::{
    CuckooFilter, Hashed,
    raw::{FixedTable, FixedWords},
};
use guira_loom_tests::{
    SLOTS, check, copies, fingerprint, pair, publishes, put, relocate, spawn, table, with_copies,
};
use loom::sync::{
    Arc,
    atomic::{
        AtomicBool,
        Ordering::{Acquire, Release},
    },
};

/// Number of occupied slots in all buckets.
fn occupied(table: &FixedTable) -> u64 {
    let (words, _) = table.copy_words().expect("memory for a few words");
    words.iter().map(|&word| SLOTS.each(word).count() as u64).sum()
}

/// Catches a `clear` that swaps words before it bumps, or with too weak an ordering.
///
/// A copy stands in bucket 0. The reader reads bucket 1 first. The writer adds a copy there and
/// clears the table, bucket 0 first. If the reader sees bucket 0 cleared, but not the bump, it
/// misses; and its second lookup finds the copy that is still in bucket 1. No insert overlaps the
/// clear, so lookups of one pair must see it as one moment.
#[test]
fn is_one_moment_to_lookups() {
    let outcomes = ["hit, hit", "hit, miss", "miss, miss"];
    check("clear_one_moment", 9_600, &outcomes, |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, 1, 0);
        put(&table, item, 0);
        let writer = spawn(&table, move |table| {
            put(table, item, 1);
            assert_eq!(table.clear(), 2);
        });
        let reader =
            spawn(&table, move |table| [(); 2].map(|()| table.contains(pair(table, item, 1))));
        seen.note(match reader.join().unwrap() {
            [true, true] => "hit, hit",
            [true, false] => "hit, miss",
            [false, false] => "miss, miss",
            [false, true] => panic!("an item came back after a lookup had seen it cleared"),
        });
        writer.join().unwrap();
        assert_eq!(occupied(&table), 0);
    });
}

/// Catches a `clear` without locks: the rest of a move that began before the `clear` takes the copy
/// inserted after the `clear`.
///
/// The reader learns of the insert by a flag.
#[test]
fn then_an_insert_beside_a_move() {
    let outcomes = ["after the flag", "before the flag", "moved", "not moved"];
    check("clear_insert_move", 45_000, &outcomes, |seen| {
        let (table, item) = with_copies(&[1]);
        let flag = Arc::new(AtomicBool::new(false));
        let writer = {
            let flag = flag.clone();
            spawn(&table, move |table| {
                assert_eq!(table.clear(), 1, "a move was half done");
                put(table, item, 1);
                flag.store(true, Release);
            })
        };
        let mover = spawn(&table, move |table| relocate(table, item, 1, 0));
        let flagged = flag.load(Acquire);
        let found = table.contains(pair(&table, item, 0));
        assert!(found || !flagged, "an item inserted after a clear was missed");
        seen.note_if(flagged, "after the flag", "before the flag");
        writer.join().unwrap();
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1);
    });
}

/// Catches a removal that does not bump the version, after a `clear`.
///
/// The item is inserted after the clear. Then an alias is inserted into the other bucket, and a
/// removal takes the item's copy.
#[test]
fn then_an_insert_and_an_alias_removed() {
    check("clear_insert_alias", 17_300, &["after the flag", "before the flag"], |seen| {
        let (table, item) = with_copies(&[0, 1]);
        let flag = Arc::new(AtomicBool::new(false));
        let writer = {
            let flag = flag.clone();
            spawn(&table, move |table| {
                assert_eq!(table.clear(), 2);
                put(table, item, 1);
                flag.store(true, Release);
                put(table, item, 0);
                assert!(table.remove::<FixedWords>(pair(table, item, 1)));
            })
        };
        let flagged = flag.load(Acquire);
        let found = table.contains(pair(&table, item, 0));
        assert!(found || !flagged, "an item inserted after a clear was missed");
        seen.note_if(flagged, "after the flag", "before the flag");
        writer.join().unwrap();
        assert_eq!(copies(&table, item, 0), 1);
    });
}

/// Catches a `clear` that replaces words by loads and stores: it loses concurrent inserts.
#[test]
fn beside_an_insert() {
    check("clear_insert", 7, &["cleared", "left"], |seen| {
        let table = Arc::new(table(2));
        let [item, new] = [0, 1].map(|nth| fingerprint(&table, 0, 1, 0, nth));
        put(&table, item, 0);
        let inserter = spawn(&table, move |table| table.insert::<FixedWords>(pair(table, new, 0)));
        let cleared = table.clear();
        assert_eq!(inserter.join().unwrap(), Ok(()));
        let left = table.count::<FixedWords>(pair(&table, new, 0)) as u64;
        assert_eq!((cleared + left, occupied(&table)), (2, left), "lost, or counted twice");
        seen.note_if(left == 1, "left", "cleared");
    });
}

/// Catches a `clear` without locks beside a move: a copy survives, or the mover finds none.
#[test]
fn beside_a_move() {
    check("clear_move", 4, &["moved", "not moved"], |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, 1, 0);
        put(&table, item, 1);
        let mover = spawn(&table, move |table| relocate(table, item, 1, 0));
        assert_eq!(table.clear(), 1, "a move was half done");
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        assert_eq!(occupied(&table), 0, "the copy of a move survived");
    });
}

/// Catches a `clear` without locks beside a removal: both take the same copy.
#[test]
fn beside_a_removal() {
    check("clear_remove", 4, &["removed", "cleared"], |seen| {
        let (table, item) = with_copies(&[1]);
        let remover = spawn(&table, move |table| table.remove::<FixedWords>(pair(table, item, 0)));
        let cleared = table.clear();
        let removed = seen.note_if(remover.join().unwrap(), "removed", "cleared");
        assert_eq!(cleared + u64::from(removed), 1, "taken twice, or not at all");
        assert_eq!(occupied(&table), 0);
    });
}

/// Catches a `clear` without locks beside a relocating insert: a slot is lost or counted twice.
#[test]
fn beside_an_insert_that_relocates() {
    check("clear_relocation", 17, &["cleared", "left"], |seen| {
        let table = Arc::new(table(3));
        for (item, bucket) in [
            (fingerprint(&table, 0, 2, 0, 0), 0),
            (fingerprint(&table, 0, 1, 1, 0), 0),
            (fingerprint(&table, 0, 1, 1, 1), 1),
            (fingerprint(&table, 0, 1, 1, 2), 1),
        ] {
            put(&table, item, bucket);
        }
        let new = fingerprint(&table, 0, 1, 0, 0);
        let inserter = spawn(&table, move |table| table.insert::<FixedWords>(pair(table, new, 0)));
        let cleared = table.clear();
        assert_eq!(inserter.join().unwrap(), Ok(()));
        let left = table.count::<FixedWords>(pair(&table, new, 0)) as u64;
        assert_eq!((cleared + left, occupied(&table)), (5, left), "lost, or counted twice");
        seen.note_if(left == 1, "left", "cleared");
    });
}

/// Catches a `clear` without locks beside `insert_unique`: it takes an item twice.
#[test]
fn beside_insert_unique() {
    check("clear_unique", 4, &["added", "was present"], |seen| {
        let (table, item) = with_copies(&[0]);
        let inserter =
            spawn(&table, move |table| table.insert_unique::<FixedWords>(pair(table, item, 1)));
        assert_eq!(table.clear(), 1, "took an item that was added because it was absent");
        let added = inserter.join().unwrap().expect("room");
        assert_eq!(occupied(&table), u64::from(added));
        seen.note_if(added, "added", "was present");
    });
}

/// Catches locks taken in different orders, which deadlock, and slots that two clears both count.
#[test]
fn beside_another_clear() {
    check("clear_clear", 26, &["0", "1", "2"], |seen| {
        let table = Arc::new(table(2));
        let items = [0, 1].map(|stripe| fingerprint(&table, 0, 1, stripe, 0));
        put(&table, items[0], 0);
        let other = spawn(&table, FixedTable::clear);
        put(&table, items[1], 1);
        let cleared = table.clear();
        assert_eq!(cleared + other.join().unwrap(), 2, "lost, or counted twice");
        assert_eq!(occupied(&table), 0);
        seen.note(match cleared {
            0 => "0",
            1 => "1",
            _ => "2",
        });
    });
}

/// Catches a `clear` or a copy without locks: the copy holds a part of the items.
#[test]
fn beside_a_copy() {
    check("clear_copy", 5, &["0", "2"], |seen| {
        let table = Arc::new(table(2));
        let items = [0, 1].map(|stripe| fingerprint(&table, 0, 1, stripe, 0));
        put(&table, items[0], 0);
        put(&table, items[1], 1);
        let clearer = spawn(&table, move |table| assert_eq!(table.clear(), 2));
        let (copy, count) = table.try_clone().expect("memory for a few words");
        clearer.join().unwrap();
        assert_eq!(occupied(&copy), count);
        assert_ne!(count, 1, "a part of the items");
        seen.note_if(count == 0, "0", "2");
    });
}

/// Catches a swap without Acquire: a `clear` must happen after the inserts it takes.
#[test]
fn happens_after_the_inserts_it_clears() {
    let insert = |table: &FixedTable| {
        table.insert::<FixedWords>(pair(table, fingerprint(table, 0, 1, 0, 0), 0)).expect("room");
    };
    publishes("clear_acquires", 9, || Arc::new(table(2)), insert, |table| table.clear() == 1);
}

/// Catches a `clear` that does not subtract just the slots that it cleared from `len`.
#[test]
fn len_is_exact_once_joined() {
    check("clear_len", 33, &["0", "1"], |seen| {
        let filter = CuckooFilter::builder().capacity(4).seed(1).build().expect("memory");
        let filter = Arc::new(filter);
        filter.insert(&Hashed(1)).expect("room");
        let clearer = spawn(&filter, CuckooFilter::clear);
        let inserter = spawn(&filter, |filter| filter.insert(&Hashed(2)).expect("room"));
        clearer.join().unwrap();
        inserter.join().unwrap();
        let left = filter.count(&Hashed(2));
        assert_eq!((filter.len(), filter.count(&Hashed(1))), (left, 0));
        seen.note(["0", "1"][left]);
    });
}
