//! The engines of maps.

use super::{Content, Failed, FixedEngine, Lookups, Merging, SplittingEngine};
use crate::{
    InsertError, Layout,
    bucket::{with_growing_layout, with_valued_layout},
    filter::Values,
    table::{Answers, ClockState, Hashes, Pair, Valued, split::Item},
};

/// The operations of maps, on [mixed](crate::table::mix) hashes and values that fit.
pub(crate) trait MapEngine: Merging {
    fn value_bits(&self) -> u32;

    fn insert(&self, mixed: u64, value: u16) -> Result<(), InsertError>;

    /// Returns a value that was found, or `None` if the item was inserted.
    fn insert_unique(&self, mixed: u64, value: u16) -> Result<Option<u16>, InsertError>;

    fn get(&self, mixed: u64) -> Option<u16>;

    fn values(&self, mixed: u64) -> Values;

    fn contains_value(&self, mixed: u64, value: u16) -> bool;

    fn replace(&self, mixed: u64, old: u16, new: u16) -> bool;

    fn remove(&self, mixed: u64, value: u16) -> bool;

    /// Adds 1 to `count` for each item that was added, and calls `failed` with the positions of the
    /// others, until it breaks. Then inserts that were begun are completed, and no others begun.
    fn insert_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        count: &mut usize,
        failed: &mut Failed<'_>,
    );

    /// Looks up the values of `len` keys, and returns the number of keys that were found.
    fn get_each(&self, len: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize;

    /// Writes which items were removed, and adds 1 to `count` for each of them.
    fn remove_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        removed: &mut [bool],
        count: &mut usize,
    );
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
        // `get` has the same machine code for all layouts. So it is faster than code that jumps to
        // a lookup of its own for each layout.
        self.get(mixed).is_some()
    }

    fn count(&self, mixed: u64) -> usize {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch_with_stripe(pair);
            self.table.count::<L>(pair)
        })
    }

    fn contains_each(&self, len: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize {
        with_valued_layout!(self.layout, L => {
            self.table.contains_each::<L>(self.kernel, len, hashes, answers)
        })
    }
}

impl FixedEngine<Valued> {
    /// The rest of `get`, after a round that missed while the version changed.
    #[cold]
    #[inline(never)]
    fn get_again(&self, mixed: u64) -> Option<u16> {
        with_valued_layout!(self.layout, L => {
            let Pair { fingerprint, buckets: [first, second] } =
                self.table.addressing().pair::<L>(mixed);
            self.table.get_again::<L>(fingerprint, first, second)
        })
    }
}

impl MapEngine for FixedEngine<Valued> {
    fn value_bits(&self) -> u32 {
        self.layout.value_bits()
    }

    fn insert(&self, mixed: u64, value: u16) -> Result<(), InsertError> {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed).with_value(value);
            self.table.prefetch(pair);
            match self.unlimited {
                Some(_) => self.table.insert::<L>(pair),
                None => self.table.insert_up_to::<L>(self.limit(), pair),
            }
        })
    }

    fn insert_unique(&self, mixed: u64, value: u16) -> Result<Option<u16>, InsertError> {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed).with_value(value);
            self.table.prefetch_with_stripe(pair);
            let found = self.table.get_or_insert::<L>(pair)?;
            Ok(found.map(|copy| self.table.value_of(copy)))
        })
    }

    #[inline]
    fn get(&self, mixed: u64) -> Option<u16> {
        // The smallest fingerprint of every layout with values is 1.
        let fingerprints = (1, self.probe.count());
        let (key, buckets) = self.table.addressing().key_and_buckets(fingerprints, mixed);
        self.table.try_get(&self.probe, key, buckets).unwrap_or_else(|()| self.get_again(mixed))
    }

    fn values(&self, mixed: u64) -> Values {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            Values::new(self.table.candidates::<L>(pair))
        })
    }

    fn contains_value(&self, mixed: u64, value: u16) -> bool {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed).with_value(value);
            self.table.contains_value::<L>(pair)
        })
    }

    fn replace(&self, mixed: u64, old: u16, new: u16) -> bool {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed).with_value(old);
            self.table.prefetch_with_stripe(pair);
            self.table.replace::<L>(pair, new)
        })
    }

    fn remove(&self, mixed: u64, value: u16) -> bool {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed).with_value(value);
            self.table.prefetch_with_stripe(pair);
            self.table.remove::<L>(pair)
        })
    }

    fn insert_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        count: &mut usize,
        failed: &mut Failed<'_>,
    ) {
        with_valued_layout!(self.layout, L => {
            let item = |position: usize, pair: Pair| pair.with_value(values[position]);
            self.insert_items::<L>(hashes, count, failed, item);
        });
    }

    fn get_each(&self, len: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize {
        with_valued_layout!(self.layout, L => {
            self.table.get_each::<L>(self.kernel, len, hashes, answers)
        })
    }

    fn remove_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        removed: &mut [bool],
        count: &mut usize,
    ) {
        with_valued_layout!(self.layout, L => {
            let item = |position: usize, pair: Pair| pair.with_value(values[position]);
            self.remove_items::<L>(hashes, removed, count, item);
        });
    }
}

