//! The memory of a chain: what it allocates, and how many segments fit into a cap.

use super::{Chain, Plan, Segment, append::buckets_for_stripes};
use crate::{
    sync::SetOnce,
    table::{Counters, Stripes, arc_bytes, bucket_bytes},
};

impl Chain {
    /// Bytes of buckets, stripes, statistics and places, alignment included.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "the size of what was allocated fits")]
    pub fn size_in_bytes(&self) -> usize {
        let size = bytes(&self.plan, self.plan.len(), self.segments().len(), self.huge_pages);
        size.expect("these segments were allocated")
    }

    /// Bytes of the first segment's buckets and of the stripes.
    pub(crate) fn first_bytes(&self) -> usize {
        first_bytes(&self.plan, self.huge_pages).expect("the first segment was allocated")
    }
}

/// Bytes of the first segment's buckets and of the stripes. `None` if that is more than an object
/// can have.
pub(crate) fn first_bytes(plan: &Plan, huge_pages: bool) -> Option<usize> {
    let stripes = Stripes::bytes_for(buckets_for_stripes(plan));
    bucket_bytes(plan.first_buckets(), huge_pages)?.checked_add(stripes)
}

/// Bytes that a chain with the first `planned` segments of a plan allocates until it has
/// `segments` of them. `None` if that is more than an object can have.
fn bytes(plan: &Plan, planned: usize, segments: usize, huge_pages: bool) -> Option<usize> {
    let places = planned * size_of::<SetOnce<Segment>>() + Plan::bytes_for(planned);
    let stripes = arc_bytes::<Stripes>() + Stripes::bytes_for(buckets_for_stripes(plan));
    (0..segments).try_fold(places + stripes + Counters::bytes(), |sum, number| {
        sum.checked_add(segment_bytes(plan, number, huge_pages)?)
    })
}

/// Bytes that a segment allocates. `None` if that is more than an object can have.
fn segment_bytes(plan: &Plan, number: usize, huge_pages: bool) -> Option<usize> {
    let buckets = bucket_bytes(plan.addressing(number).buckets(), huge_pages)?;
    buckets.checked_add(SetOnce::<Segment>::VALUE_BYTES)
}

/// Shortens a plan so that a chain with all of its segments allocates at most `max_bytes` bytes.
///
/// So a chain that has reached the cap has no place for another segment.
///
/// # Errors
/// The bytes of a chain with the first segment alone, if that is more.
pub(crate) fn within(plan: Plan, huge_pages: bool, max_bytes: usize) -> Result<Plan, usize> {
    let size = |count: usize| bytes(&plan, count, count, huge_pages).unwrap_or(usize::MAX);
    let fitting = (1..=plan.len()).take_while(|&count| size(count) <= max_bytes).count();
    if fitting == 0 {
        return Err(size(1));
    }
    Ok(plan.truncated(fitting))
}
