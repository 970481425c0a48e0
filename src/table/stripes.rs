//! Stripes: locks that serialize the clearing of slots, each with a version that readers validate.
//!
//! The fingerprint alone selects the stripe, so both buckets of a pair lead to the same one. Only a
//! holder of a [`StripeGuard`] or of [`AllStripes`] can bump a version or clear a slot: these
//! operations take one of them. The types do not check that it is the guard of the right stripe.
//!
//! A table has about one stripe for every 256 to 512 buckets, within limits: see [`Stripes::new`].
//! The segments of a chain share their stripes: as many as a table 32 times the size of the first
//! segment would have, and at least 64. See `chain/append.rs`.

use alloc::{boxed::Box, vec::Vec};

use super::{stats::Waits, try_boxed};
use crate::{
    bucket::Fingerprint,
    sync::{Acquire, Lock, LockGuard, Relaxed, Release, Word},
};

/// Whether a model checker runs the code. Models have two stripes, so that a model can choose
/// fingerprints that share a stripe, or fingerprints that do not.
const MODEL: bool = cfg!(any(loom, shuttle));
/// Largest number of stripes: 64 KiB of them, which stay in a second-level cache.
const MAX_STRIPES: u64 = if MODEL { 2 } else { 1024 };
/// Smallest number of stripes, which the smallest tables have.
const MIN_STRIPES: u64 = if MODEL { 2 } else { 8 };
/// Buckets per stripe between these limits. The number of stripes is rounded up to a power of two,
/// so stripes take a 64th to a 32nd of the table's memory.
const BUCKETS_PER_STRIPE: u64 = 512;

/// The stripes of a filter.
#[derive(Debug)]
pub struct Stripes {
    /// A power of two.
    stripes: Box<[Stripe]>,
}

/// A lock and a version, on a cache line of their own.
#[derive(Debug)]
#[repr(align(64))]
pub struct Stripe {
    /// The number of bumps. 64 bits do not wrap around in the lifetime of a machine.
    version: Word,
    lock: Lock,
    waits: Waits,
}

/// A stripe whose lock this thread holds until the guard is dropped.
#[derive(Debug)]
pub struct StripeGuard<'a> {
    stripe: &'a Stripe,
    _guard: LockGuard<'a>,
}

/// All stripes, locked until this is dropped.
#[derive(Debug)]
pub struct AllStripes<'a>(Vec<StripeGuard<'a>>);

/// A version as a lookup read it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Version(u64);

impl Stripes {
    /// Returns as many stripes as a table with this number of buckets needs, or `None` if the
    /// system refuses the memory.
    #[must_use]
    pub fn new(buckets: u64) -> Option<Self> {
        let stripe = || Stripe { version: Word::new(0), lock: Lock::new(), waits: Waits::new() };
        Some(Self { stripes: try_boxed((0..Self::count_for(buckets)).map(|_| stripe()))? })
    }

    /// The number of stripes of a table with this number of buckets.
    fn count_for(buckets: u64) -> usize {
        let wanted = (buckets / BUCKETS_PER_STRIPE).next_power_of_two();
        wanted.clamp(MIN_STRIPES, MAX_STRIPES) as usize
    }

    /// Bytes of the stripes of a table with this number of buckets.
    pub(crate) fn bytes_for(buckets: u64) -> usize {
        Self::count_for(buckets) * size_of::<Stripe>()
    }

    /// All stripes.
    #[cfg(guira_vectors)]
    pub(super) fn as_slice(&self) -> &[Stripe] {
        &self.stripes
    }

    /// The stripe of every pair with this fingerprint.
    #[inline]
    #[must_use]
    pub fn of(&self, fingerprint: Fingerprint) -> &Stripe {
        // SAFETY: the number of stripes is a power of two and not zero, so the mask yields an index
        // below it.
        unsafe { self.stripes.get_unchecked(fingerprint.get() as usize & (self.stripes.len() - 1)) }
    }

    /// Acquires all locks, in the order of the stripes, or returns `None` if the system refuses the
    /// memory to keep them. It is at most 32 KiB.
    ///
    /// This is the one exception to the rule that a thread holds at most one stripe: see "Copies of
    /// the table" in `table/mod.rs`.
    #[must_use]
    pub fn lock_all(&self) -> Option<AllStripes<'_>> {
        // The allocator may be user code, so it is called before the first lock is held.
        let mut guards = Vec::new();
        guards.try_reserve_exact(self.stripes.len()).ok()?;
        // mutant: all-but-one-lock, locks-in-no-order
        guards.extend(self.stripes.iter().map(Stripe::lock));
        Some(AllStripes(guards))
    }

    /// How often a thread waited for one of the locks.
    #[cfg(feature = "stats")]
    pub(crate) fn waits(&self) -> u64 {
        self.stripes.iter().map(|stripe| stripe.waits.read()).sum()
    }

    /// Bytes of the stripes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.stripes)
    }
}

impl Stripe {
    /// Words from the version of one stripe to that of the next one, a power of two.
    #[cfg(guira_vectors)]
    pub(super) const WORDS: usize = {
        let words = size_of::<Self>() / size_of::<Word>();
        assert!(words.is_power_of_two(), "kernels shift the index of a stripe");
        words
    };

    /// Returns a pointer to the version of the first stripe.
    #[cfg(guira_vectors)]
    pub(super) fn versions(stripes: &[Self]) -> *const Word {
        // A pointer into the slice, and not to one version, so that all versions can be reached.
        stripes.as_ptr().wrapping_byte_add(core::mem::offset_of!(Self, version)).cast()
    }

    /// Prefetches the stripe's cache line.
    #[inline]
    pub(crate) fn prefetch(&self) {
        super::prefetch(core::ptr::from_ref(self).cast());
    }

    /// Reads the version at the start of a lookup.
    #[inline]
    #[must_use]
    pub fn version(&self) -> Version {
        // Acquire: pairs with the Release in `StripeGuard::bump`. If a move bumped to this version,
        // the lookup's loads of the words see the copy that it made before. They also see the
        // inserts that pay for all removals that have bumped.
        Version(self.version.load(Acquire))
    }

    /// Returns whether the version is unchanged, at the end of a lookup that read the words with
    /// Acquire.
    #[inline]
    #[must_use]
    pub fn validate(&self, version: Version) -> bool {
        // Relaxed is enough: the loads of the words were Acquire, so this load comes after them.
        // If one of them returned a word whose slot was cleared, the bump before that clearing
        // happened before this load.
        self.version.load(Relaxed) == version.0
    }

    /// Acquires the lock.
    #[inline]
    #[must_use]
    pub fn lock(&self) -> StripeGuard<'_> {
        let guard = self.waits.lock(&self.lock);
        StripeGuard { stripe: self, _guard: guard }
    }
}

impl StripeGuard<'_> {
    /// Bumps the version: a slot of this stripe is about to be cleared.
    #[inline]
    pub fn bump(&self) {
        // Relaxed: only holders of the lock write the version, so the lock orders this load.
        let version = self.stripe.version.load_to_change(Relaxed);
        // Release: pairs with the Acquire in `Stripe::version`. A plain store is enough, for the
        // same reason, and needs no locked instruction.
        // mutant: bump-same-version
        self.stripe.version.store(version + 1, Release);
    }
}

impl AllStripes<'_> {
    /// Bumps every version: every slot is about to be cleared.
    pub(crate) fn bump(&self) {
        self.0.iter().for_each(StripeGuard::bump);
    }
}
