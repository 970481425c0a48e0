//! A hook before every step, under `--cfg guira_steps`: for tests that stop a thread, or let it panic,
//! between any two of them. A normal build has neither the hook nor this module.

use std::cell::Cell;

/// What a thread is about to do to memory that it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Load a bucket or an version, or look for a segment.
    Load,
    /// Store an version, compare-and-swap a bucket, or put a segment in its place.
    Change,
    /// Take a stripe's lock.
    Lock,
}

/// What is called before every step.
type Hook = Box<dyn FnMut(Step)>;

thread_local! {
    static HOOK: Cell<Option<Hook>> = const { Cell::new(None) };
}

/// Runs `work` with `hook` called before each of its steps on this thread. The hook may block or
/// panic; steps that it takes itself are not reported.
pub fn with_hook<R>(hook: impl FnMut(Step) + 'static, work: impl FnOnce() -> R) -> R {
    /// Takes the hook out again, also when the work panics.
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

/// Calls the hook of this thread, if there is one.
pub(super) fn take(step: Step) {
    if let Some(mut hook) = HOOK.take() {
        hook(step);
        HOOK.set(Some(hook));
    }
}
