//! Tables with values: whoever finds a value happens after the insert or the replacement that
//! stored it.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::{FixedWords, Pair};
use guira_loom_tests::{
    publishes,
    values::{Map, get_or_insert, item, map, put, values},
};

/// Values of the models.
const A: u16 = 1;
const B: u16 = 2;
const C: u16 = 3;

/// Stores the value B by `write` in a table where the item has these values, and looks for it by
/// `find`.
fn publish(
    name: &str,
    floor: usize,
    before: &'static [u16],
    write: fn(&Map, Pair),
    find: fn(&Map, Pair) -> bool,
) {
    let set_up = move || {
        let map = map();
        before.iter().for_each(|&value| put(&map, item(&map, 0, 0), value, 1));
        map
    };
    let write = move |map: &Map| write(map, item(map, 0, 0));
    publishes(name, floor, set_up, write, move |map| find(map, item(map, 0, 0)));
}

/// Inserts the item with the value B.
fn insert(map: &Map, item: Pair) {
    map.insert::<FixedWords>(item.with_value(B)).expect("room");
}

/// Replaces the value A by B.
fn replace(map: &Map, item: Pair) {
    assert!(map.replace::<FixedWords>(item.with_value(A), B));
}

/// Catches a `get` that returns a value but does not happen after its insert.
#[test]
fn insert_happens_before_a_get() {
    publish("values_publish_get", 32, &[], insert, |map, item| map.get(item) == Some(B));
}

/// Catches a listing that does not happen after the inserts of the values in it.
#[test]
fn insert_happens_before_a_listing() {
    publish("values_publish_list", 32, &[], insert, |map, item| values(map, item).contains(&B));
}

/// Catches a `contains_value` that does not happen after the insert of the value.
#[test]
fn insert_happens_before_a_contains_value() {
    publish("values_publish_probe", 32, &[], insert, |map, item| {
        map.contains_value::<FixedWords>(item.with_value(B))
    });
}

/// Catches a `get_or_insert` that does not publish the value that it adds.
#[test]
fn get_or_insert_happens_before_a_get() {
    let write = |map: &Map, item: Pair| {
        assert_eq!(get_or_insert(map, item.with_value(B)), None);
    };
    publish("values_publish_unique", 32, &[], write, |map, item| map.get(item) == Some(B));
}

/// Catches a replacement that does not publish the new value.
#[test]
fn replacement_happens_before_a_get() {
    publish("values_publish_replace", 280, &[A], replace, |map, item| map.get(item) == Some(B));
}

/// Catches a replacement that succeeds but does not happen after the insert of what it replaces.
#[test]
fn insert_happens_before_a_replacement() {
    publish("values_publish_replaced", 9, &[], insert, |map, item| {
        map.replace::<FixedWords>(item.with_value(B), C)
    });
}
