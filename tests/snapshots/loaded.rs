//! A saved filter is loaded as it was, however it is saved and loaded.

use std::{
    fmt::{Debug, Write},
    io::Read,
};

use guira::{CuckooFilter, FilterBuilder, GrowingFilter, InsertError, Layout, LoadError};
use rand::RngExt;

use super::common::{
    capacity_of,
    forge::{BLOCK, BUCKETS, COPIES, HEADER, KIND, TARGET, items, number, segment},
    kind::{ExpiringSets, GrowingMaps, GrowingSets, Kind, Maps, Of, Sets, max_value},
    rng,
    saved::{Item, Slow, filled, holds, insert, loaded, loader, remove, sample, saved, small},
    settings,
    suite::on_saved_kinds,
};

on_saved_kinds! {
    saved_filters_are_loaded,
    larger_filters_are_loaded,
    equal_operations_lead_to_equal_bytes,
    a_loaded_filter_goes_on_as_the_saved_one,
    reading_ends_with_the_snapshot,
    a_loader_keeps_its_limit,
    other_kinds_are_refused
}

/// What a filter tells about itself.
fn description<K: Kind>(filter: &Of<K>) -> impl PartialEq + Debug + use<K> {
    let size = (filter.slots(), filter.layout());
    let rate = filter.false_positive_rate().to_bits();
    // Statistics start anew when a filter is loaded.
    let debug = (!cfg!(feature = "stats")).then(|| format!("{filter:?}"));
    (filter.len(), filter.capacity(), size, rate, debug)
}

/// Inserts a batch, and some keys unless they are there. Returns the outcomes.
fn batches<K: Kind>(filter: &Of<K>, keys: &[u64]) -> impl PartialEq + Debug + use<K> {
    let added = K::add_batch(filter, keys).map_err(|error| error.added());
    let unique = keys.iter().take(9).map(|&key| K::add_unique(filter, key));
    (added, unique.collect::<Vec<_>>(), K::insert_unique_mask(filter, &[keys[0], 1 << 41]))
}

/// Saves and loads filters in all ways, and goes on with the originals and the copies alike.
fn saved_filters_are_loaded<K: Kind>() {
    let mut rng = rng(4);
    for (builder, keys) in small::<K>() {
        let (filter, mut items) = filled::<K>(builder, keys);
        for is_emptier in [false, true] {
            if is_emptier {
                // A third of the keys, whichever segment they are in.
                let removed: Vec<Item<K>> = items.extract_if(.., |item| item.0 % 3 == 1).collect();
                assert!(removed.iter().all(|item| remove::<K>(&filter, item)));
            }
            let bytes = saved(&filter, &mut rng);
            let copy = loaded::<K>(&bytes, &mut rng).expect("its own snapshot");
            assert_eq!(description::<K>(&copy), description::<K>(&filter));
            assert!(items.iter().all(|item| holds::<K>(&copy, item)));
            assert!((0..1_000).all(|key: u64| copy.count(&key) == filter.count(&key)));
            assert_eq!(copy.to_bytes(), bytes);
            // The same operations have the same outcomes, and lead to the same snapshot.
            let clone = filter.clone();
            let outcomes = [&clone, &copy].map(|filter| {
                // Each item once.
                assert!(items.iter().all(|item| remove::<K>(filter, item)) && filter.is_empty());
                let added: Vec<_> =
                    (5_000..6_500).map(|key| insert::<K>(filter, key, key)).collect();
                (added, batches::<K>(filter, &[4_999, 5_000, 1 << 20]), filter.to_bytes())
            });
            assert!(outcomes[0] == outcomes[1]);
        }
    }
}

/// Filters of more than one block.
fn larger_filters_are_loaded<K: Kind>() {
    let mut rng = rng(2);
    for layout in K::layouts() {
        for (capacity, keys) in [(3_000, 2_900), (40_000, 20_000)] {
            let (filter, items) = filled::<K>(settings::<K>(capacity, layout, 9), keys);
            let bytes = saved(&filter, &mut rng);
            let copy = loaded::<K>(&bytes, &mut rng).expect("its own bytes");
            assert_eq!(description::<K>(&copy), description::<K>(&filter));
            assert!(copy.to_bytes() == bytes);
            assert!(items.iter().all(|item| holds::<K>(&copy, item)));
            assert!(items.iter().all(|item| remove::<K>(&copy, item)) && copy.is_empty());
        }
    }
}

