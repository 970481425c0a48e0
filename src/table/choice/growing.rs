//! From capacities and a target false-positive rate to the layout and the sizes of a table that
//! grows.

use core::iter;

use super::{
    Layouts,
    doublings::{bits_per_item, doublings, full_rate, ghosts_per_item},
    with_copies,
};
use crate::{BuildError, Layout};

/// Most doublings of a table, because a bucket counts its splits in 4 bits.
pub(crate) const MAX_DOUBLINGS: u32 = 15;

/// Fewest doublings of a table without a largest capacity. With more, some targets would need more
/// bits per item; with fewer, a table would not grow as far as users expect.
const UNBOUNDED: f64 = 12.0;

/// Most buckets of a table, because an item names its buckets in 32 bits. There are fewer at first,
/// because their number has as many.
const MAX_GROWN_BUCKETS: u64 = 1 << 32;

/// Fewest buckets of the first size. Fewer are filled unevenly, so that searches in them fail.
/// Under shuttle, tests grow filters by a few inserts.
const MIN_BUCKETS: u64 = if cfg!(shuttle) { 2 } else { 256 };

/// Fewest slots of the first size: 2 to 4 KiB of buckets.
const MIN_SLOTS: u64 = if cfg!(shuttle) { 4 } else { 1_024 };

/// Slots of the first size if no capacity is named. After all doublings they are 134 million.
const DEFAULT_SLOTS: u64 = 4_096;

/// Target false-positive rate if neither it nor a layout is named. With values of 16 bits, 0.43 %
/// is the lowest that can be met after 15 doublings, and that of the layouts with 4 and 5 slots,
/// which many copies need, is 0.5 % and 5 %.
fn default_target(has_values: bool, copies: usize) -> f64 {
    match copies {
        0..=2 if !has_values => 0.001,
        0..=4 => 0.005,
        _ => 0.05,
    }
}

/// What [`target_load`] is a fraction of: a power of two, so that the load is exact.
pub(in crate::table) const FULL_LOAD: u64 = 256;

/// The share of occupied slots, in 256ths, at which a table splits its next bucket.
///
/// In tables that grew to a million items, moves per insert by load, and the lowest load at which a
/// search failed:
///
/// | slots | 0.80 | 0.85 | 0.90 | fails at |
/// |---|---|---|---|---|
/// | 5 | 0.39 | 0.52 | 0.82 | 0.93 |
/// | 4 | 0.41 | 0.64 | 1.01 | 0.93 |
/// | 3 | 0.58 | 0.91 | 1.28 | 0.90 |
/// | 2 | 0.69 (0.74) | | | 0.80 |
///
/// With 0.85 and 4 slots, an insert takes 1.56 times the time that it takes with 0.80, with 0.844
/// 1.4 times.
///
/// The searches in the middle of a round are the longest, because there most of the buckets that
/// have not been split yet are full. 0.90 would save another 5 % of the memory, for twice the time
/// of an insert.
pub(super) const fn target_load(slots: u32) -> u64 {
    match slots {
        5 => 218,
        4 => 216,
        3 => 210,
        2 => 190,
        _ => panic!("the load of this number of slots has not been measured"),
    }
}

