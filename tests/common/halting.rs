//! Hooks that count the steps of a call, or halt it before one of them.

use std::{cell::RefCell, panic::resume_unwind, rc::Rc, sync::mpsc::channel, thread};

use guira::raw::steps::{Step, with_hook};

/// Performs work that must take at most this many steps, and no lock.
pub fn unblocked<R>(most: usize, work: impl FnOnce() -> R) -> R {
    checked(most, |step| assert!(!step.is_lock(), "this takes no lock"), work)
}

/// Performs work that must take at most this many steps.
pub fn bounded<R>(most: usize, work: impl FnOnce() -> R) -> R {
    checked(most, |_| (), work)
}

fn checked<R>(most: usize, check: impl Fn(Step) + 'static, work: impl FnOnce() -> R) -> R {
    let mut left = most;
    let hook = move |step: Step| {
        check(step);
        left = left.checked_sub(1).unwrap_or_else(|| panic!("this takes at most {most} steps"));
    };
    with_hook(hook, work)
}

/// The steps that the work takes.
pub fn steps<R>(work: impl FnOnce() -> R) -> Vec<Step> {
    let steps = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&steps);
    with_hook(move |step| seen.borrow_mut().push(step), work);
    steps.take()
}

/// Calls `halt` once, before the step with this number, with the steps before it.
pub fn before_step(number: usize, mut halt: impl FnMut(&[Step])) -> impl FnMut(Step) {
    let mut taken = Vec::new();
    move |step| {
        if taken.len() == number {
            halt(&taken);
        }
        taken.push(step);
    }
}

/// Makes a call in another thread, which stops before the step with this number. Calls `look` with
/// the steps before it, and lets the thread continue. Returns `false` if the call takes no such
/// step.
pub fn stopped(
    call: impl FnOnce() -> bool + Send + 'static,
    number: usize,
    look: impl FnOnce(&[Step]),
) -> bool {
    let (stopped, stop) = channel();
    let (go, resume) = channel::<()>();
    let halt = move |taken: &[Step]| {
        let _ = stopped.send(taken.to_vec());
        // Until the other end is dropped, also by a panic.
        let _ = resume.recv();
    };
    let hook = before_step(number, halt);
    let thread = thread::spawn(move || with_hook(hook, call));
    // The hook is dropped, and with it the sender, when the call has returned.
    let taken = stop.recv();
    let has_stopped = taken.is_ok();
    if let Ok(taken) = taken {
        look(&taken);
    }
    drop(go);
    assert!(thread.join().expect("the thread continues"), "the call did something else");
    has_stopped
}

/// Makes a call in another thread, which panics before the step with this number. Returns `false`
/// if the call takes no such step.
pub fn panicked(call: impl FnOnce() -> bool + Send + 'static, number: usize) -> bool {
    struct Planted;
    // A panic without a message.
    let hook = before_step(number, |_| resume_unwind(Box::new(Planted)));
    let Err(panic) = thread::spawn(move || with_hook(hook, call)).join() else { return false };
    if !panic.is::<Planted>() {
        resume_unwind(panic);
    }
    true
}
