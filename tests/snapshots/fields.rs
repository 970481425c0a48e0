//! Fields of snapshots that are not valid, behind right checksums.

use guira::{CuckooFilter, Layout, LoadError};

use super::common::{
    forge::{
        BITS, BUCKETS, CAPACITY, COPIES, EXISTING, HASHER_CHECK, HEADER, KIND, LEVEL, PLANNED,
        RESERVED, SEED, STRIPES, TARGET, VALUE_BITS, VERSION, amend, header_len, items, number,
        put, rest, rest_len, segment,
    },
    kind::{ExpiringSets, GrowingMaps, GrowingSets, Kind, Maps, Of, Sets, max_value},
    rng,
    saved::{filled, new, pushed, sample},
    settings,
    suite::on_saved_kinds,
};

on_saved_kinds! { invalid_fields_are_detected }

/// Changes a snapshot, corrects its checksums, and returns the error of loading it.
fn forged<K: Kind>(filter: &Of<K>, change: impl FnOnce(&mut Vec<u8>)) -> LoadError {
    let mut bytes = filter.to_bytes();
    change(&mut bytes);
    amend(&mut bytes);
    let error = pushed::<K>(&bytes, usize::MAX, &mut rng(1)).expect_err("an invalid field");
    assert!(!error.to_string().is_empty());
    error
}

/// The error of a snapshot with another number at an offset.
fn with<K: Kind>(filter: &Of<K>, at: usize, value: u64) -> LoadError {
    forged::<K>(filter, |bytes| put(bytes, at, value))
}

/// The error of a snapshot with another byte at an offset.
fn with_byte<K: Kind>(filter: &Of<K>, at: usize, value: u8) -> LoadError {
    forged::<K>(filter, |bytes| bytes[at] = value)
}

/// The name and the value of an invalid field.
#[track_caller]
fn invalid(error: LoadError) -> (&'static str, u64) {
    match error {
        LoadError::InvalidField { name, value, .. } => (name, value),
        other => panic!("{other:?}"),
    }
}

fn invalid_fields_are_detected<K: Kind>() {
    let filter = &sample::<K>();
    let bytes = filter.to_bytes();
    let (first, items) = (segment(0), items(&bytes));
    for buckets in [0, (1 << 32) + 1, 1 << 60, u64::MAX] {
        assert_eq!(invalid(with::<K>(filter, first + BUCKETS, buckets)), ("buckets", buckets));
    }
    for capacity in [0, 1 << 40, u64::MAX] {
        assert_eq!(invalid(with::<K>(filter, CAPACITY, capacity)), ("capacity", capacity));
    }
    for many in [1 << 40, u64::MAX] {
        assert_eq!(invalid(with::<K>(filter, items, many)), ("items", many));
    }
    for stripes in [12, u8::MAX] {
        let error = with_byte::<K>(filter, STRIPES, stripes);
        assert_eq!(invalid(error), ("stripes", stripes.into()));
    }
    assert_eq!(invalid(with_byte::<K>(filter, first + RESERVED + 2, 1)), ("reserved", 1 << 16));
    assert_eq!(invalid(with_byte::<K>(filter, first + LEVEL, 1)), ("level", 1));
    for (at, value) in [(0, 5), (1, 7), (BITS, 11), (BITS, 0), (VALUE_BITS, 5)] {
        let error = with_byte::<K>(filter, first + at, value);
        assert!(matches!(error, LoadError::UnknownLayout { .. }), "{error:?}");
    }
    for (at, value) in [(PLANNED, 0), (PLANNED, 34), (EXISTING, 0), (EXISTING, 34)] {
        assert!(matches!(with_byte::<K>(filter, at, value), LoadError::DamagedHeader));
    }
    assert!(matches!(with_byte::<K>(filter, KIND, 99), LoadError::UnknownKind(99)));
    // Of another kind, without what only the filter's own kind has.
    let of_another_kind = forged::<K>(filter, |bytes| {
        let rest = rest(bytes);
        bytes.drain(rest..rest + rest_len(bytes[KIND]));
        bytes[KIND] = if bytes[KIND] == 2 { 0 } else { 2 };
    });
    assert!(matches!(of_another_kind, LoadError::OtherKind { .. }), "{of_another_kind:?}");
    assert!(matches!(with_byte::<K>(filter, VERSION, 2), LoadError::UnknownVersion(2)));
    assert!(matches!(with::<K>(filter, 0, 0), LoadError::NotASnapshot));
    // A wrong number of items.
    let one_less = number(&bytes, items) - 1;
    assert!(matches!(with::<K>(filter, items, one_less), LoadError::InvalidBuckets));
    // Another seed means another hasher, and so does another check value.
    assert!(matches!(with::<K>(filter, SEED, 1), LoadError::OtherHasher));
    assert!(matches!(with::<K>(filter, HASHER_CHECK, 1), LoadError::OtherHasher));
}

