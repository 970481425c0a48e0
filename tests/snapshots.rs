//! Snapshots: a saved filter is loaded as it was, also if it was saved beside writers, and every
//! damage is an error.

#![cfg(feature = "std")]

mod common;

use std::{
    io::Read,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use common::{
    Watchdog,
    forge::{HEADER, amend},
    rng, scaled,
};
use guira::{CuckooFilter, Layout, LoadError, StableHashBuilder};
use rand::{Rng, RngExt};

/// Returns a filter at its capacity, with one item twice, and the inserted keys.
fn filled(layout: Layout, capacity: usize) -> (CuckooFilter, Vec<u64>) {
    let builder = CuckooFilter::builder().capacity(capacity).layout(layout);
    let filter = builder.seed(capacity as u64).build().expect("a small filter");
    let mut keys: Vec<u64> = (0..capacity as u64).collect();
    keys.extend(keys.first().copied());
    keys.retain(|key| filter.insert(key).is_ok());
    (filter, keys)
}

#[test]
fn a_saved_filter_is_loaded() {
    for &layout in Layout::ALL {
        for capacity in [1, 2, 7, 100, 10_000] {
            let (filter, keys) = filled(layout, capacity);
            let bytes = filter.to_bytes();
            let slots = filter.slots();
            assert_eq!(bytes.len(), HEADER + 8 * slots / layout.slots_per_bucket() as usize + 8);
            let copy = CuckooFilter::from_bytes(&bytes).expect("its own snapshot");
            assert_eq!(
                (copy.len(), copy.capacity(), copy.slots(), copy.layout()),
                (keys.len(), capacity, slots, layout)
            );
            assert!(keys.iter().all(|key| copy.contains(key)));
            assert!((0..1_000).all(|key: u64| copy.count(&key) == filter.count(&key)));
            assert_eq!(copy.to_bytes(), bytes);
            // Later operations have the same outcomes as on the original.
            let all: Vec<u64> = (capacity as u64..2 * capacity as u64).collect();
            let outcomes = [&filter, &copy].map(|filter| {
                assert!(keys.iter().all(|key| filter.remove(key)));
                all.iter().map(|key| filter.insert(key)).collect::<Vec<_>>()
            });
            assert_eq!(outcomes[0], outcomes[1]);
        }
    }
}

/// Tables with memory from every source: the allocator, small pages, huge pages, and both.
#[test]
fn large_snapshots_are_loaded_from_readers() {
    for layout in [Layout::Plain4x16, Layout::SemiSorted6x12] {
        for bytes in [100_000, 700_000, 2 << 20, (2 << 20) + 1_000, 5_500_000] {
            let capacity = bytes / 8 * layout.slots_per_bucket() as usize * 9 / 10;
            let filter = CuckooFilter::builder().capacity(capacity).layout(layout).build();
            let filter = filter.expect("some megabytes");
            for key in 0..10_000 {
                filter.insert(&key).expect("an empty slot");
            }
            let saved = filter.to_bytes();
            let copy = CuckooFilter::load(&saved[..]).expect("its own snapshot");
            assert!(copy.to_bytes() == saved, "{layout:?}, {bytes} bytes");
        }
    }
}

/// A reader that returns one byte, then two, then one, and so on.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let some = buffer.len().min(1 + self.0.len() % 2);
        self.0.read(&mut buffer[..some])
    }
}

