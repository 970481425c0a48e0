//! Damaged snapshots: every damage is an error, however the bytes arrive.

#![cfg(feature = "std")]

mod common;

use common::{
    Subject,
    forge::{
        BITS, BLOCK, BUCKETS, CAPACITY, COPIES, EXISTING, HASHER_CHECK, HEADER, KIND, LEVEL,
        PLANNED, RESERVED, SEED, STRIPES, TARGET, VALUE_BITS, VERSION, amend, blocks, header_len,
        items, number, put, segment,
    },
    maps, rng,
    saved::{
        Stable, corrupt, filled, filled_map, loaded, pushed, small_fixed, small_growing, small_maps,
    },
    scaled,
};
use guira::{
    CuckooFilter, Engine, Filter, FilterBuilder, Fixed, Growing, GrowingFilter, Layout, LoadError,
    Mapped, StableHashBuilder,
};
use rand::{RngExt, rngs::SmallRng};

/// A fixed filter of one block.
fn fixed() -> Stable<Fixed> {
    filled(CuckooFilter::builder().capacity(100).layout(Layout::Plain4x16).seed(5), 100).0
}

/// A growing filter of few words in several segments, the last of them empty.
fn growing() -> Stable<Growing> {
    let builder = GrowingFilter::builder().capacity(20).seed(6);
    let (filter, _) = filled(builder, 150);
    assert!(filter.segments().len() > 2);
    filter
}

/// A map of one block.
fn map() -> Stable<Mapped<Fixed>> {
    let layout = Layout::with_values(3, 8).expect("a layout");
    filled_map(maps::builder(100, layout).seed(5), 100).0
}

/// Some snapshots of filters of one engine.
fn snapshots<E: Subject>(builders: Vec<(FilterBuilder<E>, u64)>) -> Vec<Vec<u8>> {
    builders.into_iter().map(|(builder, keys)| filled(builder, keys).0.to_bytes()).collect()
}

#[test]
fn truncation_at_every_length_is_detected() {
    fn check<E: Engine>(filter: &Stable<E>) {
        let (bytes, mut rng) = (filter.to_bytes(), rng(1));
        for at in 0..bytes.len() {
            for outcome in [loaded(&bytes[..at], &mut rng), pushed(&bytes[..at], 1 << 20, &mut rng)]
            {
                let _: &Result<Stable<E>, _> = &outcome;
                match outcome {
                    Err(LoadError::Truncated { received, .. }) => assert_eq!(received, at as u64),
                    other => panic!("{at} bytes: {other:?}"),
                }
            }
        }
    }
    check(&fixed());
    check(&growing());
    check(&map());
}

#[test]
fn every_flipped_bit_is_detected() {
    fn check<E: Engine>(filter: &Stable<E>) {
        let mut bytes = filter.to_bytes();
        let header = header_len(&bytes);
        for bit in 0..8 * bytes.len() {
            let byte = bit / 8;
            bytes[byte] ^= 1 << (bit % 8);
            let error = pushed::<E>(&bytes, 1 << 20, &mut rng(bit as u64)).expect_err("a flip");
            let expected = match error {
                LoadError::NotASnapshot => byte < VERSION,
                LoadError::UnknownVersion(_) => (VERSION..KIND).contains(&byte),
                LoadError::DamagedHeader => (KIND..header).contains(&byte),
                // A header that seems to be longer may seem to lack bytes.
                LoadError::Truncated { .. } => [PLANNED, EXISTING].contains(&byte),
                LoadError::DamagedBuckets => byte >= header,
                _ => false,
            };
            assert!(expected, "bit {bit}: {error:?}");
            bytes[byte] ^= 1 << (bit % 8);
        }
        pushed::<E>(&bytes, 1 << 20, &mut rng(1)).expect("the original bits");
    }
    check(&fixed());
    check(&growing());
    check(&map());
}

