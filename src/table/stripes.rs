//! Stripes: locks that serialize the clearing of slots, each with a version that readers validate.
//!
//! What an item's two buckets have in common selects the stripe (the fingerprint; in a table that
//! grows, the core and the buckets at level 0), so both of them lead to the same one. Only a
//! holder of a [`StripeGuard`] or of [`AllStripes`] can bump a version or, except by a sweep (see
//! `expiry/mod.rs`), clear a slot: these operations require one of the two. The types do not check
//! that it is the guard of the right stripe.
//!
//! A table has about one stripe for every 64 to 128 buckets, within limits, and more if the user
//! expects many writers: see [`Stripes::count_for`]. A table that grows has as many as a table of a
//! fixed size with eight times its first buckets: see [`Stripes::count_for_growing`].

use alloc::boxed::Box;
use core::num::NonZero;

use super::{stats::Waits, try_boxed};
use crate::{
    bucket::Fingerprint,
    sync::{Acquire, Lock, LockGuard, Relaxed, Release, Word},
};

/// Whether a model checker runs the code. Models have two stripes, so that a model can choose
/// fingerprints that share a stripe, or fingerprints that do not.
const MODEL: bool = cfg!(any(loom, shuttle));
/// Largest number of stripes: 32 KiB of them.
pub(crate) const MAX_STRIPES: u64 = if MODEL { 2 } else { 2048 };
/// Smallest number of stripes of a table: 64 bytes.
const MIN_STRIPES: u64 = if MODEL { 2 } else { 4 };
/// In a small table there are more: one for this many buckets, up to `FEW_STRIPES`. A single one
/// for all would make writers wait.
const BUCKETS_PER_STRIPE_IF_FEW: u64 = 16;
const FEW_STRIPES: u64 = 32;
/// Buckets per stripe between these limits. The number of stripes is rounded up to a power of two,
/// so stripes take a 64th to a 32nd of the table's memory.
const BUCKETS_PER_STRIPE: u64 = 128;
/// Growth for which stripes are dimensioned, as a multiple of the buckets at level 0: no stripe can
/// be added later.
const EXPECTED_GROWTH: u64 = 8;
/// Smallest number of stripes for each writer if several are expected, within `MAX_STRIPES`, and
/// largest number for a single one. So a writer seldom waits, and seldom shares a cache line, which
/// has four stripes: at most one time in 16, some other writer uses the same line.
const STRIPES_PER_WRITER: u64 = 64;

/// How often a thread that does not wait for a lock tries to acquire it.
const TRIES: u32 = if MODEL { 1 } else { 4 };

/// The stripes of a filter.
#[derive(Debug)]
pub struct Stripes {
    /// A power of two.
    all: Box<[Stripe]>,
    /// Their number less one.
    mask: usize,
    /// The number of clears of all slots. Holders of all locks write it, and holders of any lock
    /// read it.
    clears: Word,
}

/// A lock and a version, on one cache line. Four stripes share a line (two, with statistics).
///
/// The number of lines decides how often threads disturb one another, and the number of stripes how
/// often they wait and retry. So stripes on lines of their own would waste memory: the same number
/// of lines would hold fewer stripes, so threads would wait more often, and disturb one another no
/// less.
#[derive(Debug)]
#[repr(align(16))]
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
///
/// It keeps no guards, because it must not allocate. (The model checkers' lock has no way to be
/// released but by its guard.)
#[derive(Debug)]
pub struct AllStripes<'a> {
    stripes: &'a Stripes,
    /// The stripes that are locked, which come first: not all if their acquisition panics.
    #[cfg(not(any(loom, shuttle)))]
    locked: usize,
    #[cfg(any(loom, shuttle))]
    guards: alloc::vec::Vec<StripeGuard<'a>>,
}

/// A version as a lookup read it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Version(u64);

