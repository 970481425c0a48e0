//! The plan of a chain: the sizes and layouts of all segments that it may ever have.

use core::num::NonZero;

use super::Entries;
use crate::{
    Layout,
    table::{Addressing, MAX_BUCKETS, Nested, Nesting, PerSegment, Single, Stripes},
};

/// The segments of a chain, from the first to the last one possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan<V: Entries = Single> {
    first_buckets: u64,
    /// The smallest fingerprint of the first segment, and the number of its fingerprints.
    first_fingerprints: (u32, u32),
    /// The number of stripes. None can be added later.
    stripes: u32,
    segments: PerSegment<Planned>,
    entries: V,
}

/// What differs between the segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Planned {
    layout: Layout,
    /// As in [`Nested::new`].
    level: u8,
    /// As in [`Nested::new`].
    extra_bits: u8,
}

impl<V: Entries> Plan<V> {
    /// Returns the plan with these segments, for chains whose first segment does not use all the
    /// fingerprints of its layout, as in models and tests.
    ///
    /// # Panics
    /// If there is no segment, or if their addressings do not belong to one chain.
    #[must_use]
    pub fn new(segments: &[(Layout, Addressing<Nested<V>>)]) -> Self {
        let planned = |&(layout, addressing): &(Layout, Addressing<Nested<V>>)| {
            let nesting = addressing.nesting();
            Planned { layout, level: nesting.level() as u8, extra_bits: nesting.longer() as u8 }
        };
        let first = segments[0].1;
        let plan = Self {
            first_buckets: first.buckets(),
            first_fingerprints: first.nesting().fingerprints(),
            stripes: stripes_for(first.buckets(), None),
            segments: segments.iter().map(planned).collect(),
            entries: V::of(segments[0].0).expect("a layout for these slots"),
        };
        assert!(
            segments.iter().zip(0..).all(|(segment, number)| segment.1 == plan.addressing(number))
        );
        plan
    }

    /// Returns the plan of a chain whose first segment has this many buckets, given the layout and
    /// the level of each segment. `None` if no chain can have it: if there is no segment, the
    /// levels do not ascend from 0, a fingerprint is shorter than one before it, the values of a
    /// layout are not those of this chain, or a segment has fewer than 1 or more than 2^32 buckets.
    pub(crate) fn of_layouts(first_buckets: u64, segments: &[(Layout, u32)]) -> Option<Self> {
        let (&(first, 0), &(_, last_level)) = (segments.first()?, segments.last()?) else {
            return None;
        };
        let ascend = segments.is_sorted_by(|(before, lower), (layout, level)| {
            lower < level && before.fingerprint_bits() <= layout.fingerprint_bits()
        });
        let entries = V::of(first)?;
        let alike = segments.iter().all(|&(layout, _)| V::of(layout) == Some(entries));
        let max_buckets = MAX_BUCKETS.checked_shr(last_level)?;
        if !ascend || !alike || !(1..=max_buckets).contains(&first_buckets) {
            return None;
        }
        let planned = |&(layout, level): &(Layout, u32)| {
            let extra_bits = (layout.fingerprint_bits() - first.fingerprint_bits()) as u8;
            Planned { layout, level: level as u8, extra_bits }
        };
        Some(Self {
            first_buckets,
            first_fingerprints: first_fingerprints(first),
            stripes: stripes_for(first_buckets, None),
            segments: segments.iter().map(planned).collect(),
            entries,
        })
    }

    /// The plan with the stripes for this many threads that write at the same time.
    pub(crate) fn for_writers(self, writers: Option<NonZero<usize>>) -> Self {
        Self { stripes: stripes_for(self.first_buckets, writers), ..self }
    }

    /// The plan with this number of stripes, a power of two.
    #[cfg(feature = "std")]
    pub(crate) fn with_stripes(self, stripes: usize) -> Self {
        Self { stripes: stripes as u32, ..self }
    }

    /// The number of stripes.
    pub(crate) fn stripes(&self) -> usize {
        self.stripes as usize
    }

    /// The number of segments, at least 1.
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    /// The buckets of the first segment.
    pub(crate) fn first_buckets(&self) -> u64 {
        self.first_buckets
    }

    /// The layout and the level of each segment: with the buckets of the first one, all that
    /// [`of_layouts`](Self::of_layouts) needs.
    #[cfg(any(feature = "std", test))]
    pub(crate) fn layouts(&self) -> impl ExactSizeIterator<Item = (Layout, u32)> {
        self.segments.iter().map(|segment| (segment.layout, segment.level.into()))
    }

    /// The layout of a segment.
    pub(crate) fn layout(&self, number: usize) -> Layout {
        self.segments[number].layout
    }

