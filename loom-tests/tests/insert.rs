//! Inserts that race for slots, and inserts whose eviction paths other operations cross.

use guira::{
    InsertError,
    raw::{Fingerprint, FixedTable, FixedWords},
};
use guira_loom_tests::{
    EVERY_WAY, check, fingerprint, look_up_beside, pair, put, relocate, spawn, table,
};
use loom::sync::Arc;

/// Catches two inserts that both take the last slot, or both fail.
#[test]
fn two_inserts_for_the_last_slot() {
    check("insert_last_slot", 35, &["first", "second"], |seen| {
        let table = Arc::new(table(2));
        for (nth, bucket) in [(2, 0), (3, 0), (4, 1)] {
            put(&table, fingerprint(&table, 0, 1, 0, nth), bucket);
        }
        let items = [0, 1].map(|nth| fingerprint(&table, 0, 1, 0, nth));
        let outcomes = items
            .map(|item| {
                spawn(&table, move |table| table.insert::<FixedWords>(pair(table, item, 0)))
            })
            .map(|inserter| inserter.join().unwrap());
        let is_in = outcomes.map(|outcome| outcome.is_ok());
        assert!(is_in[0] != is_in[1], "one slot, {outcomes:?}");
        assert!(outcomes.contains(&Err(InsertError::Full)), "{outcomes:?}");
        seen.note_if(is_in[0], "first", "second");
        for (item, is_in) in items.into_iter().zip(is_in) {
            assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), usize::from(is_in));
        }
    });
}

/// Four buckets, where an insert into 0 and 1 needs an eviction path of two moves: first `far` from
/// 2 to 3, which has one empty slot, and then `near` from 0 to 2, which is full.
struct Path {
    near: Fingerprint,
    far: Fingerprint,
    incoming: Fingerprint,
    /// The other items, each with a bucket.
    others: Vec<(Fingerprint, u32)>,
}

impl Path {
    fn new(table: &FixedTable) -> Self {
        let near = fingerprint(table, 0, 2, 0, 0);
        let far = fingerprint(table, 2, 3, 0, 0);
        let incoming = fingerprint(table, 0, 1, 0, 0);
        let others = vec![
            (fingerprint(table, 0, 1, 1, 0), 0),
            (fingerprint(table, 0, 1, 1, 1), 1),
            (fingerprint(table, 0, 1, 1, 2), 1),
            (fingerprint(table, 2, 2, 1, 0), 2),
            (fingerprint(table, 3, 2, 1, 0), 3),
        ];
        put(table, near, 0);
        put(table, far, 2);
        for &(item, bucket) in &others {
            put(table, item, bucket);
        }
        Self { near, far, incoming, others }
    }

    /// Checks that each item which was there at first is there once.
    fn assert_all_there(&self, table: &FixedTable) {
        assert_eq!(table.count::<FixedWords>(pair(table, self.near, 0)), 1);
        assert_eq!(table.count::<FixedWords>(pair(table, self.far, 2)), 1);
        for &(item, bucket) in &self.others {
            assert_eq!(table.count::<FixedWords>(pair(table, item, bucket)), 1);
        }
    }
}

/// Looks up one of the items that the path moves.
fn path_beside_a_reader(name: &str, of: fn(&Path) -> (Fingerprint, u32)) {
    check(name, 5_500, EVERY_WAY, move |seen| {
        let table = Arc::new(table(4));
        let path = Path::new(&table);
        let incoming = path.incoming;
        let (item, bucket) = of(&path);
        look_up_beside(&table, seen, pair(&table, item, bucket), move |table| {
            table.insert::<FixedWords>(pair(table, incoming, 0)).unwrap();
        });
        assert_eq!(table.count::<FixedWords>(pair(&table, incoming, 0)), 1);
        path.assert_all_there(&table);
    });
}

/// Catches a lookup that misses the item of an eviction path's last move.
#[test]
fn path_beside_a_reader_of_its_near_item() {
    path_beside_a_reader("path_reader_near", |path| (path.near, 2));
}

/// Catches a lookup that misses the item of an eviction path's first move.
#[test]
fn path_beside_a_reader_of_its_far_item() {
    path_beside_a_reader("path_reader_far", |path| (path.far, 3));
}

