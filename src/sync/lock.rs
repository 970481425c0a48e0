//! Locks: std's, which park; without std, locks that spin.

#[cfg(guira_steps)]
use super::steps;
use imp::{Guard, Mutex};

/// A lock that parks after a short spin; without the feature `std` it spins on. It protects no data, so there is
/// nothing to poison.
#[derive(Debug)]
pub(crate) struct Lock(Mutex);

/// A [`Lock`] held; dropping it unlocks, also when the thread is panicking.
#[derive(Debug)]
pub(crate) struct LockGuard<'a>(#[expect(dead_code, reason = "held for its drop")] Guard<'a>);

impl Lock {
    /// An unlocked lock.
    pub(crate) fn new() -> Self {
        Self(imp::new())
    }

    /// Takes the lock if nobody has it.
    #[cfg(feature = "stats")]
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<LockGuard<'_>> {
        step!(Lock);
        imp::try_lock(&self.0).map(LockGuard)
    }

    /// Waits for the lock and takes it.
    #[inline]
    pub(crate) fn lock(&self) -> LockGuard<'_> {
        step!(Lock);
        // mutant: lock-skipped
        LockGuard(imp::lock(&self.0))
    }
}

#[cfg(any(feature = "std", loom, shuttle))]
mod imp {
    #[cfg(not(any(loom, shuttle)))]
    use std::sync;

    #[cfg(loom)]
    use loom::sync;

    #[cfg(all(shuttle, not(loom)))]
    use shuttle::sync;

    use std::sync::PoisonError;

    pub(super) type Mutex = sync::Mutex<()>;
    pub(super) type Guard<'a> = sync::MutexGuard<'a, ()>;

    pub(super) fn new() -> Mutex {
        Mutex::new(())
    }

    #[cfg(feature = "stats")]
    #[inline]
    pub(super) fn try_lock(mutex: &Mutex) -> Option<Guard<'_>> {
        match mutex.try_lock() {
            Ok(guard) => Some(guard),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }

    #[inline]
    pub(super) fn lock(mutex: &Mutex) -> Guard<'_> {
        // Every step taken under the lock leaves the table in a state in which no item is missing:
        // a holder that panicked leaves at most a copy too many, never one too few.
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(not(any(feature = "std", loom, shuttle)))]
mod imp {
    pub(super) use crate::sync::spin::{SpinGuard as Guard, SpinLock as Mutex};

    pub(super) fn new() -> Mutex {
        Mutex::new()
    }

    #[cfg(feature = "stats")]
    #[inline]
    pub(super) fn try_lock(mutex: &Mutex) -> Option<Guard<'_>> {
        mutex.try_lock()
    }

    #[inline]
    pub(super) fn lock(mutex: &Mutex) -> Guard<'_> {
        mutex.lock()
    }
}

#[cfg(all(test, feature = "stats", not(any(loom, shuttle))))]
mod tests {
    use super::{Lock, imp};

    #[test]
    fn a_lock_tried_in_vain_stays_locked() {
        let lock = Lock::new();
        let held = lock.lock();
        assert!((0..3).all(|_| imp::try_lock(&lock.0).is_none()));
        drop(held);
        assert!((0..3).all(|_| imp::try_lock(&lock.0).is_some()));
    }
}
