//! Fields of snapshots that are not valid, behind right checksums.

use guira::{CuckooFilter, KeyTypes, Layout, LoadError};

use super::common::{
    forge::{
        BITS, BOUND, CAPACITY, CLEAN, CONTENTS, COPIES, END, FIRST, GENERATION, GHOSTS, GROWTH,
        HASHER_CHECKS, HEADER, LAYOUT, LENGTH, LOAD, MAX_BUCKETS, OCCUPIED, REFRESHED, SEED, SIZE,
        SLOTS, STRIPES, SWEPT, TARGET, TIME_TO_LIVE, TIMES, VALUE_BITS, VERSION, WINDOW, WORDS,
        amend, number, put,
    },
    kind::{
        ExpiringSets, GrowingExpiringSets, GrowingMaps, GrowingSets, Kind, Maps, Of, Sets,
        max_value, new,
    },
    rng,
    saved::{filled, pushed, sample},
    settings,
    suite::on_all_kinds,
};

on_all_kinds! { invalid_fields_are_detected, unused_fields_are_detected }

/// Changes a snapshot, corrects its checksums, and returns the error of loading it.
pub fn forged<K: Kind>(filter: &Of<K>, change: impl FnOnce(&mut Vec<u8>)) -> LoadError {
    let mut bytes = filter.to_bytes();
    change(&mut bytes);
    amend(&mut bytes);
    let error = pushed::<K>(&bytes, usize::MAX, &mut rng(1)).expect_err("an invalid field");
    assert!(!error.to_string().is_empty());
    error
}

/// The error of a snapshot with another number at an offset.
pub fn with<K: Kind>(filter: &Of<K>, at: usize, value: u64) -> LoadError {
    forged::<K>(filter, |bytes| put(bytes, at, value))
}

/// The error of a snapshot with another byte at an offset.
fn with_byte<K: Kind>(filter: &Of<K>, at: usize, value: u8) -> LoadError {
    forged::<K>(filter, |bytes| bytes[at] = value)
}

/// The name and the value of an invalid field.
#[track_caller]
pub fn invalid(error: LoadError) -> (&'static str, u64) {
    match error {
        LoadError::InvalidField { name, value, .. } => (name, value),
        other => panic!("{other:?}"),
    }
}

