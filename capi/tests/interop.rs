//! Files from C, and for C: `interop load FOLDER`, `interop save FOLDER`. See `interop.c`.

use std::{env, hash::RandomState, path::Path, time::Duration};

use guira_rs::{
    CuckooFilter, CuckooMap, ExpiringFilter, Filter, FilterBuilder, GrowingFilter, GrowingMap,
    kind::{Contents, Growth},
};

const KEYS: usize = 500;
const HOUR: Duration = Duration::from_secs(3600);

/// Keys as bytes, which Rust hashes as C does.
fn keys() -> impl Iterator<Item = (Vec<u8>, u16)> {
    (0..KEYS).map(|i| (format!("key {i}").into_bytes(), (i % 256) as u16))
}

/// Saves a filter that is built, or loads one.
fn exchange<C: Contents, G: Growth>(
    path: &Path,
    builder: Option<FilterBuilder<C, G>>,
    insert: impl Fn(&Filter<C, G>, &[u8], u16),
    contains: impl Fn(&Filter<C, G>, &[u8], u16) -> bool,
) {
    if let Some(builder) = builder {
        let filter = builder.build().unwrap();
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
    exchange(
        &folder.join("set"),
        saves.then(|| Filter::builder().capacity(1_000)),
        |filter: &CuckooFilter, key, _| filter.insert(key).unwrap(),
        |filter, key, _| filter.contains(key),
    );
    exchange(
        &folder.join("growing-set"),
        saves.then(|| Filter::builder().capacity(200)),
        |filter: &GrowingFilter, key, _| filter.insert(key).unwrap(),
        |filter, key, _| filter.contains(key),
    );
    exchange(
        &folder.join("map"),
        saves.then(|| Filter::builder().capacity(1_000)),
        |map: &CuckooMap, key, value| map.insert(key, value).unwrap(),
        CuckooMap::contains_value,
    );
    exchange(
        &folder.join("growing-map"),
        saves.then(|| Filter::builder().capacity(200)),
        |map: &GrowingMap, key, value| map.insert(key, value).unwrap(),
        GrowingMap::contains_value,
    );
    let expiring = Filter::builder().capacity(1_000);
    for (name, builder) in [("expiring", expiring.clone().window(1)), ("timed", expiring.ttl(HOUR))]
    {
        exchange(
            &folder.join(name),
            saves.then_some(builder),
            |filter: &ExpiringFilter, key, _| assert!(filter.insert(key).is_ok()),
            |filter, key, _| filter.contains(key),
        );
    }
    if saves {
        let filter =
            CuckooFilter::builder().capacity(10).hasher(RandomState::new()).build().unwrap();
        filter.save(folder.join("other-hasher")).unwrap();
    }
}
