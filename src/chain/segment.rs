//! One table of a chain, and the table protocol's steps on it by mixed hash.

use super::{Entries, Plan, entries::with_layout_of};
use crate::{
    InsertError, Layout,
    bucket::{Fingerprint, with_layout, with_valued_layout},
    sync::Shared,
    table::{
        Addition, Addressing, AllStripes, BothWords, Buckets, Candidates, Counters, Nested, Pair,
        Probe, RelocationCount, StripeGuard, Stripes, Table, occupied,
    },
};

/// One table of a chain.
#[derive(Debug)]
pub(super) struct Segment<V: Entries> {
    layout: Layout,
    probe: Probe,
    table: Table<Nested<V>>,
}

impl<V: Entries> Segment<V> {
    /// Returns the segment with this number, which has these buckets.
    pub(super) fn new(
        plan: &Plan<V>,
        number: usize,
        buckets: Buckets,
        stripes: &Shared<Stripes>,
        counters: &Counters,
    ) -> Self {
        let (layout, addressing) = (plan.layout(number), plan.addressing(number));
        let probe =
            with_layout_of!(V, layout, L => Probe::new::<L, V>(&addressing, &plan.finest()));
        Self { layout, probe, table: Table::sharing(addressing, buckets, stripes, counters) }
    }

    /// The table.
    pub(super) fn table(&self) -> &Table<Nested<V>> {
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
    pub(super) fn addressing(&self) -> &Addressing<Nested<V>> {
        self.table.addressing()
    }

    /// Copies all words: [`Table::copy_into`].
    pub(super) fn copy_into(&self, stripes: &AllStripes, copy: &mut [u64]) {
        self.table.copy_into(stripes, copy);
    }

    /// Counts the occupied slots in buckets like those of this segment.
    pub(super) fn occupied(&self, buckets: &mut Buckets) -> u64 {
        with_layout_of!(V, self.layout, L => buckets.with_words(|words| occupied::<L>(words)))
    }

    /// Clears all slots. Returns the number of those that were occupied.
    pub(super) fn clear_locked(&self, stripes: &AllStripes) -> u64 {
        with_layout_of!(V, self.layout, L => self.table.clear_locked::<L>(stripes))
    }
}

/// Each method is the step of the same name in [`table`](crate::table), for the item's pair in this
/// segment.
impl<V: Entries> Segment<V> {
    #[inline]
    fn pair(&self, mixed: u64) -> Pair {
        self.table.addressing().pair(mixed)
    }

    /// The pair of an item with its value.
    #[inline]
    fn entry(&self, item: V::Item) -> Pair {
        V::entry(item, self.pair(V::mixed(item)))
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
        with_layout_of!(V, self.layout, L => self.table.contains_unvalidated::<L>(pair))
    }

    /// As `contains_unvalidated`, and returns the copy that was found.
    #[inline]
    pub(super) fn find_unvalidated(&self, mixed: u64) -> Option<Fingerprint> {
        if !V::VALUED {
            return self.contains_unvalidated(mixed).then(|| self.pair(mixed).fingerprint);
        }
        let found = self.candidates_unvalidated(mixed);
        let first = found.as_slice().first();
        // mutant: chain-unique-value-lost
        first.map(|&value| self.pair(mixed).with_value(value).fingerprint)
    }

    pub(super) fn count_unvalidated(&self, mixed: u64) -> usize {
        let pair = self.pair(mixed);
        with_layout_of!(V, self.layout, L => self.table.count_unvalidated::<L>(pair))
    }

    #[inline]
    pub(super) fn add(&self, item: V::Item) -> bool {
        let pair = self.entry(item);
        self.table.prefetch(pair);
        with_layout_of!(V, self.layout, L => self.table.add::<L>(pair))
    }

    #[inline]
    pub(super) fn add_up_to_half(&self, item: V::Item) -> Result<bool, InsertError> {
        let pair = self.entry(item);
        self.table.prefetch(pair);
        with_layout_of!(V, self.layout, L => self.table.add_up_to_half::<L>(pair))
    }

    pub(super) fn insert_by_relocating(&self, item: V::Item) -> Result<(), InsertError> {
        let pair = self.entry(item);
        with_layout_of!(V, self.layout, L => self.table.insert_by_relocating::<L>(pair))
    }

    pub(super) fn make_room(
        &self,
        item: V::Item,
        relocations: &mut RelocationCount,
    ) -> Result<(), InsertError> {
        let pair = self.entry(item);
        with_layout_of!(V, self.layout, L => self.table.make_room::<L>(pair, relocations))
    }

    pub(super) fn add_if_absent(&self, guard: &StripeGuard, item: V::Item) -> Addition {
        let pair = self.entry(item);
        with_layout_of!(V, self.layout, L => self.table.add_if_absent::<L>(guard, pair))
    }

    pub(super) fn count(&self, guard: &StripeGuard, mixed: u64) -> usize {
        let pair = self.pair(mixed);
        with_layout_of!(V, self.layout, L => self.table.count_locked::<L>(guard, pair))
    }

    #[inline]
    pub(super) fn remove(&self, guard: &StripeGuard, item: V::Item) -> bool {
        let pair = self.entry(item);
        with_layout_of!(V, self.layout, L => self.table.remove_locked::<L>(guard, pair))
    }

    #[inline]
    pub(super) fn value_unvalidated(&self, finest: Pair) -> Option<u16> {
        self.table.value_unvalidated(&self.probe, finest)
    }

    pub(super) fn candidates_unvalidated(&self, mixed: u64) -> Candidates {
        let pair = self.pair(mixed);
        with_layout_of!(V, self.layout, L => self.table.candidates_unvalidated::<L>(pair))
    }

    pub(super) fn contains_value_unvalidated(&self, item: V::Item) -> bool {
        let pair = self.entry(item);
        with_layout_of!(V, self.layout, L => self.table.contains_value_unvalidated::<L>(pair))
    }

    pub(super) fn replace(&self, guard: &StripeGuard, item: V::Item, new: u16) -> bool {
        let pair = self.entry(item);
        with_layout_of!(V, self.layout, L => self.table.replace_locked::<L>(guard, pair, new))
    }
}