fn invalid_fields_are_detected<K: Kind>() {
    let filter = &sample::<K>();
    let bytes = filter.to_bytes();
    for words in [0, (1 << 34) + 1, 1 << 60, u64::MAX] {
        assert_eq!(invalid(with::<K>(filter, WORDS, words)), ("words", words));
    }
    for capacity in [0, 1 << 40, u64::MAX] {
        assert_eq!(invalid(with::<K>(filter, CAPACITY, capacity)), ("capacity", capacity));
    }
    for many in [1 << 40, u64::MAX] {
        assert_eq!(invalid(with::<K>(filter, OCCUPIED, many)), ("occupied slots", many));
    }
    for stripes in [12, u8::MAX] {
        let error = with_byte::<K>(filter, STRIPES, stripes);
        assert_eq!(invalid(error), ("stripes", stripes.into()));
    }
    for (at, value) in [(LAYOUT, 5), (SLOTS, 7), (BITS, 11), (BITS, 0), (VALUE_BITS, 5)] {
        let error = with_byte::<K>(filter, at, value);
        assert!(matches!(error, LoadError::UnknownLayout { .. }), "{error:?}");
    }
    // All headers have one length.
    for length in [0, 128, 192, 255, 257, 512, u32::MAX] {
        let error = forged::<K>(filter, |bytes| {
            bytes[LENGTH..LENGTH + 4].copy_from_slice(&length.to_le_bytes());
        });
        assert!(matches!(error, LoadError::DamagedHeader), "{length}");
    }
    for at in [CONTENTS, GROWTH] {
        match with_byte::<K>(filter, at, 99) {
            LoadError::UnknownKind { contents, growth, .. } => {
                let [mut expected, _] = bytes[CONTENTS..].as_chunks::<2>().0[..2] else { panic!() };
                expected[at - CONTENTS] = 99;
                assert_eq!([contents, growth], expected);
            }
            other => panic!("{other:?}"),
        }
    }
    let of_another_kind = with_byte::<K>(filter, CONTENTS, (bytes[CONTENTS] + 1) % 3);
    assert!(matches!(of_another_kind, LoadError::OtherKind { .. }), "{of_another_kind:?}");
    let of_another_growth = with_byte::<K>(filter, GROWTH, 1 - bytes[GROWTH]);
    assert!(matches!(of_another_growth, LoadError::OtherKind { .. }), "{of_another_growth:?}");
    assert!(matches!(with_byte::<K>(filter, VERSION, 1), LoadError::UnknownVersion(1)));
    assert!(matches!(with::<K>(filter, 0, 0), LoadError::NotASnapshot));
    // A wrong number of occupied slots.
    let one_less = number(&bytes, OCCUPIED) - 1;
    assert!(matches!(with::<K>(filter, OCCUPIED, one_less), LoadError::InvalidBuckets));
    // Another seed means another hasher. Other checks name their types.
    assert!(matches!(with::<K>(filter, SEED, 1), LoadError::OtherHasher));
    let changed = [KeyTypes::INTEGERS, KeyTypes::SLICES, KeyTypes::ENUMS, KeyTypes::ADDRESSES];
    for (at, low) in (HASHER_CHECKS..).step_by(8).zip(changed) {
        let of_two = |change: u64| match with::<K>(filter, at, number(&bytes, at) ^ change) {
            LoadError::OtherHashes { types, .. } => types,
            error => panic!("{error:?}"),
        };
        let high = [KeyTypes::TEXTS, KeyTypes::TUPLES, KeyTypes::CHARS, KeyTypes::PATHS];
        let high = high[(at - HASHER_CHECKS) / 8];
        assert_eq!([1, 1 << 63, 1 | 1 << 63].map(of_two), [low, high, low | high]);
    }
}

/// Where items expire, ghosts count as items.
#[test]
fn ghosts_of_an_expiring_filter_are_detected() {
    let filter = sample::<GrowingExpiringSets>();
    for ghosts in [1, u64::MAX] {
        let error = with::<GrowingExpiringSets>(&filter, GHOSTS, ghosts);
        assert_eq!(invalid(error), ("ghosts", ghosts));
    }
}

/// Fields that only filters of other kinds have are zero.
fn unused_fields_are_detected<K: Kind>() {
    let filter = &sample::<K>();
    let bytes = filter.to_bytes();
    let (expires, grows) = (bytes[CONTENTS] == 2, bytes[GROWTH] == 1);
    let mut unused = Vec::new();
    // The sample has no time to live.
    unused.extend([TIME_TO_LIVE, TIMES, TIMES + 8, TIMES + 6 * 8]);
    unused.extend(
        (!expires)
            .then_some([WINDOW, GENERATION, CLEAN, REFRESHED, BOUND, SWEPT, END])
            .iter()
            .flatten(),
    );
    unused.extend(
        (!grows).then_some([TARGET, FIRST, SIZE, MAX_BUCKETS, LOAD, GHOSTS]).iter().flatten(),
    );
    unused.extend(expires.then_some(COPIES));
    for at in unused {
        assert_eq!(number(&bytes, at), 0, "{at}");
        for value in [1, 1 << 31] {
            let error = with::<K>(filter, at, value);
            assert_eq!(invalid(error), ("unused field", value), "{at}");
        }
    }
    let mut description = bytes[CONTENTS..CONTENTS + 8].to_vec();
    description[3] = 4;
    let error = with_byte::<K>(filter, CONTENTS + 3, 4);
    assert_eq!(invalid(error), ("unused field", number(&description, 0)));
}

