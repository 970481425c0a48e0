//! The steps of a map of one table.

use core::cell::Cell;

use super::{
    super::{Fixed, engine::Failed, fixed::Content},
    MapSteps, Values,
};
use crate::{
    InsertError, Layout,
    bucket::with_valued_layout,
    table::{Answers, ClockState, Hashes, Pair, PendingInserts, Valued},
};

impl Content for Valued {
    const NAME: &'static str = "CuckooMap";
    #[cfg(feature = "std")]
    const KIND: u8 = 2;

    fn of(layout: Layout, _clock: Option<ClockState>) -> Self {
        Self::new(layout.value_bits())
    }
}

impl Fixed<Valued> {
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

impl MapSteps for Fixed<Valued> {
    fn value_bits(&self) -> u32 {
        self.layout.value_bits()
    }

    fn insert(&self, mixed: u64, value: u16) -> Result<(), InsertError> {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed).with_value(value);
            self.table.prefetch(pair);
            match self.max_copies {
                None => self.table.insert::<L>(pair),
                Some(limit) => self.table.insert_up_to::<L>(limit.get().into(), pair),
            }
        })
    }

    fn get_or_insert(&self, mixed: u64, value: u16) -> Result<Option<u16>, InsertError> {
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

    #[inline]
    fn contains(&self, mixed: u64) -> bool {
        // `get` has the same machine code for all layouts. So it is faster than code that jumps to
        // a lookup of its own for each layout.
        self.get(mixed).is_some()
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

    fn count(&self, mixed: u64) -> usize {
        with_valued_layout!(self.layout, L => {
            let pair = self.table.addressing().pair::<L>(mixed);
            self.table.prefetch_with_stripe(pair);
            self.table.count::<L>(pair)
        })
    }

    fn insert_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        count: &mut usize,
        failed: &mut Failed<'_>,
    ) {
        let ended = Cell::new(false);
        let mut done = |position, outcome: Result<(), InsertError>| match outcome {
            Ok(()) => *count += 1,
            Err(error) => ended.set(failed(position, error).is_break()),
        };
        with_valued_layout!(self.layout, L => {
            let mut pending = PendingInserts::default();
            self.table.for_each_pair::<L>(hashes, |position, pair| {
                if ended.get() {
                    return;
                }
                let pair = pair.with_value(values[position]);
                match self.max_copies {
                    None => pending.insert::<L>(&self.table, position, pair, &mut done),
                    Some(limit) => {
                        done(position, self.table.insert_up_to::<L>(limit.get().into(), pair));
                    }
                }
            });
            pending.finish::<L>(&self.table, &mut done);
        });
    }

    fn contains_each(&self, len: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize {
        with_valued_layout!(self.layout, L => {
            self.table.contains_each::<L>(self.kernel, len, hashes, answers)
        })
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
            self.table.for_each_pair::<L>(hashes, |position, pair| {
                removed[position] = self.table.remove::<L>(pair.with_value(values[position]));
                *count += usize::from(removed[position]);
            });
        });
    }
}
