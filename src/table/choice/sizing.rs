//! Sizing: from a capacity to a number of buckets, and back. It is fitted to experiments, which the
//! sections `quantile` and `capacity` of `guira-bench` repeat.

use crate::{Layout, table::MAX_BUCKETS};

/// The slots that a table of `s` slots holds back, `share * s + root * sqrt(s) + constant`, so that
/// at most one table in 10,000 refuses an item before the remaining slots are occupied.
///
/// Up to 10^5 items this is fitted to experiments: to the smallest load at which any of up to
/// 400,000 tables of a size refused an item. The fit is rounded up, and the result was measured
/// again. Above 10^5 items, only `share` matters, and it is extrapolated. In a large table, the
/// first refusal is the first failure among many nearly independent searches. So a table of 10,000
/// N slots refuses an item at about the same load as the first of 10,000 tables of N slots. Take
/// the load at which one in 10,000 tables of N slots has refused an item: at this load, about 63 %
/// of the tables of 10,000 N slots have refused one. This load falls by the same step whenever N
/// grows by the same factor: for each factor of 181, by 0.09, 0.14, 0.27, 0.37 and 0.40 percentage
/// points, for 8, 6, 5, 4 and 3 slots per bucket. `share` allows for this up to 2^32 buckets.
///
/// For 2 slots per bucket, this load rises with the size up to about 2^15 slots, and 10,000 tables
/// that are large enough to show the step take too long to fill. There the step is taken from the
/// lengths of searches in tables of 2^22 buckets. At a given load, the share of searches that read
/// at least n buckets falls exponentially with n. Extrapolated to the 1,002 buckets of the longest
/// search, it is the probability that an insert is refused. The step is 0.6 percentage points, and
/// the loads at the first refusal agree with it in tables of up to 2^26 slots.
struct Slack {
    share: f64,
    root: f64,
    constant: f64,
}

/// The slack of buckets of this many slots: fewer slots need more.
const fn slack(slots: u32) -> Slack {
    match slots {
        2 => Slack { share: 0.144, root: 0.0, constant: 42.0 },
        3 => Slack { share: 0.068, root: 0.0, constant: 19.0 },
        4 => Slack { share: 0.0385, root: 0.5, constant: 10.5 },
        5 => Slack { share: 0.027, root: 0.45, constant: 9.0 },
        6 => Slack { share: 0.017, root: 0.3, constant: 8.5 },
        8 => Slack { share: 0.009, root: 0.2, constant: 7.0 },
        _ => panic!("the slack of this number of slots has not been measured"),
    }
}

impl Slack {
    /// The slots of which this many can be occupied.
    fn slots_for(&self, items: f64) -> f64 {
        let Self { share, root, constant } = *self;
        // The positive solution of (1 - share) s - root sqrt(s) - constant = items for sqrt(s).
        let (usable, needed) = (1.0 - share, items + constant);
        let sqrt = (root + libm::sqrt(root * root + 4.0 * usable * needed)) / (2.0 * usable);
        sqrt * sqrt
    }
}

/// The share of slots that can be occupied in large tables of `slots` per bucket whose items come
/// in `copies`, for numbers without a common divisor. It is the least load at the first refusal in
/// tables of 10^6 buckets, less 0.012 to 0.024.
const fn load_with_copies(slots: u32, copies: u32) -> f64 {
    match (slots, copies) {
        (3, 2) => 0.73,
        (4, 3) => 0.663,
        (5, 2) => 0.90,
        (5, 3) => 0.78,
        (5, 4) => 0.62,
        (6, 5) => 0.595,
        (8, 3) => 0.91,
        (8, 5) => 0.76,
        (8, 7) => 0.555,
        _ => panic!("the load of this number of copies has not been measured"),
    }
}

/// Largest probability that a table refuses an item within its capacity.
const RISK: f64 = 1e-4;

/// Least load of a table of more than `FEW_BUCKETS` at its capacity. Copies that leave less are
/// rejected.
const MIN_LOAD: f64 = 1.0 / 16.0;
const FEW_BUCKETS: u64 = 1 << 14;

/// The number of buckets for `capacity` items, of which at most `copies` are equal: at most one
/// table in 10,000 refuses one. `None` if the layout cannot hold so many copies, or only in a table
/// that is nearly empty.
///
/// The result can exceed the largest number of buckets of a table.
pub(crate) fn buckets_for(layout: Layout, capacity: u64, copies: u64) -> Option<u64> {
    let slots = layout.slots_per_bucket();
    if capacity <= slots.into() {
        // There is only one bucket, which is both buckets of every item.
        return Some(1);
    }
    let copies = u32::try_from(copies).ok().filter(|&copies| copies <= slots)?;
    let by_load = buckets_by_load(slots, copies, capacity);
    let keys = capacity as f64 / f64::from(copies);
    let bits = layout.fingerprint_bits();
    let is_enough = |buckets: u64| copies == 1 || risk(slots, copies, bits, keys, buckets) <= RISK;
    let buckets = least(by_load, is_enough);
    let load = capacity as f64 / (buckets as f64 * f64::from(slots));
    (load >= MIN_LOAD || buckets <= FEW_BUCKETS || by_load > MAX_BUCKETS).then_some(buckets)
}

