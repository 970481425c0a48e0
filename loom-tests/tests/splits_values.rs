//! Tables with values that grow: lookups, replacements and removals beside splits, moves and each
//! other.
#![cfg(not(feature = "semi-sorted"))]

use guira::{InsertError, raw::Item};
use guira_loom_tests::{
    EVERY_WAY, check, publishes, read_beside, spawn,
    splits::{
        Map, S, leaving, map, only, put, relocate, relocate_at, reversed, split, split_unseen,
    },
};
use loom::sync::Arc;

/// Values of the models.
const A: u16 = 1;
const B: u16 = 2;
const C: u16 = 3;

/// The item of the models, with the value zero. Its location on the first side goes to a child.
fn key(map: &Map) -> Item {
    leaving(map, 0, 0)
}

/// Stores the item with a value on its first side, or on its second one.
fn store(map: &Map, value: u16, side: usize) {
    put(map, key(map).with_value(value).sides[side]);
}

/// The values of the item, sorted.
fn values(map: &Map) -> Vec<u16> {
    let mut values = map.candidates::<S>(key(map)).as_slice().to_vec();
    values.sort_unstable();
    values
}

/// Checks at a quiet moment that the item has copies with these values, sorted, and no others.
fn assert_values(map: &Map, expected: &[u16]) {
    assert_eq!(values(map), expected, "copies were lost, doubled or changed");
    assert_eq!(map.count::<S>(key(map)), expected.len());
}

/// Moves the item with a value from the first side to the second one.
fn move_to_second(map: &Map, value: u16) {
    assert!(relocate(map, key(map).with_value(value).sides[0]));
}

/// Moves the item with a value from the second side to the first one.
fn move_to_first(map: &Map, value: u16) {
    assert!(relocate(map, key(map).with_value(value).sides[1]));
}

/// Replaces one value by another.
fn replace(map: &Map, old: u16, new: u16) -> bool {
    map.replace::<S>(key(map).with_value(old), new)
}

/// Runs a reader beside a writer. Notes when the reader ran. In the end the copies must have the
/// values `left`.
fn beside(
    name: &str,
    floor: usize,
    set_up: fn(&Map),
    write: fn(&Map),
    left: &'static [u16],
    read: fn(&Map),
) {
    check(name, floor, EVERY_WAY, move |seen| {
        let map = map();
        set_up(&map);
        read_beside(&map, seen, read, write);
        assert_values(&map, left);
    });
}

/// Reads the value A by `get`.
fn gets(map: &Map) {
    assert_eq!(map.get(key(map)), Some(A), "an item that is in the table was missed");
}

/// Catches a `get` that misses an item whose location goes to a child.
#[test]
fn get_beside_a_split() {
    beside("split_values_get", 27, |map| store(map, A, 0), split, &[A], gets);
}

/// Catches a `get` that misses an item which moves, before or after a split.
#[test]
fn get_beside_a_split_and_a_move() {
    let write = |map: &Map| {
        split(map);
        move_to_second(map, A);
    };
    beside("split_values_get_move", 2_000, |map| store(map, A, 0), write, &[A], gets);
}

/// Catches a `get` that misses an item which moves, and looks at a word a second time.
#[test]
fn get_beside_a_move() {
    let write = |map: &Map| move_to_first(map, A);
    beside("split_values_get_back", 200, |map| store(map, A, 1), write, &[A], gets);
}

/// Catches a `get` that misses an item which moves, in a round after the first one.
#[test]
fn open_get_beside_a_move() {
    let set_up = |map: &Map| {
        store(map, A, 1);
        split_unseen(map);
    };
    beside("split_values_open_move", 9_000, set_up, |map| move_to_first(map, A), &[A], gets);
}

/// Catches a `get` that finds no value while one is replaced, or that returns neither.
#[test]
fn get_beside_a_replacement_and_a_split() {
    check("split_values_get_replace", 12_800, &["old", "new"], |seen| {
        let map = map();
        store(&map, A, 0);
        let reader = spawn(&map, |map| map.get(key(map)));
        let splitter = spawn(&map, split);
        assert!(replace(&map, A, B), "there was one copy throughout");
        splitter.join().unwrap();
        let found = reader.join().unwrap();
        assert!([Some(A), Some(B)].contains(&found), "{found:?}");
        seen.note_if(found == Some(A), "old", "new");
        assert_values(&map, &[B]);
    });
}

