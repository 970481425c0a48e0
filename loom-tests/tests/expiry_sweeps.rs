//! Sweeps beside the other steps of a table whose slots expire, and decisions that are a generation
//! old.
#![cfg(not(feature = "semi-sorted"))]

use std::cmp::Ordering;

use guira::{
    ExpiringFilter,
    raw::{FixedWords, Pair},
};
use guira_loom_tests::{
    Seen, check,
    expiry::{Aging, START, WINDOW, aging, assert_ends, copies, filter, item, put, relocate},
    spawn, spawn_deep,
};

/// Two buckets, or a single one.
const BOTH: [u32; 2] = [0, 1];
const FIRST: [u32; 2] = [0, 0];
const SECOND: [u32; 2] = [1, 1];

/// Catches a mover that copies an expired slot past the sweep, and a pass through the locks that
/// comes too late or not at all.
#[test]
fn sweep_beside_a_move() {
    check("expiry_sweep_move", 1_400, &["moved", "swept"], |seen| {
        let table = aging();
        let item = item(&table, BOTH, 0, 0);
        put(&table, item, START - 1, 1);
        let mover = spawn(&table, move |table| relocate(table, item, START - 1, 1, None));
        let sweeper = spawn(&table, |table| table.sweep::<FixedWords>(2));
        table.advance::<FixedWords>();
        table.advance::<FixedWords>();
        sweeper.join().unwrap();
        seen.note_if(mover.join().unwrap(), "moved", "swept");
        assert_eq!(copies(&table, item), 0, "a slot was not swept in the generation that ended");
        assert_ends(&table);
    });
}

/// Catches a mover that does not check the age of what it moves: an expired slot gets past the
/// sweep, even if all threads read the same generation.
#[test]
fn sweep_beside_a_move_of_an_expired_slot() {
    check("expiry_sweep_expired", 7, &["dropped", "swept"], |seen| {
        let table = aging();
        let item = item(&table, BOTH, 0, 0);
        put(&table, item, START - 2, 1);
        let mover = spawn(&table, move |table| relocate(table, item, START - 2, 1, None));
        while table.sweep::<FixedWords>(1) > 0 {}
        seen.note_if(mover.join().unwrap(), "dropped", "swept");
        assert_eq!(copies(&table, item), 0, "a slot hopped over the sweep");
        assert_ends(&table);
    });
}

/// Catches a sweep that forgets what another thread adds to the bucket.
#[test]
fn sweep_beside_an_insert_and_a_lookup() {
    check("expiry_sweep_insert", 32_200, &["hit", "miss"], |seen| {
        let table = aging();
        let [old, new, other] = [0, 1, 2].map(|nth| item(&table, FIRST, 0, nth));
        put(&table, old, START - 2, 0);
        let inserter = spawn(&table, move |table| table.insert_for::<FixedWords>(new, WINDOW));
        let reader = spawn(&table, move |table| {
            assert!(!table.is_visible(other) && !table.is_visible(old));
            table.is_visible(new)
        });
        table.sweep::<FixedWords>(2);
        assert_eq!(inserter.join().unwrap(), Ok(START));
        seen.note_if(reader.join().unwrap(), "hit", "miss");
        assert!(table.is_visible(new), "a sweep lost an item");
        assert_eq!(copies(&table, old), 0);
        assert_ends(&table);
    });
}

/// Catches an insert into an expired slot that forgets what another thread adds to the bucket, or
/// that does not count what it sweeps.
#[test]
fn insert_into_an_expired_slot_beside_an_insert() {
    check("expiry_swept_insert", 17, &["done"], |seen| {
        let table = aging();
        let [old, new, other] = [0, 1, 2].map(|nth| item(&table, FIRST, nth as u32 % 2, nth));
        put(&table, old, START - 2, 0);
        let inserter = spawn(&table, move |table| table.insert_for::<FixedWords>(new, WINDOW));
        assert_eq!(table.insert_unseen::<FixedWords>(other), Ok(Some(START)));
        assert_eq!(inserter.join().unwrap(), Ok(START));
        assert!(table.is_visible(new) && table.is_visible(other), "an item is lost");
        seen.note("done");
        assert_ends(&table);
    });
}

