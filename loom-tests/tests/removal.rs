//! Removals beside moves, inserts and one another: for each copy exactly one returns `true`.

use guira::raw::FixedWords;
use guira_loom_tests::{check, fingerprint, pair, put, relocate, spawn, table, with_copies};
use loom::sync::Arc;

/// Catches a removal that misses an item while it moves.
#[test]
fn beside_a_move() {
    check("remove_move", 23, &["moved", "not moved"], |seen| {
        let (table, item) = with_copies(&[1]);
        let remover = spawn(&table, move |table| table.remove::<FixedWords>(pair(table, item, 0)));
        let mover = spawn(&table, move |table| relocate(table, item, 1, 0));
        assert!(remover.join().unwrap(), "found nothing to remove");
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 0);
    });
}

/// Catches two removals that both succeed with one copy, by taking both halves of a move.
#[test]
fn of_one_copy_by_two_beside_a_move() {
    check("remove_twice_move", 458, &["first", "second"], |seen| {
        let (table, item) = with_copies(&[1]);
        let removers = [0, 1].map(|from| {
            spawn(&table, move |table| table.remove::<FixedWords>(pair(table, item, from)))
        });
        let mover = spawn(&table, move |table| relocate(table, item, 1, 0));
        let removed = removers.map(|remover| remover.join().unwrap());
        mover.join().unwrap();
        assert!(removed[0] != removed[1], "one copy, removed {removed:?}");
        seen.note_if(removed[0], "first", "second");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 0);
    });
}

/// Catches two removals of two copies of which one finds nothing.
#[test]
fn of_two_copies_by_two() {
    check("remove_both", 25, &["done"], |seen| {
        let (table, item) = with_copies(&[0, 1]);
        let removers = [0, 1].map(|from| {
            spawn(&table, move |table| assert!(table.remove::<FixedWords>(pair(table, item, from))))
        });
        for remover in removers {
            remover.join().unwrap();
        }
        seen.note("done");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 0);
    });
}

/// Catches a removal that loses the copy of an alias which is inserted and moved meanwhile.
#[test]
fn of_an_alias_beside_an_insert_and_a_move() {
    check("remove_alias_insert_move", 493, &["moved", "not moved"], |seen| {
        let (table, item) = with_copies(&[1]);
        let remover =
            spawn(&table, move |table| assert!(table.remove::<FixedWords>(pair(table, item, 1))));
        let inserter =
            spawn(&table, move |table| table.insert::<FixedWords>(pair(table, item, 0)).unwrap());
        let mover = spawn(&table, move |table| relocate(table, item, 0, 1));
        remover.join().unwrap();
        inserter.join().unwrap();
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1);
    });
}

/// Catches two removals from one word of which one undoes the other.
#[test]
fn of_two_neighbours_by_two() {
    check("remove_neighbours", 48, &["done"], |seen| {
        let table = Arc::new(table(2));
        let items = [0, 1].map(|stripe| fingerprint(&table, 0, 1, stripe, 0));
        let removers = items.map(|item| {
            put(&table, item, 1);
            spawn(&table, move |table| assert!(table.remove::<FixedWords>(pair(table, item, 1))))
        });
        for remover in removers {
            remover.join().unwrap();
        }
        seen.note("done");
        for item in items {
            assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 0);
        }
    });
}
