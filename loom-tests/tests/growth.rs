//! Operations on a segment chain: beside an append, and across two segments.

use guira::raw::Chain;
use guira_loom_tests::{
    EVERY_WAY, Mark,
    chain::{
        FINER, LAYOUT, assert_filled, chain, crowd_second_segment, fill, filler, of_stripe,
        two_places, with_second_segment,
    },
    check, look_up_beside, publish, spawn,
};
use loom::sync::Arc;

/// Catches a segment published before it is initialized, and a hit in it that does not happen after
/// the insert.
#[test]
fn lookup_beside_an_append() {
    check("growth_lookup", 5_300, &["hit", "miss"], |seen| {
        let (chain, [new, _]) = (chain(2), two_places(0, 0));
        fill(&chain, 0);
        let insert = move |chain: &Chain| chain.insert(new).expect("another segment");
        publish(&chain, seen, insert, |chain| {
            assert!(chain.contains(filler(0)), "an item that is there throughout was missed");
            chain.contains(new)
        });
        assert!(chain.contains(new));
        assert_filled(&chain, 0);
    });
}

/// Catches an append that replaces another thread's segment and loses its items.
#[test]
fn two_appends() {
    check("growth_two_appends", 1_340, &["done"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        let items = [two_places(0, 0)[0], two_places(1, 0)[0]];
        let threads = items.map(|item| spawn(&chain, move |chain| chain.insert(item)));
        assert_eq!(threads.map(|thread| thread.join().unwrap()), [Ok(()); 2]);
        assert_eq!(chain.layouts().len(), 2);
        assert!(items.iter().all(|&item| chain.count(item) == 1), "lost or doubled");
        assert_filled(&chain, 0);
        seen.note("done");
    });
}

/// Catches two calls of `insert_unique` that add one item to different new segments.
#[test]
fn two_insert_unique_that_append() {
    check("growth_unique_unique", 160, &["first", "second"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        // They start from different buckets, and would add the item to different ones.
        let [item, alias] = two_places(0, 0);
        let [first, second] = [item, alias]
            .map(|item| spawn(&chain, move |chain| chain.insert_unique(item).unwrap()));
        let (first, second) = (first.join().unwrap(), second.join().unwrap());
        assert!(first != second, "added by {}", if first { "both" } else { "neither" });
        seen.note_if(first, "first", "second");
        assert_eq!(chain.count(item), 1);
        assert_filled(&chain, 0);
    });
}

/// Runs `insert_unique` beside a plain insert of the same item, with this many empty slots.
fn unique_beside_an_insert(name: &str, floor: usize, slots: u32) {
    check(name, floor, &["added", "was present"], move |seen| {
        let chain = chain(2);
        fill(&chain, slots);
        let [item, alias] = two_places(0, 0);
        let plain = spawn(&chain, move |chain| chain.insert(alias).unwrap());
        let unique = spawn(&chain, move |chain| chain.insert_unique(item).unwrap());
        plain.join().unwrap();
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert_eq!(chain.count(item), 1 + usize::from(added));
        assert_filled(&chain, slots);
    });
}

/// Catches a lost or doubled item when `insert` and `insert_unique` race for the last slot.
#[test]
fn unique_beside_an_insert_one_appends() {
    unique_beside_an_insert("growth_unique_insert", 52, 1);
}

/// Catches a lost or doubled item when `insert` and `insert_unique` both append a segment.
#[test]
fn unique_beside_an_insert_both_append() {
    unique_beside_an_insert("growth_unique_insert_appending", 2_770, 0);
}

/// Catches an `insert_unique` that looks for segments before it acquires the stripe.
///
/// The other thread appends a segment, adds the item there, and then removes an item from the
/// first segment.
#[test]
fn unique_beside_an_append_and_a_removal() {
    check("growth_unique_append", 180, &["first", "second"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        let [item, alias] = two_places(0, 0);
        let first = spawn(&chain, move |chain| {
            let added = chain.insert_unique(item).unwrap();
            assert!(chain.remove(filler(0)));
            added
        });
        let second = spawn(&chain, move |chain| chain.insert_unique(alias).unwrap());
        let (first, second) = (first.join().unwrap(), second.join().unwrap());
        assert!(first != second, "added by {}", if first { "both" } else { "neither" });
        seen.note_if(first, "first", "second");
        assert_eq!(chain.count(item), 1);
    });
}

