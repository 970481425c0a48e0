//! Chains with values: `replace`, `remove` and `get_or_insert` beside each other, and beside a move
//! or an append.
#![cfg(not(feature = "semi-sorted"))]

use guira_loom_tests::{
    Mark,
    chain::{FINER, two_places},
    check,
    growing_maps::{
        A, B, C, FILLER, Map, about_to_move, assert_values, filled_with, make_room, one_segment,
        values, with_second_segment,
    },
    publishes, spawn,
};

/// Catches a replacement that is lost beside a move, or a move that brings the old value back.
#[test]
fn replacement_beside_a_move() {
    check("growth_values_replace_move", 131, &["done"], |seen| {
        let chain = about_to_move();
        let [item, _] = two_places(1, 0);
        let mover = spawn(&chain, make_room);
        let replacer = spawn(&chain, move |chain| chain.replace((item, A), B));
        assert!(replacer.join().unwrap(), "there was one copy throughout");
        mover.join().unwrap();
        assert_values(&chain, item, &[B]);
        seen.note("done");
    });
}

/// Catches a replacement and a removal of one copy that both succeed.
#[test]
fn replacement_beside_a_removal() {
    check("growth_values_replace_remove", 23, &["replaced", "removed"], |seen| {
        let [item, alias] = two_places(0, 0);
        // Whatever ignored the value would take the first copy, which is in the bucket of the last.
        let chain = with_second_segment(&[(item, FILLER), (item, C), (item, A)]);
        let remover = spawn(&chain, move |chain| chain.remove((alias, A)));
        let replacer = spawn(&chain, move |chain| chain.replace((item, A), B));
        let replaced = replacer.join().unwrap();
        assert!(replaced != remover.join().unwrap(), "exactly one of them succeeds");
        seen.note_if(replaced, "replaced", "removed");
        assert_values(&chain, item, if replaced { &[B, C, FILLER] } else { &[C, FILLER] });
    });
}

/// Catches a replacement that succeeds but does not happen after the insert of what it replaces.
#[test]
fn insert_happens_before_a_replacement() {
    let [item, _] = two_places(0, 0);
    let set_up = || with_second_segment(&[]);
    let insert = move |chain: &Map| chain.insert((item, A)).expect("room");
    publishes("growth_values_publish_replaced", 16, set_up, insert, move |chain| {
        chain.replace((item, A), B)
    });
}

/// Catches a replacement that misses its item, or takes a wrong one, while a segment is appended.
#[test]
fn replacement_beside_an_append() {
    check("growth_values_replace_append", 188, &["done"], |seen| {
        let chain = one_segment();
        let ([item, _], [other, _]) = (two_places(0, 0), two_places(1, 0));
        let replacer = spawn(&chain, move |chain| chain.replace((item, A), B));
        let writer = spawn(&chain, move |chain| chain.insert((other, A)));
        assert!(replacer.join().unwrap(), "found nothing to replace");
        assert_eq!(writer.join().unwrap(), Ok(()));
        assert_values(&chain, item, &[B]);
        assert_values(&chain, other, &[A]);
        seen.note("done");
    });
}

/// Runs a change of an item in the second segment beside a lookup of one in the first segment, of
/// which it is an alias only there. Both have the value A.
fn of_a_coarse_alias(name: &str, floor: usize, change: fn(&Map, (u64, u16)) -> bool) {
    check(name, floor, &["found"], move |seen| {
        let [item, _] = two_places(0, 0);
        // Fingerprints have one more bit in the second segment, and these two differ in it.
        let coarse_alias = item | FINER;
        let chain = one_segment();
        chain.insert((coarse_alias, A)).expect("another segment");
        let writer = spawn(&chain, move |chain| change(chain, (coarse_alias, A)));
        let reader = spawn(&chain, move |chain| chain.contains_value((item, A)));
        assert!(writer.join().unwrap(), "found nothing");
        assert!(reader.join().unwrap(), "a value that is in the chain was missed");
        assert!(values(&chain, item).contains(&A), "the copy of an alias was taken");
        seen.note("found");
    });
}

/// Catches a replacement that starts with the first segment: it takes the only copy of an alias.
#[test]
fn replacement_beside_a_lookup_of_a_coarse_alias() {
    of_a_coarse_alias("growth_values_coarse_replace", 264, |chain, item| chain.replace(item, B));
}

/// Catches a removal that starts with the first segment: it takes the only copy of an alias.
#[test]
fn removal_beside_a_lookup_of_a_coarse_alias() {
    of_a_coarse_alias("growth_values_coarse_remove", 264, Map::remove);
}

// `get_or_insert`.

/// Catches two calls of `get_or_insert` that add one key to different new segments, or to the same
/// one because their values differ.
#[test]
fn two_calls_of_get_or_insert_that_append() {
    check("growth_values_unique_unique", 513, &["first", "second"], |seen| {
        let chain = filled_with(&[]);
        // They start from different buckets, and would add the item to different ones.
        let [item, alias] = two_places(0, 0);
        let callers = [(item, A), (alias, B)]
            .map(|item| spawn(&chain, move |chain| chain.get_or_insert(item).expect("room")));
        let [first, second] = callers.map(|caller| caller.join().unwrap());
        let added = seen.note_if(first.is_none(), "first", "second");
        assert_eq!([first, second], if added { [None, Some(A)] } else { [Some(B), None] });
        assert_values(&chain, item, &[if added { A } else { B }]);
    });
}

/// Catches a `get_or_insert` that overlooks an item in the first segment, or its value, while
/// another segment is appended.
#[test]
fn get_or_insert_of_an_item_in_the_first_segment() {
    check("growth_values_unique_append", 119, &["appended", "not yet"], |seen| {
        let chain = one_segment();
        let done = Mark::default();
        let writer = {
            let done = done.clone();
            spawn(&chain, move |chain| {
                chain.insert((two_places(1, 0)[0], B)).expect("another segment");
                done.set();
            })
        };
        let finder = {
            let seen = seen.clone();
            spawn(&chain, move |chain| {
                seen.note_if(done.is_set(), "appended", "not yet");
                assert_eq!(chain.get_or_insert((two_places(0, 0)[0], C)), Ok(Some(A)));
            })
        };
        writer.join().unwrap();
        finder.join().unwrap();
        assert_values(&chain, two_places(0, 0)[0], &[A]);
    });
}
