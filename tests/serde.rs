//! Filters through serde: a binary format, and one that writes bytes as a list of numbers.

#![cfg(feature = "serde")]

use guira::{CuckooFilter, CuckooMap, GrowingFilter, StableHashBuilder};
use serde::{Serialize, de::DeserializeOwned};

/// Serializes to CBOR, which has a type for bytes.
fn to_cbor(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).expect("bytes");
    bytes
}

/// Deserializes from CBOR.
fn from_cbor<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    ciborium::from_reader(bytes).map_err(|error| error.to_string())
}

#[test]
fn a_deserialized_filter_equals_the_original() {
    let filter = CuckooFilter::with_capacity(100_000);
    filter.insert("tyto alba").expect("an empty slot");
    let binary: CuckooFilter = from_cbor(&to_cbor(&filter)).expect("a filter");
    let text: CuckooFilter =
        serde_json::from_str(&serde_json::to_string(&filter).expect("a string")).expect("a filter");
    for copy in [binary, text] {
        assert!(copy.contains("tyto alba"));
        assert_eq!(copy.to_bytes(), filter.to_bytes());
    }
}

#[test]
fn growing_filters_are_serialized_too() {
    let builder = GrowingFilter::builder().capacity(100).seed(1);
    let filter = builder.build().expect("a small filter");
    filter.insert_batch(0..1_000).expect("memory");
    let copy: GrowingFilter = from_cbor(&to_cbor(&filter)).expect("a filter");
    assert_eq!(copy.to_bytes(), filter.to_bytes());
    let other = from_cbor::<CuckooFilter>(&to_cbor(&filter));
    assert!(other.expect_err("of another kind").contains("GrowingFilter"));
}

#[test]
fn maps_are_serialized_with_their_values() {
    let map = CuckooMap::builder().capacity(1_000).value_bits(9).seed(1).build().expect("memory");
    map.insert_batch(&[1, 2, 3], &[511, 0, 7]).expect("room");
    let copy: CuckooMap = from_cbor(&to_cbor(&map)).expect("a map");
    assert_eq!((copy.layout().value_bits(), copy.to_bytes()), (9, map.to_bytes()));
    assert!(copy.contains_value(&1, 511) && copy.contains_value(&2, 0));
    let other = from_cbor::<CuckooFilter>(&to_cbor(&map));
    assert!(other.expect_err("of another kind").contains("CuckooMap"));
}

#[test]
fn stable_hashers_are_made_from_the_filters_seed() {
    let builder = || CuckooFilter::builder().capacity(100).seed(1);
    let own = builder().build();
    let given = builder().hasher(StableHashBuilder::from_seed(1)).build();
    for (filter, accepted) in [(own, true), (given, false)] {
        let filter = filter.expect("a small filter");
        filter.insert("tyto alba").expect("an empty slot");
        let copy = from_cbor::<CuckooFilter>(&to_cbor(&filter));
        assert_eq!(copy.map(|copy| copy.contains("tyto alba")).ok(), accepted.then_some(true));
    }
}

#[test]
fn damage_is_an_error() {
    let filter = CuckooFilter::with_capacity(100);
    let mut bytes = to_cbor(&filter);
    *bytes.last_mut().expect("bytes") ^= 1;
    let error = from_cbor::<CuckooFilter>(&bytes).expect_err("a flipped bit");
    assert!(error.contains("damaged"), "{error}");
    assert!(serde_json::from_str::<CuckooFilter>("[1, 2, 300]").is_err());
    assert!(serde_json::from_str::<CuckooFilter>("\"guira\"").is_err());
}