/// The least number from `from` on that is enough, as all larger ones are; or, if it is larger than
/// the largest number of buckets of a table, some number that is.
pub(crate) fn least(from: u64, is_enough: impl Fn(u64) -> bool) -> u64 {
    let mut bounds = [from, from];
    while bounds[1] <= MAX_BUCKETS && !is_enough(bounds[1]) {
        bounds = [bounds[1] + 1, bounds[1] * 2];
    }
    let [mut low, mut high] = bounds;
    // `high` is enough, or too large.
    while low < high {
        let middle = low.midpoint(high);
        if is_enough(middle) { high = middle } else { low = middle + 1 }
    }
    high
}

/// The number of buckets whose slots suffice, if no few keys meet in too few buckets.
///
/// What fits depends on the copies in relation to the slots: 4 slots with 2 copies hold as many
/// keys as 2 slots with 1.
fn buckets_by_load(slots: u32, copies: u32, capacity: u64) -> u64 {
    let divisor = (1..=copies)
        .rev()
        .find(|n| copies.is_multiple_of(*n) && slots.is_multiple_of(*n))
        .unwrap_or(1);
    // Slots and items in units of the common divisor.
    let (unit_slots, unit_copies) = (slots / divisor, copies / divisor);
    let units = capacity as f64 / f64::from(divisor);
    let needed = match (unit_slots, unit_copies) {
        // Tests under shuttle fill filters of few buckets to the last slot.
        _ if cfg!(shuttle) => units,
        // As many copies as slots: components of a random graph, each with at most one cycle.
        (1, 1) => 2.0 * units,
        (_, 1) => slack(unit_slots).slots_for(units),
        _ => {
            let constant = 60.0 * f64::from(unit_copies);
            (units + constant) / load_with_copies(unit_slots, unit_copies)
        }
    };
    // Units larger than a slot fill slightly less: measured with 8 slots and 4 copies, and with 6
    // and 4.
    let needed = needed * (1.0 + 0.002 * f64::from(divisor - 1));
    libm::ceil(needed / f64::from(unit_slots)) as u64
}

/// About three times the probability that a few keys, each with all its copies, meet in so few
/// buckets that they have no room there, however empty the table is. `bits` are those of a
/// fingerprint.
///
/// - Where two copies of a key take more than half of a bucket, i keys are too many for i - 1
///   buckets: two keys whose two buckets are one, three on a pair of buckets, and so on. There are
///   about `weight * keys_per_bucket^i / buckets` such sets. Where copies take all of a bucket, and
///   the table is not nearly empty, components of the random graph of keys with two cycles count.
/// - Keys with one fingerprint and one bucket share the other bucket, too. Too many of them for
///   both buckets meet, or too many for one bucket, which is both buckets of their fingerprint.
///
/// The weights of 2 and 3 keys are counted. Those of 4 and 5 are rounded, and fit simulated tables
/// of 100 and 1,000 buckets.
fn risk(slots: u32, copies: u32, bits: u32, keys: f64, buckets: u64) -> f64 {
    let buckets = buckets as f64;
    let per_bucket = keys / buckets;
    let powers = |n: u32| (0..n).map(|_| per_bucket).product::<f64>();
    let local = if copies == slots && per_bucket > 0.2 {
        let left = 1.0 - 2.0 * per_bucket;
        if left > 0.0 { 5.0 / 24.0 / (left * left * left) } else { f64::INFINITY }
    } else {
        let sets = [(2, 0.5), (3, 3.67), (4, 18.0), (5, 80.0)];
        let are_too_many = |&(keys, _): &(u32, f64)| keys * copies > (keys - 1) * slots;
        sets.iter().filter(|set| are_too_many(set)).map(|&(n, weight)| weight * powers(n)).sum()
    };
    // So many aliases have no room in two buckets, and in one.
    let [in_two, in_one] = [2 * slots / copies + 1, slots / copies + 1];
    let sets = |keys: u32| powers(keys) / (1..=keys).map(f64::from).product::<f64>();
    let alike =
        |bits: u32, keys: u32| (1..keys).map(|_| 1.0 / (1_u64 << bits) as f64).product::<f64>();
    let aliases =
        buckets * sets(in_two) * alike(bits - 1, in_two) + sets(in_one) * alike(bits, in_one);
    3.0 * (local / buckets + aliases)
}

#[cfg(test)]
mod tests {
    use super::{Layout, buckets_for};

    /// The layouts without values, and one with 2 slots per bucket, which only maps have.
    fn layouts() -> impl Iterator<Item = Layout> {
        Layout::ALL.iter().copied().chain(Layout::with_values(2, 0))
    }

    /// The load factor at capacity.
    fn load(layout: Layout, capacity: u64) -> f64 {
        let slots =
            buckets_for(layout, capacity, 1).unwrap() * u64::from(layout.slots_per_bucket());
        capacity as f64 / slots as f64
    }

    #[test]
    fn large_tables_hold_little_back() {
        for layout in layouts() {
            let least = match layout.slots_per_bucket() {
                2 => 0.85,
                3 => 0.93,
                4 => 0.96,
                5 | 6 => 0.97,
                _ => 0.98,
            };
            for capacity in [1_000_000, 1_234_567, 100_000_000, 10_000_000_000] {
                assert!(load(layout, capacity) >= least, "{layout:?} {capacity}");
            }
        }
    }

    #[test]
    fn no_capacity_exceeds_the_slots() {
        for layout in layouts() {
            for capacity in 1..100_000 {
                assert!(load(layout, capacity) <= 1.0, "{layout:?} {capacity}");
                let next = buckets_for(layout, capacity + 1, 1);
                assert!(buckets_for(layout, capacity, 1) <= next);
            }
        }
    }
}
