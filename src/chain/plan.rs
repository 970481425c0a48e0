//! Which layouts a chain's segments have: so that their rates together never exceed the one asked for.

use alloc::{vec, vec::Vec};
use core::cmp::Reverse;

use super::Nested;
use crate::{BuildError, Layout, geometry::MAX_BUCKETS, sizing::buckets_for};

/// The segments of a chain, from the first to the last that there can be.
pub(crate) type Plan = Vec<(Layout, Nested)>;

/// The false-positive rate of a full segment.
pub(crate) fn rate_of(layout: Layout, nested: &Nested) -> f64 {
    layout.rate_among(nested.fingerprints(), 1.0)
}

/// Plans a chain: the sum of the rates of its first segments, all full, is at most `asked`, however many they are.
///
/// Each segment takes the smallest layout (or the fastest) that leaves half of the rate that is left, apart from what the
/// segments after it need at least. Shares that grow smaller by a constant factor could not be met after some doublings,
/// and equal shares would make the first segments, which may be all there ever are, as expensive as the last.
pub(crate) fn plan(
    capacity: usize,
    first: Option<Layout>,
    asked: f64,
    fastest: bool,
) -> Result<Plan, BuildError> {
    let cost = |layout: &Layout| {
        let slow = layout.is_semi_sorted();
        (slow && fastest, Reverse(layout.lanes()), slow)
    };
    let mut layouts = Layout::ALL.to_vec();
    layouts.sort_by_key(cost);
    let firsts = first.map_or(layouts.clone(), |layout| vec![layout]);
    let mut lowest = f64::INFINITY;
    let mut fitting = false;
    for &first in &firsts {
        let first_buckets = buckets_for(first, capacity as u64);
        if first_buckets > MAX_BUCKETS {
            continue;
        }
        fitting = true;
        let chain = Ranges { first, first_buckets };
        match chain.plan(&layouts, asked) {
            Ok(plan) => return Ok(plan),
            Err(reachable) => lowest = lowest.min(reachable),
        }
    }
    match first {
        _ if !fitting => Err(BuildError::CapacityTooLarge { capacity, layout: firsts[0] }),
        Some(layout) => Err(BuildError::LayoutMissesRate { layout, asked, reached: lowest }),
        None => Err(BuildError::RateTooLow { asked, lowest }),
    }
}

/// What the first segment says of all.
struct Ranges {
    first: Layout,
    first_buckets: u64,
}

impl Ranges {
    /// The plan of a chain that begins so; or the lowest rate that it could have.
    fn plan(&self, layouts: &[Layout], asked: f64) -> Result<Plan, f64> {
        let most = (MAX_BUCKETS / self.first_buckets).ilog2() + 1;
        let rate = |layout: &Layout| rate_of(*layout, &self.nested(*layout, 0));
        let longer = |than: Layout| {
            layouts.iter().copied().filter(move |layout| layout.bits() >= than.bits())
        };
        let last = longer(self.first).min_by(|a, b| rate(a).total_cmp(&rate(b)));
        let last = last.unwrap_or(self.first);
        let others = f64::from(most - 1) * rate(&last);
        // With a half to leave, unless there is nothing better to leave it to; rounded up, for sums to come.
        let least = others + if self.first == last { 1.0 } else { 2.0 } * rate(&self.first);
        let least = least * (1.0 + 1e-9);
        if asked < least {
            return Err(least);
        }
        let mut left = asked;
        let mut plan = Plan::new();
        for level in 0..most {
            let needed = f64::from(most - 1 - level) * rate(&last);
            let leaves_half = |layout: &Layout| 2.0 * rate(layout) + needed <= left;
            let layout = match plan.last() {
                None => self.first,
                // Without a half to leave, the lowest rate there is.
                Some(&(before, _)) => longer(before).find(leaves_half).unwrap_or(last),
            };
            left -= rate(&layout);
            plan.push((layout, self.nested(layout, level)));
        }
        Ok(plan)
    }

