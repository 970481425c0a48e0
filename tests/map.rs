//! Maps: operations against a model, values beside relocations, rates and sizes, and errors.

mod common;

use std::{
    hash::{Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
};

use common::{
    Subject, Watchdog,
    maps::{Map, beside, beside::Plan, builder, layouts, max_value, model},
    rng, scaled,
    suite::on_both_engines,
};
use guira::{BuildError, CuckooFilter, CuckooMap, GrowingFilter, InsertError, Layout, kind::Fixed};
use rand::RngExt;

on_both_engines! {
    a_map_is_a_multimap,
    values_beside_relocations,
    rates_are_within_their_bounds,
    values_that_do_not_fit_are_refused,
    lengths_that_differ_change_nothing,
    a_hash_that_panics_leaves_the_map_usable,
}

/// The layouts of maps of one table, and a third of these for the first segments of maps that grow,
/// whose operations take several times as long. The other segments have layouts of all sizes.
fn some_layouts<E: Subject>() -> impl Iterator<Item = Layout> {
    layouts().into_iter().step_by(if E::GROWS { 3 } else { 1 })
}

fn a_map_is_a_multimap<E: Subject>() {
    let _watchdog = Watchdog::new("a_map_is_a_multimap");
    model::model::<E>();
}

fn values_beside_relocations<E: Subject>() {
    let _watchdog = Watchdog::new("values_beside_relocations");
    for layout in some_layouts::<E>() {
        let (passes, changes) = (scaled(10, 300), scaled(1_000, 30_000));
        beside::values_are_never_missed::<E>(Plan { layout, capacity: 150, passes, changes });
    }
}

#[test]
fn values_in_a_large_map() {
    let _watchdog = Watchdog::new("values_in_a_large_map");
    let layout = Layout::with_values(3, 8).expect("a layout");
    let capacity = scaled(20_000, 500_000);
    let plan = Plan { layout, capacity, passes: 2, changes: capacity as u64 / 2 };
    beside::values_are_never_missed::<Fixed>(plan);
}

#[test]
#[ignore = "long: ten million keys; run it in release mode"]
fn long_values_in_a_large_map() {
    let layout = Layout::with_values(3, 8).expect("a layout");
    let plan = Plan { layout, capacity: 10_000_000, passes: 1, changes: 5_000_000 };
    beside::values_are_never_missed::<Fixed>(plan);
}

fn rates_are_within_their_bounds<E: Subject>() {
    for layout in some_layouts::<E>() {
        let capacity = 20_000;
        let map = builder::<E>(capacity, layout).seed(3).build().expect("a small map");
        let (mut rng, max) = (rng(3), max_value(layout));
        // Odd keys are inserted, even ones are looked up.
        for _ in 0..capacity {
            // One table in 10,000 may refuse an item.
            let _ = map.insert(&(rng.random::<u64>() | 1), rng.random_range(0..=max));
        }
        let bound = map.false_positive_rate();
        let queries = (scaled(300.0, 4_000.0) / bound).min(scaled(2e5, 3e7)) as u64;
        let [mut found, mut values] = [0; 2];
        for _ in 0..queries {
            let key = rng.random::<u64>() & !1;
            found += u64::from(map.get(&key).is_some());
            values += map.values(&key).count() as u64;
        }
        let expected = bound * queries as f64;
        let spread = 5.0 * expected.sqrt();
        assert!(found as f64 <= expected * 1.02 + spread, "{layout:?}: {found}, {expected}");
        // The bound is tight. That of a map that grows is for full segments.
        let tight = if E::GROWS { 0.9 * map.load_factor() } else { 0.9 };
        assert!(found as f64 >= expected * tight - spread, "{layout:?}: {found}, {expected}");
        assert!(values as f64 <= expected * 1.1 + spread, "{layout:?}: {values}, {expected}");
    }
}

/// The builder takes the layout with the fewest bits per item that meets the target.
#[test]
fn the_builder_chooses_the_smallest_layout() {
    for bits in 0..=16 {
        let mut target = 0.9;
        while target > 1e-8 {
            let builder =
                CuckooMap::builder().capacity(10_000).value_bits(bits).false_positive_rate(target);
            let meeting = (2..=6).rev().filter_map(|slots| Layout::with_values(slots, bits));
            let meeting: Vec<Layout> =
                meeting.filter(|&layout| builder.clone().layout(layout).build().is_ok()).collect();
            match builder.build() {
                Ok(map) => {
                    assert_eq!(Some(&map.layout()), meeting.first(), "{bits}, {target}");
                    assert_eq!(map.value_bits(), bits);
                    assert!(map.false_positive_rate() <= target);
                }
                Err(error) => {
                    let BuildError::RateTooLow { lowest, .. } = error else { panic!("{error}") };
                    assert!(meeting.is_empty());
                    let with = |target| CuckooMap::builder().false_positive_rate(target);
                    let with = |target| with(target).capacity(10_000).value_bits(bits).build();
                    assert!(with(lowest).is_ok() && with(lowest * 0.999).is_err());
                }
            }
            target *= 0.7;
        }
    }
}

/// A map takes as many slots as a filter whose fingerprints are as long as its slots.
#[test]
fn a_value_takes_its_bits_and_no_more() {
    let plain = [(6, Layout::Plain6x10), (5, Layout::Plain5x12), (4, Layout::Plain4x16)];
    for (slots, plain) in plain {
        for bits in 0..=16 {
            let Some(layout) = Layout::with_values(slots, bits) else { continue };
            let map = builder::<Fixed>(50_000, layout).build().expect("a small map");
            let set = CuckooFilter::builder().capacity(50_000).layout(plain);
            let set = set.build().expect("a small filter");
            assert_eq!(map.slots(), set.slots());
            // The same bytes are allocated. In the header are also the numbers of `KeyProbe`, and
            // with statistics 8 bytes of padding.
            let (of_map, of_set) = (size_of_val(&map), size_of_val(&set));
            assert_eq!(map.size_in_bytes() - of_map, set.size_in_bytes() - of_set);
            assert!(of_map <= of_set + 104, "{of_map} bytes, not {of_set}");
            assert_eq!(layout.fingerprint_bits() + bits, plain.fingerprint_bits());
        }
    }
}

#[test]
fn the_defaults_are_8_bits_at_a_fifth_of_a_percent() {
    let map = CuckooMap::with_capacity(1_000);
    assert_eq!((map.value_bits(), map.layout()), (8, Layout::with_values(3, 8).unwrap()));
    assert!(map.false_positive_rate() < 0.002);
    // A layout sets the bits of its values.
    let layout = Layout::with_values(2, 13).unwrap();
    let map = CuckooMap::builder().capacity(1_000).layout(layout).build().unwrap();
    assert_eq!((map.value_bits(), map.layout()), (13, layout));
}

#[test]
fn layouts_and_bits_that_do_not_go_together() {
    for bits in [17, 99, u32::MAX] {
        let error = CuckooMap::builder().capacity(10).value_bits(bits).build().unwrap_err();
        assert_eq!(error, BuildError::InvalidValueBits(bits));
    }
    let four = Layout::with_values(4, 4).unwrap();
    let map = || CuckooMap::builder().capacity(10);
    let unsuitable = [
        (map().layout(Layout::Plain4x16).build().unwrap_err(), Layout::Plain4x16, Some(8)),
        (map().layout(four).value_bits(5).build().unwrap_err(), four, Some(5)),
        (CuckooFilter::builder().capacity(9).layout(four).build().unwrap_err(), four, None),
        (GrowingFilter::builder().capacity(9).layout(four).build().unwrap_err(), four, None),
    ];
    for (error, expected, bits) in unsuitable {
        let BuildError::LayoutUnsuitable { layout, value_bits, .. } = error else {
            panic!("{error:?}")
        };
        assert_eq!((layout, value_bits), (expected, bits));
    }
    // Where no layout has so few buckets, the error names one with values.
    let error = map().capacity(usize::MAX).build().unwrap_err();
    let BuildError::CapacityTooLarge { layout, .. } = error else { panic!("{error:?}") };
    assert_eq!(layout.value_bits(), 8);
}

fn values_that_do_not_fit_are_refused<E: Subject>() {
    for layout in layouts().into_iter().filter(|layout| layout.value_bits() < 16) {
        // So large that no key has copies of many aliases.
        let map = builder::<E>(10_000, layout).seed(1).build().expect("a small map");
        let (max, large) = (max_value(layout), max_value(layout) + 1);
        map.insert(&1, max).expect("room");
        for value in [large, u16::MAX] {
            assert_eq!(map.insert(&2, value), Err(InsertError::ValueTooLarge));
            assert_eq!(map.insert_unique(&1, value), Err(InsertError::ValueTooLarge));
            assert!(!map.contains_value(&1, value) && !map.remove(&1, value));
            assert!(!map.replace(&1, max, value) && !map.replace(&1, value, max));
            // In batches of every kind: small ones, and large ones.
            for len in [1, 5, 6, 40] {
                let keys: Vec<u64> = (10..10 + len as u64).collect();
                let mut values = vec![0; len];
                values[len / 2] = value;
                let error = map.insert_batch(&keys, &values).expect_err("one does not fit");
                assert!(error.failures().eq([(len / 2, InsertError::ValueTooLarge)]));
                assert_eq!((error.added(), error.tried()), (len - 1, len));
                assert!(error.to_string().ends_with(", value too large: 1)"), "{error}");
                assert_eq!(map.len(), len);
                let mut removed = vec![true; len];
                assert_eq!(map.remove_batch(&keys, &values, &mut removed), len - 1);
                assert!((0..len).all(|position| removed[position] == (position != len / 2)));
            }
        }
        assert_eq!((map.len(), map.count(&1)), (1, 1));
        assert!(map.values(&1).eq([max]) && map.values(&1).len() == 1);
    }
    let map = Map::<E>::with_capacity(100);
    while map.insert(&1, 1).is_ok() {}
    let error = map.insert_batch(&[1], &[1]).expect_err("too many");
    assert!(error.to_string().ends_with("(filter full: 0, too many copies: 1)"), "{error}");
}

/// Checks that a call panics with a message that ends like this, at a line of this file.
fn panics(expected: &str, call: &dyn Fn()) {
    let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("this must panic");
    let message = panic.downcast_ref::<String>().expect("a formatted message");
    assert!(message.ends_with(expected), "{message}");
}

fn lengths_that_differ_change_nothing<E: Subject>() {
    let map = Map::<E>::with_capacity(100);
    map.insert(&1, 1).expect("room");
    let three = [1_u64, 2, 3];
    let values = "as many values as keys: 3 keys, 4 values";
    panics(values, &|| drop(map.insert_batch(&three, &[1; 4])));
    panics(values, &|| _ = map.remove_batch(&three, &[1; 4], &mut [false; 3]));
    panics(values, &|| _ = map.get_batch_into(&three, &mut [1; 4], &mut [false; 3]));
    panics(values, &|| _ = map.get_mask(&three, &mut [1; 4]));
    let answers = "as many answers as keys: 3 keys, 4 answers";
    panics(answers, &|| _ = map.remove_batch(&three, &[1; 3], &mut [false; 4]));
    panics(answers, &|| _ = map.get_batch(&three, &mut [None; 4]));
    panics(answers, &|| _ = map.get_batch_into(&three, &mut [1; 3], &mut [false; 4]));
    panics(answers, &|| _ = map.contains_batch(&three, &mut [false; 4]));
    panics("at most 64 keys, not 65", &|| _ = map.contains_mask(&[0; 65]));
    panics("at most 64 keys, not 65", &|| _ = map.get_mask(&[0; 65], &mut [1; 65]));
    assert_eq!((map.len(), map.get(&1)), (1, Some(1)));
}

/// A key whose hashing panics if the flag is set.
#[derive(Clone, Copy)]
struct Unhashable(u64, bool);

impl Hash for Unhashable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(!self.1, "this key cannot be hashed");
        state.write_u64(self.0);
    }
}

fn a_hash_that_panics_leaves_the_map_usable<E: Subject>() {
    for len in [5, 200_u64] {
        let map = Map::<E>::builder().capacity(1_000).seed(1).build().expect("a small map");
        let good: Vec<Unhashable> = (0..len).map(|key| Unhashable(key, false)).collect();
        let mut bad = good.clone();
        bad[len as usize * 3 / 4].1 = true;
        let values: Vec<u16> = (0..len as u16).collect();
        let fails = |call: &dyn Fn()| assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
        let found = || good.iter().zip(&values).filter(|(key, v)| map.contains_value(*key, **v));
        fails(&|| drop(map.insert_batch(&bad, &values)));
        let inserted = map.len();
        assert!(inserted < good.len() && found().count() == inserted);
        fails(&|| _ = map.get_batch(&bad, &mut vec![None; good.len()]));
        // The answers say what was done, whatever they were before.
        let mut removed = vec![true; good.len()];
        let answers = AssertUnwindSafe(&mut removed);
        let call = || _ = map.remove_batch(&bad, &values, { answers }.0);
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
        let gone = removed.iter().filter(|&&removed| removed).count();
        assert_eq!((map.len(), found().count()), (inserted - gone, inserted - gone));
    }
}
