//! Removals beside moves, inserts and one another: of one copy exactly one removal says true.

use guira_loom_tests::{L, check, fingerprint, pair, put, relocate, spawn, table};
use loom::sync::Arc;

#[test]
fn beside_a_move() {
    check("remove_move", 23, &["moved", "not moved"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let remover = spawn(&core, move |core| core.remove::<L>(pair(core, item, 0)));
        let mover = spawn(&core, move |core| relocate(core, item, 1, 0));
        assert!(remover.join().unwrap(), "a present item could not be removed");
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 0);
    });
}

#[test]
fn of_one_copy_by_two_beside_a_move() {
    check("remove_twice_move", 458, &["first", "second"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let removers =
            [0, 1].map(|from| spawn(&core, move |core| core.remove::<L>(pair(core, item, from))));
        let mover = spawn(&core, move |core| relocate(core, item, 1, 0));
        let removed = removers.map(|remover| remover.join().unwrap());
        mover.join().unwrap();
        assert!(removed[0] != removed[1], "one copy, removed {removed:?}");
        seen.note_if(removed[0], "first", "second");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 0);
    });
}

/// Two copies, two removals: both find one, whatever is moved.
#[test]
fn of_two_copies_by_two() {
    check("remove_both", 25, &["done"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 0);
        put(&core, item, 1);
        let removers = [0, 1].map(|from| {
            spawn(&core, move |core| assert!(core.remove::<L>(pair(core, item, from))))
        });
        for remover in removers {
            remover.join().unwrap();
        }
        seen.note("done");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 0);
    });
}

/// One copy is removed while its twin is inserted, and a mover takes either where it can.
#[test]
fn of_an_alias_beside_the_insert_of_its_twin_and_a_move() {
    check("remove_alias_insert_move", 493, &["moved", "not moved"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let remover = spawn(&core, move |core| assert!(core.remove::<L>(pair(core, item, 1))));
        let inserter = spawn(&core, move |core| core.insert::<L>(pair(core, item, 0)).unwrap());
        let mover = spawn(&core, move |core| relocate(core, item, 0, 1));
        remover.join().unwrap();
        inserter.join().unwrap();
        seen.note_if(mover.join().unwrap(), "moved", "not moved");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 1);
    });
}

/// Two fingerprints of two stripes leave one word: neither compare-and-swap undoes the other.
#[test]
fn of_two_neighbours_by_two() {
    check("remove_neighbours", 48, &["done"], |seen| {
        let core = Arc::new(table(2));
        let items = [0, 1].map(|stripe| fingerprint(&core, 0, 1, stripe, 0));
        let removers = items.map(|item| {
            put(&core, item, 1);
            spawn(&core, move |core| assert!(core.remove::<L>(pair(core, item, 1))))
        });
        for remover in removers {
            remover.join().unwrap();
        }
        seen.note("done");
        for item in items {
            assert_eq!(core.count::<L>(pair(&core, item, 0)), 0);
        }
    });
}
