//! Shrinking.

use guira::Shrinking;

use super::*;

fn shrinks<L: GrowingLayout>() {
    for first in FIRST {
        for (keys, left) in [(3_000, 0), (3_000, 40), (9_000, 4_000)] {
            let mut pair = Pair::<L>::with_ahead(first, 0..keys);
            let mut random = Random(keys);
            while pair.keys.len() > left {
                pair.remove(random.below(pair.keys.len()));
            }
            let (bytes, ghosts) = (pair.table.size_in_bytes(), pair.table.grown().ghosts);
            let (occupied, in_use) = (pair.occupied(), pair.table.in_use());
            let is_less = pair.table.shrink::<L>(u64::MAX) != Shrinking::Unchanged;
            assert!(pair.table.size_in_bytes() <= bytes);
            // No ghost is lost, and none is added.
            assert_eq!((pair.occupied(), pair.table.grown().ghosts), (occupied, ghosts));
            if is_less {
                // A few per cent more than they need, unless they need less than the first ones.
                let needed = occupied * 256 / u64::from(LOAD * L::SLOTS) + 1;
                let (needed, now) = (needed.max(first), pair.table.in_use());
                let few_ghosts = first == 1_000 && left > 0;
                let most = if few_ghosts { needed + needed / 8 } else { in_use - 1 };
                println!("{} {first} {keys} {left}: {in_use} {now} {needed}", L::SLOTS);
                assert!(now <= most, "{now} buckets, {needed} needed: {first}, {keys}, {left}");
            }
            pair.check();
            let (_, _, words) = pair.table.copy_words().expect("memory");
            assert!(load::<L>(&pair.table.grown(), &words, 64).is_some());
            for key in 1_000_000..1_001_000 {
                pair.insert(key);
            }
            pair.check();
            pair.drain();
        }
    }
}

#[test]
fn a_table_shrinks_to_what_its_slots_need() {
    shrinks::<Slots5>();
    shrinks::<Slots4>();
    shrinks::<Slots3>();
    shrinks::<Slots2>();
}

#[test]
fn memory_is_released() {
    let mut pair = Pair::<Slots4>::with(1_000, 0..100_000);
    while pair.keys.len() > 1_000 {
        pair.remove(0);
    }
    let bytes = pair.table.size_in_bytes();
    assert_eq!(pair.table.shrink::<Slots4>(u64::MAX), Shrinking::Finished);
    assert!(pair.table.size_in_bytes() < bytes / 2);
    assert_eq!(pair.table.buckets(), 1_000);
    assert_eq!(pair.table.shrink::<Slots4>(u64::MAX), Shrinking::Unchanged);
    pair.check();
}

/// What the levels told comes back: the table has as few aliases as one that never grew so far.
#[test]
fn slots_get_back_what_the_buckets_told() {
    let mut pair = Pair::<Slots4>::with(3, 0..30_000);
    while pair.keys.len() > 300 {
        pair.remove(pair.keys.len() - 1);
    }
    assert_eq!(pair.table.shrink::<Slots4>(u64::MAX), Shrinking::Finished);
    let fresh = Pair::<Slots4>::with(3, 0..300);
    let positives = |table: &GrowingTable| {
        let absent = 1_000_000..1_200_000_u64;
        absent.filter(|&key| table.contains::<Slots4>(&item::<Slots4>(table, key))).count()
    };
    let (shrunk, built) = (positives(&pair.table), positives(&fresh.table));
    assert!(shrunk < 2 * built + 100, "{shrunk} false positives, {built} without shrinking");
}

/// Steps of any size lead to the same table, also if it is saved and loaded in between. A step
/// gives up no more buckets than it may. Returns how many were ahead of their turn.
fn shrinks_in_steps<L: GrowingLayout>(first: u64) -> u64 {
    let sparse = || {
        let mut pair = Pair::<L>::with_ahead(first, 0..9_000);
        let mut random = Random(first);
        while pair.keys.len() > 3_000 {
            pair.remove(random.below(pair.keys.len()));
        }
        pair
    };
    let mut whole = sparse();
    let ahead = ahead(&whole.table);
    assert_eq!(whole.table.shrink::<L>(u64::MAX), Shrinking::Finished);
    for (steps, reload) in [(1, 0), (70, 1), (70, 3), (200, 2)] {
        let mut pair = sparse();
        let mut calls = 0;
        loop {
            let in_use = pair.table.in_use();
            let shrinking = pair.table.shrink::<L>(steps);
            let given_up = in_use - pair.table.in_use();
            assert!(given_up <= steps);
            if shrinking == Shrinking::Finished {
                break;
            }
            assert!(shrinking == Shrinking::Unfinished && given_up > 0);
            calls += 1;
            if reload > 0 && calls % reload == 0 {
                pair.check();
                pair.table = reloaded::<L>(&pair.table, 64);
            }
        }
        assert!(calls > 2);
        pair.check();
        assert!(pair.table.copy_words() == whole.table.copy_words(), "{steps}, {reload}");
    }
    ahead
}

#[test]
fn a_table_shrinks_in_steps() {
    let ahead: u64 = FIRST
        .map(|first| {
            shrinks_in_steps::<Slots5>(first)
                + shrinks_in_steps::<Slots4>(first)
                + shrinks_in_steps::<Slots3>(first)
                + shrinks_in_steps::<Slots2>(first)
        })
        .iter()
        .sum();
    assert!(ahead > 0);
}
