//! A hit happens after the insert that it found, whatever operation found it, and also after a move
//! by a third thread.

use guira::raw::{Fingerprint, Pair, Table};
use guira_loom_tests::{L, check, fingerprint, pair, put, relocate, spawn, table};
use loom::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Inserts an item after a relaxed write, looks for it by `find`, and expects the write.
fn hit_publishes(name: &str, find: fn(&Table, Pair) -> bool) {
    check(name, 39, &["hit", "miss"], move |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, 0, 0);
        run(&table, item, seen, find);
    });
}

/// Runs the two threads of [`hit_publishes`] on a table that the model has prepared.
fn run(
    table: &Arc<Table>,
    item: Fingerprint,
    seen: &guira_loom_tests::Seen,
    find: fn(&Table, Pair) -> bool,
) {
    let data = Arc::new(AtomicUsize::new(0));
    let inserter = {
        let data = data.clone();
        spawn(table, move |table| {
            data.store(1, Relaxed);
            table.insert::<L>(pair(table, item, 0)).unwrap();
        })
    };
    let finder = spawn(table, move |table| {
        let hit = find(table, pair(table, item, 0));
        assert!(!hit || data.load(Relaxed) == 1, "a hit does not happen after the insert");
        hit
    });
    inserter.join().unwrap();
    seen.note_if(finder.join().unwrap(), "hit", "miss");
}

/// Catches a `contains` that returns `true` but does not happen after the insert.
#[test]
fn by_contains() {
    hit_publishes("publish_contains", Table::contains::<L>);
}

/// Catches an `insert_unique` that returns `false` but does not happen after the insert.
#[test]
fn by_insert_unique() {
    hit_publishes("publish_insert_unique", |table, pair| {
        !table.insert_unique::<L>(pair).expect("room")
    });
}

/// Catches a `remove` that returns `true` but does not happen after the insert.
#[test]
fn by_remove() {
    hit_publishes("publish_remove", Table::remove::<L>);
}

/// Catches a `remove` whose load of the second bucket is too weak.
#[test]
fn by_remove_from_the_second_bucket() {
    hit_publishes("publish_remove_second", |table, pair| {
        let [first, second] = pair.buckets;
        table.remove::<L>(Pair { buckets: [second, first], ..pair })
    });
}

/// Catches a `count` that counts a copy but does not happen after its insert.
#[test]
fn by_count() {
    hit_publishes("publish_count", |table, pair| table.count::<L>(pair) > 0);
}

/// Catches an incoming fingerprint that is stored with too weak an ordering.
#[test]
fn of_an_insert_that_relocates() {
    check("publish_incoming", 3_800, &["hit", "miss"], |seen| {
        let table = Arc::new(table(3));
        for (item, bucket) in [
            (fingerprint(&table, 0, 2, 0, 0), 0),
            (fingerprint(&table, 0, 1, 1, 0), 0),
            (fingerprint(&table, 0, 1, 1, 1), 1),
            (fingerprint(&table, 0, 1, 1, 2), 1),
        ] {
            put(&table, item, bucket);
        }
        let item = fingerprint(&table, 0, 1, 0, 0);
        run(&table, item, seen, Table::contains::<L>);
    });
}

/// Catches a move that does not pass on what the insert of its fingerprint published.
#[test]
fn through_a_move() {
    let outcomes = ["moved, hit", "moved, miss", "not moved, hit", "not moved, miss"];
    check("publish_move", 13_000, &outcomes, move |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, 0, 0);
        let data = Arc::new(AtomicUsize::new(0));
        let inserter = {
            let data = data.clone();
            spawn(&table, move |table| {
                data.store(1, Relaxed);
                table.insert::<L>(pair(table, item, 0)).unwrap();
            })
        };
        let mover = spawn(&table, move |table| relocate(table, item, 0, 1));
        let finder = spawn(&table, move |table| {
            let hit = table.contains::<L>(pair(table, item, 0));
            assert!(
                !hit || data.load(Relaxed) == 1,
                "a hit does not happen after the insert of a copy that was moved"
            );
            hit
        });
        inserter.join().unwrap();
        let (moved, hit) = (mover.join().unwrap(), finder.join().unwrap());
        seen.note(outcomes[2 * usize::from(!moved) + usize::from(!hit)]);
    });
}
