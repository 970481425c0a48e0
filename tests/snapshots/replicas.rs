//! Replicas stay equal: filters that were saved and loaded, or cloned, and on which the same calls
//! are made.

use std::fmt::Write;

use guira::FilterBuilder;
use rand::RngExt;

use super::{
    common::{
        Subject,
        kind::{Kind, Of},
        rng,
        saved::{Item, crowd, holds, insert, loader, remove},
        scaled, settings,
        suite::on_all_kinds,
    },
    loaded::batches,
};

on_all_kinds! { replicas_stay_equal }

/// Inserts and removes at random, and lets time pass if items expire. Returns the outcomes.
/// `present` are the items that may be removed.
fn work<K: Kind>(
    filter: &Of<K>,
    present: &mut Vec<Item<K>>,
    operations: usize,
    seed: u64,
) -> (Vec<bool>, String) {
    let mut rng = rng(seed);
    let mut outcomes = String::new();
    let mut operation = || {
        let key = rng.random_range(0..1_000_000);
        match rng.random_range(0..8) {
            0..4 => {
                let added = insert::<K>(filter, key, rng.random_range(0..9)).ok();
                present.extend(added);
                added.is_some()
            }
            // These items stay.
            4 => {
                let is_rare = rng.random_ratio(1, 50);
                if is_rare {
                    write!(outcomes, "{:?}", batches::<K>(filter, &[key, 1 << 40]))
                        .expect("a string");
                }
                if rng.random_ratio(1, 1_000) {
                    K::advance(filter);
                    present.retain(|item| holds::<K>(filter, item));
                }
                is_rare
            }
            _ if present.is_empty() => false,
            5 if !K::IS_PERMANENT && rng.random() => {
                K::refresh(filter, present[rng.random_range(0..present.len())].0)
            }
            _ => {
                let item = present.swap_remove(rng.random_range(0..present.len()));
                let removed = remove::<K>(filter, &item);
                assert!(removed || !K::IS_PERMANENT, "false negative");
                removed && filter.contains(&item.0)
            }
        }
    };
    ((0..operations).map(|_| operation()).collect(), outcomes)
}

/// A filter with the items that may be removed.
type Replica<K> = (Of<K>, Vec<Item<K>>);

/// An operation on the whole of two equal filters, by its number.
fn change_both<K: Kind>(both: &mut [Replica<K>; 2], other: &Replica<K>, number: usize) {
    match number {
        0 => {
            for (filter, present) in both.iter_mut() {
                for item in present.drain(present.len() / 10..) {
                    let removed = remove::<K>(filter, &item);
                    assert!(removed || !K::IS_PERMANENT, "false negative");
                }
            }
            K::Growth::shrink(&mut both[0].0);
            K::Growth::shrink_in_steps(&mut both[1].0);
        }
        1 => {
            let before = other.0.to_bytes();
            let outcomes = both.each_ref().map(|(filter, _)| K::merge(filter, &other.0));
            assert_eq!(outcomes[0], outcomes[1]);
            if outcomes[0] == Some(Ok(())) {
                for (_, present) in both {
                    present.extend(&other.1);
                }
            }
            assert!(other.0.to_bytes() == before, "the source has changed");
        }
        _ => {
            for (filter, present) in both.iter_mut() {
                let slots = filter.slots();
                filter.clear();
                assert_eq!((filter.len(), filter.slots()), (0, slots));
                present.clear();
            }
        }
    }
}

/// Nothing that decides where an item goes is missing in a snapshot or in a clone, and it does not
/// matter which thread makes a call. So replicas stay equal.
fn replicas_stay_equal<K: Kind>() {
    // Half as many operations again insert as remove.
    let sizes = if K::GROWS {
        [(10, 20_000), (1_000, scaled(30_000, 60_000)), (4_000, 5_000)]
    } else {
        [(30_000, 20_000), (5_000, scaled(10_000, 40_000)), (400_000, 400)]
    };
    let layouts = K::layouts();
    let some = [0, layouts.len() / 2, layouts.len() - 1].map(|nth| (layouts[nth], None));
    for (layout, limit) in some.into_iter().chain([(layouts[layouts.len() / 2], Some(2))]) {
        for (capacity, operations) in sizes {
            for writers in [None, Some(1), Some(9)] {
                let builder = settings::<K>(capacity, layout, 3);
                let builder = limit.into_iter().fold(builder, K::limited);
                let builder = writers.into_iter().fold(builder, FilterBuilder::writers);
                let replica = |operations| {
                    let filter = builder.clone().build().expect("a small filter");
                    let mut present = Vec::new();
                    work::<K>(&filter, &mut present, operations, 1);
                    (filter, present)
                };
                let (filter, mut present) = replica(operations);
                if K::GROWS && limit.is_none() && capacity == 10 {
                    present.extend(crowd::<K>(&filter, 1));
                }
                let copy = renewed::<K>(&filter, true);
                let mut both = [(filter, present.clone()), (copy, present)];
                for round in 0..4 {
                    let [(filter, present), (copy, others)] = &mut both;
                    let outcomes = work::<K>(filter, present, 5_000, round);
                    // Another thread has another number.
                    let of_copy = std::thread::scope(|scope| {
                        scope.spawn(|| work::<K>(copy, others, 5_000, round)).join()
                    });
                    assert!(outcomes == of_copy.expect("no panic"), "{filter:?} {copy:?}");
                    assert!(filter.to_bytes() == copy.to_bytes(), "{filter:?} {copy:?}");
                    // Another thread may go on with a copy.
                    *copy = renewed::<K>(copy, round % 2 == 0);
                    change_both::<K>(&mut both, &replica(operations / 40), round as usize);
                    let [(filter, _), (copy, _)] = &mut both;
                    assert!(filter.to_bytes() == copy.to_bytes(), "{filter:?} {copy:?}");
                    *copy = renewed::<K>(copy, round % 2 == 1);
                    assert_eq!(copy.size_in_bytes(), filter.size_in_bytes());
                }
                let [(filter, present), _] = &both;
                let removed = present.iter().filter(|item| remove::<K>(filter, item)).count();
                assert!(removed == present.len() || !K::IS_PERMANENT, "false negative");
            }
        }
    }
}

/// A filter that was loaded or cloned.
fn renewed<K: Kind>(filter: &Of<K>, is_loaded: bool) -> Of<K> {
    if is_loaded {
        return loader::<K>().bytes(&filter.to_bytes()).expect("its own snapshot");
    }
    filter.clone()
}
