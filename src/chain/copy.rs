//! Copies of a chain: clones, and the words for snapshots.

#[cfg(feature = "std")]
use alloc::vec::Vec;

use super::{Chain, Entries, Segment};
use crate::table::{AllStripes, PerSegment};
#[cfg(feature = "std")]
use crate::{
    Layout,
    chain::Plan,
    table::{Buckets, touched_words},
};

impl<V: Entries> Chain<V> {
    /// Returns a copy of the chain that contains every item that is in it throughout the call, and
    /// the number of occupied slots; or `None` if the system refuses the memory.
    #[must_use]
    pub fn try_clone(&self) -> Option<(Self, u64)> {
        let touched = |number| {
            let mut buckets = self.allocate(number)?;
            buckets.touch();
            Some(buckets)
        };
        let mut copies = self.copy_segments(touched, |from, stripes, to| {
            to.with_words(|words| from.copy_into(stripes, words));
        })?;
        let occupied = self.segments().zip(&mut copies).map(|(from, to)| from.occupied(to)).sum();
        let copy = Self::with_buckets(self.plan.clone(), copies, self.huge_pages)?;
        copy.set_max_bytes(self.max_bytes());
        Some((copy, occupied))
    }

    /// Returns a copy of the words of each segment, or `None` if the system refuses the memory. The
    /// copy contains every item that is in the chain throughout the call.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn copy_words(&self) -> Option<PerSegment<Vec<u64>>> {
        let words = |number| touched_words(self.plan.addressing(number).buckets() as usize);
        self.copy_segments(words, |from, stripes, to| from.copy_into(stripes, to))
    }

    /// Copies the segments that exist: `allocate` returns the memory for one, given its number, and
    /// `copy` copies it under the locks. Other threads wait meanwhile, so the memory should have
    /// been touched.
    ///
    /// The result contains every item that is in the chain throughout the call: see "Copies of the
    /// chain". `None` if the system refuses the memory.
    fn copy_segments<C>(
        &self,
        allocate: impl Fn(usize) -> Option<C>,
        copy: impl Fn(&Segment<V>, &AllStripes, &mut C),
    ) -> Option<PerSegment<C>> {
        let copy_all = |stripes: &AllStripes, copies: &mut [C]| {
            self.segments().zip(copies).for_each(|(from, to)| copy(from, stripes, to));
        };
        loop {
            // mutant: chain-clone-segments-relaxed
            let count = self.segments().len();
            let mut copies = (0..count).map(&allocate).collect::<Option<PerSegment<_>>>()?;
            // mutant: chain-clone-no-locks
            // mutant: chain-clone-one-lock-fewer, chain-clone-any-order
            let stripes = self.stripes.lock_all();
            // Without values, the segments that existed before are enough.
            // mutant: chain-clone-early-segments
            if V::VALUED && self.segments().len() > count {
                continue;
            }
            // mutant: chain-clone-early-unlock, chain-clone-no-fence
            copy_all(&stripes, &mut copies);
            drop(stripes);
            return Some(copies);
        }
    }
}

#[cfg(feature = "std")]
impl<V: Entries> Chain<V> {
    /// Returns a chain with this plan whose first segments have these buckets, or `None` if the
    /// system refuses the memory for its stripes and counters.
    pub(crate) fn restored(plan: Plan<V>, segments: PerSegment<Buckets>) -> Option<Self> {
        Self::with_buckets(plan, segments, true)
    }

    /// The layout, the level and the buckets of each planned segment.
    pub(crate) fn planned(&self) -> impl Iterator<Item = (Layout, u32, u64)> {
        self.plan.layouts().zip(0..).map(|((layout, level), number)| {
            (layout, level, self.plan.addressing(number).buckets())
        })
    }

    /// The buckets of the segments that exist, for a caller that knows that nobody changes them.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = &Buckets> + Clone {
        self.segments().map(|segment| segment.table().buckets())
    }
}