/// Catches an `insert_unique` that overlooks earlier segments while another one is appended.
#[test]
fn unique_of_an_item_in_the_first_segment() {
    check("growth_unique_first_segment", 96, &["appended", "not yet"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        let done = Mark::default();
        let writer = {
            let done = done.clone();
            spawn(&chain, move |chain| {
                chain.insert(two_places(0, 0)[0]).expect("another segment");
                done.set();
            })
        };
        let unique = {
            let seen = seen.clone();
            spawn(&chain, move |chain| {
                seen.note_if(done.is_set(), "appended", "not yet");
                assert_eq!(chain.insert_unique(filler(0)), Ok(false));
            })
        };
        writer.join().unwrap();
        unique.join().unwrap();
        assert_filled(&chain, 0);
    });
}

/// Catches a removal that misses its item, or takes a wrong one, while a segment is appended.
#[test]
fn removal_beside_an_append() {
    check("growth_removal", 150, &["appended", "room made"], |seen| {
        let chain = chain(2);
        fill(&chain, 1);
        let [item, _] = two_places(0, 0);
        let [other, _] = two_places(1, 0);
        chain.insert(item).expect("a slot");
        let remover = spawn(&chain, move |chain| chain.remove(item));
        let writer = spawn(&chain, move |chain| chain.insert(other));
        assert!(remover.join().unwrap(), "found nothing to remove");
        assert_eq!(writer.join().unwrap(), Ok(()));
        seen.note_if(chain.layouts().len() == 2, "appended", "room made");
        assert_eq!((chain.count(item), chain.count(other)), (0, 1));
        assert_filled(&chain, 1);
    });
}

/// Looks up an item while one alias is inserted and another one removed. `from_cleared` says
/// whether the lookup first reads the word that is cleared.
fn beside_an_alias(name: &str, floor: usize, from_cleared: bool) {
    check(name, floor, EVERY_WAY, move |seen| {
        let chain = with_second_segment();
        let [item, alias] = two_places(0, 0);
        // In the first bucket of the alias. The next insert finds the other one emptier.
        chain.insert(alias).expect("room");
        look_up_beside(&chain, seen, if from_cleared { alias } else { item }, move |chain| {
            chain.insert(item).expect("room");
            assert!(chain.remove(alias));
        });
        assert_eq!(chain.count(item), 1);
    });
}

/// Catches a lookup that misses an item while one alias is inserted and another one removed.
///
/// The item and its alias are aliases in both segments. A removal that does not bump the version
/// makes the lookup miss.
#[test]
fn lookup_beside_an_alias_inserted_and_one_removed() {
    beside_an_alias("growth_alias", 1_440, false);
}

/// Catches a lookup that reads each first word without an Acquire.
#[test]
fn lookup_of_an_alias_from_the_word_that_is_cleared() {
    beside_an_alias("growth_alias_from_cleared", 1_500, true);
}

/// Catches a lookup that misses an item which moves within the second segment.
#[test]
fn lookup_beside_a_move() {
    check("growth_move", 2_300, EVERY_WAY, |seen| {
        let chain = with_second_segment();
        // Not of the stripe of the items that fill the segment.
        let [item, reversed] = two_places(1, 0);
        let slots = LAYOUT.slots_per_bucket() as usize;
        crowd_second_segment(&chain, item);
        look_up_beside(&chain, seen, reversed, move |chain| {
            chain.insert(of_stripe(0, false, slots)[0]).expect("the item's slot");
        });
        assert_eq!((chain.count(item), chain.layouts().len()), (1, 2));
    });
}