/// Corrupts snapshots at random, a quarter of them behind corrected checksums. One is accepted only
/// if it decodes to a filter that is saved as the same bytes, and behind its own checksums only if
/// nothing changed. `LOAD` loads one.
fn corrupted<E: Engine>(
    snapshots: &[Vec<u8>],
    rounds: u64,
    load: impl Fn(&[u8], &mut SmallRng) -> Result<Stable<E>, LoadError>,
) {
    let mut rng = rng(17);
    let [mut same, mut amended] = [0; 2];
    for round in 0..rounds {
        let original = &snapshots[rng.random_range(0..snapshots.len())];
        let mut bytes = original.clone();
        corrupt(&mut bytes, &mut rng);
        let corrected = rng.random_ratio(1, 4);
        if corrected {
            amend(&mut bytes);
        }
        let Ok(filter) = load(&bytes, &mut rng) else { continue };
        assert_eq!(filter.to_bytes(), bytes, "round {round}");
        if corrected {
            amended += 1;
        } else {
            assert!(snapshots.contains(&bytes), "round {round}: accepted {bytes:x?}");
            same += 1;
        }
    }
    // Some damage changes nothing, or leads to the snapshot of another filter.
    assert!(same > 0 && amended > 0 && same + amended < rounds / 2, "{same}, {amended} accepted");
}

#[test]
fn random_damage_is_detected() {
    corrupted::<Fixed>(&snapshots(small_fixed()), scaled(5_000, 100_000), loaded);
    corrupted::<Growing>(&snapshots(small_growing()), scaled(2_000, 50_000), loaded);
    corrupted::<Mapped<Fixed>>(&small_maps::<Fixed>(), scaled(5_000, 100_000), loaded);
}

#[test]
#[ignore = "long: ten million snapshots of a chain; run it in release mode"]
fn long_random_damage_is_detected() {
    let load = |bytes: &[u8], rng: &mut SmallRng| pushed(bytes, 10_000, rng);
    corrupted::<Growing>(&[growing().to_bytes()], 10_000_000, load);
}

/// Blocks that are repeated, missing, exchanged, or taken from another snapshot of the same filter,
/// which has the same header.
#[test]
fn blocks_belong_to_their_place_in_their_snapshot() {
    let builder = CuckooFilter::builder().capacity(100_000).layout(Layout::Plain4x16).seed(5);
    let (filter, keys) = filled(builder, 50_000);
    let bytes = filter.to_bytes();
    let key = keys.iter().find(|&&key| filter.count(&key) == 1).expect("one without alias");
    assert!(filter.remove(key));
    filter.insert(&100_000_u64).expect("an empty slot");
    let later = filter.to_bytes();
    let (block, differs) = (BLOCK + 8, |nth: usize| {
        let range = HEADER + nth * (BLOCK + 8)..HEADER + nth * (BLOCK + 8) + BLOCK;
        bytes[range.clone()] != later[range]
    });
    assert!(bytes[..HEADER] == later[..HEADER] && blocks(&bytes).len() == 4);
    let changed = (0..3).find(|&nth| differs(nth)).expect("a changed bucket");
    let place = |nth: usize| HEADER + nth * block..HEADER + (nth + 1) * block;

    let mut exchanged = bytes.clone();
    exchanged[place(0)].copy_from_slice(&bytes[place(1)]);
    exchanged[place(1)].copy_from_slice(&bytes[place(0)]);
    let mut repeated = bytes.clone();
    repeated.splice(place(0).start..place(0).start, bytes[place(0)].iter().copied());
    let mut missing = bytes.clone();
    missing.drain(place(1));
    let mut mixed = bytes.clone();
    mixed[place(changed)].copy_from_slice(&later[place(changed)]);
    let mut rest = later.clone();
    rest[..place(changed).end].copy_from_slice(&bytes[..place(changed).end]);
    let mut rng = rng(3);
    for (damaged, name) in [
        (exchanged, "exchanged"),
        (repeated, "repeated"),
        (missing, "missing"),
        (mixed, "mixed"),
        (rest, "the rest of another"),
    ] {
        let error = pushed::<Fixed>(&damaged, 1 << 20, &mut rng).expect_err(name);
        assert!(matches!(error, LoadError::DamagedBuckets), "{name}: {error:?}");
    }
    pushed::<Fixed>(&later, 1 << 20, &mut rng).expect("undamaged");
}

/// Changes a snapshot, corrects its checksums, and returns the error of loading it.
fn forged<E: Engine>(filter: &Stable<E>, change: impl FnOnce(&mut Vec<u8>)) -> LoadError {
    let mut bytes = filter.to_bytes();
    change(&mut bytes);
    amend(&mut bytes);
    let error = pushed::<E>(&bytes, usize::MAX, &mut rng(1)).expect_err("an invalid field");
    assert!(!error.to_string().is_empty());
    error
}

/// The error of a snapshot with another number at an offset.
fn with<E: Engine>(filter: &Stable<E>, at: usize, value: u64) -> LoadError {
    forged(filter, |bytes| put(bytes, at, value))
}

