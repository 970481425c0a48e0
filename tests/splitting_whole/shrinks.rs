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
            let (_, words) = pair.table.copy_words().expect("memory");
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
