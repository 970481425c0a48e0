//! The moves by which `insert` and `insert_unique` make room, beside the other operations on what
//! they move.

use guira::raw::{Fingerprint, FixedTable, FixedWords, Pair};
use guira_loom_tests::{
    EVERY_WAY, Written, check, fingerprint, look_up_beside, pair, publish, put, spawn, table,
};
use loom::sync::Arc;

/// Three buckets, where an insert into 0 needs two moves: first `far` from 1 to 2, then `near` from
/// 0 to 1. The other items in 0 and 1 have only that bucket.
struct Path {
    incoming: Fingerprint,
    near: Fingerprint,
    far: Fingerprint,
}

impl Path {
    /// Fills the table, apart from `far` if it is left out.
    fn new(table: &FixedTable, with_far: bool) -> Self {
        let near = fingerprint(table, 0, 1, 1, 0);
        // Their high parts differ from that of `near`, so that a comparison of high parts settles
        // the answer in semi-sorted words, too.
        let apart = |bucket, alternate, stripe| {
            let mut all = (0..).map(|nth| fingerprint(table, bucket, alternate, stripe, nth));
            all.find(|item| item.get() >> 4 != near.get() >> 4).expect("one of many")
        };
        let (far, incoming) = (apart(1, 2, 1), apart(0, 0, 1));
        put(table, near, 0);
        put(table, apart(0, 0, 0), 0);
        put(table, apart(1, 1, 0), 1);
        if with_far {
            put(table, far, 1);
        }
        Self { incoming, near, far }
    }
}

/// The insertion of an item that is absent.
type Insert = fn(&FixedTable, Pair);

/// `insert`.
fn plain(table: &FixedTable, pair: Pair) {
    table.insert::<FixedWords>(pair).expect("room");
}

/// `insert_unique`.
fn unique(table: &FixedTable, pair: Pair) {
    assert_eq!(table.insert_unique::<FixedWords>(pair), Ok(true));
}

/// Looks up `near` beside the insert that moves it.
fn beside_a_reader(name: &str, floor: usize, insert: Insert) {
    check(name, floor, EVERY_WAY, move |seen| {
        let table = Arc::new(table(3));
        let Path { incoming, near, far } = Path::new(&table, true);
        look_up_beside(&table, seen, pair(&table, near, 1), move |table| {
            insert(table, pair(table, incoming, 0));
        });
        for (item, bucket) in [(incoming, 0), (near, 1), (far, 2)] {
            assert_eq!(table.count::<FixedWords>(pair(&table, item, bucket)), 1);
        }
    });
}

/// Catches an `insert` whose moves hide an item from lookups.
#[test]
fn insert_beside_a_reader() {
    beside_a_reader("room_insert_reader", 12_700, plain);
}

/// Catches an `insert_unique` whose moves hide an item from lookups.
#[test]
fn unique_beside_a_reader() {
    beside_a_reader("room_unique_reader", 17_100, unique);
}

/// Removes `near` beside the insert that moves it.
fn beside_a_removal(name: &str, floor: usize, insert: Insert) {
    check(name, floor, &["done"], move |seen| {
        let table = Arc::new(table(3));
        let Path { incoming, near, far } = Path::new(&table, true);
        let inserter = spawn(&table, move |table| insert(table, pair(table, incoming, 0)));
        let remover = spawn(&table, move |table| table.remove::<FixedWords>(pair(table, near, 1)));
        assert!(remover.join().unwrap(), "an item that is there throughout was not removed");
        inserter.join().unwrap();
        assert_eq!(
            table.count::<FixedWords>(pair(&table, near, 1)),
            0,
            "one half of a move was removed"
        );
        assert_eq!(table.count::<FixedWords>(pair(&table, incoming, 0)), 1);
        assert_eq!(table.count::<FixedWords>(pair(&table, far, 1)), 1);
        seen.note("done");
    });
}

/// Catches an `insert` that moves an item under the wrong lock: a removal misses it.
#[test]
fn insert_beside_a_removal() {
    beside_a_removal("room_insert_remove", 86, plain);
}

/// Catches an `insert_unique` that moves an item under the wrong lock: a removal misses it.
#[test]
fn unique_beside_a_removal() {
    beside_a_removal("room_unique_remove", 63, unique);
}

/// Inserts `far` after a relaxed write. The other thread inserts an item, which may move `far`, and
/// looks `far` up in its destination alone.
fn acquires(name: &str, floor: usize, insert: Insert) {
    check(name, floor, &["hit", "miss"], move |seen| {
        let table = Arc::new(table(3));
        let Path { incoming, far, .. } = Path::new(&table, false);
        let written = Written::new();
        let inserter = {
            let written = written.clone();
            spawn(&table, move |table| {
                written.write();
                // Into this very bucket, which has no room if the other insert comes first.
                let _ = table.insert::<FixedWords>(Pair {
                    fingerprint: far,
                    value: 0,
                    buckets: [1; 2],
                });
            })
        };
        let mover = spawn(&table, move |table| {
            insert(table, pair(table, incoming, 0));
            let hit = table.contains(Pair { fingerprint: far, value: 0, buckets: [2; 2] });
            if hit {
                written.assert();
            }
            hit
        });
        inserter.join().unwrap();
        seen.note_if(mover.join().unwrap(), "hit", "miss");
    });
}

/// Catches an `insert` whose moves do not acquire what was published.
#[test]
fn insert_acquires_what_it_moves() {
    acquires("room_insert_acquires", 50, plain);
}

/// Catches an `insert_unique` whose moves do not acquire what was published.
#[test]
fn unique_acquires_what_it_moves() {
    acquires("room_unique_acquires", 50, unique);
}

/// Moves `far` and looks it up.
fn publishes(name: &str, floor: usize, insert: Insert) {
    check(name, floor, &["hit", "miss"], move |seen| {
        let table = Arc::new(table(3));
        let Path { incoming, far, .. } = Path::new(&table, true);
        let insert = move |table: &FixedTable| insert(table, pair(table, incoming, 0));
        let far = Pair { fingerprint: far, value: 0, buckets: [2; 2] };
        publish(&table, seen, insert, |table| table.contains(far));
    });
}

/// Catches an `insert` whose moves do not publish.
#[test]
fn insert_publishes_what_it_moves() {
    publishes("room_insert_publishes", 50, plain);
}

/// Catches an `insert_unique` whose moves do not publish.
#[test]
fn unique_publishes_what_it_moves() {
    publishes("room_unique_publishes", 50, unique);
}

/// Catches an `insert` that forgets its item when another thread changes the word that its move
/// leaves.
#[test]
fn insert_beside_a_removal_of_a_neighbour() {
    check("room_insert_neighbour", 60, &["done"], |seen| {
        let table = Arc::new(table(2));
        let moved = fingerprint(&table, 0, 1, 0, 0);
        let neighbour = fingerprint(&table, 0, 0, 1, 0);
        let incoming = fingerprint(&table, 0, 0, 0, 0);
        put(&table, moved, 0);
        put(&table, neighbour, 0);
        let inserter = spawn(&table, move |table| plain(table, pair(table, incoming, 0)));
        let remover = spawn(&table, move |table| {
            assert!(table.remove::<FixedWords>(pair(table, neighbour, 0)))
        });
        inserter.join().unwrap();
        remover.join().unwrap();
        assert_eq!(table.count::<FixedWords>(pair(&table, incoming, 0)), 1, "the new item is gone");
        assert_eq!(table.count::<FixedWords>(pair(&table, moved, 0)), 1);
        seen.note("done");
    });
}