/// Puts an alias with the value B, and the item with the value A, into the first bucket.
fn both_on_the_first_side(map: &Map) {
    store(map, B, 0);
    store(map, A, 0);
}

/// Puts an alias with the value B, and the item with the value A, into the second bucket.
fn both_on_the_second_side(map: &Map) {
    store(map, B, 1);
    store(map, A, 1);
}

/// Lists the values A and B.
fn lists_both(map: &Map) {
    let found = values(map);
    assert!([&[A, B][..], &[A, A, B]].contains(&&found[..]), "{found:?}");
}

/// Catches a listing that is validated only if it found no alias, and a move that takes the alias's
/// slot.
#[test]
fn listing_beside_a_move() {
    let write = |map: &Map| move_to_first(map, A);
    beside("split_values_list", 540, both_on_the_second_side, write, &[A, B], lists_both);
}

/// Catches a split that drops or exchanges values, and a listing that does not follow it.
#[test]
fn listing_beside_a_split() {
    beside("split_values_list_split", 27, both_on_the_first_side, split, &[A, B], lists_both);
}

/// Catches a `contains_value` that is validated only if it found no alias, or never.
#[test]
fn contains_value_beside_a_move() {
    let write = |map: &Map| move_to_first(map, A);
    beside("split_values_probe", 200, both_on_the_second_side, write, &[A, B], |map| {
        assert!(map.contains_value::<S>(key(map).with_value(A)), "a value was missed");
        assert!(!map.contains_value::<S>(key(map).with_value(C)), "no slot has this value");
    });
}

/// Replaces the value of an item on the first side by A, then the value A of its alias on the
/// second side by B. So there is a copy with the value A at each moment.
fn swap_values(map: &Map) {
    assert!(replace(map, B, A));
    // Of two slots that know as much, the first side's is taken first.
    let item = reversed(key(map).with_value(A));
    assert!(map.replace::<S>(item, B));
}

/// Puts an item with the value B on the first side, and its alias with the value A on the second
/// one.
fn one_on_each_side(map: &Map) {
    store(map, B, 0);
    store(map, A, 1);
}

/// Catches a replacement without a bump before it stores the slot, or a listing that does not
/// validate the version.
#[test]
fn listing_beside_replacements_of_two_aliases() {
    beside("split_values_list_swap", 33_500, one_on_each_side, swap_values, &[A, B], |map| {
        assert!(values(map).contains(&A), "a value was missed");
    });
}

/// Catches a `contains_value` that misses a value which an item or its alias had at each moment.
#[test]
fn contains_value_beside_replacements_of_two_aliases() {
    beside("split_values_probe_swap", 950, one_on_each_side, swap_values, &[A, B], |map| {
        assert!(map.contains_value::<S>(key(map).with_value(A)), "a value was missed");
    });
}

/// Inserts an alias with the value A on the first side, then replaces the value A on the second
/// one.
fn insert_and_replace(map: &Map) {
    map.insert::<S>(only(key(map).with_value(A).sides[0])).expect("room");
    assert!(map.replace::<S>(reversed(key(map).with_value(A)), B));
}

/// Catches a replacement that bumps the version or stores the slot by Relaxed: whoever sees it does
/// not see the alias that was inserted before.
#[test]
fn contains_value_beside_an_alias_and_a_replacement() {
    let set_up = |map: &Map| store(map, A, 1);
    beside("split_values_probe_alias", 470, set_up, insert_and_replace, &[A, B], |map| {
        assert!(map.contains_value::<S>(key(map).with_value(A)), "a value was missed");
    });
}

/// Catches a listing that reads the version too late or too weakly.
#[test]
fn listing_beside_an_alias_and_a_replacement() {
    let set_up = |map: &Map| store(map, A, 1);
    beside("split_values_list_alias", 1_300, set_up, insert_and_replace, &[A, B], |map| {
        assert!(values(map).contains(&A), "a value was missed");
    });
}