    /// The mappings of a segment.
    fn nested(&self, layout: Layout, level: u32) -> Nested {
        // Semi-sorted words have no fingerprints below 16, of 12 bits at least: none of those that come later may
        // have to be one.
        let least = if self.first.bits() < 12 { 16 >> (12 - self.first.bits()) } else { 16 };
        let first_fingerprints = (least, (1 << self.first.bits()) - least);
        let extra_bits = layout.bits() - self.first.bits();
        Nested::new(self.first_buckets, level, first_fingerprints, extra_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, plan, rate_of};
    use crate::{BuildError, geometry::Placement, word::WordLayout, word::with_layout};

    const RATES: [f64; 9] = [0.9, 0.2, 0.1, 0.03, 0.01, 0.003, 0.001, 0.000_3, 0.000_1];

    #[test]
    fn the_sum_of_the_rates_never_exceeds_the_one_asked_for() {
        for capacity in [1, 10, 1_000, 1_000_000, 1_000_000_000] {
            for (asked, fastest) in RATES.into_iter().flat_map(|rate| [(rate, false), (rate, true)])
            {
                let plan = plan(capacity, None, asked, fastest).unwrap();
                let sum: f64 = plan.iter().map(|(layout, nested)| rate_of(*layout, nested)).sum();
                assert!(sum <= asked, "{capacity} {asked} {sum}");
                let (_, last) = plan.last().unwrap();
                assert!(last.buckets() * 2 > 1 << 32 && last.buckets() <= 1 << 32);
            }
        }
    }

    #[test]
    fn fingerprints_grow_and_are_such_as_the_layouts_know() {
        for asked in RATES {
            let plan = plan(100, None, asked, false).unwrap();
            assert!(plan.is_sorted_by_key(|(layout, _)| layout.bits()));
            for (layout, nested) in plan {
                let least = nested.least_fingerprint();
                with_layout!(layout, L => {
                    assert!(least >= L::LEAST_FINGERPRINT, "{layout:?}");
                    assert_eq!(least + nested.fingerprints() - 1, L::MOST_FINGERPRINT);
                });
            }
        }
    }

    /// The lowest rate that an error names is one that can be had.
    #[test]
    fn the_lowest_rate_is_met() {
        for capacity in [1, 3, 10, 500, 70_000, 1_000_000_000] {
            for first in Layout::ALL.iter().map(|&layout| Some(layout)).chain([None]) {
                let lowest = match plan(capacity, first, 1e-9, false).unwrap_err() {
                    BuildError::RateTooLow { lowest, .. } => lowest,
                    BuildError::LayoutMissesRate { reached, .. } => reached,
                    error => panic!("{error}"),
                };
                let plan = plan(capacity, first, lowest, false).unwrap();
                let sum: f64 = plan.iter().map(|(layout, nested)| rate_of(*layout, nested)).sum();
                assert!(sum <= lowest && first.is_none_or(|first| plan[0].0 == first));
            }
        }
    }

    /// What the plan takes for granted of the layouts there are.
    #[test]
    fn the_layout_with_the_lowest_rate_has_the_longest_fingerprints() {
        let lowest = Layout::ALL.iter().min_by(|a, b| a.rate().total_cmp(&b.rate()));
        assert_eq!(lowest.map(|layout| layout.bits()), Layout::ALL.iter().map(|l| l.bits()).max());
        assert!(Layout::ALL.iter().all(|layout| layout.bits() >= 8));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(matches!(plan(1, None, 1e-6, false), Err(BuildError::RateTooLow { .. })));
        let plain = Some(Layout::Plain8x8);
        assert!(matches!(plan(1, plain, 0.01, false), Err(BuildError::LayoutMissesRate { .. })));
        assert_eq!(plan(1, plain, 0.5, false).unwrap()[0].0, Layout::Plain8x8);
        #[cfg(target_pointer_width = "64")]
        assert!(matches!(
            plan(1 << 40, None, 0.01, false),
            Err(BuildError::CapacityTooLarge { .. })
        ));
    }
}
