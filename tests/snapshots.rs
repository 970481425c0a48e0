//! Snapshots: a saved filter is loaded as it was, whatever its engine, and however it is saved and
//! loaded.

#![cfg(feature = "std")]

mod common;

use std::{fmt::Debug, io::Read};

use common::{
    Subject,
    forge::{BLOCK, HEADER},
    rng,
    saved::{Slow, Stable, filled, loaded, saved, small_fixed, small_growing},
};
use guira::{
    CuckooFilter, Filter, FilterBuilder, Fixed, Growing, GrowingFilter, Layout, LoadError,
    StableHashBuilder,
};
use rand::RngExt;

/// What a filter tells about itself.
fn description<E: Subject>(filter: &Stable<E>) -> impl PartialEq + Debug {
    let segments: Vec<guira::Segment> = filter.segments().collect();
    let rate = filter.false_positive_rate().to_bits();
    // Statistics start anew when a filter is loaded.
    let debug = (!cfg!(feature = "stats")).then(|| format!("{filter:?}"));
    (filter.len(), filter.capacity(), segments, rate, debug)
}

/// Saves and loads filters in all ways, and goes on with the originals and the copies alike.
fn saved_filters_are_loaded<E: Subject>(builders: Vec<(FilterBuilder<E>, u64)>) {
    let mut rng = rng(4);
    for (builder, keys) in builders {
        let (mut filter, mut keys) = filled(builder, keys);
        for remove in [false, true] {
            if remove {
                // A third of the keys, whichever segment they are in.
                let removed: Vec<u64> = keys.extract_if(.., |key| *key % 3 == 1).collect();
                assert!(removed.iter().all(|key| filter.remove(key)));
            }
            let bytes = saved(&mut filter, &mut rng);
            let copy = loaded::<E>(&bytes, &mut rng).expect("its own snapshot");
            assert_eq!(description(&copy), description(&filter));
            assert!(keys.iter().all(|key| copy.contains(key)));
            assert!((0..1_000).all(|key: u64| copy.count(&key) == filter.count(&key)));
            assert_eq!(copy.to_bytes(), bytes);
            // The same operations have the same outcomes, and lead to the same snapshot.
            let clone = filter.clone();
            let outcomes = [&clone, &copy].map(|filter| {
                assert!(keys.iter().all(|key| filter.remove(key)));
                let added: Vec<_> = (5_000..6_500_u64).map(|key| filter.insert(&key)).collect();
                let unique = filter.insert_unique_mask(&[4_999, 5_000, 1 << 20]);
                filter.try_extend(7_000..7_010_u64).ok();
                (added, unique, filter.to_bytes())
            });
            assert!(outcomes[0] == outcomes[1]);
        }
    }
}

#[test]
fn saved_fixed_filters_are_loaded() {
    saved_filters_are_loaded(small_fixed());
}

#[test]
fn saved_growing_filters_are_loaded() {
    saved_filters_are_loaded(small_growing());
}

/// Tables with memory from every source: the allocator, small pages, huge pages, and both. Blocks
/// that are full, and those that lack a word or have only one.
#[test]
fn large_snapshots_are_loaded() {
    for layout in [Layout::Plain4x16, Layout::SemiSorted6x12] {
        let sizes = [BLOCK - 8, BLOCK, BLOCK + 8, 2 * BLOCK, 700_000, 2 << 20, (2 << 20) + 1_000];
        for bytes in sizes.into_iter().chain([5_500_000]) {
            let capacity = common::capacity_of(layout, bytes / 8);
            let builder = CuckooFilter::builder().capacity(capacity).layout(layout).seed(9);
            let (mut filter, _) = filled(builder, 10_000.min(capacity as u64 / 2));
            let saved = saved(&mut filter, &mut rng(1));
            let blocks = (8 * filter.slots() / layout.slots_per_bucket() as usize).div_ceil(BLOCK);
            assert_eq!(saved.len(), HEADER + bytes / 8 * 8 + 8 * blocks, "{layout:?}, {bytes}");
            let copy = loaded::<Fixed>(&saved, &mut rng(2)).expect("its own snapshot");
            assert!(copy.to_bytes() == saved, "{layout:?}, {bytes} bytes");
        }
    }
    let (mut filter, keys) = filled(GrowingFilter::builder().capacity(1_000).seed(8), 400_000);
    let saved = saved(&mut filter, &mut rng(1));
    let copy = loaded::<Growing>(&saved, &mut rng(2)).expect("its own snapshot");
    assert!(copy.to_bytes() == saved && keys.iter().all(|key| copy.contains(key)));
}

