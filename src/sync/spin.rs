//! A lock that spins, for where there is no system to park by.

use crossbeam_utils::Backoff;

use super::{Acquire, Relaxed, Release, atomic::AtomicBool};

/// A lock that spins; it protects no data.
#[derive(Debug)]
pub struct SpinLock(AtomicBool);

/// A [`SpinLock`] held; dropping it unlocks.
#[derive(Debug)]
pub struct SpinGuard<'a>(&'a SpinLock);

impl SpinLock {
    /// An unlocked lock.
    #[must_use]
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Takes the lock if nobody has it.
    #[inline]
    pub fn try_lock(&self) -> Option<SpinGuard<'_>> {
        // Acquire: pairs with the Release of whoever had the lock before. Relaxed: not taken.
        let taken = self.0.compare_exchange(false, true, Acquire, Relaxed).is_ok();
        // Not `then_some`: a guard that is dropped gives the lock back, whoever has it.
        // mutant: spin-refused-opens
        taken.then(|| SpinGuard(self))
    }

    /// Waits for the lock and takes it.
    #[inline]
    pub fn lock(&self) -> SpinGuard<'_> {
        let backoff = Backoff::new();
        loop {
            if let Some(guard) = self.try_lock() {
                return guard;
            }
            // Relaxed: only a hint when to try again.
            while self.0.load(Relaxed) {
                backoff.snooze();
            }
        }
    }
}

impl Drop for SpinGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release: pairs with the Acquire of whoever takes the lock next.
        self.0.0.store(false, Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::SpinLock;

    #[test]
    fn a_lock_tried_in_vain_stays_locked() {
        let lock = SpinLock::new();
        let held = lock.lock();
        assert!((0..3).all(|_| lock.try_lock().is_none()));
        drop(held);
        assert!((0..3).all(|_| lock.try_lock().is_some()));
    }
}
