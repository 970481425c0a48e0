//! Files from C, and for C: `interop load FOLDER`, `interop save FOLDER`. See `interop.c`.

use std::{env, hash::RandomState, path::Path};

use guira_rs::{
    CuckooFilter, CuckooMap, ExpiringFilter, Filter, GrowingFilter, GrowingMap,
    kind::{Contents, Growth},
};

const KEYS: usize = 500;

/// Keys as bytes, which Rust hashes as C does.
fn keys() -> impl Iterator<Item = (Vec<u8>, u16)> {
    (0..KEYS).map(|i| (format!("key {i}").into_bytes(), (i % 256) as u16))
}

/// Saves a filter of this capacity, or loads one.
fn exchange<C: Contents, G: Growth>(
    path: &Path,
    capacity: Option<usize>,
    insert: impl Fn(&Filter<C, G>, &[u8], u16),
    contains: impl Fn(&Filter<C, G>, &[u8], u16) -> bool,
) {
    if let Some(capacity) = capacity {
        let filter = Filter::with_capacity(capacity);
        keys().for_each(|(key, value)| insert(&filter, &key, value));
        filter.save(path).unwrap();
    } else {
        let filter = Filter::loader().file(path).unwrap();
        keys().for_each(|(key, value)| assert!(contains(&filter, &key, value)));
        assert_eq!(filter.len(), KEYS);
    }
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let (saves, folder) = (arguments[1] == "save", Path::new(&arguments[2]));
    let (capacity, small) = (saves.then_some(1_000), saves.then_some(200));
    exchange(
        &folder.join("set"),
        capacity,
        |filter: &CuckooFilter, key, _| filter.insert(key).unwrap(),
        |filter, key, _| filter.contains(key),
    );
    exchange(
        &folder.join("growing-set"),
        small,
        |filter: &GrowingFilter, key, _| filter.insert(key).unwrap(),
        |filter, key, _| filter.contains(key),
    );
    exchange(
        &folder.join("map"),
        capacity,
        |map: &CuckooMap, key, value| map.insert(key, value).unwrap(),
        CuckooMap::contains_value,
    );
    exchange(
        &folder.join("growing-map"),
        small,
        |map: &GrowingMap, key, value| map.insert(key, value).unwrap(),
        GrowingMap::contains_value,
    );
    exchange(
        &folder.join("expiring"),
        capacity,
        |filter: &ExpiringFilter, key, _| assert!(filter.insert(key).is_ok()),
        |filter, key, _| filter.contains(key),
    );
    if saves {
        let filter =
            CuckooFilter::builder().capacity(10).hasher(RandomState::new()).build().unwrap();
        filter.save(folder.join("other-hasher")).unwrap();
    }
}