#[test]
fn reading_ends_with_the_snapshot() {
    let (filter, _) = filled(Layout::SemiSorted5x14, 500);
    let bytes = filter.to_bytes();
    let twice = [&bytes[..], &bytes[..]].concat();
    let mut reader = Slow(&twice);
    for _ in 0..2 {
        let copy = CuckooFilter::load(&mut reader).expect("one snapshot after the other");
        assert_eq!(copy.to_bytes(), bytes);
    }
    assert!(matches!(
        CuckooFilter::load(&mut reader),
        Err(LoadError::Truncated { received: 0, .. })
    ));
    match CuckooFilter::from_bytes(&twice) {
        Err(LoadError::TrailingBytes { more, .. }) => assert_eq!(more, bytes.len() as u64),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_error_of_the_reader_is_returned() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("unplugged"))
        }
    }
    let (filter, _) = filled(Layout::Plain4x16, 100);
    let bytes = filter.to_bytes();
    for at in [0, 10, HEADER, HEADER + 5] {
        match CuckooFilter::load((&bytes[..at]).chain(Failing)) {
            Err(LoadError::Io(error)) => assert_eq!(error.to_string(), "unplugged"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn truncation_at_every_length_is_detected() {
    let (filter, _) = filled(Layout::Plain5x12, 60);
    let bytes = filter.to_bytes();
    for at in 0..bytes.len() {
        for outcome in [CuckooFilter::from_bytes(&bytes[..at]), CuckooFilter::load(&bytes[..at])] {
            match outcome {
                Err(LoadError::Truncated { received, .. }) => assert_eq!(received, at as u64),
                other => panic!("{at} bytes: {other:?}"),
            }
        }
    }
}

#[test]
fn every_flipped_bit_is_detected() {
    for layout in [Layout::Plain4x16, Layout::SemiSorted6x12] {
        let (filter, _) = filled(layout, 60);
        let mut bytes = filter.to_bytes();
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let error = CuckooFilter::from_bytes(&bytes).expect_err("a flipped bit");
            let byte = bit / 8;
            let expected = match error {
                LoadError::NotASnapshot => byte < 8,
                LoadError::UnknownVersion(_) => (8..12).contains(&byte),
                LoadError::DamagedHeader => (12..HEADER).contains(&byte),
                LoadError::DamagedBuckets => byte >= HEADER,
                _ => false,
            };
            assert!(expected, "bit {bit}: {error:?}");
            bytes[byte] ^= 1 << (bit % 8);
        }
        CuckooFilter::from_bytes(&bytes).expect("the original bits");
    }
}

/// Applies random damage: bytes are overwritten, cut, pasted or repeated. A snapshot is accepted
/// only if the damage changed nothing.
fn corrupt(rounds: u64) {
    let snapshots = Layout::ALL.iter().map(|&layout| filled(layout, 40).0.to_bytes());
    let snapshots: Vec<Vec<u8>> = snapshots.collect();
    let mut rng = rng(17);
    let mut same = 0;
    for round in 0..rounds {
        let original = &snapshots[rng.random_range(0..snapshots.len())];
        let mut bytes = original.clone();
        let length = bytes.len();
        let at = rng.random_range(0..length);
        let until = rng.random_range(at..length.min(at + 24)) + 1;
        match rng.random_range(0..7) {
            0 => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => rng.fill_bytes(&mut bytes[at..until]),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..until)),
            4 => bytes.copy_within(at..until, rng.random_range(0..length - (until - at))),
            5 => bytes[at..until].fill(if rng.random() { 0 } else { 0xff }),
            _ => {
                let other = &snapshots[rng.random_range(0..snapshots.len())];
                bytes.truncate(at);
                bytes.extend(&other[at.min(other.len())..]);
            }
        }
        if let Ok(filter) = CuckooFilter::from_bytes(&bytes) {
            // (A paste at the first byte makes it another valid snapshot.)
            assert!(snapshots.contains(&bytes), "round {round}: accepted {bytes:x?}");
            assert_eq!(filter.to_bytes(), bytes, "round {round}");
            same += 1;
        }
    }
    // Some damage changes nothing, so valid snapshots are accepted as well.
    assert!(same > 0 && same < rounds / 2, "{same} of {rounds} snapshots were accepted");
}

#[test]
fn random_damage_is_detected() {
    corrupt(scaled(20_000, 500_000));
}

#[test]
#[ignore = "long: ten million snapshots; run it in release mode"]
fn long_random_damage_is_detected() {
    corrupt(10_000_000);
}

/// Changes a snapshot, corrects its checksums, and returns the error of loading it.
fn forged(change: impl FnOnce(&mut Vec<u8>)) -> LoadError {
    let (filter, _) = filled(Layout::Plain4x16, 100);
    let mut bytes = filter.to_bytes();
    change(&mut bytes);
    amend(&mut bytes);
    let error = CuckooFilter::load(&bytes[..]).expect_err("an invalid field");
    assert!(!error.to_string().is_empty());
    error
}

/// Returns the error of a snapshot with other eight bytes at this position of the header.
fn with(at: usize, value: u64) -> LoadError {
    forged(|bytes| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()))
}

#[test]
fn invalid_fields_are_detected() {
    let field = |error: LoadError| match error {
        LoadError::InvalidField { name, value, .. } => (name, value),
        other => panic!("{other:?}"),
    };
    for buckets in [0, (1 << 32) + 1, 1 << 60, u64::MAX] {
        assert_eq!(field(with(16, buckets)), ("buckets", buckets));
    }
    for capacity in [0, 1 << 40, u64::MAX] {
        assert_eq!(field(with(32, capacity)), ("capacity", capacity));
    }
    for items in [1 << 40, u64::MAX] {
        assert_eq!(field(with(40, items)), ("items", items));
    }
    for copies in [8, 9, 255] {
        assert_eq!(field(forged(|bytes| bytes[15] = copies)), ("copies", copies.into()));
    }
    for (at, value) in [(12, 1), (12, 2), (13, 5), (14, 15)] {
        let error = forged(|bytes| bytes[at] = value);
        assert!(matches!(error, LoadError::UnknownLayout { .. }), "{error:?}");
    }
    let error = forged(|bytes| bytes[8] = 2);
    assert!(matches!(error, LoadError::UnknownVersion(2)), "{error:?}");
    assert!(matches!(with(0, 0), LoadError::NotASnapshot));
    // A wrong number of items, and more buckets than follow.
    assert!(matches!(with(40, 5), LoadError::InvalidBuckets));
    assert!(matches!(with(16, 1_000), LoadError::Truncated { .. }));
    // Another seed means another hasher, and so does another check value.
    assert!(matches!(with(24, 1), LoadError::OtherHasher));
    assert!(matches!(with(48, 1), LoadError::OtherHasher));
}

