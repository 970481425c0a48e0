//! Inserts that race for lanes, and the relocation path of a full insert beside readers, movers and
//! thieves of the lane it frees.

use guira::{
    InsertError,
    raw::{Table, Fingerprint},
};
use guira_loom_tests::{
    EVERY_WAY, L, Mark, check, fingerprint, pair, put, relocate, spawn, spawn_reader, table,
};
use loom::sync::Arc;

#[test]
fn racing_for_the_last_lane() {
    check("insert_last_lane", 35, &["first", "second"], |seen| {
        let core = Arc::new(table(2));
        for (nth, bucket) in [(2, 0), (3, 0), (4, 1)] {
            put(&core, fingerprint(&core, 0, 1, 0, nth), bucket);
        }
        let items = [0, 1].map(|nth| fingerprint(&core, 0, 1, 0, nth));
        let outcomes = items
            .map(|item| spawn(&core, move |core| core.insert::<L>(pair(core, item, 0))))
            .map(|inserter| inserter.join().unwrap());
        let is_in = outcomes.map(|outcome| outcome.is_ok());
        assert!(is_in[0] != is_in[1], "one lane, {outcomes:?}");
        assert!(outcomes.contains(&Err(InsertError::Full)), "{outcomes:?}");
        seen.note_if(is_in[0], "first", "second");
        for (item, is_in) in items.into_iter().zip(is_in) {
            assert_eq!(core.count::<L>(pair(&core, item, 0)), usize::from(is_in));
        }
    });
}

/// Four buckets, in which an insert into 0 and 1 needs a path of two moves: `near` from 0 to 2, which
/// is full, and before that `far` from 2 to 3, which has one free lane.
struct Path {
    near: Fingerprint,
    far: Fingerprint,
    newcomer: Fingerprint,
    /// With a bucket of each, and whoever else is in.
    others: Vec<(Fingerprint, u32)>,
}

impl Path {
    fn new(core: &Table) -> Self {
        let near = fingerprint(core, 0, 2, 0, 0);
        let far = fingerprint(core, 2, 3, 0, 0);
        let newcomer = fingerprint(core, 0, 1, 0, 0);
        let others = vec![
            (fingerprint(core, 0, 1, 1, 0), 0),
            (fingerprint(core, 0, 1, 1, 1), 1),
            (fingerprint(core, 0, 1, 1, 2), 1),
            (fingerprint(core, 2, 2, 1, 0), 2),
            (fingerprint(core, 3, 2, 1, 0), 3),
        ];
        put(core, near, 0);
        put(core, far, 2);
        for &(item, bucket) in &others {
            put(core, item, bucket);
        }
        Self { near, far, newcomer, others }
    }

    /// Fails unless everybody who was in at first is, once.
    fn assert_all_there(&self, core: &Table) {
        assert_eq!(core.count::<L>(pair(core, self.near, 0)), 1);
        assert_eq!(core.count::<L>(pair(core, self.far, 2)), 1);
        for &(item, bucket) in &self.others {
            assert_eq!(core.count::<L>(pair(core, item, bucket)), 1);
        }
    }
}

/// A reader of one of the items that the path moves.
fn path_beside_a_reader(name: &str, of: fn(&Path) -> (Fingerprint, u32)) {
    check(name, 5_500, EVERY_WAY, move |seen| {
        let core = Arc::new(table(4));
        let path = Path::new(&core);
        let newcomer = path.newcomer;
        let (item, bucket) = of(&path);
        let done = Mark::default();
        let reader = spawn_reader(&core, seen, &done, pair(&core, item, bucket));
        let inserter = spawn(&core, move |core| {
            core.insert::<L>(pair(core, newcomer, 0)).unwrap();
            done.set();
        });
        reader.join().unwrap();
        inserter.join().unwrap();
        assert_eq!(core.count::<L>(pair(&core, newcomer, 0)), 1);
        path.assert_all_there(&core);
    });
}

#[test]
fn path_beside_a_reader_of_its_near_item() {
    path_beside_a_reader("path_reader_near", |path| (path.near, 2));
}

#[test]
fn path_beside_a_reader_of_its_far_item() {
    path_beside_a_reader("path_reader_far", |path| (path.far, 3));
}

