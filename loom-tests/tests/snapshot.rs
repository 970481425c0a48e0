//! A copy of all words beside writers: it contains every item that is in the table throughout.

use guira::raw::{Fingerprint, FixedTable, FixedWords};
use guira_loom_tests::{
    Mark, SLOTS, check, fingerprint, pair, put, put_each, relocate, spawn, table, with_copies,
};
use loom::sync::Arc;

/// Number of copies of a fingerprint in these words.
fn count_in(words: &[u64], item: Fingerprint) -> u32 {
    let sought = SLOTS.sought(item.get());
    words.iter().map(|&word| SLOTS.count_in::<false>([word, 0], sought)).sum()
}

/// Number of copies of a fingerprint in a copy of all words.
fn copies_saved(table: &FixedTable, item: Fingerprint) -> u32 {
    let (words, _) = table.copy_words().expect("memory for a few words");
    count_in(&words, item)
}

/// Catches a copy of the words without locks: an item that moves is missing, or there twice.
#[test]
fn beside_a_move_and_back() {
    check("snapshot_move_and_back", 31, &["before", "not before"], |seen| {
        let (table, item) = with_copies(&[1]);
        let done = Mark::default();
        let saver = {
            let (seen, done) = (seen.clone(), done.clone());
            spawn(&table, move |table| {
                // Not missing, and not there twice as in the middle of a move.
                assert_eq!(copies_saved(table, item), 1);
                seen.note_if(done.is_set(), "not before", "before");
            })
        };
        let mover = spawn(&table, move |table| {
            assert!(relocate(table, item, 1, 0));
            done.set();
            assert!(relocate(table, item, 0, 1));
        });
        saver.join().unwrap();
        mover.join().unwrap();
    });
}

/// Catches a copy of the words that misses an item whose copy is replaced by an alias's.
#[test]
fn beside_an_alias_inserted_and_one_removed() {
    check("snapshot_alias", 83, &["one", "two"], |seen| {
        let (table, item) = with_copies(&[1]);
        let saver = {
            let seen = seen.clone();
            spawn(&table, move |table| {
                let copies = copies_saved(table, item);
                assert!((1..=2).contains(&copies), "{copies} copies");
                seen.note_if(copies == 1, "one", "two");
            })
        };
        let writer = spawn(&table, move |table| {
            put(table, item, 0);
            assert!(table.remove::<FixedWords>(pair(table, item, 1)));
        });
        saver.join().unwrap();
        writer.join().unwrap();
    });
}

/// Catches a copy of the words that misses an item which an eviction path moves.
#[test]
fn beside_an_insert_that_relocates() {
    check("snapshot_path", 517, &["saved", "not saved"], |seen| {
        let table = Arc::new(table(3));
        let item = fingerprint(&table, 0, 1, 0, 0);
        let staying = fingerprint(&table, 1, 2, 1, 0);
        let incoming = fingerprint(&table, 0, 1, 1, 1);
        put_each(&table, item, &[0, 0]);
        put_each(&table, staying, &[1, 1]);
        let saver = {
            let seen = seen.clone();
            spawn(&table, move |table| {
                let (words, _) = table.copy_words().expect("memory for a few words");
                let count = |item| count_in(&words, item);
                assert_eq!(
                    (count(item), count(staying)),
                    (2, 2),
                    "an item that is there throughout was lost or doubled"
                );
                seen.note_if(count(incoming) == 1, "saved", "not saved");
            })
        };
        let writer = spawn(&table, move |table| {
            table.insert::<FixedWords>(pair(table, incoming, 0)).unwrap();
        });
        saver.join().unwrap();
        writer.join().unwrap();
    });
}

/// Catches a deadlock of two copies of the words beside a move.
#[test]
fn beside_another_copy() {
    check("snapshot_snapshot", 73, &["done"], |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, 1, 0);
        put(&table, item, 1);
        let savers =
            [(); 2].map(|()| spawn(&table, move |table| assert_eq!(copies_saved(table, item), 1)));
        assert!(relocate(&table, item, 1, 0));
        for saver in savers {
            saver.join().unwrap();
        }
        seen.note("done");
    });
}