/// Words that the library never makes, in snapshots that are valid otherwise.
#[test]
fn invalid_buckets_are_detected() {
    let cases = [
        // An empty slot before an occupied one.
        (Layout::Plain4x16, 0x0001_0000_u64),
        (Layout::Plain6x10, 1 << 50),
        // A bit above the slots.
        (Layout::Plain6x10, 1 << 60 | 1),
        (Layout::SemiSorted3x22, 1 << 10 | 0x330),
        // A code above the last one, a nibble of an empty slot, an empty slot before an occupied
        // one.
        (Layout::SemiSorted6x12, 1 << 16 | 0xd3f8),
        (Layout::SemiSorted6x12, 1 << 16 | 0xd3f7),
        (Layout::SemiSorted5x14, 1 << 24),
    ];
    for (layout, word) in cases {
        let filter =
            CuckooFilter::builder().capacity(1).layout(layout).build().expect("a small filter");
        let mut bytes = filter.to_bytes();
        bytes[HEADER..HEADER + 8].copy_from_slice(&word.to_le_bytes());
        bytes[40] = 1;
        amend(&mut bytes);
        let outcome = CuckooFilter::from_bytes(&bytes);
        assert!(
            matches!(outcome, Err(LoadError::InvalidBuckets)),
            "{layout:?} {word:#x}: {outcome:?}"
        );
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
    let same = CuckooFilter::load_with_hasher(&bytes[..], stable(1)).expect("the same hasher");
    assert!(same.contains("x"));
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

/// The format and the stable hasher do not change: two files were saved by an earlier version.
#[test]
fn golden_files_are_reproduced() {
    let files: [(Layout, &[u8]); 2] = [
        (Layout::Plain5x12, include_bytes!("golden/plain-5x12.guira")),
        (Layout::SemiSorted6x12, include_bytes!("golden/semi-sorted-6x12.guira")),
    ];
    for (layout, golden) in files {
        let builder = CuckooFilter::builder().capacity(50).layout(layout).seed(7);
        let builder = builder.hasher_with(StableHashBuilder::with_seed);
        let filter = builder.build().expect("a small filter");
        for number in 0..20_u32 {
            filter.insert(&number).expect("an empty slot");
            filter.insert(&format!("key {number}")).expect("an empty slot");
        }
        assert!(filter.to_bytes() == golden, "{layout:?}: the bytes differ from the golden file");
        let loaded = CuckooFilter::from_bytes_with(golden, StableHashBuilder::with_seed);
        let loaded = loaded.expect("a snapshot");
        assert!((0..20_u32).all(|number| loaded.contains(&number)));
        assert!((0..20).all(|number| loaded.contains(&format!("key {number}"))));
    }
}

/// Saves beside writers that insert, relocate and remove at 95 % load. Items that stay in the
/// filter are in every snapshot.
fn save_beside_writers(layout: Layout, rounds: usize) {
    const BUCKETS: usize = 512;
    let slots_per_bucket = layout.slots_per_bucket() as usize;
    let capacity = BUCKETS * slots_per_bucket * 96 / 100 - 40;
    let filter = CuckooFilter::builder().capacity(capacity).layout(layout).seed(3).build();
    let filter = filter.expect("a small filter");
    let permanent: Vec<u64> = (0..capacity as u64 / 2).collect();
    assert!(permanent.iter().all(|key| filter.insert(key).is_ok()));
    let changing = filter.slots() * 95 / 100 - permanent.len();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 1..3 {
            let (filter, done) = (&filter, &done);
            scope.spawn(move || {
                let mut mine = std::collections::VecDeque::new();
                for key in (writer << 32).. {
                    if done.load(Relaxed) {
                        break;
                    }
                    if filter.insert(&key).is_ok() {
                        mine.push_back(key);
                    }
                    if mine.len() > changing / 2 {
                        let oldest: u64 = mine.pop_front().expect("more than none");
                        assert!(filter.remove(&oldest));
                    }
                }
            });
        }
        for round in 0..rounds {
            let copy = CuckooFilter::from_bytes(&filter.to_bytes()).expect("a snapshot");
            let missing = permanent.iter().filter(|key| !copy.contains(key)).count();
            assert_eq!(missing, 0, "{layout:?}, round {round}");
        }
        done.store(true, Relaxed);
    });
}

#[test]
fn snapshots_beside_writers_are_complete() {
    let _watchdog = Watchdog::new("snapshots_beside_writers_are_complete");
    for layout in [Layout::Plain4x16, Layout::SemiSorted6x12] {
        save_beside_writers(layout, scaled(30, 300));
    }
}
