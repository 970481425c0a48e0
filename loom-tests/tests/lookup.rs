//! Look-ups beside whatever can happen to the item, and to its neighbours: in every model a reader
//! looks up an item that is in the table all the time.

use guira_loom_tests::{
    EVERY_WAY, L, Mark, check, copies, fingerprint, pair, put, relocate, spawn, spawn_reader, table,
};
use loom::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

#[test]
fn beside_a_move() {
    check("lookup_move", 833, EVERY_WAY, |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let done = Mark::default();
        let reader = spawn_reader(&core, seen, &done, pair(&core, item, 0));
        let mover = spawn(&core, move |core| {
            assert!(relocate(core, item, 1, 0));
            done.set();
        });
        reader.join().unwrap();
        mover.join().unwrap();
        assert_eq!((copies(&core, item, 0), copies(&core, item, 1)), (1, 0));
    });
}

#[test]
fn beside_a_move_and_back() {
    check("lookup_move_and_back", 22_000, EVERY_WAY, |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let done = Mark::default();
        let reader = spawn_reader(&core, seen, &done, pair(&core, item, 0));
        let mover = spawn(&core, move |core| {
            assert!(relocate(core, item, 1, 0));
            assert!(relocate(core, item, 0, 1));
            done.set();
        });
        reader.join().unwrap();
        mover.join().unwrap();
        assert_eq!((copies(&core, item, 0), copies(&core, item, 1)), (0, 1));
    });
}

#[test]
fn beside_opposite_movers() {
    let outcomes = ["before", "during", "after", "moved", "moved and back"];
    check("lookup_opposite_movers", 78_000, &outcomes, |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let done = Mark::default();
        let reader = spawn_reader(&core, seen, &done, pair(&core, item, 0));
        let there = spawn(&core, move |core| {
            assert!(relocate(core, item, 1, 0));
            done.set();
        });
        let back = spawn(&core, move |core| relocate(core, item, 0, 1));
        reader.join().unwrap();
        there.join().unwrap();
        let back = back.join().unwrap();
        seen.note_if(back, "moved and back", "moved");
        assert_eq!(copies(&core, item, 0), usize::from(!back));
        assert_eq!(copies(&core, item, 1), usize::from(back));
    });
}

/// Two movers of two fingerprints, of two stripes, through one word.
#[test]
fn beside_movers_of_two_fingerprints() {
    check("lookup_two_fingerprints", 26_000, EVERY_WAY, |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        let neighbour = fingerprint(&core, 0, 1, 1, 0);
        put(&core, item, 1);
        put(&core, neighbour, 0);
        let done = Mark::default();
        let reader = spawn_reader(&core, seen, &done, pair(&core, item, 0));
        let mover = spawn(&core, move |core| {
            assert!(relocate(core, item, 1, 0));
            done.set();
        });
        let other = spawn(&core, move |core| assert!(relocate(core, neighbour, 0, 1)));
        reader.join().unwrap();
        mover.join().unwrap();
        other.join().unwrap();
        assert_eq!((copies(&core, item, 0), copies(&core, item, 1)), (1, 0));
        assert_eq!((copies(&core, neighbour, 0), copies(&core, neighbour, 1)), (0, 1));
    });
}

/// The destination has one free lane, which the move and an insert both want.
#[test]
fn beside_an_insert_into_the_destination() {
    let outcomes = ["before", "during", "after", "moved", "no room"];
    check("lookup_insert_into_destination", 16_000, &outcomes, |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        let [settled, newcomer] = [0, 1].map(|nth| fingerprint(&core, 0, 1, 1, nth));
        put(&core, item, 1);
        put(&core, settled, 0);
        let done = Mark::default();
        let reader = spawn_reader(&core, seen, &done, pair(&core, item, 0));
        let mover = spawn(&core, move |core| {
            let moved = relocate(core, item, 1, 0);
            done.set();
            moved
        });
        let inserter = spawn(&core, move |core| {
            core.insert::<L>(pair(core, newcomer, 0)).unwrap();
        });
        reader.join().unwrap();
        let moved = seen.note_if(mover.join().unwrap(), "moved", "no room");
        inserter.join().unwrap();
        assert_eq!(copies(&core, item, 0), usize::from(moved));
        assert!(core.contains::<L>(pair(&core, item, 0)));
        assert!(core.contains::<L>(pair(&core, settled, 0)));
        assert!(core.contains::<L>(pair(&core, newcomer, 0)));
    });
}

