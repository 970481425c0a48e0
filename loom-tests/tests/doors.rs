//! The public methods that touch what threads share, on every kind of filter, beside moves and
//! other changes.
#![cfg(not(feature = "semi-sorted"))]

use guira::{
    CuckooFilter, CuckooMap, ExpiringFilter, Filter, GrowingExpiringFilter, GrowingFilter,
    GrowingMap, Hashed, Insertion,
    kind::{Contents, Expiring, Growth, Map, Set},
};
use guira_loom_tests::{
    check_each,
    doors::{Call, Tiny, VALUE, beside},
    expiry::START,
    spawn_deep,
};
use loom::sync::Arc;

/// Checks what a filter tells about itself.
fn tell<C: Contents, G: Growth>(filter: &Filter<C, G>, _key: Hashed) {
    assert!(filter.len() <= filter.slots());
    assert!(filter.capacity() > 0 && filter.size_in_bytes() > 0);
    assert!((0.0..0.1).contains(&filter.false_positive_rate()));
}

/// Checks that a copy holds the item, and counts what it holds.
fn check_copy<C: Contents, G: Growth>(copy: &Filter<C, G>, key: Hashed) {
    let copies = copy.count(&key);
    assert_eq!(copies, copy.len(), "a copy counts what it does not hold");
    assert!(copies > 0 && copy.contains(&key), "the item is not in the copy");
}

/// Copies a filter, which holds the item, as by `clone`.
fn clone<C: Contents, G: Growth>(filter: &Filter<C, G>, key: Hashed) {
    check_copy(&filter.try_clone().expect("memory for a few words"), key);
}

/// Copies a filter, which holds the item, as by a snapshot that is loaded again.
fn restore<C: Contents, G: Growth>(filter: &Filter<C, G>, key: Hashed) {
    let copy = Filter::<C, G>::loader().bytes(&filter.to_bytes()).expect("its own bytes");
    check_copy(&copy, key);
}

/// Lookups of an item that is in the filter throughout.
fn lookups<C: Contents, G: Growth>() -> [Call<Filter<C, G>>; 7] {
    [
        |filter, key| assert!(filter.contains(&key), "missed"),
        |filter, key| assert_eq!(filter.contains_batch(&[key], &mut [false]), 1, "missed"),
        |filter, key| assert_eq!(filter.contains_mask(&[key]), 1, "missed"),
        |filter, key| assert!((1..=2).contains(&filter.count(&key)), "missed or doubled"),
        tell,
        clone,
        restore,
    ]
}

/// Lookups of an item that is in the map throughout, with the same value.
fn lookups_of_maps<G: Growth>() -> Vec<Call<Filter<Map, G>>> {
    let mut calls = lookups().to_vec();
    let own: [Call<Filter<Map, G>>; 4] = [
        |map, key| assert_eq!(map.get(&key), Some(VALUE), "missed"),
        |map, key| assert_eq!(map.get_mask(&[key], &mut [0]), 1, "missed"),
        |map, key| {
            let mut found = [None];
            assert_eq!((map.get_batch(&[key], &mut found), found), (1, [Some(VALUE)]), "missed");
        },
        |map, key| assert!(map.contains_value(&key, VALUE), "missed"),
    ];
    calls.extend(own);
    calls
}

/// Changes of a set that holds the item.
fn changes_of_sets<G: Growth>() -> Vec<Call<Filter<Set, G>>> {
    let calls: [Call<Filter<Set, G>>; 9] = [
        |set, key| set.insert(&key).expect("room"),
        |set, key| assert!(!set.insert_unique(&key).expect("room").is_new(), "there was a copy"),
        |set, key| assert!(set.remove(&key), "there was a copy"),
        |set, key| set.insert_batch([key]).expect("room"),
        |set, key| assert_eq!(set.insert_unique_batch(&[key], &mut [true]), Ok(0)),
        |set, key| assert_eq!(set.insert_unique_mask(&[key]).added, 0),
        |set, key| assert_eq!(set.remove_batch(&[key], &mut [false]), 1),
        |set, _| set.merge(set).expect("room"),
        |set, _| set.clear(),
    ];
    calls.to_vec()
}