/// Runs an operation that sweeps the first bucket beside two advances and an insert into it.
fn late_sweep(name: &str, floor: usize, set_up: fn(&Aging), sweep: fn(&Aging)) {
    check(name, floor, &["done"], move |seen| {
        let table = aging();
        let new = item(&table, FIRST, 0, 9);
        set_up(&table);
        let sweeper = spawn(&table, sweep);
        table.advance::<FixedWords>();
        table.advance::<FixedWords>();
        assert_eq!(table.insert_for::<FixedWords>(new, WINDOW), Ok(START + 2));
        sweeper.join().unwrap();
        assert!(table.is_visible(new), "a visible slot was swept");
        seen.note("done");
        assert_ends(&table);
    });
}

/// Catches a mover that sweeps its destination by a generation which it read before it had the
/// lock, and advances that do not pass the lock.
#[test]
fn advances_beside_a_move() {
    let set_up = |table: &Aging| put(table, item(table, BOTH, 1, 0), START, 1);
    late_sweep("expiry_late_move", 67, set_up, |table| {
        let _ = relocate(table, item(table, BOTH, 1, 0), START, 1, None);
    });
}

/// Catches a sweep by a generation that it read before it had the lock, or without the lock.
#[test]
fn advances_beside_a_sweep() {
    late_sweep(
        "expiry_late_sweep",
        116,
        |_| {},
        |table| {
            table.sweep::<FixedWords>(2);
        },
    );
}

/// Catches an insert into full buckets that sweeps them by a generation which it read before it had
/// the lock.
#[test]
fn advances_beside_an_insert_into_a_full_bucket() {
    let set_up = |table: &Aging| {
        for nth in 0..2 {
            put(table, item(table, FIRST, 1, nth), START - 1, 0);
        }
    };
    late_sweep("expiry_late_insert", 401, set_up, |table| {
        let _ = table.insert_for::<FixedWords>(item(table, FIRST, 1, 2), WINDOW);
    });
}

/// Catches an `insert_unseen` that sweeps by a generation which it read before it had the lock.
#[test]
fn advances_beside_an_unseen() {
    late_sweep(
        "expiry_late_unseen",
        112,
        |_| {},
        |table| {
            let added = table.insert_unseen::<FixedWords>(item(table, FIRST, 1, 2)).expect("room");
            assert!(added.is_some());
        },
    );
}

/// Catches a sweep of the last age: a lock holder that read the previous generation clears slots of
/// the new one.
#[test]
fn insert_beside_an_advance_and_a_move() {
    check("expiry_last_age", 493, &["before", "after"], |seen| {
        let table = aging();
        let moved = item(&table, BOTH, 1, 0);
        let new = item(&table, FIRST, 0, 9);
        put(&table, moved, START, 1);
        let mover = spawn(&table, move |table| relocate(table, moved, START, 1, None));
        let inserter = spawn(&table, move |table| table.insert_for::<FixedWords>(new, WINDOW));
        table.advance::<FixedWords>();
        assert!(mover.join().unwrap());
        let generation = inserter.join().unwrap().expect("room");
        seen.note_if(generation == START, "before", "after");
        assert!(table.is_visible(new), "a slot of the generation that begins was swept");
        assert_ends(&table);
    });
}

/// What a model of [`beside_a_sweep`] runs, with the item that expires and a new one.
type Operation = fn(&Aging, Pair, Pair, &Seen);

/// Runs an operation on an item that expires while an advance waits for the operation's lock: then
/// a move of another stripe sweeps the item.
fn beside_a_sweep(
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    in_second: usize,
    operation: Operation,
) {
    check(name, floor, outcomes, move |seen| {
        let table = aging();
        let [old, neighbour] = [0, 1].map(|stripe| item(&table, BOTH, stripe, 0));
        let [new, stays] = [0, 1].map(|stripe| item(&table, FIRST, stripe, 0));
        put(&table, old, START - 1, 0);
        put(&table, stays, START, 0);
        put(&table, neighbour, START, 1);
        (1..in_second).for_each(|nth| put(&table, item(&table, SECOND, 1, nth), START, 1));
        let operator = {
            let seen = seen.clone();
            spawn(&table, move |table| operation(table, old, new, &seen))
        };
        let advancer = spawn(&table, guira::raw::Table::advance::<FixedWords>);
        // The first bucket has room only once the item has expired.
        let _ = relocate(&table, neighbour, START, 1, None);
        operator.join().unwrap();
        advancer.join().unwrap();
        assert_ends(&table);
    });
}

