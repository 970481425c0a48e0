//! Batches: interleaved inserts, whose searches take turns, beside other operations.

use guira::{
    InsertError,
    raw::{Fingerprint, FixedTable, FixedWords, PendingInserts},
};
use guira_loom_tests::{
    EVERY_WAY, check, check_shallow, fingerprint, look_up_beside, pair, publishes, put, put_each,
    spawn, table, with_copies,
};
use loom::sync::Arc;

/// Inserts items, each with its first bucket, as a batch does.
fn insert_batch(table: &FixedTable, items: &[(Fingerprint, u32)]) -> Vec<Result<(), InsertError>> {
    let mut outcomes = vec![Err(InsertError::Full); items.len()];
    let mut done = |position: usize, outcome| outcomes[position] = outcome;
    let mut pending = PendingInserts::default();
    for (position, &(item, bucket)) in items.iter().enumerate() {
        pending.insert(table, position, pair(table, item, bucket), &mut done);
    }
    pending.finish(table, &mut done);
    outcomes
}

/// Three buckets. The first two are full, and the third one has two empty slots, into which two
/// items of the first one can move.
struct Scene {
    moving: [Fingerprint; 2],
    /// Two items for buckets 0 and 1. Both plans begin with the same move, so the second one goes
    /// stale.
    incoming: [(Fingerprint, u32); 2],
    /// Two more.
    others: [(Fingerprint, u32); 2],
}

impl Scene {
    fn new(table: &FixedTable) -> Self {
        let moving = [0, 1].map(|nth| fingerprint(table, 0, 2, 0, nth));
        put_each(table, moving[0], &[0]);
        put_each(table, moving[1], &[0]);
        // Their high parts differ from that of the item that is looked up, so that a comparison of
        // high parts settles the answer in semi-sorted words, too.
        let apart = |bucket, alternate, nth| {
            let all = (0..).map(|nth| fingerprint(table, bucket, alternate, 1, nth));
            let mut apart = all.filter(|item| item.get() >> 4 != moving[0].get() >> 4);
            apart.nth(nth).expect("one of many")
        };
        for nth in 0..2 {
            put(table, apart(1, 1, nth), 1);
        }
        let incoming = [0, 1].map(|nth| (apart(0, 1, nth), 0));
        let others = [2, 3].map(|nth| (apart(0, 1, nth), 1));
        Self { moving, incoming, others }
    }

    /// Checks that all new items are there once.
    fn assert_inserted(&self, table: &FixedTable) {
        for (item, bucket) in self.incoming {
            assert_eq!(table.count::<FixedWords>(pair(table, item, bucket)), 1, "lost or doubled");
        }
    }
}

/// Catches a batch whose moves hide an item from lookups, or that drops an insert whose plan went
/// stale.
#[test]
fn beside_a_reader() {
    let why = "a move that hides an item does so for a reader which runs between two of its steps";
    check_shallow("batch_reader", 3_000, EVERY_WAY, why, |seen| {
        let table = Arc::new(table(3));
        let scene = Scene::new(&table);
        let incoming = scene.incoming;
        look_up_beside(&table, seen, pair(&table, scene.moving[0], 2), move |table| {
            assert_eq!(insert_batch(table, &incoming), [Ok(()); 2]);
        });
        scene.assert_inserted(&table);
        for item in scene.moving {
            assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1, "lost or doubled");
        }
    });
}

/// Catches a batch that does not publish what it adds.
#[test]
fn publishes_what_it_adds() {
    let item = |table: &FixedTable| fingerprint(table, 0, 1, 0, 0);
    let insert =
        move |table: &FixedTable| assert_eq!(insert_batch(table, &[(item(table), 0)]), [Ok(())]);
    publishes(
        "batch_publishes",
        32,
        || Arc::new(table(2)),
        insert,
        move |table| table.contains(pair(table, item(table), 0)),
    );
}

/// Catches a batch whose moves take the wrong lock: a removal misses an item that moves.
#[test]
fn beside_a_removal() {
    check("batch_remove", 149, &["done"], |seen| {
        let table = Arc::new(table(3));
        let scene = Scene::new(&table);
        let (incoming, leaving) = (scene.incoming, scene.moving[0]);
        let remover = spawn(&table, move |table| {
            assert!(table.remove::<FixedWords>(pair(table, leaving, 2)))
        });
        let writer = spawn(&table, move |table| {
            assert_eq!(insert_batch(table, &incoming), [Ok(()); 2]);
        });
        remover.join().unwrap();
        writer.join().unwrap();
        scene.assert_inserted(&table);
        assert_eq!(table.count::<FixedWords>(pair(&table, leaving, 0)), 0);
        assert_eq!(table.count::<FixedWords>(pair(&table, scene.moving[1], 0)), 1);
        seen.note("done");
    });
}

/// Catches two batches that lose or double an item when they race for the last slots.
///
/// Each one has two inserts for the two slots that can be made empty.
#[test]
fn beside_another() {
    check("batch_batch", 1_430, &["1 and 1", "2 and 0", "0 and 2"], |seen| {
        let table = Arc::new(table(3));
        let scene = Scene::new(&table);
        let batches = [scene.incoming, scene.others];
        let writers = batches.map(|items| spawn(&table, move |table| insert_batch(table, &items)));
        let outcomes = writers.map(|writer| writer.join().unwrap());
        let added =
            |outcomes: &[Result<(), _>]| outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        let counts = [added(&outcomes[0]), added(&outcomes[1])];
        seen.note(match counts {
            [1, 1] => "1 and 1",
            [2, 0] => "2 and 0",
            [0, 2] => "0 and 2",
            other => panic!("two slots, and {other:?} items were added"),
        });
        for (&(item, bucket), outcome) in batches.iter().flatten().zip(outcomes.iter().flatten()) {
            let copies = table.count::<FixedWords>(pair(&table, item, bucket));
            assert_eq!(copies, usize::from(outcome.is_ok()), "lost or doubled");
        }
        for item in scene.moving {
            assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1, "lost or doubled");
        }
    });
}

/// Catches a batch that returns `TooManyCopies` because half of a move looks like a copy.
#[test]
fn of_the_last_copy_beside_a_move() {
    check("batch_too_many_copies", 30, &["added", "full"], |seen| {
        let (table, item) = with_copies(&[0, 0, 1]);
        let other = (fingerprint(&table, 0, 0, 1, 0), 0);
        let mover =
            spawn(&table, move |table| table.insert::<FixedWords>(pair(table, other.0, other.1)));
        let outcome = insert_batch(&table, &[(item, 1)])[0];
        assert_ne!(outcome, Err(InsertError::TooManyCopies), "there were three copies");
        let other = mover.join().unwrap();
        assert!(outcome.is_ok() != other.is_ok(), "one slot: {outcome:?} and {other:?}");
        assert_eq!(
            table.count::<FixedWords>(pair(&table, item, 0)),
            3 + usize::from(outcome.is_ok())
        );
        seen.note_if(outcome.is_ok(), "added", "full");
    });
}
