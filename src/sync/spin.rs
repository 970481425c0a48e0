//! A lock that spins, for targets without an operating system that can park threads.

use crossbeam_utils::Backoff;

use super::{Acquire, Relaxed, Release, atomic::AtomicBool};

/// A lock that spins. It protects no data.
#[derive(Debug)]
pub struct SpinLock(AtomicBool);

/// Unlocks a [`SpinLock`] when it is dropped.
#[derive(Debug)]
pub struct SpinGuard<'a>(&'a SpinLock);

impl SpinLock {
    /// Returns an unlocked lock.
    #[must_use]
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Acquires the lock if no thread holds it. Never waits.
    #[inline]
    pub fn try_lock(&self) -> Option<SpinGuard<'_>> {
        // Acquire: pairs with the Release of the previous holder's drop. Relaxed: after a failure
        // nothing is read that the lock orders.
        let acquired = self.0.compare_exchange(false, true, Acquire, Relaxed).is_ok();
        // Not `then_some`: it would make a guard even after a failure, and dropping that guard
        // would unlock the lock that another thread holds.
        // mutant: spin-refused-opens
        acquired.then(|| SpinGuard(self))
    }

    /// Waits for the lock and acquires it.
    #[inline]
    pub fn lock(&self) -> SpinGuard<'_> {
        let backoff = Backoff::new();
        loop {
            if let Some(guard) = self.try_lock() {
                return guard;
            }
            // Relaxed: only a hint when to try again. `try_lock` acquires.
            while self.0.load(Relaxed) {
                backoff.snooze();
            }
        }
    }
}

impl Drop for SpinGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release: pairs with the Acquire of the next holder's `try_lock`.
        self.0.0.store(false, Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::SpinLock;

    #[test]
    fn a_failed_try_lock_leaves_the_lock_locked() {
        let lock = SpinLock::new();
        let guard = lock.lock();
        assert!((0..3).all(|_| lock.try_lock().is_none()));
        drop(guard);
        assert!((0..3).all(|_| lock.try_lock().is_some()));
    }
}