    /// The addressing of a segment.
    pub(crate) fn addressing(&self, number: usize) -> Addressing<Nested<V>> {
        let Planned { level, extra_bits, .. } = self.segments[number];
        let nested = Nested::new(level.into(), self.first_fingerprints, extra_bits.into());
        Addressing::nested(self.first_buckets, nested.holding(self.entries))
    }

    /// The addressing of the first segment, to which the stripes belong.
    #[inline]
    pub(crate) fn first(&self) -> Addressing<Nested<V>> {
        let nested = Nested::new(0, self.first_fingerprints, 0);
        Addressing::nested(self.first_buckets, nested.holding(self.entries))
    }

    /// The addressing of the last segment possible.
    pub(crate) fn finest(&self) -> Addressing<Nested<V>> {
        self.addressing(self.len() - 1)
    }

    /// The sum of the false-positive rates of the first `segments` segments, each of them full.
    pub(crate) fn rate(&self, segments: usize) -> f64 {
        let (_, count) = self.first_fingerprints;
        let rate = |&Planned { layout, extra_bits, .. }: &Planned| {
            layout.false_positive_rate_among(count << extra_bits, 1.0)
        };
        self.segments[..segments].iter().map(rate).sum()
    }

    /// The plan without the segments for whose numbers `stays` returns `false`. The first one must
    /// stay.
    pub(super) fn retained(&self, stays: impl Fn(usize) -> bool) -> Self {
        let segments = (0..).zip(&self.segments).filter(|&(number, _)| stays(number));
        Self { segments: segments.map(|(_, &segment)| segment).collect(), ..*self }
    }
}

/// The number of stripes of a chain.
fn stripes_for(first_buckets: u64, writers: Option<NonZero<usize>>) -> u32 {
    Stripes::count_for_chain(first_buckets, writers) as u32
}

/// The smallest fingerprint of a first segment of this layout, and the number of its fingerprints.
fn first_fingerprints(first: Layout) -> (u32, u32) {
    let bits = first.fingerprint_bits();
    let min = match first.valued() {
        // No layout of the chain is semi-sorted.
        Some(_) => 1,
        // Semi-sorted layouts have at least 12 bits, and no fingerprints below 16. The first
        // segment must use only fingerprints that remain valid when bits are appended.
        None if bits < 12 => 16 >> (12 - bits),
        None => 16,
    };
    (min, (u32::MAX >> (32 - bits)) - min + 1)
}

/// The false-positive rate of a full segment of this layout, given the layout of the first one.
pub(super) fn full_rate(first: Layout, layout: Layout) -> f64 {
    let (_, count) = first_fingerprints(first);
    let extra_bits = layout.fingerprint_bits() - first.fingerprint_bits();
    layout.false_positive_rate_among(count << extra_bits, 1.0)
}

#[cfg(test)]
mod tests {
    use super::{Layout, Plan};

    use Layout::{Plain4x16, Plain8x8, SemiSorted6x12};

    const LAYOUTS: [(Layout, u32); 3] = [(Plain8x8, 0), (SemiSorted6x12, 2), (Plain4x16, 3)];

    #[test]
    fn a_plan_is_what_its_layouts_say() {
        let plan: Plan = Plan::of_layouts(7, &LAYOUTS).unwrap();
        assert!(plan.layouts().eq(LAYOUTS));
        assert_eq!((plan.len(), plan.first_buckets()), (3, 7));
        assert_eq!([0, 1, 2].map(|number| plan.addressing(number).buckets()), [7, 28, 56]);
        assert_eq!(plan.first(), plan.addressing(0));
        let segments: Vec<_> = (0..3).map(|n| (plan.layout(n), plan.addressing(n))).collect();
        assert_eq!(Plan::new(&segments), plan);
        assert!(plan.rate(2) < plan.rate(3));
    }

    #[test]
    fn a_plan_that_no_chain_can_have_is_refused() {
        let plan =
            |first_buckets, layouts: &[(Layout, u32)]| <Plan>::of_layouts(first_buckets, layouts);
        let [a, b, c] = LAYOUTS;
        assert!(plan(1, &[]).is_none(), "no segment");
        assert!(plan(1, &[b, c]).is_none(), "the first level is not 0");
        assert!(plan(1, &[a, c, b]).is_none() && plan(1, &[a, b, b]).is_none(), "levels");
        assert!(plan(1, &[(Plain4x16, 0), (SemiSorted6x12, 1)]).is_none(), "fewer bits");
        assert!(plan(0, &[a]).is_none() && plan(u64::MAX, &[a]).is_none(), "buckets");
        for (level, most) in [(1, 1 << 31), (3, 1 << 29), (31, 2), (32, 1)] {
            let segments = [a, (Plain8x8, level)];
            assert!(plan(most, &segments).is_some() && plan(most + 1, &segments).is_none());
        }
        for level in [33, 63, 64, 256, u32::MAX] {
            assert!(plan(1, &[a, (Plain8x8, level)]).is_none(), "{level}");
        }
    }
}
