//! A table whose slots expire, in which a model chooses where each copy of an item is, and how old
//! it is. Its slots are plain whatever the layout of the other models is: see `values.rs`.

use guira::{
    ExpiringFilter, Layout,
    raw::{Fingerprint, FixedTable, FixedWords, Move, Pair, Payload, Slots, mix},
};
use loom::sync::Arc;

/// A table whose slots expire.
pub type Aging = FixedTable;

/// Bits of a stamp: there are four ages, so that an old slot soon looks new.
const STAMP_BITS: u32 = 2;
/// The layout of tables whose slots expire.
pub const SLOTS: Slots = Slots::plain(2, 32, STAMP_BITS);
/// Slots are visible at the ages 0 and 1, expired at 2, and spared at 3.
pub const WINDOW: u32 = 1;
/// The generation in which each model starts.
pub const START: u64 = 8;

/// Returns a table of two empty buckets.
#[must_use]
pub fn aging() -> Arc<Aging> {
    Arc::new(new())
}

fn new() -> Aging {
    let aged = Payload::stamps(STAMP_BITS, WINDOW, START);
    FixedTable::new(SLOTS, 2, aged, false).expect("memory for a few words")
}

/// Returns a filter around such a table.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn filter() -> Arc<ExpiringFilter> {
    let layout = Layout::with_values(2, STAMP_BITS).expect("a layout");
    Arc::new(ExpiringFilter::around(new(), layout, None, None))
}

/// Returns the pair of the `nth` item of a stripe with these buckets, with the stamp zero.
///
/// # Panics
/// If there are too few fingerprints.
#[must_use]
pub fn item(table: &Aging, buckets: [u32; 2], stripe: u32, nth: usize) -> Pair {
    let addressing = table.addressing();
    let pair = |key: u32| {
        let fingerprint = Fingerprint::new(key);
        let alternate = addressing.alt_bucket(fingerprint, buckets[0]);
        Pair { fingerprint, value: 0, buckets: [buckets[0], alternate] }
    };
    (SLOTS.min_key()..1 << SLOTS.key_bits())
        .filter(|key| key % 2 == stripe)
        .map(pair)
        .filter(|pair| pair.buckets == buckets)
        .nth(nth)
        .expect("a fingerprint for these buckets")
}

/// Returns a hash whose item has both buckets, and its pair. A batch reads the second bucket first.
///
/// # Panics
/// Never: many items have both buckets.
#[must_use]
pub fn hashed(table: &Aging) -> (u64, Pair) {
    let mut items =
        (0..).map(|hash| (hash, crate::reversed(table.addressing().pair(mix(hash, 0)))));
    items.find(|(_, item)| item.buckets == [0, 1]).expect("one of many")
}

/// The stamp of a generation.
fn stamp(generation: u64) -> u16 {
    (generation % (1 << STAMP_BITS)) as u16
}

/// Puts a copy of an item with the stamp of this generation into this very bucket.
///
/// # Panics
/// If the bucket is full.
pub fn put(table: &Aging, item: Pair, generation: u64, bucket: u32) {
    let pair = Pair { buckets: [bucket; 2], ..item.with_value(stamp(generation)) };
    table.insert::<FixedWords>(pair).expect("room");
}

/// Moves a copy of an item with the stamp of this generation to the other bucket, and stores
/// `incoming`, with its stamp, in the slot that it leaves. Returns what
/// [`relocate`](FixedTable::relocate) returns.
#[must_use]
pub fn relocate(
    table: &Aging,
    item: Pair,
    generation: u64,
    from: u32,
    incoming: Option<(Pair, u64)>,
) -> bool {
    let slot = |item: Pair, generation| SLOTS.slot(item.fingerprint.get(), stamp(generation));
    let step = Move { slot: slot(item, generation), from, to: 1 - from };
    table.relocate::<FixedWords>(step, incoming.map(|(item, generation)| slot(item, generation)))
}

/// Counts the slots with an item, whatever its stamp is, and with other items.
fn slots(table: &Aging, item: Pair) -> (usize, usize) {
    let (words, _) = table.copy_words().expect("memory for a few words");
    let slots = words.iter().flat_map(|&word| SLOTS.each(word));
    let is_copy = |&slot: &u32| SLOTS.key(slot) == item.fingerprint.get();
    let (copies, others): (Vec<_>, Vec<_>) = slots.partition(is_copy);
    (copies.len(), others.len())
}

/// Counts the slots with an item, whatever its stamp is.
#[must_use]
pub fn copies(table: &Aging, item: Pair) -> usize {
    slots(table, item).0
}

/// Checks that the counts are right for every stamp, and that every slot expires and is swept. No
/// other thread uses the table.
///
/// # Panics
/// If a count is wrong, or a slot is left.
pub fn assert_ends(table: &Aging) {
    for _ in 0..1 << STAMP_BITS {
        let now = table.clock().generation();
        let (words, _) = table.copy_words().expect("memory for a few words");
        let is_visible = |&slot: &u32| {
            let of_slot = slot % (1 << STAMP_BITS);
            (0..=u64::from(WINDOW)).any(|age| u32::from(stamp(now - age)) == of_slot)
        };
        let visible = words.iter().flat_map(|&word| SLOTS.each(word)).filter(is_visible);
        assert_eq!(
            table.clock().visible_slots(),
            visible.count().try_into().ok(),
            "slots are miscounted"
        );
        table.advance::<FixedWords>();
    }
    let (words, _) = table.copy_words().expect("memory for a few words");
    assert!(words.iter().all(|&word| word == 0), "a slot was never swept");
}