#[test]
fn invalid_fields_of_one_kind_are_detected() {
    let (fixed, growing) = (sample::<Sets>(), sample::<GrowingMaps>());
    for copies in [8, 9, u64::MAX] {
        assert_eq!(invalid(with::<Sets>(&fixed, COPIES, copies)), ("copies", copies));
    }
    assert_eq!(invalid(with::<Sets>(&fixed, TARGET, 1)), ("target rate", 1));
    let splitting = sample::<GrowingSets>();
    for rate in [0.0, -0.1, 1.0, f64::NAN, f64::INFINITY, 1e-7] {
        let rate = rate.to_bits();
        assert_eq!(invalid(with::<GrowingMaps>(&growing, TARGET, rate)), ("target rate", rate));
        assert_eq!(invalid(with::<GrowingSets>(&splitting, TARGET, rate)), ("target rate", rate));
    }
    let first = segment(0);
    // Values where there are none, and none where there are some; and layouts that grow.
    let valued = Layout::with_values(4, 4).expect("a layout");
    let with_values = |bytes: &mut Vec<u8>| {
        bytes[first..first + 3].copy_from_slice(&[2, 4, valued.fingerprint_bits() as u8]);
        bytes[first + VALUE_BITS] = 4;
    };
    assert_eq!(invalid(forged::<Sets>(&fixed, with_values)), ("layout family", 2));
    assert_eq!(invalid(forged::<GrowingSets>(&splitting, with_values)), ("layout family", 2));
    let without_values = |bytes: &mut Vec<u8>| {
        bytes[first..first + 3].copy_from_slice(&[0, 4, 16]);
        bytes[first + VALUE_BITS] = 0;
    };
    let error = forged::<Maps>(&sample::<Maps>(), without_values);
    assert_eq!(invalid(error), ("layout family", 0));
    let error = forged::<GrowingSets>(&splitting, without_values);
    assert_eq!(invalid(error), ("layout family", 0));
    let grows = |bytes: &mut Vec<u8>| {
        bytes[first..first + 3].copy_from_slice(&[3, 4, 14]);
        bytes[first + VALUE_BITS] = 0;
    };
    assert_eq!(invalid(forged::<Sets>(&fixed, grows)), ("layout family", 3));
    assert_eq!(invalid(forged::<Maps>(&sample::<Maps>(), grows)), ("layout family", 3));
    assert_eq!(invalid(forged::<GrowingMaps>(&growing, grows)), ("layout family", 3));
}

/// Numbers that no table has that splits its buckets.
#[test]
fn invalid_sizes_are_detected() {
    let filter = sample::<GrowingSets>();
    let bytes = filter.to_bytes();
    let at = |nth: usize| rest(&bytes) + 8 * nth;
    let [first, size, _, most, load] = [0, 1, 2, 3, 4].map(|nth| number(&bytes, at(nth)));
    assert_eq!((size >> 32, load, most), (0, 205, first << 15));
    assert!((1..first).contains(&size));
    let with = |nth: usize, value: u64| invalid(with::<GrowingSets>(&filter, at(nth), value));
    for wrong in [0, (1 << 32) + 1, u64::MAX] {
        assert_eq!(with(0, wrong), ("first buckets", wrong));
    }
    for level in [16, 17, u64::from(u32::MAX)] {
        assert_eq!(with(1, level << 32), ("level", level));
    }
    for split in [first, first + 1, u64::from(u32::MAX)] {
        assert_eq!(with(1, split), ("split buckets", split));
    }
    for wrong in [0, first, first + size - 1, (first << 15) + 1, u64::MAX] {
        assert_eq!(with(3, wrong), ("largest number of buckets", wrong));
    }
    for wrong in [0, 257, u64::from(u32::MAX)] {
        assert_eq!(with(4, wrong), ("load", wrong));
    }
    // Fewer words than the size needs, and more than there can be.
    for words in [first + size - 1, 2 * first + 1] {
        let error = forged::<GrowingSets>(&filter, |bytes| put(bytes, segment(0) + BUCKETS, words));
        assert_eq!(invalid(error), ("buckets", words));
    }
    // Fewer ghosts than slots, or as many, or more.
    for ghosts in [1, 100, 1 << 40, u64::MAX] {
        let mut bytes = bytes.clone();
        put(&mut bytes, at(2), ghosts);
        amend(&mut bytes);
        let loaded = pushed::<GrowingSets>(&bytes, usize::MAX, &mut rng(1)).expect("any number");
        assert_eq!(loaded.len(), filter.len().saturating_sub(ghosts.min(1 << 40) as usize));
    }
}