/// Tables with memory from every source: the allocator, small pages, huge pages, and both. Blocks
/// that are full, and those that lack a word or have only one.
#[test]
fn large_snapshots_are_loaded() {
    for layout in [Layout::Plain4x16, Layout::SemiSorted6x12] {
        let sizes = [BLOCK - 8, BLOCK, BLOCK + 8, 2 * BLOCK, 700_000, 2 << 20, (2 << 20) + 1_000];
        for bytes in sizes.into_iter().chain([5_500_000]) {
            let capacity = capacity_of(layout, bytes / 8);
            let builder = CuckooFilter::builder().capacity(capacity).layout(layout).seed(9);
            let (filter, _) = filled::<Sets>(builder, 10_000.min(capacity as u64 / 2));
            let saved = saved(&filter, &mut rng(1));
            let blocks = (8 * filter.slots() / layout.slots_per_bucket() as usize).div_ceil(BLOCK);
            assert_eq!(saved.len(), HEADER + bytes / 8 * 8 + 8 * blocks, "{layout:?}, {bytes}");
            let copy = loaded::<Sets>(&saved, &mut rng(2)).expect("its own snapshot");
            assert!(copy.to_bytes() == saved, "{layout:?}, {bytes} bytes");
        }
    }
    let (filter, items) =
        filled::<GrowingSets>(GrowingFilter::builder().capacity(1_000).seed(8), 400_000);
    let saved = saved(&filter, &mut rng(1));
    let copy = loaded::<GrowingSets>(&saved, &mut rng(2)).expect("its own snapshot");
    assert!(copy.to_bytes() == saved && items.iter().all(|item| holds::<GrowingSets>(&copy, item)));
}

/// Everything that decides an answer is in a snapshot, and nothing else.
fn equal_operations_lead_to_equal_bytes<K: Kind>() {
    for (builder, keys) in small::<K>() {
        let [one, other] = [false, true].map(|huge_pages| {
            let (filter, items) = filled::<K>(builder.clone().huge_pages(huge_pages), keys);
            let mut removed = items.iter().filter(|item| item.0 % 2 == 0);
            assert!(removed.all(|item| remove::<K>(&filter, item)));
            batches::<K>(&filter, &(9_000..9_100).collect::<Vec<_>>());
            filter
        });
        assert_eq!(one.to_bytes(), other.to_bytes());
        assert_eq!(one.to_bytes(), one.clone().to_bytes());
    }
}

/// Inserts and removes at random. Returns the outcomes. `present` are the items that may be
/// removed.
fn work<K: Kind>(
    filter: &Of<K>,
    present: &mut Vec<Item<K>>,
    operations: usize,
    seed: u64,
) -> (Vec<bool>, String) {
    let mut rng = rng(seed);
    let mut outcomes = String::new();
    let mut operation = || {
        let key = rng.random_range(0..1_000_000);
        match rng.random_range(0..8) {
            0..4 => {
                let added = insert::<K>(filter, key, rng.random_range(0..9)).ok();
                present.extend(added);
                added.is_some()
            }
            // These items stay.
            4 => {
                let is_rare = rng.random_ratio(1, 50);
                if is_rare {
                    write!(outcomes, "{:?}", batches::<K>(filter, &[key, 1 << 40]))
                        .expect("a string");
                }
                is_rare
            }
            _ if present.is_empty() => false,
            _ => {
                let item = present.swap_remove(rng.random_range(0..present.len()));
                assert!(remove::<K>(filter, &item), "false negative");
                filter.contains(&item.0)
            }
        }
    };
    ((0..operations).map(|_| operation()).collect(), outcomes)
}

/// Nothing that decides where an item goes is missing in a snapshot, so replicas stay equal.
fn a_loaded_filter_goes_on_as_the_saved_one<K: Kind>() {
    // Half as many operations again insert as remove.
    let sizes = if K::GROWS {
        [(10, 20_000), (1_000, 60_000), (4_000, 5_000)]
    } else {
        [(30_000, 20_000), (5_000, 40_000), (400_000, 400)]
    };
    let layouts = K::layouts();
    let some = [0, layouts.len() / 2, layouts.len() - 1].map(|nth| (layouts[nth], None));
    for (layout, limit) in some.into_iter().chain([(layouts[layouts.len() / 2], Some(2))]) {
        for (capacity, operations) in sizes {
            for writers in [None, Some(1), Some(9)] {
                let builder = settings::<K>(capacity, layout, 3);
                let builder = limit.into_iter().fold(builder, K::limited);
                let builder = writers.into_iter().fold(builder, FilterBuilder::writers);
                let filter = builder.build().expect("a small filter");
                let mut present = Vec::new();
                work::<K>(&filter, &mut present, operations, 1);
                let bytes = filter.to_bytes();
                let copy = loader::<K>().bytes(&bytes).expect("its own snapshot");
                let outcomes = work::<K>(&filter, &mut present.clone(), 10_000, 4);
                // Another thread has another number.
                let others = std::thread::scope(|scope| {
                    scope.spawn(|| work::<K>(&copy, &mut present.clone(), 10_000, 4)).join()
                });
                assert!(outcomes == others.expect("no panic"), "{filter:?} {copy:?}");
                assert!(filter.to_bytes() == copy.to_bytes(), "{filter:?} {copy:?}");
            }
        }
    }
}

