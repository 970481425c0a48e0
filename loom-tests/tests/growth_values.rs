//! Lookups in chains with values, beside moves, replacements, and appends.
#![cfg(not(feature = "semi-sorted"))]

use guira_loom_tests::{
    EVERY_WAY, Mark, Seen,
    chain::{filler, two_places},
    check, check_shallow,
    growing_maps::{
        A, B, FILLER, Map, about_to_move, assert_values, crowd_second_segment, filled_with,
        make_room, one_segment, values, with_second_segment,
    },
    publish, read_beside, spawn,
};
use loom::sync::Arc;

/// A model of a reader beside a writer, which notes when the reader ran.
fn beside(
    set_up: fn() -> Arc<Map>,
    write: fn(&Map),
    read: fn(&Map),
) -> impl Fn(&std::sync::Arc<Seen>) + Send + Sync {
    move |seen| {
        let chain = set_up();
        read_beside(&chain, seen, read, write);
        // What is there at each moment is there in the end.
        read(&chain);
    }
}

/// Asserts that a `get` of this hash finds the value A.
fn gets_a(chain: &Map, hash: u64) {
    assert_eq!(chain.get(hash), Some(A), "an item that is in the chain was missed");
}

/// Asserts that the value A of this hash is listed.
fn lists_a(chain: &Map, hash: u64) {
    assert!(values(chain, hash).contains(&A), "a value that is in the chain was missed");
}

/// Asserts that this hash is found with the value A.
fn probes_a(chain: &Map, hash: u64) {
    assert!(chain.contains_value((hash, A)), "a value that is in the chain was missed");
}

// A move within the second segment.

/// Catches a `get` that misses an item which moves.
#[test]
fn get_beside_a_move() {
    let read = |chain: &Map| gets_a(chain, two_places(1, 0)[0]);
    check("growth_values_get_move", 10_000, EVERY_WAY, beside(about_to_move, make_room, read));
}

/// Catches a `contains_value` that misses an item which moves.
#[test]
fn contains_value_beside_a_move() {
    let read = |chain: &Map| probes_a(chain, two_places(1, 0)[0]);
    check("growth_values_probe_move", 1_500, EVERY_WAY, beside(about_to_move, make_room, read));
}

/// Catches a listing that is validated only if it found no alias.
#[test]
fn listing_beside_a_move_of_an_alias() {
    let set_up = || {
        let [_, item] = two_places(1, 0);
        let chain = with_second_segment(&[(item, A)]);
        // The first bucket is as full as the second one, which then has no slot left.
        crowd_second_segment(&chain, [1, 2]);
        chain.insert((item, B)).expect("room");
        chain
    };
    let read = |chain: &Map| {
        let found = values(chain, two_places(1, 0)[0]);
        assert!([A, B].iter().all(|value| found.contains(value)), "{found:?}");
    };
    check("growth_values_list_move", 29_700, EVERY_WAY, beside(set_up, make_room, read));
}

// An alias is inserted, and a copy removed or replaced.

/// Puts an item into the second bucket of the second segment.
fn alias() -> Arc<Map> {
    with_second_segment(&[(two_places(0, 0)[1], A)])
}

/// Inserts an alias into the first bucket, and replaces the value of the copy in the second one.
fn insert_and_replace(chain: &Map) {
    let [item, alias] = two_places(0, 0);
    chain.insert((item, A)).expect("room");
    assert!(chain.replace((alias, A), B));
}

/// Catches a `get` that reads the version too late or too weakly, or words too weakly.
#[test]
fn get_beside_an_alias_and_a_removal() {
    let write = |chain: &Map| {
        let [item, alias] = two_places(0, 0);
        chain.insert((item, A)).expect("room");
        assert!(chain.remove((alias, A)));
    };
    let read = |chain: &Map| gets_a(chain, two_places(0, 0)[0]);
    check("growth_values_get_alias", 831, EVERY_WAY, beside(alias, write, read));
}

/// Catches a replacement that bumps the version or stores the slot by Relaxed, and a
/// `contains_value` that reads too late or too weakly.
#[test]
fn contains_value_beside_an_alias_and_a_replacement() {
    let read = |chain: &Map| probes_a(chain, two_places(0, 0)[0]);
    check("growth_values_probe_alias", 831, EVERY_WAY, beside(alias, insert_and_replace, read));
}

/// Catches a listing that reads too late or too weakly.
#[test]
fn listing_beside_an_alias_and_a_replacement() {
    let read = |chain: &Map| lists_a(chain, two_places(0, 0)[0]);
    check("growth_values_list_alias", 2_500, EVERY_WAY, beside(alias, insert_and_replace, read));
}

// An append.

/// Looks up a new item with the value A while it is inserted into another segment.
fn beside_an_append(name: &str, floor: usize, find: fn(&Map, u64) -> bool) {
    check(name, floor, &["hit", "miss"], move |seen| {
        let (chain, [new, _]) = (filled_with(&[]), two_places(0, 0));
        let insert = move |chain: &Map| chain.insert((new, A)).expect("another segment");
        publish(&chain, seen, insert, |chain| find(chain, new));
        assert_values(&chain, new, &[A]);
        assert_values(&chain, filler(0), &[FILLER]);
    });
}

