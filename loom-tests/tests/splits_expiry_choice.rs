//! Tables that grow and whose slots expire: refreshes and removals where slots know different parts
//! of their items, and evictions.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::Item;
use guira_loom_tests::{
    check, spawn,
    splits::{S, differing, forgetful, leaving},
    splits_expiry::{Aging, START, WINDOW, aging, assert_ends, put, split_first},
};

/// Puts a slot of this generation into bucket 0 that knows one bit of an item, and another one into
/// bucket 1 that knows six. Returns the item, and another one that matches the first slot alone.
fn short_and_long(table: &Aging, short: u64, long: u64) -> [Item; 2] {
    let item = leaving(table, 1, 0);
    put(table, forgetful(item.sides[0], 1), short);
    put(table, item.sides[1], long);
    [item, differing(table, item, 1)]
}

/// Catches a refresh of the slot that knows most, although another one is older: the removal of an
/// alias takes it, and the item that was refreshed expires too early.
#[test]
fn refresh_beside_the_removal_of_an_alias() {
    check("split_refresh_remove", 5, &["done"], |seen| {
        let table = aging(4);
        let [item, _] = short_and_long(&table, START - 1, START);
        let refresher = spawn(&table, move |table| table.refresh::<S>(item));
        assert!(table.remove_of::<S>(item, START), "the alias is there");
        assert!(refresher.join().unwrap(), "there was a visible copy throughout");
        table.advance::<S>();
        assert!(table.is_visible(item), "a refreshed item expired too early");
        assert_eq!(table.clock().visible_slots(), Some(1));
        seen.note("done");
        assert_ends(&table);
    });
}

/// Catches a refresh of any slot, where all know the same: an alias's removal takes the one that
/// was refreshed, and the item expires too early.
#[test]
fn refresh_of_the_oldest_beside_the_removal_of_an_alias() {
    check("split_refresh_oldest", 5, &["done"], |seen| {
        let table = aging(4);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[0], START - 1);
        put(&table, item.sides[1], START);
        let refresher = spawn(&table, move |table| table.refresh::<S>(item));
        assert!(table.remove_of::<S>(item, START), "the alias is there");
        assert!(refresher.join().unwrap(), "there was a visible copy throughout");
        table.advance::<S>();
        assert!(table.is_visible(item), "a refreshed item expired too early");
        seen.note("done");
        assert_ends(&table);
    });
}

/// Catches a refresh that does not validate the generation: the caller's copy is dropped by a split
/// while an advance waits for the lock, an alias's copy counts as refreshed, and the alias's
/// removal takes it.
#[test]
fn refresh_beside_a_split_and_the_removal_of_an_alias() {
    check("split_refresh_alias", 1_600, &["removed", "taken"], |seen| {
        let table = aging(4);
        let item = leaving(&table, 1, 0);
        put(&table, item.sides[0], START - 1);
        put(&table, item.sides[1], START);
        let refresher = spawn(&table, move |table| table.refresh::<S>(item));
        let advancer = spawn(&table, guira::raw::Table::advance::<S>);
        split_first(&table);
        assert!(refresher.join().unwrap(), "there was a visible copy throughout");
        advancer.join().unwrap();
        seen.note_if(table.remove_of::<S>(item, START), "removed", "taken");
        assert!(table.is_visible(item), "a refreshed item expired too early");
        assert_ends(&table);
    });
}

/// Catches a removal of a slot that knows little, of another item, while a newer one knows more: an
/// alias was refreshed in its place. Also catches a removal of the slot that knows least.
#[test]
fn removal_beside_an_insert_and_a_refresh() {
    check("split_remove_newer", 378, &["removed", "refused"], |seen| {
        let table = aging(4);
        let [item, other] = short_and_long(&table, START - 1, START - 1);
        let refresher = spawn(&table, move |table| {
            assert!(table.insert_for::<S>(item, WINDOW).is_ok());
            assert!(table.refresh::<S>(item), "it was just inserted");
        });
        let splitter = spawn(&table, split_first);
        seen.note_if(table.remove_of::<S>(item, START - 1), "removed", "refused");
        refresher.join().unwrap();
        splitter.join().unwrap();
        assert!(table.is_visible(other), "the slot of another item was removed");
        assert!(table.is_visible(item), "a refreshed item is lost");
        assert_ends(&table);
    });
}

/// Catches a removal that is refused because a newer slot knows more, although nothing was
/// refreshed.
#[test]
fn removal_beside_a_newer_slot_and_a_split() {
    check("split_remove_older", 7, &["done"], |seen| {
        let table = aging(4);
        let [item, _] = short_and_long(&table, START - 1, START);
        let remover = spawn(&table, move |table| table.remove_of::<S>(item, START - 1));
        split_first(&table);
        assert!(remover.join().unwrap(), "the slot is the item's own");
        assert!(table.is_visible(item), "an alias was removed");
        seen.note("done");
        assert_ends(&table);
    });
}
