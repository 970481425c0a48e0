//! Lookups beside every change to an item and to its neighbours. The item is in the table
//! throughout, so the reader must find it.

use guira::raw::{Fingerprint, FixedWords};
use guira_loom_tests::{
    EVERY_WAY, InBatches, Mark, SLOTS, check, copies, filter, fingerprint, keyed, look_up_beside,
    new_filter, pair, put, relocate, spawn, spawn_reader, table, with_copies,
};
use loom::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Catches a move that bumps too late, or clears before its copy is in place.
#[test]
fn beside_a_move() {
    check("lookup_move", 833, EVERY_WAY, |seen| {
        let (table, item) = with_copies(&[1]);
        look_up_beside(&table, seen, pair(&table, item, 0), move |table| {
            assert!(relocate(table, item, 1, 0));
        });
        assert_eq!((copies(&table, item, 0), copies(&table, item, 1)), (1, 0));
    });
}

/// Catches a first round of a lookup by key that misses an item which moves.
#[test]
fn of_a_key_beside_a_move() {
    check("lookup_key_move", 833, EVERY_WAY, |seen| {
        let filter = filter();
        let (key, pair) = keyed(&filter);
        put(filter.table(), pair.fingerprint, 1);
        look_up_beside(&filter, seen, key, move |filter| {
            assert!(relocate(filter.table(), pair.fingerprint, 1, 0));
        });
    });
}

/// Catches a batch that misses an item which moves.
#[test]
fn of_a_batch_beside_a_move() {
    check("lookup_batch_move", 400, EVERY_WAY, |seen| {
        let filter = Arc::new(InBatches(new_filter()));
        let (key, pair) = keyed(&filter.0);
        put(filter.0.table(), pair.fingerprint, 1);
        look_up_beside(&filter, seen, key, move |filter| {
            assert!(relocate(filter.0.table(), pair.fingerprint, 1, 0));
        });
    });
}

/// Catches a lookup in semi-sorted words that does not look again when it has found the upper part
/// of its fingerprint alone.
#[test]
fn of_a_key_beside_a_move_and_a_neighbour_with_its_upper_part() {
    check("lookup_key_neighbour_move", 833, EVERY_WAY, |seen| {
        let filter = filter();
        let (key, pair) = keyed(&filter);
        let neighbour = Fingerprint::new(pair.fingerprint.get() ^ 1);
        for item in [pair.fingerprint, neighbour] {
            put(filter.table(), item, 1);
        }
        look_up_beside(&filter, seen, key, move |filter| {
            assert!(relocate(filter.table(), pair.fingerprint, 1, 0));
        });
    });
}

/// Catches a lookup that validates by reading the words twice: the item moves and moves back.
#[test]
fn beside_a_move_and_back() {
    check("lookup_move_and_back", 22_000, EVERY_WAY, |seen| {
        let (table, item) = with_copies(&[1]);
        look_up_beside(&table, seen, pair(&table, item, 0), move |table| {
            assert!(relocate(table, item, 1, 0));
            assert!(relocate(table, item, 0, 1));
        });
        assert_eq!((copies(&table, item, 0), copies(&table, item, 1)), (0, 1));
    });
}

/// Catches two opposite moves of one item that lose or double it.
#[test]
fn beside_opposite_movers() {
    let outcomes = ["before", "during", "after", "moved", "moved and back"];
    check("lookup_opposite_movers", 78_000, &outcomes, |seen| {
        let (table, item) = with_copies(&[1]);
        let done = Mark::default();
        let reader = spawn_reader(&table, seen, &done, pair(&table, item, 0));
        let there = spawn(&table, move |table| {
            assert!(relocate(table, item, 1, 0));
            done.set();
        });
        let back = spawn(&table, move |table| relocate(table, item, 0, 1));
        reader.join().unwrap();
        there.join().unwrap();
        let back = back.join().unwrap();
        seen.note_if(back, "moved and back", "moved");
        assert_eq!(copies(&table, item, 0), usize::from(!back));
        assert_eq!(copies(&table, item, 1), usize::from(back));
    });
}

/// Catches a move that overwrites another fingerprint's change to the same word.
#[test]
fn beside_movers_of_two_fingerprints() {
    check("lookup_two_fingerprints", 26_000, EVERY_WAY, |seen| {
        let (table, item) = with_copies(&[]);
        let neighbour = fingerprint(&table, 0, 1, 1, 0);
        put(&table, item, 1);
        put(&table, neighbour, 0);
        let done = Mark::default();
        let reader = spawn_reader(&table, seen, &done, pair(&table, item, 0));
        let mover = spawn(&table, move |table| {
            assert!(relocate(table, item, 1, 0));
            done.set();
        });
        let other = spawn(&table, move |table| assert!(relocate(table, neighbour, 0, 1)));
        reader.join().unwrap();
        mover.join().unwrap();
        other.join().unwrap();
        assert_eq!((copies(&table, item, 0), copies(&table, item, 1)), (1, 0));
        assert_eq!((copies(&table, neighbour, 0), copies(&table, neighbour, 1)), (0, 1));
    });
}

