//! What only maps do: values that fit, values of one key, and layouts with values. (The suite
//! compares maps with multimaps.)

use crate::common::{
    Subject,
    kind::{Kind, Maps, max_value},
    settings,
    suite::on_both_engines,
};
use guira::{
    BuildError, CuckooFilter, CuckooMap, Filter, GrowingFilter, GrowingMap, InsertError, Layout,
    kind::Map,
};

on_both_engines! {
    values_that_do_not_fit_are_reported,
}

/// The builder takes the layout with the fewest bits per item that meets the target, or one that
/// needs fewer with a few more buckets than the capacity takes.
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
            match builder.clone().build() {
                Ok(map) => {
                    let of = |layout: Layout| builder.clone().layout(layout).build().unwrap();
                    let buckets =
                        |map: &CuckooMap| map.slots() / map.layout().slots_per_bucket() as usize;
                    let least = meeting.iter().map(|&layout| buckets(&of(layout))).min();
                    assert!(Some(buckets(&map)) <= least, "{bits}, {target}");
                    assert_eq!(map.layout().value_bits(), bits);
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
            let map = settings::<Maps>(50_000, layout, 0).build().expect("a small map");
            let set = CuckooFilter::builder().capacity(50_000).layout(plain);
            let set = set.build().expect("a small filter");
            assert_eq!(map.slots(), set.slots());
            // The same bytes are allocated. In the header is also the number of bits of a value, if
            // padding has no room for it.
            let (of_map, of_set) = (size_of_val(&map), size_of_val(&set));
            assert_eq!(map.size_in_bytes() - of_map, set.size_in_bytes() - of_set);
            assert!(of_map <= of_set + 16, "{of_map} bytes, not {of_set}");
            assert_eq!(layout.fingerprint_bits() + bits, plain.fingerprint_bits());
        }
    }
}

#[test]
fn the_defaults_are_8_bits_at_a_fifth_of_a_percent() {
    let map = CuckooMap::with_capacity(1_000);
    assert_eq!((map.layout().value_bits(), map.layout()), (8, Layout::with_values(3, 8).unwrap()));
    assert!(map.false_positive_rate() < 0.002);
    // A layout sets the bits of its values.
    let layout = Layout::with_values(2, 13).unwrap();
    let map = CuckooMap::builder().capacity(1_000).layout(layout).build().unwrap();
    assert_eq!((map.layout().value_bits(), map.layout()), (13, layout));
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

/// A batch reports values that do not fit beside its other failures, with its error in words.
fn values_that_do_not_fit_are_reported<G: Subject>() {
    for layout in <(Map, G)>::layouts().into_iter().filter(|layout| layout.value_bits() < 16) {
        // So large that no key has copies of many aliases.
        let map = settings::<(Map, G)>(10_000, layout, 1).build().expect("a small map");
        let (max, large) = (max_value(layout), max_value(layout) + 1);
        map.insert(&1, max).expect("room");
        assert!(!map.replace(&1, max, large) && !map.replace(&1, large, max));
        // In batches of every kind: small ones, and large ones.
        for len in [1, 5, 6, 40] {
            let keys: Vec<u64> = (10..10 + len as u64).collect();
            let mut values = vec![0; len];
            values[len / 2] = large;
            let error = map.insert_batch(&keys, &values).expect_err("one does not fit");
            assert!(error.failures().eq([(len / 2, InsertError::ValueTooLarge)]));
            assert_eq!((error.added(), error.tried()), (len - 1, len));
            assert!(error.to_string().contains(" inserted, value too large: 1; "), "{error}");
            assert_eq!(map.len(), len);
            assert_eq!(map.remove_batch(&keys, &values, &mut vec![true; len]), len - 1);
        }
        assert!(map.values(&1).eq([max]) && map.len() == 1);
    }
    let map = Filter::<Map, G>::with_capacity(100);
    while map.insert(&1, 1).is_ok() {}
    let error = map.insert_batch(&[1], &[1]).expect_err("too many");
    let expected = "1 of a batch's first 1 items could not be inserted, too many copies: 1; \
                    `failures` lists them";
    assert_eq!(error.to_string(), expected);
}

/// Copies of a key count with any value, at every size.
#[test]
fn copies_of_a_key_are_limited() {
    let builder = GrowingMap::builder().capacity(200).value_bits(8).copies(1).max_copies(3);
    let map = builder.seed(2).build().unwrap();
    for value in 0..2 {
        map.insert(&u64::MAX, value).unwrap();
    }
    for key in 0..5_000_u64 {
        map.insert(&key, 0).unwrap();
    }
    assert!(map.slots() > 6_000);
    map.insert(&u64::MAX, 2).unwrap();
    for value in 0..4 {
        assert_eq!(map.insert(&u64::MAX, value), Err(InsertError::TooManyCopies));
    }
    assert!(map.replace(&u64::MAX, 1, 3) && map.remove(&u64::MAX, 3));
    map.insert(&u64::MAX, 4).unwrap();
    assert_eq!(map.insert(&u64::MAX, 5), Err(InsertError::TooManyCopies));
}
