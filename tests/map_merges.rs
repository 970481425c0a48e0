//! Merges of maps: what is merged has the same values.

#![cfg(feature = "std")]

mod common;

use common::{
    Subject,
    kind::{Kind, max_value},
    settings,
};
use guira::{
    CuckooMap, Filter, Layout, MergeError,
    kind::{Fixed, Growing, Map},
};

/// Checks that a map holds these items, and no others.
fn check<G: Subject>(map: &Filter<Map, G>, expected: &[(u64, u16)]) {
    assert_eq!(map.len(), expected.len());
    assert!(expected.iter().all(|&(key, value)| map.contains_value(&key, value)));
    // Each of them once.
    for (key, value) in expected {
        assert!(map.remove(key, *value));
    }
    assert!(map.is_empty() && expected.iter().all(|(key, _)| !map.contains(key)));
    for (key, value) in expected {
        map.insert(key, *value).expect("it had room before");
    }
}

fn a_merge_adds_items_with_their_values<G: Subject>() {
    for layout in <(Map, G)>::layouts() {
        let of = |capacity| settings::<(Map, G)>(capacity, layout, 3).build().expect("a small map");
        // So large that no key has copies of many aliases.
        let (target, source, max) = (of(10_000), of(10_000), max_value(layout));
        let items = |keys: std::ops::Range<u64>, salt: u64| -> Vec<(u64, u16)> {
            keys.map(|key| (key, (key * salt) as u16 & max)).collect()
        };
        // Some keys are in both, most of these with two values.
        let (first, second) = (items(0..400, 7), items(300..800, 1_001));
        for (key, value) in &first {
            target.insert(key, *value).expect("room");
        }
        for (key, value) in &second {
            source.insert(key, *value).expect("room");
        }
        target.merge(&source).expect("room");
        let all = [first, second.clone()].concat();
        check(&target, &all);
        check(&source, &second);
        // Nothing, if it does not fit.
        let (full, source) = (of(1_000), of(1_000));
        for (key, value) in &second {
            // A few keys may have too many aliases.
            let _ = source.insert(key, *value);
        }
        let mut own = Vec::new();
        for key in 10_000..100_000_u64 {
            if own.len() == 1_000 || full.insert(&key, max).is_err() {
                break;
            }
            own.push((key, max));
        }
        if let Err(error) = full.merge(&source) {
            assert!(matches!(error, MergeError::Full { .. }), "{error}");
            check(&full, &own);
        } else {
            assert!(full.len() > own.len());
        }
    }
}

#[test]
fn a_merge_of_one_table_adds_items_with_their_values() {
    a_merge_adds_items_with_their_values::<Fixed>();
}

#[test]
fn a_merge_of_maps_that_grow_adds_items_with_their_values() {
    a_merge_adds_items_with_their_values::<Growing>();
}

#[test]
fn a_merge_counts_copies_with_any_value() {
    let map = || CuckooMap::builder().capacity(100).max_copies(2).seed(1).build().expect("small");
    let (target, source) = (map(), map());
    target.insert("ani", 1).expect("room");
    source.insert("ani", 2).expect("room");
    source.insert("ani", 3).expect("room");
    assert_eq!(target.merge(&source), Err(MergeError::TooManyCopies));
    assert!(target.values("ani").eq([1]));
    assert!(source.remove("ani", 3));
    target.merge(&source).expect("two copies");
    assert!(target.contains_value("ani", 1) && target.contains_value("ani", 2));
    assert_eq!(target.insert("ani", 4), Err(guira::InsertError::TooManyCopies));
}

#[test]
fn values_of_other_sizes_are_not_merged() {
    let map = |bits| {
        let layout = Layout::with_values(4, bits).expect("a layout");
        settings::<(Map, Fixed)>(100, layout, 1).build().expect("a small map")
    };
    let error = map(4).merge(&map(5)).expect_err("other layouts");
    assert!(matches!(error, MergeError::Layout { .. }), "{error}");
}

#[test]
fn clear_and_clone_know_values() {
    let map = CuckooMap::with_capacity(100);
    map.insert_batch(&[1, 2, 3], &[7, 8, 9]).expect("room");
    let copy = map.clone();
    map.clear();
    assert!(map.is_empty() && map.get(&1).is_none() && map.values(&2).count() == 0);
    assert_eq!(copy.len(), 3);
    assert!([(1, 7), (2, 8), (3, 9)].iter().all(|&(key, value)| copy.contains_value(&key, value)));
}

/// In one table of few buckets, all of them with the same statistics as a set.
#[cfg(feature = "stats")]
#[test]
fn statistics_count_inserts() {
    let map = CuckooMap::builder().capacity(1_000).seed(1).build().expect("small");
    for key in 0..900 {
        map.insert(&key, 1).expect("room");
    }
    for key in 900..1_000 {
        assert!(map.insert_unique(&key, 2).is_ok());
    }
    let inserts = map.stats().inserts;
    assert_eq!(inserts as usize, map.len());
    assert!(map.replace(&0, 1, 3));
    assert_eq!(map.stats().inserts, inserts, "a replacement is no insert");
}
