//! From capacities and a target false-positive rate to the layout and the sizes of a table that
//! grows.

use core::iter;

use super::{
    Layouts,
    doublings::{bits_per_item, doublings, full_rate, ghosts_per_item},
};
use crate::{BuildError, Layout};

/// Most doublings of a table, because a bucket counts its splits in 4 bits.
pub(crate) const MAX_DOUBLINGS: u32 = 15;

/// Most buckets of a table, because an item names its buckets in 32 bits. There are fewer at first,
/// because their number has as many.
const MAX_BUCKETS: u64 = 1 << 32;

/// Fewest buckets of the first size. Fewer are filled unevenly, so that searches in them fail.
/// Under shuttle, tests grow filters by a few inserts.
const MIN_BUCKETS: u64 = if cfg!(shuttle) { 2 } else { 256 };

/// Fewest slots of the first size: 2 to 4 KiB of buckets.
const MIN_SLOTS: u64 = if cfg!(shuttle) { 4 } else { 1_024 };

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
pub(super) const fn target_load(slots: u32) -> u64 {
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
    if let Some(layout) = layout.filter(|layout| layout.leveled().is_none()) {
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
    if first >= MAX_BUCKETS {
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

#[cfg(test)]
mod tests;