/// Changes of a map that holds the item.
fn changes_of_maps<G: Growth>() -> Vec<Call<Filter<Map, G>>> {
    let calls: [Call<Filter<Map, G>>; 8] = [
        |map, key| map.insert(&key, VALUE).expect("room"),
        |map, key| assert_eq!(map.insert_unique(&key, 1), Ok(Insertion::Found(VALUE))),
        |map, key| assert!(map.remove(&key, VALUE), "there was a copy"),
        |map, key| {
            assert!(map.replace(&key, VALUE, 1), "there was a copy");
            assert!(map.contains_value(&key, 1), "the new value is missed");
        },
        |map, key| map.insert_batch(&[key], &[VALUE]).expect("room"),
        |map, key| assert_eq!(map.remove_batch(&[key], &[VALUE], &mut [false]), 1),
        |map, _| map.merge(map).expect("room"),
        |map, _| map.clear(),
    ];
    calls.to_vec()
}

/// Changes of an expiring filter that holds the item, which neither expires nor loses a copy to
/// others.
fn changes_of_expiring<G: Growth>() -> Vec<Call<Filter<Expiring, G>>> {
    let calls: [Call<Filter<Expiring, G>>; 12] = [
        |filter, key| assert!(filter.insert(&key).expect("room") >= START),
        |filter, key| assert!(!filter.insert_unique(&key).expect("room").is_new()),
        |filter, key| assert!(filter.refresh(&key), "there was a copy"),
        |filter, key| assert_eq!(filter.refresh_mask(&[key]), 1, "there was a copy"),
        |filter, key| assert!(filter.remove(&key, START), "there was a copy"),
        |filter, key| assert_eq!(filter.insert_unique_batch(&[key], &mut [true]), Ok(0)),
        |filter, key| assert_eq!(filter.insert_unique_mask(&[key]).added, 0),
        |filter, _| assert!(filter.advance() > START),
        |filter, key| assert!(!filter.insert_or_refresh(&key).expect("room").is_new()),
        |filter, key| assert_eq!(filter.insert_or_refresh_mask(&[key]).added, 0),
        |filter, _| assert!(filter.sweep(1) <= 4 && filter.generation() >= START),
        |filter, _| filter.clear(),
    ];
    calls.to_vec()
}

/// A set has another copy for a moment, unless it is cleared.
fn insert_and_remove<G: Growth>(set: &Filter<Set, G>, key: Hashed) {
    set.insert(&key).expect("room");
    set.remove(&key);
}

/// A map has another copy for a moment, unless it is cleared.
fn insert_and_remove_value<G: Growth>(map: &Filter<Map, G>, key: Hashed) {
    map.insert(&key, VALUE).expect("room");
    map.remove(&key, VALUE);
}

/// Catches a public lookup of a set that misses an item.
#[test]
fn lookups_of_a_set() {
    beside::<CuckooFilter>("door_set", 16_900, &lookups(), &[Tiny::stir, insert_and_remove, clone]);
}

/// Catches the same where the set grows.
#[test]
fn lookups_of_a_growing_set() {
    beside::<GrowingFilter>(
        "door_growing_set",
        17_800,
        &lookups(),
        &[Tiny::stir, insert_and_remove],
    );
}

/// Catches a public lookup of a map that misses an item.
#[test]
fn lookups_of_a_map() {
    let writers: [Call<CuckooMap>; 2] = [Tiny::stir, insert_and_remove_value];
    beside("door_map", 35_500, &lookups_of_maps(), &writers);
}

/// Catches the same where the map grows.
#[test]
fn lookups_of_a_growing_map() {
    let writers: [Call<GrowingMap>; 2] = [Tiny::stir, insert_and_remove_value];
    beside("door_growing_map", 40_200, &lookups_of_maps(), &writers);
}

/// Checks that a map lists the value of the item.
fn list<G: Growth>(map: &Filter<Map, G>, key: Hashed) {
    assert!(map.values(&key).any(|value| value == VALUE), "missed");
}

/// Catches a `values` that misses a value. (It repeats each round in which a version changed, so
/// beside moves there would be many more schedules.)
#[test]
fn values_of_a_map() {
    beside::<CuckooMap>("door_map_values", 1_480, &[list], &[insert_and_remove_value]);
}

/// Catches the same where the map grows.
#[test]
fn values_of_a_growing_map() {
    beside::<GrowingMap>("door_growing_map_values", 1_480, &[list], &[insert_and_remove_value]);
}