/// Everything that decides an answer is in a snapshot, and nothing else.
#[test]
fn equal_operations_lead_to_equal_bytes() {
    fn check<E: Subject>(builder: &FilterBuilder<E>, keys: u64) {
        let [one, other] = [false, true].map(|huge_pages| {
            let builder = builder.clone().huge_pages(huge_pages);
            let (filter, keys) = filled(builder, keys);
            assert!(keys.iter().filter(|key| *key % 2 == 0).all(|key| filter.remove(key)));
            filter.try_extend(9_000..9_100_u64).ok();
            filter.insert_unique_batch(&[1_u64, 9_000, 3], &mut [false; 3]).ok();
            filter
        });
        assert_eq!(one.to_bytes(), other.to_bytes());
        assert_eq!(one.to_bytes(), one.clone().to_bytes());
    }
    for (builder, keys) in small_fixed() {
        check(&builder, keys);
    }
    for (builder, keys) in small_growing() {
        check(&builder, keys);
    }
}

/// Inserts and removes at random. Returns the outcomes. `present` are the items that may be
/// removed.
fn work<E: Subject>(
    filter: &Stable<E>,
    present: &mut Vec<u32>,
    operations: usize,
    seed: u64,
) -> Vec<Option<bool>> {
    let mut rng = rng(seed);
    let mut operation = || {
        let key = rng.random_range(0..1_000_000);
        let added = match rng.random_range(0..8) {
            0..3 => filter.insert(&key).ok().map(|()| true),
            3 => filter.insert_unique(&key).ok(),
            4 => Some(filter.insert_batch(&[key]).is_ok()),
            _ if present.is_empty() => None,
            _ => {
                let key = present.swap_remove(rng.random_range(0..present.len()));
                assert!(filter.remove(&key), "false negative");
                return Some(filter.contains(&key));
            }
        };
        if added == Some(true) {
            present.push(key);
        }
        added
    };
    (0..operations).map(|_| operation()).collect()
}

/// Nothing that decides where an item goes is missing in a snapshot, so replicas stay equal.
#[test]
fn a_loaded_filter_goes_on_as_the_saved_one() {
    fn check<E: Subject>(builder: &FilterBuilder<E>, operations: usize) {
        for writers in [None, Some(1), Some(9)] {
            let builder = builder.clone();
            let builder = if let Some(n) = writers { builder.writers(n) } else { builder };
            let (filter, _) = filled(builder.seed(3), 0);
            let mut present = Vec::new();
            work(&filter, &mut present, operations, 1);
            let copy =
                Filter::<E, _>::from_bytes_with(&filter.to_bytes(), StableHashBuilder::with_seed)
                    .expect("its own snapshot");
            let outcomes = work(&filter, &mut present.clone(), 10_000, 4);
            // Another thread has another number.
            let others = std::thread::scope(|scope| {
                scope.spawn(|| work(&copy, &mut present.clone(), 10_000, 4)).join()
            });
            assert!(outcomes == others.expect("no panic"), "{filter:?} {copy:?}");
            assert!(filter.to_bytes() == copy.to_bytes(), "{filter:?} {copy:?}");
        }
    }
    for layout in [Layout::Plain5x12, Layout::SemiSorted6x12, Layout::Plain4x16] {
        // With a quarter more operations that insert than that remove.
        for (capacity, operations) in [(30_000, 20_000), (5_000, 40_000), (400_000, 400)] {
            let builder = CuckooFilter::builder().capacity(capacity).layout(layout);
            check(&builder, operations);
        }
    }
    for (capacity, operations) in [(10, 20_000), (1_000, 60_000), (4_000, 5_000)] {
        let builder = GrowingFilter::builder().capacity(capacity).false_positive_rate(0.01);
        check(&builder, operations);
        check(&builder.growth_factor(4).max_copies(2), operations);
    }
}

/// A cap on memory is not saved: neither do the bytes depend on it, nor what is loaded.
#[test]
fn a_snapshot_has_no_cap() {
    let builder = GrowingFilter::builder().capacity(100).seed(2);
    let (capped, keys) = filled(builder.clone().max_bytes(30_000), 50_000);
    let free = builder.hasher_with(StableHashBuilder::with_seed).build().expect("memory");
    free.try_extend(&keys).expect("room");
    assert!(keys.len() < 50_000 && capped.next_growth().is_none() && free.next_growth().is_some());
    let bytes = capped.to_bytes();
    assert!(free.to_bytes() == bytes);
    let copy = loaded::<Growing>(&bytes, &mut rng(1)).expect("its own snapshot");
    assert_eq!(copy.next_growth(), free.next_growth());
    copy.set_max_bytes(Some(30_000));
    assert_eq!(copy.next_growth(), None);
}

