//! Chains of two small segments with values. Items and their places are those of `chain.rs`. Their
//! slots are plain whatever the layout of the other models is: semi-sorted ones hold no values.

use guira::{
    Layout,
    raw::{Addressing, Chain, Plan, Valued},
};
use loom::sync::Arc;

use crate::chain::{filler, nested, of_stripe, two_places};

/// A chain with values.
pub type Map = Chain<Valued>;
/// An item: its hash and its value.
pub type Item = (u64, u16);

/// Slots per bucket.
const SLOTS: u32 = 4;
/// Bits of a value.
const VALUE_BITS: u32 = 4;
/// A value.
pub const A: u16 = 1;
/// Another value.
pub const B: u16 = 2;
/// A third value.
pub const C: u16 = 3;
/// The value of the items that fill a segment.
pub const FILLER: u16 = 9;

/// Returns an empty chain of at most two segments.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn chain() -> Arc<Map> {
    let layout = Layout::with_values(SLOTS, VALUE_BITS).expect("a layout");
    let segment = |level| {
        let nesting = nested(level).nesting().with_values(VALUE_BITS);
        (layout, Addressing::nested(1, nesting))
    };
    let plan = Plan::new(&[0, 1].map(segment));
    Arc::new(Chain::new(plan, false).expect("memory for a few words"))
}

/// Returns a chain of one full segment with these items.
///
/// # Panics
/// If there are too many items.
#[must_use]
pub fn filled_with(items: &[Item]) -> Arc<Map> {
    let chain = chain();
    for &item in items {
        chain.insert(item).expect("room");
    }
    for nth in (0..SLOTS).skip(items.len()) {
        chain.insert((filler(nth), FILLER)).expect("room");
    }
    assert_eq!(chain.layouts().len(), 1);
    chain
}

/// Returns a chain whose first segment is full and whose second one has these items, which are not
/// among the `nth` [`two_places`] of stripe 1 for an `nth` above 1. Each takes a slot in the first
/// one of its buckets, unless the other one is emptier.
///
/// # Panics
/// If there are too many items.
#[must_use]
pub fn with_second_segment(items: &[Item]) -> Arc<Map> {
    let chain = filled_with(&[]);
    let other = (two_places(1, 2)[0], FILLER);
    chain.insert(other).expect("another segment");
    assert!(chain.remove(other));
    for &item in items {
        chain.insert(item).expect("room");
    }
    assert_eq!(chain.layouts().len(), 2);
    chain
}

/// Fills both buckets of the second segment, apart from so many slots of each, with items that have
/// only one bucket.
///
/// # Panics
/// If there is no room.
pub fn crowd_second_segment(chain: &Map, free: [u32; 2]) {
    for (bucket, free) in free.into_iter().enumerate() {
        for nth in 0..(SLOTS - free) as usize {
            chain.insert((of_stripe(0, false, nth)[bucket], FILLER)).expect("room");
        }
    }
}

/// Inserts one more item that has only the second bucket of the second segment. If that is full,
/// another item must make room.
///
/// # Panics
/// If there is no room.
pub fn make_room(chain: &Map) {
    let item = of_stripe(0, false, SLOTS as usize)[1];
    chain.insert((item, FILLER)).expect("room");
}

/// Returns a chain whose second segment has an item of stripe 1 with the value A in its second
/// bucket, which is full. [`make_room`] moves the item.
///
/// # Panics
/// If there is no room.
#[must_use]
pub fn about_to_move() -> Arc<Map> {
    let [_, item] = two_places(1, 0);
    let chain = with_second_segment(&[(item, A)]);
    crowd_second_segment(&chain, [1, 1]);
    chain
}

/// Returns a chain of one full segment with an item that has the value A.
#[must_use]
pub fn one_segment() -> Arc<Map> {
    filled_with(&[(two_places(0, 0)[0], A)])
}

/// Returns all values of a hash, sorted.
#[must_use]
pub fn values(chain: &Map, hash: u64) -> Vec<u16> {
    let all = chain.values(hash);
    let mut values: Vec<u16> = (0..all.len()).filter_map(|place| all.get(place)).collect();
    values.sort_unstable();
    values
}

/// Checks at a quiet moment that an item has copies with these values, sorted, and no others.
///
/// # Panics
/// If it has not.
pub fn assert_values(chain: &Map, hash: u64, expected: &[u16]) {
    assert_eq!(values(chain, hash), expected, "copies were lost, doubled or changed");
    assert_eq!(chain.count(hash), expected.len());
}
