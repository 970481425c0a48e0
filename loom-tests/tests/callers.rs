//! Steps that several operations share, for the callers that no other model covers.

use guira::{
    InsertError,
    raw::{Chain, Table},
};
use guira_loom_tests::{
    EVERY_WAY, L, Written,
    chain::{
        LAYOUT, chain, crowd_second_segment, fill, of_stripe, two_places, with_second_segment,
    },
    check, check_deep, fingerprint, look_up_beside, pair, publishes, put, spawn, table,
};
use loom::sync::Arc;

/// Catches an `insert_unique` that does not publish what it adds.
#[test]
fn unique_happens_before_a_hit() {
    let set_up = || Arc::new(table(2));
    let insert = |table: &Table| {
        let item = fingerprint(table, 0, 1, 0, 0);
        assert_eq!(table.insert_unique::<L>(pair(table, item, 0)), Ok(true));
    };
    publishes("publish_unique", 32, set_up, insert, |table| {
        table.contains::<L>(pair(table, fingerprint(table, 0, 1, 0, 0), 0))
    });
}

/// Catches an `insert` that does not publish what it adds once its search has found a slot that
/// became empty meanwhile.
#[test]
fn insert_after_a_search_happens_before_a_hit() {
    check("publish_search", 215, &["found", "not yet", "full"], |seen| {
        let table = Arc::new(table(1));
        let [item, other, leaving] = [0, 1, 2].map(|nth| fingerprint(&table, 0, 0, 0, nth));
        put(&table, other, 0);
        put(&table, leaving, 0);
        let written = Written::new();
        let inserter = {
            let written = written.clone();
            spawn(&table, move |table| {
                written.write();
                table.insert::<L>(pair(table, item, 0))
            })
        };
        let remover = {
            let seen = seen.clone();
            spawn(&table, move |table| {
                assert!(table.remove::<L>(pair(table, leaving, 0)));
                if seen.note_if(table.contains::<L>(pair(table, item, 0)), "found", "not yet") {
                    written.assert();
                }
            })
        };
        remover.join().unwrap();
        if let Err(error) = inserter.join().unwrap() {
            assert_eq!(error, InsertError::Full);
            seen.note("full");
        }
    });
}

/// The item that the models of chains insert.
fn new() -> u64 {
    two_places(0, 0)[0]
}

/// A chain in whose second segment both buckets are full, with two empty slots in the first one.
fn chain_with_room_in_the_first_segment() -> Arc<Chain> {
    let chain = chain(2);
    fill(&chain, 2);
    // They have no alias in the second segment, where a removal would take it.
    let leaving = [1, 2].map(|nth| two_places(0, nth)[0]);
    let passing = two_places(1, 2)[0];
    for item in leaving.into_iter().chain([passing]) {
        chain.insert(item).expect("room, or another segment");
    }
    assert!(chain.remove(passing));
    crowd_second_segment(&chain, two_places(1, 0)[0]);
    let [_, last] = of_stripe(0, false, LAYOUT.slots_per_bucket() as usize);
    chain.insert(last).expect("the last slot");
    assert!(leaving.into_iter().all(|item| chain.remove(item)));
    chain
}

/// Catches a `count` of a chain by Relaxed loads.
#[test]
fn chain_insert_happens_before_a_count() {
    let insert = |chain: &Chain| chain.insert(new()).expect("room");
    publishes("growth_publish_count", 100, with_second_segment, insert, |chain| {
        chain.count(new()) == 1
    });
}

/// Catches a `remove` from a chain by Relaxed loads.
#[test]
fn chain_insert_happens_before_a_removal() {
    let insert = |chain: &Chain| chain.insert(new()).expect("room");
    publishes("growth_publish_remove", 16, with_second_segment, insert, |chain| {
        chain.remove(new())
    });
}

/// Catches a `clear` of a chain that does not acquire what it clears.
#[test]
fn chain_insert_happens_before_a_clear() {
    let insert = |chain: &Chain| chain.insert(new()).expect("room");
    publishes("growth_publish_clear", 12, || chain(2), insert, |chain| chain.clear() == 1);
}

/// Catches a clone of a chain that does not acquire what it copies.
#[test]
fn chain_insert_happens_before_a_clone() {
    let insert = |chain: &Chain| chain.insert(new()).expect("room");
    publishes(
        "growth_publish_clone",
        52,
        || chain(2),
        insert,
        |chain| chain.try_clone().expect("memory").0.contains(new()),
    );
}

/// Catches an `insert_unique` into a chain that reads the last segment by Relaxed loads.
#[test]
fn chain_insert_happens_before_an_insert_unique_that_finds_it() {
    let insert = |chain: &Chain| chain.insert(new()).expect("room");
    publishes("growth_publish_present", 20, with_second_segment, insert, |chain| {
        !chain.insert_unique(new()).expect("room")
    });
}

