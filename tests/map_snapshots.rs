//! Snapshots and merges of maps: what is loaded or merged has the same values, and other kinds of
//! filters are refused.

#![cfg(feature = "std")]

mod common;

use common::{
    forge::{BUCKETS, HEADER, KIND, amend, items, number, put, segment},
    maps::{Map, builder, layouts, max_value},
    rng,
    saved::{Stable, filled_map, loaded, pushed, saved},
};
use guira::{
    CuckooFilter, CuckooMap, Engine, Fixed, Growing, GrowingFilter, Layout, LoadError, Mappable,
    Mapped, MergeError, StableHashBuilder,
};

/// Checks that a map holds these items, and no others.
fn check<E: Mappable, S: std::hash::BuildHasher>(
    map: &guira::Filter<Mapped<E>, S>,
    expected: &[(u64, u16)],
) {
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

fn a_loaded_map_has_the_same_values<E: Mappable>() {
    for (number, layout) in layouts().into_iter().enumerate() {
        for (capacity, keys) in [(1, 1), (20, 15), (3_000, 2_900), (40_000, 20_000)] {
            let (mut map, items) = filled_map::<E>(builder(capacity, layout).seed(9), keys);
            let mut rng = rng(number as u64);
            let bytes = saved(&mut map, &mut rng);
            let copy: Stable<Mapped<E>> = loaded(&bytes, &mut rng).expect("its own bytes");
            assert_eq!(copy.value_bits(), map.value_bits());
            assert_eq!((copy.layout(), copy.capacity()), (map.layout(), map.capacity()));
            assert!(copy.to_bytes() == bytes);
            check(&copy, &items);
        }
    }
}

#[test]
fn a_loaded_map_of_one_table_has_the_same_values() {
    a_loaded_map_has_the_same_values::<Fixed>();
}

#[test]
fn a_loaded_map_that_grew_has_the_same_values() {
    a_loaded_map_has_the_same_values::<Growing>();
}

/// The error of loading bytes into a filter with this engine.
fn error<E: Engine>(bytes: &[u8]) -> LoadError {
    pushed::<E>(bytes, 1 << 20, &mut rng(1)).expect_err("an error")
}

#[test]
fn other_kinds_are_refused() {
    let stable = StableHashBuilder::with_seed;
    let map = CuckooMap::builder().capacity(10).hasher_with(stable).build().unwrap().to_bytes();
    let set = CuckooFilter::builder().capacity(10).hasher_with(stable).build().unwrap().to_bytes();
    let growing = GrowingFilter::builder().capacity(10).hasher_with(stable);
    let growing = growing.build().unwrap().to_bytes();
    let mut growing_map = map.clone();
    growing_map[KIND] = 4;
    amend(&mut growing_map);
    let cases = [
        (error::<Mapped<Fixed>>(&set), "CuckooFilter", "CuckooMap"),
        (error::<Mapped<Fixed>>(&growing), "GrowingFilter", "CuckooMap"),
        (error::<Mapped<Fixed>>(&growing_map), "GrowingMap", "CuckooMap"),
        (error::<Fixed>(&map), "CuckooMap", "CuckooFilter"),
        (error::<guira::Growing>(&map), "CuckooMap", "GrowingFilter"),
    ];
    for (error, saved, expected) in cases {
        assert_eq!(
            error.to_string(),
            format!("the snapshot is of the type {saved}, not {expected}")
        );
    }
}

/// Of a slot that is not empty, the fingerprint is not zero, whatever the value is.
#[test]
fn a_value_without_a_fingerprint_is_detected() {
    for layout in layouts().into_iter().filter(|layout| layout.value_bits() > 0) {
        let (map, _) = filled_map::<Fixed>(builder(1, layout).seed(1), 0);
        let forge = |slot: u64| {
            let mut bytes = map.to_bytes();
            put(&mut bytes, HEADER, slot);
            put(&mut bytes, HEADER - 16, 1);
            amend(&mut bytes);
            pushed::<Mapped<Fixed>>(&bytes, 1 << 20, &mut rng(1))
        };
        for value in [1, max_value(layout)] {
            let error = forge(value.into()).expect_err("no fingerprint");
            assert!(matches!(error, LoadError::InvalidBuckets), "{layout:?}: {error:?}");
        }
        // The smallest fingerprint, with the smallest value and with the largest one.
        let smallest = 1 << layout.value_bits();
        forge(smallest).expect("a fingerprint");
        forge(smallest | u64::from(max_value(layout))).expect("a fingerprint");
    }
}

/// The description of a layout, as `docs::snapshots` has it.
#[test]
fn layouts_are_described_byte_by_byte() {
    for layout in layouts() {
        let (map, _) = filled_map::<Fixed>(builder(50, layout).seed(1), 20);
        let bytes = map.to_bytes();
        let numbers = [layout.slots_per_bucket(), layout.fingerprint_bits()].map(|n| n as u8);
        let [slots, bits] = numbers;
        let expected = [2, slots, bits, 0, layout.value_bits() as u8, 0, 0, 0];
        assert_eq!(bytes[segment(0)..segment(0) + 8], expected);
        let buckets = number(&bytes, segment(0) + BUCKETS);
        assert_eq!(buckets * u64::from(slots), map.slots() as u64);
        assert_eq!((bytes[KIND], number(&bytes, items(&bytes))), (2, map.len() as u64));
        // A key is where the format says it is: the high bits of its slot.
        let empty = filled_map::<Fixed>(builder(1, layout).seed(1), 0).0;
        empty.insert(&7, max_value(layout)).expect("room");
        let slot = number(&empty.to_bytes(), HEADER);
        let value_bits = layout.value_bits();
        assert_eq!(slot & ((1 << value_bits) - 1), u64::from(max_value(layout)));
        assert!((1..1 << bits).contains(&(slot >> value_bits)));
    }
}

fn a_merge_adds_items_with_their_values<E: Mappable>() {
    for layout in layouts() {
        let of = |capacity| builder::<E>(capacity, layout).seed(3).build().expect("a small map");
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
            assert!(full.segments().len() > 1);
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
        builder::<Fixed>(100, layout).seed(1).build().expect("a small map")
    };
    let error = map(4).merge(&map(5)).expect_err("other layouts");
    assert!(matches!(error, MergeError::Layout { .. }), "{error}");
}

#[test]
fn clear_and_clone_know_values() {
    let map: Map<Fixed> = CuckooMap::with_capacity(100);
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
    let map: Map<Fixed> = CuckooMap::builder().capacity(1_000).seed(1).build().expect("small");
    for key in 0..900 {
        map.insert(&key, 1).expect("room");
    }
    for key in 900..1_000 {
        assert!(map.get_or_insert(&key, 2).is_ok());
    }
    let inserts = map.stats().inserts;
    assert_eq!(inserts as usize, map.len());
    assert!(map.replace(&0, 1, 3));
    assert_eq!(map.stats().inserts, inserts, "a replacement is no insert");
}
