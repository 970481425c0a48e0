//! The plan of a chain: which layouts its segments have, so that their false-positive rates
//! together never exceed the target.

use alloc::{vec, vec::Vec};

use crate::{
    BuildError, Layout,
    table::{Addressing, MAX_BUCKETS, Nested, buckets_for, by_preference},
};

/// The segments of a chain, from the first to the last one possible.
pub(crate) type Plan = Vec<(Layout, Addressing<Nested>)>;

/// The false-positive rate of a segment that is full.
pub(crate) fn rate_of((layout, addressing): &(Layout, Addressing<Nested>)) -> f64 {
    let (_, count) = addressing.nesting().fingerprints();
    layout.false_positive_rate_among(count, 1.0)
}

/// Plans a chain: however many of the planned segments exist, their rates, with all of them full,
/// add up to at most `target`.
///
/// Each segment takes the first layout, in the order of preference, whose rate is at most half of
/// what earlier segments have left of the target. Before the halving, the least that all later
/// segments need is set aside. (Otherwise the shares would shrink by a constant factor, and after
/// some doublings no layout could meet them.) Equal shares would make the first segments, which may
/// be all there ever are, as expensive as the last.
///
/// # Errors
/// `CapacityTooLarge`. If the target cannot be met: `LayoutMissesRate` if `first` is given,
/// `RateTooLow` otherwise.
pub(crate) fn plan(
    capacity: usize,
    first: Option<Layout>,
    target: f64,
    fastest: bool,
) -> Result<Plan, BuildError> {
    let layouts = by_preference(fastest);
    let firsts = first.map_or_else(|| layouts.clone(), |layout| vec![layout]);
    let mut lowest = f64::INFINITY;
    let mut fits = false;
    for &first in &firsts {
        let first_buckets = buckets_for(first, capacity as u64);
        if first_buckets > MAX_BUCKETS {
            continue;
        }
        fits = true;
        match (Start { first, first_buckets }).plan(&layouts, target) {
            Ok(plan) => return Ok(plan),
            Err(reached) => lowest = lowest.min(reached),
        }
    }
    match first {
        _ if !fits => Err(BuildError::CapacityTooLarge { capacity, layout: firsts[0] }),
        Some(layout) => Err(BuildError::LayoutMissesRate { layout, target, reached: lowest }),
        None => Err(BuildError::RateTooLow { target, lowest }),
    }
}

/// The first segment, which determines the sizes of all others.
struct Start {
    first: Layout,
    first_buckets: u64,
}

impl Start {
    /// Returns the plan of a chain with this first segment, or the lowest target that it can meet.
    fn plan(&self, layouts: &[Layout], target: f64) -> Result<Plan, f64> {
        let levels = (MAX_BUCKETS / self.first_buckets).ilog2() + 1;
        let rate = |layout: &Layout| rate_of(&(*layout, self.addressing(*layout, 0)));
        let at_least_as_long = |other: Layout| {
            let bits = other.fingerprint_bits();
            layouts.iter().copied().filter(move |layout| layout.fingerprint_bits() >= bits)
        };
        let last = at_least_as_long(self.first).min_by(|a, b| rate(a).total_cmp(&rate(b)));
        let last = last.unwrap_or(self.first);
        let others = f64::from(levels - 1) * rate(&last);
        // The first segment must leave as much as it takes, unless it has the lowest rate of all.
        // Rounded up, because the sums of rates are rounded.
        let least = others + if self.first == last { 1.0 } else { 2.0 } * rate(&self.first);
        let least = least * (1.0 + 1e-9);
        if target < least {
            return Err(least);
        }
        let mut left = target;
        let mut plan = Plan::with_capacity(levels as usize);
        for level in 0..levels {
            let needed = f64::from(levels - 1 - level) * rate(&last);
            let leaves_half = |layout: &Layout| 2.0 * rate(layout) + needed <= left;
            let layout = match plan.last() {
                None => self.first,
                // If no layout leaves half, the one with the lowest rate.
                Some(&(before, _)) => at_least_as_long(before).find(leaves_half).unwrap_or(last),
            };
            left -= rate(&layout);
            plan.push((layout, self.addressing(layout, level)));
        }
        Ok(plan)
    }

    /// The addressing of a segment.
    fn addressing(&self, layout: Layout, level: u32) -> Addressing<Nested> {
        let first_bits = self.first.fingerprint_bits();
        // Semi-sorted layouts have at least 12 bits, and no fingerprints below 16. The first
        // segment must use only fingerprints that remain valid when bits are appended.
        let min = if first_bits < 12 { 16 >> (12 - first_bits) } else { 16 };
        let first_fingerprints = (min, (1 << first_bits) - min);
        let extra_bits = layout.fingerprint_bits() - first_bits;
        let nested = Nested::new(level, first_fingerprints, extra_bits);
        Addressing::nested(self.first_buckets, nested)
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, plan, rate_of};
    use crate::{
        BuildError,
        bucket::{BucketLayout, with_layout},
    };

    const RATES: [f64; 9] = [0.9, 0.2, 0.1, 0.03, 0.01, 0.003, 0.001, 0.000_3, 0.000_1];

    #[test]
    fn the_rates_never_add_up_to_more_than_the_target() {
        for capacity in [1, 10, 1_000, 1_000_000, 1_000_000_000] {
            for (target, fastest) in
                RATES.into_iter().flat_map(|rate| [(rate, false), (rate, true)])
            {
                let plan = plan(capacity, None, target, fastest).unwrap();
                let sum: f64 = plan.iter().map(rate_of).sum();
                assert!(sum <= target, "{capacity} {target} {sum}");
                let (_, last) = plan.last().unwrap();
                assert!(last.buckets() * 2 > 1 << 32 && last.buckets() <= 1 << 32);
            }
        }
    }

    #[test]
    fn fingerprints_grow_and_are_valid_in_their_layouts() {
        for target in RATES {
            let plan = plan(100, None, target, false).unwrap();
            assert!(plan.is_sorted_by_key(|(layout, _)| layout.fingerprint_bits()));
            for (layout, addressing) in plan {
                let (min, count) = addressing.nesting().fingerprints();
                with_layout!(layout, L => {
                    assert!(min >= L::MIN_FINGERPRINT, "{layout:?}");
                    assert_eq!(min + count - 1, L::MAX_FINGERPRINT);
                });
            }
        }
    }

    /// If an error names a lowest target, a plan can meet that target.
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
                let sum: f64 = plan.iter().map(rate_of).sum();
                assert!(sum <= lowest && first.is_none_or(|first| plan[0].0 == first));
            }
        }
    }

    /// The plan assumes this of the layouts.
    #[test]
    fn the_layout_with_the_lowest_rate_has_the_longest_fingerprints() {
        let lowest = Layout::ALL
            .iter()
            .min_by(|a, b| a.false_positive_rate().total_cmp(&b.false_positive_rate()));
        assert_eq!(
            lowest.map(|layout| layout.fingerprint_bits()),
            Layout::ALL.iter().map(|l| l.fingerprint_bits()).max()
        );
        assert!(Layout::ALL.iter().all(|layout| layout.fingerprint_bits() >= 8));
    }

    #[test]
    fn impossible_plans_are_errors() {
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
