//! A saved filter is loaded as it was, however it is saved and loaded.

use std::{fmt::Debug, io::Read};

use guira::{CuckooFilter, GrowingFilter, InsertError, Layout, LoadError};

use super::common::{
    capacity_of,
    forge::{BLOCK, CONTENTS, GENERATION, GROWTH, HEADER, LAYOUT, OCCUPIED, WINDOW, WORDS, number},
    kind::{ExpiringSets, GrowingMaps, GrowingSets, Kind, Maps, Of, Sets, max_value},
    rng,
    saved::{Item, Slow, filled, holds, insert, loaded, loader, remove, sample, saved, small},
    settings,
    suite::on_all_kinds,
};

on_all_kinds! {
    saved_filters_are_loaded,
    larger_filters_are_loaded,
    equal_operations_lead_to_equal_bytes,
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
pub fn batches<K: Kind>(filter: &Of<K>, keys: &[u64]) -> impl PartialEq + Debug + use<K> {
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
                // A third of the keys.
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
            assert_eq!(
                saved.len(),
                HEADER + bytes / 8 * 8 + 8 * (blocks + 1),
                "{layout:?}, {bytes}"
            );
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

#[test]
fn a_reader_that_reports_too_much_is_refused() {
    struct Boasting;
    impl Read for Boasting {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            Ok(buffer.len() + 1)
        }
    }
    let bytes = GrowingFilter::with_capacity(100).to_bytes();
    for at in [0, 10, HEADER, bytes.len() - 1] {
        let loaded = GrowingFilter::loader().reader((&bytes[..at]).chain(Boasting));
        assert!(matches!(loaded, Err(LoadError::Io(_))), "{loaded:?}");
    }
}

fn a_loader_keeps_its_limit<K: Kind>() {
    let filter = sample::<K>();
    let bytes = filter.to_bytes();
    let needed = 8 * number(&bytes, WORDS);
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
                format!("the snapshot is of the type {saved}, not {expected}: load it as {saved}")
            ),
        }
    }
    const NAMES: [[&str; 2]; 3] = [
        ["CuckooFilter", "GrowingFilter"],
        ["CuckooMap", "GrowingMap"],
        ["ExpiringFilter", "GrowingExpiringFilter"],
    ];
    let bytes = sample::<K>().to_bytes();
    let name = NAMES[usize::from(bytes[CONTENTS])][usize::from(bytes[GROWTH])];
    check::<Sets>(&bytes, name, NAMES[0][0]);
    check::<GrowingSets>(&bytes, name, NAMES[0][1]);
    check::<Maps>(&bytes, name, NAMES[1][0]);
    check::<GrowingMaps>(&bytes, name, NAMES[1][1]);
    check::<ExpiringSets>(&bytes, name, NAMES[2][0]);
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
        assert_eq!((number(&bytes, WINDOW), number(&bytes, GENERATION)), clock);
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
        assert_eq!(bytes[LAYOUT..LAYOUT + 4], [2, slots, bits, layout.value_bits() as u8]);
        let buckets = number(&bytes, WORDS);
        assert_eq!(buckets * u64::from(slots), map.slots() as u64);
        assert_eq!((bytes[CONTENTS], number(&bytes, OCCUPIED)), (1, map.len() as u64));
        // A key is where the format says it is: the high bits of its slot.
        let (empty, _) = filled::<Maps>(settings::<Maps>(1, layout, 1), 0);
        empty.insert(&7, max_value(layout)).expect("room");
        let slot = number(&empty.to_bytes(), HEADER);
        let value_bits = layout.value_bits();
        assert_eq!(slot & ((1 << value_bits) - 1), u64::from(max_value(layout)));
        assert!((1..1 << bits).contains(&(slot >> value_bits)));
    }
}
