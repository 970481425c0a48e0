//! The lock of filters without std, which spins. loom cannot follow a spin; what the lock is taken and given back by it can.

use guira::raw::SpinLock;
use guira_loom_tests::check;
use loom::{cell::UnsafeCell, sync::Arc, thread};

/// Something that the lock protects in the model.
struct Protected {
    lock: SpinLock,
    entries: UnsafeCell<usize>,
}

// SAFETY: `entries` is touched only under the lock; that this is so is what loom checks.
unsafe impl Sync for Protected {}

impl Protected {
    /// Enters once if nobody else is in there; whether it did.
    fn enter(&self) -> bool {
        let Some(_guard) = self.lock.try_lock() else { return false };
        // A thread that is refused meanwhile must not open the lock.
        thread::yield_now();
        // SAFETY: the lock is held; loom panics where another thread is in here.
        self.entries.with_mut(|entries| unsafe { *entries += 1 });
        true
    }
}

#[test]
fn it_excludes_and_hands_on() {
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
        assert!(shared.lock.try_lock().is_some(), "not given back");
    });
}