/// Catches a move that does not notice that a sweep took its original: the incoming item is lost,
/// or the copy is not counted.
#[test]
fn sweep_beside_a_move_that_makes_room() {
    beside_a_sweep("expiry_swept_move", 306, &["stored", "stale"], 1, |table, old, new, seen| {
        let stored = relocate(table, old, START - 1, 0, Some((new, START)));
        seen.note_if(stored, "stored", "stale");
        assert_eq!(copies(table, new), usize::from(stored), "the new item is lost, or doubled");
    });
}

/// Catches an insert that loses its item when the slot that it is to take is swept.
#[test]
fn sweep_beside_a_relocating_insert() {
    beside_a_sweep(
        "expiry_swept_relocation",
        1_300,
        &["before", "after"],
        1,
        |table, _, new, seen| {
            let generation = table.insert_for::<FixedWords>(new, WINDOW).expect("room");
            assert_eq!(copies(table, new), 1, "the new item is lost, or doubled");
            seen.note_if(generation == START, "before", "after");
        },
    );
}

/// Catches a removal that counts a slot which a sweep took.
#[test]
fn sweep_beside_a_removal() {
    beside_a_sweep("expiry_swept_remove", 185, &["removed", "swept"], 1, |table, old, _, seen| {
        seen.note_if(table.remove_of::<FixedWords>(old, START - 1), "removed", "swept");
    });
}

/// Catches a refresh that takes a swept slot for refreshed.
#[test]
fn sweep_beside_a_refresh() {
    beside_a_sweep(
        "expiry_swept_refresh",
        405,
        &["refreshed", "swept"],
        1,
        |table, old, _, seen| {
            let refreshed = seen.note_if(table.refresh::<FixedWords>(old), "refreshed", "swept");
            assert_eq!(table.is_visible(old), refreshed, "a refreshed item is lost");
        },
    );
}

/// Catches an `insert_unseen` that accepts an item, in a generation in which it is visible, because
/// a sweep of the next generation has taken it.
#[test]
fn sweep_beside_an_unseen() {
    beside_a_sweep("expiry_swept_unseen", 188, &["seen", "accepted"], 1, |table, old, _, seen| {
        let accepted = table.insert_unseen::<FixedWords>(old).unwrap_or(None);
        seen.note_if(accepted.is_some(), "accepted", "seen");
        assert!(accepted.is_none_or(|generation| generation > START), "accepted within the window");
    });
}

/// Catches a `count` that counts one of two copies, because a sweep of the next generation
/// has taken the other.
#[test]
fn sweep_beside_a_count() {
    check("expiry_swept_count", 2_700, &["two", "none"], |seen| {
        let table = aging();
        let [old, neighbour] = [0, 1].map(|stripe| item(&table, BOTH, stripe, 0));
        put(&table, old, START - 1, 0);
        put(&table, old, START - 1, 1);
        put(&table, item(&table, FIRST, 1, 0), START, 0);
        put(&table, neighbour, START, 1);
        let counter = spawn(&table, move |table| table.count::<FixedWords>(old));
        let advancer = spawn(&table, guira::raw::Table::advance::<FixedWords>);
        let _ = relocate(&table, neighbour, START, 1, None);
        let count = counter.join().unwrap();
        advancer.join().unwrap();
        assert_ne!(count, 1, "both expired at one moment");
        seen.note_if(count == 2, "two", "none");
        assert_ends(&table);
    });
}

/// Catches an advance without a sweep, and one that returns before the one that it shares with has
/// begun a generation.
#[test]
fn two_advances() {
    check("expiry_advances", 4, &["first", "second", "shared"], |seen| {
        let table = aging();
        let old = item(&table, BOTH, 0, 0);
        put(&table, old, START - 1, 1);
        let other = spawn(&table, guira::raw::Table::advance::<FixedWords>);
        let this = table.advance::<FixedWords>();
        assert!(!table.is_visible(old), "an item outlives its last generation");
        let other = other.join().unwrap();
        assert_eq!(this.min(other), START + 1, "the first generation is nobody's");
        seen.note(match this.cmp(&other) {
            Ordering::Less => "first",
            Ordering::Equal => "shared",
            Ordering::Greater => "second",
        });
        table.advance::<FixedWords>();
        assert_eq!(copies(&table, old), 0, "an expired slot was not swept");
        assert_ends(&table);
    });
}

/// A copy of a filter.
type Copy = fn(&ExpiringFilter) -> ExpiringFilter;

