//! What filters of every kind do with the default hasher, and what only some of them do: limits on
//! copies, errors, values, merges.

mod answers;
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod errors;
mod map;
mod merge;

use std::hash::BuildHasher;

use common::{
    Subject,
    kind::{Kind, Of, new},
    settings,
    suite::{on_all_kinds, on_both_engines},
};
use guira::{
    Filter, Hashed, InsertError, Layout, StableHashBuilder,
    kind::{Map, Set},
};

on_all_kinds! {
    items_are_their_hashes,
    statistics_agree_with_one_another,
    unseeded_filters_differ,
    the_seed_seeds_the_mixing,
    huge_pages_change_nothing,
}

on_both_engines! {
    an_iterator_of_any_length_is_added,
    small_batches_and_copies,
}

/// A filter with the default hasher.
fn filter<K: Kind>(capacity: usize, seed: u64) -> Of<K> {
    let builder = new::<K>().capacity(capacity).seed(seed);
    builder.build().expect("a small filter")
}

/// Every operation on an item is the same operation on its hash. (The model of the suite draws one
/// or the other.)
fn items_are_their_hashes<K: Kind>() {
    let filter = filter::<K>(1_000, 3);
    let (item, want) = ("an item", K::usual_want(&filter, 0));
    let hash = filter.hash_key(item);
    assert_eq!(hash, Hashed(filter.hasher().hash_one(item)));
    assert_eq!(filter.hash_key(&hash), hash);
    let tag = K::insert(&filter, item, want).expect("room");
    K::insert(&filter, &hash, want).expect("room");
    assert_eq!((filter.count(item), filter.count(&hash)), (2, 2));
    assert!(K::insert_unique(&filter, &hash, want).is_ok_and(|insertion| !insertion.is_new()));
    assert!(K::remove(&filter, &hash, tag) && K::remove(&filter, item, tag));
    assert!(filter.is_empty() && !filter.contains(item) && !filter.contains(&hash));
}

fn an_iterator_of_any_length_is_added<E: Subject>() {
    for length in [0, 1, 1_023, 1_024, 1_025, 2_048, 5_000] {
        let filter = filter::<(Set, E)>(5_000, 5);
        assert_eq!(filter.insert_batch((0..length).map(|number| format!("item {number}"))), Ok(()));
        assert_eq!(filter.len(), length);
        assert!((0..length).all(|number| filter.contains(&format!("item {number}"))));
    }
}

fn statistics_agree_with_one_another<K: Kind>() {
    for layout in K::layouts() {
        for capacity in [1, 2, 3, 10, 1_000, 100_000] {
            let filter = settings::<K>(capacity, layout, 5).build().expect("a small filter");
            // A table that splits begins with 1,024 slots at least.
            let is_exact = filter.capacity() == capacity || K::GROWS;
            assert!(is_exact && filter.capacity() >= capacity, "{filter:?}");
            assert_eq!(filter.layout(), layout);
            let slots = filter.slots();
            let slots_per_bucket = layout.slots_per_bucket() as usize;
            assert!(slots >= capacity && slots.is_multiple_of(slots_per_bucket));
            assert!(filter.size_in_bytes() >= slots / slots_per_bucket * 8);
            let rate = filter.false_positive_rate();
            assert!(rate > 0.0 && rate <= layout.false_positive_rate() * 1.07, "{rate}");
            assert_eq!((filter.len(), filter.is_empty()), (0, true));

            for key in 0..capacity.min(500) as u64 {
                let _ = K::add(&filter, key);
            }
            assert!(!filter.is_empty());
            let text = format!("{filter:?}");
            assert!(text.contains(&format!("{layout:?}")) && text.contains("slots"), "{text}");
            filter.clear();
            assert_eq!((filter.len(), filter.contains(&0_u64)), (0, false));
        }
    }
}

/// The layout of this kind that has the most false positives.
fn likeliest_positives<K: Kind>() -> Layout {
    let rate = |layout: &Layout| layout.false_positive_rate();
    let layouts = K::layouts().into_iter();
    layouts.max_by(|one, other| rate(one).total_cmp(&rate(other))).expect("a layout")
}

/// The false positives of a filter that is half full.
fn positives<K: Kind>(hasher: Option<u64>, seed: Option<u64>) -> Vec<u64> {
    let builder = new::<K>().capacity(1_000);
    let layout = likeliest_positives::<K>();
    let builder = K::settings(builder.layout(layout), layout, 0);
    let builder = seed.into_iter().fold(builder, guira::FilterBuilder::seed);
    let filter = match hasher {
        None => builder.build(),
        Some(seed) => builder.hasher(StableHashBuilder::from_seed(seed)).build(),
    };
    let filter = filter.expect("a small filter");
    (0..500).for_each(|key| K::add(&filter, key).expect("half full"));
    (500..20_000).filter(|key| filter.contains(key)).collect()
}

/// Without a seed, each filter draws its own: the false positives differ.
fn unseeded_filters_differ<K: Kind>() {
    assert!(positives::<K>(None, None) != positives::<K>(None, None));
}

/// With a given hasher, the seed still seeds the mixing.
fn the_seed_seeds_the_mixing<K: Kind>() {
    let positives = |seed| positives::<K>(Some(9), Some(seed));
    assert!(positives(1).len() > 10 && positives(1) == positives(1));
    assert!(positives(1) != positives(2));
}

/// Huge pages affect the speed alone.
fn huge_pages_change_nothing<K: Kind>() {
    for wanted in [false, true] {
        let builder = new::<K>().capacity(2_000_000);
        let filter = builder.huge_pages(wanted).seed(1).build().expect("a filter of 4 MB");
        (0..1_000).for_each(|key| K::add(&filter, key).expect("room"));
        assert!((0..1_000_u64).all(|key| filter.contains(&key)));
        assert_eq!(filter.len(), 1_000);
    }
}

/// Batches that are too small for the code of batches, and a copy of a filter with a limit.
fn small_batches_and_copies<G: Subject>() {
    let set = Filter::<Set, G>::builder().capacity(100).seed(1).max_copies(1).build().unwrap();
    set.insert(&1).unwrap();
    assert_eq!(set.clone().insert(&1), Err(InsertError::TooManyCopies));
    let mut answers = [true; 2];
    assert_eq!(set.insert_unique_batch(&[1, 2], &mut answers), Ok(1));
    assert_eq!(answers, [false, true]);
    assert_eq!(set.remove_batch(&[1, 3], &mut answers), 1);
    assert_eq!((answers, set.len()), ([true, false], 1));
    let map = Filter::<Map, G>::builder().capacity(100).seed(1).value_bits(4).build().unwrap();
    map.insert(&1, 5).unwrap();
    assert_eq!(map.remove_batch(&[1], &[16 + 5], &mut [true]), 0);
    assert_eq!(map.get(&1), Some(5));
}