#[test]
fn reading_ends_with_the_snapshot() {
    fn check<E: Subject>(builder: FilterBuilder<E>) {
        let bytes = filled(builder, 3_000).0.to_bytes();
        let load =
            |reader: &mut dyn Read| Filter::<E, _>::load_with(reader, StableHashBuilder::with_seed);
        let twice = [&bytes[..], &bytes[..]].concat();
        let mut reader = Slow(&twice);
        for _ in 0..2 {
            let copy = load(&mut reader).expect("one snapshot after the other");
            assert_eq!(copy.to_bytes(), bytes);
        }
        let end = load(&mut reader);
        assert!(matches!(end, Err(LoadError::Truncated { received: 0, .. })), "{end:?}");

        let whole = Filter::<E, _>::from_bytes_with(&twice, StableHashBuilder::with_seed);
        let mut loader = Filter::<E, _>::loader_with(usize::MAX, StableHashBuilder::with_seed);
        for error in [whole.expect_err("more"), loader.push(&twice).expect_err("more")] {
            match error {
                LoadError::TrailingBytes { more, .. } => assert_eq!(more, bytes.len() as u64),
                other => panic!("{other:?}"),
            }
        }
        let mut loader = Filter::<E, _>::loader_with(usize::MAX, StableHashBuilder::with_seed);
        loader.push(&bytes).expect("its own snapshot");
        loader.push(&[]).expect("nothing more");
        assert!(matches!(loader.push(&[0]), Err(LoadError::TrailingBytes { more: 1, .. })));
        assert_eq!(loader.finish().expect("all was pushed before").to_bytes(), bytes);
    }
    check(CuckooFilter::builder().capacity(5_000).layout(Layout::SemiSorted5x14).seed(1));
    check(GrowingFilter::builder().capacity(100).seed(1));
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
            match GrowingFilter::load((&bytes[..at]).chain(Failing(kind))) {
                Err(LoadError::Io(error)) => {
                    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn another_kind_of_filter_is_refused() {
    let fixed = CuckooFilter::with_capacity(100).to_bytes();
    let growing = GrowingFilter::with_capacity(100).to_bytes();
    let error = CuckooFilter::from_bytes(&growing).expect_err("a growing filter");
    assert_eq!(error.to_string(), "the snapshot is of the type GrowingFilter, not CuckooFilter");
    let error = GrowingFilter::load(&fixed[..]).expect_err("a fixed filter");
    assert_eq!(error.to_string(), "the snapshot is of the type CuckooFilter, not GrowingFilter");
}

#[test]
fn a_loader_keeps_its_limit() {
    let (filter, _) = filled(GrowingFilter::builder().capacity(100).seed(1), 5_000);
    let bytes = filter.to_bytes();
    let buckets = |segment: guira::Segment| {
        8 * segment.slots as u64 / u64::from(segment.layout.slots_per_bucket())
    };
    let needed: u64 = filter.segments().map(buckets).sum();
    let limited = |limit: u64| {
        let limit = limit.try_into().expect("a small number");
        let mut loader = GrowingFilter::loader_with(limit, StableHashBuilder::with_seed);
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

#[test]
fn another_hasher_is_refused() {
    let stable = |seed| StableHashBuilder::with_seed(seed);
    let filter =
        CuckooFilter::builder().capacity(50).hasher(stable(1)).build().expect("a small filter");
    filter.insert("x").expect("an empty slot");
    let bytes = filter.to_bytes();
    assert!(matches!(CuckooFilter::from_bytes(&bytes), Err(LoadError::OtherHasher)));
    let other = CuckooFilter::from_bytes_with_hasher(&bytes, stable(2));
    assert!(matches!(other, Err(LoadError::OtherHasher)));
    let mut other = CuckooFilter::loader_with_hasher(1 << 20, stable(2));
    assert!(matches!(other.push(&bytes), Err(LoadError::OtherHasher)));
    let same = CuckooFilter::load_with_hasher(&bytes[..], stable(1)).expect("the same hasher");
    assert!(same.contains("x"));
    let mut same = CuckooFilter::loader_with_hasher(1 << 20, stable(1));
    same.push(&bytes).expect("the same hasher");
    assert!(same.finish().expect("the same hasher").contains("x"));
}

/// A hasher that is made from the filter's seed, given or drawn, is made again from a snapshot.
#[test]
fn a_hasher_with_the_filters_seed_needs_no_other_seed() {
    for seed in [None, Some(3)] {
        let builder = CuckooFilter::builder().capacity(50);
        let builder = builder.hasher_with(StableHashBuilder::with_seed);
        let builder = if let Some(seed) = seed { builder.seed(seed) } else { builder };
        let filter = builder.build().expect("a small filter");
        filter.insert("x").expect("an empty slot");
        let bytes = filter.to_bytes();
        let copies = [
            CuckooFilter::from_bytes_with(&bytes, StableHashBuilder::with_seed),
            CuckooFilter::load_with(&bytes[..], StableHashBuilder::with_seed),
        ];
        for copy in copies.map(|copy| copy.expect("the same hasher")) {
            assert!(copy.contains("x") && copy.hasher() == filter.hasher());
        }
        assert!(matches!(CuckooFilter::from_bytes(&bytes), Err(LoadError::OtherHasher)));
        let another = CuckooFilter::from_bytes_with(&bytes, |seed| {
            StableHashBuilder::with_seed(seed.wrapping_add(1))
        });
        assert!(matches!(another, Err(LoadError::OtherHasher)));
    }
}
