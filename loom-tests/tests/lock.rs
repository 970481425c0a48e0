//! The lock of normal builds. The models of the protocol have loom's lock in its place.

use guira::raw::{Lock, LockGuard};
use guira_loom_tests::{check, spawn};
use loom::{cell::UnsafeCell, sync::Arc, thread};

/// What the lock protects in the model.
struct Protected {
    lock: Lock,
    entries: UnsafeCell<usize>,
}

// SAFETY: `entries` is accessed only under the lock. loom checks this.
unsafe impl Sync for Protected {}

impl Protected {
    /// Enters if the lock is free. Returns whether it was.
    fn enter(&self) -> bool {
        let Some(guard) = self.lock.try_lock() else { return false };
        // A thread whose `try_lock` fails meanwhile must not release the lock.
        thread::yield_now();
        self.change(&guard);
        true
    }

    /// Enters when the lock is free.
    fn wait_and_enter(&self) {
        let guard = self.lock.lock();
        self.change(&guard);
    }

    fn change(&self, _guard: &LockGuard) {
        // SAFETY: the lock is held. loom panics if another thread is in here.
        self.entries.with_mut(|entries| unsafe { *entries += 1 });
    }
}

/// Catches a lock that does not exclude, is not released, or does not publish.
#[test]
fn excludes_and_publishes() {
    check("lock_tried", 107, &["one", "two", "three"], |seen| {
        let shared = Arc::new(Protected { lock: Lock::new(), entries: UnsafeCell::new(0) });
        let others = [(); 2].map(|()| spawn(&shared, Protected::enter));
        let own = shared.enter();
        let entered = others.map(|other| other.join().unwrap());
        let entered = usize::from(own) + usize::from(entered[0]) + usize::from(entered[1]);
        // SAFETY: the other threads have been joined.
        assert_eq!(shared.entries.with(|entries| unsafe { *entries }), entered);
        seen.note(["nobody", "one", "two", "three"][entered]);
        assert!(shared.lock.try_lock().is_some(), "the lock was not released");
    });
}

/// Catches a lock that a waiting thread never acquires, or that two threads hold at once.
#[test]
fn is_acquired_by_every_thread_that_waits() {
    check("lock_waited_for", 7, &["all"], |seen| {
        let shared = Arc::new(Protected { lock: Lock::new(), entries: UnsafeCell::new(0) });
        let other = spawn(&shared, Protected::wait_and_enter);
        shared.wait_and_enter();
        other.join().unwrap();
        // SAFETY: the other thread has been joined.
        assert_eq!(shared.entries.with(|entries| unsafe { *entries }), 2);
        seen.note("all");
    });
}