/// Catches an insert that follows a stale plan after another thread moved a fingerprint of it.
///
/// The search starts again. It may find only the copy of a half-done move in the last empty slot:
/// then it returns `Full`.
#[test]
fn path_beside_a_mover() {
    check("path_mover", 53, &["moved", "not moved", "moved, full"], |seen| {
        let table = Arc::new(table(4));
        let path = Path::new(&table);
        let (incoming, far) = (path.incoming, path.far);
        let inserter =
            spawn(&table, move |table| table.insert::<FixedWords>(pair(table, incoming, 0)));
        let mover = spawn(&table, move |table| relocate(table, far, 2, 3));
        let outcome = inserter.join().unwrap();
        seen.note(match (mover.join().unwrap(), outcome) {
            (true, Ok(())) => "moved",
            (true, Err(InsertError::Full)) => "moved, full",
            (false, Ok(())) => "not moved",
            other => panic!("{other:?}"),
        });
        assert_eq!(
            table.count::<FixedWords>(pair(&table, incoming, 0)),
            usize::from(outcome.is_ok())
        );
        path.assert_all_there(&table);
    });
}

/// Catches an insert that follows a stale plan after a fingerprint of it was removed.
#[test]
fn path_beside_a_remover() {
    check("path_remover", 51, &["done"], |seen| {
        let table = Arc::new(table(4));
        let path = Path::new(&table);
        let (incoming, far) = (path.incoming, path.far);
        let inserter = spawn(&table, move |table| {
            table.insert::<FixedWords>(pair(table, incoming, 0)).unwrap()
        });
        let remover =
            spawn(&table, move |table| assert!(table.remove::<FixedWords>(pair(table, far, 2))));
        inserter.join().unwrap();
        remover.join().unwrap();
        seen.note("done");
        assert_eq!(table.count::<FixedWords>(pair(&table, incoming, 0)), 1);
        assert_eq!(table.count::<FixedWords>(pair(&table, far, 2)), 0);
        assert_eq!(table.count::<FixedWords>(pair(&table, path.near, 0)), 1);
    });
}

/// Catches an insert that loses an item when another one takes the slot that its move freed.
#[test]
fn path_beside_an_insert() {
    check("path_insert", 148, &["inserted", "lost the slot"], |seen| {
        let table = Arc::new(table(4));
        let path = Path::new(&table);
        let incoming = path.incoming;
        let other = fingerprint(&table, 2, 2, 0, 0);
        let inserter =
            spawn(&table, move |table| table.insert::<FixedWords>(pair(table, incoming, 0)));
        let other_inserter =
            spawn(&table, move |table| table.insert::<FixedWords>(pair(table, other, 2)));
        let outcomes = [inserter.join().unwrap(), other_inserter.join().unwrap()];
        let is_in = outcomes.map(|outcome| outcome.is_ok());
        assert!(is_in[0] != is_in[1], "one slot, {outcomes:?}");
        seen.note_if(is_in[0], "inserted", "lost the slot");
        assert_eq!(table.count::<FixedWords>(pair(&table, incoming, 0)), usize::from(is_in[0]));
        assert_eq!(table.count::<FixedWords>(pair(&table, other, 2)), usize::from(is_in[1]));
        path.assert_all_there(&table);
    });
}

/// Catches two relocating inserts of which one overwrites the other's slot.
#[test]
fn two_inserts_that_relocate() {
    check("insert_two_relocating", 193, &["done"], |seen| {
        let table = Arc::new(table(3));
        let moved = [0, 1].map(|nth| fingerprint(&table, 0, 2, 0, nth));
        let settled = [0, 1].map(|nth| fingerprint(&table, 1, 0, 1, nth));
        let items = [0, 1].map(|nth| fingerprint(&table, 0, 1, 0, nth));
        for (item, bucket) in
            moved.map(|item| (item, 0)).into_iter().chain(settled.map(|item| (item, 1)))
        {
            put(&table, item, bucket);
        }
        let inserters = items.map(|item| {
            spawn(&table, move |table| table.insert::<FixedWords>(pair(table, item, 0)))
        });
        for inserter in inserters {
            assert_eq!(inserter.join().unwrap(), Ok(()));
        }
        seen.note("done");
        for item in items.into_iter().chain(moved).chain(settled) {
            let bucket = u32::from(settled.contains(&item));
            assert_eq!(table.count::<FixedWords>(pair(&table, item, bucket)), 1);
        }
    });
}
