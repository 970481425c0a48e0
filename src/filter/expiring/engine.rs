//! The steps of an expiring filter, on [mixed](crate::table::mix) hashes.

use core::cell::Cell;

use super::{
    super::{engine::Failed, fixed::Content},
    Expiring,
};
#[cfg(feature = "std")]
use crate::filter::snapshot::EXPIRING;
use crate::{
    InsertError, Layout,
    bucket::with_valued_layout,
    table::{Aged, Answers, ClockState, Hashes, PendingInserts},
};

/// The default window: the longest with stamps of 4 bits.
const DEFAULT_WINDOW: u32 = 13;

impl Content for Aged {
    const NAME: &'static str = "ExpiringFilter";
    const DEFAULT_WINDOW: Option<u32> = Some(DEFAULT_WINDOW);
    #[cfg(feature = "std")]
    const KIND: u8 = EXPIRING;

    fn of(layout: Layout, clock: Option<ClockState>) -> Self {
        let clock = clock.expect("an expiring filter has a window");
        Self::new(layout.value_bits(), clock.window, clock.generation)
    }
}

impl Expiring {
    /// The largest age of a visible item, in generations.
    pub(super) fn window(&self) -> u32 {
        self.table.clock().window()
    }

    /// The present generation.
    pub(in crate::filter) fn generation(&self) -> u64 {
        self.table.clock().generation()
    }

    pub(super) fn insert_for(&self, mixed: u64, life: u32) -> Result<u64, InsertError> {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch(pair);
            self.table.insert_for::<L>(pair, life)
        })
    }

    /// Inserts an item with the stamp of a generation that the caller has read.
    pub(super) fn insert_at(&self, mixed: u64, generation: u64) -> Result<(), InsertError> {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.insert::<L>(pair.with_value(self.table.clock().stamp(generation)))
        })
    }

    pub(super) fn insert_unique(&self, mixed: u64) -> Result<Option<u64>, InsertError> {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch_with_stripe(pair);
            self.table.insert_unseen::<L>(pair)
        })
    }

    /// Returns whether a visible item was replaced.
    pub(super) fn insert_evicting(&self, mixed: u64) -> bool {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch(pair);
            let (_, evicted) = self.table.insert_evicting::<L>(pair);
            evicted
        })
    }

    #[inline]
    pub(super) fn contains(&self, mixed: u64) -> bool {
        with_valued_layout!(self.layout, L => {
            self.table.is_visible::<L>(self.table.addressing().pair::<L>(mixed))
        })
    }

    pub(super) fn refresh(&self, mixed: u64) -> bool {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch_with_stripe(pair);
            self.table.refresh::<L>(pair)
        })
    }

    pub(super) fn remove(&self, mixed: u64, generation: u64) -> bool {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch_with_stripe(pair);
            self.table.remove_of::<L>(pair, generation)
        })
    }

    pub(super) fn count(&self, mixed: u64) -> usize {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch_with_stripe(pair);
            self.table.count_visible::<L>(pair)
        })
    }

    /// Inserts items with the stamp of a generation that the caller has read. Adds 1 to `count` for
    /// each item that was added, and calls `failed` with the positions of the others, until it
    /// breaks.
    pub(super) fn insert_each(
        &self,
        hashes: &mut Hashes<'_>,
        generation: u64,
        count: &mut usize,
        failed: &mut Failed<'_>,
    ) {
        let stamp = self.table.clock().stamp(generation);
        let mut pending = PendingInserts::default();
        let ended = Cell::new(false);
        let mut done = |position, outcome| match outcome {
            Ok(()) => *count += 1,
            Err(error) => ended.set(failed(position, error).is_break()),
        };
        with_valued_layout!(self.layout, L => {
            self.table.for_each_pair::<L>(hashes, |position, pair| {
                if !ended.get() {
                    pending.insert::<L>(&self.table, position, pair.with_value(stamp), &mut done);
                }
            });
            pending.finish::<L>(&self.table, &mut done);
        });
    }

    /// Writes which items were added, and calls `failed` with the positions of those that failed,
    /// until it breaks.
    pub(super) fn insert_unique_each(
        &self,
        hashes: &mut Hashes<'_>,
        added: &mut [bool],
        failed: &mut Failed<'_>,
    ) {
        let mut ended = false;
        with_valued_layout!(self.layout, L => {
            self.table.for_each_pair::<L>(hashes, |position, pair| {
                if ended {
                    return;
                }
                match self.table.insert_unseen::<L>(pair) {
                    Ok(generation) => added[position] = generation.is_some(),
                    Err(error) => ended = failed(position, error).is_break(),
                }
            });
        });
    }

    /// Writes which items were found, and returns their number.
    pub(super) fn contains_each(&self, hashes: &mut Hashes<'_>, mut answers: Answers<'_>) -> usize {
        with_valued_layout!(self.layout, L => {
            self.table.visible_each::<L>(self.kernel, hashes, &mut answers)
        })
    }

    /// Refreshes items. Writes which were found, and returns their number.
    pub(super) fn refresh_each(&self, hashes: &mut Hashes<'_>, mut answers: Answers<'_>) -> usize {
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

    pub(super) fn advance(&self) -> u64 {
        with_valued_layout!(self.layout, L => self.table.advance::<L>())
    }

    pub(super) fn tick(&self, clock: impl Fn() -> u64) -> Option<u64> {
        with_valued_layout!(self.layout, L => self.table.tick::<L>(clock))
    }

    pub(super) fn advance_to(&self, clock: impl Fn() -> u64) -> u64 {
        with_valued_layout!(self.layout, L => self.table.advance_to::<L>(clock))
    }

    /// Least nanoseconds of a generation, or zero if none is ever due.
    pub(super) fn interval(&self) -> u64 {
        self.table.clock().interval()
    }

    pub(super) fn sweep(&self, buckets: u64) -> u64 {
        with_valued_layout!(self.layout, L => self.table.sweep::<L>(buckets))
    }
}
