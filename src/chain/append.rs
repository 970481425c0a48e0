//! Construction of a chain, and appending a segment.

use alloc::sync::Arc;

use super::{Chain, Plan, Segment};
use crate::{
    InsertError,
    sync::SetOnce,
    table::{Counters, Stripes, try_boxed},
};

/// Growth for which the stripes are dimensioned, as a multiple of the first segment's buckets: no
/// stripe can be added later.
const EXPECTED_GROWTH: u64 = 32;
/// Smallest number of buckets for which the stripes are dimensioned: 64 stripes, 4 KiB.
const MIN_EXPECTED_BUCKETS: u64 = if cfg!(any(loom, shuttle)) { 1 } else { 1 << 15 };

impl Chain {
    /// Returns a chain of one empty segment that can grow as planned, or `None` if the system
    /// refuses the memory.
    #[must_use]
    pub fn new(plan: Plan, huge_pages: bool) -> Option<Self> {
        let chain = Self::without_segments(plan, huge_pages)?;
        chain.append(0).ok()?;
        Some(chain)
    }

    /// A chain in which no place is set yet, or `None` if the system refuses the memory.
    pub(super) fn without_segments(plan: Plan, huge_pages: bool) -> Option<Self> {
        let stripes = Arc::new(Stripes::new(buckets_for_stripes(&plan))?);
        let places = try_boxed((0..plan.len()).map(|_| SetOnce::new()))?;
        Some(Self { places, plan, stripes, counters: Counters::new()?, huge_pages })
    }

    /// Allocates a segment as planned, or returns `None` if the system refuses the memory.
    pub(super) fn allocate(&self, number: usize) -> Option<Segment> {
        let (layout, addressing) = (self.plan.layout(number), self.plan.addressing(number));
        Segment::new(layout, addressing, self.huge_pages, &self.stripes, &self.counters)
    }

    /// Appends the segment with this number, unless another thread does so first.
    ///
    /// # Errors
    /// `Full` if the plan has no such segment, or if there is no memory.
    #[cold]
    pub(super) fn append(&self, number: usize) -> Result<(), InsertError> {
        let place = self.places.get(number).ok_or(InsertError::Full)?;
        if place.get().is_none() {
            match self.allocate(number) {
                Some(segment) => place.set(segment),
                // Another thread may have used up the memory for this very segment.
                None if place.get().is_none() => return Err(InsertError::Full),
                None => {}
            }
        }
        Ok(())
    }
}

/// The number of buckets for which the stripes of a chain are dimensioned.
pub(super) fn buckets_for_stripes(plan: &Plan) -> u64 {
    (EXPECTED_GROWTH * plan.first_buckets()).max(MIN_EXPECTED_BUCKETS)
}
