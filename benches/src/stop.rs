//! Ends a run early and keeps what it has measured: on a signal, or at the time limit.
//!
//! A stop unwinds the section's own thread at its next [`point`]. The runner catches the unwinding
//! and reports what the section has measured so far. Threads that a section starts never unwind,
//! for others wait for them at barriers; they leave their loops instead.

use std::{
    cell::Cell,
    io,
    panic::resume_unwind,
    sync::{
        Arc, LazyLock, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

/// Exit status after a signal.
pub const STATUS: i32 = 130;

/// Set by the signal handler.
static SIGNALLED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// End of the time limit, if there is one.
static DEADLINE: OnceLock<Instant> = OnceLock::new();

thread_local! {
    /// Whether this thread unwinds at a [`point`].
    static UNWINDS: Cell<bool> = const { Cell::new(false) };
}

/// Why a run stops early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// SIGINT or SIGTERM.
    Signal,
    /// The time limit has passed.
    Limit,
}

/// Payload of the unwinding.
struct Stopped;

/// Stops the run at the first SIGINT or SIGTERM. A second one ends the process at once.
pub fn on_signals() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        // The shutdown comes first: it acts only if an earlier signal has set the flag.
        flag::register_conditional_shutdown(signal, STATUS, Arc::clone(&SIGNALLED))?;
        flag::register(signal, Arc::clone(&SIGNALLED))?;
    }
    Ok(())
}

/// Stops the run after some time.
pub fn after(time: Duration) {
    let _ = DEADLINE.set(Instant::now() + time);
}

/// Returns why the run has to stop, if it has to.
pub fn requested() -> Option<Reason> {
    if SIGNALLED.load(Relaxed) {
        return Some(Reason::Signal);
    }
    DEADLINE.get().is_some_and(|end| Instant::now() >= *end).then_some(Reason::Limit)
}

/// Unwinds a section's own thread if the run has to stop. Returns whether the caller's loop has to
/// end.
pub fn point() -> bool {
    let stop = requested().is_some();
    if stop && UNWINDS.get() {
        resume_unwind(Box::new(Stopped));
    }
    stop
}

/// Outcome of a section.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    Complete,
    Stopped,
    /// It panicked, with this message.
    Crashed(String),
}

/// Runs a section on the calling thread and catches a stop or a panic.
pub fn guard(work: impl FnOnce()) -> Outcome {
    UNWINDS.set(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    UNWINDS.set(false);
    match result {
        Ok(()) => Outcome::Complete,
        Err(payload) if payload.is::<Stopped>() => Outcome::Stopped,
        Err(payload) => Outcome::Crashed(message(payload.as_ref())),
    }
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
    text.unwrap_or_else(|| "no message".into())
}

#[cfg(test)]
mod tests {
    use super::{Outcome, SIGNALLED, guard, point};
    use std::{sync::atomic::Ordering::Relaxed, thread};

    /// One test, because the flag belongs to the whole process.
    #[test]
    fn a_stop_unwinds_the_section_but_not_its_workers() {
        assert_eq!(guard(|| assert!(!point())), Outcome::Complete);
        assert_eq!(guard(|| panic!("no {}", 1)), Outcome::Crashed("no 1".into()));
        SIGNALLED.store(true, Relaxed);
        let mut worker_returned = false;
        let outcome = guard(|| {
            worker_returned = thread::scope(|scope| scope.spawn(point).join().expect("no panic"));
            point();
            unreachable!("the point unwinds");
        });
        SIGNALLED.store(false, Relaxed);
        assert_eq!(outcome, Outcome::Stopped);
        assert!(worker_returned);
    }
}