/// Catches a move and an insert that both take the last slot of the destination.
#[test]
fn beside_an_insert_into_the_destination() {
    let outcomes = ["before", "during", "after", "moved", "no room"];
    check("lookup_insert_into_destination", 16_000, &outcomes, |seen| {
        let (table, item) = with_copies(&[]);
        // The second one has that bucket alone.
        let [staying, incoming] = [1, 0].map(|other| fingerprint(&table, 0, other, 1, 0));
        put(&table, item, 1);
        // One slot is left.
        (1..SLOTS.count()).for_each(|_| put(&table, staying, 0));
        let done = Mark::default();
        let reader = spawn_reader(&table, seen, &done, pair(&table, item, 0));
        let mover = spawn(&table, move |table| {
            let moved = relocate(table, item, 1, 0);
            done.set();
            moved
        });
        let inserter = spawn(&table, move |table| {
            table.insert::<FixedWords>(pair(table, incoming, 0)).unwrap();
        });
        reader.join().unwrap();
        let moved = seen.note_if(mover.join().unwrap(), "moved", "no room");
        inserter.join().unwrap();
        assert_eq!(copies(&table, item, 0), usize::from(moved));
        assert!(table.contains(pair(&table, item, 0)));
        assert!(table.contains(pair(&table, staying, 0)));
        assert!(table.contains(pair(&table, incoming, 0)));
    });
}

/// Catches a removal that does not bump the version.
///
/// An alias is inserted into the bucket that the reader has read. Then the copy is removed from the
/// bucket that it has yet to read.
#[test]
fn beside_an_alias_inserted_and_one_removed() {
    check("lookup_alias", 1_700, EVERY_WAY, |seen| {
        let (table, item) = with_copies(&[1]);
        look_up_beside(&table, seen, pair(&table, item, 0), move |table| {
            table.insert::<FixedWords>(pair(table, item, 0)).unwrap();
            assert!(table.remove::<FixedWords>(pair(table, item, 1)));
        });
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1);
    });
}

/// Catches a removal that does not bump the version, beside a move of the first copy.
#[test]
fn beside_an_alias_inserted_and_one_removed_and_a_move() {
    let outcomes = ["before", "during", "after", "moved", "not moved"];
    check("lookup_alias_move", 177_000, &outcomes, |seen| {
        let (table, item) = with_copies(&[1]);
        let done = Mark::default();
        let reader = spawn_reader(&table, seen, &done, pair(&table, item, 0));
        let writer = spawn(&table, move |table| {
            table.insert::<FixedWords>(pair(table, item, 0)).unwrap();
            assert!(table.remove::<FixedWords>(pair(table, item, 1)));
            done.set();
        });
        let mover = spawn(&table, move |table| relocate(table, item, 1, 0));
        reader.join().unwrap();
        writer.join().unwrap();
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1);
    });
}

/// Catches a removal that takes another fingerprint out of the same word.
#[test]
fn beside_a_removal_of_a_neighbour() {
    check("lookup_removal_of_neighbour", 607, EVERY_WAY, |seen| {
        let table = Arc::new(table(2));
        let [item, neighbour] = [0, 1].map(|nth| fingerprint(&table, 0, 1, 0, nth));
        put(&table, item, 1);
        put(&table, neighbour, 1);
        look_up_beside(&table, seen, pair(&table, item, 0), move |table| {
            assert!(table.remove::<FixedWords>(pair(table, neighbour, 0)));
        });
        assert!(!table.contains(pair(&table, neighbour, 0)));
    });
}

/// Catches a lookup that misses an item whose insert it learned of by a flag, beside a move.
#[test]
fn after_a_flag_beside_a_move() {
    let outcomes = ["after the flag", "before the flag", "moved", "not moved"];
    check("lookup_after_flag", 4_500, &outcomes, |seen| {
        let (table, item) = with_copies(&[]);
        let flag = Arc::new(AtomicBool::new(false));
        let inserter = {
            let flag = flag.clone();
            spawn(&table, move |table| {
                table.insert::<FixedWords>(pair(table, item, 0)).unwrap();
                flag.store(true, Ordering::Release);
            })
        };
        let mover = spawn(&table, move |table| relocate(table, item, 0, 1));
        let reader = spawn(&table, move |table| {
            let flagged = flag.load(Ordering::Acquire);
            assert!(
                !flagged || table.contains(pair(table, item, 0)),
                "an item was missed after its flag was seen"
            );
            flagged
        });
        inserter.join().unwrap();
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        seen.note_if(reader.join().unwrap(), "after the flag", "before the flag");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1);
    });
}

/// Catches a lookup that misses an item whose two buckets are the same one.
#[test]
fn of_an_item_with_one_bucket() {
    check("lookup_one_bucket", 3_800, EVERY_WAY, |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 0, 0, 0);
        put(&table, item, 0);
        look_up_beside(&table, seen, pair(&table, item, 0), move |table| {
            table.insert::<FixedWords>(pair(table, item, 0)).unwrap();
            assert!(table.remove::<FixedWords>(pair(table, item, 0)));
        });
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1);
    });
}

/// Catches a lookup that retries only once, or reads its words only twice.
#[test]
fn beside_three_moves() {
    check("lookup_three_moves", 220_000, EVERY_WAY, |seen| {
        let (table, item) = with_copies(&[1]);
        look_up_beside(&table, seen, pair(&table, item, 0), move |table| {
            assert!(relocate(table, item, 1, 0));
            assert!(relocate(table, item, 0, 1));
            assert!(relocate(table, item, 1, 0));
        });
        assert_eq!((copies(&table, item, 0), copies(&table, item, 1)), (1, 0));
    });
}
