//! Stripes: the locks that clearings take turns by, and the epochs that tell look-ups of them.
//!
//! Every pair of buckets with a fingerprint belongs to one stripe, found from the fingerprint
//! alone, so from either bucket. A [`Stripe`] is an epoch, read by look-ups and advanced before a
//! lane is cleared, and a lock, held by whoever clears. That nobody advances an epoch or clears
//! without holding a lock is in the types: both ask for a [`Held`]. That it is the right one is not.

use alloc::{sync::Arc, vec::Vec};

use crate::{
    stats::Waits,
    sync::{Acquire, Lock, LockGuard, Relaxed, Release, Word},
    word::Fingerprint,
};

/// Whether a model checker runs this: then two stripes, so that a model can choose between
/// fingerprints of one stripe and of two.
const MODEL: bool = cfg!(any(loom, shuttle));
/// The most stripes of a filter: 64 KiB of them, which stay in a second-level cache.
const MOST: u64 = if MODEL { 2 } else { 1024 };
/// Fewest stripes, for the smallest tables.
const FEWEST: u64 = if MODEL { 2 } else { 8 };
/// Buckets to a stripe in tables between the two, so that stripes take a 64th to a 32nd of the table's
/// memory.
const BUCKETS_PER_STRIPE: u64 = 512;

/// The stripes of a filter; clones are the same stripes.
#[derive(Clone, Debug)]
pub struct Stripes {
    /// A power of two of them.
    stripes: Arc<[Stripe]>,
}

/// One stripe, on a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
pub struct Stripe {
    /// How many clearings were announced. 64 bits do not wrap around in any machine's lifetime.
    epoch: Word,
    lock: Lock,
    waits: Waits,
}

/// A stripe whose lock this thread holds, until it is dropped.
#[derive(Debug)]
pub struct Held<'a> {
    stripe: &'a Stripe,
    _guard: LockGuard<'a>,
}

/// An epoch as a look-up saw it.
#[derive(Clone, Copy, Debug)]
pub struct Epoch(u64);

impl Stripes {
    /// As many stripes as suit a table with this many buckets.
    pub fn new(buckets: u64) -> Self {
        let count = (buckets / BUCKETS_PER_STRIPE).next_power_of_two().clamp(FEWEST, MOST);
        let stripe = || Stripe { epoch: Word::new(0), lock: Lock::new(), waits: Waits::new() };
        Self { stripes: (0..count).map(|_| stripe()).collect() }
    }

    /// The stripe of every pair with this fingerprint.
    #[inline]
    pub fn of(&self, fingerprint: Fingerprint) -> &Stripe {
        // SAFETY: there is a power of two of them, at least one, so the mask leaves an index below that.
        unsafe { self.stripes.get_unchecked(fingerprint.get() as usize & (self.stripes.len() - 1)) }
    }

    /// Waits for all locks, in the order of the stripes, and takes them: the one exception to the rule
    /// that a thread holds one at most. Who holds one never waits for another, and who takes all does so in
    /// one order; so nobody waits in a circle.
    pub fn lock_all(&self) -> Vec<Held<'_>> {
        self.stripes.iter().map(Stripe::lock).collect()
    }

    /// How often a lock of them was waited for.
    #[cfg(feature = "stats")]
    pub(crate) fn waits(&self) -> u64 {
        self.stripes.iter().map(|stripe| stripe.waits.read()).sum()
    }

    /// Bytes of the stripes.
    pub fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.stripes)
    }
}

impl Stripe {
    /// Asks for the stripe's cache line without waiting for it.
    #[inline]
    pub(crate) fn prefetch(&self) {
        crate::table::prefetch(core::ptr::from_ref(self).cast());
    }

    /// The epoch, at the start of a look-up.
    #[inline]
    pub fn epoch(&self) -> Epoch {
        // Acquire: pairs with the Release in `Held::advance`. The copy that a move made before it
        // advanced to this epoch is visible to the look-up's loads of the words, and so are the inserts
        // that paid for the removals before it.
        Epoch(self.epoch.load(Acquire))
    }

    /// Whether the epoch is still the one seen at the start, at the end of a look-up that read
    /// the words with Acquire.
    #[inline]
    pub fn is_still(&self, epoch: Epoch) -> bool {
        // Relaxed is enough: the loads of the words were Acquire, so this load comes after them,
        // and if one of them saw a lane cleared, the advance before that clearing happened before.
        self.epoch.load(Relaxed) == epoch.0
    }

    /// Waits for the lock and takes it.
    #[inline]
    pub fn lock(&self) -> Held<'_> {
        let guard = self.waits.lock(&self.lock);
        Held { stripe: self, _guard: guard }
    }
}

impl Held<'_> {
    /// Announces that a lane of this stripe is about to be cleared.
    #[inline]
    pub fn advance(&self) {
        // Relaxed: only holders of the lock write the epoch, so the lock orders this load.
        let epoch = self.stripe.epoch.load_to_change(Relaxed);
        // Release: pairs with the Acquire in `Stripe::epoch`. A plain store is enough, for the
        // same reason as above, and needs no locked instruction.
        self.stripe.epoch.store(epoch + 1, Release);
    }
}
