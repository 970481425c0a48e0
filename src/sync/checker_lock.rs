//! The lock of a model checker, in place of [`Lock`](super::lock::Lock): a checker cannot explore
//! threads that wait by spinning. One loom model checks `Lock` itself, with waiters that let loom
//! run another thread.

#[cfg(loom)]
use loom::sync;

#[cfg(all(shuttle, not(loom)))]
use shuttle::sync;

/// A lock that protects no data.
#[derive(Debug)]
pub(crate) struct Lock(sync::Mutex<()>);

/// Unlocks a [`Lock`] when it is dropped.
#[derive(Debug)]
pub(crate) struct LockGuard<'a>(
    #[expect(dead_code, reason = "held for its drop")] sync::MutexGuard<'a, ()>,
);

impl Lock {
    /// Returns an unlocked lock.
    pub(crate) fn new() -> Self {
        Self(sync::Mutex::new(()))
    }

    /// Acquires the lock if no thread holds it. Never waits.
    pub(crate) fn try_lock(&self) -> Option<LockGuard<'_>> {
        self.0.try_lock().ok().map(LockGuard)
    }

    /// Waits for the lock and acquires it.
    pub(crate) fn lock(&self) -> LockGuard<'_> {
        LockGuard(self.0.lock().expect("no panic under a lock"))
    }
}
