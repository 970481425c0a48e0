//! The engines of maps.

use super::{Failed, FixedEngine, GrowingEngine, Lookups, Merging, fixed, growing};
use crate::{
    InsertError, Layout,
    bucket::with_valued_layout,
    filter::Values,
    table::{Answers, ClockState, Hashes, Pair, Valued},
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

impl fixed::Content for Valued {
    const NAME: &'static str = "CuckooMap";
    #[cfg(feature = "std")]
    const KIND: u8 = 2;

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

impl growing::Content for Valued {
    const NAME: &'static str = "GrowingMap";
    #[cfg(feature = "std")]
    const KIND: u8 = 4;
    /// With values of 16 bits, a chain of 33 segments cannot meet 0.2 %, the target of a
    /// `CuckooMap`.
    const DEFAULT_TARGET: f64 = 0.003;
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
            Values::of_table(self.table.candidates::<L>(pair))
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
            self.insert_pairs::<L>(hashes, count, failed, item);
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
            self.remove_pairs::<L>(hashes, removed, count, item);
        });
    }
}

impl MapEngine for GrowingEngine<Valued> {
    fn value_bits(&self) -> u32 {
        self.chain.value_bits()
    }

    fn insert(&self, mixed: u64, value: u16) -> Result<(), InsertError> {
        self.insert_item((mixed, value))
    }

    fn insert_unique(&self, mixed: u64, value: u16) -> Result<Option<u16>, InsertError> {
        self.chain.get_or_insert((mixed, value))
    }

    #[inline]
    fn get(&self, mixed: u64) -> Option<u16> {
        self.chain.get(mixed)
    }

    fn values(&self, mixed: u64) -> Values {
        Values::of_chain(self.chain.values(mixed))
    }

    fn contains_value(&self, mixed: u64, value: u16) -> bool {
        self.chain.contains_value((mixed, value))
    }

    fn replace(&self, mixed: u64, old: u16, new: u16) -> bool {
        self.chain.replace((mixed, old), new)
    }

    fn remove(&self, mixed: u64, value: u16) -> bool {
        self.chain.remove((mixed, value))
    }

    fn insert_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        count: &mut usize,
        failed: &mut Failed<'_>,
    ) {
        self.insert_items(hashes, count, failed, |position, mixed| (mixed, values[position]));
    }

    fn get_each(&self, _len: usize, hashes: &mut Hashes<'_>, mut answers: Answers<'_>) -> usize {
        let mut count = 0;
        self.chain.for_each(hashes, |position, mixed| {
            let found = self.chain.get(mixed);
            answers.set(position, found);
            count += usize::from(found.is_some());
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
        self.remove_items(hashes, removed, count, |position, mixed| (mixed, values[position]));
    }
}
