//! The format does not change: the files in `tests/golden/` were saved by earlier versions, on some
//! platform, and are loaded by this one, on any.
//!
//! A file is never changed. For a new kind of filter, add a row, and run the ignored test, which
//! writes the files that are missing.

#![cfg(feature = "std")]

use std::{fs, path::PathBuf};

use guira::{
    CuckooFilter, CuckooMap, Engine, Expiring, ExpiringFilter, Filter, FilterBuilder,
    GrowingFilter, GrowingMap, Layout, LoadError, Mappable, Mapped, Membership, StableHashBuilder,
};

/// The file with this name.
fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "golden", name].iter().collect()
}

/// Keys that stay.
const KEPT: u32 = 20;

/// A filter with [`KEPT`] numbers and texts. So many others were added, and every second of them
/// was removed again.
fn filter<E: Membership>(builder: FilterBuilder<E>, others: u64) -> Filter<E, StableHashBuilder> {
    let builder = builder.seed(7).hasher_with(StableHashBuilder::with_seed);
    let filter = builder.build().expect("a small filter");
    for number in 0..KEPT {
        filter.insert(&number).expect("an empty slot");
        filter.insert(&format!("key {number}")).expect("an empty slot");
    }
    filter.try_extend(100..100 + others).expect("an empty slot");
    assert!((100..100 + others).step_by(2).all(|key| filter.remove(&key)));
    filter
}

/// The value of a number, if values have so many bits.
fn value(number: u64, bits: u32) -> u16 {
    (number * 0x9e37 % (1 << bits)) as u16
}

/// A map with [`KEPT`] numbers and as many texts. So many other items were added, of which every
/// second one was removed again, and the others got other values.
fn map<E: Mappable>(
    builder: FilterBuilder<Mapped<E>>,
    others: u64,
) -> Filter<Mapped<E>, StableHashBuilder> {
    let builder = builder.seed(7).hasher_with(StableHashBuilder::with_seed);
    let map = builder.build().expect("a small map");
    let bits = map.value_bits();
    for number in 0..KEPT {
        map.insert(&number, value(number.into(), bits)).expect("an empty slot");
        map.insert(&format!("key {number}"), value(number.into(), bits)).expect("an empty slot");
    }
    for key in 100..100 + others {
        map.insert(&key, value(key, bits)).expect("an empty slot");
    }
    for key in 100..100 + others {
        if key % 2 == 0 {
            assert!(map.remove(&key, value(key, bits)));
        } else {
            assert!(map.replace(&key, value(key, bits), value(key + 1, bits)));
        }
    }
    map
}

/// Loads a snapshot.
fn load<E: Engine>(bytes: &[u8]) -> Result<Filter<E, StableHashBuilder>, LoadError> {
    Filter::from_bytes_with(bytes, StableHashBuilder::with_seed)
}

