//! The spin lock of builds without std. The models use `try_lock`, because loom cannot explore a
//! spin.

use guira::raw::SpinLock;
use guira_loom_tests::check;
use loom::{cell::UnsafeCell, sync::Arc, thread};

/// What the lock protects in the model.
struct Protected {
    lock: SpinLock,
    entries: UnsafeCell<usize>,
}

// SAFETY: `entries` is accessed only under the lock. loom checks this.
unsafe impl Sync for Protected {}

impl Protected {
    /// Enters if the lock is free. Returns whether it was.
    fn enter(&self) -> bool {
        let Some(_guard) = self.lock.try_lock() else { return false };
        // A thread whose `try_lock` fails meanwhile must not release the lock.
        thread::yield_now();
        // SAFETY: the lock is held. loom panics if another thread is in here.
        self.entries.with_mut(|entries| unsafe { *entries += 1 });
        true
    }
}

/// Catches a spin lock that does not exclude, is not released, or does not publish.
#[test]
fn excludes_and_publishes() {
    check("spin_lock", 107, &["one", "two", "three"], |seen| {
        let shared = Arc::new(Protected { lock: SpinLock::new(), entries: UnsafeCell::new(0) });
        let others = [(); 2].map(|()| {
            let shared = shared.clone();
            thread::spawn(move || shared.enter())
        });
        let own = shared.enter();
        let entered = others.map(|other| other.join().unwrap());
        let entered = usize::from(own) + usize::from(entered[0]) + usize::from(entered[1]);
        // SAFETY: the other threads have been joined.
        assert_eq!(shared.entries.with(|entries| unsafe { *entries }), entered);
        seen.note(["nobody", "one", "two", "three"][entered]);
        assert!(shared.lock.try_lock().is_some(), "the lock was not released");
    });
}
