//! `clear`, `try_clone` and `copy_words` of a segment chain, beside inserts, moves and removals.

use guira::raw::{BucketLayout, Chain, Plain, SemiSorted};
use guira_loom_tests::{
    chain::{
        LAYOUT, assert_filled, chain, crowd_second_segment, fill, filler, of_stripe, two_places,
        with_second_segment,
    },
    check, check_shallow, spawn,
};

/// Catches a `clear` of a chain that swaps words before it bumps: see `clear_one_moment`.
///
/// A copy is in the bucket that is cleared first; lookups read it last.
#[test]
fn clear_is_one_moment_to_lookups() {
    let outcomes = ["hit, hit", "hit, miss", "miss, miss"];
    check_shallow("growth_clear_one_moment", 4_500, &outcomes, |seen| {
        let chain = with_second_segment();
        let [item, reversed] = two_places(0, 0);
        chain.insert(item).expect("an empty slot");
        let writer = spawn(&chain, move |chain| {
            chain.insert(reversed).expect("an empty slot");
            assert_eq!(chain.clear(), u64::from(LAYOUT.slots_per_bucket()) + 2);
        });
        let reader = spawn(&chain, move |chain| [(); 2].map(|()| chain.contains(reversed)));
        seen.note(match reader.join().unwrap() {
            [true, true] => "hit, hit",
            [true, false] => "hit, miss",
            [false, false] => "miss, miss",
            [false, true] => panic!("an item came back after a lookup had seen it cleared"),
        });
        writer.join().unwrap();
        assert_eq!(chain.count(item), 0);
    });
}

/// Catches a `clear` that leaves out a segment, or loses an insert that appends one.
#[test]
fn clear_beside_an_append() {
    check("growth_clear_append", 54, &["cleared", "left"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        let [new, _] = two_places(0, 0);
        let slots = u64::from(LAYOUT.slots_per_bucket());
        // Not in the other thread: loom would miss the schedules in which the append comes first.
        let clearer = spawn(&chain, Chain::clear);
        assert_eq!(chain.insert(new), Ok(()));
        let cleared = clearer.join().unwrap();
        let left = chain.count(new) as u64;
        assert_eq!(cleared + left, slots + 1, "lost, or counted twice");
        assert!((0..LAYOUT.slots_per_bucket()).all(|nth| chain.count(filler(nth)) == 0));
        // By now all segments are known.
        assert_eq!((chain.clear(), chain.count(new)), (left, 0));
        seen.note_if(left == 1, "left", "cleared");
    });
}

/// Catches a `clear` without locks beside `insert_unique`: it takes an item twice.
#[test]
fn clear_beside_insert_unique() {
    check("growth_clear_unique", 4, &["added", "was present"], |seen| {
        let chain = with_second_segment();
        let item = filler(0);
        let slots = u64::from(LAYOUT.slots_per_bucket());
        let inserter = spawn(&chain, move |chain| chain.insert_unique(item));
        assert_eq!(chain.clear(), slots, "took an item that was added because it was absent");
        let added = inserter.join().unwrap().expect("room");
        assert_eq!(chain.clear(), u64::from(added));
        seen.note_if(added, "added", "was present");
    });
}

/// Catches a copy of a chain that misses an item of an earlier segment, or a new segment.
#[test]
fn clone_beside_an_append() {
    check("growth_clone_append", 355, &["one segment", "two segments"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        let [new, _] = two_places(0, 0);
        // Not in the other thread: as in `clear_beside_an_append`.
        let cloner = spawn(&chain, |chain| chain.try_clone().expect("memory for a few words"));
        assert_eq!(chain.insert(new), Ok(()));
        let (copy, occupied) = cloner.join().unwrap();
        assert_filled(&copy, 0);
        let slots = u64::from(LAYOUT.slots_per_bucket());
        assert_eq!(occupied, slots + copy.count(new) as u64);
        seen.note_if(copy.layouts().len() == 1, "one segment", "two segments");
    });
}

/// The occupied slots of words.
fn items(words: &[u64]) -> u64 {
    if cfg!(feature = "semi-sorted") {
        SemiSorted::<3, 22>::census(words).occupied
    } else {
        Plain::<4, 16>::census(words).occupied
    }
}

/// Catches a snapshot of a chain that misses an item of an earlier segment, or half of a new one.
/// (A snapshot and a clone share their code, so the models of clones stand for it.)
#[test]
fn snapshot_beside_an_append() {
    check("growth_snapshot_append", 430, &["one segment", "two segments"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        let [new, _] = two_places(0, 0);
        // Not in the other thread: as in `clear_beside_an_append`.
        let saver = spawn(&chain, |chain| chain.copy_words().expect("memory for a few words"));
        assert_eq!(chain.insert(new), Ok(()));
        let words = saver.join().unwrap();
        assert_eq!(items(&words[0]), u64::from(LAYOUT.slots_per_bucket()));
        assert!(words.len() == 1 || words[1].len() == 2 && items(&words[1]) <= 1);
        seen.note_if(words.len() == 1, "one segment", "two segments");
    });
}

/// Catches a copy of a chain without locks: a move of an item overtakes it.
#[test]
fn clone_beside_a_move() {
    check("growth_clone_move", 316, &["before", "after"], |seen| {
        let chain = with_second_segment();
        let [_, item] = two_places(1, 0);
        let slots = LAYOUT.slots_per_bucket() as usize;
        // The item takes the last slot of bucket 1, and moves from there to bucket 0.
        crowd_second_segment(&chain, item);
        let [_, new] = of_stripe(0, false, slots);
        let writer = spawn(&chain, move |chain| chain.insert(new).expect("the item's slot"));
        let (copy, occupied) = chain.try_clone().expect("memory for a few words");
        writer.join().unwrap();
        assert_eq!(copy.count(item), 1, "lost or doubled");
        let new_copies = occupied - (slots + 2 * (slots - 1) + 1) as u64;
        assert!(new_copies <= 1, "half of a move was copied");
        seen.note_if(new_copies == 0, "before", "after");
    });
}

/// Catches a clone of a chain without locks: it misses what a removal takes before it is read.
#[test]
fn clone_beside_a_removal() {
    check("growth_clone_removal", 61, &["1", "2"], |seen| {
        let chain = with_second_segment();
        let [item, reversed] = two_places(0, 0);
        // In bucket 1, which is copied last.
        chain.insert(reversed).expect("room");
        let writer = spawn(&chain, move |chain| {
            chain.insert(item).expect("room");
            assert!(chain.remove(reversed));
        });
        let (copy, _) = chain.try_clone().expect("memory for a few words");
        writer.join().unwrap();
        let copies = copy.count(item);
        assert!((1..=2).contains(&copies), "{copies} copies of an item that is there throughout");
        seen.note_if(copies == 1, "1", "2");
    });
}