/// The error of a snapshot with another byte at an offset.
fn with_byte<E: Engine>(filter: &Stable<E>, at: usize, value: u8) -> LoadError {
    forged(filter, |bytes| bytes[at] = value)
}

/// The name and the value of an invalid field.
#[track_caller]
fn invalid(error: LoadError) -> (&'static str, u64) {
    match error {
        LoadError::InvalidField { name, value, .. } => (name, value),
        other => panic!("{other:?}"),
    }
}

#[test]
fn invalid_fields_of_all_engines_are_detected() {
    fn check<E: Engine>(filter: &Stable<E>) {
        let bytes = filter.to_bytes();
        let (first, items) = (segment(0), items(&bytes));
        for buckets in [0, (1 << 32) + 1, 1 << 60, u64::MAX] {
            assert_eq!(invalid(with(filter, first + BUCKETS, buckets)), ("buckets", buckets));
        }
        for capacity in [0, 1 << 40, u64::MAX] {
            assert_eq!(invalid(with(filter, CAPACITY, capacity)), ("capacity", capacity));
        }
        for many in [1 << 40, u64::MAX] {
            assert_eq!(invalid(with(filter, items, many)), ("items", many));
        }
        for stripes in [12, u8::MAX] {
            let error = with_byte(filter, STRIPES, stripes);
            assert_eq!(invalid(error), ("stripes", stripes.into()));
        }
        assert_eq!(invalid(with_byte(filter, first + RESERVED + 2, 1)), ("reserved", 1 << 16));
        assert_eq!(invalid(with_byte(filter, first + LEVEL, 1)), ("level", 1));
        for (at, value) in [(0, 3), (1, 7), (BITS, 11), (BITS, 0), (VALUE_BITS, 5)] {
            let error = with_byte(filter, first + at, value);
            assert!(matches!(error, LoadError::UnknownLayout { .. }), "{error:?}");
        }
        for (at, value) in [(PLANNED, 0), (PLANNED, 34), (EXISTING, 0), (EXISTING, 34)] {
            assert!(matches!(with_byte(filter, at, value), LoadError::DamagedHeader));
        }
        assert!(matches!(with_byte(filter, KIND, 99), LoadError::UnknownKind(99)));
        let other = if bytes[KIND] == 1 { 2 } else { 1 };
        assert!(matches!(with_byte(filter, KIND, other), LoadError::OtherKind { .. }));
        assert!(matches!(with_byte(filter, VERSION, 2), LoadError::UnknownVersion(2)));
        assert!(matches!(with(filter, 0, 0), LoadError::NotASnapshot));
        // A wrong number of items.
        let one_less = number(&bytes, items) - 1;
        assert!(matches!(with(filter, items, one_less), LoadError::InvalidBuckets));
        // Another seed means another hasher, and so does another check value.
        assert!(matches!(with(filter, SEED, 1), LoadError::OtherHasher));
        assert!(matches!(with(filter, HASHER_CHECK, 1), LoadError::OtherHasher));
    }
    check(&fixed());
    check(&growing());
    check(&map());
}

#[test]
fn invalid_fields_of_one_engine_are_detected() {
    let (fixed, growing) = (fixed(), growing());
    for copies in [8, 9, u64::MAX] {
        assert_eq!(invalid(with(&fixed, COPIES, copies)), ("copies", copies));
    }
    assert_eq!(invalid(with(&fixed, TARGET, 1)), ("target rate", 1));
    let two_planned = forged(&fixed, |bytes| {
        bytes[PLANNED] = 2;
        let first = bytes[segment(0)..segment(1)].to_vec();
        bytes.splice(segment(1)..segment(1), first);
        bytes[segment(1) + LEVEL] = 1;
        let buckets = number(bytes, segment(0) + BUCKETS);
        put(bytes, segment(1) + BUCKETS, 2 * buckets);
    });
    assert_eq!(invalid(two_planned), ("planned segments", 2));

    for rate in [0.0, -0.1, 1.0, f64::NAN, f64::INFINITY, 1e-6] {
        let rate = rate.to_bits();
        assert_eq!(invalid(with(&growing, TARGET, rate)), ("target rate", rate));
    }
    let bytes = growing.to_bytes();
    let (first, second) = (segment(0), segment(1));
    let buckets = number(&bytes, second + BUCKETS);
    for wrong in [buckets - 1, 2 * buckets] {
        assert_eq!(invalid(with(&growing, second + BUCKETS, wrong)), ("buckets", wrong));
    }
    for level in [0, 33, 255] {
        let error = with_byte(&growing, second + LEVEL, level);
        assert_eq!(invalid(error), ("level", level.into()));
    }
    // Values where there are none, and none where there are some.
    let valued = Layout::with_values(4, 4).expect("a layout");
    let with_values = |bytes: &mut Vec<u8>| {
        bytes[first..first + 3].copy_from_slice(&[2, 4, valued.fingerprint_bits() as u8]);
        bytes[first + VALUE_BITS] = 4;
    };
    assert_eq!(invalid(forged(&fixed, with_values)), ("layout family", 2));
    assert_eq!(invalid(forged(&growing, with_values)), ("layout family", 2));
    let error = forged(&map(), |bytes| {
        bytes[first..first + 3].copy_from_slice(&[0, 4, 16]);
        bytes[first + VALUE_BITS] = 0;
    });
    assert_eq!(invalid(error), ("layout family", 0));
    // A plan whose first segment has the longest fingerprints.
    let error = forged(&growing, |bytes| bytes[first..first + 3].copy_from_slice(&[1, 3, 22]));
    assert_eq!(invalid(error).0, "fingerprint bits");
}