/// Catches an `insert_unique` into a chain that does not publish what it adds.
#[test]
fn chain_unique_happens_before_a_hit() {
    let insert = |chain: &Chain| assert_eq!(chain.insert_unique(new()), Ok(true));
    publishes("growth_publish_unique", 32, with_second_segment, insert, |chain| {
        chain.contains(new())
    });
}

/// Catches an `insert` into an earlier segment that does not publish what it adds.
#[test]
fn chain_insert_into_an_earlier_segment_happens_before_a_hit() {
    let insert = |chain: &Chain| chain.insert(new()).expect("room in the first segment");
    publishes(
        "growth_publish_earlier",
        2_900,
        chain_with_room_in_the_first_segment,
        insert,
        |chain| chain.contains(new()),
    );
}

/// Catches an `insert_unique` into an earlier segment that does not publish what it adds.
#[test]
fn chain_unique_into_an_earlier_segment_happens_before_a_hit() {
    let insert = |chain: &Chain| assert_eq!(chain.insert_unique(new()), Ok(true));
    let scene = chain_with_room_in_the_first_segment;
    publishes("growth_publish_earlier_unique", 280, scene, insert, |chain| chain.contains(new()));
}

/// Catches an `insert_unique` that scans earlier segments by Relaxed loads.
#[test]
fn chain_insert_into_an_earlier_segment_happens_before_a_scan() {
    let insert = |chain: &Chain| chain.insert(new()).expect("room in the first segment");
    publishes("growth_publish_scan", 220, chain_with_room_in_the_first_segment, insert, |chain| {
        !chain.insert_unique(new()).unwrap_or(true)
    });
}

/// Catches a `count` of a chain without the lock, which misses a copy that is there throughout.
#[test]
fn chain_count_beside_an_alias_inserted_and_a_copy_removed() {
    check("growth_count_alias", 240, &["1", "2"], |seen| {
        let chain = with_second_segment();
        let [item, alias] = two_places(0, 0);
        chain.insert(item).expect("room");
        // From the other bucket: the copy of the item is read last.
        let counter = spawn(&chain, move |chain| chain.count(alias));
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

/// Catches a lookup that validates each segment by itself, from the first to the finest.
///
/// An alias goes into the first segment, and its removal takes the item's copy in the second one.
#[test]
fn chain_lookup_beside_an_alias_that_goes_to_the_first_segment() {
    check("growth_alias_to_first", 3_070, EVERY_WAY, |seen| {
        let chain = chain_with_room_in_the_first_segment();
        let [item, alias] = two_places(1, 0);
        look_up_beside(&chain, seen, item, move |chain| {
            chain.insert(alias).expect("room in the first segment");
            assert!(chain.remove(alias));
        });
        assert_eq!(chain.count(item), 1);
    });
}

/// Catches an `insert_unique` into a chain that keeps the lock while it makes room, which
/// deadlocks, or does not scan again before it returns `Full`.
#[test]
fn chain_unique_beside_itself_making_room() {
    check("growth_unique_making_room", 115, &["first", "second"], |seen| {
        let chain = with_second_segment();
        // Of the stripe of the item that makes room.
        crowd_second_segment(&chain, two_places(0, 0)[0]);
        let item = of_stripe(0, false, LAYOUT.slots_per_bucket() as usize)[0];
        let [first, second] = [(); 2]
            .map(|()| spawn(&chain, move |chain| chain.insert_unique(item)))
            .map(|inserter| inserter.join().unwrap());
        assert!(
            matches!((first, second), (Ok(true), Ok(false)) | (Ok(false), Ok(true))),
            "{first:?} and {second:?}"
        );
        seen.note_if(first == Ok(true), "first", "second");
        assert_eq!(chain.count(item), 1);
    });
}

/// Catches an `insert_unique` into a chain that decides presence and room by two reads.
///
/// At every moment there is the item, or room for it: `Full` would be wrong.
#[test]
fn chain_unique_beside_an_insert_that_toggles_the_last_slot() {
    check_deep(6, "growth_unique_toggle", 2_690, &["added", "was present"], |seen| {
        let chain = chain(1);
        fill(&chain, 1);
        let item = new();
        let toggler = spawn(&chain, move |chain| {
            let toggle = || chain.insert(item).is_ok();
            toggle() && chain.remove(item) && toggle()
        });
        let unique = spawn(&chain, move |chain| chain.insert_unique(item));
        toggler.join().unwrap();
        let added = unique.join().unwrap().expect("there was the item, or room for it");
        seen.note_if(added, "added", "was present");
    });
}
