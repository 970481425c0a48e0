//! Whatever counts copies, beside the half of a move when one too many stands there.

use guira::{CuckooFilter, InsertError, raw::ShardedCounter};
use guira_loom_tests::{L, Mark, check, fingerprint, pair, put_each, relocate, spawn, table};
use loom::sync::Arc;

/// Counts the copies of an item, which stand in these buckets, while one of them moves from 1 to 0.
fn count_beside_a_move(name: &str, buckets: &'static [u32]) {
    check(name, 23, &["before", "not before"], move |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put_each(&core, item, buckets);
        let done = Mark::default();
        let counter = {
            let (seen, done) = (seen.clone(), done.clone());
            spawn(&core, move |core| {
                assert_eq!(core.count::<L>(pair(core, item, 0)), buckets.len());
                seen.note_if(done.is_set(), "not before", "before");
            })
        };
        let mover = spawn(&core, move |core| {
            assert!(relocate(core, item, 1, 0));
            done.set();
        });
        counter.join().unwrap();
        mover.join().unwrap();
    });
}

#[test]
fn of_one_copy_beside_a_move() {
    count_beside_a_move("count_move", &[1]);
}

#[test]
fn of_two_copies_beside_a_move() {
    count_beside_a_move("count_two_move", &[1, 0]);
}

/// Three copies in four lanes; half of a move makes it look like four.
#[test]
fn too_many_copies_beside_a_move() {
    check("too_many_copies_move", 43, &["moved", "no room"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put_each(&core, item, &[0, 0, 1]);
        let inserter = spawn(&core, move |core| core.insert::<L>(pair(core, item, 0)));
        let mover = spawn(&core, move |core| relocate(core, item, 0, 1));
        assert_eq!(inserter.join().unwrap(), Ok(()), "there was a lane all the time");
        seen.note_if(mover.join().unwrap(), "moved", "no room");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 4);
        assert_eq!(core.insert::<L>(pair(&core, item, 0)), Err(InsertError::TooManyCopies));
    });
}

/// The verdict beside a removal: right before it, wrong after.
#[test]
fn too_many_copies_beside_a_removal() {
    check("too_many_copies_remove", 60, &["inserted", "too many"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put_each(&core, item, &[0, 0, 1, 1]);
        let inserter = spawn(&core, move |core| core.insert::<L>(pair(core, item, 0)));
        let remover = spawn(&core, move |core| assert!(core.remove::<L>(pair(core, item, 0))));
        let outcome = inserter.join().unwrap();
        remover.join().unwrap();
        let is_in = seen.note_if(outcome.is_ok(), "inserted", "too many");
        assert!(is_in || outcome == Err(InsertError::TooManyCopies), "{outcome:?}");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 3 + usize::from(is_in));
    });
}

/// The counter behind `len`: any of the values that it passes through, and exact at the end.
fn counter_beside_writers(name: &str, floor: usize, shards: usize) {
    check(name, floor, &["-1", "0", "1"], move |seen| {
        let counter = Arc::new(ShardedCounter::new(shards));
        let writers = [1, -1].map(|change| {
            let counter = counter.clone();
            loom::thread::spawn(move || counter.add(change))
        });
        seen.note(match counter.sum() {
            -1 => "-1",
            0 => "0",
            1 => "1",
            sum => panic!("{sum} is none of the values passed through"),
        });
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(counter.sum(), 0);
    });
}

#[test]
fn counter_in_shards_of_their_own() {
    counter_beside_writers("len_counter_two_shards", 72, 2);
}

#[test]
fn counter_in_one_shard() {
    counter_beside_writers("len_counter_one_shard", 52, 1);
}

/// `len` of a whole filter: within bounds beside writers, and exact once they are joined.
#[test]
fn len_beside_writers() {
    check("len", 59, &["added", "was present", "one left", "none left"], |seen| {
        let filter = CuckooFilter::builder().capacity(4).seed(1).build().expect("memory");
        let filter = Arc::new(filter);
        let run = |work: fn(&CuckooFilter) -> bool| {
            let filter = filter.clone();
            loom::thread::spawn(move || work(&filter))
        };
        filter.by_hash().insert(1).expect("room");
        let unique = run(|filter| filter.by_hash().insert_unique(1).expect("room"));
        let remover = run(|filter| filter.by_hash().remove(1));
        assert!(filter.len() <= filter.slots());
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert!(remover.join().unwrap(), "one copy was there all the time");
        assert_eq!(filter.len(), usize::from(added));
        assert_eq!(filter.by_hash().count(1), usize::from(added));
        // And whether a removal that finds nothing is counted.
        seen.note_if(filter.by_hash().remove(1), "one left", "none left");
        assert_eq!((filter.len(), filter.by_hash().remove(1)), (0, false));
        filter.by_hash().insert(1).expect("room");
        assert_eq!(filter.len(), 1);
    });
}
