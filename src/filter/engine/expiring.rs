//! The engine of filters whose items expire, on [mixed](crate::table::mix) hashes.

use super::{Content, Failed, FixedEngine, Lookups};
use crate::{
    InsertError, Layout,
    bucket::with_valued_layout,
    table::{Aged, Answers, ClockState, Hashes},
};

impl Content for Aged {
    const NAMES: [&'static str; 2] = ["ExpiringFilter", "GrowingExpiringFilter"];

    fn of(layout: Layout, clock: Option<ClockState>) -> Self {
        let clock = clock.expect("an expiring filter has a window");
        Self::new(layout.value_bits(), clock.window, clock.generation)
    }
}

impl Lookups for FixedEngine<Aged> {
    #[inline]
    fn contains(&self, mixed: u64) -> bool {
        with_valued_layout!(self.layout, L => {
            self.table.is_visible::<L>(self.table.addressing().pair::<L>(mixed))
        })
    }

    fn count(&self, mixed: u64) -> usize {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch_with_stripe(pair);
            self.table.count_visible::<L>(pair)
        })
    }

    fn contains_each(
        &self,
        _len: usize,
        hashes: &mut Hashes<'_>,
        mut answers: Answers<'_>,
    ) -> usize {
        with_valued_layout!(self.layout, L => {
            self.table.visible_each::<L>(self.kernel, hashes, &mut answers)
        })
    }
}

impl FixedEngine<Aged> {
    /// The largest age of a visible item, in generations.
    pub(in crate::filter) fn window(&self) -> u32 {
        self.table.clock().window()
    }

    /// The present generation.
    pub(in crate::filter) fn generation(&self) -> u64 {
        self.table.clock().generation()
    }

    pub(in crate::filter) fn insert_for(&self, mixed: u64, life: u32) -> Result<u64, InsertError> {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch(pair);
            self.table.insert_for::<L>(pair, life)
        })
    }

    /// Inserts an item with the stamp of a generation that the caller has read.
    pub(in crate::filter) fn insert_at(
        &self,
        mixed: u64,
        generation: u64,
    ) -> Result<(), InsertError> {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.insert::<L>(pair.with_value(self.table.clock().stamp(generation)))
        })
    }

    pub(in crate::filter) fn insert_unique(&self, mixed: u64) -> Result<Option<u64>, InsertError> {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch_with_stripe(pair);
            self.table.insert_unseen::<L>(pair)
        })
    }

    /// Returns whether a visible item was replaced.
    pub(in crate::filter) fn insert_evicting(&self, mixed: u64) -> bool {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch(pair);
            let (_, evicted) = self.table.insert_evicting::<L>(pair);
            evicted
        })
    }

    pub(in crate::filter) fn refresh(&self, mixed: u64) -> bool {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch_with_stripe(pair);
            self.table.refresh::<L>(pair)
        })
    }

    pub(in crate::filter) fn remove(&self, mixed: u64, generation: u64) -> bool {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch_with_stripe(pair);
            self.table.remove_of::<L>(pair, generation)
        })
    }

    /// Inserts items with the stamp of a generation that the caller has read. Adds 1 to `count` for
    /// each item that was added, and calls `failed` with the positions of the others, until it
    /// breaks.
    pub(in crate::filter) fn insert_each(
        &self,
        hashes: &mut Hashes<'_>,
        generation: u64,
        count: &mut usize,
        failed: &mut Failed<'_>,
    ) {
        let stamp = self.table.clock().stamp(generation);
        with_valued_layout!(self.layout, L => {
            self.insert_pairs::<L>(hashes, count, failed, |_, pair| pair.with_value(stamp));
        });
    }

    /// Writes which items were added, adds 1 to `count` for each of them, and calls `failed` with
    /// the positions of those that failed, until it breaks.
    pub(in crate::filter) fn insert_unique_each(
        &self,
        hashes: &mut Hashes<'_>,
        added: &mut [bool],
        count: &mut usize,
        failed: &mut Failed<'_>,
    ) {
        with_valued_layout!(self.layout, L => {
            let insert = |pair| Ok(self.table.insert_unseen::<L>(pair)?.is_some());
            self.insert_absent_pairs::<L>(hashes, added, count, failed, insert);
        });
    }

    /// Refreshes items. Writes which were found, and returns their number.
    pub(in crate::filter) fn refresh_each(
        &self,
        hashes: &mut Hashes<'_>,
        mut answers: Answers<'_>,
    ) -> usize {
        let mut count = 0;
        with_valued_layout!(self.layout, L => {
            self.table.for_each_pair::<L>(hashes, |position, pair| {
                let found = self.table.refresh::<L>(pair);
                answers.set(position, found.then_some(0));
                count += usize::from(found);
            });
        });
        count
    }

    pub(in crate::filter) fn advance(&self) -> u64 {
        with_valued_layout!(self.layout, L => self.table.advance::<L>())
    }

    pub(in crate::filter) fn tick(&self, clock: impl Fn() -> u64) -> Option<u64> {
        with_valued_layout!(self.layout, L => self.table.tick::<L>(clock))
    }

    pub(in crate::filter) fn advance_to(&self, clock: impl Fn() -> u64) -> u64 {
        with_valued_layout!(self.layout, L => self.table.advance_to::<L>(clock))
    }

    /// Least nanoseconds of a generation, or zero if none is ever due.
    pub(in crate::filter) fn interval(&self) -> u64 {
        self.table.clock().interval()
    }

    pub(in crate::filter) fn sweep(&self, buckets: u64) -> u64 {
        with_valued_layout!(self.layout, L => self.table.sweep::<L>(buckets))
    }
}
