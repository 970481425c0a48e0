//! Tables that grow and whose slots expire: copies of the whole table, and clears.
#![cfg(not(feature = "semi-sorted"))]

use std::cmp::Ordering;

use guira_loom_tests::{
    check, spawn, spawn_deep,
    splits::{S, forgetful, leaving, loaded, split},
    splits_expiry::{Aging, START, WINDOW, aging, assert_ends, copies, put},
};

/// A copy of a table.
type Copy = fn(&Aging) -> Aging;

/// A copy as by `Clone`.
fn cloned(table: &Aging) -> Aging {
    table.try_clone().expect("memory for a few words").0
}

/// A copy as by a snapshot that is loaded again.
fn restored(table: &Aging) -> Aging {
    let (grown, clock, words) = table.copy_words().expect("memory for a few words");
    loaded(table.payload(), &grown, &words, clock.as_ref())
}

/// Copies a table with an expired slot, and one that expires next, beside an advance.
fn beside_an_advance(name: &str, floor: usize, copy: Copy) {
    check(name, floor, &["before", "after"], move |seen| {
        let table = aging(4);
        let [old, item, new] = [0, 1, 2].map(|nth| leaving(&table, 1, nth));
        put(&table, old.sides[0], START - 2);
        put(&table, item.sides[0], START - 1);
        put(&table, new.sides[1], START);
        let copier = spawn_deep(&table, copy);
        table.advance::<S>();
        let copy = copier.join().unwrap();
        seen.note_if(copy.clock().generation() == START, "before", "after");
        assert!(copy.is_visible(new), "an item is not in the copy");
        for _ in 0..4 {
            assert!(!copy.is_visible(old), "an expired item is back");
            copy.advance::<S>();
        }
        assert_ends(&copy);
        assert_ends(&table);
    });
}

/// Catches a clone of words before a sweep reaches them, but with the generation after the sweep,
/// and one that takes over the sweep of the generation before.
#[test]
fn clone_beside_an_advance() {
    beside_an_advance("split_age_clone", 23, cloned);
}

/// Catches the same for a snapshot.
#[test]
fn copy_beside_an_advance() {
    beside_an_advance("split_age_copy", 23, restored);
}

/// Copies a table with a slot that is about to expire, beside an advance: the counts of the copy
/// must be right in all generations to come.
fn beside_a_tick(name: &str, floor: usize, copy: Copy) {
    check(name, floor, &["before", "after"], move |seen| {
        let table = aging(4);
        let ghostly = leaving(&table, 1, 0);
        put(&table, forgetful(ghostly.sides[0], 0), START - 1);
        split(&table);
        let copier = spawn_deep(&table, copy);
        table.advance::<S>();
        let copy = copier.join().unwrap();
        seen.note_if(copy.clock().generation() == START, "before", "after");
        assert_ends(&copy);
        assert_ends(&table);
    });
}

/// Catches a clone between the beginning of a generation and that of its sweep, in which slots are
/// never swept.
#[test]
fn clone_beside_a_tick() {
    beside_a_tick("split_age_clone_tick", 32, cloned);
}

/// Catches the same for a snapshot.
#[test]
fn copy_beside_a_tick() {
    beside_a_tick("split_age_copy_tick", 32, restored);
}

/// Copies a table beside an insert in the generation that an advance begins.
fn beside_an_insert(name: &str, floor: usize, copy: Copy) {
    check(name, floor, &["with", "without"], move |seen| {
        let table = aging(2);
        let new = leaving(&table, 1, 0);
        let copier = spawn_deep(&table, copy);
        let inserter = spawn(&table, move |table| table.insert_for::<S>(new, WINDOW));
        table.advance::<S>();
        let copy = copier.join().unwrap();
        assert!(inserter.join().unwrap().is_ok());
        let is_in = seen.note_if(copies(&copy, new) == 1, "with", "without");
        assert_eq!(copy.is_visible(new), is_in, "an item is in the copy, and is not found");
        assert_ends(&copy);
    });
}