impl Stripes {
    /// Returns as many stripes as a table with this number of buckets needs, or `None` if the
    /// system refuses the memory.
    #[cfg(any(test, loom))]
    #[must_use]
    pub fn new(buckets: u64) -> Option<Self> {
        Self::with_count(Self::count_for(buckets, None))
    }

    /// Returns this many stripes, a power of two, or `None` if the system refuses the memory.
    pub(crate) fn with_count(count: usize) -> Option<Self> {
        let stripe = || Stripe { version: Word::new(0), lock: Lock::new(), waits: Waits::new() };
        let stripes = try_boxed((0..count).map(|_| stripe()))?;
        Some(Self { mask: stripes.len() - 1, all: stripes, clears: Word::new(0) })
    }

    /// The number of stripes of a table with this number of buckets and expected writers.
    pub(crate) fn count_for(buckets: u64, writers: Option<NonZero<usize>>) -> usize {
        let if_few = (buckets / BUCKETS_PER_STRIPE_IF_FEW).min(FEW_STRIPES);
        let by_buckets = if_few.max(buckets / BUCKETS_PER_STRIPE);
        let wanted = match writers.map_or(0, |writers| writers.get() as u64) {
            0 => by_buckets,
            // A lone writer waits for nobody, and readers seldom retry because of it.
            1 => by_buckets.min(STRIPES_PER_WRITER),
            several => by_buckets.max(STRIPES_PER_WRITER.saturating_mul(several)),
        };
        wanted.clamp(MIN_STRIPES, MAX_STRIPES).next_power_of_two() as usize
    }

    /// The number of stripes of a table that grows, with this number of buckets at level 0.
    pub(crate) fn count_for_growing(first_buckets: u64, writers: Option<NonZero<usize>>) -> usize {
        Self::count_for(EXPECTED_GROWTH * first_buckets, writers)
    }

    /// Bytes of this many stripes.
    pub(crate) fn bytes_for(count: usize) -> usize {
        count * size_of::<Stripe>()
    }

    /// The number of stripes.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// The stripes, for many reads.
    #[inline]
    pub(super) fn reader(&self) -> StripesReader<'_> {
        StripesReader { all: &self.all, mask: self.mask }
    }

    /// The stripe of every pair with this fingerprint.
    #[inline]
    #[must_use]
    pub fn of(&self, fingerprint: Fingerprint) -> &Stripe {
        self.at(fingerprint.get() as usize)
    }

    /// The stripe that a number selects.
    #[inline]
    pub(crate) fn at(&self, number: usize) -> &Stripe {
        self.reader().at(number)
    }

    /// The number of clears of all slots so far. None of them is in progress.
    #[must_use]
    pub(crate) fn clears(&self) -> u64 {
        let guard = self.all[0].lock();
        self.clears_locked(&guard)
    }

    /// As [`clears`](Self::clears), under the lock of any stripe.
    pub(crate) fn clears_locked(&self, _guard: &StripeGuard) -> u64 {
        // Relaxed: all writes were made under this lock and others.
        self.clears.load(Relaxed)
    }

    /// Acquires all locks, in the order of the stripes.
    ///
    /// This is the one exception to the rule that a thread holds at most one stripe: see "Copies of
    /// the table" in `table/mod.rs`.
    #[must_use]
    pub fn lock_all(&self) -> AllStripes<'_> {
        let guards = self.all.iter().map(Stripe::lock);
        let mut all = AllStripes {
            stripes: self,
            #[cfg(not(any(loom, shuttle)))]
            locked: 0,
            #[cfg(any(loom, shuttle))]
            guards: alloc::vec::Vec::new(),
        };
        guards.for_each(|guard| all.add(guard));
        all
    }

    /// Acquires and releases the locks from the `first` on, one at a time. Stops at one that
    /// another thread holds, unless the call `waits`. Returns the number of locks that were passed,
    /// the first ones included. What a holder did before this thread passed its lock happened
    /// before the return.
    pub(crate) fn pass(&self, first: u64, waits: bool) -> u64 {
        let rest = &self.all[first as usize..];
        let is_held = |stripe: &Stripe| {
            if waits {
                drop(stripe.lock());
                return false;
            }
            // Most holders are gone in a moment.
            (0..TRIES).all(|nth| {
                if nth > 0 {
                    core::hint::spin_loop();
                }
                stripe.try_lock().is_none()
            })
        };
        let passed = rest.iter().position(is_held).unwrap_or(rest.len());
        first + passed as u64
    }

    /// How often a thread waited for one of the locks.
    #[cfg(feature = "stats")]
    pub(crate) fn waits(&self) -> u64 {
        self.all.iter().map(|stripe| stripe.waits.read()).sum()
    }
}

