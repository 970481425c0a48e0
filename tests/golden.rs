//! The format does not change: the files in `tests/golden/` were saved by earlier versions, on some
//! platform, and are loaded by this one, on any.
//!
//! A file is never changed. For a new kind of filter, add a row, and write the files that are
//! missing: `cargo test --test golden -- --ignored`.

#![cfg(feature = "std")]

mod common;

use std::{fs, path::PathBuf};

use common::{
    forge,
    kind::{BuilderOf, ExpiringSets, GrowingMaps, GrowingSets, Kind, Maps, Of, Sets},
    saved::{holds, loader, remove},
};
use guira::{
    CuckooFilter, CuckooMap, ExpiringFilter, Filter, GrowingFilter, GrowingMap, Key, Layout, kind,
};

/// The file with this name.
fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "golden", name].iter().collect()
}

/// Keys that stay.
const KEPT: u64 = 20;

/// Inserts a key, with a value or for a life that depends on a number. Returns its tag.
fn insert<K: Kind, Q: Key + ?Sized>(filter: &Of<K>, key: &Q, number: u64) -> K::Tag {
    let want = if K::IS_PERMANENT {
        number * 0x9e37 % (1 << filter.layout().value_bits())
    } else {
        1 + number % 5
    };
    let want = want as u16;
    K::insert(filter, key, want).expect("an empty slot")
}

/// Receives the name of a file, the bytes in it, and what loads and checks such bytes.
type Check<'a> = &'a mut dyn FnMut(&str, &[u8], &dyn Fn(&[u8]));

/// Calls a function with a filter of [`KEPT`] numbers and texts. So many others were added, and
/// every second of them was removed again. Then `change` was called.
fn row<K: Kind>(
    check: Check,
    name: &str,
    (builder, others): (BuilderOf<K>, u64),
    change: impl Fn(&Of<K>),
) {
    let filter = builder.seed(7).build().expect("a small filter");
    let (mut numbers, mut texts) = (Vec::new(), Vec::new());
    for number in 0..KEPT {
        numbers.push((number, insert::<K, _>(&filter, &number, number)));
        let text = format!("key {number}");
        let tag = insert::<K, _>(&filter, &text, number);
        texts.push((text, tag));
    }
    let others = (100..100 + others).map(|key| (key, insert::<K, _>(&filter, &key, key)));
    let (removed, kept): (Vec<_>, Vec<_>) = others.partition(|(key, _)| key % 2 == 0);
    assert!(removed.iter().all(|item| remove::<K>(&filter, item)));
    change(&filter);
    check(&format!("{name}.guira"), &filter.to_bytes(), &|bytes| {
        let loaded = loader::<K>().bytes(bytes);
        let loaded = loaded.expect("a snapshot of an earlier version");
        assert!(numbers.iter().all(|item| holds::<K>(&loaded, item)), "{name}");
        for (text, tag) in &texts {
            let tags = K::tags(&loaded, text);
            assert!(loaded.contains(text) && tags.is_none_or(|tags| tags.contains(tag)), "{name}");
        }
        assert!(kept.iter().all(|item| holds::<K>(&loaded, item)), "{name}");
        assert_eq!(loaded.len(), filter.len(), "{name}");
        assert_eq!((loaded.layout(), loaded.slots()), (filter.layout(), filter.slots()), "{name}");
        assert_eq!(loaded.capacity(), filter.capacity(), "{name}");
        assert!(loaded.to_bytes() == bytes, "{name} is saved with other bytes");
    });
}

/// Calls a function with the name of each file and the filter that it contains.
fn each(check: Check) {
    let fixed = || CuckooFilter::builder().capacity(80);
    for layout in Layout::ALL {
        let name = format!("fixed-{layout:?}").to_lowercase();
        row::<Sets>(check, &name, (fixed().layout(*layout), 20), |_| ());
    }
    row::<Sets>(check, "fixed-max-copies", (fixed().max_copies(2), 0), |_| ());
    row::<Sets>(check, "fixed-writers", (fixed().writers(8), 0), |_| ());
    let growing = || GrowingFilter::builder().capacity(10);
    for layout in Layout::GROWING {
        let name = format!("set-{layout:?}").to_lowercase();
        row::<GrowingSets>(check, &name, (growing().layout(*layout), 2_500), |_| ());
    }
    row::<GrowingSets>(check, "growing-not-yet", (growing(), 100), |_| ());
    row::<GrowingSets>(
        check,
        "growing-max-copies",
        (growing().copies(2).max_copies(4), 2_000),
        |_| (),
    );
    row::<GrowingSets>(
        check,
        "growing-max-capacity",
        (growing().max_capacity(5_000), 3_000),
        |_| (),
    );
    // Tails have run out.
    let ghosts = growing().layout(Layout::Growing5x12).writers(1);
    row::<GrowingSets>(check, "growing-ghosts", (ghosts, 60_000), |_| ());
    // Buckets were split ahead of their turn, since copies of few items filled them.
    row::<GrowingSets>(check, "growing-ahead", (growing(), 2_500), |filter| {
        for key in 0..300 * 4_u64 {
            // No room for some of the copies.
            let _ = filter.insert(&(1_000_000 + key / 4));
        }
        assert!(!forge::ahead(&filter.to_bytes())[0].is_empty());
    });
    for (slots, bits) in [(6, 2), (5, 4), (4, 0), (4, 8), (3, 8), (2, 16)] {
        let layout = Layout::with_values(slots, bits).expect("a layout");
        let builder = CuckooMap::builder().capacity(80).layout(layout);
        row::<Maps>(check, &format!("map-{slots}-slots-{bits}-bits"), (builder, 20), replace);
    }
    for (bits, rate) in [(0, 0.2), (8, 0.01), (16, 0.005)] {
        let builder = GrowingMap::builder().capacity(10).value_bits(bits);
        let builder = builder.false_positive_rate(rate);
        row::<GrowingMaps>(check, &format!("growing-map-{bits}-bits"), (builder, 2_500), replace);
    }
    for window in [13, 5] {
        let builder = ExpiringFilter::builder().capacity(80).window(window);
        row::<ExpiringSets>(check, &format!("expiring-{window}"), (builder, 20), |filter| {
            filter.advance();
            filter.insert(&"new").expect("an empty slot");
        });
    }
}

/// Gives another key a value, and then another one.
fn replace<G: kind::Growth>(map: &Filter<kind::Map, G>) {
    let max = ((1_u32 << map.layout().value_bits()) - 1) as u16;
    map.insert(&99, 0).expect("an empty slot");
    assert!(map.replace(&99, 0, max) && map.contains_value(&99, max));
}

#[test]
fn files_of_earlier_versions_are_loaded() {
    let mut files = 0;
    each(&mut |name, _, load| {
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
    each(&mut |name, bytes, _| assert!(fs::read(path(name)).expect("the file") == bytes, "{name}"));
}

#[test]
#[ignore = "writes the files that are missing"]
fn missing_files_are_written() {
    each(&mut |name, bytes, load| {
        load(bytes);
        if !path(name).exists() {
            fs::write(path(name), bytes).expect("the folder is writable");
        }
    });
}
