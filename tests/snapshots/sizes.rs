//! Sizes and words of tables that grow, in snapshots behind right checksums, that no such table
//! has.

use guira::LoadError;

use super::{
    common::{
        forge::{
            CAPACITY, EXPECTED, FIRST, GHOSTS, HEADER, LOAD, MAX_BUCKETS, OCCUPIED, SIZE, SLOTS,
            WORDS, ahead, amend, bucket, number, put, table,
        },
        kind::GrowingSets,
        rng,
        saved::{pushed, sample},
    },
    fields::{forged, invalid, with},
};

/// The level of the round, the buckets at its start, and those that it has split.
fn size_of(bytes: &[u8]) -> [u64; 3] {
    let [first, size] = [FIRST, SIZE].map(|at| number(bytes, at));
    [size >> 32, first << (size >> 32), size & u64::from(u32::MAX)]
}

/// Numbers that no table has that splits its buckets.
#[test]
fn invalid_sizes_are_detected() {
    let filter = sample::<GrowingSets>();
    let bytes = filter.to_bytes();
    let [first, most, load] = [FIRST, MAX_BUCKETS, LOAD].map(|at| number(&bytes, at));
    assert_eq!((load, most), (210, first << 15));
    let [level, round, split] = size_of(&bytes);
    assert!((1..round).contains(&split));
    let with = |at: usize, value: u64| invalid(with::<GrowingSets>(&filter, at, value));
    for wrong in [0, (1 << 32) + 1, u64::MAX] {
        assert_eq!(with(FIRST, wrong), ("first buckets", wrong));
    }
    for level in [16, 17, u64::from(u32::MAX)] {
        assert_eq!(with(SIZE, level << 32), ("level", level));
    }
    for split in [round, round + 1, u64::from(u32::MAX)] {
        assert_eq!(with(SIZE, level << 32 | split), ("split buckets", split));
    }
    for wrong in [0, round, round + split - 1, (first << 15) + 1, u64::MAX] {
        assert_eq!(with(MAX_BUCKETS, wrong), ("largest number of buckets", wrong));
    }
    for wrong in [0, 257, u64::from(u32::MAX), 1 << 32, (1 << 32) + 200] {
        assert_eq!(with(LOAD, wrong), ("load", wrong));
    }
    for wrong in [0, 9, u64::from(u32::MAX), 1 << 32, (1 << 32) + 1] {
        assert_eq!(with(EXPECTED, wrong), ("expected copies", wrong));
    }
    // Fewer words than the size needs, an odd number beyond them, and more than there can be.
    let needed = round + split;
    assert!((needed..needed + 2 * (round - split)).contains(&number(&bytes, WORDS)));
    for words in [needed - 8, needed - 1, needed + 1, needed + 2 * (round - split) + 2] {
        assert_eq!(with(WORDS, words), ("words", words));
    }
    // No calculation overflows.
    let error = forged::<GrowingSets>(&filter, |bytes| {
        for (at, value) in [(FIRST, 1 << 32), (MAX_BUCKETS, 1 << 32), (GHOSTS, u64::MAX)] {
            put(bytes, at, value);
        }
        put(bytes, SIZE, 15 << 32 | u64::from(u32::MAX));
    });
    assert!(matches!(error, LoadError::InvalidField { .. }), "{error:?}");
    // Fewer ghosts than slots, or as many, or more.
    for ghosts in [1, 100, 1 << 40, u64::MAX] {
        let mut bytes = bytes.clone();
        put(&mut bytes, GHOSTS, ghosts);
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
    let [level, round, split] = size_of(&bytes);
    // A bucket that has been split, one that has not, and a child.
    let children = [0, split - 1, round].map(|nth| (nth, level + 1));
    for (nth, level) in children.into_iter().chain([split, round - 1].map(|nth| (nth, level))) {
        let at = bucket(nth);
        let original = number(&bytes, at);
        assert_eq!(original >> 60, level, "bucket {nth}");
        for other in (0..16).filter(|&other| other != level) {
            let error = forged::<GrowingSets>(&filter, |bytes| {
                put(bytes, at, original & !(15 << 60) | other << 60);
            });
            assert!(matches!(error, LoadError::InvalidBuckets), "{nth}, {other}: {error:?}");
        }
        // An empty slot before an occupied one; a slot of nothing but a core.
        for slots in [1 << 30, 0xff, 1 << 20 | 0xff] {
            let more = filter_items(&bytes, original, slots);
            let error = forged::<GrowingSets>(&filter, |bytes| {
                put(bytes, at, level << 60 | slots);
                put(bytes, OCCUPIED, more);
            });
            assert!(matches!(error, LoadError::DamagedBuckets), "{nth}: {error:?}");
        }
    }
}

/// Numbers that are not those of children ahead, and children of another level.
#[test]
fn invalid_places_are_detected() {
    let filter = sample::<GrowingSets>();
    let bytes = filter.to_bytes();
    let [first, size] = [FIRST, SIZE].map(|at| number(&bytes, at));
    let round = first << (size >> 32);
    let [numbers, words] = ahead(&bytes);
    assert!(numbers.len() >= 16 && numbers.end == words.start);
    assert_eq!(Some(words.end), table(&bytes));
    for (number_at, word_at) in numbers.clone().zip(words.clone()).step_by(8) {
        let (child, word) = (number(&bytes, number_at), number(&bytes, word_at));
        let parent = number(&bytes, bucket(child - round));
        assert_eq!((parent >> 60, word >> 60), ((size >> 32) + 1, (size >> 32) + 1));
    }
    let [one, other] = [0, 8].map(|at| number(&bytes, numbers.start + at));
    assert!(one < other, "ascending");
    let refused = |changes: &[(usize, u64)]| {
        let error = forged::<GrowingSets>(&filter, |bytes| {
            for &(at, value) in changes {
                put(bytes, at, value);
            }
        });
        assert!(matches!(error, LoadError::InvalidBuckets), "{changes:?}: {error:?}");
    };
    refused(&[(numbers.start, other), (numbers.start + 8, one)]);
    for wrong in [0, one - 1, one + 1, one - round, other, one + (1 << 32), u64::MAX] {
        refused(&[(numbers.start, wrong)]);
    }
    let word = number(&bytes, words.start);
    for wrong in [word - (1 << 60), word + (1 << 60)] {
        refused(&[(words.start, wrong)]);
    }
}

/// A child of a bucket that was split ahead of its turn must have its place. And a bucket whose
/// turn it is has not been split: the size would be larger.
#[test]
fn sizes_that_do_not_fit_the_words_are_refused() {
    let filter = sample::<GrowingSets>();
    let bytes = filter.to_bytes();
    let [level, round, split] = size_of(&bytes);
    let load = number(&bytes, LOAD);
    let error = with::<GrowingSets>(&filter, MAX_BUCKETS, round + split);
    assert!(matches!(error, LoadError::InvalidBuckets), "{error:?}");
    // The words for the size before, in which one more child is ahead, the first one.
    let last = bucket(round + split - 1);
    let [numbers, words] = ahead(&bytes);
    let error = forged::<GrowingSets>(&filter, |changed| {
        changed.truncate(last);
        changed.extend((round + split - 1).to_le_bytes());
        changed.extend(&bytes[numbers]);
        changed.extend(&bytes[last..last + 8]);
        changed.extend(&bytes[words.clone()]);
        let len = (changed.len() - HEADER) as u64;
        changed.extend(&bytes[words.end..]);
        let slots = u64::from(bytes[SLOTS]) * (round + split - 1);
        for (at, value) in
            [(SIZE, level << 32 | (split - 1)), (WORDS, len / 8), (CAPACITY, slots * load / 256)]
        {
            put(changed, at, value);
        }
    });
    assert!(matches!(error, LoadError::InvalidBuckets), "{error:?}");
}

/// The number of occupied slots if the slots of a word, three of 20 bits, were others.
fn filter_items(bytes: &[u8], original: u64, slots: u64) -> u64 {
    let occupied = |word: u64| (0..3).filter(|lane| word >> (20 * lane) & 0xf_ffff != 0).count();
    number(bytes, OCCUPIED) + occupied(slots) as u64 - occupied(original) as u64
}
