//! A table with values, in which a model chooses where each copy of an item is. Its slots are plain
//! whatever the layout of the other models is: semi-sorted ones hold no values.

use guira::raw::{Addressing, BucketLayout, Fingerprint, FixedTable, Move, Pair, Plain, Valued};
use loom::sync::Arc;

/// The layout of tables with values.
pub type V = Plain<2, 32>;
/// A table with values.
pub type Map = FixedTable<Valued>;

/// Bits of a value.
const VALUE_BITS: u32 = 8;

/// Returns a table of two empty buckets.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn map() -> Arc<Map> {
    let addressing = Addressing::new(2, Valued::new(VALUE_BITS));
    Arc::new(FixedTable::new(addressing, false).expect("memory for a few words"))
}

/// Returns the pair of the `nth` item of a stripe that has both buckets, the first one first, with
/// the value zero.
///
/// # Panics
/// If there are too few fingerprints.
#[must_use]
pub fn item(map: &Map, stripe: u32, nth: usize) -> Pair {
    let addressing = map.addressing();
    let pair = |key: u32| {
        let fingerprint = Fingerprint::new(key << VALUE_BITS);
        Pair { fingerprint, buckets: [0, addressing.alt_bucket(fingerprint, 0)] }
    };
    (1..=V::MAX_FINGERPRINT >> VALUE_BITS)
        .filter(|key| key % 2 == stripe)
        .map(pair)
        .filter(|pair| pair.buckets == [0, 1])
        .nth(nth)
        .expect("a fingerprint for these buckets")
}

/// Puts a copy of an item into this very bucket.
///
/// # Panics
/// If the bucket is full.
pub fn put(map: &Map, item: Pair, value: u16, bucket: u32) {
    let pair = Pair { buckets: [bucket; 2], ..item.with_value(value) };
    map.insert::<V>(pair).expect("room");
}

/// Moves a copy of an item with this value to the other bucket. Returns `false` if it was not
/// there, or if the destination was full.
#[must_use]
pub fn relocate(map: &Map, item: Pair, value: u16, from: u32) -> bool {
    let Pair { fingerprint, .. } = item.with_value(value);
    map.relocate::<V>(Move { fingerprint, from, to: 1 - from }, None)
}

/// Adds a copy of an item with this value, or returns the value that it has.
///
/// # Panics
/// If there is no room.
#[must_use]
pub fn get_or_insert(map: &Map, pair: Pair) -> Option<u16> {
    map.get_or_insert::<V>(pair).expect("room")
}

/// Returns all values of an item, sorted.
#[must_use]
pub fn values(map: &Map, item: Pair) -> Vec<u16> {
    let mut values = map.candidates::<V>(item).as_slice().to_vec();
    values.sort_unstable();
    values
}

/// Checks at a quiet moment that an item has copies with these values, sorted, and no others.
///
/// # Panics
/// If it has not.
pub fn assert_values(map: &Map, item: Pair, expected: &[u16]) {
    assert_eq!(values(map, item), expected, "copies were lost, doubled or changed");
    assert_eq!(map.count::<V>(item), expected.len());
}