/// Catches a replacement that is lost beside a split, or that stores its slot where the split has
/// left another one.
#[test]
fn replacement_beside_a_split() {
    check("split_values_replace", 210, &["done"], |seen| {
        let map = map();
        // Of another stripe than the one whose lock a split takes.
        let item = leaving(&map, 1, 0);
        put(&map, item.with_value(A).sides[0]);
        let splitter = spawn(&map, split);
        let replacer = spawn(&map, move |map| map.replace::<S>(item.with_value(A), B));
        assert!(replacer.join().unwrap(), "there was one copy throughout");
        splitter.join().unwrap();
        assert_eq!(map.candidates::<S>(item).as_slice(), [B], "lost, or not replaced");
        seen.note("done");
    });
}

/// Catches a replacement that overwrites an insert into the same word.
#[test]
fn replacement_beside_an_insert() {
    check("split_values_replace_insert", 10, &["done"], |seen| {
        let map = map();
        store(&map, A, 0);
        let other = leaving(&map, 1, 0);
        let replacer = spawn(&map, |map| assert!(replace(map, A, B)));
        put(&map, other.sides[0]);
        replacer.join().unwrap();
        assert_values(&map, &[B]);
        assert_eq!(map.count::<S>(other), 1);
        seen.note("done");
    });
}

/// Catches a replacement that is lost beside a move, or a move that brings the old value back.
#[test]
fn replacement_beside_a_move() {
    check("split_values_replace_move", 20, &["moved", "stale"], |seen| {
        let map = map();
        store(&map, A, 0);
        let mover = spawn(&map, |map| relocate_at(map, key(map).with_value(A).sides[0], 0, None));
        let replacer = spawn(&map, |map| replace(map, A, B));
        assert!(replacer.join().unwrap(), "there was one copy throughout");
        seen.note_if(mover.join().unwrap(), "moved", "stale");
        assert_values(&map, &[B]);
    });
}

/// Catches two replacements of one copy that both succeed, or a replacement of an alias's copy.
#[test]
fn two_replacements_of_one_copy() {
    check("split_values_two_replace", 20, &["first", "second"], |seen| {
        let map = map();
        // A replacement that ignored the old value would take this copy.
        store(&map, 9, 1);
        store(&map, A, 0);
        let [first, second] = [B, C]
            .map(|new| spawn(&map, move |map| replace(map, A, new)))
            .map(|replacer| replacer.join().unwrap());
        assert!(first != second, "replaced by {}", if first { "both" } else { "neither" });
        seen.note_if(first, "first", "second");
        assert_values(&map, &[if first { B } else { C }, 9]);
    });
}

/// Catches a replacement and a removal of one copy that both succeed, or a removal of an alias's
/// copy.
#[test]
fn replacement_beside_a_removal() {
    check("split_values_replace_remove", 20, &["replaced", "removed"], |seen| {
        let map = map();
        // A removal that ignored the value would take this copy.
        store(&map, 9, 1);
        store(&map, A, 0);
        let remover = spawn(&map, |map| map.remove::<S>(key(map).with_value(A)));
        let replacer = spawn(&map, |map| replace(map, A, B));
        let replaced = replacer.join().unwrap();
        assert!(replaced != remover.join().unwrap(), "exactly one of them succeeds");
        seen.note_if(replaced, "replaced", "removed");
        assert_values(&map, if replaced { &[B, 9] } else { &[9] });
    });
}

/// Adds a copy of the item with this value, or returns the value that it has.
fn get_or_insert(map: &Map, value: u16) -> Option<u16> {
    map.get_or_insert::<S>(key(map).with_value(value)).expect("room")
}

