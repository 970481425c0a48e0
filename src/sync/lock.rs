//! The lock: std's, which parks, or without the feature `std` one that spins.

#[cfg(guira_steps)]
use super::steps;
use imp::{Guard, Mutex};

/// A lock that parks after a short spin. Without the feature `std` it only spins. It protects no
/// data, so it ignores poisoning.
#[derive(Debug)]
pub(crate) struct Lock(Mutex);

/// Unlocks a [`Lock`] when it is dropped, also while the thread panics.
#[derive(Debug)]
pub(crate) struct LockGuard<'a>(#[expect(dead_code, reason = "held for its drop")] Guard<'a>);

impl Lock {
    /// Returns an unlocked lock.
    pub(crate) fn new() -> Self {
        Self(imp::new())
    }

    /// Acquires the lock if no thread holds it. Never waits.
    #[cfg(feature = "stats")]
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<LockGuard<'_>> {
        step!(Lock);
        imp::try_lock(&self.0).map(LockGuard)
    }

    /// Waits for the lock and acquires it.
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
        // A poisoned lock is still usable. Between any two steps under the lock no item is missing
        // from the table, so a holder that panicked leaves at most one copy too many.
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
    fn a_failed_try_lock_leaves_the_lock_locked() {
        let lock = Lock::new();
        let guard = lock.lock();
        assert!((0..3).all(|_| imp::try_lock(&lock.0).is_none()));
        drop(guard);
        assert!((0..3).all(|_| imp::try_lock(&lock.0).is_some()));
    }
}