#[test]
fn invalid_fields_of_one_kind_are_detected() {
    let (fixed, growing) = (sample::<Sets>(), sample::<GrowingMaps>());
    for copies in [8, 9, u64::MAX] {
        assert_eq!(invalid(with::<Sets>(&fixed, COPIES, copies)), ("copies", copies));
    }
    let splitting = sample::<GrowingSets>();
    for rate in [0.0, -0.1, 1.0, f64::NAN, f64::INFINITY, 1e-7] {
        let rate = rate.to_bits();
        assert_eq!(invalid(with::<GrowingMaps>(&growing, TARGET, rate)), ("target rate", rate));
        assert_eq!(invalid(with::<GrowingSets>(&splitting, TARGET, rate)), ("target rate", rate));
    }
    // Values where there are none, and none where there are some; and layouts that grow.
    let valued = Layout::with_values(4, 4).expect("a layout");
    let with_values = |bytes: &mut Vec<u8>| {
        let bits = valued.fingerprint_bits() as u8;
        bytes[LAYOUT..LAYOUT + 4].copy_from_slice(&[2, 4, bits, 4]);
    };
    assert_eq!(invalid(forged::<Sets>(&fixed, with_values)), ("layout family", 2));
    assert_eq!(invalid(forged::<GrowingSets>(&splitting, with_values)), ("layout family", 2));
    let without_values = |bytes: &mut Vec<u8>| {
        bytes[LAYOUT..LAYOUT + 4].copy_from_slice(&[0, 4, 16, 0]);
    };
    let error = forged::<Maps>(&sample::<Maps>(), without_values);
    assert_eq!(invalid(error), ("layout family", 0));
    let error = forged::<GrowingSets>(&splitting, without_values);
    assert_eq!(invalid(error), ("layout family", 0));
    let grows = |bytes: &mut Vec<u8>| {
        bytes[LAYOUT..LAYOUT + 4].copy_from_slice(&[3, 4, 14, 0]);
    };
    assert_eq!(invalid(forged::<Sets>(&fixed, grows)), ("layout family", 3));
    assert_eq!(invalid(forged::<Maps>(&sample::<Maps>(), grows)), ("layout family", 3));
    assert_eq!(invalid(forged::<GrowingMaps>(&growing, grows)), ("layout family", 3));
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
            put(bytes, OCCUPIED, 1);
        });
        assert!(matches!(error, LoadError::DamagedBuckets), "{layout:?} {word:#x}: {error:?}");
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
                put(&mut bytes, HEADER, slot);
                put(&mut bytes, OCCUPIED, 1);
                amend(&mut bytes);
                pushed::<K>(&bytes, 1 << 20, &mut rng(1))
            };
            for value in [1, largest].into_iter().filter(|&value| (1..=largest).contains(&value)) {
                let error = forge(value.into()).expect_err("no fingerprint");
                assert!(matches!(error, LoadError::DamagedBuckets), "{error:?} in {filter:?}");
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
        assert_eq!(invalid(with::<ExpiringSets>(&filter, WINDOW, window)), ("window", window));
    }
    for now in [0, 4, 1 << 63, u64::MAX] {
        assert_eq!(invalid(with::<ExpiringSets>(&filter, GENERATION, now)), ("generation", now));
    }
    // A layout without stamps.
    let sets = sample::<Sets>().to_bytes();
    let error = forged::<ExpiringSets>(&filter, |bytes| {
        bytes[LAYOUT..LAYOUT + 4].copy_from_slice(&sets[LAYOUT..LAYOUT + 4]);
    });
    assert_eq!(invalid(error), ("layout family", 0));
    // Other windows with as many bits, and any generation in between, are valid.
    for (window, now) in [(2, 2), (5, (1 << 63) - 2)] {
        let mut bytes = filter.to_bytes();
        put(&mut bytes, WINDOW, window);
        put(&mut bytes, GENERATION, now);
        put(&mut bytes, CLEAN, now.saturating_sub(6));
        put(&mut bytes, BOUND, now.saturating_sub(6));
        amend(&mut bytes);
        let loaded = pushed::<ExpiringSets>(&bytes, 1 << 20, &mut rng(1)).expect("valid");
        assert_eq!((u64::from(loaded.window()), loaded.generation()), (window, now));
        assert_eq!(loaded.advance(), now + 1);
    }
}