/// Words whose level is not that of their place, and slots without a marker.
#[test]
fn invalid_words_of_a_table_that_splits_are_detected() {
    let filter = sample::<GrowingSets>();
    let bytes = filter.to_bytes();
    let [first, split] = [0, 1].map(|nth| number(&bytes, rest(&bytes) + 8 * nth));
    let word = |bucket: u64| header_len(&bytes) + 8 * bucket as usize;
    // A bucket that has been split, one that has not, and a child.
    for (bucket, level) in [(0, 1), (split - 1, 1), (split, 0), (first - 1, 0), (first, 1)] {
        let at = word(bucket);
        let original = number(&bytes, at);
        assert_eq!(original >> 60, level, "bucket {bucket}");
        for other in (0..16).filter(|&other| other != level) {
            let error = forged::<GrowingSets>(&filter, |bytes| {
                put(bytes, at, original & !(15 << 60) | other << 60);
            });
            assert!(matches!(error, LoadError::InvalidBuckets), "{bucket}, {other}: {error:?}");
        }
        // An empty slot before an occupied one; a slot of nothing but a core.
        for slots in [1 << 30, 0xff, 1 << 20 | 0xff] {
            let more = filter_items(&bytes, original, slots);
            let error = forged::<GrowingSets>(&filter, |bytes| {
                put(bytes, at, level << 60 | slots);
                let items = items(bytes);
                put(bytes, items, more);
            });
            assert!(matches!(error, LoadError::InvalidBuckets), "{bucket}: {error:?}");
        }
    }
}

/// The number of occupied slots if the slots of a word, three of 20 bits, were others.
fn filter_items(bytes: &[u8], original: u64, slots: u64) -> u64 {
    let occupied = |word: u64| (0..3).filter(|lane| word >> (20 * lane) & 0xf_ffff != 0).count();
    number(bytes, items(bytes)) + occupied(slots) as u64 - occupied(original) as u64
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
        let builder = CuckooFilter::builder().capacity(1).layout(layout).seed(1);
        let (filter, _) = filled::<Sets>(builder, 0);
        let error = forged::<Sets>(&filter, |bytes| {
            put(bytes, HEADER, word);
            put(bytes, HEADER - 16, 1);
        });
        assert!(matches!(error, LoadError::InvalidBuckets), "{layout:?} {word:#x}: {error:?}");
    }
}

/// Of a slot that is not empty, the fingerprint is not zero, whatever its value or its stamp is.
#[test]
fn a_slot_without_a_fingerprint_is_detected() {
    fn check<K: Kind>() {
        for layout in K::layouts() {
            let (filter, _) = filled::<K>(settings::<K>(1, layout, 1), 0);
            let largest = max_value(filter.layout());
            let forge = |slot: u64| {
                let mut bytes = filter.to_bytes();
                let (word, items) = (header_len(&bytes), items(&bytes));
                put(&mut bytes, word, slot);
                put(&mut bytes, items, 1);
                amend(&mut bytes);
                pushed::<K>(&bytes, 1 << 20, &mut rng(1))
            };
            for value in [1, largest].into_iter().filter(|&value| (1..=largest).contains(&value)) {
                let error = forge(value.into()).expect_err("no fingerprint");
                assert!(matches!(error, LoadError::InvalidBuckets), "{error:?} in {filter:?}");
            }
            // The smallest fingerprint, with the smallest value and with the largest one.
            let smallest = 1 << filter.layout().value_bits();
            forge(smallest).expect("a fingerprint");
            forge(smallest | u64::from(largest)).expect("a fingerprint");
        }
    }
    check::<Maps>();
    check::<ExpiringSets>();
}

#[test]
fn invalid_clocks_are_detected() {
    let builder = new::<ExpiringSets>().capacity(100).window(5).seed(7);
    let (filter, _) = filled::<ExpiringSets>(builder, 1);
    // 1 has stamps of 2 bits, and 6 of 4 bits.
    for window in [0, 1, 6, 254, 1 << 32, 5 + (1 << 32), u64::MAX] {
        assert_eq!(invalid(with::<ExpiringSets>(&filter, COPIES, window)), ("window", window));
    }
    for now in [0, 4, 1 << 63, u64::MAX] {
        assert_eq!(invalid(with::<ExpiringSets>(&filter, TARGET, now)), ("generation", now));
    }
    // More time than an interval has counted: a generation would have begun.
    for (interval, elapsed) in [(1, 1), (10, 10), (10, u64::MAX)] {
        let error = forged::<ExpiringSets>(&filter, |bytes| {
            let items = items(bytes);
            put(bytes, items + 8, interval);
            put(bytes, items + 16, elapsed);
        });
        assert_eq!(invalid(error), ("elapsed time", elapsed));
    }
    // A layout without stamps.
    let sets = sample::<Sets>().to_bytes();
    let error = forged::<ExpiringSets>(&filter, |bytes| {
        bytes[segment(0)..segment(1)].copy_from_slice(&sets[segment(0)..segment(1)]);
    });
    assert_eq!(invalid(error), ("layout family", 0));
    // Other windows with as many bits, and any generation in between, are valid.
    for (window, now) in [(2, 2), (5, (1 << 63) - 1)] {
        let mut bytes = filter.to_bytes();
        put(&mut bytes, COPIES, window);
        put(&mut bytes, TARGET, now);
        amend(&mut bytes);
        let loaded = pushed::<ExpiringSets>(&bytes, 1 << 20, &mut rng(1)).expect("valid");
        assert_eq!((u64::from(loaded.window()), loaded.generation()), (window, now));
        assert_eq!(loaded.advance(), now + 1);
    }
}