/// Calls a function with the name of each file and the filter that it contains.
fn each(mut check: impl FnMut(&str, &[u8], &dyn Fn(&[u8]))) {
    fn with<E: Membership>(
        check: &mut impl FnMut(&str, &[u8], &dyn Fn(&[u8])),
        name: &str,
        (builder, others): (FilterBuilder<E>, u64),
    ) {
        let filter = filter(builder, others);
        check(&format!("{name}.guira"), &filter.to_bytes(), &|bytes| {
            let loaded = load::<E>(bytes).expect("a snapshot of an earlier version");
            assert!((0..KEPT).all(|number| loaded.contains(&number)), "{name}");
            assert!((0..KEPT).all(|number| loaded.contains(&format!("key {number}"))), "{name}");
            assert!((101..100 + others).step_by(2).all(|key| loaded.contains(&key)), "{name}");
            assert_eq!(loaded.len() as u64, u64::from(2 * KEPT) + others / 2, "{name}");
            assert!(loaded.segments().eq(filter.segments()), "{name}");
            assert_eq!(loaded.capacity(), filter.capacity(), "{name}");
            assert!(loaded.to_bytes() == bytes, "{name} is saved with other bytes");
        });
    }
    fn with_map<E: Mappable>(
        check: &mut impl FnMut(&str, &[u8], &dyn Fn(&[u8])),
        name: &str,
        (builder, others): (FilterBuilder<Mapped<E>>, u64),
    ) {
        let map = map(builder, others);
        check(&format!("{name}.guira"), &map.to_bytes(), &|bytes| {
            let loaded = load::<Mapped<E>>(bytes).expect("a snapshot of an earlier version");
            let bits = loaded.value_bits();
            for number in 0..KEPT {
                let value = value(number.into(), bits);
                assert!(loaded.contains_value(&number, value), "{name}");
                assert!(loaded.contains_value(&format!("key {number}"), value), "{name}");
            }
            let mut replaced = (101..100 + others).step_by(2);
            assert!(replaced.all(|key| loaded.contains_value(&key, value(key + 1, bits))));
            assert_eq!(loaded.len() as u64, u64::from(2 * KEPT) + others / 2, "{name}");
            assert!(loaded.segments().eq(map.segments()), "{name}");
            assert_eq!(loaded.capacity(), map.capacity(), "{name}");
            assert!(loaded.to_bytes() == bytes, "{name} is saved with other bytes");
        });
    }
    let fixed = || CuckooFilter::builder().capacity(80);
    for layout in Layout::ALL {
        let name = format!("fixed-{layout:?}").to_lowercase();
        with(&mut check, &name, (fixed().layout(*layout), 20));
    }
    with(&mut check, "fixed-max-copies", (fixed().max_copies(2), 0));
    with(&mut check, "fixed-writers", (fixed().writers(8), 0));
    for (slots, bits) in [(6, 2), (5, 4), (4, 0), (4, 8), (3, 8), (2, 16)] {
        let layout = Layout::with_values(slots, bits).expect("a layout");
        let builder = CuckooMap::builder().capacity(80).layout(layout);
        with_map(&mut check, &format!("map-{slots}-slots-{bits}-bits"), (builder, 20));
    }
    let growing = || GrowingFilter::builder().capacity(10);
    for (name, rate) in [("growing-20", 0.2), ("growing-1", 0.01), ("growing-0.01", 0.000_1)] {
        with(&mut check, name, (growing().false_positive_rate(rate), 400));
    }
    with(&mut check, "growing-one-segment", (growing().capacity(100), 0));
    with(&mut check, "growing-factor-8", (growing().growth_factor(8), 400));
    with(&mut check, "growing-fastest", (growing().fastest(), 100));
    with(&mut check, "growing-max-copies", (growing().max_copies(4), 100));
    with(
        &mut check,
        "growing-semi-sorted",
        (growing().layout(Layout::SemiSorted6x12).false_positive_rate(0.1), 400),
    );
    for (bits, rate) in [(0, 0.2), (8, 0.01), (16, 0.003)] {
        let builder = GrowingMap::builder().capacity(10).value_bits(bits);
        let builder = builder.false_positive_rate(rate);
        with_map(&mut check, &format!("growing-map-{bits}-bits"), (builder, 400));
    }
    each_expiring(&mut check);
}

/// As [`each`], for expiring filters with these windows.
fn each_expiring(check: &mut impl FnMut(&str, &[u8], &dyn Fn(&[u8]))) {
    for window in [13, 5] {
        let builder = ExpiringFilter::builder().capacity(80).window(window).seed(7);
        let builder = builder.hasher_with(StableHashBuilder::with_seed);
        let filter = builder.build().expect("a small filter");
        for number in 0..2 * KEPT {
            filter.insert_for(&number, 1 + number % window).expect("an empty slot");
            filter.insert(&format!("key {number}")).expect("an empty slot");
            if number % 8 == 7 {
                filter.advance();
            }
        }
        let found = |filter: &Filter<Expiring, StableHashBuilder>| -> Vec<bool> {
            (0..2 * KEPT).map(|number| filter.contains(&number)).collect()
        };
        check(&format!("expiring-{window}.guira"), &filter.to_bytes(), &|bytes| {
            let loaded = load::<Expiring>(bytes).expect("a snapshot of an earlier version");
            assert_eq!((loaded.window(), loaded.generation()), (window, filter.generation()));
            assert_eq!((loaded.len(), found(&loaded)), (filter.len(), found(&filter)));
            assert!(loaded.to_bytes() == bytes, "window {window}: saved with other bytes");
        });
    }
}

#[test]
fn files_of_earlier_versions_are_loaded() {
    let mut files = 0;
    each(|name, _, load| {
        load(&fs::read(path(name)).expect("the file"));
        files += 1;
    });
    // None is without a row here.
    let listed = fs::read_dir(path("")).expect("the folder").count();
    assert_eq!(listed, files);
}

/// The same operations lead to the same bytes, on every platform.
#[test]
fn files_of_earlier_versions_are_reproduced() {
    each(|name, bytes, _| assert!(fs::read(path(name)).expect("the file") == bytes, "{name}"));
}

#[test]
#[ignore = "writes the files that are missing"]
fn missing_files_are_written() {
    each(|name, bytes, load| {
        load(bytes);
        if !path(name).exists() {
            fs::write(path(name), bytes).expect("the folder is writable");
        }
    });
}
