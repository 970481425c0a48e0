//! Tables that grow and whose slots expire: sweeps beside the other steps.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{Item, Place};
use guira_loom_tests::{
    Seen, check, check_shallow, spawn,
    splits::{S, forgetful, item, leaving, split},
    splits_expiry::{
        Aging, START, WINDOW, aging, assert_ends, copies, first, put, relocate, relocate_at,
        split_first, with_load,
    },
};

/// Catches a sweep that leaves out a bucket beyond its end, which was split off from one that
/// expires slots: the size was not advanced when the generation began.
#[test]
fn sweep_beside_a_split() {
    check("split_sweep_split", 3_700, &["done"], |seen| {
        let table = aging(4);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[0], START - 1);
        let splitter = spawn(&table, split);
        table.advance::<S>();
        table.advance::<S>();
        splitter.join().unwrap();
        assert_eq!(copies(&table, item), 0, "a slot was not swept in the generation that ended");
        seen.note("done");
        assert_ends(&table);
    });
}

/// Catches the same for a bucket that was split off from another one beyond the end.
#[test]
fn sweep_beside_splits_of_children() {
    check("split_sweep_families", 15_900, &["done"], |seen| {
        let table = with_load(1, 4, 256);
        // To bucket 1, and then to bucket 3.
        let item = item(&table, 1, [0; 2], [3, 3], 0);
        put(&table, item.sides[0], START - 1);
        let splitter = spawn(&table, |table| {
            for (bucket, level) in [(0, 0), (0, 1), (1, 1)] {
                assert!(table.split_only(Place { bucket, level }));
            }
            table.advance_size();
        });
        table.advance::<S>();
        table.advance::<S>();
        splitter.join().unwrap();
        assert_eq!(copies(&table, item), 0, "a slot was not swept in the generation that ended");
        seen.note("done");
        assert_ends(&table);
    });
}

/// Catches a mover that copies an expired slot past the sweep, into a child beyond the end, and a
/// pass through the locks that comes too late or not at all.
#[test]
fn sweep_beside_a_split_and_a_move() {
    check("split_sweep_move", 3_200, &["moved", "swept"], |seen| {
        let table = aging(4);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[1], START - 1);
        let mover = spawn(&table, move |table| relocate(table, item.sides[1], START - 1));
        let splitter = spawn(&table, split_first);
        table.advance::<S>();
        table.advance::<S>();
        seen.note_if(mover.join().unwrap(), "moved", "swept");
        splitter.join().unwrap();
        assert_eq!(copies(&table, item), 0, "a slot was not swept in the generation that ended");
        assert_ends(&table);
    });
}

/// Catches a sweep that begins before the generation's advance has passed the locks: a mover copies
/// an expired slot past it.
#[test]
fn sweep_beside_a_move_and_advances() {
    check("split_sweep_early", 5_200, &["moved", "swept"], |seen| {
        let table = aging(2);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[1], START - 1);
        let mover = spawn(&table, move |table| relocate(table, item.sides[1], START - 1));
        let sweeper = spawn(&table, |table| table.sweep::<S>(2));
        table.advance::<S>();
        table.advance::<S>();
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
    check("split_sweep_expired", 7, &["dropped", "swept"], |seen| {
        let table = aging(4);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[1], START - 2);
        let mover = spawn(&table, move |table| relocate(table, item.sides[1], START - 2));
        while table.sweep::<S>(1) > 0 {}
        seen.note_if(mover.join().unwrap(), "dropped", "swept");
        assert_eq!(copies(&table, item), 0, "a slot hopped over the sweep");
        assert_ends(&table);
    });
}

/// Catches a sweep, or a move that drops an expired slot, that forgets what another thread adds to
/// the bucket.
#[test]
fn sweep_beside_a_move_and_an_insert() {
    check("split_sweep_insert", 112, &["dropped", "swept"], |seen| {
        let table = aging(4);
        let [old, new] = [leaving(&table, 1, 0), first(&table, 0, 0)];
        put(&table, old.sides[0], START - 2);
        let mover = spawn(&table, move |table| relocate(table, old.sides[0], START - 2));
        let inserter = spawn(&table, move |table| table.insert_for::<S>(new, WINDOW));
        table.sweep::<S>(1);
        seen.note_if(mover.join().unwrap(), "dropped", "swept");
        assert_eq!(inserter.join().unwrap(), Ok(START));
        assert!(table.is_visible(new), "an item is lost");
        assert_ends(&table);
    });
}

