//! Copies of a table as a whole, beside a move and beside each other.

use guira::raw::{Fingerprint, FixedTable, FixedWords};
use guira_loom_tests::{
    check, fingerprint, pair, publishes, put_each, relocate, spawn, table, with_copies,
};
use loom::sync::Arc;

/// The copies of an item in a copy of the table.
fn cloned(table: &FixedTable, item: Fingerprint) -> usize {
    let (copy, occupied) = table.try_clone().expect("memory for a few words");
    let copies = copy.count::<FixedWords>(pair(&copy, item, 0));
    assert_eq!(occupied, copies as u64);
    copies
}

/// Catches a copy of a table without locks: a move there and back overtakes it.
#[test]
fn beside_a_move_and_back() {
    check("clone_move_and_back", 31, &["done"], |seen| {
        let (table, item) = with_copies(&[1]);
        let cloner = spawn(&table, move |table| assert_eq!(cloned(table, item), 1));
        let mover = spawn(&table, move |table| {
            assert!(relocate(table, item, 1, 0) && relocate(table, item, 0, 1));
        });
        cloner.join().unwrap();
        mover.join().unwrap();
        seen.note("done");
    });
}

/// Catches locks taken in different orders by two copies, which deadlock.
#[test]
fn beside_another() {
    check("clone_clone", 58, &["done"], |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, 1, 0);
        put_each(&table, item, &[0, 1]);
        let cloners = [(); 2]
            .map(|()| spawn(&table, move |table| assert!((1..=2).contains(&cloned(table, item)))));
        assert!(table.remove::<FixedWords>(pair(&table, item, 0)));
        for cloner in cloners {
            cloner.join().unwrap();
        }
        seen.note("done");
    });
}

/// Catches a copy of a table by Relaxed loads: a hit must happen after the insert.
#[test]
fn happens_after_the_inserts_it_copies() {
    let item = |table: &FixedTable| pair(table, fingerprint(table, 0, 1, 0, 0), 0);
    let insert =
        move |table: &FixedTable| table.insert::<FixedWords>(item(table)).expect("an empty slot");
    publishes(
        "clone_acquires",
        35,
        || Arc::new(table(2)),
        insert,
        move |table| {
            let (copy, _) = table.try_clone().expect("memory for a few words");
            copy.contains(item(table))
        },
    );
}