/// There is one copy at every moment, but never one that stays: a copy is put into the word that the
/// reader has read, then one is taken from the word that it has yet to read.
#[test]
fn beside_an_alias_inserted_and_one_removed() {
    check("lookup_alias", 1_700, EVERY_WAY, |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let done = Mark::default();
        let reader = spawn_reader(&core, seen, &done, pair(&core, item, 0));
        let writer = spawn(&core, move |core| {
            core.insert::<L>(pair(core, item, 0)).unwrap();
            assert!(core.remove::<L>(pair(core, item, 1)));
            done.set();
        });
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 1);
    });
}

/// The same, with a mover of the first copy besides.
#[test]
fn beside_an_alias_inserted_and_one_removed_and_a_move() {
    let outcomes = ["before", "during", "after", "moved", "not moved"];
    check("lookup_alias_move", 177_000, &outcomes, |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let done = Mark::default();
        let reader = spawn_reader(&core, seen, &done, pair(&core, item, 0));
        let writer = spawn(&core, move |core| {
            core.insert::<L>(pair(core, item, 0)).unwrap();
            assert!(core.remove::<L>(pair(core, item, 1)));
            done.set();
        });
        let mover = spawn(&core, move |core| relocate(core, item, 1, 0));
        reader.join().unwrap();
        writer.join().unwrap();
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 1);
    });
}

/// A neighbour of the same stripe, in the same word, is removed.
#[test]
fn beside_a_removal_of_a_neighbour() {
    check("lookup_removal_of_neighbour", 607, EVERY_WAY, |seen| {
        let core = Arc::new(table(2));
        let [item, neighbour] = [0, 1].map(|nth| fingerprint(&core, 0, 1, 0, nth));
        put(&core, item, 1);
        put(&core, neighbour, 1);
        let done = Mark::default();
        let reader = spawn_reader(&core, seen, &done, pair(&core, item, 0));
        let remover = spawn(&core, move |core| {
            assert!(core.remove::<L>(pair(core, neighbour, 0)));
            done.set();
        });
        reader.join().unwrap();
        remover.join().unwrap();
        assert!(!core.contains::<L>(pair(&core, neighbour, 0)));
    });
}

/// An item whose insert the reader learns of by a flag, while it is moved.
#[test]
fn after_a_flag_beside_a_move() {
    let outcomes = ["told", "not told", "moved", "not moved"];
    check("lookup_after_flag", 4_500, &outcomes, |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        let flag = Arc::new(AtomicBool::new(false));
        let inserter = {
            let flag = flag.clone();
            spawn(&core, move |core| {
                core.insert::<L>(pair(core, item, 0)).unwrap();
                flag.store(true, Ordering::Release);
            })
        };
        let mover = spawn(&core, move |core| relocate(core, item, 0, 1));
        let reader = spawn(&core, move |core| {
            let told = flag.load(Ordering::Acquire);
            assert!(!told || core.contains::<L>(pair(core, item, 0)), "missed after its flag");
            told
        });
        inserter.join().unwrap();
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        seen.note_if(reader.join().unwrap(), "told", "not told");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 1);
    });
}

/// An item whose two buckets are one, beside the removal of its twin.
#[test]
fn of_an_item_with_one_bucket() {
    check("lookup_one_bucket", 3_800, EVERY_WAY, |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 0, 0, 0);
        put(&core, item, 0);
        let done = Mark::default();
        let reader = spawn_reader(&core, seen, &done, pair(&core, item, 0));
        let writer = spawn(&core, move |core| {
            core.insert::<L>(pair(core, item, 0)).unwrap();
            assert!(core.remove::<L>(pair(core, item, 0)));
            done.set();
        });
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 1);
    });
}

/// A look-up that would read its words twice, or start again just once, is not enough: the item can
/// be elsewhere each of four times.
#[test]
fn beside_three_moves() {
    check("lookup_three_moves", 220_000, EVERY_WAY, |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let done = Mark::default();
        let reader = spawn_reader(&core, seen, &done, pair(&core, item, 0));
        let mover = spawn(&core, move |core| {
            assert!(relocate(core, item, 1, 0));
            assert!(relocate(core, item, 0, 1));
            assert!(relocate(core, item, 1, 0));
            done.set();
        });
        reader.join().unwrap();
        mover.join().unwrap();
        assert_eq!((copies(&core, item, 0), copies(&core, item, 1)), (1, 0));
    });
}