/// A cap on memory is not saved: neither do the bytes depend on it, nor what is loaded. (A filter
/// that has reached its cap is fuller than one without a cap would be.)
#[test]
fn a_snapshot_of_a_set_has_no_cap() {
    let builder = GrowingFilter::builder().capacity(100).seed(2);
    let [capped, free] =
        [1_000_000, usize::MAX].map(|cap| builder.clone().max_bytes(cap).build().expect("memory"));
    for filter in [&capped, &free] {
        filter.insert_batch(0..50_000_u64).expect("room");
    }
    let bytes = capped.to_bytes();
    assert!(free.to_bytes() == bytes);
    capped.set_max_bytes(Some(0));
    assert!(capped.to_bytes() == bytes);
    let refused = (50_000_u64..u64::MAX).find(|key| capped.insert(key).is_err()).expect("an end");
    let copy = loaded::<GrowingSets>(&capped.to_bytes(), &mut rng(1)).expect("its own snapshot");
    assert_eq!(capped.insert(&refused), Err(InsertError::Full));
    assert_eq!(copy.insert(&refused), Ok(()));
    copy.set_max_bytes(Some(0));
    assert!((1 << 40..).find_map(|key: u64| copy.insert(&key).err()) == Some(InsertError::Full));
}

fn reading_ends_with_the_snapshot<K: Kind>() {
    let bytes = sample::<K>().to_bytes();
    let new = loader::<K>;
    let twice = [&bytes[..], &bytes[..]].concat();
    let mut reader = Slow(&twice);
    for _ in 0..2 {
        let copy = new().reader(&mut reader).expect("one snapshot after the other");
        assert_eq!(copy.to_bytes(), bytes);
    }
    let end = new().reader(&mut reader);
    assert!(matches!(end, Err(LoadError::Truncated { received: 0, .. })), "{end:?}");

    let mut loader = new();
    loader.push(&bytes[..9]).expect("its own snapshot");
    let whole = [new().bytes(&twice), loader.bytes(&twice[9..])];
    let whole = whole.map(|loaded| loaded.expect_err("more"));
    for error in whole.into_iter().chain([new().push(&twice).expect_err("more")]) {
        match error {
            LoadError::TrailingBytes { more, .. } => assert_eq!(more, bytes.len() as u64),
            other => panic!("{other:?}"),
        }
    }
    let mut loader = new();
    loader.push(&bytes).expect("its own snapshot");
    loader.push(&[]).expect("nothing more");
    assert!(matches!(loader.push(&[0]), Err(LoadError::TrailingBytes { more: 1, .. })));
    assert_eq!(loader.finish().expect("all was pushed before").to_bytes(), bytes);
}