/// Catches a `get` that acquires no segment, or whose hit does not happen after the insert.
#[test]
fn get_beside_an_append() {
    beside_an_append("growth_values_get_append", 6_300, |chain, new| {
        assert_eq!(chain.get(filler(0)), Some(FILLER), "an item was missed");
        let found = chain.get(new);
        assert!([None, Some(A)].contains(&found), "{found:?}");
        found.is_some()
    });
}

/// Catches a listing that acquires no segment, or that does not happen after the insert of what it
/// lists.
#[test]
fn listing_beside_an_append() {
    beside_an_append("growth_values_list_append", 6_300, |chain, new| {
        assert_eq!(values(chain, filler(0)), [FILLER]);
        values(chain, new) == [A]
    });
}

/// Catches a `contains_value` that acquires no segment, or whose hit does not happen after the
/// insert.
#[test]
fn contains_value_beside_an_append() {
    beside_an_append("growth_values_probe_append", 6_300, |chain, new| {
        assert!(chain.contains_value((filler(0), FILLER)), "an item was missed");
        chain.contains_value((new, A))
    });
}

// A replacement in a segment that is appended meanwhile: see "Values" in `src/chain/mod.rs`.

/// A model of a reader of that item beside a writer, which inserts an alias into another segment;
/// replaces the value of the item, by taking the copy of the alias; and removes the alias, by
/// taking the copy of the item in the first segment.
fn beside_a_change_of_segments(
    read: fn(&Map, u64),
) -> impl Fn(&std::sync::Arc<Seen>) + Send + Sync {
    move |seen| {
        let chain = one_segment();
        let [item, alias] = two_places(0, 0);
        let done = Mark::default();
        let writer = {
            let done = done.clone();
            spawn(&chain, move |chain| {
                chain.insert((alias, A)).expect("another segment");
                assert!(chain.replace((item, A), B));
                assert!(chain.remove((alias, A)));
                done.set();
            })
        };
        // Not in the other thread: one preemption of the reader is enough.
        read(&chain, item);
        seen.note(done.relative_to(false));
        writer.join().unwrap();
        assert_values(&chain, item, &[B]);
    }
}

/// Checks the values that the item and its alias had at one moment.
fn assert_one_moment(found: &[u16]) {
    let expected: [&[u16]; 4] = [&[A], &[A, A], &[A, B], &[B]];
    assert!(expected.contains(&found), "{found:?}");
}

/// Catches a `get` that lists the segments before it reads the version.
#[test]
fn get_of_an_item_that_comes_to_a_new_segment() {
    let model = beside_a_change_of_segments(|chain, item| {
        let found = chain.get(item);
        assert!([Some(A), Some(B)].contains(&found), "{found:?}");
    });
    check_shallow("growth_values_get_late", 492, &["before", "during"], model);
}

/// Catches a listing that lists the segments before it reads the version.
#[test]
fn listing_of_an_item_that_comes_to_a_new_segment() {
    let model = beside_a_change_of_segments(|chain, item| {
        assert_one_moment(&values(chain, item));
    });
    check_shallow("growth_values_list_late", 90_400, &["before", "during"], model);
}

/// Catches a lookup that lists the segments before it reads the version.
#[test]
fn lookup_of_an_item_that_comes_to_a_new_segment() {
    let model = beside_a_change_of_segments(|chain, item| {
        assert!(chain.contains(item), "an item that is in the chain was missed");
    });
    check_shallow("growth_values_lookup_late", 492, &["before", "during"], model);
}

/// Catches a copy that lists the segments only before it takes the locks.
#[test]
fn clone_of_an_item_that_comes_to_a_new_segment() {
    let model = beside_a_change_of_segments(|chain, item| {
        let (copy, _) = chain.try_clone().expect("memory for a few words");
        assert_one_moment(&values(&copy, item));
    });
    check("growth_values_clone_late", 346, &["before", "during"], model);
}

// Replacements.

/// Replaces the value of an item in the first bucket by A, then the value A of its alias in the
/// second bucket by B. So there is a copy with the value A at each moment.
fn swap_values(chain: &Map) {
    let [item, alias] = two_places(0, 0);
    assert!(chain.replace((item, B), A));
    assert!(chain.replace((alias, A), B));
}

/// Puts an alias with the value A into the second bucket, and the item with the value B into the
/// first one.
fn one_in_each_bucket() -> Arc<Map> {
    let [item, alias] = two_places(0, 0);
    with_second_segment(&[(alias, A), (item, B)])
}

/// Catches a replacement that does not bump the version before it stores the slot.
#[test]
fn contains_value_beside_replacements_of_two_aliases() {
    let read = |chain: &Map| probes_a(chain, two_places(0, 0)[0]);
    check(
        "growth_values_probe_swap",
        957,
        EVERY_WAY,
        beside(one_in_each_bucket, swap_values, read),
    );
}
