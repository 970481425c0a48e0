//! Snapshots of expiring filters: what they hold, beside threads too, and what is refused.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use guira::{CuckooFilter, CuckooMap, ExpiringFilter, LoadError};

use super::{
    Stop, WINDOWS, builder,
    common::{
        Watchdog,
        forge::{CAPACITY, COPIES, TARGET, amend, header_len, items, number, put, segment},
        scaled,
    },
    layouts,
};

#[test]
fn a_loaded_filter_goes_on_from_the_generation_of_the_saved_one() {
    for window in WINDOWS {
        for layout in layouts(window) {
            let filter = builder(500, window).layout(layout).build().expect("a small filter");
            let mut items = Vec::new();
            for key in 0..400_u64 {
                let life = 1 + key as u32 % window;
                items.push((key, life, filter.insert_for(&key, life).expect("an empty slot")));
                if key % 40 == 0 {
                    filter.advance();
                }
            }
            let bytes = filter.to_bytes();
            assert_eq!(
                (number(&bytes, COPIES), number(&bytes, TARGET)),
                (window.into(), filter.generation())
            );
            let mut exclusive = Vec::new();
            filter.write_to(&mut exclusive).expect("memory");
            assert_eq!(exclusive, bytes);

            let loaded = ExpiringFilter::loader().bytes(&bytes).expect("a snapshot");
            assert_eq!((loaded.window(), loaded.generation()), (window, filter.generation()));
            assert_eq!((loaded.layout(), loaded.capacity()), (layout, 500));
            assert_eq!(loaded.to_bytes(), bytes);
            for _ in 0..window + 2 {
                assert_eq!(loaded.len(), filter.len());
                let found = |filter: &ExpiringFilter| -> Vec<bool> {
                    items.iter().map(|(key, ..)| filter.contains(key)).collect()
                };
                assert_eq!(found(&loaded), found(&filter));
                assert_eq!(loaded.advance(), filter.advance());
            }
            assert!(loaded.is_empty());
        }
    }
}

#[test]
fn a_loaded_filter_knows_generations() {
    let filter = builder(500, 5).build().expect("a small filter");
    let generation = filter.insert(&1).expect("an empty slot");
    filter.advance();
    let loaded = ExpiringFilter::loader().bytes(&filter.to_bytes()).expect("a snapshot");
    assert!(!loaded.remove(&1, generation + 1) && loaded.remove(&1, generation));
}

/// Every snapshot holds what is in the filter throughout, whatever generation begins meanwhile, and
/// whatever is refreshed.
#[test]
fn snapshots_beside_advances_hold_what_stays() {
    let _watchdog = Watchdog::new("snapshots_beside_advances_hold_what_stays");
    let filter = builder(400, 1).build().expect("a small filter");
    let keys = super::keys(builder(400, 1), 50);
    assert!(keys.iter().all(|key| filter.insert(key).is_ok()));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Relaxed) {
                assert!(keys.iter().all(|key| filter.refresh(key)));
                filter.advance();
            }
        });
        let _stop = Stop(&stop);
        for _ in 0..scaled(200, 3_000) {
            let before = filter.generation();
            let loaded = ExpiringFilter::loader().bytes(&filter.to_bytes()).expect("a snapshot");
            let after = filter.generation();
            assert!((before..=after).contains(&loaded.generation()));
            let missing = keys.iter().filter(|key| !loaded.contains(key)).count();
            assert_eq!(missing, 0, "between {before} and {after}");
        }
    });
}

/// Changes a snapshot, corrects its checksums, and returns the error of loading it.
fn forged(bytes: &[u8], change: impl FnOnce(&mut [u8])) -> LoadError {
    let mut bytes = bytes.to_vec();
    change(&mut bytes);
    amend(&mut bytes);
    ExpiringFilter::loader().bytes(&bytes).expect_err("an invalid snapshot")
}

/// The name and the value of an invalid field.
fn invalid(error: LoadError) -> (&'static str, u64) {
    match error {
        LoadError::InvalidField { name, value, .. } => (name, value),
        other => panic!("{other:?}"),
    }
}

#[test]
fn invalid_clocks_are_detected() {
    let filter = builder(100, 5).build().expect("a small filter");
    filter.insert(&1).expect("an empty slot");
    let bytes = filter.to_bytes();
    // 1 has stamps of 2 bits, and 6 of 4 bits.
    for window in [0, 1, 6, 254, 1 << 32, 5 + (1 << 32), u64::MAX] {
        let error = forged(&bytes, |bytes| put(bytes, COPIES, window));
        assert_eq!(invalid(error), ("window", window));
    }
    for now in [0, 4, 1 << 63, u64::MAX] {
        let error = forged(&bytes, |bytes| put(bytes, TARGET, now));
        assert_eq!(invalid(error), ("generation", now));
    }
    let error = forged(&bytes, |bytes| put(bytes, CAPACITY, 0));
    assert_eq!(invalid(error), ("capacity", 0));
    // More time than an interval has counted: a generation would have begun.
    for (interval, elapsed) in [(1, 1), (10, 10), (10, u64::MAX)] {
        let error = forged(&bytes, |bytes| {
            put(bytes, items(bytes) + 8, interval);
            put(bytes, items(bytes) + 16, elapsed);
        });
        assert_eq!(invalid(error), ("elapsed time", elapsed));
    }
    // Other windows with as many bits, and any generation in between, are valid.
    for (window, now) in [(2, 2), (5, (1 << 63) - 1)] {
        let mut bytes = bytes.clone();
        put(&mut bytes, COPIES, window);
        put(&mut bytes, TARGET, now);
        amend(&mut bytes);
        let loaded = ExpiringFilter::loader().bytes(&bytes).expect("a valid clock");
        assert_eq!((u64::from(loaded.window()), loaded.generation()), (window, now));
        assert_eq!(loaded.advance(), now + 1);
    }
}

#[test]
fn a_slot_without_a_fingerprint_is_refused() {
    let filter = builder(100, 5).build().expect("a small filter");
    let bytes = filter.to_bytes();
    for slot in [1_u64, 7] {
        let error = forged(&bytes, |bytes| {
            put(bytes, header_len(bytes), slot);
            put(bytes, items(bytes), 1);
        });
        assert!(matches!(error, LoadError::InvalidBuckets), "{error:?}");
    }
}

#[test]
fn kinds_of_filters_are_told_apart() {
    let expiring = ExpiringFilter::with_capacity(10).to_bytes();
    let error = CuckooFilter::loader().bytes(&expiring).expect_err("another kind");
    assert_eq!(error.to_string(), "the snapshot is of the type ExpiringFilter, not CuckooFilter");
    assert!(CuckooMap::loader().bytes(&expiring).is_err());
    let map = CuckooMap::builder().capacity(10).value_bits(4).build().expect("memory");
    let error = ExpiringFilter::loader().bytes(&map.to_bytes()).expect_err("another kind");
    assert!(matches!(error, LoadError::OtherKind { saved: "CuckooMap", .. }));
    // A layout without stamps.
    let sets = CuckooFilter::with_capacity(10).to_bytes();
    let error = forged(&expiring, |bytes| {
        bytes[segment(0)..segment(1)].copy_from_slice(&sets[segment(0)..segment(1)]);
    });
    assert_eq!(invalid(error), ("layout family", 0));
}
