//! Tables that grow and whose slots expire, and what holds in them at a quiet moment.
//!
//! The items are those of [`splits`](crate::splits), and the clock is that of
//! [`expiry`](crate::expiry).

use guira::raw::{GrowingTable, Item, Limits, Payload, Place, Side, mix};
use loom::sync::Arc;

pub use crate::expiry::{START, WINDOW};
use crate::splits::{self, S, growing, only};

/// A table that grows and whose slots expire.
pub type Aging = GrowingTable;

/// Bits of a stamp, as in tables of a fixed size.
const STAMP_BITS: u32 = 2;
/// A longer window, by which three ages are visible, and bits of its stamps.
pub const LONG_WINDOW: u32 = 2;
const LONG_STAMP_BITS: u32 = 3;

/// Returns a table that grows from 2 to `max` buckets, but not because of its load.
#[must_use]
pub fn aging(max: u64) -> Arc<Aging> {
    with_load(2, max, 256)
}

/// Returns a table that grows from `first` to `max` buckets, and splits the next bucket when more
/// than this share of the slots is occupied, in 256ths.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn with_load(first: u64, max: u64, load: u32) -> Arc<Aging> {
    new(Payload::stamps(STAMP_BITS, WINDOW, START), first, Limits { buckets: max, load, copies: 1 })
}

/// As [`aging`], with the longer window.
#[must_use]
pub fn aging_longer(max: u64) -> Arc<Aging> {
    let limits = Limits { buckets: max, load: 256, copies: 1 };
    new(Payload::stamps(LONG_STAMP_BITS, LONG_WINDOW, START), 2, limits)
}

fn new(aged: Payload, first: u64, limits: Limits) -> Arc<Aging> {
    Arc::new(growing(aged, first, limits))
}

/// The number of stamps.
fn stamps(table: &Aging) -> u64 {
    1 << if table.clock().window() == WINDOW { STAMP_BITS } else { LONG_STAMP_BITS }
}

/// Returns an item that begins in buckets 1 and 0, and a hash that leads to it if the seed is 0.
///
/// # Panics
/// Never: such items are many.
#[must_use]
pub fn hashed(table: &Aging) -> (u64, Item) {
    let mut items = (0..).map(|hash| (hash, table.addressing().item(mix(hash, 0))));
    items.find(|(_, item)| item.sides.map(|side| side.start) == [1, 0]).expect("one of many")
}

/// Returns an item of bucket 0 alone, which stays there, of this stripe. A split of bucket 0 takes
/// the lock of stripe 0.
#[must_use]
pub fn first(table: &Aging, stripe: u64, nth: usize) -> Item {
    splits::item(table, stripe, [0; 2], [0; 2], nth)
}

/// The item with the stamp of a generation.
///
/// # Panics
/// Never: stamps are small.
#[must_use]
pub fn stamped(table: &Aging, item: Item, generation: u64) -> Item {
    let stamp = u16::try_from(generation % stamps(table)).expect("few stamps");
    item.with_value(stamp)
}

/// The side with the stamp of a generation.
#[must_use]
pub fn stamped_side(table: &Aging, side: Side, generation: u64) -> Side {
    stamped(table, only(side), generation).sides[0]
}

/// Puts a slot with the stamp of this generation on this side.
pub fn put(table: &Aging, side: Side, generation: u64) {
    splits::put(table, stamped_side(table, side, generation));
}

/// Moves a slot with the stamp of this generation that has this side, at level 0 or 1.
#[must_use]
pub fn relocate(table: &Aging, side: Side, generation: u64) -> bool {
    splits::relocate(table, stamped_side(table, side, generation))
}

/// Moves a slot with the stamp of this generation that has this side, at level 0, and stores
/// `incoming`, with its stamp, in its place.
#[must_use]
pub fn relocate_at(
    table: &Aging,
    side: Side,
    generation: u64,
    incoming: Option<(Side, u64)>,
) -> bool {
    let incoming = incoming.map(|(side, generation)| stamped_side(table, side, generation));
    splits::relocate_at(table, stamped_side(table, side, generation), 0, incoming)
}

/// Splits bucket 0, and does not advance the size: in fewer steps than a whole split.
///
/// # Panics
/// If it has been split.
pub fn split_first(table: &Aging) {
    assert!(table.split_only(Place { bucket: 0, level: 0 }), "split already");
}

/// Counts the slots that match an item, whatever their stamps are.
#[must_use]
pub fn copies(table: &Aging, item: Item) -> usize {
    table.candidates::<S>(item).as_slice().len()
}

/// Checks that the counts are right for every stamp, and that the table knows how many slots are
/// occupied. No other thread uses the table.
///
/// # Panics
/// If a count is wrong.
pub fn assert_counts(table: &Aging) {
    let (grown, _, words) = table.copy_words().expect("memory for a few words");
    let numbers = grown.numbers(words.len() as u64);
    let buckets = (0..).zip(words).filter(|(place, _)| !numbers.contains(place));
    let slots: Vec<u64> = buckets
        .flat_map(|(_, word)| table.leveled().occupied_slots(word).collect::<Vec<u64>>())
        .collect();
    let (now, stamps) = (table.clock().generation(), stamps(table));
    let of = |stamp: u64| slots.iter().filter(|&slot| slot % stamps == stamp).count() as u64;
    let visible: u64 =
        (0..=u64::from(table.clock().window())).map(|age| of((now - age) % stamps)).sum();
    assert_eq!(
        table.clock().visible_slots(),
        visible.try_into().ok(),
        "the slots of a stamp are miscounted"
    );
    let (occupied, counted) = table.occupied();
    assert_eq!(
        (u64::try_from(occupied), u64::try_from(counted)),
        (Ok(slots.len() as u64), Ok(0)),
        "slots are miscounted"
    );
}

/// Checks that the counts are right in every generation from now on, and that every slot expires
/// and is swept. No other thread uses the table.
///
/// # Panics
/// If a count is wrong, or a slot is left.
pub fn assert_ends(table: &Aging) {
    for _ in 0..stamps(table) {
        assert_counts(table);
        table.advance::<S>();
    }
    assert_eq!(table.occupied(), (0, 0), "a slot was never swept");
    assert_counts(table);
}
