//! The lock: a compare-and-swap acquires it, and a plain store releases it. A thread that waits
//! spins, then yields, and then sleeps.
//!
//! A lock that parks its waiters needs a second locked instruction: its release must find out
//! whether a thread waits. Stripes are held for a few instructions and there are many of them, so
//! a wait is rare, and the second instruction would cost every removal more than waits cost:
//! `src/docs/speed.md` has the measurements.

#[cfg(guira_steps)]
use super::steps;
use super::{Acquire, Relaxed, Release, atomic::AtomicBool};

/// A lock that protects no data. It is not fair: a thread that waits can be overtaken.
#[derive(Debug)]
pub struct Lock(AtomicBool);

/// Unlocks a [`Lock`] when it is dropped, also while the thread panics.
///
/// A lock whose holder panicked is still usable. Between any two steps under the lock no item is
/// missing from the table, so such a holder leaves at most one copy too many.
#[derive(Debug)]
pub struct LockGuard<'a>(&'a Lock);

impl Lock {
    /// Returns an unlocked lock.
    #[must_use]
    pub fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Acquires the lock if no thread holds it. Never waits.
    #[inline]
    pub fn try_lock(&self) -> Option<LockGuard<'_>> {
        step!(Lock(core::ptr::from_ref(self).addr()));
        self.acquire()
    }

    /// Waits for the lock and acquires it.
    #[inline]
    pub fn lock(&self) -> LockGuard<'_> {
        step!(Lock(core::ptr::from_ref(self).addr()));
        self.acquire().unwrap_or_else(|| self.wait())
    }

    /// Releases the lock. The caller holds it, and has forgotten the guard.
    pub fn unlock(&self) {
        drop(LockGuard(self));
    }

    /// Acquires the lock if no thread holds it.
    #[inline]
    fn acquire(&self) -> Option<LockGuard<'_>> {
        // Acquire: pairs with the Release of the previous holder's drop. Relaxed: after a failure
        // nothing is read that the lock orders.
        let acquired = self.0.compare_exchange(false, true, Acquire, Relaxed).is_ok();
        // Not `then_some`: it would make a guard even after a failure, and dropping that guard
        // would unlock the lock that another thread holds.
        acquired.then(|| LockGuard(self))
    }

    /// The rest of `lock`, while another thread holds the lock.
    #[cold]
    fn wait(&self) -> LockGuard<'_> {
        let mut waiter = Waiter::default();
        loop {
            // Relaxed: this only tells when to try again. `acquire` acquires.
            while self.0.load(Relaxed) {
                waiter.pause();
            }
            if let Some(guard) = self.acquire() {
                return guard;
            }
        }
    }
}

impl Drop for LockGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release: pairs with the Acquire of the next holder's `acquire`.
        self.0.0.store(false, Release);
    }
}

/// A thread that waits for a lock: it makes pauses.
#[derive(Debug, Default)]
struct Waiter {
    pauses: u32,
}

impl Waiter {
    /// Number of pauses in which the thread spins, each twice as long as the one before: a few
    /// microseconds in all, longer than a running thread holds a stripe.
    const SPINS: u32 = if cfg!(loom) { 0 } else { 6 };

    /// Lets some time pass.
    fn pause(&mut self) {
        if self.pauses < Self::SPINS {
            (0..1 << self.pauses).for_each(|_| core::hint::spin_loop());
        } else {
            Self::give_way(self.pauses - Self::SPINS);
        }
        self.pauses = self.pauses.saturating_add(1);
    }

    /// Lets other threads run. The holder may have been preempted, or hold all locks for
    /// milliseconds.
    #[cfg(all(feature = "std", not(loom)))]
    fn give_way(pauses: u32) {
        use core::time::Duration;
        use std::thread;

        /// Number of pauses in which the thread yields.
        const YIELDS: u32 = 4;
        /// The first sleep, in microseconds. A lower number would hardly shorten it: Linux adds 50.
        const FIRST_SLEEP: u64 = 50;
        /// The longest sleep, in microseconds. A waiter notices the release of the lock at most
        /// about this late, and takes little of the processor.
        const LONGEST_SLEEP: u64 = 1_000;

        if pauses < YIELDS {
            return thread::yield_now();
        }
        // Each sleep is twice as long as the one before.
        let sleep = FIRST_SLEEP << (pauses - YIELDS).min(10);
        thread::sleep(Duration::from_micros(sleep.min(LONGEST_SLEEP)));
    }

    /// Spins: there is no system that could run another thread.
    #[cfg(not(any(feature = "std", loom)))]
    fn give_way(_pauses: u32) {
        (0..1 << Self::SPINS).for_each(|_| core::hint::spin_loop());
    }

    /// Has loom run another thread.
    #[cfg(loom)]
    fn give_way(_pauses: u32) {
        loom::thread::yield_now();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Lock;

    #[test]
    fn a_failed_try_lock_leaves_the_lock_locked() {
        let lock = Lock::new();
        let guard = lock.lock();
        assert!((0..3).all(|_| lock.try_lock().is_none()));
        drop(guard);
        assert!((0..3).all(|_| lock.try_lock().is_some()));
    }
}