/// Catches an insert into an expired slot that forgets what another thread adds to the bucket, or
/// that does not count what it sweeps.
#[test]
fn insert_into_an_expired_slot_beside_an_insert_and_a_split() {
    check("split_swept_insert", 938, &["done"], |seen| {
        let table = aging(4);
        let [new, other] = [0, 1].map(|stripe| first(&table, stripe, 0));
        put(&table, leaving(&table, 0, 0).sides[0], START - 2);
        let inserter = spawn(&table, move |table| table.insert_for::<S>(new, WINDOW));
        let splitter = spawn(&table, split_first);
        assert_eq!(table.insert_unseen::<S>(other), Ok(Some(START)));
        assert_eq!(inserter.join().unwrap(), Ok(START));
        splitter.join().unwrap();
        assert!(table.is_visible(new) && table.is_visible(other), "an item is lost");
        seen.note("done");
        assert_ends(&table);
    });
}

/// What a model of [`beside_a_sweep`] runs, with the item that expires and a new one.
type Operation = fn(&Aging, Item, Item, &Seen);

/// Runs an operation on an item that expires while an advance waits for the operation's lock: then
/// `sweep` sweeps the item.
fn beside_a_sweep(
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    sweep: fn(&Aging),
    operation: Operation,
) {
    check(name, floor, outcomes, move |seen| {
        let table = aging(4);
        let [old, new] = [leaving(&table, 1, 0), first(&table, 1, 1)];
        put(&table, old.sides[0], START - 1);
        put(&table, first(&table, 1, 0).sides[0], START);
        put(&table, leaving(&table, 0, 0).sides[1], START);
        let operator = {
            let seen = seen.clone();
            spawn(&table, move |table| operation(table, old, new, &seen))
        };
        let advancer = spawn(&table, guira::raw::Table::advance::<S>);
        sweep(&table);
        operator.join().unwrap();
        advancer.join().unwrap();
        assert_ends(&table);
    });
}

/// Sweeps bucket 0 by a move into it, of another stripe. It has room only once an item has expired.
fn by_a_move(table: &Aging) {
    let _ = relocate(table, leaving(table, 0, 0).sides[1], START);
}

/// Sweeps bucket 0 by its split.
fn by_a_split(table: &Aging) {
    split_first(table);
}

/// Moves the old item, to store the new one in its place.
fn move_old(table: &Aging, old: Item, new: Item, seen: &Seen) {
    let stored = relocate_at(table, old.sides[0], START - 1, Some((new.sides[0], START)));
    seen.note_if(stored, "stored", "stale");
    assert_eq!(copies(table, new), usize::from(stored), "the new item is lost, or doubled");
}

/// Catches a move that does not notice that a sweep took its original: the incoming item is lost,
/// or the copy is not counted.
#[test]
fn sweep_beside_a_move_that_makes_room() {
    let outcomes = ["stored", "stale"];
    beside_a_sweep("split_swept_move", 2_500, &outcomes, by_a_move, move_old);
}

/// Catches the same where a split has dropped the original.
#[test]
fn split_beside_a_move_that_makes_room() {
    let outcomes = ["stored", "stale"];
    beside_a_sweep("split_dropped_move", 1_100, &outcomes, by_a_split, move_old);
}

/// Removes the old item.
fn remove_old(table: &Aging, old: Item, _: Item, seen: &Seen) {
    seen.note_if(table.remove_of::<S>(old, START - 1), "removed", "swept");
}

/// Catches a removal that counts a slot which a sweep took.
#[test]
fn sweep_beside_a_removal() {
    let outcomes = ["removed", "swept"];
    beside_a_sweep("split_swept_remove", 1_600, &outcomes, by_a_move, remove_old);
}