/// A copy as by `clone`.
fn cloned(filter: &ExpiringFilter) -> ExpiringFilter {
    filter.try_clone().expect("memory for a few words")
}

/// A copy as by a snapshot that is loaded again.
fn restored(filter: &ExpiringFilter) -> ExpiringFilter {
    ExpiringFilter::loader().bytes(&filter.to_bytes()).expect("its own bytes")
}

/// Copies a filter with an expired slot beside an advance.
fn copy_beside_an_advance(name: &str, floor: usize, copy: Copy) {
    check(name, floor, &["before", "after"], move |seen| {
        let filter = filter();
        let [old, new] = [0, 1].map(|nth| item(filter.table(), BOTH, 0, nth));
        put(filter.table(), old, START - 2, 0);
        put(filter.table(), new, START, 1);
        let copier = spawn_deep(&filter, copy);
        filter.advance();
        let copy = copier.join().unwrap();
        seen.note_if(copy.generation() == START, "before", "after");
        assert!(copy.table().is_visible(new), "an item is not in the copy");
        for _ in 0..4 {
            assert!(!copy.table().is_visible(old), "an expired item is back");
            copy.advance();
        }
        assert_ends(filter.table());
    });
}

/// Catches a clone of words before a sweep reaches them, but with the generation after the sweep:
/// expired slots look new in the clone after its next advance.
#[test]
fn clone_beside_an_advance() {
    copy_beside_an_advance("expiry_clone", 20, cloned);
}

/// Catches the same for a snapshot.
#[test]
fn snapshot_beside_an_advance() {
    copy_beside_an_advance("expiry_snapshot", 20, restored);
}

/// Copies a filter beside an advance and an insert in the generation that it begins.
fn copy_beside_an_advance_and_an_insert(name: &str, floor: usize, copy: Copy) {
    check(name, floor, &["with", "without"], move |seen| {
        let filter = filter();
        let new = item(filter.table(), BOTH, 0, 0);
        let copier = spawn_deep(&filter, copy);
        let inserter =
            spawn(&filter, move |filter| filter.table().insert_for::<FixedWords>(new, WINDOW));
        filter.advance();
        let copy = copier.join().unwrap();
        assert!(inserter.join().unwrap().is_ok());
        let is_in = seen.note_if(copies(copy.table(), new) == 1, "with", "without");
        let found = copy.table().is_visible(new);
        assert_eq!(found, is_in, "an item is in the copy, and is not found");
        assert_ends(copy.table());
        assert_ends(filter.table());
    });
}

/// Catches a clone whose generation was read before its words: an item of the generation that
/// begins is in it and cannot be found.
#[test]
fn clone_beside_an_advance_and_an_insert() {
    copy_beside_an_advance_and_an_insert("expiry_clone_insert", 2_300, cloned);
}

/// Catches the same for a snapshot.
#[test]
fn snapshot_beside_an_advance_and_an_insert() {
    copy_beside_an_advance_and_an_insert("expiry_snapshot_insert", 2_300, restored);
}

/// Catches an advance in which an item is missed, doubled or miscounted by what runs beside it.
#[test]
fn removal_beside_an_advance() {
    check("expiry_advance_remove", 28, &["done"], |seen| {
        let table = aging();
        let [item, other] = [0, 1].map(|nth| item(&table, BOTH, 0, nth));
        put(&table, item, START, 0);
        put(&table, other, START - 1, 0);
        let remover = spawn(&table, move |table| table.remove_of::<FixedWords>(item, START));
        table.advance::<FixedWords>();
        assert!(remover.join().unwrap(), "a visible item was not removed");
        assert_eq!((table.is_visible(item), table.clock().visible_slots()), (false, Some(0)));
        seen.note("done");
        assert_ends(&table);
    });
}

/// Catches a `clear` that does not count what it clears.
#[test]
fn clear_beside_an_insert() {
    check("expiry_clear", 11, &["kept", "cleared"], |seen| {
        let table = aging();
        let item = item(&table, BOTH, 0, 0);
        put(&table, item, START, 0);
        let inserter = spawn(&table, move |table| table.insert_for::<FixedWords>(item, WINDOW));
        let cleared = table.clear();
        assert!(inserter.join().unwrap().is_ok());
        seen.note_if(cleared == 1, "kept", "cleared");
        assert_ends(&table);
    });
}