#[test]
fn an_error_of_the_reader_is_returned() {
    struct Failing(std::io::ErrorKind);
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            // An interruption happens once.
            let kind = std::mem::replace(&mut self.0, std::io::ErrorKind::BrokenPipe);
            Err(kind.into())
        }
    }
    let bytes = GrowingFilter::with_capacity(100).to_bytes();
    for at in [0, 10, HEADER, bytes.len() - 1] {
        for kind in [std::io::ErrorKind::Interrupted, std::io::ErrorKind::BrokenPipe] {
            match GrowingFilter::loader().reader((&bytes[..at]).chain(Failing(kind))) {
                Err(LoadError::Io(error)) => {
                    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

fn a_loader_keeps_its_limit<K: Kind>() {
    let filter = sample::<K>();
    let bytes = filter.to_bytes();
    // The words, of which the filter does not tell those of buckets that were split early.
    let needed = 8 * number(&bytes, segment(0) + BUCKETS);
    let limited = |limit: u64| {
        let mut loader = loader::<K>().limit(limit.try_into().expect("small"));
        loader.push(&bytes).and_then(|()| loader.finish())
    };
    assert_eq!(limited(needed).expect("enough").to_bytes(), bytes);
    for limit in [needed - 1, 0] {
        match limited(limit) {
            Err(LoadError::LimitExceeded { needed: told, limit: of, .. }) => {
                assert_eq!((told, of), (needed, limit));
            }
            other => panic!("{other:?}"),
        }
    }
}

fn other_kinds_are_refused<K: Kind>() {
    fn check<K: Kind>(bytes: &[u8], saved: &str, expected: &str) {
        match loader::<K>().bytes(bytes) {
            Ok(_) => assert_eq!(saved, expected),
            Err(error) => assert_eq!(
                error.to_string(),
                format!("the snapshot is of the type {saved}, not {expected}")
            ),
        }
    }
    const NAMES: [&str; 5] =
        ["CuckooFilter", "GrowingFilter", "CuckooMap", "ExpiringFilter", "GrowingMap"];
    let bytes = sample::<K>().to_bytes();
    let name = NAMES[usize::from(bytes[KIND])];
    check::<Sets>(&bytes, name, NAMES[0]);
    check::<GrowingSets>(&bytes, name, NAMES[1]);
    check::<Maps>(&bytes, name, NAMES[2]);
    check::<ExpiringSets>(&bytes, name, NAMES[3]);
    check::<GrowingMaps>(&bytes, name, NAMES[4]);
    loader::<K>().bytes(&bytes).expect("its own kind");
}

/// A filter whose items expire goes on from the generation of the saved one.
#[test]
fn a_loaded_filter_goes_on_from_the_generation_of_the_saved_one() {
    for (seed, layout) in ExpiringSets::layouts().into_iter().enumerate() {
        let builder = settings::<ExpiringSets>(500, layout, seed as u64);
        let filter = builder.build().expect("a small filter");
        let mut items = Vec::new();
        for key in 0..400_u64 {
            items.push(insert::<ExpiringSets>(&filter, key, key).expect("an empty slot"));
            if key % 40 == 0 {
                filter.advance();
            }
        }
        let bytes = saved(&filter, &mut rng(1));
        let clock = (u64::from(filter.window()), filter.generation());
        assert_eq!((number(&bytes, COPIES), number(&bytes, TARGET)), clock);
        let copy = loaded::<ExpiringSets>(&bytes, &mut rng(2)).expect("a snapshot");
        assert_eq!(
            (copy.capacity(), description::<ExpiringSets>(&copy)),
            (500, description::<ExpiringSets>(&filter))
        );
        // Removals know the generations of the saved filter.
        let (key, generation) = items[399];
        assert!(!copy.remove(&key, generation + 1) && copy.remove(&key, generation));
        assert!(filter.remove(&key, generation));
        for _ in 0..filter.window() + 2 {
            assert_eq!(copy.len(), filter.len());
            assert!(items.iter().all(|(key, _)| copy.contains(key) == filter.contains(key)));
            assert_eq!(copy.advance(), filter.advance());
        }
        assert!(copy.is_empty());
    }
}

/// The description of a layout, as `docs::snapshots` has it.
#[test]
fn layouts_are_described_byte_by_byte() {
    for layout in Maps::layouts() {
        let (map, _) = filled::<Maps>(settings::<Maps>(50, layout, 1), 20);
        let bytes = map.to_bytes();
        let numbers = [layout.slots_per_bucket(), layout.fingerprint_bits()].map(|n| n as u8);
        let [slots, bits] = numbers;
        let expected = [2, slots, bits, 0, layout.value_bits() as u8, 0, 0, 0];
        assert_eq!(bytes[segment(0)..segment(0) + 8], expected);
        let buckets = number(&bytes, segment(0) + BUCKETS);
        assert_eq!(buckets * u64::from(slots), map.slots() as u64);
        assert_eq!((bytes[KIND], number(&bytes, items(&bytes))), (2, map.len() as u64));
        // A key is where the format says it is: the high bits of its slot.
        let (empty, _) = filled::<Maps>(settings::<Maps>(1, layout, 1), 0);
        empty.insert(&7, max_value(layout)).expect("room");
        let slot = number(&empty.to_bytes(), HEADER);
        let value_bits = layout.value_bits();
        assert_eq!(slot & ((1 << value_bits) - 1), u64::from(max_value(layout)));
        assert!((1..1 << bits).contains(&(slot >> value_bits)));
    }
}
