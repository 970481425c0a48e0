//! Tables with values: lookups beside moves and replacements, and replacements beside each other.
#![cfg(not(feature = "semi-sorted"))]

use guira::{
    CuckooMap, InsertError,
    raw::{FixedWords, Pair},
};
use guira_loom_tests::{
    EVERY_WAY, check, keyed, read_beside, reversed, spawn,
    values::{Map, assert_values, filter, get_or_insert, item, map, put, relocate, values},
};
use loom::sync::Arc;

/// Values of the models.
const A: u16 = 1;
const B: u16 = 2;
const C: u16 = 3;

/// Runs a reader of an item with the value A beside a writer that calls `set_up` before and `write`
/// beside it. Notes when the reader ran. In the end the copies must have the values `left`.
fn beside(
    name: &str,
    floor: usize,
    set_up: fn(&Map, Pair),
    write: fn(&Map, Pair),
    left: &'static [u16],
    read: fn(&Map, Pair),
) {
    check(name, floor, EVERY_WAY, move |seen| {
        let map = map();
        let item = item(&map, 0, 0);
        set_up(&map, item);
        read_beside(&map, seen, move |map| read(map, item), move |map| write(map, item));
        assert_values(&map, item, left);
    });
}

/// Moves an item with the value A from the second bucket, where an alias with the value B stays, to
/// the first one.
fn move_past_alias(map: &Map, item: Pair) {
    assert!(relocate(map, item, A, 1));
}

/// Puts an alias with the value B, and the item with the value A, into the second bucket.
fn both_in_the_second_bucket(map: &Map, item: Pair) {
    put(map, item, B, 1);
    put(map, item, A, 1);
}

/// Catches a `get` that misses an item which moves.
#[test]
fn get_beside_a_move() {
    let set_up = |map: &Map, item| put(map, item, A, 1);
    let write = |map: &Map, item| assert!(relocate(map, item, A, 1));
    beside("values_get_move", 423, set_up, write, &[A], |map, item| {
        assert_eq!(map.get(item), Some(A), "an item that is in the table was missed");
    });
}

/// Catches a `get` that misses an item when it retries.
#[test]
fn get_beside_three_moves() {
    let set_up = |map: &Map, item| put(map, item, A, 1);
    let write = |map: &Map, item| {
        for from in [1, 0, 1] {
            assert!(relocate(map, item, A, from));
        }
    };
    beside("values_get_three_moves", 180_000, set_up, write, &[A], |map, item| {
        assert_eq!(map.get(item), Some(A), "an item that is in the table was missed");
    });
}

/// Catches a batch of `get` that misses an item which moves.
#[test]
fn get_of_a_batch_beside_a_move() {
    check("values_batch_move", 400, EVERY_WAY, |seen| {
        let map = Arc::new(filter());
        let (key, pair) = keyed(&map);
        put(map.table(), pair, A, 1);
        let get = move |map: &CuckooMap| {
            let mut values = [None];
            assert_eq!(map.get_batch(&[key], &mut values), 1, "an item in the map was missed");
            assert_eq!(values, [Some(A)]);
        };
        read_beside(&map, seen, get, move |map| assert!(relocate(map.table(), pair, A, 1)));
    });
}

/// Catches a lookup by key that also compares the value, in its first round or when it retries.
#[test]
fn contains_beside_a_move() {
    let set_up = |map: &Map, item| put(map, item, A, 1);
    let write = |map: &Map, item| assert!(relocate(map, item, A, 1));
    beside("values_contains_move", 423, set_up, write, &[A], |map, item| {
        assert!(map.contains(item), "an item that is in the table was missed");
    });
}

/// Catches a listing that is validated only if it found no alias, and a move that takes the alias's
/// slot.
#[test]
fn listing_beside_a_move() {
    beside(
        "values_list_move",
        543,
        both_in_the_second_bucket,
        move_past_alias,
        &[A, B],
        |map, item| {
            let found = values(map, item);
            assert!([&[A, B][..], &[A, A, B]].contains(&&found[..]), "{found:?}");
        },
    );
}

/// Catches a listing that has neither the old nor the new value of an item that is moved and
/// replaced.
#[test]
fn listing_beside_a_move_and_a_replacement() {
    let write = |map: &Map, item: Pair| {
        assert!(relocate(map, item, A, 1));
        assert!(map.replace::<FixedWords>(item.with_value(A), C));
    };
    beside(
        "values_list_move_replace",
        44_600,
        both_in_the_second_bucket,
        write,
        &[B, C],
        |map, item| {
            let found = values(map, item);
            let expected: [&[u16]; 3] = [&[A, B], &[A, A, B], &[B, C]];
            assert!(expected.contains(&&found[..]), "{found:?}");
        },
    );
}

