//! Public methods of filters beside writers of the whole filter (sweeps, merges, copies), beside a
//! limit on copies, and the values of a map beside moves: as `doors.rs`.
#![cfg(not(feature = "semi-sorted"))]

use std::num::NonZero;

use guira::{
    CuckooFilter, CuckooMap, ExpiringFilter, Filter, GrowingExpiringFilter, GrowingFilter,
    GrowingMap, Hashed, InsertError,
    kind::{Contents, Expiring, Growth, Map, Set},
};
use guira_loom_tests::{
    doors::{Call, Tiny, VALUE, beside, beside_in},
    expiry::START,
};

/// Checks that a copy counts what it holds.
fn check_copy<C: Contents, G: Growth>(copy: &Filter<C, G>, key: Hashed) {
    let copies = copy.count(&key);
    assert_eq!(copies, copy.len(), "a copy counts what it does not hold");
    assert_eq!(copies > 0, copy.contains(&key));
}

/// Copies a filter, as by `clone`.
fn clone<C: Contents, G: Growth>(filter: &Filter<C, G>, key: Hashed) {
    check_copy(&filter.try_clone().expect("memory for a few words"), key);
}

/// Copies a filter, as by a snapshot that is loaded again.
fn restore<C: Contents, G: Growth>(filter: &Filter<C, G>, key: Hashed) {
    let copy = Filter::<C, G>::loader().bytes(&filter.to_bytes()).expect("its own bytes");
    check_copy(&copy, key);
}

/// The two ways to copy a filter.
fn copies<C: Contents, G: Growth>() -> [Call<Filter<C, G>>; 2] {
    [clone, restore]
}

/// Changes of a set beside which it is copied.
fn changes_of_sets<G: Growth>() -> Vec<Call<Filter<Set, G>>> {
    let calls: [Call<Filter<Set, G>>; 4] = [
        |set, key| set.insert(&key).expect("room"),
        |set, key| assert!(set.remove(&key), "there was a copy"),
        |set, _| set.merge(set).expect("room"),
        |set, _| set.clear(),
    ];
    calls.to_vec()
}

/// Changes of a map beside which it is copied.
fn changes_of_maps<G: Growth>() -> Vec<Call<Filter<Map, G>>> {
    let calls: [Call<Filter<Map, G>>; 4] = [
        |map, key| map.insert(&key, VALUE).expect("room"),
        |map, key| assert!(map.replace(&key, VALUE, 1), "there was a copy"),
        |map, key| assert!(map.remove(&key, VALUE), "there was a copy"),
        |map, _| map.clear(),
    ];
    calls.to_vec()
}

/// Changes of an expiring filter beside which it is copied.
fn changes_of_expiring<G: Growth>() -> Vec<Call<Filter<Expiring, G>>> {
    let calls: [Call<Filter<Expiring, G>>; 5] = [
        |filter, key| assert!(filter.insert(&key).is_ok(), "there was room"),
        |filter, key| assert!(filter.remove(&key, START), "there was a copy"),
        |filter, key| assert!(filter.refresh(&key), "there was a copy"),
        |filter, _| _ = filter.sweep(u64::MAX),
        |filter, _| filter.clear(),
    ];
    calls.to_vec()
}

/// Catches a copy that counts what it does not hold, and copies that wait for a change that waits
/// for them.
#[test]
fn copies_beside_changes_of_a_set() {
    beside::<CuckooFilter>("door_set_copies", 166, &copies(), &changes_of_sets());
}

/// Catches the same where the set grows.
#[test]
fn copies_beside_changes_of_a_growing_set() {
    beside::<GrowingFilter>("door_growing_set_copies", 1_313, &copies(), &changes_of_sets());
}

/// Catches the same in a map.
#[test]
fn copies_beside_changes_of_a_map() {
    beside::<CuckooMap>("door_map_copies", 92, &copies(), &changes_of_maps());
}

/// Catches the same where the map grows.
#[test]
fn copies_beside_changes_of_a_growing_map() {
    beside::<GrowingMap>("door_growing_map_copies", 283, &copies(), &changes_of_maps());
}

