//! Files from C, and for C: `interop load FOLDER`, `interop save FOLDER`. See `interop.c`.

use std::{env, path::Path};

use guira_rs::{
    CuckooFilter, CuckooMap, ExpiringFilter, GrowingFilter, GrowingMap, StableHashBuilder,
};

const KEYS: usize = 500;

/// Keys as bytes, which Rust hashes as C does.
fn keys() -> impl Iterator<Item = (Vec<u8>, u16)> {
    (0..KEYS).map(|i| (format!("key {i}").into_bytes(), (i % 256) as u16))
}

/// Saves or loads a filter of this type.
macro_rules! each {
    ($type:ident, $capacity:expr, $path:expr, $saves:expr, $insert:expr, $check:expr) => {
        let with_seed = StableHashBuilder::with_seed;
        if $saves {
            let builder = $type::builder().capacity($capacity).hasher_with(with_seed);
            let filter = builder.build().unwrap();
            keys().for_each(|(key, value)| $insert(&filter, &key[..], value));
            filter.save_to($path).unwrap();
        } else {
            let filter = $type::load_from_with($path, with_seed).unwrap();
            keys().for_each(|(key, value)| assert!($check(&filter, &key[..], value)));
            assert_eq!(filter.len(), KEYS);
        }
    };
}

type Stable = StableHashBuilder;
type Expiring = ExpiringFilter<Stable>;

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let (saves, folder) = (arguments[1] == "save", Path::new(&arguments[2]));
    each!(
        CuckooFilter,
        1_000,
        folder.join("set"),
        saves,
        |filter: &CuckooFilter<Stable>, key: &[u8], _| filter.insert(key).unwrap(),
        |filter: &CuckooFilter<Stable>, key: &[u8], _| filter.contains(key)
    );
    each!(
        GrowingFilter,
        200,
        folder.join("growing-set"),
        saves,
        |filter: &GrowingFilter<Stable>, key: &[u8], _| filter.insert(key).unwrap(),
        |filter: &GrowingFilter<Stable>, key: &[u8], _| filter.contains(key)
    );
    each!(
        CuckooMap,
        1_000,
        folder.join("map"),
        saves,
        |map: &CuckooMap<Stable>, key: &[u8], value| map.insert(key, value).unwrap(),
        |map: &CuckooMap<Stable>, key: &[u8], value| map.contains_value(key, value)
    );
    each!(
        GrowingMap,
        200,
        folder.join("growing-map"),
        saves,
        |map: &GrowingMap<Stable>, key: &[u8], value| map.insert(key, value).unwrap(),
        |map: &GrowingMap<Stable>, key: &[u8], value| map.contains_value(key, value)
    );
    each!(
        ExpiringFilter,
        1_000,
        folder.join("expiring"),
        saves,
        |filter: &Expiring, key: &[u8], _| {
            filter.insert(key).unwrap();
        },
        |filter: &Expiring, key: &[u8], _| filter.contains(key)
    );
    if saves {
        CuckooFilter::with_capacity(10).save_to(folder.join("other-hasher")).unwrap();
    }
}
