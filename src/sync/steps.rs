//! A hook before every step, under `--cfg guira_steps`. With it tests stop a thread, or make it
//! panic, between any two steps. A normal build has neither the hook nor this module.

use std::cell::Cell;

/// A step: an access to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Loads a word, such as a bucket or a version.
    Load,
    /// Changes a word, such as a bucket or a version.
    Change,
    /// Acquires the lock at this address.
    Lock(usize),
}

impl Step {
    /// Whether this acquires a lock.
    #[must_use]
    pub fn is_lock(self) -> bool {
        matches!(self, Self::Lock(_))
    }
}

/// The function that is called before every step.
type Hook = Box<dyn FnMut(Step)>;

thread_local! {
    static HOOK: Cell<Option<Hook>> = const { Cell::new(None) };
}

/// Runs `work` and calls `hook` before each of its steps on this thread.
///
/// The hook may block or panic. It is not called for its own steps.
pub fn with_hook<R>(hook: impl FnMut(Step) + 'static, work: impl FnOnce() -> R) -> R {
    /// Removes the hook, also if `work` panics.
    struct Unhook;
    impl Drop for Unhook {
        fn drop(&mut self) {
            HOOK.take();
        }
    }
    HOOK.set(Some(Box::new(hook)));
    let _unhook = Unhook;
    work()
}

/// Calls this thread's hook, if there is one.
pub(super) fn take(step: Step) {
    if let Some(mut hook) = HOOK.take() {
        hook(step);
        HOOK.set(Some(hook));
    }
}