/// Catches the same in an expiring filter.
#[test]
fn copies_beside_changes_of_an_expiring_filter() {
    beside::<ExpiringFilter>("door_expiring_copies", 110, &copies(), &changes_of_expiring());
}

/// Catches the same where the expiring filter grows.
#[test]
fn copies_beside_changes_of_a_growing_expiring_filter() {
    let changes = changes_of_expiring();
    beside::<GrowingExpiringFilter>("door_growing_expiring_copies", 320, &copies(), &changes);
}

/// Returns a filter that may hold two copies of an item, and holds one, in its second bucket: a
/// lookup that loads the first word and then the second one can miss an item that moves back.
fn with_one_of_two<T: Tiny>() -> T {
    let filter = T::limited(NonZero::new(2));
    let key = filter.key();
    filter.put(key);
    filter.shift(key);
    filter
}

/// Merges two copies into a filter that may hold two, and holds at least one, which is refused.
fn merge_too_many<T: Tiny>(filter: &T, key: Hashed, merge: fn(&T, &T) -> bool) {
    let other = T::empty();
    (0..2).for_each(|_| other.put(key));
    assert!(!merge(filter, &other), "too many copies were merged");
    assert_eq!(filter.counts(key), [1, 1], "a refused merge left a copy, or took one");
}

/// Calls that find an item throughout, or its value.
fn lookups<C: Contents, G: Growth>() -> [Call<Filter<C, G>>; 3] {
    [
        |filter, key| assert!(filter.contains(&key), "missed"),
        |filter, key| assert!((1..=2).contains(&filter.count(&key)), "missed or doubled"),
        |filter, key| assert_eq!(filter.contains_mask(&[key]), 1, "missed"),
    ]
}

/// Catches a refused merge that takes a copy which it did not add, or leaves one.
#[test]
fn lookups_beside_a_merge_into_a_set() {
    beside_in::<CuckooFilter>(
        "door_set_merge",
        1_323,
        with_one_of_two,
        &lookups(),
        &[|set, key| merge_too_many(set, key, |set, other| set.merge(other).is_ok())],
    );
}

/// Catches the same where the set grows.
#[test]
fn lookups_beside_a_merge_into_a_growing_set() {
    beside_in::<GrowingFilter>(
        "door_growing_set_merge",
        2_394,
        with_one_of_two,
        &lookups(),
        &[|set, key| merge_too_many(set, key, |set, other| set.merge(other).is_ok())],
    );
}

/// Catches the same in a map, and a `get` that misses the value.
#[test]
fn lookups_beside_a_merge_into_a_map() {
    let mut calls = lookups().to_vec();
    calls.push(|map: &CuckooMap, key| assert_eq!(map.get(&key), Some(VALUE), "missed"));
    beside_in(
        "door_map_merge",
        1_965,
        with_one_of_two,
        &calls,
        &[|map, key| merge_too_many(map, key, |map, other| map.merge(other).is_ok())],
    );
}

/// Catches the same where the map grows.
#[test]
fn lookups_beside_a_merge_into_a_growing_map() {
    let mut calls = lookups().to_vec();
    calls.push(|map: &GrowingMap, key| assert_eq!(map.get(&key), Some(VALUE), "missed"));
    beside_in(
        "door_growing_map_merge",
        3_550,
        with_one_of_two,
        &calls,
        &[|map, key| merge_too_many(map, key, |map, other| map.merge(other).is_ok())],
    );
}

/// Inserts the second copy of two, and no third one.
fn insert_to_the_limit<G: Growth>(set: &Filter<Set, G>, key: Hashed) {
    set.insert(&key).expect("the limit is not reached");
    assert_eq!(set.insert(&key), Err(InsertError::TooManyCopies), "there are two copies");
}

/// As above, of a batch.
fn insert_batch_to_the_limit<G: Growth>(set: &Filter<Set, G>, key: Hashed) {
    set.insert_batch([key]).expect("the limit is not reached");
    set.insert_batch([key]).expect_err("there are two copies");
}

/// As above, of a map.
fn insert_value_to_the_limit<G: Growth>(map: &Filter<Map, G>, key: Hashed) {
    map.insert(&key, VALUE).expect("the limit is not reached");
    assert_eq!(map.insert(&key, VALUE), Err(InsertError::TooManyCopies), "there are two copies");
}

