//! Tables that grow: the moves by which `insert` and `insert_unique` make room.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{GrowingTable, Item, Place};
use guira_loom_tests::{
    EVERY_WAY, Seen, Written, check, look_up_beside, publish, spawn,
    splits::{S, item, only, put, reversed, split, staying, table},
};
use loom::sync::Arc;

/// A table in which an insert needs two moves: first `far` from 2 to 3, then `near` from 1 to 2.
/// All other items in 0, 1 and 2 stay.
struct Path {
    table: Arc<GrowingTable>,
    incoming: Item,
    near: Item,
    far: Item,
}

/// Returns a table of four buckets after the first round, in which there is a path, apart from
/// `far` if it is left out. All that moves has the stripe of the incoming item: a thread that kept
/// its lock would wait for itself.
fn path(with_far: bool) -> Path {
    path_within(8, with_far)
}

/// As [`path`], in a table that may grow to `max` buckets.
fn path_within(max: u64, with_far: bool) -> Path {
    let table = table(2, max);
    split(&table);
    split(&table);
    let incoming = item(&table, 1, [0, 1], [0, 0], 1);
    // From bucket 1 to bucket 2, and from bucket 2 to bucket 3.
    let near = item(&table, 1, [1, 0], [0, 1], 0);
    let far = item(&table, 1, [0, 1], [1, 1], 0);
    put(&table, near.sides[0]);
    if with_far {
        put(&table, far.sides[0]);
    }
    for (bucket, nth) in [(0, 0), (0, 1), (1, 0)] {
        put(&table, staying(&table, bucket, nth).sides[0]);
    }
    // It has bucket 2 on both sides.
    put(&table, item(&table, 1, [0; 2], [1, 1], 0).sides[0]);
    Path { table, incoming, near, far }
}

/// The insertion of an item that is absent.
type Insert = fn(&GrowingTable, Item);

/// `insert`.
fn plain(table: &GrowingTable, item: Item) {
    table.insert::<S>(item).expect("room");
}

/// `insert_unique`.
fn unique(table: &GrowingTable, item: Item) {
    assert_eq!(table.insert_unique::<S>(item), Ok(true));
}

/// Looks up `near` beside the insert that moves it, in its destination first.
fn beside_a_reader(name: &str, floor: usize, insert: Insert) {
    check(name, floor, EVERY_WAY, move |seen| {
        let Path { table, incoming, near, far } = path(true);
        look_up_beside(&table, seen, reversed(near), move |table| insert(table, incoming));
        assert_eq!([incoming, near, far].map(|item| table.count::<S>(item)), [1; 3]);
        assert_eq!(table.buckets(), 4, "there was room");
    });
}

/// Catches an `insert` whose moves hide an item from lookups.
#[test]
fn insert_beside_a_reader() {
    beside_a_reader("split_room_insert_reader", 3_500, plain);
}

/// Catches an `insert_unique` whose moves hide an item from lookups.
#[test]
fn unique_beside_a_reader() {
    beside_a_reader("split_room_unique_reader", 7_400, unique);
}

/// Removes `near` beside the insert that moves it.
fn beside_a_removal(name: &str, floor: usize, insert: Insert) {
    check(name, floor, &["done"], move |seen| {
        let Path { table, incoming, near, far } = path(true);
        let inserter = spawn(&table, move |table| insert(table, incoming));
        let remover = spawn(&table, move |table| table.remove::<S>(near));
        assert!(remover.join().unwrap(), "an item that is there throughout was not removed");
        inserter.join().unwrap();
        assert_eq!(table.count::<S>(near), 0, "one half of a move was removed");
        assert_eq!([incoming, far].map(|item| table.count::<S>(item)), [1; 2]);
        seen.note("done");
    });
}

/// Catches an `insert` that moves an item under the wrong lock: a removal misses it.
#[test]
fn insert_beside_a_removal() {
    beside_a_removal("split_room_insert_remove", 120, plain);
}

/// Catches an `insert_unique` that moves an item under the wrong lock: a removal misses it.
#[test]
fn unique_beside_a_removal() {
    beside_a_removal("split_room_unique_remove", 110, unique);
}

/// Splits bucket 1 in its turn, or bucket 2 out of turn, beside the insert that moves their items.
fn beside_a_split(name: &str, floor: usize, insert: Insert) {
    check(name, floor, &["done"], move |seen| {
        let Path { table, incoming, near, far } = path(true);
        let inserter = spawn(&table, move |table| insert(table, incoming));
        let splitter = spawn(&table, |table| {
            for bucket in [1, 2] {
                table.split_early(Place { bucket, level: 1 }).expect("room for a bucket");
            }
        });
        inserter.join().unwrap();
        splitter.join().unwrap();
        assert_eq!([incoming, near, far].map(|item| table.count::<S>(item)), [1; 3]);
        seen.note("done");
    });
}

