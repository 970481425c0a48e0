//! Maps that grow: values in several segments, whose aliases nest; rates; whole chains of values.

mod common;

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
};

use common::{rng, scaled};
use guira::{BuildError, GrowingMap, InsertError, Insertion, Layout, raw::Segment};
use rand::RngExt;

/// A value that follows from a key.
fn value_of(key: u64, bits: u32) -> u16 {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16 & ((1_u32 << bits) - 1) as u16
}

/// Inserts keys with their values.
fn filled(map: GrowingMap, keys: u64) -> GrowingMap {
    for key in 0..keys {
        map.insert(&key, value_of(key, map_bits(&map))).unwrap();
    }
    map
}

/// Bits of a value of a map.
fn map_bits(map: &GrowingMap) -> u32 {
    map.layout().value_bits()
}

/// Checks that these keys are found with their values, removes them, and checks that nothing is
/// left.
fn check(map: &GrowingMap, keys: impl Iterator<Item = u64> + Clone) {
    let bits = map_bits(map);
    for key in keys.clone() {
        assert!(map.values(&key).any(|value| value == value_of(key, bits)), "{key}");
        assert!(map.get(&key).is_some());
    }
    assert_eq!(map.len(), keys.clone().count());
    for key in keys {
        assert!(map.remove(&key, value_of(key, bits)), "{key}");
    }
    assert!(map.is_empty() && (0..1_000_u64).all(|key| map.get(&key).is_none()));
}

#[test]
fn it_grows_a_hundredfold_from_four_threads_at_the_target_rate() {
    const THREADS: u64 = 4;
    let first = scaled(1_000, 10_000);
    for (bits, rate) in [(2, 0.03), (8, 0.003), (16, 0.003)] {
        let builder = GrowingMap::builder().capacity(first).value_bits(bits);
        let map = builder.false_positive_rate(rate).seed(4).build().unwrap();
        let each = 100 * first as u64 / THREADS;
        // The key of a thread's nth item.
        let key = |thread: u64, nth: u64| nth * 2 * THREADS + thread;
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let map = &map;
                scope.spawn(move || {
                    let mut rng = rng(thread);
                    for nth in 0..each {
                        let new = key(thread, nth);
                        // Half of the items get their values later.
                        let late = nth % 2 == 1;
                        let value = value_of(new, bits);
                        let early = if late { !value & value_of(u64::MAX, bits) } else { value };
                        map.insert(&new, early).unwrap();
                        if late {
                            assert!(map.replace(&new, early, value));
                        }
                        let old = key(thread, rng.random_range(0..=nth));
                        assert!(map.values(&old).any(|value| value == value_of(old, bits)));
                        assert!(map.get(&old).is_some());
                        // Other items come and go.
                        let other = key(thread + THREADS, nth & !3);
                        if nth % 4 == 0 {
                            map.insert(&other, value).unwrap();
                        } else if nth % 4 == 2 {
                            assert!(map.remove(&other, value_of(key(thread, nth - 2), bits)));
                        }
                    }
                });
            }
        });
        let segments: Vec<Segment> = map.segments().collect();
        assert!(segments.len() > 5 && map.false_positive_rate() <= rate);
        assert!(segments.iter().all(|segment| segment.layout.value_bits() == bits));
        assert!(segments.is_sorted_by_key(|segment| segment.layout.fingerprint_bits()));
        let absent = 2 * THREADS * each + 1;
        let queries = scaled(100_000, 3_000_000);
        let found = (absent..absent + queries).filter(|key| map.get(key).is_some()).count();
        let expected = map.false_positive_rate() * queries as f64;
        let spread = 6.0 * expected.sqrt() + 6.0;
        assert!((found as f64) < expected + spread, "{bits}: {found} of {queries}, {expected}");
        // The segments are nearly full, the last one aside.
        assert!(found as f64 > 0.6 * expected - spread, "{bits}: {found} of {queries}, {expected}");
        check(&map, (0..each).flat_map(|nth| (0..THREADS).map(move |thread| key(thread, nth))));
    }
}

#[test]
fn one_of_many_threads_inserts_a_key() {
    let map = GrowingMap::builder().capacity(50).value_bits(4).build().unwrap();
    let keys = scaled(5_000, 100_000);
    let added = [(); 4].map(|()| AtomicU64::new(0));
    thread::scope(|scope| {
        for thread in 0..4_u16 {
            let (map, added) = (&map, &added);
            scope.spawn(move || {
                for key in 0..keys {
                    match map.insert_unique(&key, thread).unwrap() {
                        Insertion::New(()) => added[usize::from(thread)].fetch_add(1, Relaxed),
                        // It may be an alias's value.
                        Insertion::Found(found) => u64::from(found / 4),
                    };
                }
            });
        }
    });
    let added: u64 = added.iter().map(|added| added.load(Relaxed)).sum();
    assert!(map.segments().len() > 3 && map.len() as u64 == added && added <= keys);
    // Some keys found an alias.
    assert!(added as f64 > keys as f64 * 0.99);
    assert!(
        (0..keys).all(|key| map.values(&key).all(|value| value < 4) && map.get(&key).is_some())
    );
}

