//! Planning a chain: which layouts its segments get, so that their false-positive rates together
//! never exceed the target.

use super::{Entries, Plan, plan::full_rate};
use crate::{
    BuildError, Layout,
    table::{MAX_BUCKETS, PerSegment, buckets_for, by_preference, with_values_by_preference},
};

/// What a plan is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Items that fit into the first segment.
    pub(crate) capacity: usize,
    /// The layout of the first segment, if it was chosen.
    pub(crate) first: Option<Layout>,
    /// Bits of a value, if items have values.
    pub(crate) value_bits: Option<u32>,
    /// Largest sum of the false-positive rates.
    pub(crate) target: f64,
    /// Whether plain layouts are preferred.
    pub(crate) fastest: bool,
}

/// Plans a chain: however many of the planned segments exist, their rates, with all of them full,
/// add up to at most `target`.
///
/// Each segment takes the first layout, in the order of preference, whose rate is at most half of
/// what earlier segments have left of the target. Before the halving, the least that all later
/// segments need is set aside. (Otherwise the shares would shrink by a constant factor from each
/// segment to the next, and after some segments no layout could meet them.) Equal shares would make
/// the first segments, which may be all there ever are, as expensive as the last.
///
/// # Errors
/// `CapacityTooLarge`. If the target cannot be met: `LayoutMissesRate` if `first` is given,
/// `RateTooLow` otherwise.
pub(crate) fn plan<V: Entries>(wanted: &Wanted) -> Result<Plan<V>, BuildError> {
    let &Wanted { capacity, first, value_bits, target, fastest } = wanted;
    let layouts = value_bits.map_or_else(|| by_preference(fastest), with_values_by_preference);
    let firsts = first.map_or_else(|| layouts.clone(), |layout| [layout].into_iter().collect());
    let mut lowest = f64::INFINITY;
    let mut fits = false;
    for &first in &firsts {
        let first_buckets = buckets_for(first, capacity as u64);
        if first_buckets > MAX_BUCKETS {
            continue;
        }
        fits = true;
        let start = Start { first, first_buckets };
        match start.plan(&layouts, target) {
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

/// What determines the sizes of all segments.
struct Start {
    first: Layout,
    first_buckets: u64,
}

impl Start {
    /// Returns the plan of a chain with this first segment, or the lowest target that it can meet.
    fn plan<V: Entries>(&self, layouts: &[Layout], target: f64) -> Result<Plan<V>, f64> {
        let segments = (MAX_BUCKETS / self.first_buckets).ilog2() + 1;
        let rate = |layout: &Layout| full_rate(self.first, *layout);
        let at_least_as_long = |other: Layout| {
            let bits = other.fingerprint_bits();
            layouts.iter().copied().filter(move |layout| layout.fingerprint_bits() >= bits)
        };
        let last = at_least_as_long(self.first).min_by(|a, b| rate(a).total_cmp(&rate(b)));
        let last = last.unwrap_or(self.first);
        let others = f64::from(segments - 1) * rate(&last);
        // The first segment must leave as much as it takes, unless it has the lowest rate of all.
        // Rounded up, because the sums of rates are rounded.
        let least = others + if self.first == last { 1.0 } else { 2.0 } * rate(&self.first);
        let least = least * (1.0 + 1e-9);
        if target < least {
            return Err(least);
        }
        let mut left = target;
        let mut layouts = PerSegment::new();
        for number in 0..segments {
            let needed = f64::from(segments - 1 - number) * rate(&last);
            let leaves_half = |layout: &Layout| 2.0 * rate(layout) + needed <= left;
            let layout = match layouts.last() {
                None => self.first,
                // If no layout leaves half, the one with the lowest rate.
                Some(&(before, _)) => at_least_as_long(before).find(leaves_half).unwrap_or(last),
            };
            left -= rate(&layout);
            layouts.push((layout, number));
        }
        let plan = Plan::of_layouts(self.first_buckets, &layouts);
        Ok(plan.expect("levels ascend, fingerprints grow, and values have as many bits"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, Plan, Wanted};
    use crate::{
        BuildError,
        bucket::{BucketLayout, with_layout},
        table::{MAX_BUCKETS, Nesting, Valued},
    };

    const RATES: [f64; 9] = [0.9, 0.2, 0.1, 0.03, 0.01, 0.003, 0.001, 0.000_3, 0.000_1];

    /// A wish without preferences.
    fn wanted(capacity: usize, first: Option<Layout>, target: f64) -> Wanted {
        Wanted { capacity, first, value_bits: None, target, fastest: false }
    }

    /// The plan of a chain without values.
    fn plan(wanted: &Wanted) -> Result<Plan, BuildError> {
        super::plan(wanted)
    }

    /// The plan of a chain with values of so many bits.
    fn with_values(value_bits: u32, wanted: Wanted) -> Result<Plan<Valued>, BuildError> {
        super::plan(&Wanted { value_bits: Some(value_bits), ..wanted })
    }

    /// The sum of the rates of all segments.
    fn rate(plan: &Plan) -> f64 {
        plan.rate(plan.len())
    }

    #[test]
    fn the_rates_never_add_up_to_more_than_the_target() {
        for capacity in [1, 10, 1_000, 1_000_000, 1_000_000_000] {
            for target in RATES {
                for fastest in [false, true] {
                    let wanted = Wanted { fastest, ..wanted(capacity, None, target) };
                    let plan = plan(&wanted).unwrap();
                    assert!(rate(&plan) <= target, "{wanted:?} {}", rate(&plan));
                    let last = plan.addressing(plan.len() - 1).buckets();
                    assert!(last <= MAX_BUCKETS && last * 2 > MAX_BUCKETS);
                }
            }
        }
    }

    #[test]
    fn each_segment_has_twice_the_buckets_of_the_one_before() {
        let plan = plan(&wanted(1_000, None, 0.001)).unwrap();
        let buckets = |number| plan.addressing(number).buckets();
        for number in 1..plan.len() {
            assert_eq!(buckets(number), buckets(number - 1) * 2);
        }
        assert_eq!(plan.first_buckets(), buckets(0));
    }

    #[test]
    fn fingerprints_grow_and_are_valid_in_their_layouts() {
        for target in RATES {
            let plan = plan(&wanted(100, None, target)).unwrap();
            for number in 0..plan.len() {
                let (min, count) = plan.addressing(number).nesting().fingerprints();
                with_layout!(plan.layout(number), L => {
                    assert!(min >= L::MIN_FINGERPRINT, "{:?}", plan.layout(number));
                    assert_eq!(min + count - 1, L::MAX_FINGERPRINT);
                });
            }
        }
    }

    #[test]
    fn plans_with_values_meet_their_target() {
        for value_bits in 0..=16 {
            for target in RATES {
                let wanted = wanted(1_000, None, target);
                let plan = match with_values(value_bits, wanted) {
                    Ok(plan) => plan,
                    Err(BuildError::RateTooLow { lowest, .. }) => {
                        assert!(lowest > target);
                        with_values(value_bits, Wanted { target: lowest, ..wanted }).unwrap()
                    }
                    Err(error) => panic!("{error}"),
                };
                assert!(target < 0.002 || plan.rate(plan.len()) <= target, "{value_bits}");
                let bits = |number| plan.layout(number).fingerprint_bits();
                for number in 0..plan.len() {
                    let (layout, addressing) = (plan.layout(number), plan.addressing(number));
                    assert_eq!(
                        (layout.value_bits(), layout.valued()),
                        (value_bits, Some(value_bits))
                    );
                    assert!(number == 0 || bits(number - 1) <= bits(number));
                    let (min, count) = addressing.nesting().fingerprints();
                    assert_eq!(min + count - 1, u32::MAX >> (32 - bits(number)));
                    assert_eq!(addressing.nesting().value_bits(), value_bits);
                    let longer = bits(number) - bits(0);
                    assert_eq!(addressing.nesting().extra_bits(), longer + value_bits);
                }
            }
        }
    }

    /// A growing map without settings can be built, whatever its values.
    #[test]
    fn the_default_target_of_maps_can_be_met() {
        for value_bits in 0..=16 {
            for capacity in [1, 3, 100, 1_000_000] {
                assert!(with_values(value_bits, wanted(capacity, None, 0.003)).is_ok());
            }
        }
    }

    #[test]
    fn segments_with_and_without_values_do_not_mix() {
        let valued = |slots, bits| Layout::with_values(slots, bits).unwrap();
        let layouts = [(valued(4, 4), 0), (valued(3, 4), 1)];
        assert!(Plan::<Valued>::of_layouts(3, &layouts).is_some());
        assert_eq!(Plan::of_layouts(3, &layouts), None::<Plan>);
        assert!(Plan::<Valued>::of_layouts(3, &[(valued(4, 4), 0), (valued(3, 5), 1)]).is_none());
        let sets = [(valued(4, 4), 0), (Layout::Plain4x16, 1)];
        assert!(Plan::<Valued>::of_layouts(3, &sets).is_none());
    }

    /// If an error names a lowest target, a plan can meet that target.
    #[test]
    fn the_lowest_rate_is_met() {
        for capacity in [1, 3, 10, 500, 70_000, 1_000_000_000] {
            for first in Layout::ALL.iter().map(|&layout| Some(layout)).chain([None]) {
                let lowest = match plan(&wanted(capacity, first, 1e-9)).unwrap_err() {
                    BuildError::RateTooLow { lowest, .. } => lowest,
                    BuildError::LayoutMissesRate { reached, .. } => reached,
                    error => panic!("{error}"),
                };
                let plan = plan(&wanted(capacity, first, lowest)).unwrap();
                assert!(rate(&plan) <= lowest);
                assert!(first.is_none_or(|first| plan.layout(0) == first));
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
        assert!(matches!(plan(&wanted(1, None, 1e-6)), Err(BuildError::RateTooLow { .. })));
        let plain = Some(Layout::Plain8x8);
        assert!(matches!(plan(&wanted(1, plain, 0.01)), Err(BuildError::LayoutMissesRate { .. })));
        assert_eq!(plan(&wanted(1, plain, 0.5)).unwrap().layout(0), Layout::Plain8x8);
        #[cfg(target_pointer_width = "64")]
        assert!(matches!(
            plan(&wanted(1 << 40, None, 0.01)),
            Err(BuildError::CapacityTooLarge { .. })
        ));
    }
}
