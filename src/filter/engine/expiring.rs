//! The engines of filters whose items expire.

use super::{
    Content, Engine, FixedEngine, Lookups, SplittingEngine, answer_items, insert_absent_items,
};
use crate::{
    InsertError, Layout,
    bucket::with_growing_layout,
    filter::batch::Outcomes,
    table::{Aged, Answers, Clock as _, ClockState, Generations, Hashes},
};

operations! {
    /// The operations of filters whose items expire, on [mixed](crate::table::mix) hashes.
    trait ExpiringEngine for Aged;

    fn clock(&self) -> &Generations {
        self.table.clock()
    }

    /// Inserts an item for a number of generations, at most the window. Returns the generation of
    /// its stamp.
    fn insert_for(&self, mixed: u64, life: u32) -> Result<u64, InsertError> {
        by_layout!(self.layout, L => {
            self.table.insert_for::<L>(self.table.fetched::<L>(mixed), life)
        })
    }

    /// Inserts an item with the stamp of a generation that the caller has read.
    fn insert_at(&self, mixed: u64, generation: u64) -> Result<(), InsertError> {
        let stamp = self.table.clock().stamp(generation);
        by_layout!(self.layout, L => {
            self.table.insert::<L>(self.table.fetched::<L>(mixed).with_value(stamp))
        })
    }

    /// Returns the generation of the item if it was inserted, for a number of generations, at most
    /// the window.
    fn insert_unique(&self, mixed: u64, life: u32) -> Result<Option<u64>, InsertError> {
        by_layout!(self.layout, L => {
            self.table.insert_unseen_for::<L>(self.table.fetched_with_stripe::<L>(mixed), life)
        })
    }

    fn refresh(&self, mixed: u64) -> bool {
        by_layout!(self.layout, L => {
            self.table.refresh::<L>(self.table.fetched_with_stripe::<L>(mixed))
        })
    }

    fn remove(&self, mixed: u64, generation: u64) -> bool {
        by_layout!(self.layout, L => {
            self.table.remove_of::<L>(self.table.fetched_with_stripe::<L>(mixed), generation)
        })
    }

    /// Inserts items with the stamp of a generation that the caller has read.
    fn insert_each(&self, hashes: &mut Hashes<'_>, generation: u64, outcomes: &mut Outcomes<'_>) {
        let stamp = self.table.clock().stamp(generation);
        by_layout!(self.layout, L => {
            self.insert_items::<L>(hashes, outcomes, |_, item| item.with_value(stamp));
        });
    }

    /// Inserts each of many items that is not visible.
    fn insert_unique_each(&self, hashes: &mut Hashes<'_>, outcomes: &mut Outcomes<'_>) {
        by_layout!(self.layout, L => {
            let insert = |item| Ok(self.table.insert_unseen::<L>(item)?.is_some());
            insert_absent_items::<L, _>(&self.table, hashes, outcomes, insert);
        });
    }

    /// Refreshes items. Writes which were found.
    fn refresh_each(&self, hashes: &mut Hashes<'_>, answers: Answers<'_>) {
        by_layout!(self.layout, L => {
            let refresh = |item| self.table.refresh::<L>(item).then_some(0);
            answer_items::<L, _>(&self.table, hashes, answers, refresh);
        });
    }

    fn advance(&self) -> u64 {
        by_layout!(self.layout, L => self.table.advance::<L>())
    }

    fn tick(&self) -> Option<u64> {
        by_layout!(self.layout, L => self.table.tick::<L>())
    }

    /// Does a part of what is due before a write, if the table keeps time.
    fn keep_time(&self) {
        by_layout!(self.layout, L => self.table.keep_time::<L>());
    }

    /// Does what falls to a batch of this many items after it, if the table keeps time.
    fn catch_up(&self, items: usize) {
        by_layout!(self.layout, L => self.table.catch_up::<L>(items));
    }

    fn tick_by(&self, clock: impl Fn() -> u64) -> Option<u64> {
        by_layout!(self.layout, L => self.table.tick_by::<L>(clock))
    }

    fn advance_to(&self, clock: impl Fn() -> u64) -> u64 {
        by_layout!(self.layout, L => self.table.advance_to::<L>(clock))
    }

    fn sweep(&self, buckets: u64) -> u64 {
        by_layout!(self.layout, L => self.table.sweep::<L>(buckets))
    }
}

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
        self.table.is_mixed_visible(mixed)
    }

    fn contains_each(
        &self,
        _len: usize,
        hashes: &mut Hashes<'_>,
        mut answers: Answers<'_>,
    ) -> usize {
        self.table.visible_each(hashes, &mut answers)
    }
}

impl Lookups for SplittingEngine<Aged> {
    fn contains(&self, mixed: u64) -> bool {
        with_growing_layout!(self.layout, L => {
            self.table.is_visible::<L>(self.table.growth().item::<L>(mixed))
        })
    }

    fn contains_each(&self, _len: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize {
        with_growing_layout!(self.layout, L => {
            let is_visible = |item| self.table.is_visible::<L>(item).then_some(0);
            answer_items::<L, _>(&self.table, hashes, answers, is_visible)
        })
    }
}