#[test]
fn clones_and_merges_keep_values() {
    for bits in [0, 2, 8, 16] {
        let builder = || GrowingMap::builder().capacity(1_000).value_bits(bits).seed(5);
        let map = filled(builder().build().unwrap(), 10_000);
        let copy = map.try_clone().unwrap();
        assert_eq!(copy.segments().len(), map.segments().len());
        check(&copy, 0..10_000);

        // Room for both in the first segment, which has grown in one of them.
        let into = filled(builder().capacity(20_000).build().unwrap(), 9_000);
        let from = builder().capacity(20_000).build().unwrap();
        for key in 9_000..40_000_u64 {
            from.insert(&key, value_of(key, bits)).unwrap();
        }
        assert!(from.segments().len() > 1);
        for key in 0..30_000_u64 {
            assert!(key < 9_000 || from.remove(&key, value_of(key, bits)));
        }
        into.merge(&from).unwrap();
        check(&into, (0..9_000).chain(30_000..40_000));
        check(&from, 30_000..40_000);
        check(&map, 0..10_000);
    }
}

/// A merge that is refused removes what it has added, with its values.
#[test]
fn a_refused_merge_changes_nothing() {
    let builder = || GrowingMap::builder().capacity(500).value_bits(4).seed(6);
    let [into, from] = [10_000, 8_000].map(|keys| filled(builder().build().unwrap(), keys));
    let error = into.merge(&from).unwrap_err();
    assert!(matches!(error, guira::MergeError::Full { .. }), "{error}");
    check(&into, 0..10_000);
}

#[test]
fn shrinking_keeps_values() {
    for bits in [0, 1, 4, 8, 16] {
        let mut map = GrowingMap::builder().capacity(500).value_bits(bits).seed(7).build().unwrap();
        map = filled(map, 30_000);
        for key in 0..30_000_u64 {
            assert!(key % 20 == 0 || map.remove(&key, value_of(key, bits)));
        }
        let (bytes, segments) = (map.size_in_bytes(), map.segments().len());
        assert_eq!(map.shrink_to_fit(), bytes - map.size_in_bytes());
        assert!(map.segments().len() < segments && map.size_in_bytes() < bytes / 4);
        // It can grow again.
        map.insert(&1_u64, value_of(1, bits)).unwrap();
        check(&map, (0..30_000).step_by(20).chain([1]));
    }
}

/// More values of one key than fit into the two buckets of a segment.
#[test]
fn a_key_has_many_values() {
    let layout = Layout::with_values(4, 8).unwrap();
    let builder = GrowingMap::builder().capacity(100).layout(layout).false_positive_rate(0.5);
    let map = builder.seed(1).build().unwrap();
    let mut inserted = Vec::new();
    for other in 0_u64.. {
        while map.insert(&u64::MAX, inserted.len() as u16).is_ok() {
            inserted.push(inserted.len() as u16);
        }
        if inserted.len() > 20 {
            break;
        }
        // Refused if it is an alias.
        let _ = map.insert(&other, 255);
    }
    let mut values: Vec<u16> = map.values(&u64::MAX).filter(|&value| value != 255).collect();
    values.sort_unstable();
    assert_eq!(values, inserted);
    let all = map.values(&u64::MAX);
    assert_eq!((all.len(), all.clone().count()), (all.len(), all.len()));
    assert_eq!(map.count(&u64::MAX), all.len());
    for value in inserted {
        assert!(map.contains_value(&u64::MAX, value) && map.remove(&u64::MAX, value));
        assert!(!map.contains_value(&u64::MAX, value));
    }
}

/// Copies of a key count with any value, in all segments together.
#[test]
fn copies_of_a_key_are_limited() {
    let builder = GrowingMap::builder().capacity(200).value_bits(8).max_copies(3);
    let map = builder.seed(2).build().unwrap();
    for value in 0..2 {
        map.insert(&u64::MAX, value).unwrap();
    }
    for key in 0..5_000_u64 {
        map.insert(&key, 0).unwrap();
    }
    assert!(map.segments().len() > 2);
    map.insert(&u64::MAX, 2).unwrap();
    for value in 0..4 {
        assert_eq!(map.insert(&u64::MAX, value), Err(InsertError::TooManyCopies));
    }
    assert!(map.replace(&u64::MAX, 1, 3) && map.remove(&u64::MAX, 3));
    map.insert(&u64::MAX, 4).unwrap();
    assert_eq!(map.insert(&u64::MAX, 5), Err(InsertError::TooManyCopies));
}

#[test]
fn the_settings_of_growth_apply() {
    let builder = || GrowingMap::builder().capacity(1_000).value_bits(4);
    let map = builder().build().unwrap();
    assert!((map.target_false_positive_rate() - 0.003).abs() < 1e-12);
    let next = map.next_growth().unwrap();
    let before = map.size_in_bytes();
    let map = filled(map, 2_500);
    assert_eq!((map.segments().len(), map.size_in_bytes()), (2, before + next));
    let buckets = |segment: Segment| segment.slots / segment.layout.slots_per_bucket() as usize;
    let all: Vec<usize> = map.segments().map(buckets).collect();
    assert_eq!(all[1], 2 * all[0]);
    let small = builder().max_bytes(30_000).build().unwrap();
    let refused = (0..).find_map(|key: u64| small.insert(&key, 1).err());
    assert_eq!(refused, Some(InsertError::Full));
    assert!(small.size_in_bytes() <= 30_000 && small.next_growth().is_none());
    small.set_max_bytes(None);
    let growth = small.next_growth().unwrap();
    small.set_max_bytes(Some(small.size_in_bytes() + growth));
    let refused = (100_000..).find_map(|key: u64| small.insert(&key, 1).err());
    assert_eq!(refused, Some(InsertError::Full));
    assert!(small.size_in_bytes() > 30_000 && small.next_growth().is_none());
    let too_low = builder().false_positive_rate(1e-9).build().unwrap_err();
    assert!(matches!(too_low, BuildError::RateTooLow { .. }));
    assert!(format!("{map:?}").starts_with("GrowingMap {"));
}