/// Catches a public lookup of an expiring filter that misses an item.
#[test]
fn lookups_of_an_expiring_filter() {
    let writers: [Call<ExpiringFilter>; 3] =
        [Tiny::stir, |filter, _| _ = filter.advance(), |filter, key| _ = filter.refresh(&key)];
    beside("door_expiring", 15_000, &lookups(), &writers);
}

/// Catches the same where the expiring filter grows.
#[test]
fn lookups_of_a_growing_expiring_filter() {
    let writers: [Call<GrowingExpiringFilter>; 2] = [Tiny::stir, |filter, _| _ = filter.advance()];
    beside("door_growing_expiring", 17_100, &lookups(), &writers);
}

/// Catches a public method of a set that loses, doubles or miscounts an item.
#[test]
fn changes_of_a_set() {
    beside::<CuckooFilter>(
        "door_set_changes",
        360,
        &changes_of_sets(),
        &[Tiny::stir, insert_and_remove],
    );
}

/// Catches the same where the set grows.
#[test]
fn changes_of_a_growing_set() {
    beside::<GrowingFilter>("door_growing_set_changes", 3_900, &changes_of_sets(), &[Tiny::stir]);
}

/// Catches a public method of a map that loses, doubles or miscounts an item.
#[test]
fn changes_of_a_map() {
    let writers: [Call<CuckooMap>; 2] = [Tiny::stir, insert_and_remove_value];
    beside("door_map_changes", 460, &changes_of_maps(), &writers);
}

/// Catches the same where the map grows.
#[test]
fn changes_of_a_growing_map() {
    beside::<GrowingMap>("door_growing_map_changes", 4_900, &changes_of_maps(), &[Tiny::stir]);
}

/// Catches a public method of an expiring filter that loses, doubles or miscounts an item.
#[test]
fn changes_of_an_expiring_filter() {
    let writers: [Call<ExpiringFilter>; 2] = [Tiny::stir, |filter, _| _ = filter.advance()];
    beside("door_expiring_changes", 940, &changes_of_expiring(), &writers);
}

/// Catches the same where the expiring filter grows.
#[test]
fn changes_of_a_growing_expiring_filter() {
    let writers: [Call<GrowingExpiringFilter>; 1] = [Tiny::stir];
    beside("door_growing_expiring_changes", 2_500, &changes_of_expiring(), &writers);
}

/// Calls that insert an item, and return its generation.
fn inserts<G: Growth>() -> [fn(&Filter<Expiring, G>, Hashed) -> u64; 5] {
    [
        |filter, key| filter.insert(&key).expect("room"),
        |filter, key| filter.insert_for(&key, 1).expect("room"),
        |filter, key| match filter.insert_unique_for(&key, 1) {
            Ok(Insertion::New(generation)) => generation,
            other => panic!("absent, and not inserted: {other:?}"),
        },
        |filter, key| match filter.insert_unique(&key) {
            Ok(Insertion::New(generation)) => generation,
            other => panic!("absent, and not inserted: {other:?}"),
        },
        |filter, key| match filter.insert_or_refresh(&key) {
            Ok(Insertion::New(generation)) => generation,
            other => panic!("absent, and not inserted: {other:?}"),
        },
    ]
}

/// Inserts an item beside an advance. Whoever inserted it removes it by the generation that the
/// call returned.
fn beside_an_advance<G: Growth>(name: &str, floor: usize)
where
    Filter<Expiring, G>: Tiny,
{
    let models = inserts::<G>().into_iter().map(|insert| {
        move |seen: &std::sync::Arc<guira_loom_tests::Seen>| {
            let filter = Filter::<Expiring, G>::empty();
            let key = filter.key();
            let filter = Arc::new(filter);
            let inserter = spawn_deep(&filter, move |filter| insert(filter, key));
            filter.advance();
            let generation = inserter.join().unwrap();
            seen.note_if(generation == START, "before", "after");
            assert!(filter.contains(&key), "the item has lost a generation");
            assert!(filter.remove(&key, generation), "the answer names another generation");
            assert_eq!(filter.len(), 0);
        }
    });
    check_each(name, floor, &["before", "after"], models);
}

/// Catches an insert whose answer and whose stamp are of two generations.
#[test]
fn answers_beside_an_advance() {
    beside_an_advance::<guira::kind::Fixed>("door_expiring_answers", 290);
}

/// Catches the same where the filter grows.
#[test]
fn answers_of_a_growing_filter_beside_an_advance() {
    beside_an_advance::<guira::kind::Growing>("door_growing_expiring_answers", 290);
}
