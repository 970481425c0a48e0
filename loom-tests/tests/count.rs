//! Operations that count copies: between the two halves of a move there is one too many.

use guira::{
    CuckooFilter, CuckooMap, Hashed, InsertError, Insertion,
    raw::{FixedWords, Leases, ShardedCounter},
};
use guira_loom_tests::{
    Mark, check, fingerprint, pair, put, put_each, relocate, spawn, with_copies,
};
use loom::sync::Arc;

/// Counts an item's copies, which are in these buckets, while one of them moves from bucket 1 to 0.
fn count_beside_a_move(name: &str, buckets: &'static [u32]) {
    check(name, 23, &["before", "not before"], move |seen| {
        let (table, item) = with_copies(buckets);
        let done = Mark::default();
        let counter = {
            let (seen, done) = (seen.clone(), done.clone());
            spawn(&table, move |table| {
                assert_eq!(table.count::<FixedWords>(pair(table, item, 0)), buckets.len());
                seen.note_if(done.is_set(), "not before", "before");
            })
        };
        let mover = spawn(&table, move |table| {
            assert!(relocate(table, item, 1, 0));
            done.set();
        });
        counter.join().unwrap();
        mover.join().unwrap();
    });
}

/// Catches a `count` that counts both copies of a half-done move, or neither.
#[test]
fn of_one_copy_beside_a_move() {
    count_beside_a_move("count_move", &[1]);
}

/// Catches a `count` of several copies that miscounts beside a move of one of them.
#[test]
fn of_two_copies_beside_a_move() {
    count_beside_a_move("count_two_copies_move", &[1, 0]);
}

/// Catches `TooManyCopies` decided without the lock, when half of a move looks like a copy.
///
/// Three copies stand in four slots. A half-done move makes them look like four.
#[test]
fn too_many_copies_beside_a_move() {
    check("too_many_copies_move", 43, &["moved", "no room"], |seen| {
        let (table, item) = with_copies(&[0, 0, 1]);
        let inserter = spawn(&table, move |table| table.insert::<FixedWords>(pair(table, item, 0)));
        let mover = spawn(&table, move |table| relocate(table, item, 0, 1));
        assert_eq!(inserter.join().unwrap(), Ok(()), "there was an empty slot throughout");
        seen.note_if(mover.join().unwrap(), "moved", "no room");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 4);
        assert_eq!(
            table.insert::<FixedWords>(pair(&table, item, 0)),
            Err(InsertError::TooManyCopies)
        );
    });
}

/// Catches a wrong `TooManyCopies` after a search that found no room.
///
/// Three copies and a neighbour fill all slots. When the search is over, the neighbour is removed,
/// and a half-done move into its slot makes three copies look like four.
#[test]
fn too_many_copies_after_a_search() {
    check("too_many_copies_search", 135, &["added", "full"], |seen| {
        let (table, item) = with_copies(&[]);
        let neighbour = fingerprint(&table, 0, 0, 1, 0);
        put(&table, neighbour, 0);
        put_each(&table, item, &[0, 1, 1]);
        let inserter = spawn(&table, move |table| table.insert::<FixedWords>(pair(table, item, 0)));
        let mover = spawn(&table, move |table| {
            assert!(table.remove::<FixedWords>(pair(table, neighbour, 0)));
            let _ = relocate(table, item, 1, 0);
        });
        let outcome = inserter.join().unwrap();
        mover.join().unwrap();
        let is_in = seen.note_if(outcome.is_ok(), "added", "full");
        assert!(is_in || outcome == Err(InsertError::Full), "there were three copies");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 3 + usize::from(is_in));
    });
}

/// Catches a wrong `TooManyCopies` beside a removal: it is right only before the removal.
#[test]
fn too_many_copies_beside_a_removal() {
    check("too_many_copies_remove", 60, &["inserted", "too many"], |seen| {
        let (table, item) = with_copies(&[0, 0, 1, 1]);
        let inserter = spawn(&table, move |table| table.insert::<FixedWords>(pair(table, item, 0)));
        let remover =
            spawn(&table, move |table| assert!(table.remove::<FixedWords>(pair(table, item, 0))));
        let outcome = inserter.join().unwrap();
        remover.join().unwrap();
        let is_in = seen.note_if(outcome.is_ok(), "inserted", "too many");
        assert!(is_in || outcome == Err(InsertError::TooManyCopies), "{outcome:?}");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 3 + usize::from(is_in));
    });
}