/// Catches a `contains_value` that is validated only if it found no alias, or never, and one that
/// takes any value for its own.
#[test]
fn contains_value_beside_a_move() {
    beside(
        "values_probe_move",
        200,
        both_in_the_second_bucket,
        move_past_alias,
        &[A, B],
        |map, item| {
            assert!(map.contains_value::<FixedWords>(item.with_value(A)), "a value was missed");
            assert!(
                !map.contains_value::<FixedWords>(item.with_value(C)),
                "a value that is not there"
            );
        },
    );
}

/// Replaces the value of an item in the first bucket by A, then the value A of its alias in the
/// second bucket by B. So there is a copy with the value A at each moment.
fn swap_values(map: &Map, item: Pair) {
    assert!(map.replace::<FixedWords>(item.with_value(B), A));
    assert!(map.replace::<FixedWords>(reversed(item.with_value(A)), B));
}

/// Puts an item with the value B into the first bucket, and its alias with the value A into the
/// second one.
fn one_in_each_bucket(map: &Map, item: Pair) {
    put(map, item, B, 0);
    put(map, item, A, 1);
}

/// Catches a replacement without a bump before it stores the slot, or a listing that does not
/// validate the version: a value that an item or its alias had at each moment is not listed.
#[test]
fn listing_beside_replacements_of_two_aliases() {
    beside("values_list_swap", 33_500, one_in_each_bucket, swap_values, &[A, B], |map, item| {
        assert!(values(map, item).contains(&A), "a value was missed");
    });
}

/// Catches a `contains_value` that misses a value which an item or its alias had at each moment.
#[test]
fn contains_value_beside_replacements_of_two_aliases() {
    beside("values_probe_swap", 950, one_in_each_bucket, swap_values, &[A, B], |map, item| {
        assert!(map.contains_value::<FixedWords>(item.with_value(A)), "a value was missed");
    });
}

/// Inserts an alias with the value A into the first bucket, then replaces the value A in the second
/// one.
fn insert_and_replace(map: &Map, item: Pair) {
    map.insert::<FixedWords>(item.with_value(A)).expect("room");
    assert!(map.replace::<FixedWords>(reversed(item.with_value(A)), B));
}

/// Catches a replacement that bumps the version or stores the slot by Relaxed: whoever sees it does
/// not see the alias that was inserted before.
#[test]
fn contains_value_beside_an_alias_and_a_replacement() {
    let set_up = |map: &Map, item| put(map, item, A, 1);
    beside("values_probe_alias", 450, set_up, insert_and_replace, &[A, B], |map, item| {
        assert!(map.contains_value::<FixedWords>(item.with_value(A)), "a value was missed");
    });
}

/// Catches a listing that reads the version too late or too weakly, beside an insert of an alias
/// and a replacement.
#[test]
fn listing_beside_an_alias_and_a_replacement() {
    let set_up = |map: &Map, item| put(map, item, A, 1);
    beside("values_list_alias", 1_300, set_up, insert_and_replace, &[A, B], |map, item| {
        assert!(values(map, item).contains(&A), "a value was missed");
    });
}

/// Catches a `get` that finds no value while one is replaced, or that returns neither.
#[test]
fn get_beside_a_replacement() {
    check("values_get_replace", 280, &["old", "new"], |seen| {
        let map = map();
        let item = item(&map, 0, 0);
        put(&map, item, A, 1);
        let reader = spawn(&map, move |map| map.get(item));
        assert!(map.replace::<FixedWords>(item.with_value(A), B));
        let found = reader.join().unwrap();
        assert!([Some(A), Some(B)].contains(&found), "{found:?}");
        seen.note_if(found == Some(A), "old", "new");
        assert_values(&map, item, &[B]);
    });
}

/// Catches a replacement that is lost beside a move, or a move that brings the old value back.
#[test]
fn replacement_beside_a_move() {
    check("values_replace_move", 23, &["moved", "stale"], |seen| {
        let map = map();
        let item = item(&map, 0, 0);
        put(&map, item, A, 1);
        let mover = spawn(&map, move |map| relocate(map, item, A, 1));
        let replacer = spawn(&map, move |map| map.replace::<FixedWords>(item.with_value(A), B));
        assert!(replacer.join().unwrap(), "there was one copy throughout");
        seen.note_if(mover.join().unwrap(), "moved", "stale");
        assert_values(&map, item, &[B]);
    });
}

/// Catches a lookup that finds no value of an item that is moved and replaced.
#[test]
fn get_beside_a_replacement_and_a_move() {
    check("values_get_replace_move", 5_500, &["old", "new"], |seen| {
        let map = map();
        let item = item(&map, 0, 0);
        put(&map, item, A, 1);
        let mover = spawn(&map, move |map| {
            let _ = relocate(map, item, A, 1);
        });
        let reader = spawn(&map, move |map| map.get(item));
        assert!(map.replace::<FixedWords>(item.with_value(A), B), "there was one copy throughout");
        mover.join().unwrap();
        let found = reader.join().unwrap();
        assert!([Some(A), Some(B)].contains(&found), "{found:?}");
        seen.note_if(found == Some(A), "old", "new");
        assert_values(&map, item, &[B]);
    });
}