/// A mover makes the plan stale: what was to move is gone, and the search starts again. It may come
/// upon half of the move, when the last free lane is taken by the second copy: then the table is full.
#[test]
fn path_beside_a_mover() {
    check("path_mover", 53, &["moved", "not moved", "moved, full"], |seen| {
        let core = Arc::new(table(4));
        let path = Path::new(&core);
        let (newcomer, far) = (path.newcomer, path.far);
        let inserter = spawn(&core, move |core| core.insert::<L>(pair(core, newcomer, 0)));
        let mover = spawn(&core, move |core| relocate(core, far, 2, 3));
        let outcome = inserter.join().unwrap();
        seen.note(match (mover.join().unwrap(), outcome) {
            (true, Ok(())) => "moved",
            (true, Err(InsertError::Full)) => "moved, full",
            (false, Ok(())) => "not moved",
            other => panic!("{other:?}"),
        });
        assert_eq!(core.count::<L>(pair(&core, newcomer, 0)), usize::from(outcome.is_ok()));
        path.assert_all_there(&core);
    });
}

/// A remover makes the plan stale: what was to move is gone for good.
#[test]
fn path_beside_a_remover() {
    check("path_remover", 51, &["done"], |seen| {
        let core = Arc::new(table(4));
        let path = Path::new(&core);
        let (newcomer, far) = (path.newcomer, path.far);
        let inserter = spawn(&core, move |core| core.insert::<L>(pair(core, newcomer, 0)).unwrap());
        let remover = spawn(&core, move |core| assert!(core.remove::<L>(pair(core, far, 2))));
        inserter.join().unwrap();
        remover.join().unwrap();
        seen.note("done");
        assert_eq!(core.count::<L>(pair(&core, newcomer, 0)), 1);
        assert_eq!(core.count::<L>(pair(&core, far, 2)), 0);
        assert_eq!(core.count::<L>(pair(&core, path.near, 0)), 1);
    });
}

/// A thief wants the lane in bucket 2 that the first move frees. One of the two gets it; nobody else
/// is lost.
#[test]
fn path_beside_a_thief() {
    check("path_thief", 148, &["inserted", "stolen"], |seen| {
        let core = Arc::new(table(4));
        let path = Path::new(&core);
        let newcomer = path.newcomer;
        let stolen = fingerprint(&core, 2, 2, 0, 0);
        let inserter = spawn(&core, move |core| core.insert::<L>(pair(core, newcomer, 0)));
        let thief = spawn(&core, move |core| core.insert::<L>(pair(core, stolen, 2)));
        let outcomes = [inserter.join().unwrap(), thief.join().unwrap()];
        let is_in = outcomes.map(|outcome| outcome.is_ok());
        assert!(is_in[0] != is_in[1], "one lane, {outcomes:?}");
        seen.note_if(is_in[0], "inserted", "stolen");
        assert_eq!(core.count::<L>(pair(&core, newcomer, 0)), usize::from(is_in[0]));
        assert_eq!(core.count::<L>(pair(&core, stolen, 2)), usize::from(is_in[1]));
        path.assert_all_there(&core);
    });
}

/// Two newcomers, each of which needs one move out of bucket 0: neither takes the other's lane.
#[test]
fn two_newcomers_each_with_a_move() {
    check("insert_two_with_moves", 193, &["done"], |seen| {
        let core = Arc::new(table(3));
        let moved = [0, 1].map(|nth| fingerprint(&core, 0, 2, 0, nth));
        let settled = [0, 1].map(|nth| fingerprint(&core, 1, 0, 1, nth));
        let items = [0, 1].map(|nth| fingerprint(&core, 0, 1, 0, nth));
        for (item, bucket) in
            moved.map(|item| (item, 0)).into_iter().chain(settled.map(|item| (item, 1)))
        {
            put(&core, item, bucket);
        }
        let inserters =
            items.map(|item| spawn(&core, move |core| core.insert::<L>(pair(core, item, 0))));
        for inserter in inserters {
            assert_eq!(inserter.join().unwrap(), Ok(()));
        }
        seen.note("done");
        for item in items.into_iter().chain(moved).chain(settled) {
            let bucket = u32::from(settled.contains(&item));
            assert_eq!(core.count::<L>(pair(&core, item, bucket)), 1);
        }
    });
}
