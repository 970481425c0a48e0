//! From capacities and a target false-positive rate to the layout and the sizes of a table that
//! grows.

use core::iter;

use super::Layouts;
use crate::{BuildError, Layout, table::MAX_BUCKETS};

/// Most doublings of a table, because a bucket counts its splits in 4 bits.
pub(crate) const MAX_DOUBLINGS: u32 = 15;

/// Fewest buckets of the first size. Fewer are filled unevenly, so that searches in them fail.
const MIN_BUCKETS: u64 = 256;

/// Fewest slots of the first size: 2 to 4 KiB of buckets.
const MIN_SLOTS: u64 = 1_024;

/// Slots of the first size if no capacity is named. After all doublings they are 134 million.
const DEFAULT_SLOTS: u64 = 4_096;

/// Target false-positive rate if neither it nor a layout is named.
const DEFAULT_TARGET: f64 = 0.001;

/// As [`DEFAULT_TARGET`], of tables with values or stamps. With values of 16 bits, 0.43 % is the
/// lowest that can be met after 15 doublings.
const DEFAULT_TARGET_WITH_VALUES: f64 = 0.005;

/// What [`target_load`] is a fraction of: a power of two, so that the load is exact.
pub(in crate::table) const FULL_LOAD: u64 = 256;

/// The share of occupied slots, in 256ths, at which a table splits its next bucket.
///
/// In simulations of 256 first buckets (512 for 2 slots) and 15 doublings, no search failed at
/// these loads, at any moment of a round. A search fails once it has read 500 buckets. The last
/// column is the lowest load, in steps of 0.02, at which that happened.
///
/// | slots | load | moves per insert | buckets per search | most buckets | fails at |
/// |---|---|---|---|---|---|
/// | 5 | 0.820 | 0.39 | 6.3 | 147 | above 0.90 |
/// | 4 | 0.801 | 0.43 | 6.4 | 137 | 0.90 |
/// | 3 | 0.801 | 0.59 | 7.9 | 167 | 0.88 |
/// | 2 | 0.742 | 0.69 | 8.8 | 397 | 0.80 |
///
/// The searches in the middle of a round are the longest, because there most of the buckets that
/// have not been split yet are full. So higher loads cost more time than they save memory.
const fn target_load(slots: u32) -> u64 {
    match slots {
        5 => 210,
        4 | 3 => 205,
        2 => 190,
        _ => panic!("the load of this number of slots has not been measured"),
    }
}

/// What a table is chosen for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Items that fit before the table grows, if the user named their number.
    pub(crate) capacity: Option<usize>,
    /// Items up to which the table must grow. It grows as far as it can if there is no such number.
    pub(crate) max_capacity: Option<usize>,
    /// The false-positive rate that the table never exceeds.
    pub(crate) target: Option<f64>,
    /// The layout, if the user named one.
    pub(crate) layout: Option<Layout>,
    /// Bits of a value, if items have values.
    pub(crate) value_bits: Option<u32>,
}

/// The layout and the sizes of a table that grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) layout: Layout,
    /// The number of buckets of level 0.
    pub(crate) first_buckets: u64,
    /// The number of buckets at which the table stops growing, at most [`largest`].
    pub(crate) max_buckets: u64,
    /// An upper bound of the false-positive rate with `max_buckets` buckets, all of them full.
    pub(crate) max_rate: f64,
    /// The target, which is at least `max_rate`: that named by the user, or the default, or, if
    /// only the layout was named, `max_rate`.
    pub(crate) target: f64,
}

impl Choice {
    /// The bits that an item takes in buckets at the end of the growth.
    fn bits_per_item(&self) -> f64 {
        bits_per_item(self.layout, doublings(self.first_buckets, self.max_buckets))
    }

    /// The share of occupied slots, in 256ths, at which the table splits its next bucket.
    pub(crate) fn load(&self) -> u32 {
        target_load(self.layout.slots_per_bucket()) as u32
    }
}

/// Chooses the layout that meets the target at the end of the growth, where the rate is highest,
/// and takes the fewest bits per item there, ghosts included.
///
/// # Errors
/// `MaxCapacityTooLow`, `CapacityTooLarge`, `RateTooLow`. For a layout that was named:
/// `LayoutUnsuitable` if it is not one of tables that grow, `LayoutMissesRate`.
pub(crate) fn choose(wanted: &Wanted) -> Result<Choice, BuildError> {
    let &Wanted { capacity, max_capacity, target, layout, value_bits } = wanted;
    if let (Some(capacity), Some(max_capacity)) = (capacity, max_capacity)
        && max_capacity < capacity
    {
        return Err(BuildError::MaxCapacityTooLow { max_capacity, capacity });
    }
    if let Some(layout) = layout.filter(|layout| layout.splitting().is_none()) {
        return Err(BuildError::LayoutUnsuitable { layout, value_bits });
    }
    let candidates: Layouts = match (layout, value_bits) {
        (Some(layout), _) => iter::once(layout).collect(),
        (None, Some(value_bits)) => Layout::growing_with_values(value_bits).collect(),
        (None, None) => Layout::GROWING.iter().copied().collect(),
    };
    let target = match (target, layout) {
        (None, Some(_)) => f64::INFINITY,
        (None, None) if value_bits.is_some() => DEFAULT_TARGET_WITH_VALUES,
        (target, _) => target.unwrap_or(DEFAULT_TARGET),
    };
    let sized = candidates.iter().filter_map(|&layout| sized(layout, capacity, max_capacity));
    let meets = sized.clone().filter(|choice| choice.max_rate <= target);
    let best = meets.min_by(|one, other| one.bits_per_item().total_cmp(&other.bits_per_item()));
    let lowest = sized.map(|choice| choice.max_rate).reduce(f64::min);
    match (best, lowest, layout) {
        (Some(choice), ..) if target.is_finite() => Ok(Choice { target, ..choice }),
        (Some(choice), ..) => Ok(choice),
        (None, Some(reached), Some(layout)) => {
            Err(BuildError::LayoutMissesRate { layout, target, reached })
        }
        (None, Some(lowest), None) => Err(BuildError::RateTooLow { target, lowest }),
        (None, None, _) => {
            let capacity = max_capacity.or(capacity).expect("the default fits");
            Err(BuildError::CapacityTooLarge { capacity, layout: candidates[0] })
        }
    }
}