/// A fingerprint that would not be one in the segments before.
#[test]
fn fingerprints_that_do_not_nest_are_detected() {
    let builder = GrowingFilter::builder().capacity(10).layout(Layout::SemiSorted6x12);
    let builder = builder.false_positive_rate(0.05).hasher_with(StableHashBuilder::with_seed);
    let filter = builder.seed(2).build().expect("a small filter");
    let mut keys = 0_u64..;
    while filter.layout() != Layout::Plain4x16 {
        filter.insert(&keys.next().expect("keys")).expect("room");
    }
    let last = filter.segments().len() - 1;
    let forge = |fingerprint: u64| {
        let mut bytes = filter.to_bytes();
        // The first block of the last segment, which has just been appended.
        let blocks = blocks(&bytes);
        let (at, len) = blocks[blocks.len() - 1];
        let empty = (at..at + len).step_by(8).find(|&at| number(&bytes, at) == 0);
        put(&mut bytes, empty.expect("an empty bucket"), fingerprint);
        let count = items(&bytes) + 8 * last;
        let more = number(&bytes, count) + 1;
        put(&mut bytes, count, more);
        amend(&mut bytes);
        pushed::<Growing>(&bytes, usize::MAX, &mut rng(1))
    };
    // Four bits longer than those of the first segment, of which the smallest is 16.
    for fingerprint in [1, 15, 16, 255] {
        let error = forge(fingerprint).expect_err("no fingerprint of this segment");
        assert!(matches!(error, LoadError::InvalidBuckets), "{fingerprint}: {error:?}");
    }
    for fingerprint in [256, 65_535] {
        forge(fingerprint).expect("the smallest fingerprint, or the largest one");
    }
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
        let (filter, _) = filled(builder, 0);
        let error = forged(&filter, |bytes| {
            put(bytes, HEADER, word);
            put(bytes, HEADER - 16, 1);
        });
        assert!(matches!(error, LoadError::InvalidBuckets), "{layout:?} {word:#x}: {error:?}");
    }
}

/// A hole in the first block is noticed before the second block arrives.
#[test]
fn each_block_is_validated_when_it_has_arrived() {
    let builder = CuckooFilter::builder().capacity(60_000).layout(Layout::Plain4x16).seed(5);
    let mut bytes = filled(builder, 0).0.to_bytes();
    assert!(blocks(&bytes).len() > 1);
    put(&mut bytes, HEADER, 1 << 48);
    let stable = guira::StableHashBuilder::with_seed;
    for (amended, end) in [(true, HEADER + BLOCK + 8), (false, HEADER + BLOCK + 8)] {
        let mut bytes = bytes.clone();
        if amended {
            amend(&mut bytes);
        }
        let mut loader = Filter::<Fixed, _>::loader_with(1 << 20, stable);
        loader.push(&bytes[..end - 1]).expect("an incomplete checksum");
        let error = loader.push(&bytes[end - 1..end]).expect_err("a hole");
        let expected = match error {
            LoadError::InvalidBuckets => amended,
            LoadError::DamagedBuckets => !amended,
            _ => false,
        };
        assert!(expected, "{error:?}");
    }
}