/// Catches an `insert` that fails with `TooManyCopies` because a half-done move counts twice.
#[test]
fn insert_of_the_last_copy_beside_a_move() {
    check("growth_copies", 155, &["done"], |seen| {
        let chain = with_second_segment();
        let [item, _] = two_places(1, 0);
        let slots = LAYOUT.slots_per_bucket() as usize;
        // One copy is in the item's first bucket, which is full. Nothing else in there can move.
        // The other copies are in its second bucket.
        crowd_second_segment(&chain, item);
        for nth in 0..slots - 1 {
            assert!(chain.remove(of_stripe(0, false, nth)[1]));
        }
        for _ in 0..slots - 2 {
            chain.insert(item).expect("room");
        }
        let writer = spawn(&chain, move |chain| chain.insert(of_stripe(0, false, slots)[0]));
        let inserter = spawn(&chain, move |chain| chain.insert(item));
        assert_eq!(inserter.join().unwrap(), Ok(()), "refused, although there may be more copies");
        assert_eq!(writer.join().unwrap(), Ok(()));
        assert_eq!((chain.count(item), chain.layouts().len()), (slots, 2));
        seen.note("done");
    });
}

/// Returns a chain of two segments with an item in the first one, and in the second one an item
/// that is an alias of it only in the first one.
fn with_coarse_aliases() -> (Arc<Chain>, u64, u64) {
    let chain = chain(2);
    fill(&chain, 1);
    let [item, _] = two_places(0, 0);
    // Fingerprints have one more bit in the second segment, and these two differ in it.
    let coarse_alias = item | FINER;
    chain.insert(item).expect("the last slot");
    chain.insert(coarse_alias).expect("another segment");
    (chain, item, coarse_alias)
}

/// Catches a removal that starts with the first segment: it takes the only copy of an alias.
///
/// The two items are aliases in the first segment, which holds one of them, and not in the second,
/// which holds the other.
#[test]
fn removal_beside_a_lookup_of_a_coarse_alias() {
    check("growth_coarse_alias", 260, &["found"], |seen| {
        let (chain, item, coarse_alias) = with_coarse_aliases();
        let remover = spawn(&chain, move |chain| chain.remove(coarse_alias));
        let reader = spawn(&chain, move |chain| {
            assert!(chain.contains(item), "an item that is in the chain throughout was missed");
        });
        assert!(remover.join().unwrap(), "found nothing to remove");
        reader.join().unwrap();
        assert!(chain.contains(item), "removed instead of its alias");
        seen.note("found");
        assert_filled(&chain, 1);
    });
}

/// Catches two removals, of aliases in the first segment only, of which one finds nothing.
#[test]
fn removals_of_coarse_aliases() {
    check("growth_two_removals", 25, &["done"], |seen| {
        let (chain, item, coarse_alias) = with_coarse_aliases();
        let removers =
            [item, coarse_alias].map(|item| spawn(&chain, move |chain| chain.remove(item)));
        assert_eq!(
            removers.map(|remover| remover.join().unwrap()),
            [true; 2],
            "found nothing to remove"
        );
        assert_eq!((chain.count(item), chain.count(coarse_alias)), (0, 0));
        assert_filled(&chain, 1);
        seen.note("done");
    });
}

/// Catches an `insert_unique` that returns `false` for an item that a removal took before it.
#[test]
fn unique_beside_a_removal() {
    check("growth_unique_removal", 23, &["added", "was present"], |seen| {
        let chain = with_second_segment();
        let [item, _] = two_places(0, 0);
        chain.insert(item).expect("room");
        let remover = spawn(&chain, move |chain| chain.remove(item));
        let unique = spawn(&chain, move |chain| chain.insert_unique(item).unwrap());
        assert!(remover.join().unwrap(), "found nothing to remove");
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert_eq!(chain.count(item), usize::from(added));
    });
}

/// Catches a `count` over two segments that misses a copy which is there throughout.
#[test]
fn count_beside_an_insert_and_a_removal() {
    check("growth_count", 265, &["1", "2"], |seen| {
        let chain = with_second_segment();
        let [item, alias] = two_places(0, 0);
        chain.insert(item).expect("room");
        let counter = spawn(&chain, move |chain| chain.count(item));
        let writer = spawn(&chain, move |chain| {
            chain.insert(alias).expect("room");
            assert!(chain.remove(item));
        });
        let copies = counter.join().unwrap();
        writer.join().unwrap();
        assert!((1..=2).contains(&copies), "{copies} copies");
        seen.note_if(copies == 1, "1", "2");
    });
}
