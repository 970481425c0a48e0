//! One table of a chain, and the table protocol's steps on it by mixed hash.

use alloc::sync::Arc;

use super::Plan;
#[cfg(guira_vectors)]
use crate::table::Part;
use crate::{
    InsertError, Layout,
    bucket::with_layout,
    table::{
        Addition, Addressing, AllStripes, BothWords, Buckets, Counters, Nested, Pair, Probe,
        RelocationCount, StripeGuard, Stripes, Table, occupied,
    },
};

/// One table of a chain.
#[derive(Debug)]
pub(super) struct Segment {
    layout: Layout,
    probe: Probe,
    table: Table<Nested>,
}

impl Segment {
    /// Returns the segment with this number, which has these buckets.
    pub(super) fn new(
        plan: &Plan,
        number: usize,
        buckets: Buckets,
        stripes: &Arc<Stripes>,
        counters: &Counters,
    ) -> Self {
        let (layout, addressing) = (plan.layout(number), plan.addressing(number));
        let probe = with_layout!(layout, L => Probe::new::<L>(&addressing, &plan.finest()));
        Self { layout, probe, table: Table::sharing(addressing, buckets, stripes, counters) }
    }

    /// The table.
    pub(super) fn table(&self) -> &Table<Nested> {
        &self.table
    }

    /// The layout of the segment's buckets.
    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    /// The number of the segment's buckets.
    pub(super) fn buckets(&self) -> u64 {
        self.addressing().buckets()
    }

    /// The segment's addressing.
    pub(super) fn addressing(&self) -> &Addressing<Nested> {
        self.table.addressing()
    }

    /// Copies all words: [`Table::copy_into`].
    pub(super) fn copy_into(&self, stripes: &AllStripes, copy: &mut [u64]) {
        self.table.copy_into(stripes, copy);
    }

    /// Counts the occupied slots in buckets like those of this segment.
    pub(super) fn occupied(&self, buckets: &mut Buckets) -> u64 {
        with_layout!(self.layout, L => buckets.with_words(|words| occupied::<L>(words)))
    }

    /// What a kernel needs of this segment, if `last` is the last one of the chain.
    #[cfg(guira_vectors)]
    pub(super) fn part(&self, last: &Self) -> Part<'_> {
        with_layout!(self.layout, L => self.table.part::<L>(&last.table))
    }

    /// Clears all slots. Returns the number of those that were occupied.
    pub(super) fn clear_locked(&self, stripes: &AllStripes) -> u64 {
        with_layout!(self.layout, L => self.table.clear_locked::<L>(stripes))
    }
}

/// Each method is the step of the same name in [`table`](crate::table), for the item's pair in this
/// segment.
impl Segment {
    #[inline]
    fn pair(&self, mixed: u64) -> Pair {
        self.table.addressing().pair(mixed)
    }

    #[inline]
    pub(super) fn prefetch(&self, mixed: u64) {
        self.table.prefetch(self.pair(mixed));
    }

    /// [`Table::marks`], and whether marks are matches.
    #[inline]
    pub(super) fn marks<W: BothWords>(&self, finest: Pair) -> (W, bool) {
        (self.table.marks(&self.probe, finest), self.probe.is_certain())
    }

    #[inline]
    pub(super) fn contains_unvalidated(&self, mixed: u64) -> bool {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.table.contains_unvalidated::<L>(pair))
    }

    pub(super) fn count_unvalidated(&self, mixed: u64) -> usize {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.table.count_unvalidated::<L>(pair))
    }

    #[inline]
    pub(super) fn add(&self, mixed: u64) -> bool {
        let pair = self.pair(mixed);
        self.table.prefetch(pair);
        with_layout!(self.layout, L => self.table.add::<L>(pair))
    }

    #[inline]
    pub(super) fn add_up_to_half(&self, mixed: u64) -> Result<bool, InsertError> {
        let pair = self.pair(mixed);
        self.table.prefetch(pair);
        with_layout!(self.layout, L => self.table.add_up_to_half::<L>(pair))
    }

    pub(super) fn insert_by_relocating(&self, mixed: u64) -> Result<(), InsertError> {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.table.insert_by_relocating::<L>(pair))
    }

    pub(super) fn make_room(
        &self,
        mixed: u64,
        relocations: &mut RelocationCount,
    ) -> Result<(), InsertError> {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.table.make_room::<L>(pair, relocations))
    }

    pub(super) fn add_if_absent(&self, guard: &StripeGuard, mixed: u64) -> Addition {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.table.add_if_absent::<L>(guard, pair))
    }

    pub(super) fn count(&self, guard: &StripeGuard, mixed: u64) -> usize {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.table.count_locked::<L>(guard, pair))
    }

    #[inline]
    pub(super) fn remove(&self, guard: &StripeGuard, mixed: u64) -> bool {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.table.remove_locked::<L>(guard, pair))
    }
}
