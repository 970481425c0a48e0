//! A copy of all words beside writers: an item that is in the table all the time is in the copy.

use guira::raw::{Table, Fingerprint, BucketLayout};
use guira_loom_tests::{L, Mark, check, fingerprint, pair, put, put_each, relocate, spawn, table};
use loom::sync::Arc;

/// How many copies of a fingerprint are in a copy of all words.
fn copies_saved(core: &Table, item: Fingerprint) -> usize {
    let words = core.copy_words().expect("memory for a few words");
    words.iter().map(|&word| L::count(word, L::pattern(item)) as usize).sum()
}

#[test]
fn beside_a_move_and_back() {
    check("snapshot_move_and_back", 31, &["before", "not before"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let done = Mark::default();
        let saver = {
            let (seen, done) = (seen.clone(), done.clone());
            spawn(&core, move |core| {
                // Neither missing nor, with half of a move, there twice.
                assert_eq!(copies_saved(core, item), 1);
                seen.note_if(done.is_set(), "not before", "before");
            })
        };
        let mover = spawn(&core, move |core| {
            assert!(relocate(core, item, 1, 0));
            done.set();
            assert!(relocate(core, item, 0, 1));
        });
        saver.join().unwrap();
        mover.join().unwrap();
    });
}

/// An alias comes into one bucket, and the copy in the other is taken out for it.
#[test]
fn beside_an_alias_inserted_and_a_copy_removed() {
    check("snapshot_alias", 83, &["one", "two"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let saver = {
            let seen = seen.clone();
            spawn(&core, move |core| {
                let copies = copies_saved(core, item);
                assert!((1..=2).contains(&copies), "{copies} copies");
                seen.note_if(copies == 1, "one", "two");
            })
        };
        let writer = spawn(&core, move |core| {
            put(core, item, 0);
            assert!(core.remove::<L>(pair(core, item, 1)));
        });
        saver.join().unwrap();
        writer.join().unwrap();
    });
}

/// A full pair of buckets, one of whose items must move for another.
#[test]
fn beside_an_insert_that_relocates() {
    check("snapshot_path", 517, &["saved", "not saved"], |seen| {
        let core = Arc::new(table(3));
        let item = fingerprint(&core, 0, 1, 0, 0);
        let settled = fingerprint(&core, 1, 2, 1, 0);
        let newcomer = fingerprint(&core, 0, 1, 1, 1);
        put_each(&core, item, &[0, 0]);
        put_each(&core, settled, &[1, 1]);
        let saver = {
            let seen = seen.clone();
            spawn(&core, move |core| {
                let words = core.copy_words().expect("memory for a few words");
                let count = |item| -> u32 {
                    words.iter().map(|&word| L::count(word, L::pattern(item))).sum()
                };
                assert_eq!((count(item), count(settled)), (2, 2), "of those that stay");
                seen.note_if(count(newcomer) == 1, "saved", "not saved");
            })
        };
        let writer = spawn(&core, move |core| {
            core.insert::<L>(pair(core, newcomer, 0)).unwrap();
        });
        saver.join().unwrap();
        writer.join().unwrap();
    });
}

/// Two that copy at once, and take all locks, beside one that takes one.
#[test]
fn beside_another_copy() {
    check("snapshot_snapshot", 73, &["done"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 1, 0);
        put(&core, item, 1);
        let savers =
            [(); 2].map(|()| spawn(&core, move |core| assert_eq!(copies_saved(core, item), 1)));
        assert!(relocate(&core, item, 1, 0));
        for saver in savers {
            saver.join().unwrap();
        }
        seen.note("done");
    });
}
