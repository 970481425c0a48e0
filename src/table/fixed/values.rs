//! Lookups by key, and where the value of a key is.

use super::{Fastest, FixedSpace, FixedTable, KeyProbe, Pair, Payload};
use crate::bucket::{BucketLayout, Fingerprint};

impl<P: Payload> FixedTable<P> {
    /// Returns a value of the pair's fingerprint, or `None` if the fingerprint is absent. The value
    /// of the pair must be zero.
    ///
    /// As for [`contains`](Self::contains), a match is an answer, whatever the versions are.
    #[inline]
    #[must_use]
    pub fn get<L: BucketLayout>(&self, pair: Pair) -> Option<u16> {
        self.get_by::<L>(&self.key_probe::<L>(), pair)
    }

    /// The probe of lookups by key.
    #[inline]
    pub(in crate::table) fn key_probe<L: BucketLayout>(&self) -> KeyProbe {
        KeyProbe::new::<L>(self.addressing.payload().value_bits())
    }

    /// As [`get`](Self::get), by the probe of this table.
    #[inline]
    pub(in crate::table) fn get_by<L: BucketLayout>(
        &self,
        probe: &KeyProbe,
        pair: Pair,
    ) -> Option<u16> {
        let Pair { fingerprint, buckets: [first, second] } = pair;
        let key = fingerprint.get() >> self.addressing.payload().value_bits();
        self.try_get(probe, key, pair.buckets)
            .unwrap_or_else(|()| self.get_again::<L>(fingerprint, first, second))
    }

    /// One round of [`get`](Self::get), for a fingerprint without the bits of a value. Fails if it
    /// missed while the version changed.
    #[inline]
    pub(crate) fn try_get(
        &self,
        probe: &KeyProbe,
        key: u32,
        buckets: [u32; 2],
    ) -> Result<Option<u16>, ()> {
        let stripe = self.stripes.of(Fingerprint::new(key));
        let (words, unchanged) = self.read_in::<Fastest>(stripe, buckets);
        let (found, value) = probe.first_value(words, key);
        // This branch is almost always taken, for hits and misses alike.
        if found | unchanged {
            return Ok(found.then_some(value));
        }
        Err(())
    }

    /// The rest of `get`, after a round that missed while the version changed: more such rounds.
    ///
    /// Each argument is passed in a register, as in `full_probe`.
    #[cold]
    #[inline(never)]
    pub(crate) fn get_again<L: BucketLayout>(
        &self,
        fingerprint: Fingerprint,
        first: u32,
        second: u32,
    ) -> Option<u16> {
        let key = fingerprint.get() >> self.addressing.payload().value_bits();
        let probe = self.key_probe::<L>();
        loop {
            self.counters.lookup_retried();
            if let Ok(value) = self.try_get(&probe, key, [first, second]) {
                return value;
            }
        }
    }
}

impl<P: Payload> FixedSpace<P> {
    /// The value of the first copy of a fingerprint, with any value, in a word that holds one.
    #[inline]
    pub(super) fn first_value<L: BucketLayout>(&self, word: u64, fingerprint: Fingerprint) -> u16 {
        if self.addressing.payload().value_bits() == 0 {
            return 0;
        }
        let pattern = L::LANES.broadcast(fingerprint.get());
        let matches = L::LANES.zeros_short((word ^ pattern) & !self.values::<L>());
        let slot = (word >> L::LANES.lowest(matches)) as u32;
        (slot & self.addressing.payload().value_mask()) as u16
    }
}
