//! Sizing: from a capacity to a number of buckets, and back. It is fitted to experiments, which the
//! sections `quantile` and `capacity` of `guira-bench` repeat.

use crate::Layout;

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

/// The slack of a layout. It depends on the slots per bucket alone: fewer slots need more.
const fn slack(layout: Layout) -> Slack {
    match layout.slots_per_bucket() {
        2 => Slack { share: 0.144, root: 0.0, constant: 42.0 },
        3 => Slack { share: 0.068, root: 0.0, constant: 19.0 },
        4 => Slack { share: 0.0385, root: 0.5, constant: 10.5 },
        5 => Slack { share: 0.027, root: 0.45, constant: 9.0 },
        6 => Slack { share: 0.017, root: 0.3, constant: 8.5 },
        8 => Slack { share: 0.009, root: 0.2, constant: 7.0 },
        _ => panic!("the slack of this number of slots has not been measured"),
    }
}

/// The number of buckets for `capacity` distinct items: at most one table in 10,000 refuses one.
///
/// The result can exceed the largest number of buckets of a table.
pub(crate) fn buckets_for(layout: Layout, capacity: u64) -> u64 {
    let slots = u64::from(layout.slots_per_bucket());
    if capacity <= slots {
        // There is only one bucket, which is both buckets of every item.
        return 1;
    }
    let mut slack = slack(layout);
    if cfg!(shuttle) {
        // Tests fill filters of few buckets to the last slot.
        slack = Slack { share: 0.0, root: 0.0, constant: 0.0 };
    }
    let Slack { share, root, constant } = slack;
    // The positive solution of (1 - share) s - root sqrt(s) - constant = capacity for sqrt(s).
    let usable = 1.0 - share;
    let needed = capacity as f64 + constant;
    let sqrt = (root + libm::sqrt(root * root + 4.0 * usable * needed)) / (2.0 * usable);
    libm::ceil(sqrt * sqrt / slots as f64) as u64
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
        let slots = buckets_for(layout, capacity) * u64::from(layout.slots_per_bucket());
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
                assert!(buckets_for(layout, capacity) <= buckets_for(layout, capacity + 1));
            }
        }
    }
}