/// Catches two replacements of one copy that both succeed, or a replacement of an alias's copy.
#[test]
fn two_replacements_of_one_copy() {
    check("values_replace_replace", 25, &["first", "second"], |seen| {
        let map = map();
        let item = item(&map, 0, 0);
        // A replacement that ignored the old value would take this copy.
        put(&map, item, 9, 1);
        put(&map, item, A, 1);
        let [first, second] = [B, C]
            .map(|new| spawn(&map, move |map| map.replace::<FixedWords>(item.with_value(A), new)))
            .map(|replacer| replacer.join().unwrap());
        assert!(first != second, "replaced by {}", if first { "both" } else { "neither" });
        seen.note_if(first, "first", "second");
        assert_values(&map, item, &[if first { B } else { C }, 9]);
    });
}

/// Catches a replacement and a removal of one copy that both succeed, or a removal of an alias's
/// copy.
#[test]
fn replacement_beside_a_removal() {
    check("values_replace_remove", 25, &["replaced", "removed"], |seen| {
        let map = map();
        let item = item(&map, 0, 0);
        // A removal that ignored the value would take this copy.
        put(&map, item, 9, 1);
        put(&map, item, A, 1);
        let remover = spawn(&map, move |map| map.remove::<FixedWords>(item.with_value(A)));
        let replacer = spawn(&map, move |map| map.replace::<FixedWords>(item.with_value(A), B));
        let replaced = replacer.join().unwrap();
        assert!(replaced != remover.join().unwrap(), "exactly one of them succeeds");
        seen.note_if(replaced, "replaced", "removed");
        assert_values(&map, item, if replaced { &[B, 9] } else { &[9] });
    });
}

/// Catches two calls of `get_or_insert` that both add the item because their values differ, and one
/// that returns its own value for the value that it found.
#[test]
fn two_calls_of_get_or_insert() {
    check("values_unique_unique", 20, &["first", "second"], |seen| {
        let map = map();
        let item = item(&map, 0, 0);
        let [first, second] = [A, B]
            .map(|value| spawn(&map, move |map| get_or_insert(map, item.with_value(value))))
            .map(|caller| caller.join().unwrap());
        let added = seen.note_if(first.is_none(), "first", "second");
        assert_eq!([first, second], if added { [None, Some(A)] } else { [Some(B), None] });
        assert_values(&map, item, &[if added { A } else { B }]);
    });
}

/// Catches a `get_or_insert` that adds an item beside a move and a replacement of its alias.
#[test]
fn get_or_insert_beside_a_replacement_and_a_move() {
    check("values_unique_replace_move", 76, &["old", "new"], |seen| {
        let map = map();
        let item = item(&map, 0, 0);
        put(&map, item, A, 1);
        let mover = spawn(&map, move |map| {
            let _ = relocate(map, item, A, 1);
        });
        let finder = spawn(&map, move |map| get_or_insert(map, item.with_value(C)));
        assert!(map.replace::<FixedWords>(item.with_value(A), B), "there was one copy throughout");
        mover.join().unwrap();
        let found = finder.join().unwrap();
        assert!([Some(A), Some(B)].contains(&found), "{found:?}");
        seen.note_if(found == Some(A), "old", "new");
        assert_values(&map, item, &[B]);
    });
}

/// Catches a limit on copies that counts only copies with the new value.
#[test]
fn limit_beside_a_replacement() {
    check("values_limit", 130, &["too many"], |seen| {
        let map = map();
        let item = item(&map, 0, 0);
        put(&map, item, A, 1);
        let inserter =
            spawn(&map, move |map| map.insert_up_to::<FixedWords>(1, item.with_value(C)));
        assert!(map.replace::<FixedWords>(item.with_value(A), B));
        assert_eq!(inserter.join().unwrap(), Err(InsertError::TooManyCopies));
        seen.note("too many");
        assert_values(&map, item, &[B]);
    });
}

/// Catches an insert that returns `Full` where all slots hold copies with different values.
#[test]
fn full_buckets_beside_a_replacement() {
    check("values_too_many_copies", 16, &["too many"], |seen| {
        let map = map();
        let item = item(&map, 0, 0);
        for bucket in [0, 1] {
            for value in [A, C] {
                put(&map, item, value, bucket);
            }
        }
        let inserter = spawn(&map, move |map| map.insert::<FixedWords>(item.with_value(C)));
        assert!(map.replace::<FixedWords>(item.with_value(A), B));
        assert_eq!(inserter.join().unwrap(), Err(InsertError::TooManyCopies));
        seen.note("too many");
        assert_values(&map, item, &[A, B, C, C]);
    });
}