/// Catches an insert into a set that misses or doubles a copy which is being moved.
#[test]
fn a_limit_of_a_set_beside_moves() {
    beside_in::<CuckooFilter>(
        "door_set_limit",
        3_043,
        with_one_of_two,
        &[insert_to_the_limit, insert_batch_to_the_limit],
        &[Tiny::shift],
    );
}

/// Catches the same where the set grows.
#[test]
fn a_limit_of_a_growing_set_beside_moves() {
    beside_in::<GrowingFilter>(
        "door_growing_set_limit",
        3_329,
        with_one_of_two,
        &[insert_to_the_limit, insert_batch_to_the_limit],
        &[Tiny::shift],
    );
}

/// Catches the same in a map.
#[test]
fn a_limit_of_a_map_beside_moves() {
    beside_in::<CuckooMap>(
        "door_map_limit",
        1_521,
        with_one_of_two,
        &[insert_value_to_the_limit],
        &[Tiny::shift],
    );
}

/// Catches the same where the map grows.
#[test]
fn a_limit_of_a_growing_map_beside_moves() {
    beside_in::<GrowingMap>(
        "door_growing_map_limit",
        1_698,
        with_one_of_two,
        &[insert_value_to_the_limit],
        &[Tiny::shift],
    );
}

/// Checks that a map lists the value of the item.
fn list<G: Growth>(map: &Filter<Map, G>, key: Hashed) {
    assert!(map.values(&key).any(|value| value == VALUE), "missed");
}

/// Catches a `values` that accepts two words between which the value has moved.
#[test]
fn values_beside_a_move() {
    let calls: [Call<CuckooMap>; 1] = [list];
    beside_in("door_map_values_move", 857, with_one_of_two, &calls, &[Tiny::shift]);
}

/// Catches the same where the map grows.
#[test]
fn values_beside_a_move_in_a_growing_map() {
    let calls: [Call<GrowingMap>; 1] = [list];
    beside_in("door_growing_map_values_move", 857, with_one_of_two, &calls, &[Tiny::shift]);
}

/// Returns a filter in which a copy of the item has just expired, and the last generation in which
/// another copy is visible has begun.
fn with_an_expired_copy<G: Growth>() -> Filter<Expiring, G>
where
    Filter<Expiring, G>: Tiny,
{
    let filter = Filter::<Expiring, G>::empty();
    let key = filter.key();
    filter.put(key);
    filter.advance();
    filter.put(key);
    filter.advance();
    filter
}

/// Calls on a filter with an expired copy, of which a sweep changes nothing.
fn beside_a_sweep<G: Growth>() -> Vec<Call<Filter<Expiring, G>>> {
    let calls: [Call<Filter<Expiring, G>>; 7] = [
        |filter, key| assert!(filter.contains(&key), "missed"),
        |filter, key| assert_eq!(filter.count(&key), 1, "missed or doubled"),
        |filter, _| assert_eq!(filter.len(), 1, "miscounted"),
        |filter, key| assert!(filter.refresh(&key), "there was a copy"),
        |filter, key| assert!(filter.remove(&key, START + 1), "there was a copy"),
        |filter, key| assert!(!filter.insert_unique(&key).expect("room").is_new(), "missed"),
        |filter, _| assert!(filter.advance() > START),
    ];
    calls.to_vec()
}

/// Sweeps a filter, one bucket after the other.
fn sweep<G: Growth>(filter: &Filter<Expiring, G>, _key: Hashed) {
    while filter.sweep(1) > 0 {}
}

/// Catches a sweep that takes what is visible, or counts a slot twice.
#[test]
fn sweeps_of_an_expiring_filter() {
    let calls = beside_a_sweep();
    beside_in::<ExpiringFilter>("door_sweep", 220, with_an_expired_copy, &calls, &[sweep]);
}

/// Catches the same where the filter grows.
#[test]
fn sweeps_of_a_growing_expiring_filter() {
    let calls = beside_a_sweep();
    let filled = with_an_expired_copy;
    beside_in::<GrowingExpiringFilter>("door_growing_sweep", 145, filled, &calls, &[sweep]);
}