/// The sizes of a table of this layout, which it also takes for its target, or `None` if it would
/// need too many buckets.
fn sized(layout: Layout, capacity: Option<usize>, max_capacity: Option<usize>) -> Option<Choice> {
    let slots = u64::from(layout.slots_per_bucket());
    // The buckets for `max_capacity` items and the ghosts of this many doublings.
    let needed = |doublings: u32| {
        let items = max_capacity? as f64;
        let ghosts = libm::ceil(items * ghosts_per_item(layout, doublings.into()));
        Some(buckets_for(layout, max_capacity? as u128 + ghosts as u128))
    };
    let min_slots = match (capacity, needed(0)) {
        (Some(_), _) => MIN_SLOTS,
        (None, None) => DEFAULT_SLOTS,
        (None, Some(buckets)) => buckets.saturating_mul(slots).clamp(MIN_SLOTS, DEFAULT_SLOTS),
    };
    let first = buckets_for(layout, capacity.unwrap_or(0) as u128);
    let first = first.max(min_slots.div_ceil(slots)).max(MIN_BUCKETS);
    let first = first.max(needed(MAX_DOUBLINGS).unwrap_or(0).div_ceil(1 << MAX_DOUBLINGS));
    if first > MAX_BUCKETS {
        return None;
    }
    let max_buckets = if max_capacity.is_none() {
        largest(first)
    } else {
        // As many doublings as it takes, and the ghosts of no more than those.
        let enough = |&doublings: &u32| {
            needed(doublings).is_some_and(|n| n <= (first << doublings).min(MAX_BUCKETS))
        };
        let doublings = (0..=MAX_DOUBLINGS).find(enough)?;
        needed(doublings)?.max(first)
    };
    let max_rate = full_rate(layout, doublings(first, max_buckets));
    Some(Choice { layout, first_buckets: first, max_buckets, max_rate, target: max_rate })
}

/// The largest number of buckets that a table of this many first buckets can have: 32,768 times as
/// many, and at most 2^32.
pub(crate) fn largest(first_buckets: u64) -> u64 {
    (first_buckets << MAX_DOUBLINGS).min(MAX_BUCKETS)
}

/// The least number of buckets for this many items, ghosts included, at the target load.
fn buckets_for(layout: Layout, items: u128) -> u64 {
    let slots = layout.slots_per_bucket();
    let per_bucket = u128::from(slots) * u128::from(target_load(slots));
    let buckets = (items * u128::from(FULL_LOAD)).div_ceil(per_bucket);
    u64::try_from(buckets).unwrap_or(u64::MAX)
}

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
/// In the simulation the share was 0.69 to 0.73, and this bound 0 to 10 % above the rate: 256 to
/// 1,000 first buckets, up to 15 doublings in 32 steps each. The share is higher if items come and
/// go while the table grows slowly, because every move from a split to an unsplit bucket costs a
/// bit: 0.76 to 0.78 with 100 short-lived items for each one that stays, which is up to 1.5 % above
/// the bound. It is never more than 1.
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
/// The first doubling beyond the longest tail splits `2^-tail` of the slots in vain, and each
/// further one nearly as many more. In the simulation it was 0.71 to 0.75 of that per doubling,
/// and with 5 slots, which have the shortest tails without values, up to 0.86. Ghosts also make the
/// table grow, and then become more themselves: with tails of 3 bits it was 1.4 after 10 doublings,
/// and 2.0 after 14.
fn ghosts_per_item(layout: Layout, doublings: f64) -> f64 {
    let (past, per_slot) = past_tails(layout, doublings);
    let share = past * per_slot;
    0.875 * share * (1.0 + 0.85 * share * share)
}

/// The doublings beyond the longest tail, and the share of tails that run out in each of them.
fn past_tails(layout: Layout, doublings: f64) -> (f64, f64) {
    let tail = layout.splitting().map_or(0, |splitting| splitting.longest_tail);
    ((doublings - f64::from(tail)).max(0.0), 1.0 / f64::from(1 << tail))
}

/// The bits that an item takes in buckets after this many doublings, ghosts included.
fn bits_per_item(layout: Layout, doublings: f64) -> f64 {
    let slots = f64::from(layout.slots_per_bucket()) * load(layout);
    64.0 * (1.0 + ghosts_per_item(layout, doublings)) / slots
}

/// The target load, exact.
fn load(layout: Layout) -> f64 {
    target_load(layout.slots_per_bucket()) as f64 / FULL_LOAD as f64
}

#[cfg(test)]
mod tests;
