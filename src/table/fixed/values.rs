//! Lookups by key, in maps and of what expires, and where the value of a key is.

use core::hint::select_unpredictable;

use super::{Clock, Fastest, FixedSpace, FixedTable, KeyProbe, Pair, Payload};
use crate::{
    bucket::{BucketLayout, Fingerprint},
    table::Aged,
};

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
        let key = pair.fingerprint.get() >> self.addressing.payload().value_bits();
        self.check(pair.buckets);
        // SAFETY: checked.
        unsafe { self.get_key::<L>(probe, key, pair.buckets) }
    }

    /// As [`get_by`](Self::get_by), for a fingerprint without the bits of a value.
    ///
    /// # Safety
    /// As for [`read_in`](Self::read_in).
    #[expect(clippy::inline_always, reason = "as in `Payload::look_up`")]
    #[inline(always)]
    pub(in crate::table) unsafe fn get_key<L: BucketLayout>(
        &self,
        probe: &KeyProbe,
        key: u32,
        buckets: [u32; 2],
    ) -> Option<u16> {
        let [first, second] = buckets;
        // SAFETY: the caller promises it.
        unsafe { self.try_get::<L>(probe, key, buckets) }
            .unwrap_or_else(|()| self.get_again::<L>(key, first, second))
    }

    /// One round of [`get_key`](Self::get_key). Fails if it missed while the version changed.
    ///
    /// # Safety
    /// As for [`read_in`](Self::read_in).
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    unsafe fn try_get<L: BucketLayout>(
        &self,
        probe: &KeyProbe,
        key: u32,
        buckets: [u32; 2],
    ) -> Result<Option<u16>, ()> {
        let stripe = self.stripes.of(Fingerprint::new(key));
        // SAFETY: the caller promises it.
        let (words, unchanged) = unsafe { self.read_in::<Fastest>(stripe, buckets) };
        let (found, slot) = probe.first_slot::<L>(words, key);
        // This branch is almost always taken, for hits and misses alike.
        if found | unchanged {
            return Ok(found.then_some(probe.value(slot)));
        }
        Err(())
    }

    /// The rest of `get`, after a round that missed while the version changed: more such rounds.
    ///
    /// Each argument is passed in a register, as in `contains_again`.
    #[cold]
    #[inline(never)]
    fn get_again<L: BucketLayout>(&self, key: u32, first: u32, second: u32) -> Option<u16> {
        let probe = self.key_probe::<L>();
        loop {
            self.counters.lookup_retried();
            self.check([first, second]);
            // SAFETY: checked.
            if let Ok(value) = unsafe { self.try_get::<L>(&probe, key, [first, second]) } {
                return value;
            }
        }
    }
}

impl FixedTable<Aged> {
    /// Returns whether a visible copy of the pair's fingerprint is in one of its buckets. The value
    /// of the pair must be zero.
    #[inline]
    #[must_use]
    pub fn is_visible<L: BucketLayout>(&self, pair: Pair) -> bool {
        let key = self.addressing.stripe_fingerprint(pair.fingerprint).get();
        self.check(pair.buckets);
        // SAFETY: checked.
        unsafe { self.is_key_visible::<L>(&self.key_probe::<L>(), key, pair.buckets) }
    }

    /// As [`is_visible`](Self::is_visible), for a fingerprint without the bits of a value, by the
    /// probe of this table.
    ///
    /// # Safety
    /// As for [`read_in`](Self::read_in).
    #[expect(clippy::inline_always, reason = "as in `Payload::look_up`")]
    #[inline(always)]
    pub(in crate::table) unsafe fn is_key_visible<L: BucketLayout>(
        &self,
        probe: &KeyProbe,
        key: u32,
        buckets: [u32; 2],
    ) -> bool {
        let [first, second] = buckets;
        // SAFETY: the caller promises it.
        unsafe { self.try_visible::<L>(probe, key, buckets) }
            .unwrap_or_else(|found| self.is_visible_again::<L>(key, first, second, found))
    }

    /// The first round of [`is_visible`](Self::is_visible). Fails if it missed while the version or
    /// the generation changed, or if the first copy has expired, so that another one may be
    /// visible. Then returns whether a copy was found.
    ///
    /// # Safety
    /// As for [`read_in`](Self::read_in).
    #[expect(clippy::inline_always, reason = "as in `Payload::look_up`")]
    #[inline(always)]
    unsafe fn try_visible<L: BucketLayout>(
        &self,
        probe: &KeyProbe,
        key: u32,
        buckets: [u32; 2],
    ) -> Result<bool, bool> {
        let stripe = self.stripes.of(Fingerprint::new(key));
        let now = self.clock.generation();
        // SAFETY: the caller promises it.
        let (words, unchanged) = unsafe { self.read_in::<Fastest>(stripe, buckets) };
        let (found, slot) = probe.first_slot::<L>(words, key);
        let is_visible = self.clock.shows(now, slot);
        let is_miss = unchanged & self.clock.validate(now);
        // One branch, which is almost always taken, for hits and misses alike.
        if select_unpredictable(found, is_visible, is_miss) { Ok(found) } else { Err(found) }
    }

    /// The rest of `is_visible`, if its first round has no answer.
    ///
    /// Each argument is passed in a register, as in `contains_again`.
    #[cold]
    #[inline(never)]
    fn is_visible_again<L: BucketLayout>(
        &self,
        key: u32,
        first: u32,
        second: u32,
        found: bool,
    ) -> bool {
        // To look for another copy is no retry.
        if !found {
            self.counters.lookup_retried();
        }
        let fingerprint = Fingerprint::new(key << self.addressing.payload().value_bits());
        self.look_for_visible::<L>(&Pair { fingerprint, buckets: [first, second] })
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
