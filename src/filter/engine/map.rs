//! The engines of maps.

use super::{Content, Engine, FixedEngine, Lookups, SplittingEngine, answer_items, remove_items};
use crate::{
    InsertError, Layout,
    bucket::with_growing_layout,
    filter::{Values, batch::Outcomes},
    table::{Answers, ClockState, Hashes, Valued},
};

operations! {
    /// The operations of maps, on [mixed](crate::table::mix) hashes and values that fit.
    trait MapEngine for Valued;

    fn insert(&self, mixed: u64, value: u16) -> Result<(), InsertError> {
        by_layout!(self.layout, L => {
            self.insert_item::<L>(self.table.fetched::<L>(mixed).with_value(value))
        })
    }

    /// Returns a value that was found, or `None` if the item was inserted.
    fn insert_unique(&self, mixed: u64, value: u16) -> Result<Option<u16>, InsertError> {
        by_layout!(self.layout, L => {
            let item = self.table.fetched::<L>(mixed).with_value(value);
            self.table.prefetch_stripe::<L>(&item);
            self.table.get_or_insert::<L>(item)
        })
    }

    @inline fn get(&self, mixed: u64) -> Option<u16> {
        self.get_mixed(mixed)
    }

    fn values(&self, mixed: u64) -> Values {
        by_layout!(self.layout, L => {
            Values::new(self.table.candidates::<L>(self.table.fetched::<L>(mixed)))
        })
    }

    fn contains_value(&self, mixed: u64, value: u16) -> bool {
        by_layout!(self.layout, L => {
            let item = self.table.fetched::<L>(mixed);
            self.table.contains_value::<L>(item.with_value(value))
        })
    }

    fn replace(&self, mixed: u64, old: u16, new: u16) -> bool {
        by_layout!(self.layout, L => {
            let item = self.table.fetched::<L>(mixed).with_value(old);
            self.table.prefetch_stripe::<L>(&item);
            self.table.replace::<L>(item, new)
        })
    }

    fn remove(&self, mixed: u64, value: u16) -> bool {
        by_layout!(self.layout, L => {
            let item = self.table.fetched::<L>(mixed).with_value(value);
            self.table.prefetch_stripe::<L>(&item);
            self.table.remove::<L>(item)
        })
    }

    /// Inserts many items.
    fn insert_each(&self, hashes: &mut Hashes<'_>, values: &[u16], outcomes: &mut Outcomes<'_>) {
        by_layout!(self.layout, L => {
            self.insert_items::<L>(hashes, outcomes, |position, item| {
                item.with_value(values[position])
            });
        });
    }

    /// Looks up the values of `len` keys, and returns the number of keys that were found.
    fn get_each(&self, len: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize {
        self.get_items(len, hashes, answers)
    }

    /// Writes which items were removed, and adds 1 to `count` for each of them.
    fn remove_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        removed: &mut [bool],
        count: &mut usize,
    ) {
        by_layout!(self.layout, L => {
            remove_items::<L, _>(&self.table, hashes, removed, count, |position, item| {
                item.with_value(values[position])
            });
        });
    }
}

impl Content for Valued {
    const NAMES: [&'static str; 2] = ["CuckooMap", "GrowingMap"];

    fn of(layout: Layout, _clock: Option<ClockState>) -> Self {
        Self::new(layout.value_bits())
    }
}

impl Lookups for FixedEngine<Valued> {
    #[inline]
    fn contains(&self, mixed: u64) -> bool {
        self.get_mixed(mixed).is_some()
    }

    fn contains_each(
        &self,
        len: usize,
        hashes: &mut Hashes<'_>,
        mut answers: Answers<'_>,
    ) -> usize {
        self.table.look_up_each::<false>(len, hashes, &mut answers)
    }
}

impl FixedEngine<Valued> {
    #[inline]
    fn get_mixed(&self, mixed: u64) -> Option<u16> {
        self.table.get_mixed(mixed)
    }

    fn get_items(&self, len: usize, hashes: &mut Hashes<'_>, mut answers: Answers<'_>) -> usize {
        self.table.look_up_each::<true>(len, hashes, &mut answers)
    }
}

impl Lookups for SplittingEngine<Valued> {
    #[inline]
    fn contains(&self, mixed: u64) -> bool {
        with_growing_layout!(self.layout, L => {
            self.table.contains::<L>(self.table.growth().item::<L>(mixed))
        })
    }

    fn contains_each(&self, _len: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize {
        with_growing_layout!(self.layout, L => {
            let contains = |item| self.table.contains::<L>(item).then_some(0);
            answer_items::<L, _>(&self.table, hashes, answers, contains)
        })
    }
}

impl SplittingEngine<Valued> {
    #[inline]
    fn get_mixed(&self, mixed: u64) -> Option<u16> {
        with_growing_layout!(self.layout, L => {
            self.table.get::<L>(self.table.growth().item::<L>(mixed))
        })
    }

    fn get_items(&self, _len: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize {
        with_growing_layout!(self.layout, L => {
            let get = |item| self.table.get::<L>(item);
            answer_items::<L, _>(&self.table, hashes, answers, get)
        })
    }
}
