//! A table with values, in which a model chooses where each copy of an item is. Its slots are plain
//! whatever the layout of the other models is: semi-sorted ones hold no values.

use guira::{
    CuckooMap, Layout,
    raw::{Fingerprint, FixedTable, FixedWords, Move, Pair, Payload, Slots},
};
use loom::sync::Arc;

/// A table with values.
pub type Map = FixedTable;

/// Bits of a value.
const VALUE_BITS: u32 = 8;

/// The layout of tables with values.
pub const SLOTS: Slots = Slots::plain(2, 32, VALUE_BITS);

/// Returns a table of two empty buckets.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn map() -> Arc<Map> {
    Arc::new(new_map())
}

fn new_map() -> Map {
    FixedTable::new(SLOTS, 2, Payload::values(VALUE_BITS), false).expect("memory for a few words")
}

/// Returns a filter around such a table.
///
/// # Panics
/// As [`map`].
#[must_use]
pub fn filter() -> CuckooMap {
    CuckooMap::around(new_map(), Layout::with_values(2, VALUE_BITS).expect("a layout"), None, None)
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
        let fingerprint = Fingerprint::new(key);
        let alternate = addressing.alt_bucket(fingerprint, 0);
        Pair { fingerprint, value: 0, buckets: [0, alternate] }
    };
    (SLOTS.min_key()..1 << SLOTS.key_bits())
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
    map.insert::<FixedWords>(pair).expect("room");
}

/// Moves a copy of an item with this value to the other bucket. Returns `false` if it was not
/// there, or if the destination was full.
#[must_use]
pub fn relocate(map: &Map, item: Pair, value: u16, from: u32) -> bool {
    let slot = SLOTS.slot(item.fingerprint.get(), value);
    map.relocate::<FixedWords>(Move { slot, from, to: 1 - from }, None)
}

/// Adds a copy of an item with this value, or returns the value that it has.
///
/// # Panics
/// If there is no room.
#[must_use]
pub fn get_or_insert(map: &Map, pair: Pair) -> Option<u16> {
    map.get_or_insert::<FixedWords>(pair).expect("room")
}

/// Returns all values of an item, sorted.
#[must_use]
pub fn values(map: &Map, item: Pair) -> Vec<u16> {
    let mut values = map.candidates::<FixedWords>(item).as_slice().to_vec();
    values.sort_unstable();
    values
}

/// Checks at a quiet moment that an item has copies with these values, sorted, and no others.
///
/// # Panics
/// If it has not.
pub fn assert_values(map: &Map, item: Pair, expected: &[u16]) {
    assert_eq!(values(map, item), expected, "copies were lost, doubled or changed");
    assert_eq!(map.count::<FixedWords>(item), expected.len());
}