/// Catches a removal that counts a slot which a split dropped.
#[test]
fn split_beside_a_removal() {
    let outcomes = ["removed", "swept"];
    beside_a_sweep("split_dropped_remove", 646, &outcomes, by_a_split, remove_old);
}

/// Refreshes the old item.
fn refresh_old(table: &Aging, old: Item, _: Item, seen: &Seen) {
    let refreshed = seen.note_if(table.refresh::<S>(old), "refreshed", "swept");
    assert_eq!(table.is_visible(old), refreshed, "a refreshed item is lost");
}

/// Catches a refresh that takes a swept slot for refreshed.
#[test]
fn sweep_beside_a_refresh() {
    let outcomes = ["refreshed", "swept"];
    beside_a_sweep("split_swept_refresh", 12_000, &outcomes, by_a_move, refresh_old);
}

/// Catches a refresh that takes a slot that a split dropped for refreshed.
#[test]
fn split_beside_a_refresh() {
    let outcomes = ["refreshed", "swept"];
    beside_a_sweep("split_dropped_refresh", 4_500, &outcomes, by_a_split, refresh_old);
}

/// Catches an `insert_unseen` that accepts an item, in a generation in which it is visible, because
/// a split of the next generation has dropped it.
#[test]
fn split_beside_an_unseen() {
    let outcomes = ["seen", "accepted"];
    beside_a_sweep("split_dropped_unseen", 828, &outcomes, by_a_split, |table, old, _, seen| {
        let accepted = table.insert_unseen::<S>(old).unwrap_or(None);
        seen.note_if(accepted.is_some(), "accepted", "seen");
        assert!(accepted.is_none_or(|generation| generation > START), "accepted within the window");
    });
}

/// Catches a `count` that counts one of two copies, because a split of the next generation
/// has dropped the other.
#[test]
fn split_beside_a_count() {
    let why =
        "the tick and the split run in one piece while the count stands between its two loads";
    check_shallow("split_dropped_count", 570, &["two", "none"], why, |seen| {
        let table = aging(4);
        let old = leaving(&table, 1, 0);
        for side in old.sides {
            put(&table, side, START - 1);
        }
        let counter = spawn(&table, move |table| table.count::<S>(old));
        let advancer = spawn(&table, guira::raw::Table::advance::<S>);
        split_first(&table);
        let count = counter.join().unwrap();
        advancer.join().unwrap();
        assert_ne!(count, 1, "both expired at one moment");
        seen.note_if(count == 2, "two", "none");
        assert_ends(&table);
    });
}

/// Moves a slot that has no tail, and is about to expire, beside the split of its bucket, an
/// advance, and a move of another stripe into the child, which sweeps one of its copies there.
#[test]
fn sweep_of_one_copy_beside_a_move_and_a_split() {
    check("split_swept_copy", 1_500, &["moved", "stale"], |seen| {
        let table = aging(4);
        let [item, neighbour] = [1, 0].map(|stripe| leaving(&table, stripe, 0));
        let slot = forgetful(item.sides[0], 0);
        put(&table, slot, START - 1);
        put(&table, neighbour.sides[1], START);
        let mover = spawn(&table, move |table| relocate_at(table, slot, START - 1, None));
        let advancer = spawn(&table, guira::raw::Table::advance::<S>);
        split_first(&table);
        assert!(relocate(&table, neighbour.sides[1], START), "there is room");
        seen.note_if(mover.join().unwrap(), "moved", "stale");
        advancer.join().unwrap();
        assert!(table.is_visible(neighbour));
        assert_ends(&table);
    });
}

/// Catches a move that does not count what it clears: the copies of a slot that has no tail.
#[test]
fn move_beside_a_split_that_copies() {
    check("split_age_move_no_tail", 7, &["moved", "stale"], |seen| {
        let table = aging(4);
        let item = leaving(&table, 1, 0);
        let slot = forgetful(item.sides[0], 0);
        put(&table, slot, START);
        let mover = spawn(&table, move |table| relocate_at(table, slot, START, None));
        split_first(&table);
        seen.note_if(mover.join().unwrap(), "moved", "stale");
        assert!(table.is_visible(item), "lost");
        assert_ends(&table);
    });
}
