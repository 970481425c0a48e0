//! A hit happens after the insert that it found: what the inserting thread wrote before is visible,
//! also when the item has been moved by a third thread meanwhile, and to every call that finds.

use guira::raw::{Table, Fingerprint, Pair};
use guira_loom_tests::{L, check, fingerprint, pair, put, relocate, spawn, table};
use loom::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Inserts an item after a relaxed write, finds it by `find`, and then expects the write.
fn hit_publishes(name: &str, find: fn(&Table, Pair) -> bool) {
    check(name, 39, &["hit", "miss"], move |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        run(&core, item, seen, find);
    });
}

/// The two threads of [`hit_publishes`], on a table that the model has prepared.
fn run(
    core: &Arc<Table>,
    item: Fingerprint,
    seen: &guira_loom_tests::Seen,
    find: fn(&Table, Pair) -> bool,
) {
    let data = Arc::new(AtomicUsize::new(0));
    let inserter = {
        let data = data.clone();
        spawn(core, move |core| {
            data.store(1, Relaxed);
            core.insert::<L>(pair(core, item, 0)).unwrap();
        })
    };
    let finder = spawn(core, move |core| {
        let hit = find(core, pair(core, item, 0));
        assert!(!hit || data.load(Relaxed) == 1, "a hit does not show what was written before");
        hit
    });
    inserter.join().unwrap();
    seen.note_if(finder.join().unwrap(), "hit", "miss");
}

#[test]
fn by_contains() {
    hit_publishes("publish_contains", Table::contains::<L>);
}

#[test]
fn by_insert_unique() {
    hit_publishes("publish_insert_unique", |core, pair| {
        !core.insert_unique::<L>(pair).expect("room")
    });
}

#[test]
fn by_remove() {
    hit_publishes("publish_remove", Table::remove::<L>);
}

/// The same item, named from the bucket that it is not in.
#[test]
fn by_remove_from_the_second_bucket() {
    hit_publishes("publish_remove_second", |core, pair| {
        let [first, second] = pair.buckets;
        core.remove::<L>(Pair { buckets: [second, first], ..pair })
    });
}

#[test]
fn by_count() {
    hit_publishes("publish_count", |core, pair| core.count::<L>(pair) > 0);
}

/// The insert has to move somebody: the newcomer arrives with the clearing of that lane.
#[test]
fn of_an_insert_that_relocates() {
    check("publish_newcomer", 3_800, &["hit", "miss"], |seen| {
        let core = Arc::new(table(3));
        for (item, bucket) in [
            (fingerprint(&core, 0, 2, 0, 0), 0),
            (fingerprint(&core, 0, 1, 1, 0), 0),
            (fingerprint(&core, 0, 1, 1, 1), 1),
            (fingerprint(&core, 0, 1, 1, 2), 1),
        ] {
            put(&core, item, bucket);
        }
        let item = fingerprint(&core, 0, 1, 0, 0);
        run(&core, item, seen, Table::contains::<L>);
    });
}

/// A mover between the inserter and the finder.
#[test]
fn through_a_move() {
    let outcomes = ["moved, hit", "moved, miss", "not moved, hit", "not moved, miss"];
    check("publish_move", 13_000, &outcomes, move |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        let data = Arc::new(AtomicUsize::new(0));
        let inserter = {
            let data = data.clone();
            spawn(&core, move |core| {
                data.store(1, Relaxed);
                core.insert::<L>(pair(core, item, 0)).unwrap();
            })
        };
        let mover = spawn(&core, move |core| relocate(core, item, 0, 1));
        let finder = spawn(&core, move |core| {
            let hit = core.contains::<L>(pair(core, item, 0));
            assert!(!hit || data.load(Relaxed) == 1, "lost on the way through a move");
            hit
        });
        inserter.join().unwrap();
        let (moved, hit) = (mover.join().unwrap(), finder.join().unwrap());
        seen.note(outcomes[2 * usize::from(!moved) + usize::from(!hit)]);
    });
}