/// Catches an `insert` whose plan is carried out after its buckets were split.
#[test]
fn insert_beside_a_split() {
    beside_a_split("split_room_insert_split", 1_500, plain);
}

/// Catches an `insert_unique` whose plan is carried out after its buckets were split.
#[test]
fn unique_beside_a_split() {
    beside_a_split("split_room_unique_split", 1_600, unique);
}

/// Inserts `far` after a relaxed write. The other thread inserts an item, which may move `far`, and
/// looks `far` up in its destination alone.
fn acquires(name: &str, floor: usize, insert: Insert) {
    check(name, floor, &["hit", "miss"], move |seen| {
        let Path { table, incoming, far, .. } = path(false);
        let written = Written::new();
        let inserter = {
            let written = written.clone();
            spawn(&table, move |table| {
                written.write();
                // Into this very bucket, which has no room if the other insert comes first.
                put_if_room(table, far);
            })
        };
        let mover = spawn(&table, move |table| {
            insert(table, incoming);
            let hit = table.contains(only(far.sides[1]));
            if hit {
                written.assert();
            }
            hit
        });
        inserter.join().unwrap();
        seen.note_if(mover.join().unwrap(), "hit", "miss");
        assert_eq!(table.count::<S>(incoming), 1, "stored in place of a slot that was not moved");
    });
}

/// Inserts an item on its first side, if it has room there without a split.
fn put_if_room(table: &GrowingTable, item: Item) {
    let _ = table.insert_up_to::<S>(1, only(item.sides[0]));
}

/// Catches an `insert` whose moves do not acquire what was published.
#[test]
fn insert_acquires_what_it_moves() {
    acquires("split_room_insert_acquires", 3_900, plain);
}

/// Catches an `insert_unique` whose moves do not acquire what was published.
#[test]
fn unique_acquires_what_it_moves() {
    acquires("split_room_unique_acquires", 5_400, unique);
}

/// Moves `far` and looks it up.
fn publishes(name: &str, floor: usize, insert: Insert) {
    check(name, floor, &["hit", "miss"], move |seen| {
        let Path { table, incoming, far, .. } = path(true);
        let insert = move |table: &GrowingTable| insert(table, incoming);
        publish(&table, seen, insert, |table| table.contains(only(far.sides[1])));
    });
}

/// Catches an `insert` whose moves do not publish.
#[test]
fn insert_publishes_what_it_moves() {
    publishes("split_room_insert_publishes", 530, plain);
}

/// Catches an `insert_unique` whose moves do not publish.
#[test]
fn unique_publishes_what_it_moves() {
    publishes("split_room_unique_publishes", 530, unique);
}

/// Inserts an item that takes the place of one that moves, and looks it up.
fn publishes_incoming(name: &str, floor: usize, insert: Insert) {
    check(name, floor, &["hit", "miss"], move |seen| {
        let Path { table, incoming, .. } = path(true);
        let insert = move |table: &GrowingTable| insert(table, incoming);
        publish(&table, seen, insert, |table| table.contains(incoming));
    });
}

/// Catches an incoming item that is stored with too weak an ordering by `insert`.
#[test]
fn insert_publishes_in_place_of_a_slot() {
    publishes_incoming("split_room_insert_incoming", 3_000, plain);
}

/// Catches an item that `insert_unique` stores with too weak an ordering after it made room.
#[test]
fn unique_publishes_after_it_made_room() {
    publishes_incoming("split_room_unique_incoming", 20_000, unique);
}

/// Runs two calls of `insert_unique` with one item, of which one adds it.
fn unique_beside_itself(Path { table, incoming, near, far }: &Path, seen: &Seen) {
    let item = *incoming;
    let inserters =
        [0, 1].map(|_| spawn(table, move |table| table.insert_unique::<S>(item).expect("room")));
    let [first, second] = inserters.map(|inserter| inserter.join().unwrap());
    assert!(first != second, "added by {}", if first { "both" } else { "neither" });
    seen.note_if(first, "first", "second");
    assert_eq!([incoming, near, far].map(|item| table.count::<S>(*item)), [1; 3]);
}

/// Catches an `insert_unique` that returns an error although another call has added the item while
/// it looked for room.
#[test]
fn unique_with_one_room() {
    check("split_room_unique_one", 300, &["first", "second"], |seen| {
        unique_beside_itself(&path_within(4, true), seen);
    });
}

/// Catches an `insert_unique` that does not look again after it made room.
#[test]
fn unique_with_two_rooms() {
    check("split_room_unique_two", 150, &["first", "second"], |seen| {
        let path = path_within(4, true);
        // From bucket 0 to bucket 3.
        let another = item(&path.table, 1, [0, 1], [0, 1], 1);
        assert!(path.table.remove::<S>(staying(&path.table, 0, 1)));
        put(&path.table, another.sides[0]);
        unique_beside_itself(&path, seen);
        assert_eq!(path.table.count::<S>(another), 1);
    });
}
