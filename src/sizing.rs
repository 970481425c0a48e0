//! How many buckets a capacity needs: fitted to experiments, which `benches/load.rs` repeats.

use crate::Layout;

/// The slots that a table of `s` slots holds back, `share * s + root * sqrt(s) + constant`, so that
/// the rest of them can be used but for one table in 10 000.
///
/// Up to 10^5 items this is fitted to the smallest of up to 400 000 tables per size (`quantile`),
/// rounded up, and measured again as it stands (`capacity`). Above, `share` alone matters. There the
/// first refusal is the first of many nearly independent searches that fails, so one in 10 000
/// tables of N slots refuses where the middle one of tables of 10 000 N slots does; and that load
/// falls by the same step for every factor in N: per factor of 181, by 0.09, 0.14, 0.27, 0.37 and
/// 0.40 points of load, for 8, 6, 5, 4 and 3 lanes. `share` leaves room for this up to 2^32 buckets.
struct Slack {
    share: f64,
    root: f64,
    constant: f64,
}

/// The slack of a layout: the fewer the lanes, the more; in what form they are stored does not matter.
const fn slack(layout: Layout) -> Slack {
    match layout.lanes() {
        3 => Slack { share: 0.068, root: 0.0, constant: 19.0 },
        4 => Slack { share: 0.0385, root: 0.5, constant: 10.5 },
        5 => Slack { share: 0.027, root: 0.45, constant: 9.0 },
        6 => Slack { share: 0.017, root: 0.3, constant: 8.5 },
        8 => Slack { share: 0.009, root: 0.2, constant: 7.0 },
        _ => panic!("the slack of so many lanes has not been measured"),
    }
}

/// The number of buckets in which `capacity` distinct items fit, but for one table in 10 000.
///
/// The result may be larger than any table can be.
pub(crate) fn buckets_for(layout: Layout, capacity: u64) -> u64 {
    let lanes = u64::from(layout.lanes());
    if capacity <= lanes {
        // Both buckets of every item are the one there is.
        return 1;
    }
    let Slack { share, root, constant } = slack(layout);
    // The positive solution of (1 - share) s - root sqrt(s) - constant = capacity for sqrt(s).
    let usable = 1.0 - share;
    let needed = capacity as f64 + constant;
    let sqrt = (root + libm::sqrt(root * root + 4.0 * usable * needed)) / (2.0 * usable);
    libm::ceil(sqrt * sqrt / lanes as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::{Layout, buckets_for};

    /// The load factor at capacity.
    fn load(layout: Layout, capacity: u64) -> f64 {
        capacity as f64 / (buckets_for(layout, capacity) * u64::from(layout.lanes())) as f64
    }

    #[test]
    fn large_tables_hold_little_back() {
        for &layout in Layout::ALL {
            let least = match layout.lanes() {
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
    fn no_table_is_asked_for_more_than_its_slots() {
        for &layout in Layout::ALL {
            for capacity in 1..100_000 {
                assert!(load(layout, capacity) <= 1.0, "{layout:?} {capacity}");
                assert!(buckets_for(layout, capacity) <= buckets_for(layout, capacity + 1));
            }
        }
    }
}