/// Catches two calls of `get_or_insert` that both add the item because their values differ, and one
/// that returns its own value for the value that it found.
#[test]
fn two_calls_of_get_or_insert() {
    check("split_values_unique", 20, &["first", "second"], |seen| {
        let map = map();
        let [first, second] = [A, B]
            .map(|value| spawn(&map, move |map| get_or_insert(map, value)))
            .map(|caller| caller.join().unwrap());
        let added = seen.note_if(first.is_none(), "first", "second");
        assert_eq!([first, second], if added { [None, Some(A)] } else { [Some(B), None] });
        assert_values(&map, &[if added { A } else { B }]);
    });
}

/// Catches a `get_or_insert` that adds an item beside a split and a replacement of its alias.
#[test]
fn get_or_insert_beside_a_replacement_and_a_split() {
    check("split_values_unique_replace", 640, &["old", "new"], |seen| {
        let map = map();
        store(&map, A, 0);
        let splitter = spawn(&map, split);
        let finder = spawn(&map, |map| get_or_insert(map, C));
        assert!(replace(&map, A, B), "there was one copy throughout");
        splitter.join().unwrap();
        let found = finder.join().unwrap();
        assert!([Some(A), Some(B)].contains(&found), "{found:?}");
        seen.note_if(found == Some(A), "old", "new");
        assert_values(&map, &[B]);
    });
}

/// Catches a limit on copies that counts only copies with the new value.
#[test]
fn limit_beside_a_replacement() {
    check("split_values_limit", 110, &["too many"], |seen| {
        let map = map();
        store(&map, A, 0);
        let insert = |map: &Map| map.insert_up_to::<S>(1, key(map).with_value(C));
        let inserter = spawn(&map, insert);
        assert!(replace(&map, A, B));
        assert_eq!(inserter.join().unwrap(), Err(InsertError::TooManyCopies));
        seen.note("too many");
        assert_values(&map, &[B]);
    });
}

/// Catches an undo of a merge that takes the copy of an alias with another value.
#[test]
fn undone_merge_beside_a_replacement() {
    check("split_values_undo", 9, &["done"], |seen| {
        let (target, source) = (map(), map());
        // In the order of the source: the first is merged, and the others exceed the limit.
        store(&source, A, 0);
        store(&source, C, 0);
        store(&target, B, 1);
        let other = source.clone();
        let merger = spawn(&target, move |map| map.merge(&other, Some(2)).outcome.is_err());
        assert!(replace(&target, B, 9), "it stays");
        assert!(merger.join().unwrap(), "there would be three copies");
        assert_values(&target, &[9]);
        seen.note("done");
    });
}

/// Stores the value B by `write` in a table where the item has these values, and looks for it by
/// `find`.
fn publish(
    name: &str,
    floor: usize,
    before: &'static [u16],
    write: fn(&Map),
    find: fn(&Map) -> bool,
) {
    let set_up = move || -> Arc<Map> {
        let map = map();
        before.iter().for_each(|&value| store(&map, value, 1));
        map
    };
    publishes(name, floor, set_up, write, find);
}

/// Inserts the item with the value B.
fn insert(map: &Map) {
    map.insert::<S>(key(map).with_value(B)).expect("room");
}

/// Catches a `get` that returns a value but does not happen after its insert.
#[test]
fn insert_happens_before_a_get() {
    publish("split_publish_get", 32, &[], insert, |map| map.get(key(map)) == Some(B));
}

/// Catches a listing that does not happen after the inserts of the values in it.
#[test]
fn insert_happens_before_a_listing() {
    publish("split_publish_list", 32, &[], insert, |map| values(map).contains(&B));
}

/// Catches a `contains_value` that does not happen after the insert of the value.
#[test]
fn insert_happens_before_a_contains_value() {
    publish("split_publish_probe", 32, &[], insert, |map| {
        map.contains_value::<S>(key(map).with_value(B))
    });
}

/// Catches a replacement that does not publish the new value.
#[test]
fn replacement_happens_before_a_get() {
    let write = |map: &Map| assert!(replace(map, A, B));
    publish("split_publish_replace", 130, &[A], write, |map| map.get(key(map)) == Some(B));
}

/// Catches a replacement that succeeds but does not happen after the insert of what it replaces.
#[test]
fn insert_happens_before_a_replacement() {
    publish("split_publish_replaced", 9, &[], insert, |map| replace(map, B, C));
}