impl Lookups for SplittingEngine<Valued> {
    #[inline]
    fn contains(&self, mixed: u64) -> bool {
        with_growing_layout!(self.layout, L => {
            self.table.contains::<L>(&self.item::<L>(mixed))
        })
    }

    fn count(&self, mixed: u64) -> usize {
        with_growing_layout!(self.layout, L => {
            let item = self.item::<L>(mixed);
            self.table.prefetch_with_stripe::<L>(&item);
            self.table.count::<L>(&item)
        })
    }

    fn contains_each(
        &self,
        _len: usize,
        hashes: &mut Hashes<'_>,
        mut answers: Answers<'_>,
    ) -> usize {
        let mut count = 0;
        with_growing_layout!(self.layout, L => {
            self.for_each_item::<L>(hashes, |position, item| {
                let found = self.table.contains::<L>(&item);
                answers.set(position, found.then_some(0));
                count += usize::from(found);
            });
        });
        count
    }
}

impl MapEngine for SplittingEngine<Valued> {
    fn value_bits(&self) -> u32 {
        self.layout.value_bits()
    }

    fn insert(&self, mixed: u64, value: u16) -> Result<(), InsertError> {
        with_growing_layout!(self.layout, L => {
            let item = self.item::<L>(mixed).with_value(value);
            self.table.prefetch(&item);
            self.insert_item::<L>(&item)
        })
    }

    fn insert_unique(&self, mixed: u64, value: u16) -> Result<Option<u16>, InsertError> {
        with_growing_layout!(self.layout, L => {
            let item = self.item::<L>(mixed).with_value(value);
            self.table.prefetch_with_stripe::<L>(&item);
            self.table.get_or_insert::<L>(&item)
        })
    }

    #[inline]
    fn get(&self, mixed: u64) -> Option<u16> {
        with_growing_layout!(self.layout, L => self.table.get::<L>(&self.item::<L>(mixed)))
    }

    fn values(&self, mixed: u64) -> Values {
        with_growing_layout!(self.layout, L => {
            Values::new(self.table.candidates::<L>(&self.item::<L>(mixed)))
        })
    }

    fn contains_value(&self, mixed: u64, value: u16) -> bool {
        with_growing_layout!(self.layout, L => {
            self.table.contains_value::<L>(&self.item::<L>(mixed).with_value(value))
        })
    }

    fn replace(&self, mixed: u64, old: u16, new: u16) -> bool {
        with_growing_layout!(self.layout, L => {
            let item = self.item::<L>(mixed).with_value(old);
            self.table.prefetch_with_stripe::<L>(&item);
            self.table.replace::<L>(&item, new)
        })
    }

    fn remove(&self, mixed: u64, value: u16) -> bool {
        with_growing_layout!(self.layout, L => {
            let item = self.item::<L>(mixed).with_value(value);
            self.table.prefetch_with_stripe::<L>(&item);
            self.table.remove::<L>(&item)
        })
    }

    fn insert_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        count: &mut usize,
        failed: &mut Failed<'_>,
    ) {
        with_growing_layout!(self.layout, L => {
            let item = |position: usize, item: Item| item.with_value(values[position]);
            self.insert_items::<L>(hashes, count, failed, item);
        });
    }

    fn get_each(&self, _len: usize, hashes: &mut Hashes<'_>, mut answers: Answers<'_>) -> usize {
        let mut count = 0;
        with_growing_layout!(self.layout, L => {
            self.for_each_item::<L>(hashes, |position, item| {
                let found = self.table.get::<L>(&item);
                answers.set(position, found);
                count += usize::from(found.is_some());
            });
        });
        count
    }

    fn remove_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        removed: &mut [bool],
        count: &mut usize,
    ) {
        with_growing_layout!(self.layout, L => {
            let item = |position: usize, item: Item| item.with_value(values[position]);
            self.remove_items::<L>(hashes, removed, count, item);
        });
    }
}
