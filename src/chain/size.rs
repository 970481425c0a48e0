//! The memory of a chain: what it allocates, and how many segments fit into a cap.

use super::{Chain, Entries, MAX_LATER, Plan, Segment};
use crate::{
    sync::SetOnce,
    table::{Counters, Stripes, arc_bytes, bucket_bytes},
};

impl<V: Entries> Chain<V> {
    /// Bytes of buckets, stripes, statistics, plan and places, alignment included. The first
    /// segment itself is part of the chain.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "the size of what was allocated fits")]
    pub fn size_in_bytes(&self) -> usize {
        let size = bytes(&self.plan, self.plan.len(), self.segments().len(), self.huge_pages);
        size.expect("these segments were allocated")
    }

    /// The number of stripes.
    pub(crate) fn stripes(&self) -> usize {
        self.plan.stripes()
    }

    /// Bytes by which [`size_in_bytes`](Self::size_in_bytes) grows with the next segment. `None` if
    /// there is no next one.
    pub(crate) fn next_growth(&self) -> Option<usize> {
        let number = self.segments().len();
        if number < self.plan.len() {
            segment_bytes(&self.plan, number, self.huge_pages)
        } else {
            None
        }
    }
}

/// Bytes that a chain with the first `planned` segments of a plan allocates until it has
/// `segments` of them. `None` if that is more than an object can have.
fn bytes<V: Entries>(
    plan: &Plan<V>,
    planned: usize,
    segments: usize,
    huge_pages: bool,
) -> Option<usize> {
    let stripes = arc_bytes::<Stripes>() + Stripes::bytes_for(plan.stripes());
    let beside = Plan::<V>::bytes_for(planned) + stripes + Counters::bytes();
    (0..segments)
        .try_fold(beside, |sum, number| sum.checked_add(segment_bytes(plan, number, huge_pages)?))
}

/// Bytes that are allocated with a segment. `None` if that is more than an object can have.
fn segment_bytes<V: Entries>(plan: &Plan<V>, number: usize, huge_pages: bool) -> Option<usize> {
    let beside = match number {
        0 => 0,
        1 => {
            SetOnce::<[SetOnce<Segment<V>>; MAX_LATER]>::VALUE_BYTES
                + SetOnce::<Segment<V>>::VALUE_BYTES
        }
        _ => SetOnce::<Segment<V>>::VALUE_BYTES,
    };
    bucket_bytes(plan.addressing(number).buckets(), huge_pages)?.checked_add(beside)
}

/// Shortens a plan so that a chain with all of its segments allocates at most `max_bytes` bytes.
///
/// So a chain that has reached the cap has no place for another segment.
///
/// # Errors
/// The bytes of a chain with the first segment alone, if that is more.
pub(crate) fn within<V: Entries>(
    plan: Plan<V>,
    huge_pages: bool,
    max_bytes: usize,
) -> Result<Plan<V>, usize> {
    let size = |count: usize| bytes(&plan, count, count, huge_pages).unwrap_or(usize::MAX);
    let fitting = (1..=plan.len()).take_while(|&count| size(count) <= max_bytes).count();
    if fitting == 0 {
        return Err(size(1));
    }
    Ok(plan.truncated(fitting))
}
