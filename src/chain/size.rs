//! The memory of a chain: what it allocates, and the limit to which it may grow.

use super::{Chain, Entries, MAX_LATER, Plan, Segment};
use crate::{
    sync::{Relaxed, SetOnce, Shared},
    table::{Counters, Stripes, bucket_bytes},
};

impl<V: Entries> Chain<V> {
    /// Bytes of the places for segments after the first one.
    const PLACES: usize = SetOnce::<[SetOnce<Segment<V>>; MAX_LATER]>::VALUE_BYTES;

    /// Bytes of buckets, stripes, statistics and places, alignment included. The plan and the
    /// `Segment` value of the first segment are part of the chain, and not counted.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "the size of what was allocated fits")]
    pub fn size_in_bytes(&self) -> usize {
        let segments = self.segments().len();
        let size = bytes(&self.plan, segments, self.huge_pages);
        // The system may have refused the memory of the second segment when there were places.
        let places = if segments == 1 && self.later.get().is_some() { Self::PLACES } else { 0 };
        size.expect("these segments were allocated") + places
    }

    /// The number of stripes.
    pub(crate) fn stripes(&self) -> usize {
        self.plan.stripes()
    }

    /// Sets the largest number of bytes to which the chain may grow from now on.
    pub(crate) fn set_max_bytes(&self, max_bytes: usize) {
        // Relaxed: see `allows`.
        self.max_bytes.swap(max_bytes as u64, Relaxed);
    }

    /// The largest number of bytes to which the chain may grow.
    pub(super) fn max_bytes(&self) -> usize {
        // Relaxed: see `allows`.
        self.max_bytes.load(Relaxed) as usize
    }

    /// Returns whether the plan and the limit on bytes allow this many segments.
    pub(super) fn allows(&self, segments: usize) -> bool {
        // The limit is Relaxed: it publishes nothing that was written before it was set. An insert
        // that happens after a change of the limit reads that value, or a later one. The bytes
        // follow from the number of segments, so it does not matter which segments other threads
        // append meanwhile.
        segments <= self.plan.len()
            && bytes(&self.plan, segments, self.huge_pages).is_some_and(|b| b <= self.max_bytes())
    }

    /// Bytes by which [`size_in_bytes`](Self::size_in_bytes) grows with the next segment. `None` if
    /// there is no next one.
    pub(crate) fn next_growth(&self) -> Option<usize> {
        let number = self.segments().len();
        if !self.allows(number + 1) {
            return None;
        }
        segment_bytes(&self.plan, number, self.huge_pages)
    }
}

/// Bytes that a chain with this plan allocates until it has `segments` segments. `None` if that is
/// more than an object can have.
pub(crate) fn bytes<V: Entries>(
    plan: &Plan<V>,
    segments: usize,
    huge_pages: bool,
) -> Option<usize> {
    let stripes = Shared::<Stripes>::BYTES + Stripes::bytes_for(plan.stripes());
    let beside = stripes + Counters::bytes();
    (0..segments)
        .try_fold(beside, |sum, number| sum.checked_add(segment_bytes(plan, number, huge_pages)?))
}

/// Bytes that are allocated with a segment. `None` if that is more than an object can have.
fn segment_bytes<V: Entries>(plan: &Plan<V>, number: usize, huge_pages: bool) -> Option<usize> {
    let beside = match number {
        0 => 0,
        1 => Chain::<V>::PLACES + SetOnce::<Segment<V>>::VALUE_BYTES,
        _ => SetOnce::<Segment<V>>::VALUE_BYTES,
    };
    bucket_bytes(plan.addressing(number).buckets(), huge_pages)?.checked_add(beside)
}