/// The load, in 256ths, at which tables whose items all come in this many copies refuse none at any
/// moment of a round.
const fn load_with_copies(slots: u32, copies: usize) -> u64 {
    match (copies, slots) {
        (2, 2) => 95,
        (2, 3) => 160,
        (2, 4) => 190,
        (2, 5) => 200,
        (3, 5) => 165,
        (3, 3 | 4) => 80,
        (4, 4) => 75,
        (4 | 5, _) => 55,
        _ => FULL_LOAD,
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
    /// Largest number of equal items.
    pub(crate) copies: usize,
}

/// The layout and the sizes of a table that grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) layout: Layout,
    /// The number of buckets of level 0.
    pub(crate) first_buckets: u64,
    /// The number of buckets at which the table stops growing.
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

/// Chooses, of the layouts that meet the target at the end of the growth, where the rate is
/// highest, the one that begins with the fewest buckets; of several, the one that takes the fewest
/// bits per item at the end, ghosts included.
///
/// The first buckets are monotone: more for a larger capacity, a larger maximum, or a lower target.
/// Those of each layout are, and so is the least of them.
///
/// # Errors
/// `MaxCapacityTooLow`, `CapacityTooLarge`, `RateTooLow`, `CopiesTooMany`. For a layout that was
/// named: `LayoutUnsuitable` if it is not one of tables that grow, `LayoutMissesRate`.
pub(crate) fn choose(wanted: &Wanted) -> Result<Choice, BuildError> {
    with_copies(wanted.copies, wanted.target.is_some(), |copies| {
        choose_for(&Wanted { copies, ..*wanted })
    })
}

/// As [`choose`]. The error does not say how many copies would fit.
fn choose_for(wanted: &Wanted) -> Result<Choice, BuildError> {
    let &Wanted { capacity, max_capacity, target, layout, value_bits, copies } = wanted;
    if let (Some(capacity), Some(max_capacity)) = (capacity, max_capacity)
        && max_capacity < capacity
    {
        return Err(BuildError::MaxCapacityTooLow { max_capacity, capacity });
    }
    if let Some(layout) = layout.filter(|layout| layout.leveled().is_none()) {
        return Err(BuildError::LayoutUnsuitable { layout, value_bits });
    }
    let mut candidates: Layouts = match (layout, value_bits) {
        (Some(layout), _) => iter::once(layout).collect(),
        (None, Some(value_bits)) => Layout::growing_with_values(value_bits).collect(),
        (None, None) => Layout::GROWING.iter().copied().collect(),
    };
    candidates.retain(|layout| copies <= layout.slots_per_bucket() as usize);
    if candidates.is_empty() {
        return Err(BuildError::CopiesTooMany { copies, most: 1 });
    }
    let target = match (target, layout) {
        (None, Some(_)) => f64::INFINITY,
        (Some(target), _) => target,
        (None, None) => default_target(value_bits.is_some(), copies),
    };
    let sized = candidates.iter().filter_map(|&layout| sized(layout, target, wanted));
    let best = sized.min_by(|one, other| {
        let bits = || one.bits_per_item().total_cmp(&other.bits_per_item());
        one.first_buckets.cmp(&other.first_buckets).then_with(bits)
    });
    let lowest = candidates.iter().map(|&layout| lowest_rate(layout, wanted));
    match (best, lowest.reduce(f64::min), layout) {
        (Some(choice), ..) if target.is_finite() => Ok(Choice { target, ..choice }),
        (Some(choice), ..) => Ok(choice),
        (None, Some(reached), Some(layout)) if reached > target => {
            Err(BuildError::LayoutMissesRate { layout, target, reached })
        }
        (None, Some(lowest), None) if lowest > target => {
            Err(BuildError::RateTooLow { target, lowest })
        }
        (None, ..) => {
            let capacity = max_capacity.or(capacity).expect("the default fits");
            Err(BuildError::CapacityTooLarge { capacity, layout: candidates[0] })
        }
    }
}

/// The lowest target that a layout meets: without growth if there is a largest capacity, and
/// otherwise after the fewest doublings that count as growth without bound.
fn lowest_rate(layout: Layout, wanted: &Wanted) -> f64 {
    let doublings = if wanted.max_capacity.is_some() { 0.0 } else { UNBOUNDED };
    full_rate(layout, doublings)
}

/// The sizes of a table of this layout, or `None` if it misses the target, or would need too many
/// buckets.
fn sized(layout: Layout, target: f64, wanted: &Wanted) -> Option<Choice> {
    let &Wanted { capacity, max_capacity, copies, .. } = wanted;
    let slots = u64::from(layout.slots_per_bucket());
    // The buckets for `max_capacity` items and the ghosts of this many doublings.
    let needed = |doublings: f64| {
        let items = max_capacity? as f64;
        let ghosts = libm::ceil(items * ghosts_per_item(layout, doublings));
        Some(buckets_for(layout, max_capacity? as u128 + ghosts as u128, copies))
    };
    // As many as meet the target, and do not need too many buckets, ghosts included.
    let doublings = most_doublings(f64::from(MAX_DOUBLINGS), |doublings| {
        let fits = needed(doublings).is_none_or(|buckets| buckets <= MAX_GROWN_BUCKETS);
        fits && full_rate(layout, doublings) <= target
    })?;
    let min_slots = match (capacity, needed(0.0)) {
        (Some(_), _) => MIN_SLOTS,
        (None, None) => DEFAULT_SLOTS,
        (None, Some(buckets)) => buckets.saturating_mul(slots).clamp(MIN_SLOTS, DEFAULT_SLOTS),
    };
    let first = buckets_for(layout, capacity.unwrap_or(0) as u128, copies);
    let first = first.max(min_slots.div_ceil(slots)).max(MIN_BUCKETS);
    // As many as can grow as far as they must.
    let last = needed(doublings).unwrap_or(0) as f64;
    let first = first.max(libm::ceil(last / libm::exp2(doublings)) as u64);
    if first >= MAX_GROWN_BUCKETS {
        return None;
    }
    // A layout with more slots takes less in the end, and is worth a first size that is a little
    // larger. So those with fewer slots begin with a tenth more for each. (To compare with a tenth
    // more, and to begin with less, would not be monotone.)
    let more = first + first * (5 - slots) / 10;
    let first = first.max(more.min(needed(0.0).unwrap_or(0)));
    let max_buckets = if max_capacity.is_none() {
        if doublings < UNBOUNDED {
            return None;
        }
        ((first as f64 * libm::exp2(doublings)) as u64).min(MAX_GROWN_BUCKETS)
    } else {
        // As many doublings as it takes, and the ghosts of no more than those.
        let enough = |doublings: &f64| {
            let most = ((first as f64 * libm::exp2(*doublings)) as u64).min(MAX_GROWN_BUCKETS);
            needed(*doublings).is_some_and(|buckets| buckets <= most)
        };
        let whole = (0..MAX_DOUBLINGS).map(f64::from).take_while(|&whole| whole < doublings);
        let doublings = whole.chain([doublings]).find(enough)?;
        needed(doublings)?.max(first)
    };
    let max_rate = full_rate(layout, self::doublings(first, max_buckets));
    Some(Choice { layout, first_buckets: first, max_buckets, max_rate, target: max_rate })
}

/// The most doublings, not a whole number of them, that are `fine`, up to `limit`, or `None` if not
/// even none are. More doublings are never fine if fewer are not.
fn most_doublings(limit: f64, fine: impl Fn(f64) -> bool) -> Option<f64> {
    if fine(limit) {
        return Some(limit);
    }
    let mut bounds = [0.0, limit];
    if !fine(bounds[0]) {
        return None;
    }
    for _ in 0..f64::MANTISSA_DIGITS {
        let middle = f64::midpoint(bounds[0], bounds[1]);
        bounds[usize::from(!fine(middle))] = middle;
    }
    Some(bounds[0])
}

/// The least number of buckets for this many items, ghosts included, at the target load, or where
/// items come in copies at a load that a table holds at any moment of a round.
fn buckets_for(layout: Layout, items: u128, copies: usize) -> u64 {
    let slots = layout.slots_per_bucket();
    let load = target_load(slots).min(load_with_copies(slots, copies));
    let per_bucket = u128::from(slots) * u128::from(load);
    let buckets = (items * u128::from(FULL_LOAD)).div_ceil(per_bucket);
    u64::try_from(buckets).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