/// Catches a clone whose generation was read before its words: an item of the generation that
/// begins is in it and cannot be found.
#[test]
fn clone_beside_an_advance_and_an_insert() {
    beside_an_insert("split_age_clone_insert", 8_600, cloned);
}

/// Catches the same for a snapshot.
#[test]
fn copy_beside_an_advance_and_an_insert() {
    beside_an_insert("split_age_copy_insert", 8_600, restored);
}

/// Copies a table beside a split that makes a ghost.
fn beside_a_split(name: &str, floor: usize, copy: Copy) {
    check(name, floor, &["before", "after"], move |seen| {
        let table = aging(4);
        let ghostly = leaving(&table, 1, 0);
        put(&table, forgetful(ghostly.sides[0], 0), START);
        let copier = spawn_deep(&table, copy);
        split(&table);
        let copy = copier.join().unwrap();
        let is_before = seen.note_if(copy.buckets() == 2, "before", "after");
        let slots = if is_before { 1 } else { 2 };
        assert_eq!(copy.clock().visible_slots(), Some(slots), "slots are miscounted");
        assert_ends(&copy);
        assert_ends(&table);
    });
}

/// Catches a clone that misses the slot which a split has copied, or does not count it.
#[test]
fn clone_beside_a_split() {
    beside_a_split("split_age_clone_split", 55, cloned);
}

/// Catches the same for a snapshot.
#[test]
fn copy_beside_a_split() {
    beside_a_split("split_age_copy_split", 128, restored);
}

/// Catches two advances that run at once, beside a split: a slot is not swept.
#[test]
fn two_advances() {
    check("split_age_advances", 5_200, &["first", "second", "shared"], |seen| {
        let table = aging(4);
        let old = leaving(&table, 1, 0);
        put(&table, old.sides[0], START - 1);
        let other = spawn(&table, guira::raw::Table::advance::<S>);
        let this = table.advance::<S>();
        assert!(!table.is_visible(old), "an item outlives its last generation");
        split(&table);
        let other = other.join().unwrap();
        assert_eq!(this.min(other), START + 1, "the first generation is nobody's");
        seen.note(match this.cmp(&other) {
            Ordering::Less => "first",
            Ordering::Equal => "shared",
            Ordering::Greater => "second",
        });
        table.advance::<S>();
        assert_eq!(copies(&table, old), 0, "an expired slot was not swept");
        assert_ends(&table);
    });
}

/// Catches a `clear` that does not count what it clears, and one beside half a split.
#[test]
fn clear_beside_a_split_and_an_insert() {
    check("split_age_clear_split", 284, &["kept", "cleared"], |seen| {
        let table = aging(4);
        let [ghostly, new] = [0, 1].map(|nth| leaving(&table, 1, nth));
        put(&table, forgetful(ghostly.sides[0], 0), START);
        let clearer = spawn(&table, Aging::clear);
        split(&table);
        put(&table, new.sides[0], START);
        let cleared = clearer.join().unwrap();
        let left = copies(&table, new) as u64;
        // The split copies a slot, unless it is cleared before.
        assert!(matches!(cleared + left, 2 | 3), "lost, or counted twice");
        seen.note_if(left == 1, "kept", "cleared");
        assert_ends(&table);
    });
}

/// Catches a `clear` while slots expire: they are counted as gone twice.
#[test]
fn clear_beside_an_advance() {
    check("split_age_clear_advance", 26, &["done"], |seen| {
        let table = aging(4);
        let ghostly = leaving(&table, 1, 0);
        put(&table, forgetful(ghostly.sides[0], 0), START - 1);
        split(&table);
        let clearer = spawn(&table, Aging::clear);
        table.advance::<S>();
        let _ = clearer.join().unwrap();
        assert_eq!(table.occupied().0, 0, "a slot is left");
        seen.note("done");
        assert_ends(&table);
    });
}
