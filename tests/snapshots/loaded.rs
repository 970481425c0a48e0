//! A saved filter is loaded as it was, however it is saved and loaded.

use std::{
    fmt::{Debug, Write},
    io::Read,
};

use guira::{CuckooFilter, FilterBuilder, GrowingFilter, InsertError, Layout, LoadError};
use rand::RngExt;

use super::common::{
    Subject, capacity_of,
    forge::{BLOCK, CONTENTS, GENERATION, GROWTH, HEADER, LAYOUT, OCCUPIED, WINDOW, WORDS, number},
    kind::{ExpiringSets, GrowingMaps, GrowingSets, Kind, Maps, Of, Sets, max_value},
    rng,
    saved::{Item, Slow, crowd, filled, holds, insert, loaded, loader, remove, sample, saved, small},
    settings,
    suite::on_all_kinds,
};

on_all_kinds! {
    saved_filters_are_loaded,
    larger_filters_are_loaded,
    equal_operations_lead_to_equal_bytes,
    replicas_stay_equal,
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

/// Inserts and removes at random, and lets time pass if items expire. Returns the outcomes.
/// `present` are the items that may be removed.
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
                if rng.random_ratio(1, 1_000) {
                    K::advance(filter);
                    present.retain(|item| holds::<K>(filter, item));
                }
                is_rare
            }
            _ if present.is_empty() => false,
            5 if !K::IS_PERMANENT && rng.random() => {
                K::refresh(filter, present[rng.random_range(0..present.len())].0)
            }
            _ => {
                let item = present.swap_remove(rng.random_range(0..present.len()));
                let removed = remove::<K>(filter, &item);
                assert!(removed || !K::IS_PERMANENT, "false negative");
                removed && filter.contains(&item.0)
            }
        }
    };
    ((0..operations).map(|_| operation()).collect(), outcomes)
}

/// A filter with the items that may be removed.
type Replica<K> = (Of<K>, Vec<Item<K>>);

/// An operation on the whole of two equal filters, by its number.
fn change_both<K: Kind>(both: &mut [Replica<K>; 2], other: &Replica<K>, number: usize) {
    match number {
        0 => {
            for (filter, present) in both.iter_mut() {
                for item in present.drain(present.len() / 10..) {
                    let removed = remove::<K>(filter, &item);
                    assert!(removed || !K::IS_PERMANENT, "false negative");
                }
            }
            K::Growth::shrink(&mut both[0].0);
            K::Growth::shrink_in_steps(&mut both[1].0);
        }
        1 => {
            let before = other.0.to_bytes();
            let outcomes = both.each_ref().map(|(filter, _)| K::merge(filter, &other.0));
            assert_eq!(outcomes[0], outcomes[1]);
            if outcomes[0] == Some(Ok(())) {
                both.iter_mut().for_each(|(_, present)| present.extend(&other.1));
            }
            assert!(other.0.to_bytes() == before, "the source has changed");
        }
        _ => {
            for (filter, present) in both.iter_mut() {
                let slots = filter.slots();
                filter.clear();
                assert_eq!((filter.len(), filter.slots()), (0, slots));
                present.clear();
            }
        }
    }
}

/// Nothing that decides where an item goes is missing in a snapshot or in a clone, and it does not
/// matter which thread makes a call. So replicas stay equal.
fn replicas_stay_equal<K: Kind>() {
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
                let replica = |operations| {
                    let filter = builder.clone().build().expect("a small filter");
                    let mut present = Vec::new();
                    work::<K>(&filter, &mut present, operations, 1);
                    (filter, present)
                };
                let (filter, mut present) = replica(operations);
                if K::GROWS && limit.is_none() {
                    present.extend(crowd::<K>(&filter, 1));
                }
                let copy = reload::<K>(&filter.to_bytes());
                let mut both = [(filter, present.clone()), (copy, present)];
                for round in 0..4 {
                    let [(filter, present), (copy, others)] = &mut both;
                    let outcomes = work::<K>(filter, present, 5_000, round);
                    // Another thread has another number.
                    let of_copy = std::thread::scope(|scope| {
                        scope.spawn(|| work::<K>(copy, others, 5_000, round)).join()
                    });
                    assert!(outcomes == of_copy.expect("no panic"), "{filter:?} {copy:?}");
                    assert!(filter.to_bytes() == copy.to_bytes(), "{filter:?} {copy:?}");
                    change_both::<K>(&mut both, &replica(operations / 40), round as usize);
                    let [(filter, _), (copy, _)] = &mut both;
                    let bytes = filter.to_bytes();
                    assert!(bytes == copy.to_bytes(), "{filter:?} {copy:?}");
                    *copy = if round % 2 == 0 { copy.clone() } else { reload::<K>(&bytes) };
                    assert_eq!(copy.size_in_bytes(), filter.size_in_bytes());
                }
                let [(filter, present), _] = &both;
                let removed = present.iter().filter(|item| remove::<K>(filter, item)).count();
                assert!(removed == present.len() || !K::IS_PERMANENT, "false negative");
            }
        }
    }
}

fn reload<K: Kind>(bytes: &[u8]) -> Of<K> {
    loader::<K>().bytes(bytes).expect("its own snapshot")
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
                format!("the snapshot is of the type {saved}, not {expected}")
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