/// Reads the counter behind `len` beside two writers, and after they are joined.
fn counter_beside_writers(name: &str, floor: usize, shards: usize) {
    check(name, floor, &["-1", "0", "1"], move |seen| {
        let counter = Arc::new(ShardedCounter::new(shards).expect("memory"));
        let writers = [1, -1].map(|change| spawn(&counter, move |counter| counter.add(change)));
        seen.note(match counter.sum() {
            -1 => "-1",
            0 => "0",
            1 => "1",
            sum => panic!("{sum} is not a value that the counter had"),
        });
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(counter.sum(), 0);
    });
}

/// Catches a sharded counter that loses a change, or sums to a value that it never had.
#[test]
fn counter_in_shards_of_their_own() {
    counter_beside_writers("len_counter_two_shards", 40, 2);
}

/// Catches a counter whose threads share a shard and lose a change.
#[test]
fn counter_in_one_shard() {
    counter_beside_writers("len_counter_one_shard", 52, 1);
}

/// Catches a shard that two threads own at once. A thread that begins where another one has ended
/// gets its number.
#[test]
fn counter_whose_shard_is_handed_on() {
    check("len_counter_hand_over", 4, &["first", "second"], |seen| {
        let shared = Arc::new((Leases::new(), ShardedCounter::new(2).expect("memory")));
        let start = |address: usize| {
            let shared = shared.clone();
            loom::thread::spawn(move || {
                let (leases, counter) = &*shared;
                let address = address.try_into().expect("an address");
                let number = leases.of(address).expect("more numbers than threads");
                counter.add_as(number, 1);
                number
            })
        };
        let [first, second] = [1, 2].map(start);
        let number = first.join().unwrap();
        // The system orders them, as the join does here.
        let again = start(1).join().unwrap();
        assert_eq!(number, again, "a thread at the same address has another number");
        assert_ne!(second.join().unwrap(), number, "two threads have one number");
        seen.note_if(number == 0, "first", "second");
        assert_eq!(shared.1.sum(), 3);
    });
}

/// Catches a `len` that is out of bounds beside writers, or not exact once they are joined.
#[test]
fn len_beside_writers() {
    check("len", 59, &["added", "was present", "one left", "none left"], |seen| {
        let filter = CuckooFilter::builder().capacity(4).seed(1).build().expect("memory");
        let filter = Arc::new(filter);
        filter.insert(&Hashed(1)).expect("room");
        let unique =
            spawn(&filter, |filter| filter.insert_unique(&Hashed(1)).expect("room").is_new());
        let remover = spawn(&filter, |filter| filter.remove(&Hashed(1)));
        assert!(filter.len() <= filter.slots());
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert!(remover.join().unwrap(), "there was one copy throughout");
        assert_eq!(filter.len(), usize::from(added));
        assert_eq!(filter.count(&Hashed(1)), usize::from(added));
        // A removal that finds nothing must not be counted.
        seen.note_if(filter.remove(&Hashed(1)), "one left", "none left");
        assert_eq!((filter.len(), filter.remove(&Hashed(1))), (0, false));
        filter.insert(&Hashed(1)).expect("room");
        assert_eq!(filter.len(), 1);
        filter.merge(&filter).expect("room");
        assert_eq!(filter.len(), 2);
    });
}

/// Catches a `len` of a map that is not exact once its writers are joined.
#[test]
fn len_of_a_map_beside_writers() {
    check("len_map", 25, &["added", "found", "one left", "none left"], |seen| {
        let map = CuckooMap::builder().capacity(4).seed(1).build().expect("memory");
        let map = Arc::new(map);
        map.insert(&Hashed(1), 5).expect("room");
        let unique = spawn(&map, |map| map.insert_unique(&Hashed(1), 6).expect("room"));
        let remover = spawn(&map, |map| map.remove(&Hashed(1), 5));
        let found = unique.join().unwrap();
        assert!(matches!(found, Insertion::New(()) | Insertion::Found(5)), "{found:?}");
        let added = seen.note_if(found.is_new(), "added", "found");
        assert!(remover.join().unwrap(), "there was one copy throughout");
        assert_eq!(map.len(), usize::from(added));
        // A removal that finds nothing must not be counted.
        seen.note_if(map.remove(&Hashed(1), 6), "one left", "none left");
        assert_eq!((map.len(), map.remove(&Hashed(1), 6)), (0, false));
        map.insert(&Hashed(1), 5).expect("room");
        assert_eq!(map.len(), 1);
    });
}
