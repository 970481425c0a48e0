//! Tables with values: whoever finds a value happens after the insert or the replacement that
//! stored it.
#![cfg(not(feature = "semi-sorted"))]

use guira::raw::Pair;
use guira_loom_tests::{
    check,
    values::{Map, V, get_or_insert, item, map, put, spawn, values},
};
use loom::sync::Arc;

/// Values of the models.
const A: u16 = 1;
const B: u16 = 2;
const C: u16 = 3;

/// Writes before `write` and reads what was written if `find` returns the value B.
fn publish(
    name: &str,
    floor: usize,
    set_up: fn(&Map, Pair),
    write: fn(&Map, Pair),
    find: fn(&Map, Pair) -> bool,
) {
    check(name, floor, &["found", "not yet"], move |seen| {
        let map = map();
        let item = item(&map, 0, 0);
        set_up(&map, item);
        let written = Arc::new(loom::cell::UnsafeCell::new(0));
        // The writing thread comes first: see `Word::load_to_change`.
        let finder = {
            let (written, seen) = (written.clone(), seen.clone());
            spawn(&map, move |map| {
                if seen.note_if(find(map, item), "found", "not yet") {
                    // SAFETY: written before the value was stored, and not since.
                    written.with(|written| assert_eq!(unsafe { *written }, 1));
                }
            })
        };
        // SAFETY: no thread reads it before it has found the value.
        written.with_mut(|written| unsafe { *written = 1 });
        write(&map, item);
        finder.join().unwrap();
    });
}

/// Inserts the item with the value B.
fn insert(map: &Map, item: Pair) {
    map.insert::<V>(item.with_value(B)).expect("room");
}

/// Replaces the value A by B.
fn replace(map: &Map, item: Pair) {
    assert!(map.replace::<V>(item.with_value(A), B));
}

/// Catches a `get` that returns a value but does not happen after its insert.
#[test]
fn insert_happens_before_a_get() {
    publish("values_publish_get", 32, |_, _| (), insert, |map, item| map.get::<V>(item) == Some(B));
}

/// Catches a listing that does not happen after the inserts of the values in it.
#[test]
fn insert_happens_before_a_listing() {
    publish(
        "values_publish_list",
        32,
        |_, _| (),
        insert,
        |map, item| values(map, item).contains(&B),
    );
}

/// Catches a `contains_value` that does not happen after the insert of the value.
#[test]
fn insert_happens_before_a_contains_value() {
    publish(
        "values_publish_probe",
        32,
        |_, _| (),
        insert,
        |map, item| map.contains_value::<V>(item.with_value(B)),
    );
}

/// Catches a `get_or_insert` that does not publish the value that it adds.
#[test]
fn get_or_insert_happens_before_a_get() {
    let write = |map: &Map, item: Pair| {
        assert_eq!(get_or_insert(map, item.with_value(B)), None);
    };
    publish(
        "values_publish_unique",
        32,
        |_, _| (),
        write,
        |map, item| map.get::<V>(item) == Some(B),
    );
}

/// Catches a replacement that does not publish the new value.
#[test]
fn replacement_happens_before_a_get() {
    let set_up = |map: &Map, item| put(map, item, A, 1);
    publish("values_publish_replace", 280, set_up, replace, |map, item| {
        map.get::<V>(item) == Some(B)
    });
}

/// Catches a replacement that succeeds but does not happen after the insert of what it replaces.
#[test]
fn insert_happens_before_a_replacement() {
    publish(
        "values_publish_replaced",
        9,
        |_, _| (),
        insert,
        |map, item| map.replace::<V>(item.with_value(B), C),
    );
}