/// The stripes of a table, for many reads: fields of [`Stripes`] would be loaded again after each
/// Acquire.
#[derive(Clone, Copy)]
pub struct StripesReader<'a> {
    all: &'a [Stripe],
    mask: usize,
}

impl<'a> StripesReader<'a> {
    /// The stripe of every pair with this fingerprint.
    #[inline]
    pub(super) fn of(self, fingerprint: Fingerprint) -> &'a Stripe {
        self.at(fingerprint.get() as usize)
    }

    #[inline]
    pub(super) fn at(self, number: usize) -> &'a Stripe {
        // SAFETY: the number of stripes is a power of two and not zero, so the mask yields an index
        // below it.
        unsafe { self.all.get_unchecked(number & self.mask) }
    }
}

impl Stripe {
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
        self.changes_since(version) == 0
    }

    /// Returns zero if the version is unchanged: see [`validate`](Self::validate).
    #[inline]
    pub(super) fn changes_since(&self, version: Version) -> u64 {
        // Relaxed is enough: the loads of the words were Acquire, so this load comes after them.
        // If one of them returned a word whose slot was cleared, the bump before that clearing
        // happened before this load.
        self.version.load(Relaxed) ^ version.0
    }

    /// Acquires the lock.
    #[inline]
    #[must_use]
    pub fn lock(&self) -> StripeGuard<'_> {
        let guard = self.waits.lock(&self.lock);
        StripeGuard { stripe: self, _guard: guard }
    }

    /// Acquires the lock if no thread holds it. Never waits.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<StripeGuard<'_>> {
        Some(StripeGuard { stripe: self, _guard: self.lock.try_lock()? })
    }

    /// Bumps the version, for a holder of the lock.
    #[inline]
    fn bump(&self) {
        // Relaxed: only holders of the lock write the version, so the lock orders this load.
        let version = self.version.load_to_change(Relaxed);
        // Release: pairs with the Acquire in `Stripe::version`. A plain store is enough, for the
        // same reason, and needs no locked instruction.
        self.version.store(version + 1, Release);
    }
}

impl StripeGuard<'_> {
    /// Bumps the version: a slot of this stripe is about to be cleared.
    #[inline]
    pub fn bump(&self) {
        self.stripe.bump();
    }
}

impl<'a> AllStripes<'a> {
    /// Adds the next stripe.
    #[cfg(not(any(loom, shuttle)))]
    fn add(&mut self, guard: StripeGuard<'a>) {
        core::mem::forget(guard);
        self.locked += 1;
    }

    /// Adds the next stripe.
    #[cfg(any(loom, shuttle))]
    fn add(&mut self, guard: StripeGuard<'a>) {
        self.guards.push(guard);
    }

    /// Bumps every version: every slot is about to be cleared.
    pub(crate) fn bump(&self) {
        let Stripes { all: stripes, clears, .. } = self.stripes;
        stripes.iter().for_each(Stripe::bump);
        // Relaxed: as in `Stripes::clears_locked`.
        clears.store(clears.load_to_change(Relaxed) + 1, Relaxed);
    }
}

#[cfg(not(any(loom, shuttle)))]
impl Drop for AllStripes<'_> {
    fn drop(&mut self) {
        self.stripes.all[..self.locked].iter().for_each(|stripe| stripe.lock.unlock());
    }
}
