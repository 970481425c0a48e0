//! What doublings cost a table that grows: its false-positive rate, ghosts, and bits per item.

use super::growing::{FULL_LOAD, target_load};
use crate::Layout;

/// The doublings from a number of buckets to another: not a whole number within a round.
pub(crate) fn doublings(first_buckets: u64, buckets: u64) -> f64 {
    libm::log2(buckets as f64 / first_buckets as f64)
}

/// An upper bound of the false-positive rate of a table at its target load, after this many
/// doublings, whole or not.
///
/// Before the growth, each of the `2 * slots` slots that a lookup reads matches with a probability
/// of `2^-bits`. An item keeps the bits that it was inserted with, so each doubling adds a share of
/// that rate: all of it if all new items had as many bits as those in unsplit buckets, ln 2 of it
/// if they spread evenly over split and unsplit ones. Ghosts take the place of items, and add no
/// rate of their own: the two halves of a slot match as many absent items as it did. So they lower
/// the share of later doublings.
///
/// In tables of 256 to 1,000 first buckets the share was 0.67 to 0.73, and this bound 0 to 12 %
/// above the rate, up to 15 doublings. The share is higher if items come and go while the table
/// grows slowly, because every move from a split to an unsplit bucket costs a bit: 0.76 to 0.78
/// with 100 short-lived items for each one that stays, which is up to 1.5 % above the bound. It is
/// never more than 1.
pub(crate) fn rate(layout: Layout, doublings: f64) -> f64 {
    rate_of_slots(layout) * load(layout) * growth_of_rate(layout, doublings)
}

/// As [`rate`], once the table has been filled to its last slot because it may not grow further.
pub(crate) fn full_rate(layout: Layout, doublings: f64) -> f64 {
    let load = load(layout);
    rate_of_slots(layout) * (load * growth_of_rate(layout, doublings) + (1.0 - load))
}

/// The rate of a full table that never grew. (`Layout::false_positive_rate` is lower by the
/// lookups with several matches, and a bound need not be.)
fn rate_of_slots(layout: Layout) -> f64 {
    let compared = f64::from(2 * layout.slots_per_bucket());
    compared / f64::from(1 << layout.fingerprint_bits())
}

/// The factor by which doublings raise the rate.
fn growth_of_rate(layout: Layout, doublings: f64) -> f64 {
    let (past, per_slot) = past_tails(layout, doublings);
    1.0 + 0.77 * doublings - 0.4 * past * past * per_slot / (1.0 + 0.2 * past * per_slot)
}

/// Upper bound of the number of ghosts per item, if no item was removed.
///
/// The first doubling beyond the longest tail copies `2^-tail` of the slots to both buckets, and
/// each further one nearly as many more. In the simulation it was 0.71 to 0.75 of that per
/// doubling, and with 5 slots, which have the shortest tails without values, up to 0.86. Ghosts
/// also make the table grow, and then become more themselves: with tails of 3 bits it was 1.4 after
/// 10 doublings, and 2.0 after 14.
pub(super) fn ghosts_per_item(layout: Layout, doublings: f64) -> f64 {
    let (past, per_slot) = past_tails(layout, doublings);
    let share = past * per_slot;
    0.875 * share * (1.0 + 0.85 * share * share)
}

/// The doublings beyond the longest tail, and the share of tails that run out in each of them.
fn past_tails(layout: Layout, doublings: f64) -> (f64, f64) {
    let tail = layout.leveled().map_or(0, |splitting| splitting.max_tail);
    ((doublings - f64::from(tail)).max(0.0), 1.0 / f64::from(1 << tail))
}

/// The bits that an item takes in buckets after this many doublings, ghosts included.
pub(super) fn bits_per_item(layout: Layout, doublings: f64) -> f64 {
    let slots = f64::from(layout.slots_per_bucket()) * load(layout);
    64.0 * (1.0 + ghosts_per_item(layout, doublings)) / slots
}

/// The target load, exact.
fn load(layout: Layout) -> f64 {
    target_load(layout.slots_per_bucket()) as f64 / FULL_LOAD as f64
}

#[cfg(test)]
mod tests;
